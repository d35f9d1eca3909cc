/*  edits.c - LOCKSETTINGS: the cluster's settings, and changes of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Every lock service tells the settings that it has, and those that it had. A
 *  change is made by the first leader alone, as one of members is; any other
 *  names the leaders.
 */

#include "edits.h"

#include "in.h"
#include "look.h"
#include "out.h"
#include "text_hash.h"
#include "texts.h"

#include "net/log.h"
#include "net/zpl.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HASH_SIZE 33 /* of its text */

/*  -------------------------------------------------------- hashes */

static void
write_hash (lk_settings_id id, char text[HASH_SIZE])
{
    snprintf (text, HASH_SIZE, "%016" PRIx64 "%016" PRIx64, id.hash[0],
              id.hash[1]);
}

/*  Of version 0 there is none. */
static bool
read_id (const lk_message *request, lk_settings_id *id)
{
    const char *hash = lk_message_text (request, "hash");
    const int64_t version = lk_message_number (request, "base", -1);
    char again[HASH_SIZE];
    *id = (lk_settings_id) {.version = (uint64_t) version};
    if (version == 0) {
        return true;
    }
    if (version < 0 || !hash
        || sscanf (hash, "%16" SCNx64 "%16" SCNx64, &id->hash[0], &id->hash[1])
               != 2) {
        return false;
    }
    write_hash (*id, again);
    return strcmp (hash, again) == 0;
}

/*  -------------------------------------------------------- answers */

static void
fail (lk_lockd *self, const lk_demand_change *demand, lk_err error,
      const char *text)
{
    lk_message *answer = lk_lockd_new_answer (demand, "LOCKFAILED");
    lk_message_set_text (answer, "error", lk_err_word (error));
    lk_message_set_text (answer, "text", text);
    (void) lk_lockd_send (self, answer);
}

/*  Takes out what it says of zones, which is for admins. */
static void
hide_zones (char *text)
{
    lk_zpl zpl;
    lk_zpl_line line;
    bool is_of_zones = false;
    char *end = text;
    char *copy = lk_strdup (text);
    lk_zpl_init (&zpl, copy);
    while (lk_zpl_next (&zpl, &line)) {
        if (line.name.size > 0 || line.wrong) {
            is_of_zones = line.path && strncmp (line.path, "zones", 5) == 0
                          && (line.path[5] == '\0' || line.path[5] == '/');
        }
        if (!is_of_zones) {
            memcpy (end, line.whole.data, line.whole.size);
            end += line.whole.size;
            *end++ = '\n';
        }
    }
    *end = '\0';
    lk_free (copy);
}

static void
set_text (lk_message *message, lk_name text, bool all)
{
    char *copy = lk_alloc ((size_t) text.size + 2);
    memcpy (copy, text.size ? text.data : "", text.size);
    if (!all) {
        hide_zones (copy);
    }
    lk_message_set_text (message, "text", copy);
    lk_free (copy);
}

static void
set_version (lk_message *message, lk_settings_id id)
{
    char hash[HASH_SIZE];
    write_hash (id, hash);
    lk_message_set_number (message, "version", (int64_t) id.version);
    if (id.version != 0) {
        lk_message_set_text (message, "hash", hash);
    }
}

void
lk_lockd_set_base (lk_message *message, lk_settings_id id)
{
    char hash[HASH_SIZE];
    write_hash (id, hash);
    lk_message_set_number (message, "base", (int64_t) id.version);
    if (id.version != 0) {
        lk_message_set_text (message, "hash", hash);
    }
}

/*  How much of them is told. */
typedef enum { NO_TEXT, NO_ZONES, ALL } told;

/*  Its part of them. Without text it is for who wants a change that is not
 *  ours to make. */
static void
answer (lk_lockd *self, const lk_demand_change *demand,
        const lk_node_status *status, told much)
{
    const lk_decree *decree = lk_lockd_decree (self, status);
    const lk_settings_row *row = lk_texts_find (self->texts, status->settings);
    lk_message *message = lk_lockd_new_answer (demand, "LOCKSETTINGS");
    lk_message_set_text (message, "served_by", lk_bus_host (self->bus));
    set_version (message, status->settings);
    if (row) {
        lk_message_set_number (message, "since", row->since);
    }
    if (much != NO_TEXT
        && (status->settings_text.data || status->settings.version == 0)) {
        set_text (message, status->settings_text, much == ALL);
    }
    lk_lockd_add_leaders (self, message, decree);
    (void) lk_lockd_send (self, message);
}

/*  A former version, as this host had it. */
static void
answer_former (lk_lockd *self, const lk_demand_change *demand, int64_t version,
               told much)
{
    const lk_settings_row *row =
        lk_texts_of_version (self->texts, (uint64_t) version);
    if (!row) {
        fail (self, demand, LK_UNKNOWN,
              "this host never had that version, or has it no more");
        return;
    }
    lk_message *message = lk_lockd_new_answer (demand, "LOCKSETTINGS");
    lk_message_set_text (message, "served_by", lk_bus_host (self->bus));
    set_version (message, row->id);
    lk_message_set_number (message, "since", row->since);
    set_text (message, row->text, much == ALL);
    (void) lk_lockd_send (self, message);
}

