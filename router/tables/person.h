/*  person.h - who is behind a session
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  As this router has found out, by the kernel's word, the settings of the
 *  cluster or a signed credential: lockkeeper-protocol(7), 5.1.
 */

#ifndef LK_PERSON_H
#define LK_PERSON_H

#include "people/credential.h"

typedef struct {
    char zone[LK_ZONE_LEN_MAX + 1]; /* "": that of name "default" */
    char user[LK_USER_LEN_MAX + 1]; /* "": nobody's, as that of a service */
    lk_role role;
    int64_t until;                    /* seconds since 1970; 0: without end */
    uint64_t serial;                  /* of its credential; 0: it has none */
    char issuer[LK_ISSUER_TEXT_SIZE]; /* of that */
} lk_person;

#endif
