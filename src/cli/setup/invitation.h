/*  invitation.h - an invitation as a text, that a person carries
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Made by `lockkeeper invite`, read by `lockkeeper init --invitation`.
 */

#ifndef LK_INVITATION_H
#define LK_INVITATION_H

#include "net/curve.h"
#include "net/problem.h"
#include <lockkeeper/message.h>

#include <stdio.h>

typedef struct {
    char cluster[LK_HOST_LEN_MAX + 1];    /* may be empty */
    char address[LK_ADDRESS_LEN_MAX + 1]; /* of the router that invites */
    lk_curve_call call;                   /* how to speak with it, once */
} lk_invitation_text;

/*  `minutes`: how long it is good, for people. */
void lk_invitation_text_print (const lk_invitation_text *self, int64_t minutes,
                               FILE *file);

/*  From a file, or standard input: "-". LK_INVALID, LK_SYSTEM and problem. */
lk_err lk_invitation_text_read (lk_invitation_text *self, const char *path,
                                lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
