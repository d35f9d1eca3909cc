/*  announcement.c - see announcement.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/announcement.h"

#include <stdio.h>
#include <string.h>

bool
lk_announcement_write (const lk_announcement *self,
                       char text[LK_ANNOUNCEMENT_SIZE])
{
    const int size = snprintf (text, LK_ANNOUNCEMENT_SIZE,
                               LK_ANNOUNCEMENT_BEGIN "%s %s %s %s",
                               self->cluster[0] != '\0' ? self->cluster : "-",
                               self->host, self->address, self->fingerprint);
    return size < LK_ANNOUNCEMENT_SIZE;
}

/*  Takes a word that is there, of at most so many bytes with its end. */
static bool
take_word (const char **text, char *word, size_t size)
{
    const size_t len = strcspn (*text, " ");
    if (len == 0 || len >= size) {
        return false;
    }
    memcpy (word, *text, len);
    word[len] = '\0';
    *text += len + ((*text)[len] == ' ');
    return true;
}

bool
lk_announcement_read (lk_announcement *self, const char *data, size_t size)
{
    char line[LK_ANNOUNCEMENT_SIZE];
    const char *at = line + strlen (LK_ANNOUNCEMENT_BEGIN);
    if (size >= sizeof line) {
        return false;
    }
    memcpy (line, data, size);
    line[size] = '\0';
    return strncmp (line, LK_ANNOUNCEMENT_BEGIN, strlen (LK_ANNOUNCEMENT_BEGIN))
               == 0
           && take_word (&at, self->cluster, sizeof self->cluster)
           && take_word (&at, self->host, sizeof self->host)
           && take_word (&at, self->address, sizeof self->address)
           && take_word (&at, self->fingerprint, sizeof self->fingerprint)
           && at[0] == '\0';
}