static void
answer_history (lk_lockd *self, const lk_demand_change *demand,
                const lk_node_status *status)
{
    lk_message *message = lk_lockd_new_answer (demand, "LOCKSETTINGS");
    const lk_settings_row *one;
    lk_message_set_text (message, "served_by", lk_bus_host (self->bus));
    set_version (message, status->settings);
    for (size_t i = 0; (one = lk_texts_at (self->texts, i)) != NULL; i++) {
        if (one->since == 0) {
            continue;
        }
        lk_message *row = lk_message_row_new ();
        set_version (row, one->id);
        lk_message_set_number (row, "since", one->since);
        lk_message_set_number (row, "size", one->text.size);
        lk_message_set_flag (row, "active",
                             lk_settings_id_equal (one->id, status->settings));
        lk_message_add_row (message, "versions", &row);
    }
    (void) lk_lockd_send (self, message);
}

/*  -------------------------------------------------------- changes */

static bool
is_repeated (const lk_demand_change *one, const lk_demand_change *other)
{
    return one->edits && lk_settings_id_equal (one->wanted, other->wanted)
           && strcmp (one->asker, other->asker) == 0;
}

/*  The core answers now or later, to the latest question of this asker. */
static bool
begin (lk_lockd *self, const lk_demand_change *demand,
       const lk_node_status *status, lk_settings_id base, const char *text,
       lk_event *event)
{
    lk_problem problem;
    /*  Settings in force may be asked for again, even if by them the asker may
     *  change nothing any more. */
    const bool is_so = lk_settings_id_equal (demand->wanted, status->settings);
    const char *why =
        is_so ? NULL
              : lk_lockd_find_fault (self, demand, status, text, &problem);
    if (why) {
        fail (self, demand, LK_REFUSED, why);
        return false;
    }
    lk_log_notice ("asked to change the settings from version=%" PRIu64
                   " by=%s",
                   base.version, demand->asker);
    self->change = *demand;
    *event = (lk_event) {.type = LK_ON_CHANGE,
                         .host = LK_NOBODY,
                         .settings = {text, (uint16_t) strlen (text)},
                         .base = base};
    return true;
}

static bool
take_change (lk_lockd *self, const lk_message *request,
             lk_demand_change *demand, const lk_node_status *status,
             lk_event *event, char **kept)
{
    lk_settings_id base;
    const char *text = lk_message_text (request, "text");
    lk_demand_change *change = &self->change;
    if (!text || !read_id (request, &base)) {
        lk_lockd_fail (self, request, LK_INVALID,
                       "name the 'text', and the 'base' and 'hash' of the "
                       "version that was edited");
        return false;
    }
    demand->edits = true;
    demand->wanted = lk_text_id (base.version + 1,
                                 (lk_name) {text, (uint16_t) strlen (text)});
    if (change->asker[0] != '\0' && is_repeated (change, demand)) {
        change->serial = demand->serial;
    } else if (change->asker[0] != '\0') {
        fail (self, demand, LK_OVERLOADED, "another change is under way");
    } else if (lk_lockd_is_first_leader (self, status)) {
        *kept = lk_strdup (text);
        return begin (self, demand, status, base, *kept, event);
    } else if (status->decree.leader_count > 0) {
        answer (self, demand, status, NO_TEXT);
    } else {
        fail (self, demand, LK_ISOLATED, "no leaders are known here");
    }
    return false;
}

bool
lk_lockd_ask_settings (lk_lockd *self, const lk_message *request,
                       const lk_view *view, lk_event *event, char **text)
{
    const told much = view && view->who.role < LK_ROLE_ADMIN ? NO_ZONES : ALL;
    lk_node_status status;
    lk_demand_change demand = {.serial = lk_message_serial (request)};
    const int64_t version = lk_message_number (request, "version", -1);
    *text = NULL;
    snprintf (demand.asker, sizeof demand.asker, "%s",
              lk_message_from (request));
    lk_node_get_status (self->node, &status);
    if (lk_message_has (request, "text") || lk_message_has (request, "base")) {
        return take_change (self, request, &demand, &status, event, text);
    }
    if (lk_message_flag (request, "history")) {
        answer_history (self, &demand, &status);
    } else if (version >= 0) {
        answer_former (self, &demand, version, much);
    } else {
        answer (self, &demand, &status, much);
    }
    return false;
}

void
lk_lockd_edited (lk_lockd *self, const lk_demand_change *demand, lk_err error,
                 const char *text)
{
    lk_node_status status;
    lk_node_get_status (self->node, &status);
    if (error == LK_OK) {
        answer (self, demand, &status, ALL);
    } else if (error == LK_ISOLATED
               && !lk_lockd_is_first_leader (self, &status)) {
        answer (self, demand, &status, NO_TEXT);
    } else {
        fail (self, demand, error, text);
    }
}
