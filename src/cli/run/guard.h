/*  guard.h - ends the command of `run` when `run` itself cannot
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  `run` may be stopped or killed, and so may the lock service: nobody tells
 *  the command then that its lock is over. The guard is a process in a
 *  session of its own that reads the lease page, too, and hears that `run` is
 *  there; also from which page, if another lock service goes on with the lock
 *  (lk_guard_follow). Let E be the end of the lock (lk_lock_until), or when
 *  `run` heard that it is lost, or a whole lease after `run` was heard; and
 *  S the time that is left from there until others may get it (lk_lock_spare):
 *
 *      E            `run` sends TERM, and notes when it will send KILL
 *      E + S / 5    the guard sends TERM, unless `run` did
 *      E + S * 4/5  `run` sends KILL, and so does the guard
 *      E + S        the kernel kills the guard, should it be stopped, by a
 *                   timer that the guard sets anew all the time
 *
 *  A guard that had to end the command because `run` is stopped gives the lock
 *  back in its place, with its key, since nobody works under it any more.
 *
 *  And when the guard ends, but was not told to, the kernel kills the
 *  command's process group: the guard has the only writing end of a pipe whose
 *  reader asked for a KILL to that group at its end of file (F_SETSIG).
 */

#ifndef LK_GUARD_H
#define LK_GUARD_H

#include "cli/cli.h"
#include "cli/run/job.h"

#include <lockkeeper/lockkeeper.h>

typedef struct lk_guard_page lk_guard_page;

typedef struct {
    pid_t pid;
    int control_fd;   /* its end of file is our end, for the guard */
    int kill_fd;      /* read by nobody */
    uint64_t session; /* whose lease it looks at */
    lk_guard_page *page;
} lk_guard;

/*  Starts it for a lock that is held; `options`: where the router is, and the
 *  lock's context. False and errno if it cannot. */
bool lk_guard_start (lk_guard *self, const lk_lock *lock, const lk_job *job,
                     const lk_options *options);

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

/*  Whether it has begun to give the lock back, since we were stopped. */
bool lk_guard_gives_back (const lk_guard *self);

/*  It guards no more, and ends: when nothing is left of the job. */
void lk_guard_finish (lk_guard *self);

#endif
