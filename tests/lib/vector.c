/*  vector.c - the example messages of tests/vectors
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A file has a comment (#), the envelope as "key value" lines, the body as
 *  JSON that begins with "{" and ends with "}" in lines of their own (or none
 *  at all), and the frame in hexadecimal digits.
 */

#include "lib/vector.h"
#include "util/assert.h"
#include "util/digits.h"
#include "wire/message_frame.h"

#include <glob.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/vectors/"

static lk_vector vectors[512];
static size_t vector_count;

lk_bytes
lk_vector_file (const char *name)
{
    char path[256];
    snprintf (path, sizeof path, FOLDER "%s", name);
    FILE *file = fopen (path, "r");
    LK_ASSERT (file);
    lk_bytes text = {0};
    char part[4096];
    size_t size;
    while ((size = fread (part, 1, sizeof part, file)) > 0) {
        lk_bytes_add (&text, part, size);
    }
    fclose (file);
    lk_bytes_add (&text, "", 1);
    lk_bytes_cut (&text, text.size - 1);
    return text;
}

/*  -------------------------------------------------------- lines */

/*  The next line, without its end; NULL behind the last. */
static char *
next_line (char **rest)
{
    char *line;
    do {
        line = strsep (rest, "\n");
    } while (line && (line[0] == '#' || line[0] == '\0'));
    return line;
}

static void
read_envelope (lk_vector *self, const char *line)
{
    char value[8];
    const bool known = sscanf (line, "to %127s", self->to) == 1
                       || sscanf (line, "from %127s", self->from) == 1
                       || sscanf (line, "command %31s", self->command) == 1
                       || sscanf (line, "serial %" SCNu64, &self->serial) == 1
                       || sscanf (line, "ttl %u", &self->ttl) == 1
                       || sscanf (line, "crossed %7s", value) == 1;
    LK_ASSERT (known);
    self->crossed |= strncmp (line, "crossed", 7) == 0;
}

static void
read_body (lk_vector *self, char *line, char **rest)
{
    lk_bytes text = {0};
    while (line) {
        lk_bytes_add (&text, line, strlen (line));
        line = line[0] == '}' ? NULL : next_line (rest);
    }
    char problem[128];
    self->body = lk_json_read ((lk_slice) {text.data, text.size}, problem,
                               sizeof problem);
    LK_ASSERT (self->body);
    lk_bytes_clear (&text);
}

static void
read_hex (lk_vector *self, char *line)
{
    char *group;
    while ((group = strsep (&line, " ")) != NULL) {
        const size_t size = strlen (group);
        uint8_t *place = (uint8_t *) lk_bytes_grow (&self->frame, size / 2);
        const bool good = lk_hex_bytes_parse (group, size, place);
        LK_ASSERT (good);
    }
}

static void
read_vector (lk_vector *self, char *text)
{
    char *line;
    while ((line = next_line (&text)) != NULL) {
        if (line[0] == '{') {
            read_body (self, line, &text);
        } else if (self->frame.size || strspn (line, "0123456789abcdef") == 4) {
            read_hex (self, line);
        } else {
            read_envelope (self, line);
        }
    }
    LK_ASSERT (self->frame.size && self->command[0]);
    if (!self->body) {
        self->body = json_object ();
    }
}

/*  -------------------------------------------------------- files */

const lk_vector *
lk_vectors (size_t *count)
{
    glob_t found;
    if (!vector_count && glob (FOLDER "*.txt", 0, NULL, &found) == 0) {
        LK_ASSERT (found.gl_pathc <= sizeof vectors / sizeof vectors[0]);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            lk_vector *self = &vectors[vector_count++];
            const char *name = basename (found.gl_pathv[i]);
            lk_slice_keep ((lk_slice) {name, strlen (name) - 4}, self->name,
                           sizeof self->name);
            lk_bytes text = lk_vector_file (name);
            read_vector (self, text.data);
            lk_bytes_clear (&text);
        }
        globfree (&found);
    }
    LK_ASSERT (vector_count);
    *count = vector_count;
    return vectors;
}

const lk_vector *
lk_vector_find (const char *name)
{
    size_t count;
    const lk_vector *all = lk_vectors (&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp (all[i].name, name) == 0) {
            return &all[i];
        }
    }
    fprintf (stderr, "no example message '%s'\n", name);
    abort ();
}

lk_message *
lk_vector_message (const lk_vector *self)
{
    lk_frame_header header;
    const char *why;
    char problem[128];
    size_t at = 0;
    const lk_frame_result result =
        lk_frame_next (self->frame.data, self->frame.size, &at, &header, &why);
    LK_ASSERT (result == LK_FRAME_MESSAGE && at == self->frame.size);
    lk_message *message = lk_message_read (&header, problem, sizeof problem);
    LK_ASSERT (message);
    return message;
}

/*  -------------------------------------------------------- comparing */

static json_t *
body_of (const lk_message *message)
{
    char problem[128];
    const lk_slice text = lk_slice_of (lk_message_body (message));
    return text.size ? lk_json_read (text, problem, sizeof problem)
                     : json_object ();
}

/*  The first field of `one` that the other has not, or not so. */
static const char *
odd_field (json_t *one, json_t *other)
{
    const char *name;
    json_t *value;
    json_object_foreach (one, name, value) {
        if (!json_equal (value, json_object_get (other, name))) {
            return name;
        }
    }
    return NULL;
}

const char *
lk_vector_differs (const lk_vector *self, const lk_message *message)
{
    static char text[2048];
    json_t *body = body_of (message);
    const char *odd = odd_field (self->body, body);
    odd = odd ? odd : odd_field (body, self->body);
    text[0] = '\0';
    if (odd || strcmp (self->to, lk_message_to (message)) != 0
        || strcmp (self->from, lk_message_from (message)) != 0
        || !lk_message_is (message, self->command)
        || lk_message_serial (message) != self->serial
        || lk_message_ttl (message) != self->ttl) {
        snprintf (text, sizeof text,
                  "%s%s%s: not the example, but %s > %s %s %" PRIu64 " %s",
                  self->name, odd ? ", field " : "", odd ? odd : "",
                  lk_message_from (message), lk_message_to (message),
                  lk_message_command (message), lk_message_serial (message),
                  lk_message_body (message));
    }
    json_decref (body);
    return text;
}
