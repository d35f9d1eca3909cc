/*  node.c - one step of a lock service: the map of the core
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Which message goes where, and what is done when nothing but time passes.
 */

#include "node.h"

#include "node_private.h"
#include "stopping.h"

#include <string.h>

/*  -------------------------------------------------------- life */

lk_node *
lk_node_new (const lk_node_config *config, int64_t now_ms)
{
    LK_ASSERT (config->self < LK_HOSTS_MAX && config->id != 0);
    LK_ASSERT (config->host_lease_ms > 3 * config->leader_lease_ms);
    lk_node *node = lk_alloc (sizeof *node);
    node->config = *config;
    node->facts = config->facts;
    node->facts.session++;
    node->incarnation = node->facts.session;
    node->promised_before_start = config->facts.promised;
    lk_terms_init (&node->terms, now_ms);
    node->promised_ms = LK_LONG_AGO;
    node->promised_to = LK_NOBODY;
    node->now_ms = now_ms;
    node->started_ms = now_ms;
    node->pinged_ms = LK_LONG_AGO;
    node->next_ping_ms = now_ms;
    node->deadline_ms = now_ms;
    node->known = LK_HOST_BIT (config->self);
    lk_rng_init (&node->rng, config->seed[0] ^ config->seed[1]);
    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {
        lk_peer_init (&node->peer[host]);
    }
    node->forgotten_ms = LK_LONG_AGO;
    node->peer[config->self].candidate = config->candidate;
    lk_table_init (&node->table);
    node->place = -1;
    lk_stream_init (&node->stream);
    lk_shortcut_init (&node->shortcut);
    lk_home_init (&node->home);
    lk_election_init (&node->election);
    lk_change_init (&node->change);
    lk_doorway_init (&node->doorway);
    lk_proxy_init (&node->proxy);
    lk_closing_begin (node);
    lk_dropped_init (&node->dropped);
    lk_alert_init (&node->alerts);
    lk_outlet_init (&node->outlet);
    node->election.next_try_ms = now_ms + lk_rng_between (&node->rng, 50, 300);
    return node;
}

void
lk_node_destroy (lk_node **self_p)
{
    lk_node *node = *self_p;
    if (!node) {
        return;
    }
    lk_stream_clear (&node->stream);
    lk_shortcut_clear (&node->shortcut);
    lk_table_clear (&node->table);
    lk_doorway_clear (&node->doorway);
    lk_proxy_clear (&node->proxy);
    lk_outlet_clear (&node->outlet);
    lk_free (node);
    *self_p = NULL;
}

/*  -------------------------------------------------------- messages */

static void
on_started (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_started *started = &message->as.started;
    lk_peer *peer = &node->peer[message->from];
    node->known |= LK_HOST_BIT (message->from);
    peer->candidate = started->candidate;
    peer->eligible = started->eligible;
    peer->ended = false;
    if (started->incarnation != peer->incarnation) {
        lk_ping_soon (node);
    }
    lk_adopt (node, message->from, &started->active);
    if (!started->answer) {
        lk_lock_message *answer = lk_out_message (node, LK_MSG_STARTED);
        answer->as.started = (lk_msg_started) {
            .answer = true,
            .candidate = node->config.candidate,
            .eligible = node->config.eligible,
            .incarnation = node->incarnation,
            .active = node->facts.active,
        };
        lk_out_send (node, answer, message->from);
    }
}

static void
on_ready (lk_node *node, const lk_lock_message *message)
{
    const lk_decree *decree = &message->as.decree.decree;
    uint8_t homes = (uint8_t) ((1u << decree->leader_count) - 1);
    lk_adopt (node, message->from, decree);
    lk_node_learn (node, decree, decree->reclaim ? homes : 0);
}

static void
on_ping (lk_node *node, const lk_lock_message *message)
{
    lk_ping_receive (node, message);
    lk_election_run (node);
}

typedef void handler (lk_node *node, const lk_lock_message *message);

