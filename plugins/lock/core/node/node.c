/*  node.c - one step of a lock service: the map of the core
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Which message goes where, and what is done when nothing but time passes.
 */

#include "node.h"

#include "drain.h"
#include "messages.h"
#include "node_private.h"
#include "stopping.h"

#include <string.h>

/*  -------------------------------------------------------- life */

void
lk_node_config_init (lk_node_config *self)
{
    memset (self, 0, sizeof *self);
    self->eligible = true;
    self->candidate.priority = 8;
    self->leaders_max = 3;
    self->dead_after_ms = 1000;
    self->leader_lease_ms = 2000;
    self->host_lease_ms = 8000;
    self->grace_ms = 60000;
    self->digest_ms = 10000;
    self->settle_ms = 60000;
    self->steady_ms = 600000;
    self->journal_wait_ms = 30000;
}

lk_node *
lk_node_new (const lk_node_config *config, int64_t now_ms)
{
    LK_ASSERT (config->self < LK_HOSTS_MAX && config->id != 0);
    LK_ASSERT (config->host_lease_ms > 3 * config->leader_lease_ms);
    LK_ASSERT (!config->arbiter
               || (config->journal == LK_JOURNAL_OFF && !config->recorded));
    lk_node *node = lk_alloc (sizeof *node);
    lk_core *core = &node->core;
    lk_leader *leader = &node->leader;
    lk_core_init (core, config, now_ms);
    lk_leader_init (leader, core);
    lk_election_init (&node->election, core, leader);
    lk_proxy_init (&node->proxy, core, leader);
    lk_dropped_init (&node->dropped);
    node->deadline_ms = now_ms;
    return node;
}

void
lk_node_destroy (lk_node **self_p)
{
    lk_node *node = *self_p;
    if (!node) {
        return;
    }
    lk_proxy_clear (&node->proxy);
    lk_election_clear (&node->election);
    lk_leader_clear (&node->leader);
    lk_core_clear (&node->core);
    lk_free (node);
    *self_p = NULL;
}

/*  -------------------------------------------------------- messages */

static void
on_started (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_started *started = &message->as.started;
    lk_peer *peer = &node->core.peer[message->from];
    node->core.known |= LK_HOST_BIT (message->from);
    peer->candidate = started->candidate;
    if (!peer->has_at || started->incarnation > peer->incarnation) {
        peer->eligible = started->eligible; /* else pings know better */
    }
    if (peer->ended || started->incarnation != peer->incarnation) {
        lk_ping_soon (&node->core);
    }
    peer->ended = false;
    lk_adopt (&node->election, message->from, &started->active);
    if (!started->answer) {
        lk_lock_message *answer = lk_out_message (&node->core, LK_MSG_STARTED);
        answer->as.started = (lk_msg_started) {
            .answer = true,
            .candidate = node->core.config.candidate,
            .eligible = lk_core_may_lead (&node->core),
            .incarnation = node->core.incarnation,
            .active = node->core.facts.active,
        };
        lk_out_send (&node->core, answer, message->from);
    }
    if (lk_decree_place (&node->core.in_force, message->from) >= 0) {
        lk_proxy_leader_is_back (&node->proxy);
    }
}

static void
on_ready (lk_node *node, const lk_lock_message *message)
{
    const lk_decree *decree = &message->as.decree.decree;
    uint8_t homes = (uint8_t) ((1u << decree->leader_count) - 1);
    lk_adopt (&node->election, message->from, decree);
    lk_node_learn (node, decree, decree->reclaim ? homes : 0);
}

static void
on_ping (lk_node *node, const lk_lock_message *message)
{
    lk_ping_receive (node, message);
    lk_election_run (&node->election);
}

/*  The room that a message is for; what concerns several is the node's. */
typedef struct {
    void (*leader) (lk_leader *, const lk_lock_message *);
    void (*election) (lk_election *, const lk_lock_message *);
    void (*proxy) (lk_proxy *, const lk_lock_message *);
    void (*node) (lk_node *, const lk_lock_message *);
} handler;

