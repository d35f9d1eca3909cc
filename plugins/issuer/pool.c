/*  pool.c - threads that ask authorities, while the loop goes on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "pool.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

typedef enum { WAITS, RUNS, IS_DONE } state;

struct lk_pool_item {
    lk_question question;
    lk_authority_answer verdict;
    state state;
    bool is_given_up; /* its thread frees it */
    lk_pool_item *prev, *next;
};

/*  The last of the pool's owner and its threads frees it. */
struct lk_pool {
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t more;
    int users;
    bool is_over;
    lk_pool_item *waiting; /* in their order */
    size_t waiting_count;
    lk_pool_item *running[LK_POOL_THREADS]; /* NULL: that thread has nothing */

    lk_pool_ask *ask; /* these stay as they are */
    int fd;
};

/*  -------------------------------------------------------- ends */

static void
free_asked (lk_pool_item *asked)
{
    lk_authority_let_go (&asked->question.authority);
    explicit_bzero (asked->question.password, sizeof asked->question.password);
    lk_free (asked);
}

/*  With the mutex, which it gives back. */
static void
leave (lk_pool *self)
{
    const bool last = --self->users == 0;
    pthread_mutex_unlock (&self->mutex);
    if (last) {
        pthread_cond_destroy (&self->more);
        pthread_mutex_destroy (&self->mutex);
        close (self->fd);
        lk_free (self);
    }
}

/*  -------------------------------------------------------- a thread */

static bool
may_run (const lk_pool *self, const lk_pool_item *asked)
{
    int with_it = 0;
    const lk_authority *authority = asked->question.authority;
    for (size_t i = 0; i < LK_POOL_THREADS; i++) {
        const lk_pool_item *other = self->running[i];
        const lk_authority *its =
            other != NULL ? other->question.authority : NULL;
        with_it += other != NULL
                   && (its == authority
                       || (its != NULL && authority != NULL
                           && strcmp (its->name, authority->name) == 0));
    }
    return with_it < LK_POOL_OF_AUTHORITY;
}

/*  The first that waits for no other one of its authority. */
static lk_pool_item *
next_one (lk_pool *self)
{
    lk_pool_item *asked;
    DL_FOREACH (self->waiting, asked) {
        if (may_run (self, asked)) {
            DL_DELETE (self->waiting, asked);
            self->waiting_count--;
            return asked;
        }
    }
    return NULL;
}

/*  With the mutex, but not while it asks. */
static void
run (lk_pool *self, size_t place, lk_pool_item *asked)
{
    const uint64_t one = 1;
    asked->state = RUNS;
    self->running[place] = asked;
    pthread_mutex_unlock (&self->mutex);
    self->ask (&asked->question, &asked->verdict);
    pthread_mutex_lock (&self->mutex);
    self->running[place] = NULL;
    asked->state = IS_DONE;
    if (asked->is_given_up) {
        free_asked (asked);
    }
    (void) !write (self->fd, &one, sizeof one);
    pthread_cond_broadcast (&self->more);
}

typedef struct {
    lk_pool *pool;
    size_t place;
} post;

static void *
work (void *user)
{
    const post mine = *(post *) user;
    lk_pool *self = mine.pool;
    lk_free (user);
    pthread_mutex_lock (&self->mutex);
    while (!self->is_over) {
        lk_pool_item *asked = next_one (self);
        if (asked != NULL) {
            run (self, mine.place, asked);
        } else {
            pthread_cond_wait (&self->more, &self->mutex);
        }
    }
    leave (self);
    return NULL;
}

/*  Signals are for the threads of the program that we are in. */
static int
start (lk_pool *self, size_t place)
{
    pthread_t thread;
    sigset_t all, former;
    post *its = lk_alloc (sizeof *its);
    *its = (post) {.pool = self, .place = place};
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &former);
    const int error = pthread_create (&thread, NULL, work, its);
    pthread_sigmask (SIG_SETMASK, &former, NULL);
    if (error != 0) {
        lk_free (its);
    } else {
        pthread_detach (thread);
    }
    return error;
}

/*  -------------------------------------------------------- its owner */

lk_pool *
lk_pool_new (lk_pool_ask *ask, lk_problem *problem)
{
    lk_pool *self = lk_alloc (sizeof *self);
    self->ask = ask;
    self->users = 1;
    self->fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init (&self->mutex, NULL);
    pthread_cond_init (&self->more, NULL);
    int error = self->fd == -1 ? errno : 0;
    pthread_mutex_lock (&self->mutex);
    for (size_t i = 0; error == 0 && i < LK_POOL_THREADS; i++) {
        error = start (self, i);
        self->users += error == 0;
    }
    pthread_mutex_unlock (&self->mutex);
    if (error != 0) {
        lk_pool_destroy (&self);
        errno = error;
        (void) lk_problem_errno (problem, "cannot start a thread");
    }
    return self;
}

void
lk_pool_destroy (lk_pool **self_p)
{
    lk_pool *self = *self_p;
    lk_pool_item *asked, *next;
    *self_p = NULL;
    if (self == NULL) {
        return;
    }
    pthread_mutex_lock (&self->mutex);
    self->is_over = true;
    DL_FOREACH_SAFE (self->waiting, asked, next) {
        DL_DELETE (self->waiting, asked);
        free_asked (asked);
    }
    for (size_t i = 0; i < LK_POOL_THREADS; i++) {
        if (self->running[i] != NULL) {
            self->running[i]->is_given_up = true;
        }
    }
    pthread_cond_broadcast (&self->more);
    leave (self);
}

int
lk_pool_fd (const lk_pool *self)
{
    return self->fd;
}

void
lk_pool_seen (lk_pool *self)
{
    uint64_t count;
    (void) !read (self->fd, &count, sizeof count);
}

lk_pool_item *
lk_pool_put (lk_pool *self, const lk_question *question)
{
    lk_pool_item *asked = NULL;
    pthread_mutex_lock (&self->mutex);
    if (self->waiting_count < LK_POOL_WAITING_MAX) {
        asked = lk_alloc (sizeof *asked);
        asked->question = *question;
        DL_APPEND (self->waiting, asked);
        self->waiting_count++;
        pthread_cond_broadcast (&self->more);
    }
    pthread_mutex_unlock (&self->mutex);
    return asked;
}

bool
lk_pool_take (lk_pool *self, lk_pool_item **asked_p,
              lk_authority_answer *verdict)
{
    lk_pool_item *asked = *asked_p;
    pthread_mutex_lock (&self->mutex);
    const bool done = asked->state == IS_DONE;
    pthread_mutex_unlock (&self->mutex);
    if (done) {
        *verdict = asked->verdict;
        free_asked (asked);
        *asked_p = NULL;
    }
    return done;
}

void
lk_pool_give_up (lk_pool *self, lk_pool_item **asked_p)
{
    lk_pool_item *asked = *asked_p;
    *asked_p = NULL;
    pthread_mutex_lock (&self->mutex);
    if (asked->state == RUNS) {
        asked->is_given_up = true;
        asked = NULL;
    } else if (asked->state == WAITS) {
        DL_DELETE (self->waiting, asked);
        self->waiting_count--;
    }
    pthread_mutex_unlock (&self->mutex);
    if (asked != NULL) {
        free_asked (asked);
    }
}
