/*  json.c - JSON texts, bounded
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/json.h"
#include "util/assert.h"
#include "util/utf8.h"

#include <stdio.h>
#include <string.h>

/*  Looks at brackets outside of texts only; whether it is JSON at all is for
 *  the parser to say, which recurses and so must not see deep ones. */
static bool
is_shallow (lk_slice text)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (quoted && c == '\\') {
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '{' || c == '[')) {
            if (++depth > LK_JSON_DEPTH_MAX) {
                return false;
            }
        } else if (!quoted && (c == '}' || c == ']')) {
            depth--;
        }
    }
    return true;
}

json_t *
lk_json_read (lk_slice text, char *problem, size_t problem_size)
{
    if (!text.size || !is_shallow (text)) {
        snprintf (problem, problem_size, "%s",
                  text.size ? "nested too deep" : "empty");
        return NULL;
    }
    json_error_t error;
    json_t *object =
        json_loadb (text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        snprintf (problem, problem_size, "line %d: %s", error.line, error.text);
        return NULL;
    }
    if (!json_is_object (object)) {
        snprintf (problem, problem_size, "not an object");
        json_decref (object);
        return NULL;
    }
    return object;
}

static int
add_text (const char *data, size_t size, void *out)
{
    lk_bytes_add (out, data, size);
    return 0;
}

void
lk_json_write (lk_bytes *out, const json_t *object)
{
    const int failed = json_dump_callback (object, add_text, out, JSON_COMPACT);
    LK_ASSERT (!failed);
}

/*  Adds a character that may not stand for itself. */
static void
add_escaped (lk_bytes *out, char c)
{
    static const char letters[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    char text[7];
    if (c == '"' || c == '\\') {
        snprintf (text, sizeof text, "\\%c", c);
    } else if ((size_t) c < sizeof letters && letters[(size_t) c]) {
        snprintf (text, sizeof text, "\\%c", letters[(size_t) c]);
    } else {
        snprintf (text, sizeof text, "\\u%04X", (unsigned) c);
    }
    lk_bytes_add (out, text, strlen (text));
}

/*  ASCII that stands for itself, by table: each byte of each text is looked
 *  at. */
static const bool stands_for_itself[256] = {
    [0x20 ... '"' - 1] = true,
    ['"' + 1 ... '\\' - 1] = true,
    ['\\' + 1 ... 0x7f] = true,
};

static bool
is_plain (lk_slice text)
{
    size_t at = 0;
    while (at < text.size && stands_for_itself[(uint8_t) text.data[at]]) {
        at++;
    }
    return at == text.size;
}

/*  Bytes from `at` on that stand for themselves. */
static size_t
plain_size (lk_slice text, size_t at, bool *ascii)
{
    const size_t begin = at;
    for (; at < text.size; at++) {
        const unsigned char c = (unsigned char) text.data[at];
        if (c < 0x20 || c == '"' || c == '\\') {
            break;
        }
        *ascii &= c < 0x80;
    }
    return at - begin;
}

/*  With its quotes. */
static void
add_plain (lk_bytes *out, lk_slice text)
{
    char *place = lk_bytes_grow (out, text.size + 2);
    place[0] = '"';
    memcpy (place + 1, text.data, text.size);
    place[text.size + 1] = '"';
}

bool
lk_json_add_text (lk_bytes *out, lk_slice text)
{
    const size_t start = out->size;
    bool ascii = true;
    if (text.size && is_plain (text)) {
        add_plain (out, text);
        return true;
    }
    lk_bytes_add (out, "\"", 1);
    for (size_t at = 0; at < text.size; at++) {
        const size_t plain = plain_size (text, at, &ascii);
        lk_bytes_add (out, text.data + at, plain);
        at += plain;
        ascii &= at == text.size || text.data[at];
        if (at < text.size) {
            add_escaped (out, text.data[at]);
        }
    }
    lk_bytes_add (out, "\"", 1);
    if (!ascii && !lk_utf8_is_text (text.data, text.size)) {
        lk_bytes_cut (out, start);
        return false;
    }
    return true;
}

char *
lk_json_pretty (const json_t *object)
{
    lk_bytes out = {0};
    const int failed =
        json_dump_callback (object, add_text, &out, JSON_INDENT (2));
    LK_ASSERT (!failed);
    lk_bytes_add (&out, "\n", 2); /* with its NUL */
    return out.data;
}

void
lk_json_set (json_t *object, const char *name, json_t *value)
{
    LK_ASSERT (value);
    const int failed = json_object_set_new (object, name, value);
    LK_ASSERT (!failed);
}
