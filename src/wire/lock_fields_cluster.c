/*  lock_fields_cluster.c - hosts, terms, decrees and requests as fields
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each of them is one text, or made of such; here is the form of these.
 */

#include "util/assert.h"
#include "util/digits.h"
#include "wire/lock_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOST_TEXT_SIZE (LK_HOST_LEN_MAX + 1 + LK_HEX_SIZE)
#define REQUEST_TEXT_SIZE (HOST_TEXT_SIZE + 2 * 21)
#define TERM_TEXT_SIZE (21 + LK_HEX_SIZE)

/*  -------------------------------------------------------- hosts */

static void
host_format (const lk_roster *roster, lk_host host, char *text)
{
    const uint64_t id = lk_roster_id (roster, host);
    char digits[LK_HEX_SIZE] = "";
    if (id) {
        lk_hex_format (id, digits);
    }
    snprintf (text, HOST_TEXT_SIZE, "%s%s%s", lk_roster_name (roster, host),
              id ? ":" : "", digits);
}

/*  The piece of `rest` ahead of a separator, which goes too, or all of it. */
static lk_slice
cut (lk_slice *rest, char separator)
{
    const char *end = memchr (rest->data, separator, rest->size);
    const size_t size = end ? (size_t) (end - rest->data) : rest->size;
    const lk_slice piece = {rest->data, size};
    const size_t gone = end ? size + 1 : size;
    *rest = (lk_slice) {rest->data + gone, rest->size - gone};
    return piece;
}

/*  The host of such a text, interned; LK_NOBODY if it is none. */
static lk_host
host_parse (lk_roster *roster, lk_slice text)
{
    const bool has_id = memchr (text.data, ':', text.size);
    const lk_slice name = cut (&text, ':');
    uint64_t id = 0;
    if (name.size > LK_HOST_LEN_MAX
        || (has_id && (!lk_hex_parse (text.data, text.size, &id) || !id))) {
        return LK_NOBODY;
    }
    char copy[LK_HOST_LEN_MAX + 1];
    lk_slice_keep (name, copy, sizeof copy);
    return lk_roster_intern (roster, copy, id);
}

static void
put_text (lk_fields *self, const char *name, const char *text)
{
    lk_json_set (self->object, name, json_string (text));
}

/*  A text of any size, borrowed from the JSON object. */
static bool
get_text (lk_fields *self, const char *name, lk_slice *text)
{
    lk_name value = {0};
    lk_field_text (self, name, &value, UINT16_MAX);
    *text = (lk_slice) {value.data, value.size};
    return value.data;
}

void
lk_field_host (lk_fields *self, const char *name, lk_host *value)
{
    char text[HOST_TEXT_SIZE];
    lk_slice field;
    if (self->writing) {
        host_format (self->roster, *value, text);
        put_text (self, name, text);
    } else if (get_text (self, name, &field)) {
        *value = host_parse (self->roster, field);
        if (*value == LK_NOBODY) {
            lk_fields_fail (self, name, "not a host, or one too many");
        }
    }
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

/*  -------------------------------------------------------- lists of hosts */

static void
put_host_list (lk_fields *self, const char *name, const lk_host *hosts,
               size_t count)
{
    json_t *list = json_array ();
    lk_json_set (self->object, name, list);
    for (size_t i = 0; i < count; i++) {
        char text[HOST_TEXT_SIZE];
        host_format (self->roster, hosts[i], text);
        const int failed = json_array_append_new (list, json_string (text));
        LK_ASSERT (!failed);
    }
}

/*  Hosts of a list, each of them once; returns how many. */
static size_t
get_host_list (lk_fields *self, const char *name, lk_host *hosts,
               size_t count_max)
{
    const json_t *list = json_object_get (self->object, name);
    const size_t count = json_array_size (list);
    lk_hosts seen = 0;
    if (!json_is_array (list) || count > count_max) {
        lk_fields_fail (self, name, "not a list of so many hosts");
    }
    for (size_t i = 0; i < count && !lk_fields_failed (self); i++) {
        const json_t *item = json_array_get (list, i);
        const lk_slice text = {json_string_value (item),
                               json_string_length (item)};
        hosts[i] = text.size ? host_parse (self->roster, text) : LK_NOBODY;
        if (hosts[i] == LK_NOBODY || seen & LK_HOST_BIT (hosts[i])) {
            lk_fields_fail (self, name,
                            "an item is no host, one too many, "
                            "or there twice");
        } else {
            seen |= LK_HOST_BIT (hosts[i]);
        }
    }
    return lk_fields_failed (self) ? 0 : count;
}

void
lk_field_hosts (lk_fields *self, const char *name, lk_hosts *value)
{
    lk_host hosts[LK_HOSTS_MAX];
    size_t count = 0;
    if (self->writing) {
        for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
            if (*value & LK_HOST_BIT (host)) {
                hosts[count++] = host;
            }
        }
        put_host_list (self, name, hosts, count);
        return;
    }
    count = get_host_list (self, name, hosts, LK_HOSTS_MAX);
    *value = 0;
    for (size_t i = 0; i < count; i++) {
        *value |= LK_HOST_BIT (hosts[i]);
    }
}

