/*  role.c - what somebody may do
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/role.h"

#include <stddef.h>
#include <string.h>

const char *const lk_role_words[LK_ROLES] = {"none", "observer", "user",
                                             "operator", "admin"};

lk_role
lk_role_from_word (const char *word)
{
    lk_role role = 0;
    while (role < LK_ROLES && strcmp (lk_role_words[role], word) != 0) {
        role++;
    }
    return role;
}

/*  -------------------------------------------------------- commands */

static const struct {
    const char *service;
    const char *command;
    const char *deed;
    lk_role role;
} rows[] = {
    {"router", "ABSOLUTELY", "", LK_ROLE_NONE},
    {"router", "ALIVE", "", LK_ROLE_NONE},
    {"router", "CLIENTKEYS", "", LK_ROLE_ADMIN},
    {"router", "CLUSTER", "", LK_ROLE_ADMIN},
    {"router", "CLUSTERSTATUS", "", LK_ROLE_OBSERVER},
    {"router", "COMMANDS", "", LK_ROLE_OBSERVER},
    {"router", "FORGET", "", LK_ROLE_ADMIN},
    {"router", "HOSTKEYS", "", LK_ROLE_ADMIN},
    {"router", "INVALID", "", LK_ROLE_NONE},
    {"router", "INVITE", "", LK_ROLE_ADMIN},
    {"router", "KEYS", "", LK_ROLE_ADMIN},
    {"router", "LOG", "", LK_ROLE_USER},
    {"router", "LOGIN", "", LK_ROLE_NONE},
    {"router", "LOGINFAILED", "", LK_ROLE_NONE},
    {"router", "REGISTER", "", LK_ROLE_NONE},
    {"router", "RELOADCONFIG", "", LK_ROLE_ADMIN},
    {"router", "RENEW", "", LK_ROLE_OBSERVER},
    {"router", "ROTATEKEYS", "", LK_ROLE_ADMIN},
    {"router", "ROUTERSTATUS", "", LK_ROLE_OBSERVER},
    {"router", "SERVERS", "", LK_ROLE_NONE},
    {"router", "SERVICESTATUS", "", LK_ROLE_OBSERVER},
    {"router", "SHUTDOWN", "", LK_ROLE_ADMIN},
    {"router", "STOP", "", LK_ROLE_ADMIN},
    {"router", "SUBSCRIBE", "", LK_ROLE_OBSERVER},
    {"router", "TRANSMISSIONREPORT", "", LK_ROLE_NONE},
    {"router", "UNKNOWN", "", LK_ROLE_NONE},
    {"router", "UNREGISTER", "", LK_ROLE_OBSERVER},
    {"lock", "LOCK", "", LK_ROLE_USER},
    {"lock", "LOCKCHECK", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKDRAIN", "", LK_ROLE_ADMIN},
    {"lock", "LOCKGOODBYE", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKHISTORY", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKLEASE", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKLIST", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKMEMBERS", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKMEMBERS", "change", LK_ROLE_ADMIN},
    {"lock", "LOCKOWNERS", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKRECOVER", "", LK_ROLE_ADMIN},
    {"lock", "LOCKREGISTER", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKSETTINGS", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKSETTINGS", "change", LK_ROLE_ADMIN},
    {"lock", "LOCKSTATUS", "", LK_ROLE_OBSERVER},
    {"lock", "LOCKTOP", "", LK_ROLE_OBSERVER},
    {"lock", "UNLOCK", "", LK_ROLE_USER},
    {"lock", "UNLOCK", "force", LK_ROLE_OPERATOR},
};

lk_role
lk_role_needed (const char *service, const char *command, const char *deed)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp (rows[i].command, command) == 0
            && strcmp (rows[i].service, service) == 0
            && strcmp (rows[i].deed, deed) == 0) {
            return rows[i].role;
        }
    }
    return LK_ROLE_ADMIN;
}
