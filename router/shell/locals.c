/*  locals.c - see locals.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "locals.h"

#include "net/endpoint.h"
#include "net/log.h"
#include "net/process.h"

/*  Its users administer the cluster, if there is such a group. */
#define ADMIN_GROUP "lockkeeper-admin"

void
lk_locals_init (lk_locals *self, lk_loop *loop, const lk_locals_calls *calls,
                void *user, const lk_router_options *options)
{
    self->plain = lk_listener_new (loop, &calls->plain, user);
    if (options->admin_endpoint[0] != '\0') {
        self->admin = lk_listener_new (loop, &calls->admin, user);
    }
}

/*  Without a group of admins the file is its owner's alone: that of the router
 *  may be the group of all who may have locks. */
static lk_err
bind_admin (lk_locals *self, const lk_router_options *options,
            lk_problem *problem)
{
    const char *group = options->admin_group;
    if (self->admin == NULL) {
        lk_log_warning ("router: no endpoint for admins, its path would be too "
                        "long: set router/admin-endpoint");
        return LK_OK;
    }
    if (group[0] == '\0' && lk_endpoint_may_give_to (ADMIN_GROUP)) {
        group = ADMIN_GROUP;
    }
    return lk_listener_bind (self->admin, options->admin_endpoint,
                             group[0] != '\0' ? 0660 : 0600, group, problem);
}

lk_err
lk_locals_bind (lk_locals *self, const lk_router_options *options,
                lk_problem *problem)
{
    const lk_err error = lk_listener_bind (
        self->plain, options->endpoint, options->mode, options->group, problem);
    return error == LK_OK ? bind_admin (self, options, problem) : error;
}

void
lk_locals_destroy (lk_locals *self, int linger_ms)
{
    lk_listener_destroy (&self->plain, linger_ms);
    lk_listener_destroy (&self->admin, linger_ms);
}

lk_listener *
lk_locals_of (const lk_locals *self, lk_side side)
{
    return side == LK_SIDE_ADMIN ? self->admin : self->plain;
}

/*  Frames of one of them alone are told at a time. */
bool
lk_locals_peer (const lk_locals *self, const lk_identity *identity,
                lk_peer_cred *peer)
{
    return lk_listener_peer (self->plain, identity, peer)
           || (self->admin != NULL
               && lk_listener_peer (self->admin, identity, peer));
}

void
lk_locals_drain (lk_locals *self)
{
    lk_listener_drain (self->plain);
    if (self->admin != NULL) {
        lk_listener_drain (self->admin);
    }
}

size_t
lk_locals_groups (const lk_peer_cred *peer, gid_t groups[LK_GROUPS_MAX])
{
    groups[0] = peer->gid;
    return 1
           + lk_process_groups (peer->pid, peer->uid, groups + 1,
                                LK_GROUPS_MAX - 1);
}
