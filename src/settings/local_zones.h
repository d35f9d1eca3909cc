/*  local_zones.h - in which zone processes of this host are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Lines `local/zone` of lockkeeper.conf(5), "USER ZONE [ROLE]" or "@GROUP ZONE
 *  [ROLE]". Names of users and groups are looked up when a line is read, and
 *  never again.
 */

#ifndef LK_SETTINGS_LOCAL_ZONES_H
#define LK_SETTINGS_LOCAL_ZONES_H

#include "net/config.h"
#include "wire/role.h"

#include <lockkeeper/message.h>
#include <sys/types.h>

#define LK_LOCAL_ZONES_MAX 64

typedef struct {
    bool is_group;
    id_t id; /* of the user, or the group */
    char zone[LK_HOST_LEN_MAX + 1];
    lk_role role; /* OBSERVER to OPERATOR */
} lk_local_zone;

/*  Reads all of them: how many. What makes no sense is kept as a mistake of
 *  the config. */
size_t lk_local_zones_read (lk_local_zone zones[LK_LOCAL_ZONES_MAX],
                            lk_config *config);

/*  The first that fits; NULL: none does. */
const lk_local_zone *lk_local_zones_find (const lk_local_zone *zones,
                                          size_t count, uid_t user,
                                          const gid_t *groups,
                                          size_t group_count);

/*  Whether one of them is of a group. */
bool lk_local_zones_have_groups (const lk_local_zone *zones, size_t count);

#endif
