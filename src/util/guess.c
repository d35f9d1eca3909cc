/*  guess.c - which of several names may have been meant
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/guess.h"

#include <string.h>

#define NAME_SIZE_MAX 64

static size_t
least (size_t one, size_t other)
{
    return one < other ? one : other;
}

/*  How many bytes have to be put in, left out or changed. */
static size_t
distance (const char *one, const char *other)
{
    size_t row[NAME_SIZE_MAX + 1];
    const size_t size = strlen (other);

    for (size_t k = 0; k <= size; k++) {
        row[k] = k;
    }
    for (size_t i = 0; one[i] != '\0'; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < size; k++) {
            const size_t above = row[k + 1];
            const size_t change = corner + (one[i] != other[k]);
            row[k + 1] = least (change, least (above, row[k]) + 1);
            corner = above;
        }
    }
    return row[size];
}

void
lk_guess_init (lk_guess *self, const char *word)
{
    *self = (lk_guess) {.word = word, .distance = strlen (word) / 3 + 2};
}

void
lk_guess_try (lk_guess *self, const char *name)
{
    if (strlen (self->word) > NAME_SIZE_MAX || strlen (name) > NAME_SIZE_MAX) {
        return;
    }
    const size_t away = distance (self->word, name);
    if (away < self->distance) {
        self->best = name;
        self->distance = away;
    }
}
