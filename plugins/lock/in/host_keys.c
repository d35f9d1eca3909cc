/*  host_keys.c - the keys of hosts: what the settings have, and what they lack
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Our router is told which keys the settings have. It answers with those that
 *  they lack: then the first leader is asked to put them there, all at once, as
 *  `lockkeeper settings set` would, until they are there. Each change costs an
 *  election, and holds up changes of members until it is made: so some are
 *  gathered, and none is asked for before the core would make it.
 */

#include "domains.h"
#include "edits.h"
#include "in.h"
#include "out.h"
#include "text_hash.h"

#include "net/log.h"
#include "net/zpl.h"
#include "settings/arbiters.h"
#include "settings/common.h"
#include "settings/edit.h"
#include "settings/zones.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/*  Others may follow; who leads is not known yet; the leader was asked; it has
 *  refused. And between two changes of settings, protocol 9.17. */
enum { GATHER_MS = 1000, AGAIN_MS = 5000, REFUSED_MS = 60000, SETTLE_S = 11 };

#define SERIAL 1 /* of our questions, by which the answers are known */

/*  -------------------------------------------------------- the router */

/*  Those that our router dials, and by which keys. */
static void
add_arbiters (lk_message *message, const char *text)
{
    lk_arbiter arbiters[LK_ARBITERS_MAX];
    char line[LK_ARBITER_LINE_SIZE];
    const size_t count = lk_common_settings_arbiters (text, arbiters);
    for (size_t i = 0; i < count; i++) {
        lk_arbiter_write (&arbiters[i], line);
        lk_message_add_item (message, "arbiters", line);
    }
}

static void
tell (lk_lockd *self)
{
    lk_host_key keys[LK_HOST_KEYS_MAX];
    char line[LK_HOST_KEY_LINE_SIZE];
    lk_node_status status;
    lk_node_get_status (self->node, &status);
    const char *text = lk_lockd_settings_text (&status);
    if (text == NULL) {
        return;
    }
    lk_message *message = lk_message_new ("router@.", "HOSTKEYS");
    const size_t count = lk_common_settings_keys (text, keys);
    for (size_t i = 0; i < count; i++) {
        lk_host_key_write (&keys[i], line);
        lk_message_add_item (message, "keys", line);
    }
    add_arbiters (message, text);
    lk_message_set_flag (message, "open",
                         lk_common_settings_may_change (text, ""));
    (void) lk_lockd_send (self, message);
}

/*  The policy of discovery, and where hosts are: as many as it can keep. */
static void
add_finding (const lk_lockd *self, lk_message *message, const char *text)
{
    char line[LK_HOST_DOMAIN_LINE_SIZE];
    lk_host_domain domains[LK_LOCKD_DOMAINS];
    const size_t count = lk_lockd_domains (self, text, domains);
    const lk_discovery discovery = lk_common_settings_discovery (text);
    lk_message_set_text (message, "discovery", lk_discovery_words[discovery]);
    for (size_t i = 0; i < count && i < LK_DOMAINS_MAX; i++) {
        lk_host_domain_write (&domains[i], line);
        lk_message_add_item (message, "domains", line);
    }
}

/*  Zones, who may speak for them, and which credentials count no more: all as
 *  the settings have it. */
static void
add_zones (lk_message *message, const char *text)
{
    static const struct {
        const char *field, *key;
    } lists[] = {{"zones", LK_SETTING_ZONE},
                 {"issuers", LK_SETTING_ISSUER},
                 {"revoked", LK_SETTING_REVOKED}};
    char value[LK_ZPL_LINE_SIZE_MAX + 1];
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (size_t j = 0; lk_common_settings_value (text, lists[i].key, j,
                                                     value, sizeof value);
             j++) {
            lk_message_add_item (message, lists[i].field, value);
        }
    }
}

static void
tell_clients (lk_lockd *self)
{
    char line[LK_CLIENT_KEY_LINE_SIZE];
    lk_node_status status;
    lk_node_get_status (self->node, &status);
    const char *text = lk_lockd_settings_text (&status);
    if (text == NULL) {
        return;
    }
    lk_client_key *keys = lk_alloc (LK_CLIENT_KEYS_MAX * sizeof *keys);
    lk_message *message = lk_message_new ("router@.", "CLIENTKEYS");
    const size_t count = lk_common_settings_clients (text, keys);
    for (size_t i = 0; i < count; i++) {
        lk_client_key_write (&keys[i], line);
        lk_message_add_item (message, "keys", line);
    }
    add_finding (self, message, text);
    add_zones (message, text);
    (void) lk_lockd_send (self, message);
    lk_free (keys);
}

void
lk_lockd_tell_keys (lk_lockd *self)
{
    self->keys_are_due = false;
    tell (self);
    if (!self->options.arbiter) {
        tell_clients (self);
    }
}

/*  Time has come: what is lacking now the router says. */
void
lk_lockd_list_keys (lk_lockd *self)
{
    if (self->keys_at_ms <= lk_bus_now (self->bus)) {
        self->keys_at_ms = INT64_MAX;
        self->keys_are_due = true;
        tell (self);
    }
}

/*  -------------------------------------------------------- the text */

typedef struct {
    char line[LK_HOST_KEYS_MAX][LK_HOST_KEY_LINE_SIZE];
    const char *value[LK_HOST_KEYS_MAX + 1]; /* NULL behind the last */
    size_t count;
} lines;

static void
add_line (lines *self, const lk_host_key *key)
{
    if (self->count < LK_HOST_KEYS_MAX) {
        lk_host_key_write (key, self->line[self->count]);
        self->value[self->count] = self->line[self->count];
        self->value[++self->count] = NULL;
    }
}

