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

/*  -------------------------------------------------------- lists */

static bool
is_open (lk_asked_state state)
{
    return state == LK_ASKED_WAITING || state == LK_ASKED_CLOSING
           || state == LK_ASKED_ERRAND;
}

/*  Which it belongs into. */
static uint8_t
list_of (const lk_asked *asked)
{
    if (!is_open (asked->state) && !asked->asks_on) {
        return LK_QUIET_LIST;
    }
    int list = LK_UNSAID_LIST;
    if (asked->sent_ms != LK_LONG_AGO) {
        list += asked->tries;
    }
    return (uint8_t) (list < LK_LISTS ? list : LK_LISTS - 1);
}

static void
link_in (lk_proxy *proxy, lk_asked *asked)
{
    asked->list = list_of (asked);
    DL_APPEND (proxy->list[asked->list], asked);
    proxy->settled += !is_open (asked->state);
}

static void
link_out (lk_proxy *proxy, lk_asked *asked)
{
    DL_DELETE (proxy->list[asked->list], asked);
    proxy->settled -= !is_open (asked->state);
}

static void
link_again (lk_proxy *proxy, lk_asked *asked)
{
    link_out (proxy, asked);
    link_in (proxy, asked);
}

/*  The first of that list, or of those behind it. */
static lk_asked *
first_from (const lk_proxy *proxy, size_t list)
{
    while (list < LK_LISTS && !proxy->list[list]) {
        list++;
    }
    return list < LK_LISTS ? proxy->list[list] : NULL;
}

lk_asked *
lk_asked_first (const lk_proxy *proxy)
{
    return first_from (proxy, 0);
}

lk_asked *
lk_asked_next (const lk_proxy *proxy, const lk_asked *asked)
{
    return asked->next ? asked->next : first_from (proxy, asked->list + 1u);
}

/*  -------------------------------------------------------- addresses */

/*  What its tickets show; of the requests of one application one. */
struct lk_address {
    size_t users;
    lk_name name;
    char text[];
};

static void
drop_address (lk_address *address)
{
    if (address) {
        address->users--;
        if (address->users == 0) {
            lk_free (address);
        }
    }
}

static lk_address *
find_address (const lk_asked *asked, lk_name name)
{
    lk_address *known = asked->asker ? asked->asker->address : NULL;
    return known && known->name.size == name.size
                   && memcmp (known->text, name.data, name.size) == 0
               ? known
               : NULL;
}

static lk_address *
new_address (lk_name name)
{
    lk_address *address = lk_alloc (sizeof *address + name.size);
    memcpy (address->text, name.data, name.size);
    address->name = (lk_name) {address->text, name.size};
    return address;
}

void
lk_asked_set_owner (lk_asked *asked, lk_name owner)
{
    if (owner.size == 0) {
        return;
    }
    lk_address *address = find_address (asked, owner);
    if (!address) {
        address = new_address (owner);
        if (asked->asker) {
            drop_address (asked->asker->address);
            asked->asker->address = address;
            address->users++;
        }
    }
    address->users++;
    drop_address (asked->address);
    asked->address = address;
    asked->ticket.owner = address->name;
}

static void
free_asked (lk_asked *asked)
{
    drop_address (asked->address);
    lk_free ((char *) asked->reason.data);
    lk_free (asked);
}

/*  -------------------------------------------------------- maps */

/*  We count serials and applications ourselves; the serials of applications
 *  are their own. */
static uint32_t
number_hash (uint64_t number)
{
    return (uint32_t) lk_hash_mix (lk_hash_mix (0, number), 0);
}

static uint32_t
name_hash (const uint64_t name[2])
{
    return (uint32_t) lk_hash64 (name, 2 * sizeof name[0]);
}

static lk_asked *
by_name (const lk_link *link)
{
    return (lk_asked *) ((char *) link - offsetof (lk_asked, by_name));
}

static uint32_t
hash_of_serial (const lk_link *link)
{
    return number_hash (((const lk_asked *) link)->serial);
}

static uint32_t
hash_of_name (const lk_link *link)
{
    return by_name (link)->name_hash;
}

static uint32_t
hash_of_app (const lk_link *link)
{
    return number_hash (((const lk_asker *) link)->app);
}

/*  Nobody can guess one. */
static uint32_t
hash_of_key (const lk_link *link)
{
    return (uint32_t) by_name (link)->ticket.key;
}

lk_asker *
lk_asker_find (const lk_proxy *proxy, uint32_t app)
{
    lk_link *link = lk_index_find (&proxy->askers, number_hash (app));
    while (link && ((lk_asker *) link)->app != app) {
        link = link->next;
    }
    return (lk_asker *) link;
}

