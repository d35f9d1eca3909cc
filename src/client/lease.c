/*  lease.c - until when the host's lock service vouches for its locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/lease.h"

#include "net/lease_page.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define SHELF_SIZE ((size_t) 4096)
#define SHELF_PLACES (SHELF_SIZE / sizeof (_Atomic int64_t))

struct lk_lease {
    unsigned users;
    uint64_t session;
    int64_t until_ms; /* without a view */
    lk_lease_view *view;
    char *path;            /* of its page; NULL: none */
    char *problem;         /* why there is no view */
    lk_lease_shelf *shelf; /* has `own`; NULL: none */
    _Atomic int64_t *own;
};

/*  A place is used once: what a child still reads is nobody else's later. */
struct lk_lease_shelf {
    size_t users; /* leases, and who puts more there */
    size_t used;  /* places */
    _Atomic int64_t *places;
};

/*  Whether it is the one that this LOCKED speaks of. A page that says less than
 *  the LOCKED is that of another lock service: of one whose state file was
 *  lost since, which counts its sessions from 1 again. */
static bool
is_same (const lk_lease *known, uint64_t session, int64_t until_ms)
{
    if (known == NULL || known->session != session) {
        return false;
    }
    return known->view != NULL ? lk_lease_until (known) >= until_ms
                               : known->until_ms == until_ms;
}

lk_lease *
lk_lease_take (lk_lease *known, const char *path, uint64_t session,
               int64_t until_ms)
{
    if (is_same (known, session, until_ms)) {
        known->users++;
        return known;
    }
    lk_lease *self = lk_alloc (sizeof *self);
    self->users = 1;
    self->session = session;
    self->until_ms = until_ms;
    if (path != NULL) {
        lk_problem problem = {.text = ""};
        self->path = lk_strdup (path);
        self->view = lk_lease_view_new (path, &problem);
        self->problem = self->view == NULL ? lk_strdup (problem.text) : NULL;
    }
    return self;
}

void
lk_lease_drop (lk_lease **self_p)
{
    lk_lease *self = *self_p;
    *self_p = NULL;
    if (self == NULL) {
        return;
    }
    LK_ASSERT (self->users > 0);
    if (--self->users == 0) {
        lk_lease_leave (&self->shelf);
        lk_lease_view_destroy (&self->view);
        lk_free (self->path);
        lk_free (self->problem);
        lk_free (self);
    }
}

/*  -------------------------------------------------------- our own */

void
lk_lease_leave (lk_lease_shelf **shelf_p)
{
    lk_lease_shelf *self = *shelf_p;
    *shelf_p = NULL;
    if (self != NULL && --self->users == 0) {
        (void) munmap ((void *) self->places, SHELF_SIZE);
        lk_free (self);
    }
}

/*  Out of memory ends the program, as elsewhere. */
static lk_lease_shelf *
new_shelf (void)
{
    lk_lease_shelf *self = lk_alloc (sizeof *self);
    void *place = mmap (NULL, SHELF_SIZE, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    LK_ASSERT (place != MAP_FAILED);
    self->places = place;
    self->users = 1;
    return self;
}

lk_lease *
lk_lease_own (lk_lease_shelf **shelf_p, int64_t until_ms)
{
    lk_lease *self = lk_alloc (sizeof *self);
    if (*shelf_p != NULL && (*shelf_p)->used == SHELF_PLACES) {
        lk_lease_leave (shelf_p);
    }
    if (*shelf_p == NULL) {
        *shelf_p = new_shelf ();
    }
    self->users = 1;
    self->shelf = *shelf_p;
    self->shelf->users++;
    self->own = &self->shelf->places[self->shelf->used++];
    lk_lease_move (self, until_ms);
    return self;
}

void
lk_lease_move (lk_lease *self, int64_t until_ms)
{
    atomic_store (self->own, until_ms > 0 ? until_ms : 0);
}

bool
lk_lease_is_own (const lk_lease *self)
{
    return self->own != NULL;
}

/*  -------------------------------------------------------- looking */

int64_t
lk_lease_until (const lk_lease *self)
{
    if (self->own != NULL) {
        return atomic_load (self->own);
    }
    if (self->view == NULL) {
        return self->until_ms;
    }
    return lk_lease_view_until (self->view, self->session);
}

bool
lk_lease_lives (const lk_lease *self)
{
    return self->view != NULL || self->own != NULL;
}

const char *
lk_lease_page_path (const lk_lease *self, uint64_t *session)
{
    *session = self->session;
    return self->path;
}

const char *
lk_lease_problem (const lk_lease *self)
{
    return self->problem;
}
