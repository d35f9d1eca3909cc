/*  demand.c - one request of an application, from LOCK to UNLOCKED
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "demand.h"

#include "asker.h"
#include "demand_maps.h"
#include "proxy_private.h"

#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- lists */

static bool
is_open (lk_demand_state state)
{
    return state == LK_DEMAND_WAITING || state == LK_DEMAND_RESUMING
           || state == LK_DEMAND_CLOSING || state == LK_DEMAND_ERRAND;
}

/*  Which it belongs into. */
static uint8_t
list_of (const lk_demand *demand)
{
    if (demand->unvouched || (!is_open (demand->state) && !demand->asks_on)) {
        return LK_QUIET_LIST;
    }
    int list = LK_UNSAID_LIST;
    if (demand->sent_ms != LK_LONG_AGO) {
        list += demand->tries;
    }
    return (uint8_t) (list < LK_LISTS ? list : LK_LISTS - 1);
}

static void
link_in (lk_proxy *proxy, lk_demand *demand)
{
    demand->list = list_of (demand);
    DL_APPEND (proxy->list[demand->list], demand);
    proxy->settled += !is_open (demand->state);
}

static void
link_out (lk_proxy *proxy, lk_demand *demand)
{
    DL_DELETE (proxy->list[demand->list], demand);
    proxy->settled -= !is_open (demand->state);
}

static void
link_again (lk_proxy *proxy, lk_demand *demand)
{
    link_out (proxy, demand);
    link_in (proxy, demand);
}

/*  The first of that list, or of those behind it. */
static lk_demand *
first_from (const lk_proxy *proxy, size_t list)
{
    while (list < LK_LISTS && !proxy->list[list]) {
        list++;
    }
    return list < LK_LISTS ? proxy->list[list] : NULL;
}

lk_demand *
lk_demand_first (const lk_proxy *proxy)
{
    return first_from (proxy, 0);
}

lk_demand *
lk_demand_next (const lk_proxy *proxy, const lk_demand *demand)
{
    return demand->next ? demand->next : first_from (proxy, demand->list + 1u);
}

bool
lk_demand_is_far (const lk_demand *demand)
{
    return demand->ticket.remote.number != 0
           && (demand->name[0] != LK_NO_APP || demand->set);
}

/*  -------------------------------------------------------- life */

static lk_uses *
uses_of (lk_proxy *proxy, const lk_demand *demand)
{
    return demand->ticket.kept ? &proxy->kept : &proxy->uses;
}

static void
free_asked (lk_demand *demand)
{
    lk_demand_drop_owner (demand);
    lk_free ((char *) demand->reason.data);
    lk_free (demand);
}
void
lk_demand_clear_all (lk_proxy *proxy)
{
    lk_demand *demand;
    (void) lk_index_clear (&proxy->serials);
    (void) lk_index_clear (&proxy->names);
    (void) lk_index_clear (&proxy->lingering);
    while ((demand = lk_demand_first (proxy))) {
        if (demand->asker) {
            lk_asker_leave (proxy, demand);
        }
        link_out (proxy, demand);
        free_asked (demand);
    }
    lk_askers_clear (proxy);
    lk_uses_clear (&proxy->uses);
    lk_uses_clear (&proxy->kept);
    lk_heap_clear (&proxy->ends);
}

lk_demand *
lk_demand_new (lk_proxy *proxy, lk_demand_state state, uint64_t serial,
               uint32_t app, uint64_t app_serial, lk_name object)
{
    lk_demand *demand = lk_alloc (sizeof *demand + object.size);
    demand->serial = serial;
    demand->name[0] = app;
    demand->name[1] = app_serial;
    demand->state = state;
    memcpy (demand->object, object.data, object.size);
    demand->ticket.object = (lk_name) {demand->object, object.size};
    demand->object_hash = lk_hash64 (object.data, object.size);
    demand->asks = LK_ON_LOCK;
    demand->course.asked_ms = proxy->core->now_ms;
    demand->since_ms = proxy->core->now_ms;
    demand->wait_until_ms = INT64_MAX;
    demand->until_ms = INT64_MAX;
    demand->linger_until_ms = INT64_MAX;
    demand->turn.until_ms = INT64_MAX;
    demand->sent_ms = LK_LONG_AGO;
    proxy->names_size += object.size;
    lk_uses_add (uses_of (proxy, demand), demand->ticket.object);
    link_in (proxy, demand);
    lk_index_add (&proxy->serials, &demand->by_serial);
    lk_demand_map_in (proxy, demand);
    return demand;
}

