/*  utf8.h - what counts as text
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_UTF8_H
#define LK_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*  Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates,
 *  nothing over U+10FFFF) without NUL. Empty is. */
bool lk_utf8_is_text (const char *data, size_t size);

/*  Bytes of the character that they begin with, 0 if that is none. */
size_t lk_utf8_first (const char *data, size_t size);

#endif
