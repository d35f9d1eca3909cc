/*  object_name.c - the name of what is locked, as a field
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
