/*  undelivered.c - what cannot be delivered now: cached, or reported back
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "undelivered.h"

#include "net/log.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  Room for any sentence with two names in it, and one more. */
typedef char sentence[2 * LK_ADDRESS_LEN_MAX + 128];

/*  -------------------------------------------------------- reported */

/*  One to many, and a complaint, is never answered. */
static bool
is_answered (const lk_frame_header *header)
{
    return !lk_command_is_complaint (header->command)
           && !lk_slice_is (header->to_parts.service, "*")
           && !lk_slice_is (header->to_parts.host, "*");
}

void
lk_undelivered_report (lk_router *self, const lk_frame_header *header,
                       lk_err error, const char *reason)
{
    char text[LK_ADDRESS_LEN_MAX + 1];
    if (!is_answered (header)) {
        self->count.lost++;
        return;
    }
    lk_slice_keep (header->from, text, sizeof text);
    lk_message *report = lk_message_new (text, "TRANSMISSIONREPORT");
    lk_message_set_serial (report, header->serial);
    lk_slice_keep (header->command, text, sizeof text);
    lk_message_set_text (report, "command", text);
    lk_slice_keep (header->to, text, sizeof text);
    lk_message_set_text (report, "to", text);
    lk_message_set_text (report, "error", lk_err_word (error));
    lk_message_set_text (report, "reason", reason);
    lk_router_post (self, &report);
}

/*  -------------------------------------------------------- cached */

/*  Who is waited for. */
static void
name_awaited (const lk_router *self, const lk_frame_header *header,
              char name[LK_ADDRESS_LEN_MAX + 1])
{
    const lk_slice host = header->to_parts.host;
    const bool here =
        lk_slice_is (host, ".") || (header->crossed && lk_slice_is (host, "?"));
    snprintf (name, LK_ADDRESS_LEN_MAX + 1, "%.*s@%.*s",
              (int) header->to_parts.service.size,
              header->to_parts.service.data,
              here ? (int) strlen (self->host) : (int) host.size,
              here ? self->host : host.data);
}

static void
note_cached (lk_router *self, const char *name, const char *reason)
{
    self->count.cached++;
    if (lk_cache_waiting (&self->cache, name) == 1) {
        lk_log_notice ("cache: a message waits: %s to=%s", reason, name);
    }
}

void
lk_undelivered_wait (lk_router *self, const lk_frame_header *header,
                     lk_err error, const char *reason)
{
    char name[LK_ADDRESS_LEN_MAX + 1];
    const char *problem = NULL;
    lk_err cached = LK_UNKNOWN;
    if (is_answered (header)) {
        name_awaited (self, header, name);
        cached =
            lk_cache_put (&self->cache, name, header, self->now_ms, &problem);
    }
    if (cached == LK_OK) {
        note_cached (self, name, reason);
        return;
    }
    sentence text;
    snprintf (text, sizeof text, "%s%s%s", reason, problem ? ", and " : "",
              problem ? problem : "");
    lk_undelivered_report (self, header, problem ? cached : error, text);
}

void
lk_undelivered_hop (lk_router *self, lk_hop *hop, lk_err error,
                    const char *reason)
{
    lk_frame_header header;
    const char *problem;
    lk_outbox box = hop->box;
    hop->box = (lk_outbox) {.budget = box.budget};
    for (lk_part *frame; (frame = lk_outbox_first (&box)) != NULL;) {
        size_t at = 0;
        while (lk_frame_next (lk_part_data (frame), lk_part_size (frame), &at,
                              &header, &problem)
               == LK_FRAME_MESSAGE) {
            lk_undelivered_wait (self, &header, error, reason);
        }
        lk_outbox_drop (&box);
    }
    lk_outbox_clear (&box);
}

/*  -------------------------------------------------------- over */

static void
report_late (lk_router *self, lk_cached *message)
{
    lk_frame_header header;
    sentence text;
    lk_cached_read (message, self->now_ms, &header);
    snprintf (text, sizeof text, "'%.*s' was not there for %u s",
              (int) header.to.size, header.to.data, message->ttl_s);
    self->count.expired++;
    lk_undelivered_report (self, &header, LK_TIMEDOUT, text);
}

void
lk_undelivered_work (lk_router *self)
{
    size_t count = 0;
    for (lk_cached *message;
         (message = lk_cache_take_due (&self->cache, self->now_ms)) != NULL;
         count++) {
        report_late (self, message);
        lk_cached_free (message);
    }
    if (count > 0) {
        lk_log_notice ("cache: nobody came in time, reported back messages=%zu",
                       count);
    }
}

/*  A service's messages are meant to outlive it; an application's are not: it
 *  could not hold the lock that it asked for. */
void
lk_undelivered_drop (lk_router *self, const lk_local *sender)
{
    char name[LK_ADDRESS_LEN_MAX + 1];
    if (sender->application && self->cache.count > 0) {
        snprintf (name, sizeof name, "%s@%s", sender->service, self->host);
        self->count.lost += lk_cache_drop (&self->cache, name);
    }
}
