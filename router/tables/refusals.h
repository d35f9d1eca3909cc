/*  refusals.h - who was turned away, or turned us away, of late
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A router that is refused tries again, several times a second if it has many
 *  neighbours: each refusal is logged once, and then seldom. A new key for each
 *  try fills no disk: there are so many lines a minute, and no more.
 *  Pure.
 */

#ifndef LK_REFUSALS_H
#define LK_REFUSALS_H

#include "bounds.h"

#define LK_REFUSALS_MAX 32        /* the one that is silent longest goes */
#define LK_REFUSALS_LOG_MS 600000 /* until the same is logged again */
#define LK_REFUSALS_NOW_MS 10000  /* so long it counts as going on */
#define LK_REFUSALS_LINES 32      /* that are logged in a minute, of all */
#define LK_REFUSALS_MINUTE_MS 60000

typedef struct {
    const char *what; /* a literal: "refused", by us; "refused by it" */
    char reason[LK_REASON_LEN_MAX + 1];
    char host[LK_HOST_LEN_MAX + 1]; /* of a log-in: its user */
    char address[LK_ADDRESS_LEN_MAX + 1];
    int64_t first_ms, last_ms, logged_ms;
    uint64_t count;
} lk_refusal;

typedef struct {
    lk_refusal item[LK_REFUSALS_MAX];
    size_t count;
    int64_t minute_ms; /* it began */
    unsigned lines;    /* logged in it */
} lk_refusals;

/*  Notes one, whose times are not looked at; true if it is to be logged now. */
bool lk_refusals_note (lk_refusals *self, const lk_refusal *refusal,
                       int64_t now_ms);

/*  Whether it goes on. */
bool lk_refusal_is_now (const lk_refusal *self, int64_t now_ms);

#endif
