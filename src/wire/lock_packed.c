/*  lock_packed.c - fields as bytes, one behind the other
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Who reads knows the order, so that fields have no names; those here are for
 *  the problems. Nothing is copied but rows of lists. lockkeeper-protocol(7),
 *  8.7, has the form of each value.
 */

#include "util/assert.h"
#include "util/utf8.h"
#include "wire/lock_notation.h"
#include "wire/object_key.h"

#include <string.h>

#define NUMBER_SIZE_MAX 10 /* 64 bits, 7 in each byte */

/*  -------------------------------------------------------- bytes */

static bool
fail (lk_fields *self, const char *name, const char *what)
{
    lk_fields_fail (self, name, what);
    return false;
}

static void
put_bytes (lk_fields *self, const void *data, size_t size)
{
    lk_bytes_add (self->packing.out, data, size);
}

/*  The next so many bytes; NULL if there are not. */
static const uint8_t *
take_bytes (lk_fields *self, const char *name, size_t size)
{
    lk_packing *packing = &self->packing;
    if ((size_t) (packing->end - packing->at) < size) {
        lk_fields_fail (self, name, "cut short");
        return NULL;
    }
    const uint8_t *bytes = packing->at;
    packing->at += size;
    return bytes;
}

/*  -------------------------------------------------------- numbers */

static void
put_number (lk_fields *self, uint64_t number)
{
    lk_bytes *out = self->packing.out;
    uint8_t *place = (uint8_t *) lk_bytes_grow (out, NUMBER_SIZE_MAX);
    size_t size = 0;
    for (; number >= 0x80; number >>= 7) {
        place[size++] = (uint8_t) (number | 0x80);
    }
    place[size++] = (uint8_t) number;
    out->size -= NUMBER_SIZE_MAX - size;
}

/*  A number has one form only: the last byte of several is not 0, and what is
 *  over 64 bits is. */
static bool
take_number (lk_fields *self, const char *name, uint64_t *number)
{
    lk_packing *packing = &self->packing;
    uint64_t sum = 0;
    for (unsigned shift = 0; packing->at < packing->end; shift += 7) {
        const uint8_t byte = *packing->at++;
        if ((byte == 0 && shift) || (shift == 63 && byte > 1)) {
            return fail (self, name, "not a number");
        }
        sum |= (uint64_t) (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = sum;
            return true;
        }
    }
    return fail (self, name, "cut short");
}

/*  -------------------------------------------------------- flags */

/*  Eight of them share a byte, which is where the first of them is. */
static void
put_flag (lk_fields *self, bool value)
{
    lk_packing *packing = &self->packing;
    if (packing->flags_left == 0) {
        packing->flags_at = packing->out->size;
        packing->flags_left = 8;
        *lk_bytes_grow (packing->out, 1) = 0;
    }
    const unsigned bit = 8u - packing->flags_left--;
    packing->out->data[packing->flags_at] |= (char) (value << bit);
}

static bool
take_flag (lk_fields *self, const char *name, bool *value)
{
    lk_packing *packing = &self->packing;
    if (packing->flags_left == 0) {
        const uint8_t *byte = take_bytes (self, name, 1);
        if (!byte) {
            return false;
        }
        packing->flags = *byte;
        packing->flags_left = 8;
    }
    *value = packing->flags & 1;
    packing->flags >>= 1;
    packing->flags_left--;
    return true;
}

static bool
flag (lk_fields *self, const char *name, bool *value)
{
    if (self->writing) {
        put_flag (self, *value);
        return true;
    }
    return take_flag (self, name, value);
}

static bool
has (lk_fields *self, const char *name, bool wanted)
{
    if (self->writing) {
        put_flag (self, wanted);
        return wanted;
    }
    bool there = false;
    return take_flag (self, name, &there) && there;
}

/*  -------------------------------------------------------- plain values */

