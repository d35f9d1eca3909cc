/*  config_values.c - what files and command line say of the keys of a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/config_values.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  -------------------------------------------------------- ranges */

static bool
read_number (const char *text, int base, int64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoll (text, &end, base);
    return end != text && *end == '\0' && errno == 0;
}

static bool
read_flag (const char *text, bool *flag)
{
    static const char *const words[] = {"no",  "yes", "false", "true",
                                        "off", "on",  "0",     "1"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp (text, words[i]) == 0) {
            *flag = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static bool
is_choice (const char *choices, const char *text)
{
    size_t size = strlen (text);

    for (const char *at = choices; at; at = strchr (at, '|')) {
        at += *at == '|';
        if (size == strcspn (at, "|") && strncmp (at, text, size) == 0) {
            return true;
        }
    }
    return false;
}

static bool
allows_number (const lk_config_key *key, const char *value)
{
    int64_t number;

    return read_number (value, key->type == LK_CONFIG_OCTAL ? 8 : 10, &number)
           && number >= key->min && number <= key->max;
}

static bool
allows_text (const lk_config_key *key, const char *value)
{
    int64_t size = (int64_t) strlen (value);

    return key->max == 0 || (size >= key->min && size <= key->max);
}

void
lk_config_range (const lk_config_key *key, char *text, size_t size)
{
    const long long min = key->min, max = key->max;

    switch (key->type) {
    case LK_CONFIG_TEXT:
    case LK_CONFIG_LIST:
        snprintf (text, size, "a text of %lld to %lld bytes", min, max);
        break;
    case LK_CONFIG_NUMBER:
        snprintf (text, size, "a number from %lld to %lld", min, max);
        break;
    case LK_CONFIG_OCTAL:
        snprintf (text, size, "a file mode from %llo to %llo", min, max);
        break;
    case LK_CONFIG_FLAG:
        snprintf (text, size, "yes or no");
        break;
    case LK_CONFIG_CHOICE:
        snprintf (text, size, "one of %s", key->choices);
        break;
    }
}

bool
lk_config_allows (const lk_config_key *key, const char *value)
{
    bool flag;

    switch (key->type) {
    case LK_CONFIG_TEXT:
    case LK_CONFIG_LIST:
        return allows_text (key, value);
    case LK_CONFIG_NUMBER:
    case LK_CONFIG_OCTAL:
        return allows_number (key, value);
    case LK_CONFIG_FLAG:
        return read_flag (value, &flag);
    case LK_CONFIG_CHOICE:
        return is_choice (key->choices, value);
    }
    return false;
}

/*  -------------------------------------------------------- layers */

static size_t
count_keys (const lk_config_key *keys)
{
    size_t count = 0;

    while (keys[count].key) {
        count++;
    }
    return count;
}

size_t
lk_config_find (const lk_config_key *keys, const char *path)
{
    for (size_t i = 0; keys[i].key; i++) {
        if (strcmp (keys[i].key, path) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

void
lk_config_layer_init (lk_config_layer *self, const lk_config_key *keys)
{
    *self = (lk_config_layer) {
        .values = lk_alloc (count_keys (keys) * sizeof self->values[0] + 1)};
}

void
lk_config_layer_drop (lk_config_layer *self, size_t place)
{
    lk_config_values *values = &self->values[place];

    for (size_t i = 0; i < values->count; i++) {
        lk_free (values->items[i].text);
    }
    lk_free (values->items);
    *values = (lk_config_values) {0};
}

void
lk_config_layer_clear (lk_config_layer *self, const lk_config_key *keys)
{
    for (size_t i = 0; keys[i].key; i++) {
        lk_config_layer_drop (self, i);
    }
    for (size_t i = 0; i < self->file_count; i++) {
        lk_free (self->files[i]);
    }
    lk_free (self->files);
    lk_free (self->values);
    *self = (lk_config_layer) {0};
}

void
lk_config_layer_add (lk_config_layer *self, size_t place, const char *value,
                     size_t file, unsigned line)
{
    lk_config_values *values = &self->values[place];

    values->items = lk_realloc (values->items,
                                (values->count + 1) * sizeof values->items[0]);
    values->items[values->count++] = (lk_config_value) {
        .text = lk_strdup (value), .file = file, .line = line};
}

/*  -------------------------------------------------------- values */

static size_t
place_of (const lk_config *self, const char *key)
{
    size_t place = lk_config_find (self->keys, key);

    LK_ASSERT (place != SIZE_MAX);
    return place;
}

static const lk_config_values *
values_at (const lk_config *self, size_t place)
{
    if (self->options.values[place].count > 0) {
        return &self->options.values[place];
    }
    if (self->file.values[place].count > 0) {
        return &self->file.values[place];
    }
    return &self->defaults.values[place];
}

const char *
lk_config_text (const lk_config *self, const char *key)
{
    size_t place = place_of (self, key);
    const lk_config_values *values = values_at (self, place);

    LK_ASSERT (self->keys[place].type == LK_CONFIG_TEXT
               || self->keys[place].type == LK_CONFIG_CHOICE);
    return values->count > 0 ? values->items[0].text : NULL;
}

int64_t
lk_config_number (const lk_config *self, const char *key)
{
    size_t place = place_of (self, key);
    const lk_config_values *values = values_at (self, place);
    bool is_octal = self->keys[place].type == LK_CONFIG_OCTAL;
    int64_t number = 0;

    LK_ASSERT (is_octal || self->keys[place].type == LK_CONFIG_NUMBER);
    if (values->count > 0) {
        bool is_good =
            read_number (values->items[0].text, is_octal ? 8 : 10, &number);
        LK_ASSERT (is_good);
    }
    return number;
}

bool
lk_config_flag (const lk_config *self, const char *key)
{
    size_t place = place_of (self, key);
    const lk_config_values *values = values_at (self, place);
    bool flag = false;

    LK_ASSERT (self->keys[place].type == LK_CONFIG_FLAG);
    if (values->count > 0) {
        bool is_good = read_flag (values->items[0].text, &flag);
        LK_ASSERT (is_good);
    }
    return flag;
}

const char *
lk_config_item (const lk_config *self, const char *key, size_t position)
{
    size_t place = place_of (self, key);
    const lk_config_values *values = values_at (self, place);

    LK_ASSERT (self->keys[place].type == LK_CONFIG_LIST);
    return position < values->count ? values->items[position].text : NULL;
}

const char *
lk_config_written (const lk_config *self, const char *key, size_t position)
{
    const lk_config_values *values = values_at (self, place_of (self, key));

    return position < values->count ? values->items[position].text : NULL;
}

lk_config_origin
lk_config_origin_of (const lk_config *self, const char *key, size_t position)
{
    const size_t place = place_of (self, key);
    const lk_config_values *values = values_at (self, place);

    if (position >= values->count) {
        return (lk_config_origin) {.source = LK_FROM_NOWHERE};
    }
    if (values == &self->defaults.values[place]) {
        return (lk_config_origin) {.source = LK_FROM_DEFAULT};
    }
    if (values == &self->options.values[place]) {
        return (lk_config_origin) {.source = LK_FROM_OPTION};
    }
    return (lk_config_origin) {
        .source = LK_FROM_FILE,
        .path = self->file.files[values->items[position].file],
        .line = values->items[position].line};
}

const lk_config_key *
lk_config_key_of (const lk_config_key *keys, const char *path)
{
    const size_t place = lk_config_find (keys, path);

    return place != SIZE_MAX ? &keys[place] : NULL;
}

const char *
lk_config_file (const lk_config *self, size_t position)
{
    return position < self->file.file_count ? self->file.files[position] : NULL;
}
