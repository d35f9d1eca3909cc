/*  object_name.c - the name of what is locked: keys of the core, fields
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/object_name.h"
#include "util/alloc.h"
#include "util/digits.h"
#include "util/utf8.h"
#include "wire/message_private.h"
#include "wire/object_json.h"

#include <lockkeeper/lockkeeper.h>
#include <string.h>

/*  -------------------------------------------------------- keys */

/*  Puts `part` and a NUL behind what is there. */
static char *
add_part (char *place, const char *part, size_t len)
{
    memcpy (place, part, len);
    place[len] = '\0';
    return place + len + 1;
}

lk_name
lk_object_key (const char *zone, const char *context, lk_name object,
               char *buffer, size_t size)
{
    zone = zone ? zone : "";
    context = context ? context : "";
    const size_t zone_len = strlen (zone);
    const size_t context_len = strlen (context);
    const size_t whole = zone_len + 1 + context_len + 1 + object.size;
    if (object.size == 0 || object.size > LK_OBJECT_LEN_MAX
        || zone_len > LK_OBJECT_PART_LEN_MAX
        || context_len > LK_OBJECT_PART_LEN_MAX || whole > size) {
        return (lk_name) {0};
    }
    char *place = add_part (buffer, zone, zone_len);
    place = add_part (place, context, context_len);
    memcpy (place, object.data, object.size);
    return (lk_name) {buffer, (uint16_t) whole};
}

_Static_assert(2 * (LK_OBJECT_PART_LEN_MAX + 1) + LK_OBJECT_LEN_MAX
                   <= LK_NAME_SIZE_MAX,
               "the longest key fits");

/*  Takes the part ahead of the next NUL off `rest`. */
static bool
take_part (lk_name *rest, lk_name *part)
{
    const char *end = rest->size ? memchr (rest->data, '\0', rest->size) : NULL;
    if (!end) {
        return false;
    }
    const uint16_t size = (uint16_t) (end - rest->data);
    *part = (lk_name) {rest->data, size};
    *rest = (lk_name) {end + 1, (uint16_t) (rest->size - size - 1)};
    return true;
}

bool
lk_object_parts (lk_name key, lk_name *zone, lk_name *context, lk_name *object)
{
    if (!take_part (&key, zone) || !take_part (&key, context)) {
        return false;
    }
    *object = key;
    return key.size > 0 && key.size <= LK_OBJECT_LEN_MAX;
}

/*  -------------------------------------------------------- fields */

static const char text_field[] = "object";
static const char hex_field[] = "object_hex";

/*  The digits of a name that is no text; lk_free frees them. */
static char *
digits_of (lk_name object)
{
    char *digits = lk_alloc (2 * (size_t) object.size + 1);
    lk_hex_bytes_format ((const uint8_t *) object.data, object.size, digits);
    return digits;
}

void
lk_json_set_name (json_t *json, lk_name object)
{
    if (lk_utf8_is_text (object.data, object.size)) {
        lk_json_set (json, text_field, json_stringn (object.data, object.size));
        return;
    }
    char *digits = digits_of (object);
    lk_json_set (json, hex_field, json_string (digits));
    lk_free (digits);
}

/*  A field: whether it is there, and its text if it is one. */
typedef struct {
    bool there;
    lk_slice text;
} found;

static const char *
get_text_name (found field, lk_name *object)
{
    const size_t size = field.text.size;
    if (field.there && !field.text.data) {
        return "is no text";
    }
    if (size == 0 || size > LK_OBJECT_LEN_MAX) {
        return size == 0 ? "is missing or empty" : "is too long";
    }
    *object = (lk_name) {field.text.data, (uint16_t) size};
    return NULL;
}

static const char *
get_hex_name (found field, char *room, lk_name *object)
{
    const size_t size = field.text.size;
    if (!field.text.data) {
        return "is no text";
    }
    if (size == 0 || size > 2 * LK_OBJECT_LEN_MAX) {
        return size == 0 ? "is empty" : "is too long";
    }
    if (!lk_hex_bytes_parse (field.text.data, size, (uint8_t *) room)) {
        return "is not two hexadecimal digits for each byte";
    }
    *object = (lk_name) {room, (uint16_t) (size / 2)};
    return NULL;
}

static found
find (const json_t *json, const char *name)
{
    const json_t *value = json_object_get (json, name);
    return (found) {value,
                    {json_string_value (value), json_string_length (value)}};
}

bool
lk_json_get_name (const json_t *json, char *room, lk_name *object,
                  lk_flaw *flaw)
{
    const found text = find (json, text_field);
    const found hex = find (json, hex_field);
    *flaw = (lk_flaw) {hex.there ? hex_field : text_field, NULL};
    if (text.there && hex.there) {
        flaw->what = "is there, and so is 'object'";
    } else if (hex.there) {
        flaw->what = get_hex_name (hex, room, object);
    } else {
        flaw->what = get_text_name (text, object);
    }
    return !flaw->what;
}

void
lk_object_set (lk_message *message, lk_name object)
{
    lk_json_set_name (lk_message_tree_to_change (message), object);
}

bool
lk_object_get (const lk_message *message, char *room, lk_name *object,
               lk_flaw *flaw)
{
    return lk_json_get_name (lk_message_tree (message), room, object, flaw);
}
