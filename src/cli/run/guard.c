/*  guard.c - ends the command of `run` when `run` itself cannot
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The guard is a fork of `run` with all of its memory, so it can ask the lock
 *  itself; it must not touch the session, which is that of `run`.
 */

#include "cli/run/guard.h"

#include "cli/descriptors.h"
#include "net/clock.h"
#include "net/lease_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MIN_MS 10
#define KILLING_MS 1000 /* of which the timer must not be in the middle */
#define NICE (-20) /* where it may: others must not keep it from its work */
#define PAUSE_MAX_MS 60000
#define GIVE_BACK_MS 10000 /* how long a try may take */
#define AGAIN_MS 1000      /* between two of them */
#define WORKS_MS 3000      /* after KILL `run` ends its guard, if it works */

/*  What is said to the guard, and its answer to the first. */
enum { ADMIT = 'a', LOOK = 'l' };

/*  Shared by `run`, the guard, and the command before it is one. */
struct lk_guard_page {
    _Atomic int64_t beat_ms; /* when `run` was there */
    _Atomic int64_t kill_ms; /* INT64_MAX: no end is under way */
    _Atomic bool suspended;
    _Atomic bool is_ending; /* by TERM or KILL of the guard */
    _Atomic bool gives_back;
    _Atomic pid_t group;
    _Atomic uint64_t session;  /* the lease that counts; 0: that of the fork */
    _Atomic int64_t ends_ms;   /* of the duration, then; INT64_MAX */
    char lease_page[PATH_MAX]; /* written once ahead of each `session` */
};

typedef struct {
    const lk_lock *lock;
    const lk_options *options;
    lk_job job;
    lk_guard_page *page;
    int control_fd, kill_fd, alive_fd;
    int64_t spare_ms;
    int64_t deaf_ms; /* `run` is, when nothing is heard of it for so long */
    int64_t good_ms; /* when we saw last that the lock was good */
    int64_t kill_ms; /* as soon as TERM was sent; else INT64_MAX */
    timer_t timer;
    bool has_timer;
    bool follows; /* another lease than the lock had at first: */
    lk_lease_view *lease;
    uint64_t session;
} guard;

/*  ------------------------------------------------------ the kernel's part */

/*  The group is killed when alive_fd, which nobody else has, is closed. */
static void
arm_pipe (guard *self)
{
    (void) fcntl (self->kill_fd, F_SETOWN, -self->job.group);
    (void) fcntl (self->kill_fd, F_SETSIG, SIGKILL);
    (void) fcntl (self->kill_fd, F_SETFL, O_ASYNC);
}

static void
disarm_pipe (int kill_fd)
{
    (void) fcntl (kill_fd, F_SETFL, 0);
    (void) fcntl (kill_fd, F_SETOWN, 0);
}

static void
make_timer (guard *self)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGKILL};
    self->has_timer = timer_create (CLOCK_BOOTTIME, &event, &self->timer) == 0;
}

static void
set_timer (guard *self, int64_t when_ms)
{
    const struct itimerspec when = {
        .it_value = {when_ms / 1000, when_ms % 1000 * 1000000}};
    if (self->has_timer) {
        (void) timer_settime (self->timer, TIMER_ABSTIME, &when, NULL);
    }
}

/*  -------------------------------------------------------- its time */

static int64_t
later (int64_t when_ms, int64_t ms)
{
    return when_ms > INT64_MAX - ms ? INT64_MAX : when_ms + ms;
}

/*  Another lock service goes on with it. */
static void
look_for_lease (guard *self)
{
    const uint64_t session = atomic_load (&self->page->session);
    if (session != self->session) {
        lk_problem problem;
        self->session = session;
        self->follows = true;
        lk_lease_view_destroy (&self->lease);
        self->lease = lk_lease_view_new (self->page->lease_page, &problem);
    }
}

static int64_t
lock_until (guard *self)
{
    look_for_lease (self);
    if (!self->follows) {
        return lk_lock_until (self->lock);
    }
    int64_t until_ms = self->lease != NULL
                           ? lk_lease_view_until (self->lease, self->session)
                           : 0;
    until_ms = until_ms > self->spare_ms ? until_ms - self->spare_ms : 0;
    const int64_t ends_ms = atomic_load (&self->page->ends_ms);
    return until_ms < ends_ms ? until_ms : ends_ms;
}