static handler *const handlers[LK_MSG_COUNT] = {
    [LK_MSG_STARTED] = on_started,
    [LK_MSG_PING] = on_ping,
    [LK_MSG_DATE] = lk_on_date,
    [LK_MSG_AGREED] = lk_on_agreed,
    [LK_MSG_VOTE] = lk_on_vote,
    [LK_MSG_VOTED] = lk_on_voted,
    [LK_MSG_DESIST] = lk_on_desist,
    [LK_MSG_RETIRE] = lk_on_retire,
    [LK_MSG_RERUN] = lk_on_rerun,
    [LK_MSG_ELECTED] = lk_on_elected,
    [LK_MSG_SITTING] = lk_on_sitting,
    [LK_MSG_ACTIVE] = lk_on_active,
    [LK_MSG_ACTIVATED] = lk_on_activated,
    [LK_MSG_ENTERING] = lk_on_entering,
    [LK_MSG_ENTERED] = lk_on_entered,
    [LK_MSG_GETMAX] = lk_on_getmax,
    [LK_MSG_MAXTICKET] = lk_on_maxticket,
    [LK_MSG_FILL] = lk_on_fill,
    [LK_MSG_FILLED] = lk_on_filled,
    [LK_MSG_EXITING] = lk_on_exiting,
    [LK_MSG_READY] = on_ready,
    [LK_MSG_OPS] = lk_on_ops,
    [LK_MSG_ACKED] = lk_on_acked,
    [LK_MSG_HOST] = lk_on_host,
    [LK_MSG_SILENT] = lk_on_silent,
    [LK_MSG_LOCK] = lk_on_lock,
    [LK_MSG_UNLOCK] = lk_on_unlock,
    [LK_MSG_LOCKED] = lk_on_locked,
    [LK_MSG_UNLOCKED] = lk_on_unlocked,
    [LK_MSG_LOCKFAILED] = lk_on_lockfailed,
    [LK_MSG_CHECK] = lk_on_check,
    [LK_MSG_CHECKED] = lk_on_checked,
    [LK_MSG_STOPPING] = lk_on_stopping,
    [LK_MSG_PENDING] = lk_on_pending,
    [LK_MSG_REPORT] = lk_on_report,
    [LK_MSG_REPORTED] = lk_on_reported,
    [LK_MSG_AUDIT] = lk_on_audit,
    [LK_MSG_AUDITED] = lk_on_audited,
    [LK_MSG_ALERT] = lk_on_alert,
    [LK_MSG_ALERTED] = lk_on_alerted,
};

/*  A decree travels under its own term. */
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
        || (is_relayed (message->kind) && lk_relay (node, message))) {
        return;
    }
    handlers[message->kind](node, message);
}

/*  -------------------------------------------------------- steps */

static void
start (lk_node *node)
{
    node->started = true;
    lk_out_persist (node);
    lk_out_trace (node, LK_TRACE_INFO,
                  "starting: session=%llu promised=%llu active=%llu%s",
                  (unsigned long long) node->facts.session,
                  (unsigned long long) node->facts.promised.number,
                  (unsigned long long) node->facts.active.term.number,
                  node->config.member ? "" : " proxy only");
}

static void
begin_to_stop (lk_node *node)
{
    if (!node->proxy.leaving) {
        lk_out_trace (node, LK_TRACE_INFO, "leaving");
        lk_proxy_leave (node);
    }
}

static void
stop_all_else (lk_node *node)
{
    if (node->election.state != LK_ELECTION_IDLE) {
        lk_election_give_up (node, "stopping");
    }
    lk_change_stop (node);
}

/*  Its session is not closed: applications hold on to it. */
static void
halt (lk_node *node)
{
    stop_all_else (node);
    lk_proxy_halt (node);
    node->stopped = true;
}

static void
stop (lk_node *node)
{
    stop_all_else (node);
    lk_proxy_stop (node);
    lk_ping_send (node); /* tells that the session is closed */
    node->stopped = true;
}

