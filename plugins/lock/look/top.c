/*  top.c - LOCKTOP: which locks are asked for most, and waited for longest
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nothing is counted for it while locks come and go: who asks has the latest
 *  events added up by name, and the queues that somebody waits in looked at.
 */

#include "look.h"
#include "mask.h"
#include "out.h"
#include "relay.h"
#include "rows.h"

#include "util/alloc.h"
#include "util/map.h"
#include "wire/message_frame.h"

#include <stdlib.h>

#define WINDOW_MS 10000
#define NAMES_MAX 100              /* of each list */
#define LIST_SIZE_MAX (256 * 1024) /* bytes of each list, about */
#define ROW_SIZE 200
#define BYTE_SIZE 6 /* of a name's byte in JSON, at most */

/*  -------------------------------------------------------- events by name */

typedef struct {
    lk_name key; /* borrowed from the recent events */
    uint64_t grants, releases, waited_ms, held_ms;
    UT_hash_handle hh;
} sum;

static sum *
need_sum (sum **sums, lk_name key)
{
    sum *it = NULL;
    HASH_FIND (hh, *sums, key.data, key.size, it);
    if (!it) {
        it = lk_alloc (sizeof *it);
        it->key = key;
        HASH_ADD_KEYPTR (hh, *sums, it->key.data, it->key.size, it);
    }
    return it;
}

static void
add (sum **sums, const lk_past *past)
{
    sum *it = need_sum (sums, past->key);
    if (past->event == LK_PAST_GRANTED) {
        it->grants++;
        it->waited_ms += past->waited_ms;
    } else if (past->event != LK_PAST_FAILED) {
        it->releases++;
        it->held_ms += past->held_ms;
    }
}

/*  Since when: that long, unless what was then is forgotten. */
static int64_t
add_up (const lk_lockd *self, const lk_view *view, sum **sums)
{
    const int64_t now_ms = lk_bus_now (self->bus);
    lk_recent_place place = lk_recent_begin (self->recent);
    lk_past past;
    int64_t oldest_ms = now_ms;
    while (lk_recent_next (self->recent, &place, &past)) {
        if (past.at_ms < oldest_ms) {
            oldest_ms = past.at_ms;
        }
        if (past.event != LK_PAST_FORCED && past.at_ms >= now_ms - WINDOW_MS
            && lk_lockd_shows (view, past.key)) {
            add (sums, &past);
        }
    }
    const bool all = lk_recent_forgotten (self->recent) == 0
                     || now_ms - oldest_ms > WINDOW_MS;
    return all ? WINDOW_MS : now_ms - oldest_ms;
}

static int
by_grants (const sum *one, const sum *other)
{
    return one->grants == other->grants  ? 0
           : one->grants > other->grants ? -1
                                         : 1;
}

static void
add_names (const lk_lockd *self, const lk_view *view, lk_message *answer)
{
    sum *sums = NULL, *it, *next;
    size_t count = 0, size = 0;
    lk_message_set_number (answer, "window_ms", add_up (self, view, &sums));
    HASH_SORT (sums, by_grants);
    HASH_ITER (hh, sums, it, next) {
        lk_message *row = lk_message_row_new ();
        size += ROW_SIZE + BYTE_SIZE * (size_t) it->key.size;
        if (count++ < NAMES_MAX && size < LIST_SIZE_MAX
            && lk_lockd_set_key (row, it->key)) {
            lk_message_set_number (row, "grants", (int64_t) it->grants);
            lk_message_set_number (row, "releases", (int64_t) it->releases);
            lk_message_set_number (row, "waited_ms", (int64_t) it->waited_ms);
            lk_message_set_number (row, "held_ms", (int64_t) it->held_ms);
            lk_message_add_row (answer, "names", &row);
        }
        lk_message_destroy (&row);
        HASH_DEL (sums, it);
        lk_free (it);
    }
}

/*  -------------------------------------------------------- who waits */

static int
by_waiters (const void *one, const void *other)
{
    const lk_node_wait *a = one, *b = other;
    return a->waiters == b->waiters ? 0 : a->waiters > b->waiters ? -1 : 1;
}

/*  Of a list that is full the half with fewer waiters goes. */
static size_t
list_waits (const lk_node *node, const lk_view *view,
            lk_node_wait waits[2 * NAMES_MAX])
{
    const void *place = NULL;
    size_t count = 0;
    while (lk_node_next_wait (node, &place, &waits[count])) {
        count += lk_lockd_shows (view, waits[count].object);
        if (count == 2 * NAMES_MAX) {
            qsort (waits, count, sizeof *waits, by_waiters);
            count = NAMES_MAX;
        }
    }
    qsort (waits, count, sizeof *waits, by_waiters);
    return count < NAMES_MAX ? count : NAMES_MAX;
}

static void
add_waits (const lk_lockd *self, const lk_view *view, lk_message *answer)
{
    lk_node_wait waits[2 * NAMES_MAX];
    const size_t count = list_waits (self->node, view, waits);
    size_t size = 0;
    for (size_t i = 0; i < count && size < LIST_SIZE_MAX; i++) {
        size += ROW_SIZE + BYTE_SIZE * (size_t) waits[i].object.size;
        lk_message *row = lk_message_row_new ();
        if (lk_lockd_set_key (row, waits[i].object)) {
            lk_message_set_number (row, "holders", (int64_t) waits[i].holders);
            lk_message_set_number (row, "waiters", (int64_t) waits[i].waiters);
            lk_message_set_number (row, "longest_ms", waits[i].longest_ms);
            lk_message_add_row (answer, "waits", &row);
        }
        lk_message_destroy (&row);
    }
}

/*  Names of all hosts, and who waits from one that leads. How far back a host
 *  remembers would show how much happens in other zones. */
static void
tell_zone (lk_lockd *self, const lk_message *request, const lk_view *view,
           const lk_message *own, const lk_node_status *status)
{
    lk_message *answer = lk_message_reply (request, "LOCKTOP");
    lk_message_set_number (answer, "window_ms", WINDOW_MS);
    lk_lockd_add_all_masked (self, view, answer, "names", own);
    lk_lockd_add_all_masked (self, view, answer, "waits", own);
    lk_lockd_relay (self, request, view, lk_lockd_others (self, status),
                    answer);
}

void
lk_lockd_tell_top (lk_lockd *self, const lk_message *request,
                   const lk_view *view)
{
    lk_message *answer = lk_lockd_new_list (self, request);
    lk_node_status status;
    lk_node_get_status (self->node, &status);
    const bool leads = status.leads;
    lk_message_set_flag (answer, "leads", leads);
    add_names (self, view, answer);
    if (leads) {
        add_waits (self, view, answer);
    }
    if (lk_lockd_is_masked (view)) {
        tell_zone (self, request, view, answer, &status);
        lk_message_destroy (&answer);
    } else {
        (void) lk_lockd_send (self, answer);
    }
}
