/*  error.c - words and sentences for lk_err
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include <lockkeeper/error.h>

#include <stddef.h>
#include <string.h>

#define WORD(number, word, text) word,
static const char *const words[LK_ERROR_COUNT] = {LK_ERRORS (WORD)};
#undef WORD

#define TEXT(number, word, text) text,
static const char *const texts[LK_ERROR_COUNT] = {LK_ERRORS (TEXT)};
#undef TEXT

static lk_err
known (lk_err error)
{
    return (unsigned) error < LK_ERROR_COUNT ? error : LK_UNKNOWN;
}

const char *
lk_err_word (lk_err error)
{
    return words[known (error)];
}

const char *
lk_err_text (lk_err error)
{
    return texts[known (error)];
}

lk_err
lk_err_from_word (const char *word)
{
    for (size_t i = 0; word && i < LK_ERROR_COUNT; i++) {
        if (strcmp (word, words[i]) == 0) {
            return (lk_err) i;
        }
    }
    return LK_UNKNOWN;
}
