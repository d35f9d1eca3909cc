/*  agent.h - who holds units for a shell, and does what its commands want
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Units belong to a process that stays, but a command of a shell ends at
 *  once. So there is one agent for each shell (or --pid) and endpoint, which
 *  the first command starts. It listens on an abstract socket that is named
 *  after the user, the shell (number and start) and the endpoint, answers
 *  only that user, and ends with the shell, or when it has held nothing for a
 *  while. When it ends, for whatever reason, all its units are given back,
 *  once: the lock service sees to that.
 */

#ifndef LK_AGENT_H
#define LK_AGENT_H

#include "cli/cli.h"

typedef enum { LK_AGENT_ACQUIRE, LK_AGENT_RELEASE } lk_agent_deed;

#define LK_AGENT_NAME_SIZE (LK_OBJECT_LEN_MAX + 1)

/*  What is asked of it. */
typedef struct {
    lk_agent_deed deed;
    bool json; /* how the answer is printed */
    uint32_t max_per, resources;
    char name[LK_AGENT_NAME_SIZE];
} lk_agent_question;

/*  Asks the agent of the caller's shell, which says what there is to say on
 *  our stdout and stderr; the exit code. */
int lk_agent_ask (const lk_options *options, const lk_agent_question *question);

#endif
