/*  relay.c - a zone's questions that this host cannot answer alone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "relay.h"

#include "look.h"
#include "mask.h"
#include "out.h"

#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 500 /* in one answer, as in history.c */
#define NAMES_MAX 100  /* as in top.c */

/*  -------------------------------------------------------- asking */

static void
copy_question (lk_message *to, const lk_message *from, const lk_view *view)
{
    static const char *const texts[] = {"object", "object_hex", "context"};
    static const char *const numbers[] = {"cursor", "count"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lk_message_set_text (to, texts[i], lk_message_text (from, texts[i]));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (lk_message_has (from, numbers[i])) {
            lk_message_set_number (to, numbers[i],
                                   lk_message_number (from, numbers[i], 0));
        }
    }
    lk_message_set_text (to, "zone", view->who.zone);
    if (view->who.role < LK_ROLE_OPERATOR) {
        lk_message_set_text (to, "user", view->who.user);
    }
}

static void
ask (lk_lockd *self, const lk_message *request, const lk_view *view,
     lk_host host, uint64_t serial)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "lock@%s", lk_hostmap_name (&self->hostmap, host));
    lk_message *question = lk_message_new (to, lk_message_command (request));
    lk_message_set_serial (question, serial);
    lk_message_set_hex (question, "id", self->state.id);
    copy_question (question, request, view);
    (void) lk_lockd_send (self, question);
}

/*  -------------------------------------------------------- rows together */

typedef struct {
    lk_message *row;
    int64_t order;
    const char *context, *object;
} sorted_row;

/*  The largest first. */
static int
by_order (const void *one, const void *other)
{
    const sorted_row *a = one, *b = other;
    return a->order == b->order ? 0 : a->order > b->order ? -1 : 1;
}

static int
by_name (const void *one, const void *other)
{
    const sorted_row *a = one, *b = other;
    const int order = strcmp (a->object, b->object);
    return order != 0 ? order : strcmp (a->context, b->context);
}

static const char *
text_of (const lk_message *row, const char *field)
{
    const char *text = lk_message_text (row, field);
    return text ? text : "";
}

/*  Takes a list out of a message. */
static sorted_row *
take_rows (lk_message *message, const char *list, const char *order,
           size_t *count)
{
    *count = lk_message_item_count (message, list);
    sorted_row *rows = lk_alloc ((*count + 1) * sizeof *rows);
    for (size_t i = 0; i < *count; i++) {
        lk_message *row = lk_message_row (message, list, i);
        rows[i].row = row;
        rows[i].order = lk_message_number (row, order, 0);
        rows[i].context = text_of (row, "context");
        rows[i].object = lk_message_has (row, "object_hex")
                             ? text_of (row, "object_hex")
                             : text_of (row, "object");
    }
    lk_message_set_text (message, list, NULL);
    return rows;
}

/*  Gives back those from `first` on, `most` of them at most. */
static void
put_rows (lk_message *message, const char *list, sorted_row *rows, size_t count,
          size_t first)
{
    for (size_t i = 0; i < count; i++) {
        if (i >= first && rows[i].row) {
            lk_message_add_row (message, list, &rows[i].row);
        }
        lk_message_destroy (&rows[i].row);
    }
    lk_free (rows);
}

/*  In the order of time; the latest ones. */
static void
settle_events (lk_message *answer, int64_t wanted)
{
    size_t count;
    const size_t most =
        wanted > 0 && wanted < EVENTS_MAX ? (size_t) wanted : EVENTS_MAX;
    sorted_row *rows = take_rows (answer, "events", "ago_ms", &count);
    qsort (rows, count, sizeof *rows, by_order);
    put_rows (answer, "events", rows, count, count > most ? count - most : 0);
}

static void
add_up (lk_message *sum, const lk_message *row)
{
    static const char *const fields[] = {"grants", "releases", "waited_ms",
                                         "held_ms"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        lk_message_set_number (sum, fields[i],
                               lk_message_number (sum, fields[i], 0)
                                   + lk_message_number (row, fields[i], 0));
    }
}