/*  Those of that field which are not among `keys`. */
static void
add_new (lines *self, const lk_message *message, const char *field,
         const lk_host_key *keys, size_t count)
{
    lk_host_key key;
    const char *item;
    for (size_t i = 0; (item = lk_message_item (message, field, i)) != NULL;
         i++) {
        if (lk_host_key_read (&key, item)
            && lk_host_key_find (keys, count, key.key) == NULL) {
            add_line (self, &key);
        }
    }
}

/*  With new ones ahead of those that are there. The first ones bring all that
 *  the router knows; later on what is lacking, and is not new, was withdrawn.
 *  The caller's; NULL: nothing is lacking. */
static char *
text_with (const char *text, const lk_message *message)
{
    lk_host_key keys[LK_HOST_KEYS_MAX];
    const size_t count = lk_common_settings_keys (text, keys);
    lines *all = lk_alloc (sizeof *all);
    char *with = NULL;
    add_new (all, message, "pending", keys, count);
    const bool is_news = all->count > 0;
    if (is_news && count == 0) {
        add_new (all, message, "accepted", keys, count);
    }
    for (size_t i = 0; i < count; i++) {
        add_line (all, &keys[i]);
    }
    if (is_news) {
        with = lk_edit_text (text, LK_SETTING_KEY, all->value);
    }
    lk_free (all);
    return with;
}

/*  -------------------------------------------------------- the leader */

static lk_message *
question (const lk_lockd *self, const lk_node_status *status, const char *host,
          const char *text)
{
    char to[LK_ADDRESS_LEN_MAX + 1], from[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "lock@%s", host);
    snprintf (from, sizeof from, "lock@%s", lk_bus_host (self->bus));
    lk_message *message = lk_message_new (to, "LOCKSETTINGS");
    lk_message_set_from (message, from);
    lk_message_set_serial (message, SERIAL);
    lk_lockd_set_base (message, status->settings);
    lk_message_set_text (message, "text", text);
    return message;
}

/*  We may be the first leader. */
static bool
ask (lk_lockd *self, const lk_node_status *status, const char *text,
     lk_event *event, char **kept)
{
    const lk_decree *decree = lk_lockd_decree (self, status);
    bool has_event = false;
    self->keys_at_ms = lk_bus_now (self->bus) + AGAIN_MS;
    if (decree->leader_count == 0) {
        return false;
    }
    lk_message *message =
        question (self, status,
                  lk_hostmap_name (&self->hostmap, decree->leader[0]), text);
    if (lk_lockd_is_first_leader (self, status)) {
        has_event = lk_lockd_ask_settings (self, message, NULL, event, kept);
        lk_message_destroy (&message);
    } else {
        (void) lk_lockd_send (self, message);
    }
    return has_event;
}

/*  Until the core makes the next change of settings. */
static int64_t
settle_ms (const lk_lockd *self, const lk_node_status *status)
{
    const lk_settings_row *row = lk_texts_find (self->texts, status->settings);
    const int64_t left_s =
        row != NULL ? row->since + SETTLE_S - (int64_t) time (NULL) : 0;
    return left_s < 0          ? 0
           : left_s > SETTLE_S ? (int64_t) SETTLE_S * 1000
                               : left_s * 1000;
}

bool
lk_lockd_take_keys (lk_lockd *self, const lk_message *message, lk_event *event,
                    char **kept)
{
    lk_node_status status;
    lk_node_get_status (self->node, &status);
    const char *text = lk_lockd_settings_text (&status);
    const int64_t now = lk_bus_now (self->bus);
    const int64_t left_ms = settle_ms (self, &status);
    *kept = NULL;
    if (text == NULL || self->keys_at_ms != INT64_MAX
        || !lk_message_has (message, "pending")) {
        return false;
    }
    if (!self->keys_are_due || left_ms > 0) {
        self->keys_at_ms = now + (left_ms > GATHER_MS ? left_ms : GATHER_MS);
        return false;
    }
    self->keys_are_due = false;
    char *with = text_with (text, message);
    const bool has_event =
        with != NULL && ask (self, &status, with, event, kept);
    lk_free (with);
    return has_event;
}

/*  Why it takes so long is told once for each reason. */
static void
take_refusal (lk_lockd *self, const lk_message *message)
{
    const char *text = lk_message_text (message, "text");
    const char *word = lk_message_text (message, "error");
    text = text != NULL ? text : "it does not say why";
    if (word != NULL
        && (lk_err_from_word (word) == LK_REFUSED
            || lk_err_from_word (word) == LK_INVALID)) {
        self->keys_at_ms = lk_bus_now (self->bus) + REFUSED_MS;
    }
    if (strncmp (self->keys_why, text, sizeof self->keys_why - 1) != 0) {
        snprintf (self->keys_why, sizeof self->keys_why, "%s", text);
        lk_log_warning ("keys: not in the settings yet: %s; `lockkeeper keys "
                        "show` tells which leader=%s",
                        self->keys_why, lk_message_from (message));
    }
}

bool
lk_lockd_take_keys_answer (lk_lockd *self, const lk_message *message)
{
    const bool is_refusal = lk_message_is (message, "LOCKFAILED");
    if (lk_message_serial (message) != SERIAL
        || lk_message_has (message, "base")
        || (!is_refusal && !lk_message_is (message, "LOCKSETTINGS"))) {
        return false;
    }
    if (is_refusal) {
        take_refusal (self, message);
    }
    return true;
}
