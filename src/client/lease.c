/*  lease.c - until when the host's lock service vouches for its locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/lease.h"

#include "net/lease_page.h"
#include "util/alloc.h"
#include "util/assert.h"

struct lk_lease {
    unsigned users;
    uint64_t session;
    int64_t until_ms; /* without a view */
    lk_lease_view *view;
    char *path;    /* of its page; NULL: none */
    char *problem; /* why there is no view */
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
        lk_lease_view_destroy (&self->view);
        lk_free (self->path);
        lk_free (self->problem);
        lk_free (self);
    }
}

int64_t
lk_lease_until (const lk_lease *self)
{
    if (self->view == NULL) {
        return self->until_ms;
    }
    return lk_lease_view_until (self->view, self->session);
}

bool
lk_lease_lives (const lk_lease *self)
{
    return self->view != NULL;
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
