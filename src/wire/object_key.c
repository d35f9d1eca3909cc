/*  object_key.c - zone, context and name of an object, as one key
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/object_key.h"

#include <lockkeeper/lockkeeper.h>
#include <string.h>

const char *
lk_zone_plain (const char *name)
{
    return strcmp (name, LK_ZONE_DEFAULT) == 0 ? "" : name;
}

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
