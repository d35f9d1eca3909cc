/*  far_renew.c - the credential of a session from another machine
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  renewal.c decides; this has the file and the servers. All processes of the
 *  machine share the file: the first one of them that renews does it for all.
 */

#include "client/far.h"

#include "net/random.h"

#include <stdio.h>
#include <string.h>

#define ROUTER_SERVICE "router@."
#define WAIT_S_MAX 3600 /* that a router may ask for */

/*  Serials of RENEW; those of registrations are greater, of locks smaller. */
#define RENEW_SERIAL (UINT64_C (1) << 61)

/*  -------------------------------------------------------- what it is */

static void
keep_shown (lk_far_way *self)
{
    snprintf (self->shown, sizeof self->shown, "%s",
              lk_credential_file_line (lk_servers_credential (self->servers)));
}

/*  A server has said until when it counts. */
static void
begin (lk_far_way *self, int64_t ends_ms)
{
    lk_credential_times times = {.not_before = 0};
    uint8_t lot;
    keep_shown (self);
    const bool is_known = lk_credential_line_times (self->shown, &times);
    lk_random_fill (&lot, sizeof lot);
    lk_renewal_begin (&self->renewal, ends_ms,
                      is_known ? (times.not_after - times.not_before) * 1000
                               : 0,
                      times.since != 0, lot);
    self->credential_ends_ms = ends_ms;
    self->cut_ms = INT64_MAX;
}

static void
note_end (lk_far_way *self)
{
    const lk_roam_place *current = lk_roam_current (self->roam);
    if (current == NULL || !lk_servers_is_up (self->servers, current->server)) {
        return;
    }
    const int64_t ends_ms =
        lk_servers_credential_ends_ms (self->servers, current->server);
    if (ends_ms != self->credential_ends_ms) {
        begin (self, ends_ms);
    }
}

/*  -------------------------------------------------------- what is done */

static void
show (lk_far_way *self, int64_t now_ms)
{
    keep_shown (self);
    lk_servers_show_credential (self->servers);
    lk_renewal_shown (&self->renewal, now_ms);
}

/*  Somebody else may have written it. */
static void
look (lk_far_way *self, int64_t now_ms)
{
    const char *line =
        lk_credential_file_line (lk_servers_credential (self->servers));
    if (line[0] != '\0' && strcmp (line, self->shown) != 0) {
        show (self, now_ms);
    }
}

static void
ask (lk_far_way *self)
{
    const lk_roam_place *current = lk_roam_current (self->roam);
    if (current != NULL) {
        lk_message *message = lk_message_new (ROUTER_SERVICE, "RENEW");
        self->renew_serial =
            self->renew_serial == 0 ? RENEW_SERIAL : self->renew_serial + 1;
        lk_message_set_serial (message, self->renew_serial);
        lk_servers_send (self->servers, current->server, &message);
    }
}

/*  One that cannot be written is used all the same, by this process. */
static void
take (lk_far_way *self, const lk_message *message, int64_t now_ms)
{
    const char *line = lk_message_text (message, "credential");
    lk_problem ignored;
    lk_credential_times times;
    if (line == NULL || !lk_credential_line_times (line, &times)) {
        lk_renewal_failed (&self->renewal, 0, now_ms);
        return;
    }
    (void) !lk_credential_file_write (lk_servers_credential (self->servers),
                                      line, &ignored);
    show (self, now_ms);
}

/*  An issuer that is not there may come back. */
static void
take_failure (lk_far_way *self, const lk_message *message, int64_t now_ms)
{
    const char *word = lk_message_text (message, "error");
    const lk_err error = word != NULL ? lk_err_from_word (word) : LK_INVALID;
    const int64_t wait_s = lk_message_number (message, "wait", 0);
    const int64_t wait_ms = wait_s < WAIT_S_MAX ? wait_s * 1000 : 0;
    if (error == LK_DENIED || error == LK_INVALID) {
        lk_renewal_refused (&self->renewal, now_ms);
    } else {
        lk_renewal_failed (&self->renewal, wait_ms, now_ms);
    }
}

bool
lk_far_renew_hear (lk_far_way *self, const lk_message *message, int64_t now_ms)
{
    if (self->renew_serial == 0
        || lk_message_serial (message) != self->renew_serial) {
        return false;
    }
    if (lk_message_is (message, "LOGIN")) {
        take (self, message, now_ms);
    } else {
        take_failure (self, message, now_ms);
    }
    return true;
}

/*  -------------------------------------------------------- time */

/*  One that all servers refuse, as it was revoked, is over now. */
static void
tell (lk_far_way *self, int64_t now_ms)
{
    const bool ends_soon = lk_renewal_ends_soon (&self->renewal, now_ms);
    const bool is_denied = lk_servers_deny_credential (self->servers);
    const int64_t over_ms =
        is_denied ? now_ms : lk_renewal_over_ms (&self->renewal);
    lk_book_set_credential_end (
        self->book, over_ms < self->cut_ms ? over_ms : self->cut_ms);
    if (ends_soon != self->ends_soon) {
        self->ends_soon = ends_soon;
        lk_book_set_credential (self->book, ends_soon, now_ms);
    }
}

void
lk_far_renew_tick (lk_far_way *self, int64_t now_ms)
{
    lk_renewal_deed deed;
    note_end (self);
    while ((deed = lk_renewal_next (&self->renewal, now_ms))
           != LK_RENEWAL_IDLE) {
        if (deed == LK_RENEWAL_LOOK) {
            look (self, now_ms);
        } else {
            ask (self);
        }
    }
    tell (self, now_ms);
}

static bool
is_over (const lk_far_way *self, int64_t now_ms)
{
    return lk_servers_deny_credential (self->servers)
           || lk_renewal_has_ended (&self->renewal, now_ms);
}

/*  Another one, which is shown then, may count. */
bool
lk_far_renew_is_over (lk_far_way *self, int64_t now_ms)
{
    if (is_over (self, now_ms)) {
        look (self, now_ms);
    }
    return is_over (self, now_ms);
}

int64_t
lk_far_renew_deadline (const lk_far_way *self, int64_t now_ms)
{
    return lk_renewal_deadline (&self->renewal, now_ms);
}

void
lk_far_renew_init (lk_far_way *self)
{
    lk_renewal_init (&self->renewal);
    keep_shown (self);
    self->credential_ends_ms = self->cut_ms = INT64_MAX;
}
