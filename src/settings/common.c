/*  common.c - what the settings of a whole cluster can say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/common.h"
#include "settings/arbiters.h"
#include "settings/zones.h"

#include "net/curve.h"
#include "net/zpl.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- values */

static bool
is_host (const char *value)
{
    return lk_address_is_name (lk_slice_of (value));
}

bool
lk_host_key_read (lk_host_key *self, const char *value)
{
    const char *blank = strchr (value, ' ');
    const size_t size = blank != NULL ? (size_t) (blank - value) : 0;
    if (size == 0 || size > LK_HOST_LEN_MAX || !lk_curve_is_key (blank + 1)) {
        return false;
    }
    snprintf (self->host, sizeof self->host, "%.*s", (int) size, value);
    snprintf (self->key, sizeof self->key, "%s", blank + 1);
    return is_host (self->host) || strcmp (self->host, LK_HOST_KEY_ANY) == 0;
}

void
lk_host_key_write (const lk_host_key *self, char value[LK_HOST_KEY_LINE_SIZE])
{
    snprintf (value, LK_HOST_KEY_LINE_SIZE, "%s %s", self->host, self->key);
}

static bool
is_host_key (const char *value)
{
    lk_host_key key;
    return lk_host_key_read (&key, value);
}

bool
lk_client_key_read (lk_client_key *self, const char *value)
{
    lk_host_key key;
    char line[LK_CLIENT_KEY_LINE_SIZE];
    if ((size_t) snprintf (line, sizeof line, "%s", value) >= sizeof line) {
        return false;
    }
    char *word = strchr (line, ' ');
    word = word != NULL ? strchr (word + 1, ' ') : NULL;
    if (word != NULL) {
        *word++ = '\0';
    }
    self->role = word != NULL ? lk_role_from_word (word) : LK_ROLE_USER;
    if (!lk_host_key_read (&key, line) || !is_host (key.host)
        || self->role == LK_ROLE_NONE || self->role >= LK_ROLE_ADMIN) {
        return false;
    }
    snprintf (self->client, sizeof self->client, "%s", key.host);
    snprintf (self->key, sizeof self->key, "%s", key.key);
    return true;
}

void
lk_client_key_write (const lk_client_key *self,
                     char value[LK_CLIENT_KEY_LINE_SIZE])
{
    const bool is_user = self->role == LK_ROLE_USER;
    snprintf (value, LK_CLIENT_KEY_LINE_SIZE, "%s %s%s%s", self->client,
              self->key, is_user ? "" : " ",
              is_user ? "" : lk_role_words[self->role]);
}

static bool
is_client_key (const char *value)
{
    lk_client_key key;
    return lk_client_key_read (&key, value);
}

const char *const lk_discovery_words[LK_DISCOVERIES] = {"authenticated",
                                                        "anyone", "nobody"};

lk_discovery
lk_discovery_from_word (const char *word)
{
    lk_discovery discovery = 0;
    while (discovery < LK_DISCOVERIES
           && strcmp (lk_discovery_words[discovery], word) != 0) {
        discovery++;
    }
    return discovery;
}

static bool
is_discovery (const char *value)
{
    return lk_discovery_from_word (value) < LK_DISCOVERIES;
}

bool
lk_host_domain_read (lk_host_domain *self, const char *value)
{
    const char *blank = strchr (value, ' ');
    const size_t size = blank != NULL ? (size_t) (blank - value) : 0;
    if (size == 0 || size > LK_HOST_LEN_MAX
        || !lk_domain_is_valid (blank + 1)) {
        return false;
    }
    snprintf (self->host, sizeof self->host, "%.*s", (int) size, value);
    snprintf (self->domain, sizeof self->domain, "%s", blank + 1);
    return is_host (self->host);
}

void
lk_host_domain_write (const lk_host_domain *self,
                      char value[LK_HOST_DOMAIN_LINE_SIZE])
{
    snprintf (value, LK_HOST_DOMAIN_LINE_SIZE, "%s %s", self->host,
              self->domain);
}