lk_asker *
lk_asker_need (lk_proxy *proxy, uint32_t app)
{
    lk_asker *asker = lk_asker_find (proxy, app);
    if (!asker) {
        asker = lk_alloc (sizeof *asker);
        asker->app = app;
        lk_index_add (&proxy->askers, &asker->by_app);
    }
    return asker;
}

void
lk_asker_rest (lk_proxy *proxy, lk_asker *asker)
{
    if (!asker->first && !asker->sets) {
        lk_index_remove (&proxy->askers, &asker->by_app);
        drop_address (asker->address);
        lk_free (asker);
    }
}

static void
join_asker (lk_proxy *proxy, lk_asked *asked)
{
    asked->asker = lk_asker_need (proxy, (uint32_t) asked->name[0]);
    DL_APPEND2 (asked->asker->first, asked, sibling_prev, sibling_next);
}

static void
leave_asker (lk_proxy *proxy, lk_asked *asked)
{
    lk_asker *asker = asked->asker;
    DL_DELETE2 (asker->first, asked, sibling_prev, sibling_next);
    asked->asker = NULL;
    lk_asker_rest (proxy, asker);
}

/*  One that lingers is nobody's, and found by its key. */
static bool
is_left (const lk_asked *asked)
{
    return asked->name[0] == LK_NO_APP && asked->state == LK_ASKED_LINGERING;
}

static void
key_in (lk_proxy *proxy, lk_asked *asked)
{
    if (is_left (asked)) {
        lk_index_add (&proxy->lingering, &asked->by_name);
    }
}

static void
key_out (lk_proxy *proxy, lk_asked *asked)
{
    if (is_left (asked)) {
        lk_index_remove (&proxy->lingering, &asked->by_name);
    }
}

static void
map_in (lk_proxy *proxy, lk_asked *asked)
{
    key_in (proxy, asked);
    if (asked->name[0] != LK_NO_APP) {
        asked->name_hash = name_hash (asked->name);
        lk_index_add (&proxy->names, &asked->by_name);
        join_asker (proxy, asked);
    }
}

