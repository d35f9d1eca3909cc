/*  issuer_file.h - the file of a pair that signs credentials
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In ZPL, mode 0600:
 *
 *      issuer
 *          public-key = "..."
 *          secret-key = "..."
 */

#ifndef LK_ISSUER_FILE_H
#define LK_ISSUER_FILE_H

#include "net/problem.h"
#include "people/credential.h"

/*  Reads it. LK_UNKNOWN: there is none; LK_INVALID: it makes no sense, or
 *  others may read it; LK_SYSTEM. Each with a problem, and no secret then. */
lk_err lk_issuer_file_read (lk_issuer *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Makes one with a fresh pair, which is `self` then. LK_SYSTEM and problem:
 *  number EEXIST if something of that name is there. */
lk_err lk_issuer_file_make (lk_issuer *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Forgets the secret key. */
void lk_issuer_clear (lk_issuer *self);

#endif
