/*  role.h - what somebody may do
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each role may do what those ahead of it may.
 */

#ifndef LK_ROLE_H
#define LK_ROLE_H

#include <stdbool.h>

typedef enum {
    LK_ROLE_NONE,     /* has shown nothing: log in */
    LK_ROLE_OBSERVER, /* look */
    LK_ROLE_USER,     /* lock, and give back what is one's own */
    LK_ROLE_OPERATOR, /* take others' locks away */
    LK_ROLE_ADMIN,    /* the cluster: members, settings, daemons */
    LK_ROLES
} lk_role;

/*  Its word; and that which the word is of, LK_ROLES: of none. */
extern const char *const lk_role_words[LK_ROLES];
lk_role lk_role_from_word (const char *word);

/*  The role that a command needs, to the service of that name ("router",
 *  "lock"). `deed`: what is done by it where that makes a difference, "force"
 *  of UNLOCK, "change" of LOCKMEMBERS and LOCKSETTINGS; else "". What is in no
 *  row nobody asks for: LK_ROLE_ADMIN. lockkeeper-protocol(7), 7.5, has the
 *  table. */
lk_role lk_role_needed (const char *service, const char *command,
                        const char *deed);

#endif
