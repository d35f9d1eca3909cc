/*  past.c - what happened to locks, told by several hosts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Hosts' clocks differ: each says how long ago it was.
 */

#include "cli/see/past.h"

#include "cli/terminal.h"
#include "cli/tickets.h"
#include "util/alloc.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <lockkeeper/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_MS 4000 /* what a host that is asked for a zone takes at most */

/*  -------------------------------------------------------- the list */

void
lk_past_take (lk_past_list *self, const lk_message *answer)
{
    lk_message *row;
    for (size_t i = 0;
         answer != NULL && (row = lk_message_row (answer, "events", i)) != NULL;
         i++) {
        if (self->count == self->room) {
            self->room = self->room > 0 ? self->room * 2 : 64;
            self->row =
                lk_realloc (self->row, self->room * sizeof (lk_message *));
        }
        self->row[self->count++] = row;
    }
}

static int
by_age (const void *one, const void *other)
{
    const int64_t a =
        lk_message_number (*(lk_message *const *) one, "ago_ms", 0);
    const int64_t b =
        lk_message_number (*(lk_message *const *) other, "ago_ms", 0);
    return a == b ? 0 : a > b ? -1 : 1;
}

void
lk_past_sort (lk_past_list *self)
{
    if (self->count > 0) {
        qsort (self->row, self->count, sizeof (lk_message *), by_age);
    }
}

static bool
is_same (const lk_message *one, const lk_message *other)
{
    static const char *const texts[] = {
        "event", "error", "owner", "object", "object_hex", "context", "token"};
    static const char *const numbers[] = {"waited_ms", "held_ms"};
    bool same = true;
    for (size_t i = 0; same && i < sizeof texts / sizeof texts[0]; i++) {
        const char *a = lk_message_text (one, texts[i]);
        const char *b = lk_message_text (other, texts[i]);
        same = a == NULL || b == NULL ? a == b : strcmp (a, b) == 0;
    }
    for (size_t i = 0; same && i < sizeof numbers / sizeof numbers[0]; i++) {
        same = lk_message_number (one, numbers[i], 0)
               == lk_message_number (other, numbers[i], 0);
    }
    return same;
}

/*  By their ages, one is the other, asked for so much later; the answers took
 *  their time. */
static bool
is_again (const lk_message *row, const lk_message *known, int64_t later_ms)
{
    const int64_t off_ms = lk_message_number (row, "ago_ms", 0) - later_ms
                           - lk_message_number (known, "ago_ms", 0);
    return off_ms < LATE_MS && off_ms > -LATE_MS && is_same (row, known);
}

void
lk_past_drop_known (lk_past_list *self, const lk_past_list *known,
                    int64_t later_ms)
{
    bool *used = lk_alloc (known->count + 1);
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++) {
        size_t k = 0;
        while (
            k < known->count
            && (used[k] || !is_again (self->row[i], known->row[k], later_ms))) {
            k++;
        }
        used[k] = true;
        if (k < known->count) {
            lk_message_destroy (&self->row[i]);
        } else {
            self->row[kept++] = self->row[i];
        }
    }
    self->count = kept;
    lk_free (used);
}

void
lk_past_clear (lk_past_list *self)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_message_destroy (&self->row[i]);
    }
    lk_free (self->row);
    *self = (lk_past_list) {0};
}

/*  -------------------------------------------------------- for people */

static bool
is_event (const lk_message *row, const char *event)
{
    const char *text = lk_message_text (row, "event");
    return text != NULL && strcmp (text, event) == 0;
}

/*  Of another machine, which nobody sees end. */
static bool
is_far (const lk_message *row)
{
    const char *owner = lk_message_text (row, "owner");
    return owner != NULL && lk_address_is_far (lk_slice_of (owner));
}

/*  Of who held it, and who did not get it: in other words than an
 *  application is told. */
static const char *
why (const lk_message *row)
{
    const char *word = lk_message_text (row, "error");
    const lk_err error = word != NULL ? lk_err_from_word (word) : LK_OK;
    switch (error) {
    case LK_OK:
        return NULL;
    case LK_TIMEDOUT:
        return is_event (row, "lost") ? "its duration was over"
                                      : "the time to wait was over";
    case LK_DISCONNECTED:
        return is_far (row) ? "its process ended, or was not heard any more"
                            : "its process ended";
    case LK_ISOLATED:
        return "its host was cut off or is down: its lease was over";
    default:
        return lk_err_text (error);
    }
}

void
lk_past_print_what (const lk_message *row)
{
    const char *event = lk_message_text (row, "event");
    const char *reason = lk_message_text (row, "reason");
    const int64_t held_ms = lk_message_number (row, "held_ms", 0);
    fputs (is_event (row, "forced") ? "force asked for"
           : event != NULL          ? event
                                    : "?",
           stdout);
    if (why (row) != NULL) {
        printf (": %s", why (row));
    }
    if (reason != NULL) {
        printf (": ");
        lk_show (stdout, reason);
    }
    if (held_ms > 0) {
        printf (", held %s", lk_span (held_ms).text);
    }
    if (!is_event (row, "forced")) {
        printf (", waited %s",
                lk_span (lk_message_number (row, "waited_ms", 0)).text);
    }
}

void
lk_past_print_who (const lk_message *row, const char *between)
{
    const char *user = lk_message_text (row, "user");
    const char *owner = lk_message_text (row, "owner");
    if (lk_message_has (row, "pid")) {
        lk_show (stdout, owner != NULL ? owner : "?");
        printf ("%s pid %" PRId64, between, lk_message_number (row, "pid", 0));
        return;
    }
    lk_show (stdout, user != NULL ? user : "-");
    printf (" ");
    lk_show (stdout, lk_message_flag (row, "own") ? "(own)"
                     : owner != NULL              ? owner
                                                  : "-");
}

static void
print_line (const lk_message *row)
{
    printf ("%10s ago  ", lk_span (lk_message_number (row, "ago_ms", 0)).text);
    lk_past_print_who (row, ",");
    printf (": ");
    lk_past_print_what (row);
    putchar ('\n');
}

size_t
lk_past_print_ends (const lk_past_list *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (!is_event (self->row[i], "granted")) {
            print_line (self->row[i]);
            count++;
        }
    }
    return count;
}

/*  -------------------------------------------------------- for programs */

static void
set_token (lk_message *row)
{
    lk_message_set_number (row, "token", (int64_t) lk_row_token (row));
}

void
lk_past_add_rows (lk_past_list *self, lk_message *all)
{
    for (size_t i = 0; i < self->count; i++) {
        set_token (self->row[i]);
        lk_message_add_row (all, "events", &self->row[i]);
    }
    lk_past_clear (self);
}

void
lk_past_print_json (lk_message *row)
{
    set_token (row);
    puts (lk_message_body (row));
}