/*  -------------------------------------------------------- decrees */

static bool
term_parse (lk_slice text, lk_term *term)
{
    const lk_slice number = cut (&text, ':');
    return lk_decimal_parse (number.data, number.size, &term->number)
           && term->number <= LK_TERM_NUMBER_MAX
           && lk_hex_parse (text.data, text.size, &term->proposer);
}

void
lk_field_term (lk_fields *self, const char *name, lk_term *value)
{
    lk_slice field;
    if (self->writing) {
        char text[TERM_TEXT_SIZE], digits[LK_HEX_SIZE];
        lk_hex_format (value->proposer, digits);
        snprintf (text, sizeof text, "%" PRIu64 ":%s", value->number, digits);
        put_text (self, name, text);
    } else if (get_text (self, name, &field)) {
        lk_term term;
        if (term_parse (field, &term)) {
            *value = term;
        } else {
            lk_fields_fail (self, name, "not a term");
        }
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
    lk_field_term (self, "term", &value->term);
    lk_field_hosts (self, "members", &value->members);
    if (self->writing) {
        put_host_list (self, "leaders", value->leader, value->leader_count);
    } else {
        value->leader_count = (uint8_t) get_host_list (
            self, "leaders", value->leader, LK_LEADERS_MAX);
    }
    lk_field_flag (self, "reclaim", &value->reclaim);
    lk_field_leave (self, outer);
    if (!self->writing && !lk_fields_failed (self)) {
        check_decree (self, name, value);
    }
}

/*  -------------------------------------------------------- requests */

static bool
request_parse (lk_roster *roster, lk_slice text, lk_request_id *request)
{
    const lk_slice host = cut (&text, '/');
    const lk_slice session = cut (&text, '/');
    request->host = host_parse (roster, host);
    return request->host != LK_NOBODY
           && lk_decimal_parse (session.data, session.size, &request->session)
           && request->session <= LK_COUNT_MAX
           && lk_decimal_parse (text.data, text.size, &request->serial);
}

void
lk_field_request (lk_fields *self, const char *name, lk_request_id *value)
{
    char host[HOST_TEXT_SIZE], text[REQUEST_TEXT_SIZE];
    lk_slice field;
    if (self->writing) {
        host_format (self->roster, value->host, host);
        snprintf (text, sizeof text, "%s/%" PRIu64 "/%" PRIu64, host,
                  value->session, value->serial);
        put_text (self, name, text);
    } else if (get_text (self, name, &field)) {
        lk_request_id request;
        if (request_parse (self->roster, field, &request)) {
            *value = request;
        } else {
            lk_fields_fail (self, name, "not a request");
        }
    }
}
