/*  ask_passwords.c - a file of passwords as authority
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A hash is made for each log-in, whatever is wrong with it, so that the time
 *  of an answer does not tell who is in the file.
 */

#include "question.h"

#include <stdio.h>

void
lk_ask_passwords (const lk_question *question, lk_authority_answer *verdict)
{
    lk_passwords file;
    lk_problem problem;
    *verdict = (lk_authority_answer) {.saying = LK_SAYS_NO_USER};
    if (question->authority == NULL) {
        (void) lk_password_user_verify (NULL, question->password);
        return;
    }
    if (lk_passwords_read (&file, question->authority->file, &problem)
        != LK_OK) {
        verdict->saying = LK_SAYS_NO_ANSWER;
        snprintf (verdict->why, sizeof verdict->why, "%.199s", problem.text);
        return;
    }
    const lk_password_user *user = lk_passwords_find (&file, question->user);
    const bool fits = question->is_renewal
                          ? user != NULL
                          : lk_password_user_verify (user, question->password);
    verdict->role = user != NULL ? lk_password_user_role (user, question->zone)
                                 : LK_ROLE_NONE;
    if (user != NULL) {
        verdict->saying = !fits ? LK_SAYS_WRONG_PASSWORD
                          : verdict->role == LK_ROLE_NONE ? LK_SAYS_NO_ROLE
                                                          : LK_SAYS_ROLE;
    }
    lk_passwords_clear (&file);
}
