/*  effects.c - carries out what the core says, in its order
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What could not be written is followed by nothing: the service ends. What
 *  the bus does not take is lost if it is for another lock service, since
 *  the core repeats that, and kept if it is an answer to an application
 *  (replies.c).
 */

#include "lockd.h"

#include "in.h"
#include "look.h"
#include "out.h"

#include "net/log.h"

#include <inttypes.h>
#include <time.h>

static void
publish_lease (lk_lockd *self, const lk_effect *effect)
{
    self->session = effect->session;
    self->lease_until_ms = effect->lease_until_ms;
    if (self->page) {
        lk_lease_page_set (self->page, effect->session, effect->lease_until_ms);
    }
}

static void
fail (lk_lockd *self)
{
    self->failed = true;
    lk_bus_stop (self->bus, 1);
}

static void
persist (lk_lockd *self, const lk_facts *facts)
{
    const lk_settings_id former = self->state.facts.active.settings;
    const lk_settings_id id = facts->active.settings;
    self->state.facts = *facts;
    if (!lk_lockd_persist (self)) {
        fail (self);
    } else if (!lk_settings_id_equal (former, id)) {
        lk_log_notice ("settings: version=%" PRIu64, id.version);
        lk_texts_adopt (self->texts, id, (int64_t) time (NULL));
        self->keys_are_old = true;
    }
}

static void
keep (lk_lockd *self, const lk_effect *effect)
{
    if (!lk_texts_keep (self->texts, effect->settings_id, effect->settings,
                        self->state.facts.active.settings)) {
        fail (self);
    }
    lk_lockd_note_write (self);
    self->keys_are_old |= lk_settings_id_equal (
        effect->settings_id, self->state.facts.active.settings);
}

static void
trace (const lk_effect *effect)
{
    static const lk_log_level level[] = {
        [LK_TRACE_DEBUG] = LK_LOG_DEBUG,   [LK_TRACE_INFO] = LK_LOG_INFO,
        [LK_TRACE_NOTICE] = LK_LOG_NOTICE, [LK_TRACE_WARNING] = LK_LOG_WARNING,
        [LK_TRACE_ERROR] = LK_LOG_ERROR,
    };
    LK_LOG (level[effect->level], "%s", effect->text);
}

static void
carry_out (lk_lockd *self, const lk_effect *effect)
{
    switch (effect->type) {
    case LK_DO_PERSIST:
        persist (self, &effect->facts);
        break;
    case LK_DO_KEEP:
        keep (self, effect);
        break;
    case LK_DO_RECORD:
        lk_lockd_record (self, effect->record);
        break;
    case LK_DO_SEND:
        lk_lockd_send_to_peer (self, effect->message);
        break;
    case LK_DO_TELL:
        lk_lockd_tell (self, &effect->answer);
        break;
    case LK_DO_ENDED:
        lk_lockd_note_silent (self, &effect->answer);
        break;
    case LK_DO_LEASE:
        publish_lease (self, effect);
        break;
    case LK_DO_STATUS:
        self->status_changed = true;
        break;
    case LK_DO_CHANGED:
        lk_lockd_changed (self, effect->error, effect->text);
        break;
    case LK_DO_TRACE:
        trace (effect);
        break;
    case LK_DO_DROPPED:
        lk_lockd_note_dropped (self, effect->ticket);
        break;
    case LK_DO_ALERT:
        lk_lockd_alert (self, effect);
        break;
    }
}

void
lk_lockd_carry_out (lk_lockd *self, const lk_effects *effects)
{
    for (size_t i = 0; i < effects->count && !self->failed; i++) {
        carry_out (self, &effects->item[i]);
    }
    lk_lockd_watch_hosts (self);
    if (self->status_changed && !self->failed) {
        self->status_changed = false;
        lk_lockd_tell_status (self, NULL, NULL);
    }
}
