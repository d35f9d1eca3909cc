/*  core_checks.c - what no step of a lock service may ever do
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/core_checks.h"

#include "digest.h"
#include "grant.h"
#include "holders.h"
#include "node_view.h"

/*  -------------------------------------------------------- facts */

void
lk_core_check_facts (const lk_facts *disk, const lk_facts *facts)
{
    LK_ASSERT (facts->session >= disk->session);
    LK_ASSERT (lk_term_equal (facts->promised, disk->promised)
               || facts->promised.number > disk->promised.number);
    LK_ASSERT (lk_term_compare (facts->active.term, disk->active.term) >= 0);
    LK_ASSERT (facts->active.leader_count <= LK_LEADERS_MAX);
}

static bool
is_promised (const lk_facts *disk, lk_term term)
{
    return lk_term_compare (disk->promised, term) >= 0;
}

/*  Said by its own proxy, not passed on for somebody else's. */
static bool
is_own (const lk_lock_message *message)
{
    return message->origin == LK_NOBODY || message->origin == message->from;
}

/*  -------------------------------------------------------- messages */

void
lk_core_check_sent (const lk_node_config *config, const lk_facts *disk,
                    const lk_lock_message *message)
{
    LK_ASSERT (message != NULL && message->kind < LK_MSG_COUNT);
    LK_ASSERT (message->from == config->self && message->to != config->self);
    LK_ASSERT (message->to < config->hostmap->count);
    switch (message->kind) {
    case LK_MSG_STARTED:
        LK_ASSERT (
            lk_term_equal (message->as.started.active.term, disk->active.term));
        break;
    case LK_MSG_PING:
        LK_ASSERT (
            lk_term_equal (message->as.ping.active.term, disk->active.term));
        LK_ASSERT (lk_term_equal (message->as.ping.promised, disk->promised));
        LK_ASSERT (message->as.ping.session <= disk->session);
        break;
    case LK_MSG_VOTED:
        LK_ASSERT (lk_term_equal (disk->promised, message->term));
        break;
    case LK_MSG_VOTE:
    case LK_MSG_ENTERING:
    case LK_MSG_ENTERED:
    case LK_MSG_GETMAX:
    case LK_MSG_FILL:
    case LK_MSG_FILLED:
    case LK_MSG_EXITING:
    case LK_MSG_OPS:
    case LK_MSG_ACKED:
        LK_ASSERT (is_promised (disk, message->term));
        break;
    case LK_MSG_DESIST:
        LK_ASSERT (lk_term_equal (message->as.desist.promised, disk->promised));
        break;
    case LK_MSG_ACTIVATED:
        LK_ASSERT (lk_term_compare (disk->active.term, message->term) >= 0);
        break;
    case LK_MSG_LOCK:
        LK_ASSERT (!is_own (message)
                   || message->as.request.ticket.request.session
                          <= disk->session);
        break;
    case LK_MSG_REPORT:
        LK_ASSERT (!is_own (message)
                   || message->as.report.session <= disk->session);
        break;
    default:
        break;
    }
}

/*  -------------------------------------------------------- the others */

static void
check_answer (const lk_answer *answer)
{
    LK_ASSERT (answer->app != LK_NO_APP);
    LK_ASSERT ((unsigned) answer->error < LK_ERROR_COUNT);
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        LK_ASSERT (answer->token != 0 || answer->set_count > 0);
        LK_ASSERT (answer->error == LK_OK);
        LK_ASSERT (answer->until_ms > 0);
        LK_ASSERT (answer->type < LK_LOCK_TYPE_COUNT);
        LK_ASSERT ((answer->set != NULL) == (answer->set_count > 0));
        break;
    case LK_ANSWER_FAILED:
        LK_ASSERT (answer->error != LK_OK);
        break;
    case LK_ANSWER_UNLOCKED:
        LK_ASSERT (answer->reason.size <= LK_REASON_MAX);
        break;
    case LK_ANSWER_JEOPARDY:
        LK_ASSERT (answer->error == LK_OK || answer->error == LK_ISOLATED
                   || answer->error == LK_QUORUM);
        break;
    case LK_ANSWER_PENDING:
        LK_ASSERT (answer->left_ms >= 0);
        LK_ASSERT (answer->host < LK_HOSTS_MAX);
        break;
    case LK_ANSWER_CHECKED:
        LK_ASSERT (answer->error == LK_OK);
        break;
    default:
        LK_ASSERT (!"an answer of no kind");
    }
}

void
lk_core_check_effect (const lk_facts *disk, const lk_effect *effect,
                      bool honest)
{
    switch (effect->type) {
    case LK_DO_TELL:
        check_answer (&effect->answer);
        break;
    case LK_DO_LEASE:
        LK_ASSERT (effect->session != 0 && effect->session <= disk->session);
        LK_ASSERT (effect->lease_until_ms >= 0);
        break;
    case LK_DO_ALERT:
        LK_ASSERT (!honest && effect->text != NULL);
        LK_ASSERT (effect->message != NULL
                   && effect->message->kind == LK_MSG_ALERT);
        LK_ASSERT (effect->message->as.alert.cause < LK_ALERT_CAUSES);
        break;
    case LK_DO_ENDED:
        LK_ASSERT (effect->answer.app != 0);
        break;
    case LK_DO_DROPPED:
        LK_ASSERT (effect->ticket->token != 0 && !effect->ticket->kept);
        break;
    case LK_DO_CHANGED:
        LK_ASSERT ((unsigned) effect->error < LK_ERROR_COUNT);
        LK_ASSERT (effect->error == LK_OK || effect->text != NULL);
        break;
    case LK_DO_TRACE:
        LK_ASSERT (effect->text != NULL && effect->text[0] != '\0');
        LK_ASSERT (effect->level <= LK_TRACE_ERROR);
        break;
    default:
        LK_ASSERT (effect->type <= LK_DO_ALERT);
    }
}

