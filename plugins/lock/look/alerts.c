/*  alerts.c - a leader's table was wrong: logged, counted, told to who listens
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The core sees to it that each alert comes here once on every host.
 */

#include "look.h"
#include "out.h"

#include "net/log.h"

#include <stdio.h>
#include <time.h>

static void
keep (lk_lockd *self, const char *text)
{
    struct tm utc;
    time_t now = time (NULL);
    size_t used = 0;
    if (gmtime_r (&now, &utc)) {
        used = strftime (self->alert, sizeof self->alert, "%FT%TZ ", &utc);
    }
    snprintf (self->alert + used, sizeof self->alert - used, "%s", text);
    self->alerts++;
}

static void
set_host (const lk_lockd *self, lk_message *message, const char *field,
          lk_host host)
{
    lk_message_set_text (message, field,
                         lk_hostmap_name (&self->hostmap, host));
}

void
lk_lockd_alert (lk_lockd *self, const lk_effect *effect)
{
    const lk_lock_message *message = effect->message;
    const lk_msg_alert *alert = &message->as.alert;
    lk_log_error ("ALERT %s", effect->text);
    keep (self, effect->text);
    lk_message *event = lk_message_new ("*@.", "LOCKALERT");
    set_host (self, event, "host", alert->host);
    lk_message_set_text (event, "cause", lk_alert_words[alert->cause]);
    set_host (self, event, "home", alert->home);
    lk_message_set_number (event, "term", (int64_t) message->term.number);
    lk_message_set_number (event, "sequence", (int64_t) alert->sequence);
    lk_message_set_hex (event, "hash", alert->hash);
    lk_message_set_hex (event, "expected", alert->expected);
    set_host (self, event, "found_by", message->from);
    lk_message_set_number (event, "alerts", (int64_t) self->alerts);
    (void) lk_lockd_send (self, event);
    self->status_changed = true;
}
