/*  json.c - JSON texts, bounded
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/json.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>

#define USUAL_SIZE 256 /* of a text that is written */

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

/*  Into the room that is there already, once more if that was too little. */
void
lk_json_write (lk_bytes *out, const json_t *object)
{
    lk_bytes_reserve (out, USUAL_SIZE);
    const size_t room = out->room - out->size;
    const size_t size =
        json_dumpb (object, out->data + out->size, room, JSON_COMPACT);
    char *place = lk_bytes_grow (out, size);
    if (size > room) {
        const size_t again = json_dumpb (object, place, size, JSON_COMPACT);
        LK_ASSERT (again == size);
    }
}

static int
add_text (const char *data, size_t size, void *out)
{
    lk_bytes_add (out, data, size);
    return 0;
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
    const int failed = json_object_set_new_nocheck (object, name, value);
    LK_ASSERT (!failed);
}
