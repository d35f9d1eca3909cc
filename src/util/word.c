/*  word.c - words of a line, with blanks between
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/word.h"

#include <string.h>

bool
lk_word_take (const char **at, char *word, size_t size)
{
    *at += strspn (*at, " ");
    const size_t length = strcspn (*at, " ");
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy (word, *at, length);
    word[length] = '\0';
    *at += length;
    return true;
}
