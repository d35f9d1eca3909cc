/*  renewal.h - when a client's credential is renewed, and when that is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Decides, and does nothing: far_renew.c has the file and the servers. Times
 *  are of the boot clock, from what is left by the server's word: the clock of
 *  the wall of a client may be wrong. lockkeeper_session(3), CREDENTIALS.
 */

#ifndef LK_RENEWAL_H
#define LK_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

#define LK_RENEWAL_LEAD_MS 600000  /* so long ahead of the end, or longer */
#define LK_RENEWAL_WARN_MS 60000   /* so long ahead its end is told anyway */
#define LK_RENEWAL_ANSWER_MS 20000 /* for a new one, or READY */
#define LK_RENEWAL_LOOK_MS 5000    /* between looks into the file */
#define LK_RENEWAL_AGAIN_MS 30000  /* between RENEWs that failed */

typedef enum {
    LK_RENEWAL_IDLE,
    LK_RENEWAL_LOOK, /* whether the file has another one: lk_renewal_looked */
    LK_RENEWAL_ASK   /* RENEW */
} lk_renewal_deed;

typedef struct {
    int64_t ends_ms;   /* INT64_MAX: it has no end, or there is none */
    int64_t begins_ms; /* to be renewed */
    int64_t look_ms;   /* the file is looked at next */
    int64_t ask_ms;    /* RENEW next; INT64_MAX: it cannot be renewed */
    bool has_looked;   /* ahead of that RENEW */
    bool is_refused;   /* by RENEW, or it is of no log-in */
    bool is_shown;     /* another one, whose end no server has said yet */
} lk_renewal;

/*  No credential, or one without an end. */
void lk_renewal_init (lk_renewal *self);

/*  The server knows one until then. `life_ms`: how long it lasts in all, 0: not
 *  known; it may be renewed if somebody has logged in for it. `lot`, 0 to 255,
 *  is drawn: several processes do not begin at once. The same end as before
 *  changes nothing. */
void lk_renewal_begin (lk_renewal *self, int64_t ends_ms, int64_t life_ms,
                       bool may_renew, uint8_t lot);

/*  The step to do now, which is noted as done. */
lk_renewal_deed lk_renewal_next (lk_renewal *self, int64_t now_ms);

/*  The file has another credential, which is shown to servers. */
void lk_renewal_shown (lk_renewal *self, int64_t now_ms);

/*  RENEW has failed: for good, or it may be said again after that time (0: not
 *  said). */
void lk_renewal_refused (lk_renewal *self, int64_t now_ms);
void lk_renewal_failed (lk_renewal *self, int64_t wait_ms, int64_t now_ms);

/*  When it cuts leases short, INT64_MAX: never. */
int64_t lk_renewal_over_ms (const lk_renewal *self);

/*  Whether it ends soon, and no other one is in sight: what is held is in
 *  danger. */
bool lk_renewal_ends_soon (const lk_renewal *self, int64_t now_ms);

/*  Whether it is over, and no other one was shown. */
bool lk_renewal_has_ended (const lk_renewal *self, int64_t now_ms);

/*  When something changes by itself, INT64_MAX: never. */
int64_t lk_renewal_deadline (const lk_renewal *self, int64_t now_ms);

#endif
