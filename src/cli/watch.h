/*  watch.h - waits for a session, signals and one descriptor at a time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_WATCH_H
#define LK_WATCH_H

#include <lockkeeper/lockkeeper.h>

typedef enum {
    LK_SAW_NOTHING, /* the time is over */
    LK_SAW_EVENT,   /* `event` of the session */
    LK_SAW_SIGNAL,  /* `signal` */
    LK_SAW_OTHER    /* the other descriptor is readable */
} lk_saw;

typedef struct {
    lk_session *session; /* NULL: none */
    int signal_fd;
    int other_fd; /* -1: none */
    lk_lock_event event;
    int signal;
} lk_watch;

/*  Blocks INT, TERM, HUP, QUIT, CHLD and CONT for this process, to be read
 *  here. To be called before there are threads. -1 and errno if it cannot. */
int lk_watch_init (lk_watch *self);
void lk_watch_clear (lk_watch *self);

/*  Waits at most `wait_ms` (LK_FOREVER) for the first of them. */
lk_saw lk_watch_next (lk_watch *self, int wait_ms);

/*  Whether a signal of these asks for the end: all but CHLD and CONT do. */
bool lk_watch_is_end (int signal);

/*  Undoes the blocking, for a child before it runs something else. */
void lk_watch_unblock (void);

#endif
