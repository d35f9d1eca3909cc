/*  authority.h - who knows the people of a zone, as its file says it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  NAME.conf in the folder of authorities, one section `authority` in ZPL.
 *  lockkeeper-issuer(8).
 */

#ifndef LK_AUTHORITY_H
#define LK_AUTHORITY_H

#include "settings/zones.h"
#include "wire/role.h"

#include <lockkeeper/message.h>
#include <stdint.h>

typedef enum { LK_AUTHORITY_PASSWORDS, LK_AUTHORITY_LDAP } lk_authority_type;

/*  "ZONE ROLE GROUP": people of that group have that role there. */
typedef struct {
    char zone[LK_HOST_LEN_MAX + 1];
    lk_role role;
    const char *group; /* the authority's; a whole DN, or a cn */
    bool is_dn;
} lk_role_rule;

typedef struct lk_authority {
    char name[LK_HOST_LEN_MAX + 1];
    lk_authority_type type;
    int64_t timeout_ms;

    char *file; /* PASSWORDS */

    char *url; /* LDAP, all texts from here on; NULL: not there */
    char *ca;
    char *base, *filter;
    char *bind_dn, *bind_password_file;
    char *group_base, *group_filter;
    bool start_tls;
    char **texts; /* of the rules */
    lk_role_rule *rules;
    size_t rule_count;

    int users; /* atomic: the last to let go frees it */
} lk_authority;

/*  Reads a file; NULL: it makes no sense, and the log says why, each mistake
 *  with its line. Belongs to the caller. */
lk_authority *lk_authority_read (const char *path, const char *name);

/*  One more that holds it, in whatever thread; and one less. The latter is
 *  NULL-safe and nulls the pointer. */
lk_authority *lk_authority_hold (lk_authority *self);
void lk_authority_let_go (lk_authority **self_p);

/*  -------------------------------------------------------- roles */

/*  Reads "ZONE ROLE GROUP"; the group points into the text. */
bool lk_role_rule_read (lk_role_rule *self, const char *text);

/*  Whether the group of that DN and cn (NULL: it has none) is that of the rule:
 *  upper and lower case are the same, as are blanks beside commas of a DN. */
bool lk_role_rule_fits (const lk_role_rule *self, const char *dn,
                        const char *cn);

/*  The higher of that role and those that the group has in the zone. */
lk_role lk_authority_role (const lk_authority *self, const char *zone,
                           const char *dn, const char *cn, lk_role role);

/*  -------------------------------------------------------- URLs */

/*  The fault of that one; NULL: none. `start_tls`: it is encrypted
 *  from then on. */
const char *lk_authority_url_wrong (const char *url, bool start_tls);

#endif
