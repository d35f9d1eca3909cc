/*  user_file.h - which password file, and which password
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_USER_FILE_H
#define LK_USER_FILE_H

#include "cli/cli.h"
#include "people/passwords.h"

#include <limits.h>

/*  That of --file, or of --authority as its file says. LK_EXIT_OK, or said what
 *  is wrong. */
int lk_user_file_find (const lk_options *options, char path[PATH_MAX]);

/*  The first line of --password-file, or asked for at the terminal, twice.
 *  LK_EXIT_OK, or said what is wrong. */
int lk_user_password (const lk_options *options,
                      char password[LK_PASSWORD_LEN_MAX + 1]);

#endif
