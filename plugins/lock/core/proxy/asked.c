/*  asked.c - one request of an application, from LOCK to UNLOCKED
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"

#include "asked_maps.h"
#include "asker.h"
#include "proxy_private.h"

#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- lists */

static bool
is_open (lk_asked_state state)
{
    return state == LK_ASKED_WAITING || state == LK_ASKED_RESUMING
           || state == LK_ASKED_CLOSING || state == LK_ASKED_ERRAND;
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

/*  -------------------------------------------------------- life */

static void
free_asked (lk_asked *asked)
{
    lk_asked_drop_owner (asked);
    lk_free ((char *) asked->reason.data);
    lk_free (asked);
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
            lk_asker_leave (proxy, asked);
        }
        link_out (proxy, asked);
        free_asked (asked);
    }
    lk_askers_clear (proxy);
    lk_heap_clear (&proxy->ends);
}

lk_asked *
lk_asked_new (lk_proxy *proxy, lk_asked_state state, uint64_t serial,
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
    asked->since_ms = proxy->core->now_ms;
    asked->wait_until_ms = INT64_MAX;
    asked->until_ms = INT64_MAX;
    asked->linger_until_ms = INT64_MAX;
    asked->turn.until_ms = INT64_MAX;
    asked->sent_ms = LK_LONG_AGO;
    proxy->names_size += object.size;
    link_in (proxy, asked);
    lk_index_add (&proxy->serials, &asked->by_serial);
    lk_asked_map_in (proxy, asked);
    return asked;
}

void
lk_asked_await_unlocked (lk_proxy *proxy, lk_asked *asked)
{
    proxy->unlocking += !asked->tell_unlocked;
    asked->tell_unlocked = true;
}

static void
await_nothing (lk_proxy *proxy, lk_asked *asked)
{
    proxy->unlocking -= asked->tell_unlocked;
    asked->tell_unlocked = false;
}

void
lk_asked_remove (lk_proxy *proxy, lk_asked *asked)
{
    await_nothing (proxy, asked);
    link_out (proxy, asked);
    lk_asked_map_out (proxy, asked);
    lk_index_remove (&proxy->serials, &asked->by_serial);
    lk_heap_take (&proxy->ends, asked);
    proxy->names_size -= asked->ticket.object.size;
    free_asked (asked);
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
    case LK_ASKED_RESUMING:
        return earlier (end_ms, asked->wait_until_ms, after_ms);
    case LK_ASKED_HELD:
        if (asked->asks_on) {
            end_ms = earlier (end_ms, asked->turn.until_ms, after_ms);
        }
        if (asked->turn.heir_waits) {
            end_ms = earlier (end_ms, asked->wait_until_ms, after_ms);
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
await_end (lk_proxy *proxy, lk_asked *asked, int64_t end_ms)
{
    if (end_ms == INT64_MAX) {
        lk_heap_take (&proxy->ends, asked);
    } else if (end_ms != lk_heap_when_ms (&proxy->ends, asked)) {
        lk_heap_put (&proxy->ends, asked, end_ms);
    }
}

void
lk_asked_await_end (lk_proxy *proxy, lk_asked *asked)
{
    await_end (proxy, asked, end_of (asked, INT64_MIN));
}

lk_asked *
lk_asked_next_end (lk_proxy *proxy)
{
    lk_asked *asked = lk_heap_due (&proxy->ends, proxy->core->now_ms);
    if (asked) {
        await_end (proxy, asked, end_of (asked, proxy->core->now_ms));
    }
    return asked;
}

/*  -------------------------------------------------------- states */

void
lk_asked_enter (lk_proxy *proxy, lk_asked *asked, lk_asked_state state)
{
    link_out (proxy, asked);
    lk_asked_key_out (proxy, asked);
    asked->state = state;
    asked->asks_on = asked->asks_on && !is_open (state);
    asked->sent_ms = LK_LONG_AGO;
    asked->tries = 0;
    lk_asked_key_in (proxy, asked);
    link_in (proxy, asked);
    lk_asked_await_end (proxy, asked);
}

/*  It is said at once, as if for the first time. */
static void
say_anew (lk_proxy *proxy, lk_asked *asked)
{
    asked->sent_ms = LK_LONG_AGO;
    asked->tries = 0;
    if (asked->list != list_of (asked)) {
        link_again (proxy, asked);
    }
}

void
lk_asked_was_said (lk_proxy *proxy, lk_asked *asked, int tries)
{
    asked->sent_ms = proxy->core->now_ms;
    asked->tries = tries;
    link_again (proxy, asked);
}

void
lk_asked_say_all_anew (lk_proxy *proxy)
{
    lk_asked *asked;
    for (size_t list = LK_LISTS - 1; list > LK_UNSAID_LIST; list--) {
        while ((asked = proxy->list[list])) {
            say_anew (proxy, asked);
        }
    }
}

void
lk_asked_ask_on (lk_proxy *proxy, lk_asked *asked)
{
    asked->asks_on = true;
    say_anew (proxy, asked);
}

void
lk_asked_ask_no_more (lk_proxy *proxy, lk_asked *asked)
{
    if (asked->asks_on) {
        asked->asks_on = false;
        link_again (proxy, asked);
    }
}

void
lk_asked_learn_key (lk_proxy *proxy, lk_asked *asked, uint64_t key)
{
    lk_asked_key_out (proxy, asked);
    asked->ticket.key = key;
    lk_asked_key_in (proxy, asked);
}

void
lk_asked_renumber (lk_proxy *proxy, lk_asked *asked)
{
    lk_index_remove (&proxy->serials, &asked->by_serial);
    asked->serial = ++proxy->last_serial;
    lk_index_add (&proxy->serials, &asked->by_serial);
    say_anew (proxy, asked);
}

void
lk_asked_rename (lk_proxy *proxy, lk_asked *asked, uint32_t app,
                 uint64_t app_serial)
{
    lk_asked_map_out (proxy, asked);
    asked->name[0] = app;
    asked->name[1] = app_serial;
    lk_asked_map_in (proxy, asked);
}

void
lk_asked_orphan (lk_proxy *proxy, lk_asked *asked)
{
    await_nothing (proxy, asked);
    lk_asked_rename (proxy, asked, LK_NO_APP, 0);
}

void
lk_asked_become_errand (lk_proxy *proxy, lk_asked *asked)
{
    lk_asked_enter (proxy, asked, LK_ASKED_ERRAND);
    asked->errand = LK_ERRAND_BY_KEY;
    asked->wait_until_ms = INT64_MAX;
    lk_asked_renumber (proxy, asked);
}
