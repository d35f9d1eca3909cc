/*  passwords.h - the file of users and passwords of an authority
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A line per user, of three words with one blank between, and comments:
 *
 *      alice acme:operator,lab:user $argon2id$v=19$...
 *
 *  Mode 0600. Nothing here has a state of its own: all may be called in any
 *  thread, and to hash takes about a tenth of a second.
 */

#ifndef LK_PASSWORDS_H
#define LK_PASSWORDS_H

#include "net/problem.h"
#include "people/credential.h"
#include "wire/role.h"

#include <stdbool.h>
#include <stddef.h>

#define LK_PASSWORD_ZONES_MAX 16 /* of a user */
#define LK_PASSWORD_USERS_MAX 4096
#define LK_PASSWORD_HASH_SIZE 128

typedef struct {
    char zone[LK_ZONE_LEN_MAX + 1];
    lk_role role; /* OBSERVER to ADMIN */
} lk_password_zone;

typedef struct {
    char user[LK_USER_LEN_MAX + 1];
    lk_password_zone zone[LK_PASSWORD_ZONES_MAX];
    size_t count; /* of zones, at least one */
    char hash[LK_PASSWORD_HASH_SIZE];
} lk_password_user;

typedef struct {
    char *text; /* as it was read */
    lk_password_user *user;
    size_t count;
} lk_passwords;

/*  Reads it. LK_UNKNOWN: there is no such file; LK_INVALID: a line makes no
 *  sense, or others may read the file; LK_SYSTEM. Each with a problem, and
 *  nothing is read then. */
lk_err lk_passwords_read (lk_passwords *self, const char *path,
                          lk_problem *problem)
    __attribute__ ((warn_unused_result));

void lk_passwords_clear (lk_passwords *self);

/*  NULL: there is none of that name. */
const lk_password_user *lk_passwords_find (const lk_passwords *self,
                                           const char *user);

/*  The role in that zone ("default" by its name); LK_ROLE_NONE: it has none. */
lk_role lk_password_user_role (const lk_password_user *self, const char *zone);

/*  Whether that is the password. NULL as the user: false, in the same time. */
bool lk_password_user_verify (const lk_password_user *self,
                              const char *password);

/*  -------------------------------------------------------- changing */

/*  Whether it can be one: LK_INVALID and problem. */
lk_err lk_password_check (const char *password, lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Sets the hash to that of a checked password, with a salt of its own. */
void lk_password_user_set (lk_password_user *self, const char *password);

/*  Gives it that role there, instead of the former one; LK_ROLE_NONE: takes the
 *  zone out. False: there is no room. */
bool lk_password_user_give (lk_password_user *self, const char *zone,
                            lk_role role) __attribute__ ((warn_unused_result));

/*  Enters a user, instead of the one of that name. False: there is no room. */
bool lk_passwords_put (lk_passwords *self, const lk_password_user *user)
    __attribute__ ((warn_unused_result));

/*  Takes it out; false: there was none. */
bool lk_passwords_drop (lk_passwords *self, const char *user);

/*  Replaces the file, which is either the old or the new one, keeps its owner
 *  and comments, and makes it with mode 0600 if there is none. The caller has
 *  the lock of lk_edit_lock since ahead of lk_passwords_read. LK_SYSTEM and
 *  problem. */
lk_err lk_passwords_write (const lk_passwords *self, const char *path,
                           lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
