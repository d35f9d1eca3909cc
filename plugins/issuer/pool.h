/*  pool.h - threads that ask authorities, while the loop goes on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A few threads take questions in their order. No more than two of them are
 *  with one authority, so that one that does not answer holds up nobody else's.
 *  A thread may outlive the pool, and what is asked of it the asker.
 */

#ifndef LK_POOL_H
#define LK_POOL_H

#include "question.h"

#define LK_POOL_THREADS 4
#define LK_POOL_OF_AUTHORITY 2 /* threads */
#define LK_POOL_WAITING_MAX 64 /* questions that no thread has taken */

typedef struct lk_pool lk_pool;
typedef struct lk_pool_item lk_pool_item;

/*  How a question is put to its authority, in a thread. */
typedef void lk_pool_ask (const lk_question *question,
                          lk_authority_answer *verdict);

/*  NULL and problem: there is no thread to be had. */
lk_pool *lk_pool_new (lk_pool_ask *ask, lk_problem *problem);

/*  Gives up all that is asked. NULL-safe, nulls the pointer. */
void lk_pool_destroy (lk_pool **self_p);

/*  Readable when there is something to take. */
int lk_pool_fd (const lk_pool *self);

/*  Asks; the question is copied, and with it goes its hold of the authority.
 *  NULL: too many wait, and nothing was taken. */
lk_pool_item *lk_pool_put (lk_pool *self, const lk_question *question);

/*  Whether that one has its verdict; then it is there, and the asked one gone.
 */
bool lk_pool_take (lk_pool *self, lk_pool_item **asked_p,
                   lk_authority_answer *verdict);

/*  Nobody waits for that one any more. */
void lk_pool_give_up (lk_pool *self, lk_pool_item **asked_p);

/*  Notes that the reason why the descriptor is readable was seen. */
void lk_pool_seen (lk_pool *self);

#endif