static void
handle (lk_node *node, const lk_event *event)
{
    switch (event->type) {
    case LK_ON_TICK:
    case LK_ON_FLUSH:
        break;
    case LK_ON_MESSAGE:
        receive (node, event->message);
        break;
    case LK_ON_HOST_GONE:
        lk_peer_end (node, event->host);
        lk_election_host_gone (node, event->host);
        break;
    case LK_ON_LOCK:
        lk_on_app_lock (node, &event->request);
        break;
    case LK_ON_UNLOCK:
        lk_on_app_unlock (node, &event->request);
        break;
    case LK_ON_UNLOCK_BY_KEY:
        lk_on_app_unlock_by_key (node, &event->request);
        break;
    case LK_ON_FORCE:
        lk_on_app_force (node, &event->request);
        break;
    case LK_ON_CHECK:
        lk_on_app_check (node, &event->request);
        break;
    case LK_ON_APP_GONE:
        lk_on_app_gone (node, event->request.app);
        break;
    case LK_ON_CHANGE:
        lk_on_change (node, event);
        break;
    case LK_ON_HALT:
        halt (node);
        break;
    case LK_ON_STOP:
        begin_to_stop (node);
        break;
    }
}

static void
say_readiness (lk_node *node)
{
    if (lk_proxy_is_ready (node) != node->was_served) {
        lk_out_status (node);
    }
}

/*  The shell, told to look, sees what is so at the end of the step. */
static void
note_readiness (lk_node *node)
{
    if (node->says_status) {
        node->says_status = false;
        node->was_served = lk_proxy_is_ready (node);
    }
}

static void
let_time_pass (lk_node *node)
{
    node->next_look_ms = node->now_ms + LK_BUSY_MS;
    lk_election_run (node);
    lk_doorway_run (node);
    if (node->now_ms >= node->next_ping_ms) {
        lk_home_run (node);
        lk_proxy_run (node);
        lk_alert_run (node);
    } else if (node->proxy.is_behind) {
        lk_proxy_run (node);
    }
    lk_table_watch_more (&node->table);
    if (node->now_ms >= node->home.ripe_ms) {
        lk_home_ripen (node);
    }
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
    return lk_election_is_busy (node) || lk_doorway_is_busy (node)
           || lk_table_is_watching (&node->table) || node->proxy.is_behind;
}

/*  A point in time that stands still, however many messages come before. */
static int64_t
find_deadline (const lk_node *node)
{
    int64_t deadline = node->next_ping_ms;
    deadline = earlier (deadline, lk_election_deadline (node));
    deadline = earlier (deadline, lk_proxy_deadline (node));
    deadline = earlier (deadline, node->home.ripe_ms);
    deadline = earlier (deadline, lk_stream_deadline (node));
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
           && type != LK_ON_FLUSH;
}

/*  Messages to itself, then pings, which tell what has come of all that. */
static void
drain (lk_node *node)
{
    const lk_outlet *outlet = &node->outlet;
    size_t i = 0;
    do {
        for (; i < outlet->loop_count; i++) {
            receive (node, outlet->loop[i]);
        }
        if (!node->stopped && node->now_ms >= node->next_ping_ms) {
            lk_ping_send (node);
        }
    } while (i < outlet->loop_count);
}

void
lk_node_step (lk_node *node, const lk_event *event, lk_effects *effects)
{
    lk_outlet *outlet = &node->outlet;
    LK_ASSERT (event->now_ms >= node->now_ms);
    bool due = is_timed (event->type) || event->now_ms >= node->deadline_ms;
    lk_outlet_reset (outlet);
    node->now_ms = event->now_ms;
    if (!node->started) {
        start (node);
    }
    if (!node->stopped) {
        lk_proxy_expire (node);
        handle (node, event);
    }
    if (due && !node->stopped) {
        let_time_pass (node);
    }
    drain (node);
    if (node->proxy.leaving && !node->stopped && lk_proxy_has_left (node)) {
        stop (node);
    }
    lk_change_run (node);
    if (!event->more || node->stopped) {
        lk_stream_flush (node);
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
