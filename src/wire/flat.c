/*  flat.c - a JSON object of plain fields, read without a tree
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Takes nothing that jansson would not take, and gives up early: who calls
 *  has a second look with jansson then.
 */

#include "wire/flat.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/utf8.h"
#include "wire/json.h"

#include <string.h>

#define DIGITS_MAX 18 /* of a number that surely fits */

/*  -------------------------------------------------------- reading */

typedef struct {
    const char *at;
    const char *end;
} reader;

static void
skip_space (reader *self)
{
    while (self->at < self->end
           && (*self->at == ' ' || *self->at == '\n' || *self->at == '\t'
               || *self->at == '\r')) {
        self->at++;
    }
}

/*  Whether it is that which comes next; then it is taken. */
static bool
take (reader *self, char c)
{
    skip_space (self);
    if (self->at == self->end || *self->at != c) {
        return false;
    }
    self->at++;
    return true;
}

static bool
take_text (reader *self, lk_slice *text)
{
    if (!take (self, '"')) {
        return false;
    }
    const char *begin = self->at;
    bool plain = true;
    for (; self->at < self->end && *self->at != '"'; self->at++) {
        const unsigned char c = (unsigned char) *self->at;
        if (c < 0x20 || c == '\\') {
            return false;
        }
        plain &= c < 0x80;
    }
    *text = (lk_slice) {begin, (size_t) (self->at - begin)};
    return take (self, '"') && (plain || lk_utf8_is_text (begin, text->size));
}

static bool
take_number (reader *self, lk_flat_field *field)
{
    const bool negative = take (self, '-');
    const char *begin = self->at;
    uint64_t sum = 0;
    while (self->at < self->end && *self->at >= '0' && *self->at <= '9'
           && self->at - begin <= DIGITS_MAX) {
        sum = 10 * sum + (uint64_t) (*self->at++ - '0');
    }
    const size_t digits = (size_t) (self->at - begin);
    if (digits == 0 || digits > DIGITS_MAX || (digits > 1 && *begin == '0')) {
        return false;
    }
    field->type = JSON_INTEGER;
    field->number = negative ? -(int64_t) sum : (int64_t) sum;
    return true;
}

static bool
take_word (reader *self, const char *word)
{
    const size_t size = strlen (word);
    if ((size_t) (self->end - self->at) < size
        || memcmp (self->at, word, size) != 0) {
        return false;
    }
    self->at += size;
    return true;
}

static bool
take_value (reader *self, lk_flat_field *field)
{
    skip_space (self);
    const char first = self->at < self->end ? *self->at : '\0';
    switch (first) {
    case '"':
        field->type = JSON_STRING;
        return take_text (self, &field->text);
    case 't':
        field->type = JSON_TRUE;
        return take_word (self, "true");
    case 'f':
        field->type = JSON_FALSE;
        return take_word (self, "false");
    case 'n':
        field->type = JSON_NULL;
        return take_word (self, "null");
    default:
        return take_number (self, field);
    }
}

static bool
is_new (const lk_flat_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (lk_slice_equal (fields[i].name, fields[count].name)) {
            return false;
        }
    }
    return true;
}

/*  All fields, which point into the text. */
static bool
take_fields (reader *self, lk_flat_field *fields, size_t *count)
{
    *count = 0;
    if (!take (self, '{')) {
        return false;
    }
    if (take (self, '}')) {
        return true;
    }
    do {
        lk_flat_field *field = &fields[*count];
        if (*count == LK_FLAT_MAX || !take_text (self, &field->name)
            || !is_new (fields, *count) || !take (self, ':')
            || !take_value (self, field)) {
            return false;
        }
        (*count)++;
    } while (take (self, ','));
    return take (self, '}');
}

/*  -------------------------------------------------------- keeping */

/*  Copies it and a NUL to *room, and moves that behind them. */
static lk_slice
keep (lk_slice text, char **room)
{
    const lk_slice copy = {*room, text.size};
    lk_slice_keep (text, *room, text.size + 1);
    *room += text.size + 1;
    return copy;
}

static uint64_t
first_bit (const char *name)
{
    return (uint64_t) 1 << (name[0] & 63);
}

/*  Names and values are shorter than in the text, by their quotes. */
lk_flat *
lk_flat_read (lk_slice text)
{
    lk_flat_field fields[LK_FLAT_MAX];
    size_t count;
    reader rest = {text.data, text.data + text.size};
    if (!take_fields (&rest, fields, &count)) {
        return NULL;
    }
    skip_space (&rest);
    if (rest.at != rest.end) {
        return NULL;
    }
    const size_t size = sizeof (lk_flat) + count * sizeof fields[0];
    lk_flat *self = lk_realloc (NULL, size + text.size);
    char *room = (char *) self + size;
    self->first = 0;
    self->count = count;
    for (size_t i = 0; i < count; i++) {
        self->field[i] = fields[i];
        self->field[i].name = keep (fields[i].name, &room);
        self->first |= first_bit (self->field[i].name.data);
        if (fields[i].type == JSON_STRING) {
            self->field[i].text = keep (fields[i].text, &room);
        }
    }
    LK_ASSERT (room <= (char *) self + size + text.size);
    return self;
}

const lk_flat_field *
lk_flat_find (const lk_flat *self, const char *name)
{
    if (!(self->first & first_bit (name))) {
        return NULL;
    }
    const size_t size = strlen (name);
    for (size_t i = 0; i < self->count; i++) {
        const lk_flat_field *field = &self->field[i];
        if (field->name.size == size
            && memcmp (field->name.data, name, size) == 0) {
            return field;
        }
    }
    return NULL;
}

static json_t *
value_of (const lk_flat_field *field)
{
    switch (field->type) {
    case JSON_STRING:
        return json_stringn (field->text.data, field->text.size);
    case JSON_INTEGER:
        return json_integer (field->number);
    case JSON_TRUE:
        return json_true ();
    case JSON_FALSE:
        return json_false ();
    default:
        return json_null ();
    }
}

json_t *
lk_flat_tree (const lk_flat *self)
{
    json_t *tree = json_object ();
    for (size_t i = 0; i < self->count; i++) {
        lk_json_set (tree, self->field[i].name.data,
                     value_of (&self->field[i]));
    }
    return tree;
}
