/*  lock_fields.c - plain fields of a JSON object, written or read by one call
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Hosts, terms and decrees are in lock_fields_cluster.c.
 */

#include "wire/lock_fields.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/digits.h"
#include "wire/object_json.h"

#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- memory */

struct lk_scratch {
    lk_scratch *next;
    max_align_t data[];
};

/*  Zeroed memory until clear. */
static void *
get_memory (lk_fields *self, size_t size)
{
    lk_scratch *block = lk_alloc (sizeof *block + size);
    block->next = self->scratch;
    self->scratch = block;
    return block->data;
}

void
lk_fields_clear (lk_fields *self)
{
    while (self->scratch) {
        lk_scratch *block = self->scratch;
        self->scratch = block->next;
        lk_free (block);
    }
}

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

/*  -------------------------------------------------------- in and out */

bool
lk_fields_has (const lk_fields *self, const char *name, bool wanted)
{
    return self->writing ? wanted
                         : json_object_get (self->object, name) != NULL;
}

static void
put (lk_fields *self, const char *name, json_t *value)
{
    lk_json_set (self->object, name, value);
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

void
lk_field_flag (lk_fields *self, const char *name, bool *value)
{
    if (self->writing) {
        put (self, name, json_boolean (*value));
        return;
    }
    const json_t *field = json_object_get (self->object, name);
    if (json_is_boolean (field)) {
        *value = json_is_true (field);
    } else {
        lk_fields_fail (self, name, field ? "of a wrong type" : "missing");
    }
}

void
lk_field_flag_if_set (lk_fields *self, const char *name, bool *value)
{
    if (lk_fields_has (self, name, *value)) {
        lk_field_flag (self, name, value);
    }
}

/*  All integers pass here. Returns the number, or `value` if there is none. */
static int64_t
integer (lk_fields *self, const char *name, int64_t value, int64_t least,
         int64_t most)
{
    if (self->writing) {
        LK_ASSERT (value >= least && value <= most);
        put (self, name, json_integer (value));
        return value;
    }
    const json_t *field = get (self, name, JSON_INTEGER);
    if (!field) {
        return value;
    }
    const int64_t number = json_integer_value (field);
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
    if (self->writing) {
        char digits[LK_HEX_SIZE];
        lk_hex_format (*value, digits);
        put (self, name, json_string (digits));
        return;
    }
    const lk_slice text = get_text (self, name);
    if (text.data && !lk_hex_parse (text.data, text.size, value)) {
        lk_fields_fail (self, name, "not 16 hexadecimal digits");
    }
}

void
lk_field_ip (lk_fields *self, const char *name, uint8_t bytes[16])
{
    if (self->writing) {
        char digits[33];
        lk_hex_bytes_format (bytes, 16, digits);
        put (self, name, json_string (digits));
        return;
    }
    const lk_slice text = get_text (self, name);
    if (text.data
        && (text.size != 32
            || !lk_hex_bytes_parse (text.data, text.size, bytes))) {
        lk_fields_fail (self, name, "not 32 hexadecimal digits");
    }
}

void
lk_field_word (lk_fields *self, const char *name, int *value,
               const char *const *words, size_t count)
{
    if (self->writing) {
        LK_ASSERT ((size_t) *value < count);
        put (self, name, json_string (words[*value]));
        return;
    }
    const lk_slice text = get_text (self, name);
    if (!text.data) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (lk_slice_is (text, words[i])) {
            *value = (int) i;
            return;
        }
    }
    lk_fields_fail (self, name, "not a known word");
}

void
lk_field_error (lk_fields *self, const char *name, int *value)
{
    if (self->writing) {
        put (self, name, json_string (lk_err_word ((lk_err) *value)));
        return;
    }
    const lk_slice text = get_text (self, name);
    if (text.data) {
        *value = lk_err_from_word (text.data);
    }
}

