/*  lock_json.c - fields as those of a JSON object
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Hosts, terms and requests are one text each; here is its form.
 */

#include "util/assert.h"
#include "util/digits.h"
#include "wire/lock_notation.h"
#include "wire/object_json.h"
#include "wire/object_key.h"

#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

#define HOST_TEXT_SIZE (LK_HOST_LEN_MAX + 1 + LK_HEX_SIZE)
#define REQUEST_TEXT_SIZE (HOST_TEXT_SIZE + 2 * 21)
#define TERM_TEXT_SIZE (21 + LK_HEX_SIZE)

/*  -------------------------------------------------------- in and out */

static bool
has (lk_fields *self, const char *name, bool wanted)
{
    return self->writing ? wanted
                         : json_object_get (self->object, name) != NULL;
}

static bool
put (lk_fields *self, const char *name, json_t *value)
{
    lk_json_set (self->object, name, value);
    return true;
}

static bool
fail (lk_fields *self, const char *name, const char *what)
{
    lk_fields_fail (self, name, what);
    return false;
}

/*  The value of a field, borrowed; NULL if it or one before is not well. */
static json_t *
get (lk_fields *self, const char *name, json_type type)
{
    if (lk_fields_failed (self)) {
        return NULL;
    }
    json_t *value = json_object_get (self->object, name);
    if (!value || json_typeof (value) != type) {
        lk_fields_fail (self, name, value ? "of a wrong type" : "missing");
        return NULL;
    }
    return value;
}

static lk_slice
get_text (lk_fields *self, const char *name)
{
    const json_t *value = get (self, name, JSON_STRING);
    return (lk_slice) {json_string_value (value), json_string_length (value)};
}

/*  -------------------------------------------------------- plain values */

static bool
flag (lk_fields *self, const char *name, bool *value)
{
    if (self->writing) {
        return put (self, name, json_boolean (*value));
    }
    const json_t *field = json_object_get (self->object, name);
    if (!json_is_boolean (field)) {
        return fail (self, name, field ? "of a wrong type" : "missing");
    }
    *value = json_is_true (field);
    return true;
}

static bool
mark (lk_fields *self, const char *name, bool *value)
{
    return !has (self, name, *value) || flag (self, name, value);
}

static bool
integer (lk_fields *self, const char *name, int64_t *value,
         bool may_be_negative)
{
    (void) may_be_negative;
    if (self->writing) {
        return put (self, name, json_integer (*value));
    }
    const json_t *field = get (self, name, JSON_INTEGER);
    if (field) {
        *value = json_integer_value (field);
    }
    return field;
}

static bool
hex (lk_fields *self, const char *name, uint64_t *value)
{
    if (self->writing) {
        char digits[LK_HEX_SIZE];
        lk_hex_format (*value, digits);
        return put (self, name, json_string (digits));
    }
    const lk_slice text = get_text (self, name);
    return text.data
           && (lk_hex_parse (text.data, text.size, value)
               || fail (self, name, "not 16 hexadecimal digits"));
}

static bool
ip (lk_fields *self, const char *name, uint8_t bytes[16])
{
    if (self->writing) {
        char digits[33];
        lk_hex_bytes_format (bytes, 16, digits);
        return put (self, name, json_string (digits));
    }
    const lk_slice text = get_text (self, name);
    return text.data
           && ((text.size == 32
                && lk_hex_bytes_parse (text.data, text.size, bytes))
               || fail (self, name, "not 32 hexadecimal digits"));
}

static bool
word (lk_fields *self, const char *name, int *value, const char *const *words,
      size_t count)
{
    if (self->writing) {
        return put (self, name, json_string (words[*value]));
    }
    const lk_slice text = get_text (self, name);
    for (size_t i = 0; text.data && i < count; i++) {
        if (lk_slice_is (text, words[i])) {
            *value = (int) i;
            return true;
        }
    }
    return fail (self, name, "not a known word");
}