static bool
is_host_domain (const char *value)
{
    lk_host_domain domain;
    return lk_host_domain_read (&domain, value);
}

static bool
is_mask (const char *value)
{
    return lk_domain_mask_is_valid (value);
}

static bool
is_arbiter (const char *value)
{
    lk_arbiter arbiter;
    return lk_arbiter_read (&arbiter, value);
}

static bool
is_zone (const char *value)
{
    lk_zone zone;
    return lk_zone_read (&zone, value);
}

static bool
is_issuer (const char *value)
{
    lk_zone_issuer issuer;
    return lk_zone_issuer_read (&issuer, value);
}

static bool
is_revoked (const char *value)
{
    lk_revoked revoked;
    return lk_revoked_read (&revoked, value);
}

/*  All keys that they can have. */
static const struct {
    const char *path;
    bool (*is_good) (const char *value);
    const char *needs;
} rows[] = {
    {LK_SETTING_LOCK, is_host, "the name of a host"},
    {LK_SETTING_KEY, is_host_key,
     "the name of a host, a blank, and a public key"},
    {LK_SETTING_CLIENT, is_client_key,
     "the name of a client, a blank, a public key, and maybe a blank and one "
     "of "
     "observer, user and operator"},
    {LK_SETTING_DISCOVERY, is_discovery, "anyone, authenticated or nobody"},
    {LK_SETTING_DOMAIN, is_host_domain,
     "the name of a host, a blank, and a location domain like au.perth.dh4"},
    {LK_SETTING_MASK, is_mask, "a mask of location domains like au.*.dh?.*"},
    {LK_SETTING_ARBITER, is_arbiter,
     "the name of an arbiter, a blank, its ADDRESS:PORT, a blank, and its "
     "public key"},
    {LK_SETTING_ZONE, is_zone,
     "the name of a zone, and behind it some of locks=N, sessions=N, "
     "requests=N, bytes=N, ttl=SECONDS, renew=SECONDS and authority=NAME"},
    {LK_SETTING_ISSUER, is_issuer,
     "the name of a zone, a blank, and the public key of who may issue for it, "
     "in 64 hexadecimal digits"},
    {LK_SETTING_REVOKED, is_revoked,
     "the serial of a credential, in 16 hexadecimal digits, a blank, and until "
     "when it would have counted, in seconds since 1970"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/*  -------------------------------------------------------- lines */

/*  Its row; ROWS: there is none. */
static size_t
row_of (const char *path)
{
    size_t i = 0;
    while (i < ROWS && strcmp (rows[i].path, path) != 0) {
        i++;
    }
    return i;
}

/*  That of "settings" alone is one. */
static bool
is_section (const char *path)
{
    const size_t size = strlen (path);
    for (size_t i = 0; i < ROWS; i++) {
        if (strncmp (rows[i].path, path, size) == 0
            && rows[i].path[size] == '/') {
            return true;
        }
    }
    return false;
}

static lk_err
check_line (const lk_zpl_line *line, lk_problem *problem)
{
    if (line->wrong) {
        return lk_problem_set (problem, LK_INVALID, "line %u: %s", line->number,
                               line->wrong);
    }
    if (line->name.size == 0 || (!line->has_value && is_section (line->path))) {
        return LK_OK;
    }
    const size_t row = row_of (line->path);
    if (row == ROWS) {
        return lk_problem_set (problem, LK_INVALID,
                               "line %u: there is no setting '%s'",
                               line->number, line->path);
    }
    if (!rows[row].is_good (line->value)) {
        return lk_problem_set (problem, LK_INVALID, "line %u: '%s' needs %s",
                               line->number, line->path, rows[row].needs);
    }
    return LK_OK;
}

/*  A key of two hosts would let one of them come as the other. */
static lk_err
check_key (const lk_host_key *keys, size_t place, lk_problem *problem)
{
    const lk_host_key *key = &keys[place];
    int count = 1;
    if (lk_host_key_find (keys, place, key->key) != NULL) {
        return lk_problem_set (problem, LK_INVALID,
                               "'" LK_SETTING_KEY "' has the key of '%s' "
                               "twice",
                               key->host);
    }
    for (size_t i = 0; i < place; i++) {
        count += strcmp (keys[i].host, key->host) == 0;
    }
    return count <= LK_KEYS_OF_HOST || strcmp (key->host, LK_HOST_KEY_ANY) == 0
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "'" LK_SETTING_KEY "' has more than %d keys "
                                 "of '%s'",
                                 LK_KEYS_OF_HOST, key->host);
}

/*  Values behind the last would count for nothing. */
static lk_err
check_count (const char *text, const char *key, size_t most, const char *what,
             lk_problem *problem)
{
    char more[LK_ZPL_LINE_SIZE_MAX + 1];
    return lk_common_settings_value (text, key, most, more, sizeof more)
               ? lk_problem_set (problem, LK_INVALID,
                                 "'%s' has more than %zu %s", key, most, what)
               : LK_OK;
}

static lk_err
check_keys (const char *text, lk_problem *problem)
{
    lk_host_key keys[LK_HOST_KEYS_MAX];
    const size_t count = lk_common_settings_keys (text, keys);
    lk_err error = LK_OK;
    for (size_t i = 0; error == LK_OK && i < count; i++) {
        error = check_key (keys, i, problem);
    }
    return error == LK_OK ? check_count (text, LK_SETTING_KEY, LK_HOST_KEYS_MAX,
                                         "keys", problem)
                          : error;
}

/*  One that were of two names would be known by one of them. */
static lk_err
check_clients (const char *text, lk_problem *problem)
{
    lk_client_key *keys = lk_alloc (LK_CLIENT_KEYS_MAX * sizeof *keys);
    const size_t count = lk_common_settings_clients (text, keys);
    lk_err error = check_count (text, LK_SETTING_CLIENT, LK_CLIENT_KEYS_MAX,
                                "keys", problem);
    for (size_t i = 0; error == LK_OK && i < count; i++) {
        if (lk_client_key_find (keys, i, keys[i].key) != NULL) {
            error = lk_problem_set (problem, LK_INVALID,
                                    "'" LK_SETTING_CLIENT "' has the key of "
                                    "'%s' twice",
                                    keys[i].client);
        }
    }
    lk_free (keys);
    return error;
}

/*  One that is in two places would be in one of them. */
static lk_err
check_domains (const char *text, lk_problem *problem)
{
    lk_host_domain domains[LK_DOMAINS_MAX];
    const size_t count = lk_common_settings_domains (text, domains);
    for (size_t i = 0; i < count; i++) {
        if (lk_host_domain_of (domains, i, domains[i].host) != NULL) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'" LK_SETTING_DOMAIN "' has '%s' twice",
                                   domains[i].host);
        }
    }
    lk_err error =
        check_count (text, LK_SETTING_DOMAIN, LK_DOMAINS_MAX, "hosts", problem);
    return error == LK_OK ? check_count (text, LK_SETTING_MASK,
                                         LK_LEADER_MASKS_MAX, "masks", problem)
                          : error;
}

