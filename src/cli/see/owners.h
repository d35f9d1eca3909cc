/*  owners.h - which programs hold and wait
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_OWNERS_H
#define LK_OWNERS_H

#include "cli/cli.h"

/*  Asks the hosts of these rows of LOCKLIST whose they are, and writes
 *  arguments, uid and jeopardy into each that a host knows; each question is
 *  waited for about `wait_ms`. */
void lk_owners_add (lk_requester *asker, lk_message *const *ticket,
                    size_t count, int wait_ms);

/*  What the program calls itself, by the address of the row's owner. */
typedef struct {
    char text[LK_SERVICE_LEN_MAX + 1];
} lk_owner_title;

lk_owner_title lk_owner_get_title (const lk_message *ticket);

/*  Its user's name on this host, else the number; "?": the process is gone, or
 *  its host does not tell. */
lk_shown lk_owner_get_user (const lk_message *ticket);

/*  The user of that name, or number; -1 after having said that there is
 *  none. */
int64_t lk_owner_find_user (const char *name);

/*  What programs are told of a row besides: command and, if that is known, the
 *  user's name; its token is a number then. */
void lk_owner_complete (lk_message *ticket);

#endif