static bool
text (lk_fields *self, const char *name, lk_slice *value)
{
    if (self->writing) {
        return put (self, name, json_stringn (value->data, value->size));
    }
    const lk_slice field = get_text (self, name);
    if (field.data) {
        *value = field;
    }
    return field.data;
}

/*  -------------------------------------------------------- objects */

static void
put_part (lk_fields *self, const char *name, lk_name part)
{
    if (part.size) {
        put (self, name, json_stringn (part.data, part.size));
    }
}

static bool
put_key (lk_fields *self, lk_name key)
{
    lk_name zone, context, object = {0};
    LK_ASSERT (lk_object_parts (key, &zone, &context, &object));
    put_part (self, "zone", zone);
    put_part (self, "context", context);
    lk_json_set_name (self->object, object);
    return true;
}

static const char *
get_part (lk_fields *self, const char *name)
{
    if (!has (self, name, true)) {
        return NULL;
    }
    const lk_slice part = get_text (self, name);
    if (part.size > LK_OBJECT_PART_LEN_MAX) {
        lk_fields_fail (self, name, "too long");
    }
    return part.data;
}

static bool
object (lk_fields *self, lk_name *key)
{
    if (self->writing) {
        return put_key (self, *key);
    }
    char room[LK_OBJECT_LEN_MAX], buffer[LK_NAME_SIZE_MAX];
    const char *zone = get_part (self, "zone");
    const char *context = get_part (self, "context");
    lk_name name = {0};
    lk_flaw flaw;
    if (!lk_json_get_name (self->object, room, &name, &flaw)) {
        lk_fields_fail (self, flaw.field, flaw.what);
    }
    if (lk_fields_failed (self)) {
        return false;
    }
    const lk_name whole =
        lk_object_key (zone, context, name, buffer, sizeof buffer);
    LK_ASSERT (whole.data);
    *key = (lk_name) {lk_arena_dup (self->arena, whole.data, whole.size),
                      whole.size};
    return true;
}

/*  -------------------------------------------------------- nesting */

static bool
enter (lk_fields *self, const char *name)
{
    if (self->writing) {
        json_t *inner = json_object ();
        put (self, name, inner);
        self->object = inner;
    } else {
        self->object = get (self, name, JSON_OBJECT);
    }
    return self->object;
}

static bool
list (lk_fields *self, const char *name, json_t **items, size_t *count)
{
    if (self->writing) {
        *items = json_array ();
        return put (self, name, *items);
    }
    *items = get (self, name, JSON_ARRAY);
    *count = json_array_size (*items);
    return *items;
}

static bool
row (lk_fields *self, const char *name, json_t *items, size_t place)
{
    if (self->writing) {
        self->object = json_object ();
        const int failed = json_array_append_new (items, self->object);
        LK_ASSERT (!failed);
        return true;
    }
    self->object = json_array_get (items, place);
    return json_is_object (self->object)
           || fail (self, name, "an item is no object");
}

/*  -------------------------------------------------------- hosts */