/*  A second line of a name, address or key would count for nothing. */
static const char *
find_twin (const lk_arbiter *arbiters, size_t place)
{
    const lk_arbiter *one = &arbiters[place];
    for (size_t i = 0; i < place; i++) {
        const lk_arbiter *other = &arbiters[i];
        const char *twin = strcmp (other->name, one->name) == 0 ? one->name
                           : strcmp (other->address, one->address) == 0
                               ? one->address
                           : strcmp (other->key, one->key) == 0 ? one->key
                                                                : NULL;
        if (twin != NULL) {
            return twin;
        }
    }
    return NULL;
}

/*  A key of a host and of an arbiter would let one of them pass for the
 *  other. */
static lk_err
check_arbiters (const char *text, lk_problem *problem)
{
    lk_host_key keys[LK_HOST_KEYS_MAX];
    lk_arbiter arbiters[LK_ARBITERS_MAX];
    const size_t key_count = lk_common_settings_keys (text, keys);
    const size_t count = lk_common_settings_arbiters (text, arbiters);
    for (size_t i = 0; i < count; i++) {
        const char *twin = find_twin (arbiters, i);
        if (twin != NULL) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'" LK_SETTING_ARBITER "' has '%s' twice",
                                   twin);
        }
        if (lk_host_key_of (keys, key_count, arbiters[i].name) != NULL
            || lk_host_key_find (keys, key_count, arbiters[i].key) != NULL) {
            return lk_problem_set (problem, LK_INVALID,
                                   "the name or the key of arbiter '%s' is "
                                   "that of a host of '" LK_SETTING_KEY "'",
                                   arbiters[i].name);
        }
    }
    return check_count (text, LK_SETTING_ARBITER, LK_ARBITERS_MAX, "arbiters",
                        problem);
}

