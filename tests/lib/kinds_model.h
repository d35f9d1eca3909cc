/*  kinds_model.h - one lock, as a user would explain it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A queue (grant_model.h), when its callers give up and quiet times are over,
 *  and what everybody is told; no hosts, no messages, no failures. Times are
 *  given from outside and do not go back.
 */

#ifndef LK_KINDS_MODEL_H
#define LK_KINDS_MODEL_H

#include "lib/grant_model.h"
#include "node.h"

#define LK_KINDS_TOLD_MAX 256

typedef struct {
    int64_t asked_ms;
    int64_t until_ms; /* of its wait, or of the upgrade's; INT64_MAX */
    uint32_t turn;    /* of the last change of type that was asked for */
} lk_kinds_caller;

/*  What somebody has to be told. */
typedef struct {
    int who;
    int64_t at_ms;
    lk_answer_kind kind;
    lk_err error;
    lk_lock_type type;
    uint32_t ordinal;
    uint32_t turn;
} lk_kinds_told;

typedef struct {
    lk_kinds_told item[LK_KINDS_TOLD_MAX];
    size_t count;
} lk_kinds_tolds;

typedef struct {
    lk_model queue;
    lk_kinds_caller caller[LK_MODEL_MAX]; /* by `who` */
    uint64_t stamp;                       /* of the last operation */
    int64_t read_ms;                      /* when it was last held shared */
} lk_kinds;

typedef struct {
    int who; /* a number of the caller's, below LK_MODEL_MAX */
    lk_lock_mode mode;
    int64_t wait_ms; /* 0: not at all, -1: for ever */
} lk_kinds_request;

/*  -------------------------------------------------------- deeds */

void lk_kinds_ask (lk_kinds *self, const lk_kinds_request *request,
                   int64_t now_ms, lk_kinds_tolds *tolds);

/*  It gives back what it has, or gives up waiting; `told` unless it died. */
void lk_kinds_leave (lk_kinds *self, int who, bool told, int64_t now_ms,
                     lk_kinds_tolds *tolds);

/*  All of them die at the same time. */
void lk_kinds_leave_all (lk_kinds *self, bool (*is_gone) (int who),
                         int64_t now_ms, lk_kinds_tolds *tolds);

/*  A holder wants another type: to be exclusive, or shared (again). */
void lk_kinds_convert (lk_kinds *self, const lk_kinds_request *request,
                       int64_t now_ms, lk_kinds_tolds *tolds);

/*  When time alone does something next; INT64_MAX. */
int64_t lk_kinds_next (const lk_kinds *self, int64_t now_ms);

/*  What time does at that moment. */
void lk_kinds_time (lk_kinds *self, int64_t now_ms, lk_kinds_tolds *tolds);

/*  -------------------------------------------------------- questions */

/*  Its ticket, borrowed until the next deed; NULL: it has none. */
const lk_ticket *lk_kinds_find (const lk_kinds *self, int who);
int lk_kinds_who (const lk_ticket *ticket);

#endif