void
lk_demand_learn_kept (lk_proxy *proxy, lk_demand *demand, bool kept)
{
    if (demand->ticket.kept != kept) {
        lk_uses_take (uses_of (proxy, demand), demand->ticket.object);
        demand->ticket.kept = kept;
        lk_uses_add (uses_of (proxy, demand), demand->ticket.object);
    }
}

void
lk_demand_await_unlocked (lk_proxy *proxy, lk_demand *demand)
{
    proxy->unlocking += !demand->tell_unlocked;
    demand->tell_unlocked = true;
}

/*  A command that gives back a lock which is over is not its application's. */
bool
lk_demand_is_awaited (const lk_demand *demand)
{
    return demand->tell_unlocked
           || (demand->state == LK_DEMAND_ERRAND && demand->asks != LK_ON_LOCK);
}

static void
await_nothing (lk_proxy *proxy, lk_demand *demand)
{
    proxy->unlocking -= demand->tell_unlocked;
    demand->tell_unlocked = false;
}

void
lk_demand_remove (lk_proxy *proxy, lk_demand *demand)
{
    await_nothing (proxy, demand);
    link_out (proxy, demand);
    lk_demand_map_out (proxy, demand);
    lk_index_remove (&proxy->serials, &demand->by_serial);
    lk_heap_take (&proxy->ends, demand);
    proxy->names_size -= demand->ticket.object.size;
    lk_uses_take (uses_of (proxy, demand), demand->ticket.object);
    free_asked (demand);
}

/*  -------------------------------------------------------- ends */

static int64_t
earlier (int64_t one_ms, int64_t other_ms, int64_t after_ms)
{
    return other_ms > after_ms && other_ms < one_ms ? other_ms : one_ms;
}

static int64_t
end_of (const lk_demand *demand, int64_t after_ms)
{
    int64_t end_ms = INT64_MAX;
    switch (demand->state) {
    case LK_DEMAND_WAITING:
    case LK_DEMAND_ERRAND:
    case LK_DEMAND_KEEPING:
    case LK_DEMAND_RESUMING:
        return earlier (end_ms, demand->wait_until_ms, after_ms);
    case LK_DEMAND_HELD:
        if (demand->asks_on) {
            end_ms = earlier (end_ms, demand->turn.until_ms, after_ms);
        }
        if (demand->turn.heir_waits) {
            end_ms = earlier (end_ms, demand->wait_until_ms, after_ms);
        }
        return earlier (end_ms, demand->until_ms, after_ms);
    case LK_DEMAND_ENDED:
        return earlier (end_ms, demand->until_ms, after_ms);
    case LK_DEMAND_LINGERING:
        end_ms = earlier (end_ms, demand->linger_until_ms, after_ms);
        return earlier (end_ms, demand->until_ms, after_ms);
    case LK_DEMAND_LATER:
    case LK_DEMAND_CLOSING:
    case LK_DEMAND_STATES:
        break;
    }
    return end_ms;
}

static void
await_end (lk_proxy *proxy, lk_demand *demand, int64_t end_ms)
{
    if (end_ms == INT64_MAX) {
        lk_heap_take (&proxy->ends, demand);
    } else if (end_ms != lk_heap_when_ms (&proxy->ends, demand)) {
        lk_heap_put (&proxy->ends, demand, end_ms);
    }
}

