/*  silence.h - hosts that are not heard any more, and when their locks are free
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A leader tells it in the rows of LOCKLIST.
 */

#ifndef LK_SILENCE_H
#define LK_SILENCE_H

#include <lockkeeper/message.h>

#define LK_SILENCE_HOSTS 64

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    int64_t silent_ms;
    int64_t free_ms; /* -1: nobody can say */
    bool is_static;  /* what it holds stays held */
} lk_silence;

/*  That of a row's host; false: it is heard. */
bool lk_silence_read (const lk_message *row, lk_silence *silence);

/*  A sentence of it, in a line. */
void lk_silence_print (const lk_silence *self);

/*  That of each host among rows, once. */
typedef struct {
    lk_silence item[LK_SILENCE_HOSTS];
    size_t count;
} lk_silences;

void lk_silences_note (lk_silences *self, const lk_message *row);
void lk_silences_print (const lk_silences *self);

#endif
