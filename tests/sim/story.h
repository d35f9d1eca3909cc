/*  story.h - messages as words, for --verbose
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef SIM_STORY_H
#define SIM_STORY_H

#include "wire/lock_message.h"

#define SIM_STORY_SIZE 240

/*  The name of a kind: "VOTED". */
const char *sim_story_kind (lk_lock_kind kind);

/*  What the message says, in one line of at most SIM_STORY_SIZE bytes with
 *  its end. */
void sim_story_of (const lk_lock_message *message, char *text);

/*  The same of an operation, and of a ticket as a table has it. */
void sim_story_op (const lk_op *op, char *text);
void sim_story_ticket (const lk_ticket *ticket, char *text);

#endif
