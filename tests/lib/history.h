/*  history.h - what applications did with locks and what they were told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For tests in tests/cluster. A history is a text file to which many
 *  processes add; one line per event:
 *
 *      NS PROCESS EVENT REQUEST OBJECT NUMBER WORD
 *
 *  NS is the host's boot clock, so histories of one machine have one order.
 *  PROCESS is HOST/NUMBER of an application, or HOST/NUMBER.BIRTH where
 *  numbers may come again; or just HOST for what was done to the host itself.
 *  A place that has nothing to say is "-" or 0. The judge (judge.h) reads
 *  them.
 */

#ifndef LK_HISTORY_H
#define LK_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*  What NUMBER and WORD say, and when NS is taken. */
#define LK_HISTORY_KINDS(X)                                                    \
    X (ASKED, "asked")     /* before; NUMBER: wait, WORD: duration, in ms */   \
    X (GRANTED, "granted") /* after; NUMBER: token; WORD: until, in ms */      \
    X (FAILED, "failed")   /* after; WORD: why */                              \
    X (UNHELD, "unheld")   /* held () is false; NUMBER: NS when it was last  \
                                true, 0: never */ \
    X (LOST, "lost")       /* after; NUMBER as of unheld; WORD: why */         \
    X (UNLOCK, "unlock")   /* before; of what is held or asked for */          \
    X (RELEASED, "released") /* after */                                       \
    X (ENDED, "ended")       /* before the process ends or is killed */        \
    X (FAULT, "fault")       /* before; of a host; WORD: what */               \
    X (HEALED, "healed")     /* after; of a host: its last fault is over */

#define LK_HISTORY_KIND(name, word) LK_HISTORY_##name,
typedef enum {
    LK_HISTORY_KINDS (LK_HISTORY_KIND) LK_HISTORY_KIND_COUNT
} lk_history_kind;
#undef LK_HISTORY_KIND

typedef struct {
    int64_t ns;
    char process[32];
    lk_history_kind kind;
    uint64_t request; /* of this process, from 1 */
    char object[32];
    int64_t number;
    char word[24];
} lk_history_event;

typedef struct {
    lk_history_event *event; /* in the order of time */
    size_t count;
    size_t size;
} lk_history;

/*  Nanoseconds of the boot clock. */
int64_t lk_history_now (void);

/*  Opens a file for adding; -1 if that can't be. Children may share it. */
int lk_history_open (const char *path);

/*  Adds a line by one write, so that lines never mix. event->ns 0: now. */
void lk_history_note (int fd, const lk_history_event *event);

const char *lk_history_word (lk_history_kind kind);

/*  Adds a file's events and sorts all; only those whose line has that text,
 *  unless it is NULL. False, with a line on stderr, if it can't be read or is
 *  no history. */
bool lk_history_read (lk_history *self, const char *path, const char *only);

void lk_history_clear (lk_history *self);

#endif
