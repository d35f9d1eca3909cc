/*  recent.h - the latest grants and ends of locks that this service saw
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A bounded memory, lost with the process. What happens all the time (granted,
 *  released) and what is rare have a ring each, so that a busy lock does not
 *  push out why another one was lost.
 */

#ifndef LK_RECENT_H
#define LK_RECENT_H

#include "wire/lock_message.h"

#include <lockkeeper/error.h>

#define LK_RECENT_USUAL_SIZE (1024 * 1024) /* bytes, some 10,000 events */
#define LK_RECENT_RARE_SIZE (256 * 1024)
#define LK_RECENT_RATE_S 10 /* rates are of the last so many seconds */

typedef enum {
    LK_PAST_GRANTED,
    LK_PAST_RELEASED, /* as asked for */
    LK_PAST_ENDED,    /* with the process of its holder */
    LK_PAST_LOST,     /* `error`: why */
    LK_PAST_FAILED,   /* not obtained: `error` */
    LK_PAST_FORCED,   /* `owner`, an operator, asked to take it away */
    LK_PAST_COUNT
} lk_past_event;

typedef struct {
    lk_past_event event;
    lk_err error;
    uint64_t number; /* of the event, from 1 on */
    int64_t at_ms;
    lk_name key; /* the object's, with zone and context */
    lk_name owner;
    lk_name user;   /* that it is of; empty: not known */
    lk_name reason; /* an operator's, or a sentence */
    uint64_t token; /* 0: not known */
    uint32_t pid;
    uint32_t waited_ms;
    uint32_t held_ms;
} lk_past;

/*  Events in the order in which they came, from the oldest kept on. */
typedef struct {
    uint64_t usual, rare;
} lk_recent_place;

typedef struct lk_recent lk_recent;

lk_recent *lk_recent_new (void);
void lk_recent_destroy (lk_recent **self_p);

/*  Copies what `past` has and gives it the next number; an event with names
 *  too long to be kept is counted, but not kept. */
void lk_recent_add (lk_recent *self, const lk_past *past);

/*  Starts at the oldest one with lk_recent_begin; false behind the last.
 *  Borrowed until something is added. */
lk_recent_place lk_recent_begin (const lk_recent *self);
bool lk_recent_next (const lk_recent *self, lk_recent_place *place,
                     lk_past *past);

/*  The last event's; 0: there was none. And of the last one that is not kept
 *  any more. */
uint64_t lk_recent_number (const lk_recent *self);
uint64_t lk_recent_forgotten (const lk_recent *self);

/*  Grants, and ends of what was granted: of all time, and those of the last
 *  LK_RECENT_RATE_S whole seconds. */
typedef struct {
    uint64_t grants, releases;
    uint64_t grants_lately, releases_lately;
} lk_recent_counts;

lk_recent_counts lk_recent_count (const lk_recent *self, int64_t now_ms);

const char *lk_past_word (lk_past_event event);

#endif
