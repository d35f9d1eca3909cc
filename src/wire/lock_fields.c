/*  lock_fields.c - fields of a message, written or read by one call
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What both notations have in common: ranges, and what is made of several
 *  values.
 */

#include "wire/lock_fields.h"
#include "util/assert.h"
#include "wire/address.h"
#include "wire/lock_notation.h"

#include <lockkeeper/error.h>
#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- problems */

bool
lk_fields_failed (const lk_fields *self)
{
    return self->problem[0];
}

void
lk_fields_fail (lk_fields *self, const char *name, const char *what)
{
    if (!lk_fields_failed (self)) {
        snprintf (self->problem, sizeof self->problem, "field '%s': %s", name,
                  what);
    }
}

/*  -------------------------------------------------------- the hostmap */

/*  Hardly ever is a host new: then the hostmap is kept as it was. */
static lk_host
intern_new (lk_fields *self, const char *name, uint64_t id)
{
    if (!self->before) {
        self->before =
            lk_arena_dup (self->arena, self->hostmap, sizeof *self->hostmap);
    }
    const lk_host host = lk_hostmap_intern (self->hostmap, name, id);
    self->full =
        self->full || (host == LK_NOBODY && lk_hostmap_is_full (self->hostmap));
    return host;
}

/*  Others are no witnesses of whose an id is: where strangers are left out, or
 *  may be, none is bound to a name. */
static bool
takes_stranger (const lk_fields *self, const char *name)
{
    return self->strangers == LK_STRANGERS_IN
           || (self->strangers == LK_STRANGERS_IF_ROOM
               && !lk_hostmap_is_full (self->hostmap)
               && lk_hostmap_find (self->hostmap, name, 0) == LK_NOBODY);
}

static lk_host
find_known (const lk_fields *self, const char *name, uint64_t id)
{
    const lk_host host =
        id ? LK_NOBODY : lk_hostmap_find_name (self->hostmap, name);
    return host != LK_NOBODY ? host : LK_STRANGER;
}

lk_host
lk_fields_intern (lk_fields *self, const char *name, uint64_t id)
{
    const lk_host host = lk_hostmap_find (self->hostmap, name, id);
    if (host != LK_NOBODY) {
        return host;
    }
    if (!lk_address_is_name (lk_slice_of (name))) {
        return LK_NOBODY;
    }
    return takes_stranger (self, name) ? intern_new (self, name, id)
                                       : find_known (self, name, id);
}

void
lk_fields_take_strangers (lk_fields *self, lk_strangers strangers)
{
    self->strangers = self->any_host ? LK_STRANGERS_IN : strangers;
}

void
lk_fields_undo (lk_fields *self)
{
    if (self->before) {
        *self->hostmap = *self->before;
    }
}

/*  -------------------------------------------------------- plain values */

bool
lk_fields_has (lk_fields *self, const char *name, bool wanted)
{
    return self->notation->has (self, name, wanted);
}

bool
lk_fields_has_since (lk_fields *self, uint8_t level, const char *name,
                     bool wanted)
{
    return self->level >= level && lk_fields_has (self, name, wanted);
}

void
lk_field_flag (lk_fields *self, const char *name, bool *value)
{
    self->notation->flag (self, name, value);
}

void
lk_field_flag_if_set (lk_fields *self, const char *name, bool *value)
{
    self->notation->mark (self, name, value);
}

/*  All integers pass here. Returns the number, or `value` if there is none. */
static int64_t
integer (lk_fields *self, const char *name, int64_t value, int64_t least,
         int64_t most)
{
    int64_t number = value;
    LK_ASSERT (!self->writing || (value >= least && value <= most));
    if (!self->notation->integer (self, name, &number, least < 0)
        || self->writing) {
        return value;
    }
    if (number < least || number > most) {
        lk_fields_fail (self, name, "out of range");
        return value;
    }
    return number;
}

void
lk_field_clock (lk_fields *self, const char *name, int64_t *value)
{
    *value = integer (self, name, *value, -LK_COUNT_MAX, LK_COUNT_MAX);
}

void
lk_field_span (lk_fields *self, const char *name, int64_t *value, int64_t least)
{
    *value = integer (self, name, *value, least, LK_COUNT_MAX);
}

void
lk_field_count (lk_fields *self, const char *name, uint64_t *value)
{
    *value = (uint64_t) integer (self, name, (int64_t) *value, 0, LK_COUNT_MAX);
}