#define TO_NODE(kind, function, who, whom) [LK_MSG_##kind] = {.node = function},
#define TO_ELECTION(kind, function, who, whom)                                 \
    [LK_MSG_##kind] = {.election = function},
#define TO_LEADER(kind, function, who, whom)                                   \
    [LK_MSG_##kind] = {.leader = function},
#define TO_PROXY(kind, function, who, whom)                                    \
    [LK_MSG_##kind] = {.proxy = function},
static const handler handlers[LK_MSG_COUNT] = {
    LK_NODE_MESSAGES (TO_NODE) LK_ELECTION_MESSAGES (TO_ELECTION)
        LK_LEADER_MESSAGES (TO_LEADER) LK_PROXY_MESSAGES (TO_PROXY)};

static void
dispatch (lk_node *node, const lk_lock_message *message)
{
    const handler *to = &handlers[message->kind];
    if (to->leader) {
        to->leader (&node->leader, message);
    } else if (to->election) {
        to->election (&node->election, message);
    } else if (to->proxy) {
        to->proxy (&node->proxy, message);
    } else if (to->node) {
        to->node (node, message);
    }
}

/*  A decree travels under its own term. Protocol 8. */
static bool
is_consistent (const lk_lock_message *message)
{
    switch (message->kind) {
    case LK_MSG_ELECTED:
    case LK_MSG_SITTING:
    case LK_MSG_ACTIVE:
    case LK_MSG_READY:
        return lk_term_equal (message->term, message->as.decree.decree.term);
    case LK_MSG_FILL:
        return lk_term_equal (message->term, message->as.chunk.decree.term);
    default:
        return message->kind < LK_MSG_COUNT;
    }
}

static bool
is_relayed (lk_lock_kind kind)
{
    return (kind >= LK_MSG_LOCK && kind <= LK_MSG_REPORTED)
           || kind == LK_MSG_AUDIT || kind == LK_MSG_STOPPING
           || kind == LK_MSG_PENDING;
}

static void
receive (lk_node *node, const lk_lock_message *message)
{
    if (message->from >= LK_HOSTS_MAX || !is_consistent (message)
        || !lk_node_admits (node, message)
        || (is_relayed (message->kind) && lk_relay (&node->leader, message))) {
        return;
    }
    dispatch (node, message);
}

/*  -------------------------------------------------------- steps */

static void
start (lk_node *node)
{
    node->started = true;
    lk_out_persist (&node->core);
    lk_out_trace (&node->core, LK_TRACE_INFO,
                  "starting: session=%llu promised=%llu active=%llu%s",
                  (unsigned long long) node->core.facts.session,
                  (unsigned long long) node->core.facts.promised.number,
                  (unsigned long long) node->core.facts.active.term.number,
                  node->core.config.member ? "" : " proxy only");
    lk_leader_say_loaded (&node->leader);
}

static void
begin_to_stop (lk_node *node)
{
    if (!lk_proxy_is_leaving (&node->proxy)) {
        lk_out_trace (&node->core, LK_TRACE_INFO, "leaving");
        lk_proxy_leave (&node->proxy);
    }
}

static void
stop_all_else (lk_node *node)
{
    lk_election_stop (&node->election);
}

/*  Its session is not closed: applications hold on to it. */
static void
halt (lk_node *node)
{
    stop_all_else (node);
    lk_proxy_halt (&node->proxy);
    node->stopped = true;
}

static void
stop (lk_node *node)
{
    stop_all_else (node);
    lk_proxy_stop (&node->proxy);
    lk_ping_send (node); /* tells that the session is closed */
    node->stopped = true;
}

static bool
is_of_application (lk_event_type type)
{
    return (type >= LK_ON_LOCK && type <= LK_ON_APP_GONE)
           || (type >= LK_ON_REGISTER && type <= LK_ON_GOODBYE);
}

static void
handle (lk_node *node, const lk_event *event)
{
    LK_ASSERT (!node->core.config.arbiter || !is_of_application (event->type));
    switch (event->type) {
    case LK_ON_TICK:
    case LK_ON_FLUSH:
        break;
    case LK_ON_MESSAGE:
        receive (node, event->message);
        break;
    case LK_ON_HOST_GONE:
        lk_peer_end (&node->core, event->host);
        lk_election_host_gone (&node->election, event->host);
        break;
    case LK_ON_LOCK:
        if (event->request.far.number != 0) {
            lk_far_lock (&node->proxy, &event->request);
        } else {
            lk_on_app_lock (&node->proxy, &event->request);
        }
        break;
    case LK_ON_UNLOCK:
        if (event->request.far.number != 0) {
            lk_far_unlock (&node->proxy, &event->request);
        } else {
            lk_on_app_unlock (&node->proxy, &event->request);
        }
        break;
    case LK_ON_UNLOCK_BY_KEY:
        lk_on_app_unlock_by_key (&node->proxy, &event->request);
        break;
    case LK_ON_FORCE:
        lk_on_app_force (&node->proxy, &event->request);
        break;
    case LK_ON_CHECK:
        lk_on_app_check (&node->proxy, &event->request);
        break;
    case LK_ON_APP_GONE:
        lk_on_app_gone (&node->proxy, event->request.app);
        break;
    case LK_ON_REGISTER:
        lk_on_far_register (&node->proxy, &event->request);
        break;
    case LK_ON_LEASE:
        lk_on_far_lease (&node->proxy, &event->request);
        break;
    case LK_ON_GOODBYE:
        lk_on_far_goodbye (&node->proxy, &event->request);
        lk_proxy_run (&node->proxy);
        break;
    case LK_ON_CHANGE:
        lk_on_change (&node->election, event);
        break;
    case LK_ON_RECORDED:
        lk_stream_recorded (&node->leader, event->record);
        lk_doorway_recorded (&node->election);
        break;
    case LK_ON_HALT:
        halt (node);
        break;
    case LK_ON_STOP:
        begin_to_stop (node);
        break;
    case LK_ON_DRAIN:
        lk_on_drain (node, event);
        break;
    case LK_ON_PLACES:
        lk_core_take_places (&node->core, event->places);
        break;
    }
}

static void
say_readiness (lk_node *node)
{
    if (lk_proxy_is_ready (&node->proxy) != node->was_served) {
        lk_out_status (&node->core);
    }
}

/*  The shell, told to look, sees what is so at the end of the step. */
static void
note_readiness (lk_node *node)
{
    if (node->core.says_status) {
        node->core.says_status = false;
        node->was_served = lk_proxy_is_ready (&node->proxy);
    }
}

static void
let_time_pass (lk_node *node)
{
    node->next_look_ms = node->core.now_ms + LK_BUSY_MS;
    lk_drain_run (node);
    lk_election_run (&node->election);
    lk_doorway_run (&node->election);
    if (node->core.now_ms >= node->core.next_ping_ms
        || node->core.now_ms >= node->next_upkeep_ms) {
        node->next_upkeep_ms = node->core.now_ms + LK_PING_MS;
        lk_home_run (&node->leader);
        lk_proxy_run (&node->proxy);
        lk_alert_run (&node->leader);
        lk_copy_run (&node->leader);
    } else if (lk_proxy_is_behind (&node->proxy)) {
        lk_proxy_run (&node->proxy);
    }
    lk_home_look (&node->leader);
    say_readiness (node);
}

static int64_t
earlier (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool
is_busy (const lk_node *node)
{
    return lk_election_is_busy (&node->election)
           || lk_doorway_is_busy (&node->election)
           || lk_home_is_busy (&node->leader)
           || lk_proxy_is_behind (&node->proxy);
}

/*  A point in time that stands still, however many messages come before, and
 *  pings go out because of them. */
static int64_t
find_deadline (const lk_node *node)
{
    int64_t deadline = node->core.next_ping_ms;
    deadline = earlier (deadline, node->next_upkeep_ms);
    deadline = earlier (deadline, lk_election_deadline (&node->election));
    deadline = earlier (deadline, lk_proxy_deadline (&node->proxy));
    deadline = earlier (deadline, lk_home_deadline (&node->leader));
    deadline = earlier (deadline, lk_stream_deadline (&node->leader));
    deadline = earlier (deadline, lk_record_deadline (&node->leader));
    if (is_busy (node)) {
        deadline = earlier (deadline, node->next_look_ms);
    }
    return node->stopped ? INT64_MAX : deadline;
}

/*  What comes often has nothing to do with time. */
static bool
is_timed (lk_event_type type)
{
    return type != LK_ON_MESSAGE && type != LK_ON_LOCK && type != LK_ON_UNLOCK
           && type != LK_ON_LEASE && type != LK_ON_FLUSH
           && type != LK_ON_RECORDED;
}

/*  Messages to itself, then pings, which tell what has come of all that. */
static void
drain (lk_node *node)
{
    const lk_outlet *outlet = &node->core.outlet;
    size_t i = 0;
    do {
        for (; i < outlet->loop_count; i++) {
            receive (node, outlet->loop[i]);
        }
        if (!node->stopped && node->core.now_ms >= node->core.next_ping_ms) {
            lk_ping_send (node);
        }
    } while (i < outlet->loop_count);
}

void
lk_node_step (lk_node *node, const lk_event *event, lk_effects *effects)
{
    lk_outlet *outlet = &node->core.outlet;
    const bool was_stopped = node->stopped;
    LK_ASSERT (event->now_ms >= node->core.now_ms);
    bool due = is_timed (event->type) || event->now_ms >= node->deadline_ms;
    lk_outlet_reset (outlet);
    node->core.now_ms = event->now_ms;
    if (!node->started) {
        start (node);
    }
    if (!node->stopped) {
        lk_proxy_expire (&node->proxy);
        handle (node, event);
    }
    if (due && !node->stopped) {
        let_time_pass (node);
    }
    drain (node);
    if (lk_proxy_is_leaving (&node->proxy) && !node->stopped
        && lk_proxy_has_left (&node->proxy) && !lk_drain_waits (node)) {
        stop (node);
    }
    lk_change_run (&node->election);
    if (node->stopped) {
        lk_record_end (&node->leader); /* nothing is acknowledged any more */
    } else if (!event->more) {
        lk_record_run (&node->leader);
    }
    if (!event->more || node->stopped) {
        lk_stream_flush (&node->leader, node->stopped && !was_stopped);
    }
    note_readiness (node);
    if (!event->more || node->stopped || due) {
        node->deadline_ms = find_deadline (node);
    }
    effects->item = outlet->item;
    effects->count = outlet->count;
}

bool
lk_node_is_stopped (const lk_node *node)
{
    return node->stopped;
}

int64_t
lk_node_deadline (const lk_node *node)
{
    return node->deadline_ms;
}
