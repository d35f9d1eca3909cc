/*  kinds_model.h - one lock, as a user would explain it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A plain list of who asked, in the order of asking, and what everybody is
 *  told; no hosts, no messages, no failures. Written from the words of
 *  lockkeeper-protocol(7), 9.10, not from the code that it judges. Times
 *  are given from outside and do not go back.
 */

#ifndef LK_KINDS_MODEL_H
#define LK_KINDS_MODEL_H

#include "node.h"

#define LK_MODEL_TICKETS_MAX 64
#define LK_MODEL_TOLD_MAX 256

typedef struct {
    int who; /* a number of the caller's */
    lk_lock_mode mode;
    bool held;
    uint32_t ordinal;
    uint32_t turn; /* of the last change of type that was asked for */
    bool upgrade;  /* held shared, wants to be exclusive */
    int64_t asked_ms;
    int64_t until_ms; /* of its wait, or of the upgrade's; INT64_MAX */
} lk_model_ticket;

/*  What somebody has to be told. */
typedef struct {
    int who;
    int64_t at_ms;
    lk_answer_kind kind;
    lk_err error;
    lk_lock_type type;
    uint32_t ordinal;
    uint32_t turn;
} lk_model_told;

typedef struct {
    lk_model_told item[LK_MODEL_TOLD_MAX];
    size_t count;
} lk_model_tolds;

typedef struct {
    lk_model_ticket ticket[LK_MODEL_TICKETS_MAX];
    size_t count;
    uint32_t bound;  /* the first that was said, while anybody is there */
    int64_t read_ms; /* when somebody last held it shared */
} lk_model;

typedef struct {
    int who;
    lk_lock_mode mode;
    int64_t wait_ms; /* 0: not at all, -1: for ever */
} lk_model_request;

/*  -------------------------------------------------------- deeds */

void lk_model_ask (lk_model *self, const lk_model_request *request,
                   int64_t now_ms, lk_model_tolds *tolds);

/*  It gives back what it has, or gives up waiting; `told` unless it died. */
void lk_model_leave (lk_model *self, int who, bool told, int64_t now_ms,
                     lk_model_tolds *tolds);

/*  All of them die at the same time. */
void lk_model_leave_all (lk_model *self, bool (*is_gone) (int who),
                         int64_t now_ms, lk_model_tolds *tolds);

/*  A holder wants another type: to be exclusive, or shared (again). */
void lk_model_convert (lk_model *self, const lk_model_request *request,
                       int64_t now_ms, lk_model_tolds *tolds);

/*  When time alone does something next; INT64_MAX. */
int64_t lk_model_next (const lk_model *self, int64_t now_ms);

/*  What time does at that moment. */
void lk_model_time (lk_model *self, int64_t now_ms, lk_model_tolds *tolds);

/*  -------------------------------------------------------- questions */

const lk_model_ticket *lk_model_find (const lk_model *self, int who);

#endif