static void
host_format (const lk_hostmap *hostmap, lk_host host, char *text)
{
    const uint64_t id = lk_hostmap_id (hostmap, host);
    char digits[LK_HEX_SIZE] = "";
    if (id) {
        lk_hex_format (id, digits);
    }
    snprintf (text, HOST_TEXT_SIZE, "%s%s%s", lk_hostmap_name (hostmap, host),
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
host_parse (lk_fields *self, lk_slice field)
{
    const bool has_id = memchr (field.data, ':', field.size);
    const lk_slice name = cut (&field, ':');
    uint64_t id = 0;
    if (name.size > LK_HOST_LEN_MAX
        || (has_id && (!lk_hex_parse (field.data, field.size, &id) || !id))) {
        return LK_NOBODY;
    }
    char copy[LK_HOST_LEN_MAX + 1];
    lk_slice_keep (name, copy, sizeof copy);
    return lk_fields_intern (self, copy, id);
}

static bool
host (lk_fields *self, const char *name, lk_host *value)
{
    char digits[HOST_TEXT_SIZE];
    if (self->writing) {
        host_format (self->hostmap, *value, digits);
        return put (self, name, json_string (digits));
    }
    const lk_slice field = get_text (self, name);
    if (field.data) {
        *value = host_parse (self, field);
        if (*value == LK_NOBODY) {
            return fail (self, name, "not a host, or one too many");
        }
    }
    return field.data;
}

static void
put_hosts (lk_fields *self, const char *name, const lk_host *hosts,
           size_t count)
{
    json_t *items = json_array ();
    put (self, name, items);
    for (size_t i = 0; i < count; i++) {
        char digits[HOST_TEXT_SIZE];
        host_format (self->hostmap, hosts[i], digits);
        const int failed = json_array_append_new (items, json_string (digits));
        LK_ASSERT (!failed);
    }
}

static bool
hosts (lk_fields *self, const char *name, lk_host *all, size_t *count,
       size_t count_max)
{
    if (self->writing) {
        put_hosts (self, name, all, *count);
        return true;
    }
    const json_t *items = json_object_get (self->object, name);
    *count = json_array_size (items);
    if (!json_is_array (items) || *count > count_max) {
        return fail (self, name, "not a list of so many hosts");
    }
    for (size_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get (items, i);
        const lk_slice field = {json_string_value (item),
                                json_string_length (item)};
        all[i] = field.size ? host_parse (self, field) : LK_NOBODY;
        if (all[i] == LK_NOBODY) {
            return fail (self, name, "an item is no host, or one too many");
        }
    }
    return true;
}

/*  -------------------------------------------------------- terms, requests */

static bool
term_parse (lk_slice field, lk_term *term)
{
    const lk_slice number = cut (&field, ':');
    return lk_decimal_parse (number.data, number.size, &term->number)
           && lk_hex_parse (field.data, field.size, &term->proposer);
}

static bool
term (lk_fields *self, const char *name, lk_term *value)
{
    if (self->writing) {
        char whole[TERM_TEXT_SIZE], digits[LK_HEX_SIZE];
        lk_hex_format (value->proposer, digits);
        snprintf (whole, sizeof whole, "%" PRIu64 ":%s", value->number, digits);
        return put (self, name, json_string (whole));
    }
    const lk_slice field = get_text (self, name);
    return field.data
           && (term_parse (field, value) || fail (self, name, "not a term"));
}

static bool
request_parse (lk_fields *self, lk_slice field, lk_request_id *request)
{
    const lk_slice host = cut (&field, '/');
    const lk_slice session = cut (&field, '/');
    request->host = host_parse (self, host);
    return request->host != LK_NOBODY
           && lk_decimal_parse (session.data, session.size, &request->session)
           && lk_decimal_parse (field.data, field.size, &request->serial);
}

static bool
request (lk_fields *self, const char *name, lk_request_id *value)
{
    char digits[HOST_TEXT_SIZE], whole[REQUEST_TEXT_SIZE];
    if (self->writing) {
        host_format (self->hostmap, value->host, digits);
        snprintf (whole, sizeof whole, "%s/%" PRIu64 "/%" PRIu64, digits,
                  value->session, value->serial);
        return put (self, name, json_string (whole));
    }
    const lk_slice field = get_text (self, name);
    return field.data
           && (request_parse (self, field, value)
               || fail (self, name, "not a request"));
}

const lk_notation lk_notation_json = {
    .has = has,
    .flag = flag,
    .mark = mark,
    .integer = integer,
    .hex = hex,
    .ip = ip,
    .word = word,
    .text = text,
    .object = object,
    .enter = enter,
    .list = list,
    .row = row,
    .host = host,
    .hosts = hosts,
    .term = term,
    .request = request,
};
