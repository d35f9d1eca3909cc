/*  escape.h - bytes of others, made fit for people and their terminals
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  UTF-8 stays as it is; control characters, those that turn the direction of
 *  a text too, and bytes that are no UTF-8 become \xHH.
 */

#ifndef LK_ESCAPE_H
#define LK_ESCAPE_H

#include <stddef.h>

#define LK_ESCAPE_SIZE 13 /* three escaped bytes and a NUL */

/*  What the bytes begin with, as people may see it, and a NUL. Returns how
 *  many bytes that were; 0 if there are none. */
size_t lk_escape_first (const char *data, size_t size,
                        char text[LK_ESCAPE_SIZE]);

/*  All of them, in `text`, which has room for `room` bytes, at least 4, with
 *  the NUL. "..." stands for what does not fit, but none for half a character.
 *  Returns `text`. */
const char *lk_escape (const char *data, size_t size, char *text, size_t room);

/*  Room that is always enough. */
#define LK_ESCAPE_ROOM(size) (4 * (size_t) (size) + 4)

#endif