/*  With a sign, -1 is 1, 1 is 2, -2 is 3 and so on. */
static bool
integer (lk_fields *self, const char *name, int64_t *value,
         bool may_be_negative)
{
    uint64_t number = (uint64_t) *value;
    if (self->writing) {
        put_number (self, may_be_negative
                              ? number << 1 ^ (uint64_t) (*value >> 63)
                              : number);
        return true;
    }
    if (!take_number (self, name, &number)) {
        return false;
    }
    if (may_be_negative) {
        number = number >> 1 ^ (0 - (number & 1));
    } else if (number > INT64_MAX) {
        return fail (self, name, "out of range");
    }
    *value = (int64_t) number;
    return true;
}

static bool
hex (lk_fields *self, const char *name, uint64_t *value)
{
    if (self->writing) {
        lk_bytes_put64 (lk_bytes_grow (self->packing.out, 8), *value);
        return true;
    }
    const uint8_t *bytes = take_bytes (self, name, 8);
    if (bytes) {
        *value = lk_bytes_get64 (bytes);
    }
    return bytes;
}

static bool
ip (lk_fields *self, const char *name, uint8_t bytes[16])
{
    if (self->writing) {
        put_bytes (self, bytes, 16);
        return true;
    }
    const uint8_t *place = take_bytes (self, name, 16);
    if (place) {
        memcpy (bytes, place, 16);
    }
    return place;
}

/*  Its place in the list of words. */
static bool
word (lk_fields *self, const char *name, int *value, const char *const *words,
      size_t count)
{
    (void) words;
    if (self->writing) {
        *lk_bytes_grow (self->packing.out, 1) = (char) *value;
        return true;
    }
    const uint8_t *byte = take_bytes (self, name, 1);
    if (byte && *byte >= count) {
        return fail (self, name, "not a known word");
    }
    if (byte) {
        *value = *byte;
    }
    return byte;
}

/*  -------------------------------------------------------- texts, names */

static void
put_sized (lk_fields *self, const char *data, size_t size)
{
    put_number (self, size);
    put_bytes (self, data, size);
}

static bool
take_sized (lk_fields *self, const char *name, lk_slice *value)
{
    uint64_t size;
    if (!take_number (self, name, &size)) {
        return false;
    }
    const uint8_t *bytes =
        size <= LK_BODY_SIZE_MAX ? take_bytes (self, name, size) : NULL;
    if (!bytes) {
        return fail (self, name, "cut short");
    }
    *value = (lk_slice) {(const char *) bytes, size};
    return true;
}

static bool
text (lk_fields *self, const char *name, lk_slice *value)
{
    if (self->writing) {
        put_sized (self, value->data, value->size);
        return true;
    }
    return take_sized (self, name, value)
           && (lk_utf8_is_text (value->data, value->size)
               || fail (self, name, "not a text"));
}

static bool
is_part (lk_name part)
{
    return part.size <= LK_OBJECT_PART_LEN_MAX
           && lk_utf8_is_text (part.data, part.size);
}

/*  Zone, NUL, context, NUL, object. */
static bool
object (lk_fields *self, lk_name *key)
{
    lk_slice whole;
    lk_name zone, context, name;
    if (self->writing) {
        put_sized (self, key->data, key->size);
        return true;
    }
    if (!take_sized (self, "object", &whole)) {
        return false;
    }
    if (whole.size > LK_NAME_SIZE_MAX) {
        return fail (self, "object", "too long");
    }
    const lk_name read = {whole.data, (uint16_t) whole.size};
    if (!lk_object_parts (read, &zone, &context, &name) || !is_part (zone)
        || !is_part (context)) {
        return fail (self, "object", "not the name of a lock");
    }
    *key = read;
    return true;
}

/*  -------------------------------------------------------- nesting */

static bool
enter (lk_fields *self, const char *name)
{
    (void) self;
    (void) name;
    return true;
}

