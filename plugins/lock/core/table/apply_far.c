/*  apply_far.c - claims of applications on other machines, in a reclaim
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Two hosts may claim one request, and one that is in doubt may be over.
 *  lockkeeper-protocol(7), 9.20: Reclaim.
 */

#include "apply.h"
#include "entry.h"
#include "grant.h"

static void
tell_lost (lk_table *self, lk_notices *notices, lk_request_id request,
           uint64_t token)
{
    lk_apply_tell (self, notices,
                   &(lk_notice) {.kind = LK_NOTICE_UNLOCKED,
                                 .request = request,
                                 .token = token,
                                 .error = LK_LOST});
}

static bool
is_same_request (lk_request_id one, lk_request_id other)
{
    return one.host == other.host && one.session == other.session
           && one.serial == other.serial;
}

/*  Of the same request that another host has said: the higher number stands,
 *  and it is held if either was. */
static bool
settle_same (lk_table *self, lk_ticket *claim, lk_notices *notices)
{
    lk_entry *entry =
        lk_table_find_remote (self, &claim->remote, claim->object);
    const bool is_other =
        entry && !is_same_request (lk_entry_request (entry), claim->request);
    if (!is_other) {
        return true;
    }
    const lk_request_id other = lk_entry_request (entry);
    const bool is_later =
        lk_entry_far (entry)->id.number >= claim->remote.number;
    lk_apply_tell_moved (self, notices, is_later ? claim->request : other);
    if (is_later && entry->token != 0) {
        return false;
    }
    if (!is_later) {
        lk_entry_remove (self, entry);
        return true;
    }
    claim->request = other; /* that one, which waited, is held */
    claim->remote.number = lk_entry_far (entry)->id.number;
    return true;
}

/*  One of the holders that it does not go together with. */
static lk_entry *
find_rival (const lk_table *self, const lk_ticket *claim)
{
    const lk_queue *queue = lk_table_queue (self, claim->object);
    if (!queue || lk_grant_agrees (queue, claim->mode.type)) {
        return NULL;
    }
    lk_entry *entry = queue->first;
    while (entry && entry->token != 0
           && is_same_request (lk_entry_request (entry), claim->request)) {
        entry = entry->next;
    }
    return entry && entry->token != 0 ? entry : NULL;
}

/*  Of what does not go together the higher token stands. Where all are on their
 *  hosts they do. */
static bool
settle_others (lk_table *self, const lk_ticket *claim, lk_notices *notices)
{
    lk_entry *rival;
    while ((rival = find_rival (self, claim))
           && (rival->is_far || claim->remote.number != 0)) {
        if (rival->token >= claim->token) {
            tell_lost (self, notices, claim->request, claim->token);
            return false;
        }
        tell_lost (self, notices, lk_entry_request (rival), rival->token);
        lk_entry_remove (self, rival);
    }
    return true;
}

/*  protocol 9.20: Reclaim */
bool
lk_apply_make_way (lk_table *self, lk_ticket *claim, lk_notices *notices)
{
    return (claim->remote.number == 0 || settle_same (self, claim, notices))
           && settle_others (self, claim, notices);
}
