/*  word.h - words of a line, with blanks between
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_WORD_H
#define LK_WORD_H

#include <stdbool.h>
#include <stddef.h>

/*  Takes the next word off *at, and the blanks ahead of it. `size`: room, with
 *  the NUL. False: there is none, or no room for it. */
bool lk_word_take (const char **at, char *word, size_t size);

#endif
