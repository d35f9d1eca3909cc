/*  tickets.h - the list of who holds and who waits, from a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TICKETS_H
#define LK_TICKETS_H

#include "cli/ask.h"
#include "wire/object_name.h"

/*  A row of LOCKLIST; whoever wants to keep it sets it to NULL. */
typedef void lk_ticket_fn (void *user, lk_message **row_p);

typedef struct {
    const char *object;  /* of that name alone; NULL: all */
    const char *context; /* ... in that context; NULL: in none */
    const char *leader;  /* that is asked first; NULL: whoever knows */
    const char *zone;    /* of that zone alone; NULL: as we may see */
} lk_ticket_wish;

/*  LK_EXIT_OK when fn was called for all of them; or the exit code, after
 *  having said why not. */
int lk_tickets_each (lk_requester *asker, const lk_ticket_wish *wish,
                     lk_ticket_fn *fn, void *user);

/*  Likewise what this host's own lock service knows of its applications, with
 *  leaders or without; *more_p: there are more of them. The wish's leader does
 *  not matter. */
int lk_tickets_own (lk_requester *asker, const lk_ticket_wish *wish,
                    lk_ticket_fn *fn, void *user, bool *more_p);

/*  The name's bytes, in `room` of LK_OBJECT_LEN_MAX bytes or in the row; empty
 *  if it has none. */
lk_name lk_row_name (const lk_message *row, char *room);

/*  A limit or bound of it; 0: none. */
uint32_t lk_row_limit (const lk_message *row, const char *field);

/*  Whether a name is like one of these patterns of glob(7), as it is or as it
 *  is shown; any is like none at all. */
bool lk_name_is_like (lk_name name, char *const *pattern, int count);

/*  Prints it, as it may be shown, and its context. */
void lk_row_print_name (const lk_message *row);

/*  The same as bytes that may not be shown as they are; the caller's
 *  (lk_free). */
char *lk_row_full_name (const lk_message *row, size_t *size);

/*  While it is kept from others though its duration is over: "grace", and what
 *  is left of that; else the row's state, and what is left of the duration, or
 *  -1. */
const char *lk_row_state (const lk_message *row);
int64_t lk_row_left (const lk_message *row);

/*  Hexadecimal in the messages, a number for people. */
uint64_t lk_row_token (const lk_message *row);

#endif
