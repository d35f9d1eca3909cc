/*  ask.h - questions to routers and lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ASK_H
#define LK_ASK_H

#include "net/client_file.h"
#include "net/problem.h"

#include <lockkeeper/message.h>

typedef struct lk_requester lk_requester;

/*  Attaches to the router at `endpoint` within `wait_ms`; by a client file to
 *  one of its servers, of which only the lock service is to be asked. NULL if
 *  it cannot: `problem` (may be NULL) says why. */
lk_requester *lk_requester_new (const char *endpoint, int wait_ms,
                                lk_problem *problem);

/*  The same to that server of a client file, and to no other; each of its
 *  addresses is tried once, unless there are several behind one. */
lk_requester *lk_requester_by (const lk_client_file *file, size_t place,
                               int wait_ms, lk_problem *problem);

/*  The same to any server of that client file; a visitor does not register: of
 *  its router one may ask then what no credential is needed for. */
lk_requester *lk_requester_far (const char *client, bool is_visitor,
                                int wait_ms, lk_problem *problem);

void lk_requester_destroy (lk_requester **self_p);

/*  The name of the host that it is attached to. */
const char *lk_requester_host (const lk_requester *self);

/*  As which the router knows us: texts that may be empty; the zone is, if it is
 *  the default one. */
typedef struct {
    const char *zone, *user, *role;
    int64_t left_ms; /* of the credential; -1: it does not end */
} lk_requester_person;

lk_requester_person lk_requester_who (const lk_requester *self);

/*  Whether that is a zone of its own: then its own lock service is to be asked,
 *  and nothing is told of hosts. */
bool lk_requester_is_zoned (const lk_requester *self);

/*  Sends the question, destroys it, and waits for its answer, which the
 *  caller owns. NULL: none within `wait_ms`. UNKNOWN and INVALID are answers,
 *  too. */
lk_message *lk_requester_ask (lk_requester *self, lk_message **question_p,
                              int wait_ms);

/*  Many at once, whose answers come in the same places; a question may be NULL.
 *  Returns when all are answered or the time is over. */
void lk_requester_ask_all (lk_requester *self, lk_message **questions,
                           lk_message **answers, size_t count, int wait_ms);

/*  Of an answer; "?" if it is not there. */
const char *lk_text_of (const lk_message *message, const char *field);

/*  Why an answer is none: the reason or text that it has. */
const char *lk_complaint_of (const lk_message *answer);

/*  Says that this host's lock service gave another answer than was asked for,
 *  or none (NULL); the exit code. */
int lk_say_no_service (const lk_message *answer);

#endif
