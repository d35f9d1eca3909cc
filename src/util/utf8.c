/*  utf8.c - what counts as text
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/utf8.h"

#include <stdint.h>

/*  Bytes behind the first one; -1 if none begins a character like that. */
static int
bytes_behind (uint8_t first)
{
    if (first < 0x80) {
        return first ? 0 : -1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return -1;
    }
    return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/*  Overlong forms, surrogates and what is too large show in the second. */
static bool
second_fits (uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second < 0xa0;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t
lk_utf8_first (const char *data, size_t size)
{
    const uint8_t *bytes = (const uint8_t *) data;
    const int behind = size > 0 ? bytes_behind (bytes[0]) : -1;
    if (behind < 0 || (size_t) behind >= size
        || (behind && !second_fits (bytes[0], bytes[1]))) {
        return 0;
    }
    for (int i = 1; i <= behind; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return (size_t) behind + 1;
}

bool
lk_utf8_is_text (const char *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        const unsigned char c = (unsigned char) data[at];
        if (c > 0 && c < 0x80) {
            at++;
            continue;
        }
        const size_t first = lk_utf8_first (data + at, size - at);
        if (first == 0) {
            return false;
        }
        at += first;
    }
    return true;
}
