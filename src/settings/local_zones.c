/*  local_zones.c - in which zone processes of this host are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/local_zones.h"

#include "util/digits.h"
#include "util/word.h"
#include "wire/address.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#define KEY "local/zone"
#define WORD_SIZE 128

/*  -------------------------------------------------------- reading */

/*  A number is that of a user or group, whether or not there is one. */
static bool
find_owner (lk_local_zone *self, const char *name)
{
    uint64_t number;
    self->is_group = name[0] == '@';
    name += self->is_group;
    if (lk_decimal_parse (name, strlen (name), &number)) {
        self->id = (id_t) number;
        return number < (id_t) -1;
    }
    if (self->is_group) {
        const struct group *group = getgrnam (name);
        self->id = group != NULL ? group->gr_gid : 0;
        return group != NULL;
    }
    const struct passwd *user = getpwnam (name);
    self->id = user != NULL ? user->pw_uid : 0;
    return user != NULL;
}

/*  NULL, or what is wrong with it. */
static const char *
read_line (lk_local_zone *self, const char *line, char *text, size_t size)
{
    char owner[WORD_SIZE], zone[WORD_SIZE], role[WORD_SIZE] = "user";
    if (!lk_word_take (&line, owner, sizeof owner)
        || !lk_word_take (&line, zone, sizeof zone)
        || (line[strspn (line, " ")] != '\0'
            && !lk_word_take (&line, role, sizeof role))
        || line[strspn (line, " ")] != '\0') {
        return "USER ZONE, @GROUP ZONE, and a role behind it if need be";
    }
    if (!lk_address_is_name (lk_slice_of (zone))
        || strlen (zone) > LK_HOST_LEN_MAX) {
        return "a zone is 1 to 63 of A-Z a-z 0-9 . _ -";
    }
    self->role = lk_role_from_word (role);
    if (self->role < LK_ROLE_OBSERVER || self->role > LK_ROLE_OPERATOR) {
        return "a role is observer, user or operator; admins come by "
               "router/admin-endpoint";
    }
    if (!find_owner (self, owner)) {
        snprintf (text, size, "there is no %s '%s'",
                  owner[0] == '@' ? "group" : "user",
                  owner + (owner[0] == '@'));
        return text;
    }
    snprintf (self->zone, sizeof self->zone, "%.*s", LK_HOST_LEN_MAX, zone);
    return NULL;
}

size_t
lk_local_zones_read (lk_local_zone zones[LK_LOCAL_ZONES_MAX], lk_config *config)
{
    char text[WORD_SIZE + 32];
    const char *line;
    size_t count = 0;
    for (size_t i = 0; (line = lk_config_item (config, KEY, i)) != NULL; i++) {
        if (count == LK_LOCAL_ZONES_MAX) {
            snprintf (text, sizeof text, "%d at most", LK_LOCAL_ZONES_MAX);
            lk_config_refuse (config, KEY, i, text);
            break;
        }
        const char *problem =
            read_line (&zones[count], line, text, sizeof text);
        if (problem != NULL) {
            lk_config_refuse (config, KEY, i, problem);
        } else {
            count++;
        }
    }
    return count;
}

/*  -------------------------------------------------------- looking */

static bool
fits (const lk_local_zone *self, uid_t user, const gid_t *groups,
      size_t group_count)
{
    if (!self->is_group) {
        return self->id == user;
    }
    size_t i = 0;
    while (i < group_count && groups[i] != self->id) {
        i++;
    }
    return i < group_count;
}

const lk_local_zone *
lk_local_zones_find (const lk_local_zone *zones, size_t count, uid_t user,
                     const gid_t *groups, size_t group_count)
{
    for (size_t i = 0; i < count; i++) {
        if (fits (&zones[i], user, groups, group_count)) {
            return &zones[i];
        }
    }
    return NULL;
}

bool
lk_local_zones_have_groups (const lk_local_zone *zones, size_t count)
{
    size_t i = 0;
    while (i < count && !zones[i].is_group) {
        i++;
    }
    return i < count;
}
