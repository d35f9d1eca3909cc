/*  escape.c - bytes of others, made fit for people and their terminals
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/escape.h"
#include "util/assert.h"
#include "util/digits.h"
#include "util/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REST "..."
#define REST_SIZE (sizeof REST - 1)
#define C1_FIRST 0xc2 /* 0xc2 0x80 to 0xc2 0x9f: control characters, too */
#define C1_END 0xa0

/*  What turns the direction of what follows, or is seen as a new line: U+2028
 *  to U+202E, U+2066 to U+2069. */
static bool
is_turn (const uint8_t *character, size_t size)
{
    return size == 3 && character[0] == 0xe2
           && ((character[1] == 0x80 && character[2] >= 0xa8
                && character[2] <= 0xae)
               || (character[1] == 0x81 && character[2] >= 0xa6
                   && character[2] <= 0xa9));
}

static bool
is_control (const uint8_t *character, size_t size)
{
    return character[0] < ' ' || character[0] == 127
           || (size == 2 && character[0] == C1_FIRST && character[1] < C1_END)
           || is_turn (character, size);
}

size_t
lk_escape_first (const char *data, size_t size, char text[LK_ESCAPE_SIZE])
{
    const uint8_t *bytes = (const uint8_t *) data;
    size_t first = lk_utf8_first (data, size);
    if (first > 0 && !is_control (bytes, first)) {
        memcpy (text, data, first);
        text[first] = '\0';
        return first;
    }
    first += first == 0 && size > 0;
    text[0] = '\0';
    for (size_t i = 0; i < first; i++) {
        memcpy (text + 4 * i, "\\x", 2);
        lk_hex_bytes_format (bytes + i, 1, text + 4 * i + 2);
    }
    return first;
}

const char *
lk_escape (const char *data, size_t size, char *text, size_t room)
{
    char next[LK_ESCAPE_SIZE];
    size_t used = 0, cut = 0; /* `cut`: the last place that "..." fits to */
    LK_ASSERT (room > REST_SIZE);
    while (size > 0) {
        const size_t first = lk_escape_first (data, size, next);
        const size_t shown = strlen (next);
        if (used + shown >= room) {
            memcpy (text + cut, REST, REST_SIZE);
            used = cut + REST_SIZE;
            break;
        }
        memcpy (text + used, next, shown);
        used += shown;
        cut = used + REST_SIZE < room ? used : cut;
        data += first;
        size -= first;
    }
    text[used] = '\0';
    return text;
}
