/*  checker_arbiter.c - the judge: arbiters lead nothing and hear of no lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "checker.h"

#include "node_view.h"

void
sim_checker_arbiter (sim_checker *self, uint8_t host, const lk_node *node)
{
    const lk_table *table = lk_node_table (node);

    if (lk_hosts_has (self->arbiters, host)
        && (table->count > 0 || table->decree.leader_count > 0)) {
        sim_checker_fail (self, "ARBITER: h%d has a table of %zu tickets", host,
                          table->count);
    }
}

/*  It may be in a decree that is never in force; who makes one knows which
 *  voter is an arbiter, since that says so. */
void
sim_checker_names_leaders (sim_checker *self, const lk_decree *decree)
{
    for (size_t place = 0; place < decree->leader_count; place++) {
        if (lk_hosts_has (self->arbiters, decree->leader[place])) {
            sim_checker_fail (self, "ARBITER: h%d is to lead by decree %llu",
                              decree->leader[place],
                              (unsigned long long) decree->term.number);
        }
    }
}

/*  Messages with tickets, or about them. An alert names no lock, and may go to
 *  one that is not known to be an arbiter yet. */
static bool
is_about_locks (lk_lock_kind kind)
{
    switch (kind) {
    case LK_MSG_GETMAX:
    case LK_MSG_MAXTICKET:
    case LK_MSG_FILL:
    case LK_MSG_FILLED:
    case LK_MSG_OPS:
    case LK_MSG_ACKED:
    case LK_MSG_HOST:
    case LK_MSG_SILENT:
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
    case LK_MSG_CHECK:
    case LK_MSG_STOPPING:
    case LK_MSG_REPORT:
    case LK_MSG_AUDITED:
    case LK_MSG_LOCKED:
    case LK_MSG_UNLOCKED:
    case LK_MSG_LOCKFAILED:
    case LK_MSG_CHECKED:
    case LK_MSG_PENDING:
    case LK_MSG_REPORTED:
    case LK_MSG_AUDIT:
        return true;
    default:
        return false;
    }
}

void
sim_checker_spares_arbiters (sim_checker *self, uint8_t host,
                             const lk_lock_message *message)
{
    const bool is_one = lk_hosts_has (self->arbiters, host);

    if (is_about_locks (message->kind)
        && (is_one || lk_hosts_has (self->arbiters, message->to))) {
        sim_checker_fail (self, "ARBITER: h%d is %s %s by h%d",
                          is_one ? host : message->to,
                          is_one ? "the sender of" : "sent",
                          lk_lock_kind_command (message->kind), host);
    }
}