/*  A zone that had two lines would go by one of them, and one that has none
 *  would have people and no limits. */
static lk_err
check_zones (const char *text, lk_problem *problem)
{
    lk_zone *zones = lk_alloc (LK_ZONES_MAX * sizeof *zones);
    lk_zone_issuer *issuers = lk_alloc (LK_ISSUERS_MAX * sizeof *issuers);
    const size_t count = lk_common_settings_zones (text, zones);
    const size_t issuer_count = lk_common_settings_issuers (text, issuers);
    lk_err error =
        check_count (text, LK_SETTING_ZONE, LK_ZONES_MAX, "zones", problem);
    if (error == LK_OK) {
        error = check_count (text, LK_SETTING_ISSUER, LK_ISSUERS_MAX, "keys",
                             problem);
    }
    if (error == LK_OK) {
        error = check_count (text, LK_SETTING_REVOKED, LK_REVOKED_MAX,
                             "serials", problem);
    }
    for (size_t i = 0; error == LK_OK && i < count; i++) {
        if (lk_zone_find (zones, i, zones[i].name) != NULL) {
            error = lk_problem_set (problem, LK_INVALID,
                                    "'" LK_SETTING_ZONE "' has '%s' twice",
                                    zones[i].name);
        }
    }
    for (size_t i = 0; error == LK_OK && i < issuer_count; i++) {
        if (lk_zone_find (zones, count, issuers[i].zone) == NULL) {
            error = lk_problem_set (problem, LK_INVALID,
                                    "'" LK_SETTING_ISSUER "' is for '%s', and "
                                    "there is no such zone",
                                    issuers[i].zone);
        }
    }
    lk_free (zones);
    lk_free (issuers);
    return error;
}

lk_err
lk_common_settings_check (const char *text, lk_problem *problem)
{
    lk_zpl zpl;
    lk_zpl_line line;
    lk_err error = LK_OK;
    lk_zpl_init (&zpl, text);
    while (error == LK_OK && lk_zpl_next (&zpl, &line)) {
        error = check_line (&line, problem);
    }
    if (error == LK_OK) {
        error = check_keys (text, problem);
    }
    if (error == LK_OK) {
        error = check_clients (text, problem);
    }
    if (error == LK_OK) {
        error = check_domains (text, problem);
    }
    if (error == LK_OK) {
        error = check_arbiters (text, problem);
    }
    if (error == LK_OK) {
        error = check_zones (text, problem);
    }
    return error == LK_OK
               ? check_count (text, LK_SETTING_DISCOVERY, 1, "value", problem)
               : error;
}

/*  -------------------------------------------------------- looking */

