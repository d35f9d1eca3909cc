/*  asked.c - one request of an application, from LOCK to UNLOCKED
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"

#include "node_private.h"
#include "set.h"

#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- maps and lists */

static bool
is_open (lk_asked_state state)
{
    return state == LK_ASKED_WAITING || state == LK_ASKED_CLOSING
           || state == LK_ASKED_ERRAND;
}

static void
link_in (lk_proxy *proxy, lk_asked *asked)
{
    if (is_open (asked->state)) {
        DL_APPEND (proxy->open, asked);
    } else {
        DL_APPEND (proxy->held, asked);
    }
}

static void
link_out (lk_proxy *proxy, lk_asked *asked)
{
    if (is_open (asked->state)) {
        DL_DELETE (proxy->open, asked);
    } else {
        DL_DELETE (proxy->held, asked);
    }
}

/*  We count serials ourselves; those of applications are their own. */
static unsigned
serial_hash (uint64_t serial)
{
    return (unsigned) (lk_hash_mix (0, serial) >> 32);
}

static lk_asker *
find_asker (const lk_proxy *proxy, uint32_t app)
{
    lk_asker *asker = NULL;
    HASH_FIND (hh, proxy->askers, &app, sizeof app, asker);
    return asker;
}

static void
join_asker (lk_proxy *proxy, lk_asked *asked)
{
    lk_asker *asker = find_asker (proxy, (uint32_t) asked->name[0]);
    if (!asker) {
        asker = lk_alloc (sizeof *asker);
        asker->app = (uint32_t) asked->name[0];
        HASH_ADD (hh, proxy->askers, app, sizeof asker->app, asker);
    }
    asked->asker = asker;
    DL_APPEND2 (asker->first, asked, sibling_prev, sibling_next);
}

static void
leave_asker (lk_proxy *proxy, lk_asked *asked)
{
    lk_asker *asker = asked->asker;
    DL_DELETE2 (asker->first, asked, sibling_prev, sibling_next);
    if (!asker->first) {
        HASH_DEL (proxy->askers, asker);
        lk_free (asker);
    }
}

static void
map_in (lk_proxy *proxy, lk_asked *asked)
{
    HASH_ADD_BYHASHVALUE (by_serial, proxy->serials, serial,
                          sizeof asked->serial, serial_hash (asked->serial),
                          asked);
    if (asked->name[0] != LK_NO_APP) {
        HASH_ADD (by_name, proxy->names, name, sizeof asked->name, asked);
        join_asker (proxy, asked);
    }
}

static void
map_out (lk_proxy *proxy, lk_asked *asked)
{
    HASH_DELETE (by_serial, proxy->serials, asked);
    if (asked->name[0] != LK_NO_APP) {
        HASH_DELETE (by_name, proxy->names, asked);
        leave_asker (proxy, asked);
    }
}

static uint32_t *
place_in_ends (void *asked)
{
    return &((lk_asked *) asked)->end_place;
}

void
lk_asked_init_maps (lk_proxy *proxy)
{
    lk_heap_init (&proxy->ends, place_in_ends);
}

void
lk_asked_clear_maps (lk_proxy *proxy)
{
    lk_asker *asker;
    lk_asker *next;
    HASH_CLEAR (by_serial, proxy->serials);
    HASH_CLEAR (by_name, proxy->names);
    HASH_ITER (hh, proxy->askers, asker, next) {
        HASH_DEL (proxy->askers, asker);
        lk_free (asker);
    }
    lk_heap_clear (&proxy->ends);
}

lk_asked *
lk_asked_new (lk_node *node, lk_asked_state state, uint64_t serial,
              uint32_t app, uint64_t app_serial, lk_name object)
{
    lk_asked *asked = lk_alloc (sizeof *asked);
    asked->serial = serial;
    asked->name[0] = app;
    asked->name[1] = app_serial;
    asked->state = state;
    asked->ticket.object.data = lk_memdup (object.data, object.size);
    asked->ticket.object.size = object.size;
    asked->asked_ms = node->now_ms;
    asked->wait_until_ms = INT64_MAX;
    asked->until_ms = INT64_MAX;
    asked->linger_until_ms = INT64_MAX;
    asked->turn.until_ms = INT64_MAX;
    asked->sent_ms = LK_LONG_AGO;
    link_in (&node->proxy, asked);
    map_in (&node->proxy, asked);
    return asked;
}

void
lk_asked_await_unlocked (lk_node *node, lk_asked *asked)
{
    node->proxy.unlocking += !asked->tell_unlocked;
    asked->tell_unlocked = true;
}

static void
await_nothing (lk_node *node, lk_asked *asked)
{
    node->proxy.unlocking -= asked->tell_unlocked;
    asked->tell_unlocked = false;
}

void
lk_asked_free (lk_asked *asked)
{
    lk_ticket_clear (&asked->ticket);
    lk_free ((char *) asked->reason.data);
    lk_free (asked);
}