void
lk_field_small (lk_fields *self, const char *name, uint8_t *value, uint8_t most)
{
    *value = (uint8_t) integer (self, name, *value, 0, most);
}

void
lk_field_port (lk_fields *self, const char *name, uint16_t *value)
{
    *value = (uint16_t) integer (self, name, *value, 0, UINT16_MAX);
}

void
lk_field_number32 (lk_fields *self, const char *name, uint32_t *value,
                   uint32_t most)
{
    *value = (uint32_t) integer (self, name, *value, 0, most);
}

void
lk_field_number32_if_any (lk_fields *self, const char *name, uint32_t *value,
                          uint32_t most)
{
    if (lk_fields_has (self, name, *value != 0)) {
        lk_field_number32 (self, name, value, most);
    }
}

void
lk_field_hex (lk_fields *self, const char *name, uint64_t *value)
{
    self->notation->hex (self, name, value);
}

void
lk_field_ip (lk_fields *self, const char *name, uint8_t bytes[16])
{
    self->notation->ip (self, name, bytes);
}

void
lk_field_word (lk_fields *self, const char *name, int *value,
               const char *const *words, size_t count)
{
    LK_ASSERT (!self->writing || (size_t) *value < count);
    self->notation->word (self, name, value, words, count);
}

void
lk_field_text (lk_fields *self, const char *name, lk_name *value,
               size_t size_max)
{
    lk_slice text = {value->data ? value->data : "", value->size};
    if (!self->notation->text (self, name, &text) || self->writing) {
        return;
    }
    if (text.size > size_max) {
        lk_fields_fail (self, name, "too long");
        return;
    }
    *value = (lk_name) {text.data, (uint16_t) text.size};
}

void
lk_field_error (lk_fields *self, const char *name, int *value)
{
    char word[32] = "";
    lk_slice text = lk_slice_of (lk_err_word ((lk_err) *value));
    if (!self->notation->text (self, name, &text) || self->writing) {
        return;
    }
    if (text.size < sizeof word) {
        lk_slice_keep (text, word, sizeof word);
    }
    *value = lk_err_from_word (word);
}

void
lk_field_object (lk_fields *self, lk_name *key)
{
    self->notation->object (self, key);
}

/*  -------------------------------------------------------- nesting */

json_t *
lk_field_enter (lk_fields *self, const char *name)
{
    json_t *outer = self->object;
    self->notation->enter (self, name);
    return outer;
}

void
lk_field_leave (lk_fields *self, json_t *outer)
{
    self->object = outer;
}

static void
visit_rows (lk_fields *self, const lk_field_list *list, json_t *items,
            char *rows, size_t count)
{
    json_t *outer = self->object;
    for (size_t i = 0; i < count && !lk_fields_failed (self); i++) {
        if (self->notation->row (self, list->name, items, i)) {
            list->visit (self, rows + i * list->row_size);
        }
    }
    self->object = outer;
}

void *
lk_field_rows (lk_fields *self, const lk_field_list *list, void *rows,
               size_t *count)
{
    json_t *items = NULL;
    const bool good = self->notation->list (self, list->name, &items, count);
    if (!self->writing) {
        if (good && *count > list->count_max) {
            lk_fields_fail (self, list->name, "too many items");
        }
        if (!good || !*count || lk_fields_failed (self)) {
            *count = 0;
            return NULL;
        }
        rows = lk_arena_alloc (self->arena, *count * list->row_size);
    }
    visit_rows (self, list, items, rows, *count);
    return rows;
}

/*  -------------------------------------------------------- the cluster */

void
lk_field_host (lk_fields *self, const char *name, lk_host *value)
{
    self->notation->host (self, name, value);
}

void
lk_field_host_if_any (lk_fields *self, const char *name, lk_host *value)
{
    if (lk_fields_has (self, name, *value != LK_NOBODY)) {
        lk_field_host (self, name, value);
    } else {
        *value = LK_NOBODY;
    }
}

/*  A list of hosts, each of them once; none if it is not well. */
static lk_hosts
host_list (lk_fields *self, const char *name, lk_host *hosts, size_t *count,
           size_t count_max)
{
    lk_hosts all = 0;
    if (!self->notation->hosts (self, name, hosts, count, count_max)) {
        *count = 0;
    }
    for (size_t i = 0; i < *count; i++) {
        if (hosts[i] == LK_STRANGER) {
            continue;
        }
        if (all & LK_HOST_BIT (hosts[i]) && !self->writing) {
            lk_fields_fail (self, name, "a host is there twice");
        }
        all |= LK_HOST_BIT (hosts[i]);
    }
    return all;
}

