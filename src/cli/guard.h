/*  guard.h - ends the command of `run` when `run` itself cannot
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  `run` may be stopped or killed, and so may the lock service: nobody tells
 *  the command then that its lock is over. The guard is a process in a
 *  session of its own that reads the lease page, too, and hears that `run` is
 *  there; also from which page, if another lock service goes on with the lock
 *  (lk_guard_follow). Let E be the end of the lease or the duration, or a whole
 *  lease after `run` was last heard, and S the spare time of which nobody else
 *  gets the lock (lk_lock_spare):
 *
 *      E            `run` sends TERM, and notes when it will send KILL
 *      E + S / 8    the guard sends TERM, unless `run` did
 *      E + S / 2    `run` sends KILL, and so does the guard
 *      E + S * 5/8  the kernel kills the guard, should it be stopped, by a
 *                   timer that the guard sets anew all the time
 *      E + S        others may get the lock
 *
 *  And when the guard ends, but was not told to, the kernel kills the
 *  command's process group: the guard has the only writing end of a pipe whose
 *  reader asked for a KILL to that group at its end of file (F_SETSIG).
 */

#ifndef LK_GUARD_H
#define LK_GUARD_H

#include "cli/job.h"

#include <lockkeeper/lockkeeper.h>

typedef struct lk_guard_page lk_guard_page;

typedef struct {
    pid_t pid;
    int control_fd;   /* its end of file is our end, for the guard */
    int kill_fd;      /* read by nobody */
    uint64_t session; /* whose lease it looks at */
    lk_guard_page *page;
} lk_guard;

/*  Starts it for a lock that is held. False and errno if it cannot. */
bool lk_guard_start (lk_guard *self, const lk_lock *lock, const lk_job *job);

/*  In the command's process, which leads its group, before it runs anything:
 *  returns when it is guarded; false if there is no guard any more. */
bool lk_guard_admit (const lk_guard *self);

/*  We are there. */
void lk_guard_beat (const lk_guard *self);

/*  The lock may be by another lease than it was, which the guard looks at from
 *  then on. */
void lk_guard_follow (lk_guard *self, const lk_lock *lock);

/*  We will stop ourselves along with the command, or go on. */
void lk_guard_suspend (const lk_guard *self, bool suspended);

/*  TERM was sent to the job; KILL follows then. */
void lk_guard_note_end (const lk_guard *self, int64_t kill_ms);

/*  Whether it has sent the job TERM or KILL: its end is none of its own. */
bool lk_guard_is_ending (const lk_guard *self);

/*  It guards no more, and ends: when nothing is left of the job. */
void lk_guard_finish (lk_guard *self);

#endif