/*  When the lock is over, if nothing more is heard of it or of `run`. */
static int64_t
lock_ends (guard *self)
{
    const int64_t until_ms = lock_until (self);
    const int64_t deaf_ms =
        later (atomic_load (&self->page->beat_ms), self->deaf_ms);
    return atomic_load (&self->page->suspended) || until_ms < deaf_ms ? until_ms
                                                                      : deaf_ms;
}

/*  Sends TERM, if it is time and `run` has not. */
static void
begin_end (guard *self, int64_t ends_ms, int64_t now_ms)
{
    const int64_t noted_ms = atomic_load (&self->page->kill_ms);
    if (self->kill_ms != INT64_MAX) {
        return;
    }
    if (noted_ms != INT64_MAX) {
        self->kill_ms = noted_ms;
    } else if (now_ms >= later (ends_ms, self->spare_ms / 5)) {
        self->kill_ms = later (ends_ms, self->spare_ms * 4 / 5);
        atomic_store (&self->page->is_ending, true);
        lk_job_terminate (&self->job);
    }
}

/*  -------------------------------------------------------- the lock itself */

static bool
unlock (lk_session *session, const guard *self, size_t at)
{
    static const lk_taking at_once = {.now = true};
    lk_lock_name name = {.context = self->options->context};
    name.object = lk_lock_object_at (self->lock, at, &name.len);
    const lk_err error =
        lk_session_unlock (session, &name, lk_lock_key_at (self->lock, at),
                           &at_once, GIVE_BACK_MS);
    return error == LK_OK || error == LK_UNKNOWN || error == LK_DENIED;
}

static bool
unlock_all (const guard *self)
{
    const lk_session_options wish = {.endpoint = self->options->endpoint,
                                     .name = "run-guard",
                                     .connect_ms = GIVE_BACK_MS};
    lk_session *session = lk_session_new (&wish);
    bool is_done = session != NULL;
    for (size_t at = 0; session && at < lk_lock_count (self->lock); at++) {
        is_done &= unlock (session, self, at);
    }
    lk_session_destroy (&session);
    return is_done;
}

/*  `run` is stopped, so that its lock would last for ever, and nobody works
 *  under it any more. When that goes on it ends us. */
static void
give_back (guard *self)
{
    while (lock_until (self) > lk_clock_ms ()) {
        atomic_store (&self->page->gives_back, true);
        if (unlock_all (self)) {
            return;
        }
        (void) poll (NULL, 0, AGAIN_MS);
    }
}

/*  The command's last moment. If `run` noted that itself, it gives the lock
 *  back, or was stopped meanwhile. */
static _Noreturn void
kill_job (guard *self, int64_t now_ms)
{
    const bool is_noted = atomic_load (&self->page->kill_ms) != INT64_MAX;
    atomic_store (&self->page->is_ending, true);
    set_timer (self, later (now_ms, KILLING_MS));
    lk_job_kill (&self->job);
    disarm_pipe (self->kill_fd);
    set_timer (self, 0);
    if (is_noted) {
        (void) poll (NULL, 0, WORKS_MS);
    }
    give_back (self);
    _exit (0);
}

/*  Looks whether it is time for anything; how long to wait, ms. A lease can
 *  also be over before its end: then that was after we last looked. */
static int64_t
guard_on (guard *self)
{
    const int64_t now_ms = lk_clock_ms ();
    int64_t ends_ms = lock_ends (self);
    if (ends_ms > now_ms) {
        self->good_ms = now_ms;
    } else if (ends_ms < self->good_ms) {
        ends_ms = self->good_ms;
    }
    begin_end (self, ends_ms, now_ms);
    if (now_ms >= self->kill_ms) {
        kill_job (self, now_ms);
    }
    const bool is_end = self->kill_ms != INT64_MAX;
    set_timer (self, later (is_end ? self->kill_ms
                                   : later (ends_ms, self->spare_ms * 4 / 5),
                            self->spare_ms / 5));
    const int64_t pause = is_end ? self->kill_ms - now_ms : self->spare_ms / 5;
    return pause < PAUSE_MIN_MS ? PAUSE_MIN_MS : pause;
}

/*  -------------------------------------------------------- what it is told */

static void
say (int control_fd, char word)
{
    (void) !send (control_fd, &word, 1, MSG_NOSIGNAL);
}

static void
admit (guard *self)
{
    self->job.group = atomic_load (&self->page->group);
    arm_pipe (self);
    make_timer (self);
    (void) guard_on (self);
    say (self->control_fd, ADMIT);
}

