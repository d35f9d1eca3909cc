/*  room.c - a host that is gone and holds nothing makes room for another one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The hostmap has numbers for LK_HOSTS_MAX hosts. When a message names one
 *  more, the core says which of them it needs no more, and all that is kept
 *  for that one goes.
 */

#include "keep.h"

#include "net/log.h"
#include "wire/lock_codec.h"

/*  The first members have numbers in what is on disk. */
bool
lk_lockd_make_room (lk_lockd *self, bool urgent)
{
    const lk_hosts hosts =
        lk_hostmap_hosts (&self->hostmap) & ~self->state.genesis;
    const lk_host host = lk_node_find_spare (self->node, hosts, urgent);
    if (host == LK_NOBODY) {
        return false;
    }
    const char *name = lk_hostmap_name (&self->hostmap, host);
    const uint64_t id = lk_hostmap_id (&self->hostmap, host);
    lk_log_debug ("forgotten: host=%s id=%016llx", name,
                  (unsigned long long) id);
    lk_node_forget (self->node, host);
    lk_peers_forget (&self->peers, name, id);
    self->level[host] = 0;
    self->told_domain[host][0] = '\0';
    lk_hostmap_forget (&self->hostmap, host);
    self->places_are_old = true;
    return true;
}

/*  Logged ever more seldom. */
static void
say_full (lk_lockd *self, const char *host)
{
    self->refused++;
    if ((self->refused & (self->refused - 1)) == 0) {
        lk_log_warning ("no room for host=%s: %d are there, hold locks or are "
                        "members count=%llu",
                        host, LK_HOSTS_MAX, (unsigned long long) self->refused);
    }
}

/*  Messages of members and leaders must be read, whomever they name, or nobody
 *  is served any more: hosts that are there make room for them, too, as long as
 *  they hold nothing. */
lk_err
lk_lockd_read (lk_lockd *self, const char *host, uint64_t id,
               const lk_message *message, lk_lock_message *read)
{
    const lk_host from = lk_hostmap_find (&self->hostmap, host, id);
    const bool urgent =
        from != LK_NOBODY && lk_lockd_is_of (&self->state.facts.active, from);
    lk_err error;
    do {
        lk_arena_reset (&self->heard);
        error = lk_lock_read (message, &self->hostmap, self->self, &self->heard,
                              read);
    } while (error == LK_FULL && lk_lockd_make_room (self, urgent));
    if (error == LK_FULL) {
        say_full (self, host);
    }
    return error;
}