void
lk_asked_remove (lk_node *node, lk_asked *asked)
{
    await_nothing (node, asked);
    lk_asked_ask_no_more (node, asked);
    link_out (&node->proxy, asked);
    map_out (&node->proxy, asked);
    lk_heap_take (&node->proxy.ends, asked);
    lk_asked_free (asked);
}

lk_asked *
lk_asked_by_serial (const lk_node *node, uint64_t serial)
{
    lk_asked *asked = NULL;
    HASH_FIND_BYHASHVALUE (by_serial, node->proxy.serials, &serial,
                           sizeof serial, serial_hash (serial), asked);
    return asked;
}

lk_asked *
lk_asked_by_name (const lk_node *node, uint32_t app, uint64_t app_serial)
{
    uint64_t name[2] = {app, app_serial};
    lk_asked *asked = NULL;
    HASH_FIND (by_name, node->proxy.names, name, sizeof name, asked);
    return asked;
}

lk_asked *
lk_asked_of_app (const lk_node *node, uint32_t app)
{
    const lk_asker *asker = find_asker (&node->proxy, app);
    return asker ? asker->first : NULL;
}

/*  -------------------------------------------------------- ends */

static int64_t
earlier (int64_t one_ms, int64_t other_ms, int64_t after_ms)
{
    return other_ms > after_ms && other_ms < one_ms ? other_ms : one_ms;
}

static int64_t
end_of (const lk_asked *asked, int64_t after_ms)
{
    int64_t end_ms = INT64_MAX;
    switch (asked->state) {
    case LK_ASKED_WAITING:
    case LK_ASKED_ERRAND:
    case LK_ASKED_KEEPING:
        return earlier (end_ms, asked->wait_until_ms, after_ms);
    case LK_ASKED_HELD:
        if (asked->asks_on) {
            end_ms = earlier (end_ms, asked->turn.until_ms, after_ms);
        }
        return earlier (end_ms, asked->until_ms, after_ms);
    case LK_ASKED_ENDED:
        return earlier (end_ms, asked->until_ms, after_ms);
    case LK_ASKED_LINGERING:
        end_ms = earlier (end_ms, asked->linger_until_ms, after_ms);
        return earlier (end_ms, asked->until_ms, after_ms);
    case LK_ASKED_LATER:
    case LK_ASKED_CLOSING:
    case LK_ASKED_STATES:
        break;
    }
    return end_ms;
}

static void
await_end (lk_node *node, lk_asked *asked, int64_t end_ms)
{
    if (end_ms == INT64_MAX) {
        lk_heap_take (&node->proxy.ends, asked);
    } else if (end_ms != lk_heap_when_ms (&node->proxy.ends, asked)) {
        lk_heap_put (&node->proxy.ends, asked, end_ms);
    }
}

void
lk_asked_await_end (lk_node *node, lk_asked *asked)
{
    await_end (node, asked, end_of (asked, INT64_MIN));
}

lk_asked *
lk_asked_next_end (lk_node *node)
{
    lk_asked *asked = lk_heap_due (&node->proxy.ends, node->now_ms);
    if (asked) {
        await_end (node, asked, end_of (asked, node->now_ms));
    }
    return asked;
}

/*  -------------------------------------------------------- states */

void
lk_asked_enter (lk_node *node, lk_asked *asked, lk_asked_state state)
{
    link_out (&node->proxy, asked);
    asked->state = state;
    asked->sent_ms = LK_LONG_AGO;
    asked->tries = 0;
    link_in (&node->proxy, asked);
    if (is_open (state)) {
        lk_asked_ask_no_more (node, asked);
    }
    lk_asked_await_end (node, asked);
}

void
lk_asked_ask_on (lk_node *node, lk_asked *asked)
{
    if (!asked->asks_on) {
        asked->asks_on = true;
        DL_APPEND2 (node->proxy.asking, asked, asking_prev, asking_next);
    }
    asked->tries = 0;
    lk_asked_send (node, asked);
}

void
lk_asked_ask_no_more (lk_node *node, lk_asked *asked)
{
    if (asked->asks_on) {
        asked->asks_on = false;
        DL_DELETE2 (node->proxy.asking, asked, asking_prev, asking_next);
    }
}

void
lk_asked_renumber (lk_node *node, lk_asked *asked)
{
    HASH_DELETE (by_serial, node->proxy.serials, asked);
    asked->serial = ++node->proxy.last_serial;
    asked->sent_ms = LK_LONG_AGO;
    asked->tries = 0;
    HASH_ADD_BYHASHVALUE (by_serial, node->proxy.serials, serial,
                          sizeof asked->serial, serial_hash (asked->serial),
                          asked);
}

void
lk_asked_rename (lk_node *node, lk_asked *asked, uint32_t app,
                 uint64_t app_serial)
{
    map_out (&node->proxy, asked);
    asked->name[0] = app;
    asked->name[1] = app_serial;
    map_in (&node->proxy, asked);
}

void
lk_asked_orphan (lk_node *node, lk_asked *asked)
{
    await_nothing (node, asked);
    lk_asked_rename (node, asked, LK_NO_APP, 0);
}