void
lk_field_text (lk_fields *self, const char *name, lk_name *value,
               size_t size_max)
{
    if (self->writing) {
        put (self, name,
             json_stringn (value->data ? value->data : "", value->size));
        return;
    }
    const lk_slice text = get_text (self, name);
    if (!text.data) {
        return;
    }
    if (text.size > size_max) {
        lk_fields_fail (self, name, "too long");
        return;
    }
    *value = (lk_name) {text.data, (uint16_t) text.size};
}

/*  -------------------------------------------------------- objects */

static void
put_part (lk_fields *self, const char *name, lk_name part)
{
    if (part.size) {
        lk_field_text (self, name, &part, LK_NAME_SIZE_MAX);
    }
}

static const char *
get_part (lk_fields *self, const char *name)
{
    if (!lk_fields_has (self, name, true)) {
        return NULL;
    }
    const lk_slice text = get_text (self, name);
    if (text.size > LK_OBJECT_PART_LEN_MAX) {
        lk_fields_fail (self, name, "too long");
    }
    return text.data;
}

static void
put_key (lk_fields *self, lk_name key)
{
    lk_name zone, context, object = {0};
    LK_ASSERT (lk_object_parts (key, &zone, &context, &object));
    put_part (self, "zone", zone);
    put_part (self, "context", context);
    lk_json_set_name (self->object, object);
}

void
lk_field_object (lk_fields *self, lk_name *key)
{
    if (self->writing) {
        put_key (self, *key);
        return;
    }
    char room[LK_OBJECT_LEN_MAX], buffer[LK_NAME_SIZE_MAX];
    const char *zone = get_part (self, "zone");
    const char *context = get_part (self, "context");
    lk_name object = {0};
    lk_flaw flaw;
    if (!lk_json_get_name (self->object, room, &object, &flaw)) {
        lk_fields_fail (self, flaw.field, flaw.what);
    }
    if (lk_fields_failed (self)) {
        return;
    }
    const lk_name whole =
        lk_object_key (zone, context, object, buffer, sizeof buffer);
    LK_ASSERT (whole.data);
    char *copy = get_memory (self, whole.size);
    memcpy (copy, whole.data, whole.size);
    *key = (lk_name) {copy, whole.size};
}

/*  -------------------------------------------------------- nesting */

json_t *
lk_field_enter (lk_fields *self, const char *name)
{
    json_t *outer = self->object;
    if (self->writing) {
        put (self, name, json_object ());
        self->object = json_object_get (outer, name);
    } else {
        self->object = get (self, name, JSON_OBJECT);
    }
    return outer;
}

void
lk_field_leave (lk_fields *self, json_t *outer)
{
    self->object = outer;
}

static void
write_rows (lk_fields *self, const lk_field_list *list, char *rows,
            size_t count)
{
    json_t *outer = self->object;
    json_t *items = json_array ();
    put (self, list->name, items);
    for (size_t i = 0; i < count; i++) {
        self->object = json_object ();
        const int failed = json_array_append_new (items, self->object);
        LK_ASSERT (!failed);
        list->visit (self, rows + i * list->row_size);
    }
    self->object = outer;
}

static void
read_rows (lk_fields *self, const lk_field_list *list, json_t *items,
           char *rows)
{
    json_t *outer = self->object;
    const size_t count = json_array_size (items);
    for (size_t i = 0; i < count && !lk_fields_failed (self); i++) {
        self->object = json_array_get (items, i);
        if (json_is_object (self->object)) {
            list->visit (self, rows + i * list->row_size);
        } else {
            lk_fields_fail (self, list->name, "an item is no object");
        }
    }
    self->object = outer;
}

void *
lk_field_rows (lk_fields *self, const lk_field_list *list, void *rows,
               size_t *count)
{
    if (self->writing) {
        write_rows (self, list, rows, *count);
        return rows;
    }
    json_t *items = get (self, list->name, JSON_ARRAY);
    *count = json_array_size (items);
    if (*count > list->count_max) {
        lk_fields_fail (self, list->name, "too many items");
    }
    if (!*count || lk_fields_failed (self)) {
        *count = 0;
        return NULL;
    }
    rows = get_memory (self, *count * list->row_size);
    read_rows (self, list, items, rows);
    return rows;
}
