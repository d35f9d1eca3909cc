/*  leader_call.h - a change that the first leader makes, whoever that is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The first leader hears all hosts and makes changes; the lock service of
 *  this host tells who that is. If it goes away we ask its successor: to ask
 *  for what is so already does no harm.
 */

#ifndef LK_LEADER_CALL_H
#define LK_LEADER_CALL_H

#include "cli/ask.h"

#include <stdbool.h>
#include <stdint.h>

/*  What is asked, and what is made of the answers; codes are exit codes. An
 *  answer with the same command that is not done names the leaders. */
typedef struct {
    const char *command;
    void (*fill) (const void *context, lk_message *question);
    bool (*is_done) (const lk_message *answer);
    int (*say_done) (const void *context, const lk_message *answer);

    /*  It cannot be; -1: another leader is to be asked. `given`: a leader may
     *  have been at it. */
    int (*take_refusal) (const void *context, lk_err error, const char *text,
                         bool given);

    /*  The lock service of this host does not answer (NULL), or not that. */
    int (*say_no_answer) (const lk_message *answer);
    int (*say_late) (const void *context, const char *why);
} lk_leader_call;

/*  Asks until it is done, cannot be, or `wait_ms` are over (LK_FOREVER: a
 *  minute). Says on stderr, once in a while, why it takes so long. */
int lk_call_leader (lk_requester *asker, const lk_leader_call *call,
                    const void *context, int64_t wait_ms);

#endif
