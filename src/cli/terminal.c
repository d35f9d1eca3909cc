/*  terminal.c - texts of others on a terminal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Names are what applications say, files what editors left: a terminal must
 *  not take any of it for commands.
 */

#include "cli/terminal.h"

#include "util/escape.h"
#include "util/utf8.h"

#include <string.h>

#define NAME_SIZE_MAX 80

void
lk_show (FILE *file, const char *text)
{
    lk_show_bytes (file, text, strlen (text));
}

void
lk_show_bytes (FILE *file, const char *data, size_t size)
{
    char shown[LK_ESCAPE_SIZE];
    size_t done;
    while ((done = lk_escape_first (data, size, shown)) > 0) {
        fputs (shown, file);
        data += done;
        size -= done;
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