bool
lk_common_settings_value (const char *text, const char *key, size_t i,
                          char *value, size_t size)
{
    lk_zpl zpl;
    lk_zpl_line line;
    lk_zpl_init (&zpl, text);
    const char *found = lk_zpl_next_value (&zpl, key, &line);
    while (found != NULL && i-- > 0) {
        found = lk_zpl_next_value (&zpl, key, &line);
    }
    if (found != NULL) {
        snprintf (value, size, "%s", found);
    }
    return found != NULL;
}

lk_discovery
lk_common_settings_discovery (const char *text)
{
    char word[LK_ZPL_LINE_SIZE_MAX + 1];
    return lk_common_settings_value (text, LK_SETTING_DISCOVERY, 0, word,
                                     sizeof word)
               ? lk_discovery_from_word (word)
               : LK_DISCOVERY_AUTHENTICATED;
}

size_t
lk_common_settings_keys (const char *text, lk_host_key keys[LK_HOST_KEYS_MAX])
{
    lk_zpl zpl;
    lk_zpl_line line;
    const char *value;
    size_t count = 0;
    lk_zpl_init (&zpl, text);
    while (count < LK_HOST_KEYS_MAX
           && (value = lk_zpl_next_value (&zpl, LK_SETTING_KEY, &line))
                  != NULL) {
        count += lk_host_key_read (&keys[count], value);
    }
    return count;
}

size_t
lk_common_settings_clients (const char *text,
                            lk_client_key keys[LK_CLIENT_KEYS_MAX])
{
    lk_zpl zpl;
    lk_zpl_line line;
    const char *value;
    size_t count = 0;
    lk_zpl_init (&zpl, text);
    while (count < LK_CLIENT_KEYS_MAX
           && (value = lk_zpl_next_value (&zpl, LK_SETTING_CLIENT, &line))
                  != NULL) {
        count += lk_client_key_read (&keys[count], value);
    }
    return count;
}

size_t
lk_common_settings_domains (const char *text,
                            lk_host_domain domains[LK_DOMAINS_MAX])
{
    lk_zpl zpl;
    lk_zpl_line line;
    const char *value;
    size_t count = 0;
    lk_zpl_init (&zpl, text);
    while (count < LK_DOMAINS_MAX
           && (value = lk_zpl_next_value (&zpl, LK_SETTING_DOMAIN, &line))
                  != NULL) {
        count += lk_host_domain_read (&domains[count], value);
    }
    return count;
}

uint8_t
lk_common_settings_wish (const char *text, const char *domain)
{
    char mask[LK_ZPL_LINE_SIZE_MAX + 1];
    uint8_t wish = 0;
    for (size_t i = 0; text != NULL && i < LK_LEADER_MASKS_MAX
                       && lk_common_settings_value (text, LK_SETTING_MASK, i,
                                                    mask, sizeof mask);
         i++) {
        wish += wish > 0 || lk_domain_fits (domain, mask);
    }
    return wish;
}

const lk_host_domain *
lk_host_domain_of (const lk_host_domain *domains, size_t count,
                   const char *host)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (domains[i].host, host) == 0) {
            return &domains[i];
        }
    }
    return NULL;
}

const lk_client_key *
lk_client_key_find (const lk_client_key *keys, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (keys[i].key, key) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

const lk_host_key *
lk_host_key_find (const lk_host_key *keys, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (keys[i].key, key) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

const lk_host_key *
lk_host_key_of (const lk_host_key *keys, size_t count, const char *host)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (keys[i].host, host) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

bool
lk_common_settings_may_change (const char *text, const char *host)
{
    char name[LK_ZPL_LINE_SIZE_MAX + 1];
    size_t i = 0;
    while (lk_common_settings_value (text, LK_SETTING_LOCK, i, name,
                                     sizeof name)) {
        if (strcmp (name, host) == 0) {
            return true;
        }
        i++;
    }
    return i == 0;
}
