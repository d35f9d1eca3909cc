/*  question.h - what an authority is asked, and what it says
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_QUESTION_H
#define LK_QUESTION_H

#include "authority.h"
#include "people/credential.h"
#include "people/passwords.h"

#define LK_PASSWORD_SIZE (LK_PASSWORD_LEN_MAX + 1)

/*  With a NUL at the end of each text. */
typedef struct {
    lk_authority *authority; /* held; NULL: nobody is asked, which takes the
                                time of a hash all the same */
    char zone[LK_ZONE_LEN_MAX + 1];
    char user[LK_USER_LEN_MAX + 1];
    char password[LK_PASSWORD_SIZE]; /* not empty, unless it is a renewal */
    bool is_renewal;                 /* asks for the role alone */
    int64_t until_ms;                /* boot clock: no longer than that */
} lk_question;

typedef enum {
    LK_SAYS_NO_ANSWER, /* `why` tells what keeps it from that */
    LK_SAYS_NO_USER,
    LK_SAYS_NO_ONE_USER, /* several are called so */
    LK_SAYS_WRONG_PASSWORD,
    LK_SAYS_NO_ROLE,
    LK_SAYS_ROLE,
    LK_SAYINGS
} lk_saying;

typedef struct {
    lk_saying saying;
    lk_role role;
    char why[200];
} lk_authority_answer;

/*  Each in a thread of its own, with no state but what it is given. */
void lk_ask_ldap (const lk_question *question, lk_authority_answer *verdict);
void lk_ask_passwords (const lk_question *question,
                       lk_authority_answer *verdict);

#endif
