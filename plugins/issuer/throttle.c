/*  throttle.c - slows down guesses
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "throttle.h"

#include "util/assert.h"
#include "util/digits.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define BUSY_MS 1000 /* until one that is under way may have ended */

static bool
is_forgotten (const lk_throttle_row *row, int64_t now_ms)
{
    return row->asking == 0
           && (row->wrong == 0
               || now_ms - row->last_ms >= LK_THROTTLE_MEMORY_MS);
}

static lk_throttle_row *
find (lk_throttle *self, const char *who)
{
    for (size_t i = 0; i < LK_THROTTLE_ROWS_MAX; i++) {
        if (strcmp (self->rows[i].who, who) == 0) {
            return &self->rows[i];
        }
    }
    return NULL;
}

/*  Rows with something under way stay. */
static lk_throttle_row *
make_room (lk_throttle *self, int64_t now_ms)
{
    lk_throttle_row *oldest = NULL;
    for (size_t i = 0; i < LK_THROTTLE_ROWS_MAX; i++) {
        lk_throttle_row *row = &self->rows[i];
        if (row->who[0] == '\0' || is_forgotten (row, now_ms)) {
            return row;
        }
        if (row->asking == 0
            && (oldest == NULL || row->last_ms < oldest->last_ms)) {
            oldest = row;
        }
    }
    return oldest;
}

int64_t
lk_throttle_begin (lk_throttle *self, const char *who, int64_t now_ms)
{
    LK_ASSERT (who[0] != '\0' && strlen (who) < LK_THROTTLE_WHO_SIZE);
    lk_throttle_row *row = find (self, who);
    if (row == NULL || is_forgotten (row, now_ms)) {
        row = row != NULL ? row : make_room (self, now_ms);
        if (row == NULL) {
            return BUSY_MS;
        }
        *row = (lk_throttle_row) {.last_ms = now_ms};
        snprintf (row->who, sizeof row->who, "%s", who);
    }
    if (row->until_ms > now_ms) {
        return row->until_ms - now_ms;
    }
    if (row->asking >= (row->wrong < LK_THROTTLE_FREE ? self->most : 1)) {
        return BUSY_MS;
    }
    row->asking++;
    row->last_ms = now_ms;
    return 0;
}

static int64_t
wait_of (unsigned wrong)
{
    const unsigned doubled = wrong - LK_THROTTLE_FREE;
    const int64_t wait = (int64_t) LK_THROTTLE_FIRST_MS
                         << (doubled < 16 ? doubled : 16);
    return wait < LK_THROTTLE_MOST_MS ? wait : LK_THROTTLE_MOST_MS;
}

void
lk_throttle_end (lk_throttle *self, const char *who, lk_guess guess,
                 int64_t now_ms)
{
    lk_throttle_row *row = find (self, who);
    LK_ASSERT (row != NULL && row->asking > 0);
    row->asking--;
    if (guess == LK_GUESS_RIGHT && !self->keeps_count) {
        row->wrong = 0;
        row->until_ms = 0;
    } else if (guess == LK_GUESS_WRONG) {
        row->wrong++;
        row->last_ms = now_ms;
        if (row->wrong >= LK_THROTTLE_FREE) {
            row->until_ms = now_ms + wait_of (row->wrong);
        }
    }
}

void
lk_throttle_address (const char *address, char who[LK_THROTTLE_WHO_SIZE])
{
    unsigned char raw[16];
    char half[17];
    if (inet_pton (AF_INET6, address, raw) == 1) {
        lk_hex_bytes_format (raw, sizeof raw / 2, half);
        snprintf (who, LK_THROTTLE_WHO_SIZE, "%s/64", half);
    } else {
        snprintf (who, LK_THROTTLE_WHO_SIZE, "%.100s",
                  address[0] != '\0' ? address : "?");
    }
}