void
lk_demand_await_end (lk_proxy *proxy, lk_demand *demand)
{
    await_end (proxy, demand, end_of (demand, INT64_MIN));
}

lk_demand *
lk_demand_next_end (lk_proxy *proxy)
{
    lk_demand *demand = lk_heap_due (&proxy->ends, proxy->core->now_ms);
    if (demand) {
        await_end (proxy, demand, end_of (demand, proxy->core->now_ms));
    }
    return demand;
}

/*  -------------------------------------------------------- states */

void
lk_demand_enter (lk_proxy *proxy, lk_demand *demand, lk_demand_state state)
{
    link_out (proxy, demand);
    lk_demand_key_out (proxy, demand);
    demand->state = state;
    demand->asks_on = demand->asks_on && !is_open (state);
    demand->unvouched = false;
    demand->sent_ms = LK_LONG_AGO;
    demand->tries = 0;
    lk_demand_key_in (proxy, demand);
    link_in (proxy, demand);
    lk_demand_await_end (proxy, demand);
}

/*  It is said at once, as if for the first time. */
static void
say_anew (lk_proxy *proxy, lk_demand *demand)
{
    demand->sent_ms = LK_LONG_AGO;
    demand->tries = 0;
    if (demand->list != list_of (demand)) {
        link_again (proxy, demand);
    }
}

void
lk_demand_was_said (lk_proxy *proxy, lk_demand *demand, int tries)
{
    demand->sent_ms = proxy->core->now_ms;
    demand->tries = tries;
    link_again (proxy, demand);
}

void
lk_demand_say_all_anew (lk_proxy *proxy)
{
    lk_demand *demand;
    for (size_t list = LK_LISTS - 1; list > LK_UNSAID_LIST; list--) {
        while ((demand = proxy->list[list])) {
            say_anew (proxy, demand);
        }
    }
}

void
lk_demand_hold_back (lk_proxy *proxy, lk_demand *demand, uint64_t after)
{
    demand->unvouched = true;
    demand->after = after;
    link_again (proxy, demand);
}

void
lk_demand_let_go (lk_proxy *proxy, lk_demand *demand)
{
    demand->unvouched = false;
    link_again (proxy, demand);
}

void
lk_demand_ask_on (lk_proxy *proxy, lk_demand *demand)
{
    demand->asks_on = true;
    say_anew (proxy, demand);
}

void
lk_demand_ask_no_more (lk_proxy *proxy, lk_demand *demand)
{
    if (demand->asks_on) {
        demand->asks_on = false;
        link_again (proxy, demand);
    }
}

void
lk_demand_learn_key (lk_proxy *proxy, lk_demand *demand, uint64_t key)
{
    lk_demand_key_out (proxy, demand);
    demand->ticket.key = key;
    lk_demand_key_in (proxy, demand);
}

void
lk_demand_renumber (lk_proxy *proxy, lk_demand *demand)
{
    lk_index_remove (&proxy->serials, &demand->by_serial);
    demand->serial = ++proxy->last_serial;
    lk_index_add (&proxy->serials, &demand->by_serial);
    say_anew (proxy, demand);
}

void
lk_demand_rename (lk_proxy *proxy, lk_demand *demand, uint32_t app,
                  uint64_t app_serial)
{
    lk_demand_map_out (proxy, demand);
    demand->name[0] = app;
    demand->name[1] = app_serial;
    lk_demand_map_in (proxy, demand);
}

void
lk_demand_orphan (lk_proxy *proxy, lk_demand *demand)
{
    await_nothing (proxy, demand);
    lk_demand_rename (proxy, demand, LK_NO_APP, 0);
}

void
lk_demand_become_command (lk_proxy *proxy, lk_demand *demand)
{
    lk_demand_enter (proxy, demand, LK_DEMAND_ERRAND);
    demand->command = LK_COMMAND_BY_KEY;
    demand->wait_until_ms = INT64_MAX;
    lk_demand_renumber (proxy, demand);
}
