/*  throttle.h - slows down guesses
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure. One of these counts by user, another by address. The third wrong
 *  log-in costs a wait of a second, and each further one doubles that. A table
 *  that is full forgets who was wrong the longest time ago.
 */

#ifndef LK_THROTTLE_H
#define LK_THROTTLE_H

#include <lockkeeper/message.h>
#include <stdint.h>

#define LK_THROTTLE_ROWS_MAX 1024
#define LK_THROTTLE_FREE 3               /* wrong ones until there is a wait */
#define LK_THROTTLE_FIRST_MS 1000        /* the first wait */
#define LK_THROTTLE_MOST_MS (300 * 1000) /* the longest */
#define LK_THROTTLE_MEMORY_MS (3600 * 1000) /* forgotten after that */
#define LK_THROTTLE_WHO_SIZE 256

typedef enum { LK_GUESS_RIGHT, LK_GUESS_WRONG, LK_GUESS_UNDECIDED } lk_guess;

typedef struct {
    char who[LK_THROTTLE_WHO_SIZE]; /* "": a free row */
    unsigned wrong;                 /* in a row */
    unsigned asking;                /* under way */
    int64_t last_ms;                /* when the last one began */
    int64_t until_ms;               /* no further one until then */
} lk_throttle_row;

typedef struct {
    unsigned most;    /* of one `who` at once, while none was wrong */
    bool keeps_count; /* a right one does not make up for wrong ones */
    lk_throttle_row rows[LK_THROTTLE_ROWS_MAX];
} lk_throttle;

/*  Begins a try of `who`: 0, and lk_throttle_end is to follow; or after how
 *  many milliseconds it may be tried again. Who was wrong too often may have
 *  one at a time only. */
int64_t lk_throttle_begin (lk_throttle *self, const char *who, int64_t now_ms);

void lk_throttle_end (lk_throttle *self, const char *who, lk_guess guess,
                      int64_t now_ms);

/*  The name by which an address is counted: a machine may have all of 2^64
 *  addresses of IPv6 that differ behind their first half. */
void lk_throttle_address (const char *address, char who[LK_THROTTLE_WHO_SIZE]);

#endif
