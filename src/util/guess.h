/*  guess.h - which of several names may have been meant
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_GUESS_H
#define LK_GUESS_H

#include <stddef.h>

/*  Borrows the word and the names, and has the best of them so far: NULL, if a
 *  third of the word's bytes is wrong in all. */
typedef struct {
    const char *word;
    const char *best;
    size_t distance;
} lk_guess;

void lk_guess_init (lk_guess *self, const char *word);
void lk_guess_try (lk_guess *self, const char *name);

#endif