static void
map_out (lk_proxy *proxy, lk_asked *asked)
{
    key_out (proxy, asked);
    if (asked->name[0] != LK_NO_APP) {
        lk_index_remove (&proxy->names, &asked->by_name);
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
    lk_index_init (&proxy->serials, hash_of_serial);
    lk_index_init (&proxy->names, hash_of_name);
    lk_index_init (&proxy->lingering, hash_of_key);
    lk_index_init (&proxy->askers, hash_of_app);
    lk_heap_init (&proxy->ends, place_in_ends);
}

void
lk_asked_clear_all (lk_proxy *proxy)
{
    lk_asked *asked;
    (void) lk_index_clear (&proxy->serials);
    (void) lk_index_clear (&proxy->names);
    (void) lk_index_clear (&proxy->lingering);
    while ((asked = lk_asked_first (proxy))) {
        if (asked->asker) {
            leave_asker (proxy, asked);
        }
        link_out (proxy, asked);
        free_asked (asked);
    }
    LK_ASSERT (proxy->askers.count == 0);
    (void) lk_index_clear (&proxy->askers);
    lk_heap_clear (&proxy->ends);
}

lk_asked *
lk_asked_new (lk_node *node, lk_asked_state state, uint64_t serial,
              uint32_t app, uint64_t app_serial, lk_name object)
{
    lk_asked *asked = lk_alloc (sizeof *asked + object.size);
    asked->serial = serial;
    asked->name[0] = app;
    asked->name[1] = app_serial;
    asked->state = state;
    memcpy (asked->object, object.data, object.size);
    asked->ticket.object = (lk_name) {asked->object, object.size};
    asked->object_hash = lk_hash64 (object.data, object.size);
    asked->asked_ms = node->now_ms;
    asked->wait_until_ms = INT64_MAX;
    asked->until_ms = INT64_MAX;
    asked->linger_until_ms = INT64_MAX;
    asked->turn.until_ms = INT64_MAX;
    asked->sent_ms = LK_LONG_AGO;
    link_in (&node->proxy, asked);
    lk_index_add (&node->proxy.serials, &asked->by_serial);
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
lk_asked_remove (lk_node *node, lk_asked *asked)
{
    await_nothing (node, asked);
    link_out (&node->proxy, asked);
    map_out (&node->proxy, asked);
    lk_index_remove (&node->proxy.serials, &asked->by_serial);
    lk_heap_take (&node->proxy.ends, asked);
    free_asked (asked);
}

lk_asked *
lk_asked_by_serial (const lk_node *node, uint64_t serial)
{
    lk_link *link = lk_index_find (&node->proxy.serials, number_hash (serial));
    while (link && ((lk_asked *) link)->serial != serial) {
        link = link->next;
    }
    return (lk_asked *) link;
}

lk_asked *
lk_asked_by_name (const lk_node *node, uint32_t app, uint64_t app_serial)
{
    const uint64_t name[2] = {app, app_serial};
    lk_link *link = lk_index_find (&node->proxy.names, name_hash (name));
    while (link && memcmp (by_name (link)->name, name, sizeof name) != 0) {
        link = link->next;
    }
    return link ? by_name (link) : NULL;
}

static bool
is_heirloom (const lk_asked *asked, uint64_t key, lk_name object,
             lk_lock_type type)
{
    const lk_name *name = &asked->ticket.object;
    return asked->ticket.key == key && asked->ticket.mode.type == type
           && name->size == object.size
           && memcmp (name->data, object.data, name->size) == 0;
}

lk_asked *
lk_asked_by_key (const lk_node *node, uint64_t key, lk_name object,
                 lk_lock_type type)
{
    lk_link *link = lk_index_find (&node->proxy.lingering, (uint32_t) key);
    while (link && !is_heirloom (by_name (link), key, object, type)) {
        link = link->next;
    }
    return link ? by_name (link) : NULL;
}

lk_asked *
lk_asked_of_app (const lk_node *node, uint32_t app)
{
    const lk_asker *asker = lk_asker_find (&node->proxy, app);
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
    key_out (&node->proxy, asked);
    asked->state = state;
    asked->asks_on = asked->asks_on && !is_open (state);
    asked->sent_ms = LK_LONG_AGO;
    asked->tries = 0;
    key_in (&node->proxy, asked);
    link_in (&node->proxy, asked);
    lk_asked_await_end (node, asked);
}

/*  It is said at once, as if for the first time. */
static void
say_anew (lk_node *node, lk_asked *asked)
{
    asked->sent_ms = LK_LONG_AGO;
    asked->tries = 0;
    if (asked->list != list_of (asked)) {
        link_again (&node->proxy, asked);
    }
}

void
lk_asked_was_said (lk_node *node, lk_asked *asked, int tries)
{
    asked->sent_ms = node->now_ms;
    asked->tries = tries;
    link_again (&node->proxy, asked);
}

void
lk_asked_say_all_anew (lk_node *node)
{
    lk_asked *asked;
    for (size_t list = LK_LISTS - 1; list > LK_UNSAID_LIST; list--) {
        while ((asked = node->proxy.list[list])) {
            say_anew (node, asked);
        }
    }
}

void
lk_asked_ask_on (lk_node *node, lk_asked *asked)
{
    asked->asks_on = true;
    say_anew (node, asked);
    lk_asked_send (node, asked);
}

void
lk_asked_ask_no_more (lk_node *node, lk_asked *asked)
{
    if (asked->asks_on) {
        asked->asks_on = false;
        link_again (&node->proxy, asked);
    }
}

void
lk_asked_learn_key (lk_node *node, lk_asked *asked, uint64_t key)
{
    key_out (&node->proxy, asked);
    asked->ticket.key = key;
    key_in (&node->proxy, asked);
}

void
lk_asked_renumber (lk_node *node, lk_asked *asked)
{
    lk_index_remove (&node->proxy.serials, &asked->by_serial);
    asked->serial = ++node->proxy.last_serial;
    lk_index_add (&node->proxy.serials, &asked->by_serial);
    say_anew (node, asked);
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

uint8_t
lk_asked_home (const lk_proxy *proxy, const lk_asked *asked)
{
    return lk_home_of_hash (&proxy->decree, asked->object_hash);
}

static void
send_to_home (lk_node *node, const lk_asked *asked, lk_lock_message *message)
{
    lk_proxy_send (node, message, lk_asked_home (&node->proxy, asked),
                   asked->tries);
}

static void
send_check (lk_node *node, const lk_asked *asked)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_CHECK);
    message->as.check =
        (lk_msg_check) {.request = request_id (node, asked),
                        .object = lk_out_name (node, asked->ticket.object),
                        .token = asked->ticket.token};
    send_to_home (node, asked, message);
}

static void
send_request (lk_node *node, const lk_asked *asked, lk_lock_kind kind)
{
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

static bool
is_asked_for (const lk_asked *asked)
{
    return asked->state == LK_ASKED_WAITING || asked->asks_on;
}

void
lk_asked_send (lk_node *node, lk_asked *asked)
{
    if (!can_send (node)) {
        return;
    }
    if (asked->errand == LK_ERRAND_CHECK) {
        send_check (node, asked);
    } else {
        send_request (node, asked,
                      is_asked_for (asked) ? LK_MSG_LOCK : LK_MSG_UNLOCK);
    }
    lk_asked_was_said (node, asked, asked->tries + 1);
}

void
lk_asked_send_unlock (lk_node *node, const lk_asked *asked)
{
    if (can_send (node)) {
        send_request (node, asked, LK_MSG_UNLOCK);
    }
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