void
lk_asked_become_errand (lk_node *node, lk_asked *asked)
{
    lk_asked_enter (node, asked, LK_ASKED_ERRAND);
    asked->errand = LK_ERRAND_BY_KEY;
    asked->wait_until_ms = INT64_MAX;
    lk_asked_renumber (node, asked);
}

/*  -------------------------------------------------------- sending */

void
lk_proxy_send (lk_node *node, lk_lock_message *message, uint8_t home, int tries)
{
    const lk_decree *decree = &node->proxy.decree;
    lk_host to = decree->leader[home];
    int others = decree->leader_count - 1;
    message->origin = node->config.self;
    message->term = decree->term;
    if (to == node->config.self) {
        others = 0; /* no detour to oneself */
    }
    if (others > 0 && !lk_peer_mutual (node, to)) {
        tries++;
    }
    if (tries % 2 && others > 0) {
        int by = (home + 1 + tries / 2 % others) % decree->leader_count;
        message->destination = to;
        to = decree->leader[by];
    }
    lk_out_send (node, message, to);
}

static lk_request_id
request_id (const lk_node *node, const lk_asked *asked)
{
    return (lk_request_id) {.host = node->config.self,
                            .session = node->facts.session,
                            .serial = asked->serial};
}

/*  By whichever leader it is time for; nothing is sent outside of a session. */
static bool
can_send (const lk_node *node)
{
    return node->proxy.live && node->proxy.decree.leader_count > 0;
}

static void
send_to_home (lk_node *node, lk_asked *asked, lk_lock_message *message)
{
    asked->sent_ms = node->now_ms;
    lk_proxy_send (node, message,
                   lk_home_of (&node->proxy.decree, asked->ticket.object),
                   asked->tries++);
}

static void
send_check (lk_node *node, lk_asked *asked)
{
    if (!can_send (node)) {
        return;
    }
    lk_lock_message *message = lk_out_message (node, LK_MSG_CHECK);
    message->as.check =
        (lk_msg_check) {.request = request_id (node, asked),
                        .object = lk_out_name (node, asked->ticket.object),
                        .token = asked->ticket.token};
    send_to_home (node, asked, message);
}

static void
send_request (lk_node *node, lk_asked *asked, lk_lock_kind kind)
{
    if (!can_send (node)) {
        return;
    }
    lk_lock_message *message = lk_out_message (node, kind);
    lk_msg_request *request = &message->as.request;
    request->ticket = lk_out_ticket (node, &asked->ticket);
    request->ticket.request = request_id (node, asked);
    request->ticket.age_ms = node->now_ms - asked->asked_ms;
    request->queue = asked->queue;
    request->keep = asked->state == LK_ASKED_KEEPING || asked->unless_kept;
    if (asked->asks_on && !request->keep) {
        request->ticket.mode.type = asked->turn.type;
        request->ticket.turn = asked->turn.sent;
        request->queue = asked->turn.queue;
    }
    request->by_key = asked->errand == LK_ERRAND_BY_KEY;
    request->force = asked->errand == LK_ERRAND_FORCE;
    request->reason = lk_out_name (node, asked->reason);
    request->at = node->now_ms;
    if (asked->set && kind == LK_MSG_LOCK) {
        lk_set_add_rest (node, asked, request);
    }
    send_to_home (node, asked, message);
}

void
lk_asked_send (lk_node *node, lk_asked *asked)
{
    if (asked->errand == LK_ERRAND_CHECK) {
        send_check (node, asked);
        return;
    }
    send_request (node, asked,
                  asked->state == LK_ASKED_WAITING || asked->asks_on
                      ? LK_MSG_LOCK
                      : LK_MSG_UNLOCK);
}

void
lk_asked_send_unlock (lk_node *node, lk_asked *asked)
{
    send_request (node, asked, LK_MSG_UNLOCK);
}

/*  -------------------------------------------------------- telling */

void
lk_asked_answer (lk_node *node, const lk_asked *asked, lk_answer answer)
{
    if (asked->name[0] != LK_NO_APP) {
        answer.app = (uint32_t) asked->name[0];
        answer.serial = asked->name[1];
        lk_out_answer (node, &answer);
    }
}

void
lk_asked_tell (lk_node *node, const lk_asked *asked, lk_answer_kind kind,
               lk_err error)
{
    lk_asked_answer (
        node, asked,
        (lk_answer) {.kind = kind, .error = error, .until_ms = INT64_MAX});
}

void
lk_asked_tell_locked (lk_node *node, const lk_asked *asked)
{
    if (asked->turn.heir_waits) {
        return; /* its token may be another one by now */
    }
    lk_asked_answer (node, asked,
                     (lk_answer) {.kind = LK_ANSWER_LOCKED,
                                  .token = asked->ticket.token,
                                  .key = asked->ticket.key,
                                  .until_ms = asked->until_ms,
                                  .type = asked->ticket.mode.type,
                                  .ordinal = asked->ticket.ordinal,
                                  .turn = asked->turn.told});
}