/*  -------------------------------------------------------- tables */

/*  Active ones, then those that wait by their numbers, then those of sets
 *  whose turn has not come. */
static void
check_order (const lk_entry *entry)
{
    const lk_entry *before = entry->prev;
    if (entry->token != 0) {
        LK_ASSERT (before->token != 0);
        LK_ASSERT (before->type == entry->type && entry->type != LK_EXCLUSIVE);
    } else if (before->token == 0 && entry->number != 0) {
        LK_ASSERT (before->number != 0 && before->number < entry->number);
    }
}

/*  What is known without looking at all of them. */
static void
check_contention (const lk_queue *queue)
{
    const lk_contention *contention = queue->contention;
    const lk_entry *firm = NULL, *loud = NULL;
    uint32_t lenient = 0;
    for (lk_entry *entry = queue->first; entry != NULL; entry = entry->next) {
        const bool soft = entry->type == LK_EXCLUSIVE && entry->soft;
        const bool waits = entry->token == 0 && entry->number != 0;
        firm = firm == NULL && waits && !soft ? entry : firm;
        loud =
            loud == NULL && waits && !lk_grant_is_quiet (entry) ? entry : loud;
        lenient += entry->token != 0 && entry->lenient;
        LK_ASSERT (contention->holders == NULL || entry->token == 0
                   || lk_holder_by_key ((lk_queue *) queue, entry->key)
                          == entry);
    }
    LK_ASSERT (contention->firm == firm && contention->loud == loud);
    LK_ASSERT (contention->lenient == lenient);
}

/*  Counts over all queues, to be compared with those of the table. */
typedef struct {
    size_t noted; /* queues */
    size_t waiters;
    size_t names;
    size_t names_size; /* of all objects */
} waited;

static size_t
check_queue (const lk_table *table, const lk_queue *queue, bool honest,
             waited *found)
{
    const lk_entry *entry = queue->first;
    size_t count = 0, active = 0;
    LK_ASSERT (entry != NULL && queue->lot < LK_LOTS);
    LK_ASSERT (lk_queue_home (table, queue)
               == lk_table_home (table, (lk_name) {queue->key, queue->size}));
    LK_ASSERT (queue->is_noted
               || (!queue->waiting && !lk_queue_upgrade (queue)));
    found->names += queue->waiting != NULL;
    found->names_size += queue->size;
    for (; entry != NULL; entry = entry->next) {
        LK_ASSERT (entry->queue == queue);
        found->waiters += entry->token == 0 && entry->number != 0;
        LK_ASSERT (lk_table_find (table, lk_entry_request (entry)) == entry);
        if (honest && entry != queue->first) {
            check_order (entry);
        }
        active += entry->token != 0;
        count++;
    }
    LK_ASSERT (active == queue->active);
    LK_ASSERT (queue->contention != NULL || count == 1);
    if (honest && queue->contention != NULL) {
        check_contention (queue);
    }
    return count;
}

/*  Returns how many tickets there are. */
static size_t
check_lot (const lk_table *table, size_t lot, bool honest, waited *found)
{
    const lk_index *queues = &table->queues[lot];
    const lk_index_link *link = lk_index_first (queues);
    size_t count = 0;
    for (; link; link = lk_index_next (queues, link)) {
        const lk_queue *queue = (const lk_queue *) link;
        LK_ASSERT (queue->lot == lot);
        found->noted += queue->is_noted;
        count += check_queue (table, queue, honest, found);
    }
    LK_ASSERT (count == table->tickets[lot]);
    return count;
}

static void
check_table (const lk_table *table, bool honest)
{
    size_t queued = 0, crowded = 0, kept = 0;
    waited found = {0};
    LK_ASSERT (table->decree.leader_count <= LK_LEADERS_MAX);
    LK_ASSERT (lk_table_is_filled (table) || table->count == 0);
    for (size_t lot = 0; lot < LK_LOTS; lot++) {
        queued += check_lot (table, lot, honest, &found);
    }
    LK_ASSERT (found.noted == table->waited_for.count);
    LK_ASSERT (found.names_size == table->names_size);
    LK_ASSERT (found.waiters == table->waiters);
    LK_ASSERT (found.names == table->waited_names);
    for (const lk_group *group = table->groups; group != NULL;
         group = group->hh.next) {
        size_t own = 0;
        for (size_t lot = 0; lot < LK_LOTS; lot++) {
            own += group->count[lot];
        }
        LK_ASSERT (own == group->own);
        crowded += own;
        const lk_index_link *link = lk_index_first (&group->entries);
        for (; link; link = lk_index_next (&group->entries, link)) {
            kept += ((const lk_entry *) link)->kept;
        }
    }
    LK_ASSERT (queued == table->count && crowded + kept == table->count);
    for (uint8_t home = 0; home < table->decree.leader_count; home++) {
        uint64_t digest;
        LK_ASSERT (lk_digest_share (table, home, &digest));
    }
}

void
lk_core_check_node (lk_node *node, bool honest)
{
    lk_node_status status;
    check_table (lk_node_table (node), honest);
    lk_node_get_status (node, &status);
    LK_ASSERT (status.tickets == lk_node_table (node)->count);
    LK_ASSERT (!status.ready || status.decree.leader_count > 0);
    LK_ASSERT (status.session == lk_node_core (node)->facts.session);
    LK_ASSERT (status.lease_until_ms >= 0);
    LK_ASSERT (lk_hosts_has (status.sees, lk_node_core (node)->config.self));
    const lk_proxy_view proxy = lk_proxy_see (lk_node_proxy (node));
    LK_ASSERT (proxy.requests >= proxy.named);
}
