/*  credential_file.h - the file that has a client's credential
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One line, as who issued it gave it; lockkeeper-protocol(7), 5.1. Servers
 *  judge it: here no more is read of it than how long it lasts. Other processes
 *  of the machine may write the file, too.
 */

#ifndef LK_CREDENTIAL_FILE_H
#define LK_CREDENTIAL_FILE_H

#include "net/problem.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define LK_CREDENTIAL_LINE_SIZE 640 /* the longest one, and a NUL */

typedef struct {
    char path[PATH_MAX]; /* "": none */
    struct stat seen;    /* as it was read last */
    char line[LK_CREDENTIAL_LINE_SIZE];
} lk_credential_file;

/*  The times of a credential, seconds since 1970. */
typedef struct {
    int64_t not_before, not_after;
    int64_t since; /* of the log-in; 0: there was none */
} lk_credential_times;

/*  "": it has none. */
void lk_credential_file_init (lk_credential_file *self, const char *path);

/*  Its line, read anew if the file changed; "" if there is none, or it cannot
 *  be read. Belongs to self, until the next call. */
const char *lk_credential_file_line (lk_credential_file *self);

/*  Replaces it, mode 0600, whole or not at all. LK_INVALID: that is no line;
 *  LK_SYSTEM: it counts here nevertheless, until the file changes; and
 *  problem. */
lk_err lk_credential_file_write (lk_credential_file *self, const char *line,
                                 lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  False: it is no credential. */
bool lk_credential_line_times (const char *line, lk_credential_times *times);

#endif