/*  A row takes a byte at least. */
static bool
list (lk_fields *self, const char *name, json_t **items, size_t *count)
{
    uint64_t number = *count;
    (void) items;
    if (self->writing) {
        put_number (self, number);
        return true;
    }
    if (!take_number (self, name, &number)) {
        return false;
    }
    if (number > (size_t) (self->packing.end - self->packing.at)) {
        return fail (self, name, "cut short");
    }
    *count = number;
    return true;
}

static bool
row (lk_fields *self, const char *name, json_t *items, size_t place)
{
    (void) self;
    (void) name;
    (void) items;
    (void) place;
    return true;
}

/*  -------------------------------------------------------- hosts */

/*  The place among the hosts that were named so far; one behind them is a new
 *  one, whose name and id follow. */
static bool
put_host (lk_fields *self, lk_host value)
{
    lk_packing *packing = &self->packing;
    uint8_t place = 0;
    while (place < packing->host_count && packing->host[place] != value) {
        place++;
    }
    *lk_bytes_grow (packing->out, 1) = (char) place;
    if (place == packing->host_count) {
        const char *name = lk_hostmap_name (self->hostmap, value);
        packing->host[packing->host_count++] = value;
        put_sized (self, name, strlen (name));
        lk_bytes_put64 (lk_bytes_grow (packing->out, 8),
                        lk_hostmap_id (self->hostmap, value));
    }
    return true;
}

static bool
take_new_host (lk_fields *self, const char *name)
{
    lk_packing *packing = &self->packing;
    char copy[LK_HOST_LEN_MAX + 1];
    lk_slice field;
    uint64_t id;
    if (!take_sized (self, name, &field) || !hex (self, name, &id)) {
        return false;
    }
    lk_host known = LK_NOBODY;
    if (field.size <= LK_HOST_LEN_MAX && !memchr (field.data, 0, field.size)) {
        lk_slice_keep (field, copy, sizeof copy);
        known = lk_fields_intern (self, copy, id);
    }
    if (known == LK_NOBODY) {
        return fail (self, name, "not a host, or one too many");
    }
    packing->host[packing->host_count++] = known;
    return true;
}

static bool
host (lk_fields *self, const char *name, lk_host *value)
{
    lk_packing *packing = &self->packing;
    if (self->writing) {
        return put_host (self, *value);
    }
    const uint8_t *byte = take_bytes (self, name, 1);
    if (!byte) {
        return false;
    }
    const uint8_t place = *byte;
    if (place > packing->host_count || place == LK_HOSTS_MAX) {
        return fail (self, name, "not a host");
    }
    if (place == packing->host_count && !take_new_host (self, name)) {
        return false;
    }
    *value = packing->host[place];
    /*  Fields with strangers are the last ones with hosts: lock_shape.c. */
    LK_ASSERT (self->strangers != LK_STRANGERS_IN || *value != LK_STRANGER);
    return true;
}

static bool
hosts (lk_fields *self, const char *name, lk_host *all, size_t *count,
       size_t count_max)
{
    if (!list (self, name, NULL, count)) {
        return false;
    }
    if (*count > count_max) {
        return fail (self, name, "not a list of so many hosts");
    }
    for (size_t i = 0; i < *count; i++) {
        if (!host (self, name, &all[i])) {
            return false;
        }
    }
    return true;
}

/*  -------------------------------------------------------- terms, requests */

static bool
unsigned_number (lk_fields *self, const char *name, uint64_t *value)
{
    if (self->writing) {
        put_number (self, *value);
        return true;
    }
    return take_number (self, name, value);
}

static bool
term (lk_fields *self, const char *name, lk_term *value)
{
    return unsigned_number (self, name, &value->number)
           && hex (self, name, &value->proposer);
}

static bool
request (lk_fields *self, const char *name, lk_request_id *value)
{
    return host (self, name, &value->host)
           && unsigned_number (self, name, &value->session)
           && unsigned_number (self, name, &value->serial);
}

const lk_notation lk_notation_packed = {
    .has = has,
    .flag = flag,
    .mark = flag,
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
