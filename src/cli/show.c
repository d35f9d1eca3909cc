/*  show.c - texts of others on a terminal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Names are what applications say, files what editors left: a terminal must
 *  not take any of it for commands.
 */

#include "cli/show.h"

#include "util/utf8.h"

#include <stdbool.h>
#include <string.h>

#define NAME_SIZE_MAX 80
#define C1_FIRST 0xc2 /* 0xc2 0x80 to 0xc2 0x9f: control characters, too */
#define C1_END 0xa0

static bool
is_control (const char *character, size_t size)
{
    const unsigned char *bytes = (const unsigned char *) character;
    return bytes[0] < ' ' || bytes[0] == 127
           || (size == 2 && bytes[0] == C1_FIRST && bytes[1] < C1_END);
}

void
lk_show (FILE *file, const char *text)
{
    size_t left = strlen (text);
    while (left > 0) {
        size_t size = lk_utf8_first (text, left);
        const bool plain = size > 0 && !is_control (text, size);
        size += size == 0;
        for (size_t i = 0; i < size; i++) {
            fprintf (file, plain ? "%c" : "\\x%02x", (unsigned char) text[i]);
        }
        text += size;
        left -= size;
    }
}

/*  Between two characters, if it has some. */
lk_shown
lk_shown_name (const char *name)
{
    lk_shown shown;
    size_t size = strlen (name), used = 0;
    if (size <= NAME_SIZE_MAX) {
        snprintf (shown.text, sizeof shown.text, "%s", name);
        return shown;
    }
    while (used < NAME_SIZE_MAX) {
        const size_t next = lk_utf8_first (name + used, size - used);
        if (used + next > NAME_SIZE_MAX) {
            break;
        }
        used += next + (next == 0);
    }
    snprintf (shown.text, sizeof shown.text, "%.*s...", (int) used, name);
    return shown;
}