static void
listen_to (guard *self)
{
    char word;
    const ssize_t size = read (self->control_fd, &word, 1);
    if (size == 0 && self->job.group != 0) {
        lk_job_kill_orphans (&self->job);
    }
    if (size == 0) {
        disarm_pipe (self->kill_fd);
        _exit (0);
    }
    if (size > 0 && word == ADMIT) {
        admit (self);
    }
}

static _Noreturn void
run_guard (guard *self)
{
    struct pollfd control = {self->control_fd, POLLIN, 0};
    for (;;) {
        const int64_t pause =
            self->job.group == 0 ? PAUSE_MAX_MS : guard_on (self);
        if (poll (&control, 1,
                  (int) (pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS))
            > 0) {
            listen_to (self);
        }
    }
}

static _Noreturn void
become_guard (guard *self)
{
    const int kept[3] = {self->control_fd, self->kill_fd, self->alive_fd};
    setsid ();
    (void) setpriority (PRIO_PROCESS, 0, NICE);
    prctl (PR_SET_NAME, "lk-guard");
    lk_descriptors_keep (kept, 3);
    self->job.guard = getpid ();
    run_guard (self);
}

/*  -------------------------------------------------------- `run`'s side */

static lk_guard_page *
make_page (void)
{
    lk_guard_page *page = mmap (NULL, sizeof *page, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    atomic_store (&page->kill_ms, INT64_MAX);
    atomic_store (&page->beat_ms, lk_clock_ms ());
    return page;
}

bool
lk_guard_start (lk_guard *self, const lk_lock *lock, const lk_job *job,
                const lk_options *options)
{
    int control[2], life[2];
    *self = (lk_guard) {.page = make_page ()};
    if (self->page == NULL
        || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0) {
        return false;
    }
    if (pipe2 (life, O_CLOEXEC) != 0) {
        close (control[0]);
        close (control[1]);
        return false;
    }
    guard child = {.lock = lock,
                   .options = options,
                   .job = *job,
                   .page = self->page,
                   .control_fd = control[1],
                   .kill_fd = life[0],
                   .alive_fd = life[1],
                   .spare_ms = lk_lock_spare (lock),
                   .deaf_ms = lk_lock_spare (lock) * 32 / 5,
                   .good_ms = lk_clock_ms (),
                   .kill_ms = INT64_MAX};
    self->pid = fork ();
    if (self->pid == 0) {
        become_guard (&child);
    }
    close (control[1]);
    close (life[1]);
    self->control_fd = control[0];
    self->kill_fd = life[0];
    (void) lk_lock_lease_page (lock, &self->session);
    return self->pid > 0;
}

bool
lk_guard_admit (const lk_guard *self)
{
    char answer;
    atomic_store (&self->page->group, getpid ());
    say (self->control_fd, ADMIT);
    return read (self->control_fd, &answer, 1) == 1;
}

void
lk_guard_beat (const lk_guard *self)
{
    atomic_store (&self->page->beat_ms, lk_clock_ms ());
}

void
lk_guard_follow (lk_guard *self, const lk_lock *lock)
{
    uint64_t session;
    const char *path = lk_lock_lease_page (lock, &session);
    if (path == NULL || session == self->session) {
        return;
    }
    const int64_t left_ms = lk_lock_left (lock);
    self->session = session;
    snprintf (self->page->lease_page, sizeof self->page->lease_page, "%s",
              path);
    atomic_store (&self->page->ends_ms,
                  left_ms < 0 ? INT64_MAX : lk_clock_ms () + left_ms);
    atomic_store (&self->page->session, session);
    say (self->control_fd, LOOK); /* the page may soon be a later service's */
}

void
lk_guard_suspend (const lk_guard *self, bool suspended)
{
    atomic_store (&self->page->beat_ms, lk_clock_ms ());
    atomic_store (&self->page->suspended, suspended);
}

void
lk_guard_note_end (const lk_guard *self, int64_t kill_ms)
{
    atomic_store (&self->page->kill_ms, kill_ms);
    say (self->control_fd, LOOK);
}

bool
lk_guard_is_ending (const lk_guard *self)
{
    return atomic_load (&self->page->is_ending);
}

bool
lk_guard_gives_back (const lk_guard *self)
{
    return atomic_load (&self->page->gives_back);
}

/*  It may be stopped. */
void
lk_guard_finish (lk_guard *self)
{
    disarm_pipe (self->kill_fd);
    (void) kill (self->pid, SIGKILL);
    while (waitpid (self->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    close (self->control_fd);
    close (self->kill_fd);
    munmap (self->page, sizeof *self->page);
}
