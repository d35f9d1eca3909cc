/*  journal.c - the journal of this host's lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "journal.h"

#include "util/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct lk_journal {
    pthread_t thread;
    lk_journal_file *file; /* the thread's */
    int fd;

    /*  Of both. */
    pthread_mutex_t mutex;
    pthread_cond_t more;
    lk_journal_batch *first;
    lk_journal_batch *last;
    uint64_t number; /* on disk */
    lk_err error;
    lk_problem problem;
    bool is_over; /* when nothing waits any more */
};

/*  -------------------------------------------------------- the thread */

/*  All that wait; NULL: there will be none. */
static lk_journal_batch *
await_batches (lk_journal *self)
{
    pthread_mutex_lock (&self->mutex);
    while (!self->first && !self->is_over) {
        pthread_cond_wait (&self->more, &self->mutex);
    }
    lk_journal_batch *batches = self->first;
    self->first = self->last = NULL;
    pthread_mutex_unlock (&self->mutex);
    return batches;
}

static uint64_t
drop_all (lk_journal_batch *batches)
{
    uint64_t number = 0;
    while (batches) {
        lk_journal_batch *batch = batches;
        batches = batch->next;
        number = batch->number;
        lk_journal_batch_destroy (&batch);
    }
    return number;
}

static void
say (lk_journal *self, uint64_t number, lk_err error, const lk_problem *problem)
{
    const uint64_t one = 1;
    pthread_mutex_lock (&self->mutex);
    if (error == LK_OK) {
        self->number = number;
    } else {
        self->error = error;
        self->problem = *problem;
    }
    pthread_mutex_unlock (&self->mutex);
    (void) !write (self->fd, &one, sizeof one);
}

/*  After a record that failed no other one is written. */
static void *
write_batches (void *user)
{
    lk_journal *self = user;
    lk_journal_batch *batches;
    lk_problem problem = {0};
    lk_err error = LK_OK;
    while ((batches = await_batches (self))) {
        if (error == LK_OK) {
            error = lk_journal_file_write (self->file, batches, &problem);
            say (self, drop_all (batches), error, &problem);
        } else {
            (void) drop_all (batches);
        }
    }
    return NULL;
}

/*  -------------------------------------------------------- its owner */

static lk_err
start (lk_journal *self, lk_problem *problem)
{
    self->fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->fd == -1) {
        return lk_problem_errno (problem, "cannot keep a journal");
    }
    pthread_mutex_init (&self->mutex, NULL);
    pthread_cond_init (&self->more, NULL);
    errno = pthread_create (&self->thread, NULL, write_batches, self);
    if (errno != 0) {
        close (self->fd);
        return lk_problem_errno (problem, "cannot keep a journal");
    }
    return LK_OK;
}

lk_journal *
lk_journal_new (lk_journal_file **file_p, lk_problem *problem)
{
    lk_journal *self = lk_alloc (sizeof *self);
    self->file = *file_p;
    if (start (self, problem) != LK_OK) {
        lk_free (self);
        return NULL;
    }
    *file_p = NULL;
    return self;
}

void
lk_journal_destroy (lk_journal **self_p)
{
    lk_journal *self = *self_p;
    if (!self) {
        return;
    }
    pthread_mutex_lock (&self->mutex);
    self->is_over = true;
    pthread_cond_signal (&self->more);
    pthread_mutex_unlock (&self->mutex);
    pthread_join (self->thread, NULL);
    pthread_cond_destroy (&self->more);
    pthread_mutex_destroy (&self->mutex);
    close (self->fd);
    lk_journal_file_destroy (&self->file);
    lk_free (self);
    *self_p = NULL;
}

void
lk_journal_put (lk_journal *self, lk_journal_batch **batch_p)
{
    lk_journal_batch *batch = *batch_p;
    *batch_p = NULL;
    pthread_mutex_lock (&self->mutex);
    if (self->last) {
        self->last->next = batch;
    } else {
        self->first = batch;
    }
    self->last = batch;
    pthread_cond_signal (&self->more);
    pthread_mutex_unlock (&self->mutex);
}

int
lk_journal_fd (const lk_journal *self)
{
    return self->fd;
}

lk_err
lk_journal_take (lk_journal *self, uint64_t *number, lk_problem *problem)
{
    uint64_t count;
    (void) !read (self->fd, &count, sizeof count);
    pthread_mutex_lock (&self->mutex);
    *number = self->number;
    *problem = self->problem;
    const lk_err error = self->error;
    pthread_mutex_unlock (&self->mutex);
    return error;
}
