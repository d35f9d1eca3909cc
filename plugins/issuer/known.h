/*  known.h - what an issuer knows: keys, authorities, zones
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The first two are of this host's files, the zones of the cluster's
 *  settings.
 */

#ifndef LK_KNOWN_H
#define LK_KNOWN_H

#include "authority.h"
#include "people/credential.h"
#include "settings/issuer.h"

#define LK_KNOWN_FILES_MAX 256 /* of each folder */

typedef struct {
    char zone[LK_ZONE_LEN_MAX + 1];
    lk_issuer pair;
} lk_zone_key;

/*  Embedded; begin with zeroes. */
typedef struct {
    lk_zone_key *keys;
    size_t key_count;
    lk_authority **authorities; /* held */
    size_t authority_count;
    lk_zone *zones; /* NULL: the settings are not known yet */
    size_t zone_count;
    lk_zone_issuer *issuers;
    size_t issuer_count;
} lk_known;

/*  Reads the files, again if need be; the log says what is wrong with which. An
 *  authority whose file makes no sense any more stays as it was. */
void lk_known_read (lk_known *self, const lk_issuer_options *options);

/*  The settings of the cluster are that text. */
void lk_known_take_settings (lk_known *self, const char *text);

void lk_known_clear (lk_known *self);

/*  Says in the log for which zones credentials are issued here, and of which
 *  there is a key without more. */
void lk_known_tell (const lk_known *self);

/*  An issuer of a zone. */
typedef enum {
    LK_ISSUED_NOWHERE,   /* there is no such zone, or nobody can log in to it */
    LK_ISSUED_ELSEWHERE, /* maybe */
    LK_ISSUED_HERE
} lk_issued;

/*  Where, and if it is here by what; these belong to `self`. */
typedef struct {
    const lk_zone *zone;
    const lk_issuer *pair;
    lk_authority *authority;
} lk_issuing_way;

lk_issued lk_known_find (const lk_known *self, const char *zone,
                         lk_issuing_way *way);

#endif