void
lk_field_hosts (lk_fields *self, const char *name, lk_hosts *value)
{
    lk_host hosts[LK_HOSTS_MAX];
    size_t count = 0;
    for (lk_hosts left = self->writing ? *value : 0; left; left &= left - 1) {
        hosts[count++] = (lk_host) __builtin_ctzll (left);
    }
    *value = host_list (self, name, hosts, &count, LK_HOSTS_MAX);
}

void
lk_field_known_hosts (lk_fields *self, const char *name, lk_hosts *value)
{
    lk_fields_take_strangers (self, LK_STRANGERS_OUT);
    lk_field_hosts (self, name, value);
    lk_fields_take_strangers (self, LK_STRANGERS_IN);
}

void
lk_field_known_list (lk_fields *self, const char *name, lk_host *hosts,
                     uint8_t *count, size_t count_max)
{
    lk_host all[LK_HOSTS_MAX];
    size_t all_count = self->writing ? *count : 0;
    for (size_t i = 0; i < all_count; i++) {
        all[i] = hosts[i];
    }
    lk_fields_take_strangers (self, LK_STRANGERS_OUT);
    (void) host_list (self, name, all, &all_count, count_max);
    lk_fields_take_strangers (self, LK_STRANGERS_IN);
    *count = 0;
    for (size_t i = 0; i < all_count; i++) {
        if (all[i] != LK_STRANGER) {
            hosts[(*count)++] = all[i];
        }
    }
}

void
lk_field_term (lk_fields *self, const char *name, lk_term *value)
{
    lk_term term = *value;
    if (!self->notation->term (self, name, &term) || self->writing) {
        return;
    }
    if (term.number > LK_TERM_NUMBER_MAX) {
        lk_fields_fail (self, name, "not a term");
    } else {
        *value = term;
    }
}

void
lk_field_settings_id (lk_fields *self, lk_settings_id *value)
{
    lk_field_count (self, "version", &value->version);
    lk_field_hex (self, "hash", &value->hash[0]);
    lk_field_hex (self, "hash2", &value->hash[1]);
}

/*  Absent until there are settings. */
static void
settings_field (lk_fields *self, lk_settings_id *value)
{
    if (lk_fields_has (self, "settings", value->version != 0)) {
        json_t *outer = lk_field_enter (self, "settings");
        lk_field_settings_id (self, value);
        lk_field_leave (self, outer);
    } else {
        *value = (lk_settings_id) {0};
    }
}

static void
check_decree (lk_fields *self, const char *name, const lk_decree *decree)
{
    for (int i = 0; i < decree->leader_count; i++) {
        if (!(decree->members & LK_HOST_BIT (decree->leader[i]))) {
            lk_fields_fail (self, name, "a leader is no member");
            return;
        }
    }
    const bool genesis = decree->term.number == 0;
    if (genesis != (decree->leader_count == 0)) {
        lk_fields_fail (self, name, "leaders do not fit to the term");
    } else if (genesis && (decree->reclaim || decree->term.proposer)) {
        lk_fields_fail (self, name, "not a genesis");
    }
}

void
lk_field_decree (lk_fields *self, const char *name, lk_decree *value)
{
    json_t *outer = lk_field_enter (self, name);
    size_t count = value->leader_count;
    lk_field_term (self, "term", &value->term);
    lk_field_hosts (self, "members", &value->members);
    host_list (self, "leaders", value->leader, &count, LK_LEADERS_MAX);
    value->leader_count = (uint8_t) count;
    lk_field_flag (self, "reclaim", &value->reclaim);
    settings_field (self, &value->settings);
    lk_field_leave (self, outer);
    if (!self->writing && !lk_fields_failed (self)) {
        check_decree (self, name, value);
    }
}

void
lk_field_request (lk_fields *self, const char *name, lk_request_id *value)
{
    lk_request_id request = *value;
    if (!self->notation->request (self, name, &request) || self->writing) {
        return;
    }
    if (request.session > LK_COUNT_MAX) {
        lk_fields_fail (self, name, "not a request");
    } else {
        *value = request;
    }
}
