/*  settings.c - the text of the cluster's settings, as decrees name it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings.h"

#include "election_private.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

/*  -------------------------------------------------------- texts */

lk_settings_id
lk_settings_id_of (const lk_core *core, uint64_t version, lk_name text)
{
    lk_settings_id id = {.version = version};
    core->config.hash_text (text, id.hash);
    return id;
}

static bool
fits (const lk_core *core, lk_settings_id id, lk_name text)
{
    return lk_settings_id_equal (id,
                                 lk_settings_id_of (core, id.version, text));
}

lk_name
lk_settings_name (const lk_settings_text *self)
{
    return (lk_name) {self->data, self->size};
}

void
lk_settings_unset (lk_settings_text *self)
{
    lk_free (self->data);
    *self = (lk_settings_text) {0};
}

/*  An empty text is one, too. */
void
lk_settings_set (lk_settings_text *self, lk_settings_id id, lk_name text)
{
    char *data = lk_alloc ((size_t) text.size + 1);
    if (text.size > 0) {
        memcpy (data, text.data, text.size);
    }
    lk_settings_unset (self);
    *self = (lk_settings_text) {.id = id, .data = data, .size = text.size};
}

static bool
has (const lk_settings_text *self, lk_settings_id id)
{
    return self->data && lk_settings_id_equal (self->id, id);
}

void
lk_settings_init (lk_settings *self, const lk_core *core)
{
    const lk_name text = core->config.settings;
    *self = (lk_settings) {.told_by = LK_NOBODY, .asked_ms = LK_LONG_AGO};
    self->active.id = core->facts.active.settings;
    if (text.data) {
        lk_settings_set (&self->active, self->active.id, text);
    }
    if (core->config.next.data) {
        lk_settings_set (&self->next, core->config.next_id, core->config.next);
    }
}

void
lk_settings_clear (lk_settings *self)
{
    lk_settings_unset (&self->active);
    lk_settings_unset (&self->next);
}

bool
lk_election_lacks_settings (const lk_election *election)
{
    const lk_settings_text *active = &election->settings.active;
    return active->id.version != 0 && !active->data;
}

lk_name
lk_election_settings (const lk_election *election)
{
    return lk_settings_name (&election->settings.active);
}

/*  protocol 9.17 */
bool
lk_settings_suffice (const lk_election *election, lk_settings_id id)
{
    const lk_settings *self = &election->settings;
    return id.version == 0 || lk_settings_id_equal (self->active.id, id)
           || has (&self->next, id);
}

void
lk_settings_keep (lk_election *election, lk_settings_id id, lk_name text)
{
    lk_settings_set (&election->settings.next, id, text);
    lk_out_keep (election->core, id, text);
}

void
lk_settings_adopted (lk_election *election)
{
    lk_settings *self = &election->settings;
    const lk_settings_id id = election->core->facts.active.settings;
    if (lk_settings_id_equal (self->active.id, id)) {
        return;
    }
    LK_ASSERT (id.version == 0 || has (&self->next, id));
    lk_settings_unset (&self->active);
    if (id.version != 0) {
        self->active = self->next;
        self->next = (lk_settings_text) {0};
    }
    lk_out_status (election->core);
}

/*  -------------------------------------------------------- asking */

static bool
may_ask (const lk_election *election)
{
    return election->core->now_ms - election->settings.asked_ms >= LK_RESEND_MS;
}

static void
ask (lk_election *election, lk_host host, const lk_decree *decree)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_WANTING);
    message->term = decree->term;
    message->as.settings.id = decree->settings;
    election->settings.asked_ms = election->core->now_ms;
    lk_out_send (election->core, message, host);
}

/*  What is told of again and again is what others have: an older decree, too,
 *  takes the place of one that nobody gives the text of. */
void
lk_settings_want (lk_election *election, lk_host from, const lk_decree *decree)
{
    lk_settings *self = &election->settings;
    const bool is_later = lk_term_compare (decree->term, self->wanted.term) > 0;
    if (from == election->core->config.self
        || (!is_later && !may_ask (election))) {
        return;
    }
    if (!lk_term_equal (decree->term, self->wanted.term)
        || !self->acknowledges) {
        self->acknowledges = false;
        self->told_by = from;
    }
    self->wanted = *decree;
    ask (election, from, decree);
}

void
lk_settings_acknowledge (lk_election *election, lk_host from,
                         const lk_decree *decree)
{
    lk_settings *self = &election->settings;
    if (self->wanted.leader_count > 0
        && lk_term_equal (decree->term, self->wanted.term)) {
        self->told_by = from;
        self->acknowledges = true;
    }
}

void
lk_election_settings_offered (lk_election *election, lk_host from,
                              const lk_decree *decree)
{
    const lk_settings_id id = election->core->facts.active.settings;
    if (lk_election_lacks_settings (election)
        && from != election->core->config.self
        && lk_settings_id_equal (decree->settings, id) && may_ask (election)) {
        ask (election, from, decree);
    }
}

/*  -------------------------------------------------------- messages */

void
lk_on_wanting (lk_election *election, const lk_lock_message *message)
{
    const lk_settings *self = &election->settings;
    const lk_settings_id id = message->as.settings.id;
    const lk_settings_text *text =
        has (&self->active, id) ? &self->active : &self->next;
    if (!has (text, id)) {
        return;
    }
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_SETTINGS);
    answer->term = message->term;
    answer->as.settings.id = id;
    answer->as.settings.text =
        lk_out_name (election->core, lk_settings_name (text));
    lk_out_send (election->core, answer, message->from);
}

static void
mend (lk_election *election, lk_settings_id id, lk_name text)
{
    lk_settings_set (&election->settings.active, id, text);
    lk_out_keep (election->core, id, text);
    lk_out_trace (election->core, LK_TRACE_NOTICE,
                  "settings: version=%llu had to be fetched again",
                  (unsigned long long) id.version);
    lk_out_status (election->core);
}

/*  protocol 9.17 */
bool
lk_settings_take (lk_election *election, lk_settings_id id, lk_name text)
{
    const lk_settings *self = &election->settings;
    const bool is_wanted = self->wanted.leader_count > 0
                           && lk_settings_id_equal (self->wanted.settings, id);
    const bool is_lacking = lk_election_lacks_settings (election)
                            && lk_settings_id_equal (self->active.id, id);
    if ((!is_wanted && !is_lacking) || !fits (election->core, id, text)) {
        return false;
    }
    if (is_lacking) {
        mend (election, id, text);
    } else {
        lk_settings_keep (election, id, text);
    }
    return is_wanted;
}
