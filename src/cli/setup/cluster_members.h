/*  cluster_members.h - who is a member, as the first leader knows it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CLUSTER_MEMBERS_H
#define LK_CLUSTER_MEMBERS_H

#include "cli/ask.h"
#include "cli/cli.h"

/*  Whether an answer (NULL: there is none) is LOCKMEMBERS with members. */
bool lk_is_members (const lk_message *answer);

/*  Says that an answer is none; the exit code. */
int lk_members_say_no_answer (const lk_message *answer);

/*  LOCKMEMBERS of the first leader, or of this host's lock service if that one
 *  does not answer, which is said. NULL: said why, and *code is how to exit. */
lk_message *lk_members_ask (lk_requester *asker, int *code);

/*  `lockkeeper cluster members`: the exit code. */
int lk_cluster_members (lk_requester *asker, const lk_options *options);

#endif
