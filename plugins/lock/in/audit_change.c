/*  audit_change.c - who wants to change members or settings, for the log
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A client that waits says it again, to other hosts, too: each tells of it
 *  once.
 */

#include "edits.h"

#include "audit.h"
#include "text_hash.h"

#include "util/bytes.h"
#include "util/escape.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_SIZE 160 /* of a line of the settings */

/*  Whether it is something else than the last one. */
static bool
is_new (lk_lockd *self, const char *from, const char *what, const char *text)
{
    lk_bytes all = {.data = NULL};
    uint64_t hash[2];
    lk_bytes_add (&all, from, strlen (from) + 1);
    lk_bytes_add (&all, what, strlen (what) + 1);
    lk_bytes_add (&all, text, strlen (text));
    lk_text_hash ((lk_name) {(const char *) all.data, (uint16_t) all.size},
                  hash);
    lk_bytes_clear (&all);
    const bool is_it = memcmp (hash, self->audited, sizeof hash) != 0;
    memcpy (self->audited, hash, sizeof hash);
    return is_it;
}

/*  -------------------------------------------------------- settings */

/*  The next line of a text, without its indentation; size 0: its end. */
static lk_name
next_line (const char **at, const char *end)
{
    lk_name line = {.size = 0};
    while (*at < end && (**at == '\n' || **at == ' ')) {
        (*at)++;
    }
    line.data = *at;
    while (*at < end && **at != '\n') {
        (*at)++;
    }
    line.size = (uint16_t) (*at - line.data);
    return line;
}

static bool
has_line (lk_name text, lk_name wanted)
{
    const char *at = text.data, *end = text.data + text.size;
    lk_name line;
    while ((line = next_line (&at, end)).size > 0) {
        if (line.size == wanted.size
            && memcmp (line.data, wanted.data, line.size) == 0) {
            return true;
        }
    }
    return false;
}

/*  How many lines of one text another one has not, and the first of them. */
static unsigned
count_missing (lk_name of, lk_name in, char first[SHOWN_SIZE])
{
    const char *at = of.data, *end = of.data + of.size;
    unsigned count = 0;
    lk_name line;
    first[0] = '\0';
    while ((line = next_line (&at, end)).size > 0) {
        if (!has_line (in, line) && count++ == 0) {
            lk_escape (line.data, line.size, first, SHOWN_SIZE);
            for (char *c = first; (c = strchr (c, '"')) != NULL; c++) {
                *c = '\'';
            }
        }
    }
    return count;
}

void
lk_lockd_audit_settings (lk_lockd *self, const lk_message *message,
                         const lk_view *view)
{
    char what[3 * SHOWN_SIZE], in[SHOWN_SIZE], out[SHOWN_SIZE];
    const char *text = lk_message_text (message, "text");
    const int64_t base = lk_message_number (message, "base", -1);
    lk_node_status status;
    if (!lk_message_is (message, "LOCKSETTINGS") || !text) {
        return;
    }
    lk_node_get_status (self->node, &status);
    const lk_name now = {status.settings_text.data ? status.settings_text.data
                                                   : "",
                         status.settings_text.size};
    const lk_name then = {text, (uint16_t) strlen (text)};
    const unsigned in_count = count_missing (then, now, in);
    const unsigned out_count = count_missing (now, then, out);
    snprintf (what, sizeof what, "base=%" PRId64, base);
    if (is_new (self, lk_message_from (message), what, text)) {
        snprintf (what, sizeof what,
                  "base=%" PRId64 " in=%u out=%u in-first=\"%s\" "
                  "out-first=\"%s\"",
                  base, in_count, out_count, in, out);
        lk_lockd_audit (self, "settings", &view->who, lk_message_from (message),
                        what);
    }
}

/*  -------------------------------------------------------- members */

void
lk_lockd_audit_members (lk_lockd *self, const lk_message *message,
                        const lk_view *view)
{
    char host[LK_HOST_LEN_MAX + 1], what[SHOWN_SIZE];
    const char *field = lk_message_has (message, "add") ? "add" : "remove";
    const char *text = lk_message_text (message, field);
    const char *name = text ? text : "";
    snprintf (what, sizeof what, "%s=%s", field,
              lk_escape (name, strlen (name), host, sizeof host));
    if (is_new (self, lk_message_from (message), what, "")) {
        lk_lockd_audit (self, "members", &view->who, lk_message_from (message),
                        what);
    }
}
