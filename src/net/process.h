/*  process.h - what a process is called, and whose it is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_PROCESS_H
#define LK_PROCESS_H

#include "util/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LK_COMMAND_SIZE 64    /* bytes of what the kernel tells, at most */
#define LK_ARGUMENTS_SIZE 200 /* ... of its words with a space between them */

typedef struct {
    char command[LK_ESCAPE_ROOM (LK_COMMAND_SIZE)];     /* fit to be shown */
    char arguments[LK_ESCAPE_ROOM (LK_ARGUMENTS_SIZE)]; /* likewise; "": none */
    int64_t uid;
} lk_process_look;

/*  Of the process that has that number now; false: there is none. */
bool lk_process_describe (int64_t pid, lk_process_look *look);

/*  Its supplementary groups, as far as there is room: how many. None if that
 *  number is of no process of that user. */
size_t lk_process_groups (int64_t pid, uid_t user, gid_t *groups, size_t most);

#endif
