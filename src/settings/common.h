/*  common.h - what the settings of a whole cluster can say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One text for all hosts, in ZPL as lockkeeper.conf(5), but none of its keys.
 *  lockkeeper-settings(5).
 */

#ifndef LK_SETTINGS_COMMON_H
#define LK_SETTINGS_COMMON_H

#include "net/problem.h"
#include "wire/domain.h"
#include "wire/role.h"

#include <lockkeeper/message.h>
#include <stdbool.h>

#define LK_SETTING_LOCK "settings/lock"
#define LK_SETTING_KEY "router/key"
#define LK_SETTING_CLIENT "clients/key"
#define LK_SETTING_DISCOVERY "clients/discovery"
#define LK_SETTING_DOMAIN "hosts/domain"
#define LK_SETTING_MASK "hosts/leader-mask"

/*  Whether all of it makes sense; if not LK_INVALID, and the first line that
 *  does not as the problem. */
lk_err lk_common_settings_check (const char *text, lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  The i-th value of a key, from 0; false behind the last. Cut off to `size`,
 *  which all that passed the check fit into if it is LK_ZPL_LINE_SIZE_MAX + 1.
 */
bool lk_common_settings_value (const char *text, const char *key, size_t i,
                               char *value, size_t size);

/*  By which key a host's router is known. */
#define LK_HOST_KEY_SIZE 41
#define LK_HOST_KEY_ANY "*" /* of all hosts: a pair of the whole cluster */
#define LK_KEYS_OF_HOST 2   /* of one host: a new one, and that before */
#define LK_HOST_KEYS_MAX 140

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    char key[LK_HOST_KEY_SIZE];
} lk_host_key;

/*  All `router/key`, in their order: how many. */
size_t lk_common_settings_keys (const char *text,
                                lk_host_key keys[LK_HOST_KEYS_MAX]);

/*  "HOST KEY", as such a line has it; false: that is none. */
#define LK_HOST_KEY_LINE_SIZE (LK_HOST_LEN_MAX + 1 + LK_HOST_KEY_SIZE)
bool lk_host_key_read (lk_host_key *self, const char *value);
void lk_host_key_write (const lk_host_key *self,
                        char value[LK_HOST_KEY_LINE_SIZE]);

/*  The first with that key, or of that host; NULL: there is none. */
const lk_host_key *lk_host_key_find (const lk_host_key *keys, size_t count,
                                     const char *key);
const lk_host_key *lk_host_key_of (const lk_host_key *keys, size_t count,
                                   const char *host);

/*  By which key applications on another machine are known. */
#define LK_CLIENT_KEYS_MAX 500

typedef struct {
    char client[LK_HOST_LEN_MAX + 1];
    char key[LK_HOST_KEY_SIZE];
    lk_role role; /* OBSERVER to OPERATOR */
} lk_client_key;

/*  All `clients/key`, in their order: how many. */
size_t lk_common_settings_clients (const char *text,
                                   lk_client_key keys[LK_CLIENT_KEYS_MAX]);

/*  "NAME KEY [ROLE]", as such a line has it, without ROLE a user's; false: that
 *  is none. */
#define LK_CLIENT_KEY_LINE_SIZE (LK_HOST_LEN_MAX + LK_HOST_KEY_SIZE + 12)
bool lk_client_key_read (lk_client_key *self, const char *value);
void lk_client_key_write (const lk_client_key *self,
                          char value[LK_CLIENT_KEY_LINE_SIZE]);

/*  The one with that key; NULL: there is none. */
const lk_client_key *lk_client_key_find (const lk_client_key *keys,
                                         size_t count, const char *key);

/*  The policy of discovery: by whom all servers may be known. */
typedef enum {
    LK_DISCOVERY_AUTHENTICATED, /* those whose key the settings have */
    LK_DISCOVERY_ANYONE,
    LK_DISCOVERY_NOBODY,
    LK_DISCOVERIES
} lk_discovery;

/*  Its word; and that which the word is of, LK_DISCOVERIES: of none. */
extern const char *const lk_discovery_words[LK_DISCOVERIES];
lk_discovery lk_discovery_from_word (const char *word);
lk_discovery lk_common_settings_discovery (const char *text);

/*  Where a host is. */
#define LK_DOMAINS_MAX 64

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    char domain[LK_DOMAIN_LEN_MAX + 1];
} lk_host_domain;

/*  All `hosts/domain`, in their order: how many. */
size_t lk_common_settings_domains (const char *text,
                                   lk_host_domain domains[LK_DOMAINS_MAX]);

/*  "HOST DOMAIN", as such a line has it; false: that is none. */
#define LK_HOST_DOMAIN_LINE_SIZE (LK_HOST_LEN_MAX + LK_DOMAIN_LEN_MAX + 2)
bool lk_host_domain_read (lk_host_domain *self, const char *value);
void lk_host_domain_write (const lk_host_domain *self,
                           char value[LK_HOST_DOMAIN_LINE_SIZE]);

/*  That of a host; NULL: it is not known. */
const lk_host_domain *lk_host_domain_of (const lk_host_domain *domains,
                                         size_t count, const char *host);

/*  How much leaders are wished for in that domain: how many masks there are,
 *  from the first that it fits on; 0: it fits none. No text: there are none. */
#define LK_LEADER_MASKS_MAX 7
uint8_t lk_common_settings_wish (const char *text, const char *domain);

/*  Whether that host may change them: any may unless `settings/lock` names
 *  hosts. */
bool lk_common_settings_may_change (const char *text, const char *host);

#endif
