/*  silence.c - hosts that are not heard any more, and when their locks are free
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/silence.h"

#include "cli/terminal.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

bool
lk_silence_read (const lk_message *row, lk_silence *silence)
{
    const char *host = lk_message_text (row, "host");
    *silence = (lk_silence) {
        .silent_ms = lk_message_number (row, "silent_ms", 0),
        .free_ms = lk_message_number (row, "free_ms", -1),
        .is_static = lk_message_flag (row, "static"),
    };
    snprintf (silence->host, sizeof silence->host, "%s", host ? host : "?");
    return lk_message_has (row, "silent_ms");
}

void
lk_silence_print (const lk_silence *self)
{
    printf ("%s%s is silent%s since %s", lk_color_begin (LK_BAD),
            lk_shown_name (self->host).text, lk_color_end (),
            lk_span (self->silent_ms).text);
    if (self->free_ms >= 0) {
        printf (", free in %s at the latest\n", lk_span (self->free_ms).text);
    } else {
        puts (self->is_static ? ", static: it stays held"
                              : ", but another leader hears it");
    }
}

/*  The last one of what a host has, of its sessions. */
static bool
is_later (const lk_silence *one, const lk_silence *other)
{
    return one->free_ms > other->free_ms;
}

void
lk_silences_note (lk_silences *self, const lk_message *row)
{
    lk_silence silence;
    size_t i = 0;
    if (!lk_silence_read (row, &silence)) {
        return;
    }
    while (i < self->count && strcmp (self->item[i].host, silence.host) != 0) {
        i++;
    }
    if (i == LK_SILENCE_HOSTS) {
        return;
    }
    if (i == self->count || is_later (&silence, &self->item[i])) {
        self->item[i] = silence;
    }
    self->count += i == self->count;
}

void
lk_silences_print (const lk_silences *self)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_silence_print (&self->item[i]);
    }
}
