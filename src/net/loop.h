/*  loop.h - one thread that waits for everything at once
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One epoll descriptor for descriptors, signals and timers. One wake-up is:
 *  the readers that have something, the timers that are due, then the hooks,
 *  which send what came together. Nothing wakes up while nothing happens.
 *
 *  Callbacks may add and remove anything, themselves included.
 */

#ifndef LK_LOOP_H
#define LK_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lk_loop lk_loop;
typedef void lk_loop_fn (void *user);

/*  Never NULL: aborts if the system has no epoll descriptor for us. */
lk_loop *lk_loop_new (void);

/*  Removes what is still there; touches no socket or descriptor of others.
 *  NULL-safe, nulls the pointer. */
void lk_loop_destroy (lk_loop **self_p);

/*  Runs until lk_loop_stop; returns its exit code. May be called again. */
int lk_loop_run (lk_loop *self);

/*  Ends lk_loop_run at the end of this wake-up, after the hooks. The first
 *  exit code counts. */
void lk_loop_stop (lk_loop *self, int exit_code);

/*  One wake-up: waits at most wait_ms (-1: as long as it takes). For tests
 *  and for who has a loop of their own. */
void lk_loop_once (lk_loop *self, int wait_ms);

/*  -------------------------------------------------------- readers */

typedef struct lk_reader lk_reader;

/*  Calls fn while the descriptor is readable. */
lk_reader *lk_loop_add_fd (lk_loop *self, int fd, lk_loop_fn *fn, void *user);

/*  Calls fn when the descriptor of a queue says that something may have come,
 *  or `pending` does: it is asked before the loop sleeps, once after each
 *  lk_loop_touch, since looking at the queue uses up what the descriptor says
 *  (see zsocket.h). Touch it when it was sent to, or not read to its end. */
typedef bool lk_loop_pending_fn (void *user);
lk_reader *lk_loop_add_queue (lk_loop *self, int fd,
                              lk_loop_pending_fn *pending, lk_loop_fn *fn,
                              void *user);
void lk_loop_touch (lk_loop *self, lk_reader *reader);

/*  Removes a reader; its fn is not called any more. NULL-safe, nulls the
 *  pointer. Remove it before the descriptor is closed. */
void lk_loop_remove (lk_loop *self, lk_reader **reader_p);

/*  -------------------------------------------------------- timers

    Embedded in whatever they are for; a heap, so thousands are fine. One that
    is moved to later and later costs no system call. */

typedef struct {
    lk_loop *loop;
    lk_loop_fn *fn;
    void *user;
    int64_t when_ms;
    size_t place; /* in the heap, from 1; 0: not set */
} lk_timer;

void lk_timer_init (lk_timer *self, lk_loop *loop, lk_loop_fn *fn, void *user);

/*  Calls fn once, at that time of the boot clock (lk_clock_ms) or as soon as
 *  possible if it is over; replaces the time set before. INT64_MAX: never. */
void lk_timer_set (lk_timer *self, int64_t when_ms);
void lk_timer_clear (lk_timer *self); /* not any more; also before freeing */
bool lk_timer_is_set (const lk_timer *self);

/*  -------------------------------------------------------- hooks, signals */

typedef struct lk_hook lk_hook;

/*  Calls fn at the end of each wake-up, in the order of adding. */
lk_hook *lk_loop_add_hook (lk_loop *self, lk_loop_fn *fn, void *user);
void lk_loop_remove_hook (lk_loop *self, lk_hook **hook_p);

/*  Takes SIGTERM, SIGINT and SIGHUP from now on: they call fn with their
 *  number. Ignores SIGPIPE. Call it before any thread is made; a
 *  child that is started has to unblock them. */
typedef void lk_signal_fn (void *user, int signal_number);
void lk_loop_on_signal (lk_loop *self, lk_signal_fn *fn, void *user);

#endif