/*  A name that several hosts tell of is one. */
static void
settle_names (lk_message *answer)
{
    size_t count, kept = 0;
    sorted_row *rows = take_rows (answer, "names", "grants", &count);
    qsort (rows, count, sizeof *rows, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_name (&rows[kept - 1], &rows[i]) == 0) {
            add_up (rows[kept - 1].row, rows[i].row);
            lk_message_destroy (&rows[i].row);
        } else {
            const sorted_row row = rows[i];
            rows[i].row = NULL;
            rows[kept++] = row;
        }
    }
    for (size_t i = 0; i < kept; i++) {
        rows[i].order = lk_message_number (rows[i].row, "grants", 0);
    }
    qsort (rows, kept, sizeof *rows, by_order);
    for (size_t i = NAMES_MAX; i < kept; i++) {
        lk_message_destroy (&rows[i].row);
    }
    put_rows (answer, "names", rows, kept, 0);
}

/*  -------------------------------------------------------- answering */

static void
finish (lk_lockd *self, lk_relay *relay)
{
    const int64_t wanted = relay->count;
    const bool failed = relay->failed;
    lk_message *answer = lk_relays_remove (&self->relays, relay);
    if (failed) {
        lk_message *refusal =
            lk_message_new (lk_message_to (answer), "LOCKFAILED");
        lk_message_set_serial (refusal, lk_message_serial (answer));
        lk_message_set_text (refusal, "error", lk_err_word (LK_ISOLATED));
        lk_message_set_text (refusal, "text", LK_LOCKD_NOT_NOW);
        lk_message_destroy (&answer);
        (void) lk_lockd_send (self, refusal);
        return;
    }
    if (lk_message_is (answer, "LOCKHISTORY")) {
        settle_events (answer, wanted);
    } else if (lk_message_is (answer, "LOCKTOP")) {
        settle_names (answer);
    }
    (void) lk_lockd_send (self, answer);
}

void
lk_lockd_relay (lk_lockd *self, const lk_message *request, const lk_view *view,
                lk_hosts hosts, lk_message *answer)
{
    lk_relay *relay = lk_relays_add (&self->relays, &answer);
    if (!relay) {
        lk_message_destroy (&answer);
        lk_lockd_fail (self, request, LK_OVERLOADED,
                       "too many questions are under way");
        return;
    }
    relay->pending = hosts;
    relay->until_ms = lk_bus_now (self->bus) + LK_RELAY_MS;
    relay->count = lk_message_number (request, "count", 0);
    relay->failed = lk_message_is (request, "LOCKLIST");
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if (hosts & LK_HOST_BIT (i)) {
            ask (self, request, view, (lk_host) i, relay->serial);
        }
    }
    if (hosts == 0) {
        finish (self, relay);
    }
}

void
lk_lockd_end_relays (lk_lockd *self)
{
    const int64_t now_ms = lk_bus_now (self->bus);
    while (lk_relays_deadline (&self->relays) <= now_ms) {
        finish (self, self->relays.first);
    }
}

/*  -------------------------------------------------------- between us */

static const char *
list_of (const lk_message *message)
{
    return lk_message_is (message, "LOCKLIST")      ? "tickets"
           : lk_message_is (message, "LOCKHISTORY") ? "events"
                                                    : "names";
}

/*  The asker may be gone: then the router tells nobody. */
static void
add_rows (lk_lockd *self, lk_relay *relay, const lk_message *told)
{
    lk_view view = {.all_zones = false};
    const char *list = list_of (told);
    view.app = lk_apps_find (&self->apps, lk_message_to (relay->answer));
    if (view.app) {
        view.who = view.app->who;
    }
    relay->rows += lk_message_item_count (told, list);
    if (relay->rows <= LK_RELAY_ROWS) {
        lk_lockd_add_all_masked (self, &view, relay->answer, list, told);
    }
    if (lk_message_item_count (relay->answer, "waits") == 0) {
        lk_lockd_add_all_masked (self, &view, relay->answer, "waits", told);
    }
    if (lk_message_has (told, "cursor")) {
        lk_message_set_number (relay->answer, "cursor",
                               lk_message_number (told, "cursor", 0));
    }
    relay->failed = lk_message_is (told, "LOCKLIST")
                    && lk_message_item_count (told, "leaders") > 0;
}

void
lk_lockd_take_relay (lk_lockd *self, const char *host,
                     const lk_message *message)
{
    lk_relay *relay =
        lk_relays_find (&self->relays, lk_message_serial (message));
    lk_hosts from = 0;
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if (strcmp (lk_hostmap_name (&self->hostmap, (lk_host) i), host) == 0) {
            from |= LK_HOST_BIT (i);
        }
    }
    if (relay && (relay->pending & from)
        && lk_message_is (message, lk_message_command (relay->answer))) {
        add_rows (self, relay, message);
        relay->pending &= ~from;
        if (relay->pending == 0) {
            finish (self, relay);
        }
    }
}
