/*  authority.c - who knows the people of a zone, as its file says it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "authority.h"

#include "net/config.h"
#include "net/log.h"
#include "util/alloc.h"
#include "util/word.h"
#include "wire/address.h"

#include <ldap.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PATH (PATH_MAX - 1)
#define LDAP_TEXT 500

static const lk_config_key keys[] = {
    {"authority/type", LK_CONFIG_CHOICE, 0, 0, "passwords|ldap", NULL,
     LK_CONFIG_RELOAD, "of what kind it is"},
    {"authority/timeout", LK_CONFIG_NUMBER, 1, 10, NULL, "5", LK_CONFIG_RELOAD,
     "how long it may take, in s"},
    {"authority/file", LK_CONFIG_TEXT, 1, PATH, NULL, NULL, LK_CONFIG_RELOAD,
     "passwords: the file of users"},
    {"authority/url", LK_CONFIG_TEXT, 1, LDAP_TEXT, NULL, NULL,
     LK_CONFIG_RELOAD, "ldap: the server"},
    {"authority/start-tls", LK_CONFIG_FLAG, 0, 0, NULL, "no", LK_CONFIG_RELOAD,
     "ldap: whether an ldap:// is encrypted before all else"},
    {"authority/ca", LK_CONFIG_TEXT, 1, PATH, NULL, NULL, LK_CONFIG_RELOAD,
     "ldap: file of the certificate that signed the server's"},
    {"authority/base", LK_CONFIG_TEXT, 1, LDAP_TEXT, NULL, NULL,
     LK_CONFIG_RELOAD, "ldap: where people are"},
    {"authority/filter", LK_CONFIG_TEXT, 1, LDAP_TEXT, NULL, "(uid=%s)",
     LK_CONFIG_RELOAD, "ldap: which of them, %s being the user's name"},
    {"authority/bind-dn", LK_CONFIG_TEXT, 1, LDAP_TEXT, NULL, NULL,
     LK_CONFIG_RELOAD, "ldap: as whom to search"},
    {"authority/bind-password-file", LK_CONFIG_TEXT, 1, PATH, NULL, NULL,
     LK_CONFIG_RELOAD, "ldap: file of its password"},
    {"authority/group-base", LK_CONFIG_TEXT, 1, LDAP_TEXT, NULL, NULL,
     LK_CONFIG_RELOAD, "ldap: where groups are"},
    {"authority/group-filter", LK_CONFIG_TEXT, 1, LDAP_TEXT, NULL,
     "(member=%s)", LK_CONFIG_RELOAD,
     "ldap: which of them, %s being the user's DN"},
    {"authority/role", LK_CONFIG_LIST, 1, LDAP_TEXT, NULL, NULL,
     LK_CONFIG_RELOAD, "ldap: \"ZONE ROLE GROUP\""},
    {NULL, LK_CONFIG_TEXT, 0, 0, NULL, NULL, LK_CONFIG_RESTART, NULL},
};

/*  -------------------------------------------------------- roles */

bool
lk_role_rule_read (lk_role_rule *self, const char *text)
{
    char role[16];
    *self = (lk_role_rule) {.role = LK_ROLES};
    if (!lk_word_take (&text, self->zone, sizeof self->zone)
        || !lk_address_is_name (lk_slice_of (self->zone))
        || !lk_word_take (&text, role, sizeof role)) {
        return false;
    }
    text += strspn (text, " ");
    if (*text == '\0') {
        return false;
    }
    self->role = lk_role_from_word (role);
    self->group = text;
    self->is_dn = strchr (text, '=') != NULL;
    return self->role > LK_ROLE_NONE && self->role < LK_ROLES;
}

/*  As libldap writes it; for ldap_memfree. NULL: it is none. */
static char *
normal_dn (const char *text)
{
    LDAPDN dn = NULL;
    char *normal = NULL;
    if (ldap_str2dn (text, &dn, LDAP_DN_FORMAT_LDAPV3) == LDAP_SUCCESS) {
        (void) ldap_dn2str (dn, &normal, LDAP_DN_FORMAT_LDAPV3);
    }
    ldap_dnfree (dn);
    return normal;
}

static bool
is_same_dn (const char *one, const char *other)
{
    char *first = normal_dn (one), *second = normal_dn (other);
    const bool same =
        first != NULL && second != NULL && strcasecmp (first, second) == 0;
    ldap_memfree (first);
    ldap_memfree (second);
    return same;
}

bool
lk_role_rule_fits (const lk_role_rule *self, const char *dn, const char *cn)
{
    return self->is_dn ? is_same_dn (self->group, dn)
                       : cn != NULL && strcasecmp (self->group, cn) == 0;
}

lk_role
lk_authority_role (const lk_authority *self, const char *zone, const char *dn,
                   const char *cn, lk_role role)
{
    for (size_t i = 0; i < self->rule_count; i++) {
        const lk_role_rule *rule = &self->rules[i];
        if (rule->role > role
            && strcmp (lk_zone_plain (rule->zone), lk_zone_plain (zone)) == 0
            && lk_role_rule_fits (rule, dn, cn)) {
            role = rule->role;
        }
    }
    return role;
}

/*  -------------------------------------------------------- checks */

static bool
is_loopback (const char *host)
{
    return strcmp (host, "localhost") == 0 || strcmp (host, "::1") == 0
           || (strncmp (host, "127.", 4) == 0
               && host[strspn (host, "0123456789.")] == '\0');
}

const char *
lk_authority_url_wrong (const char *url, bool start_tls)
{
    LDAPURLDesc *parts = NULL;
    const char *wrong = NULL;
    if (strchr (url, ' ') != NULL
        || ldap_url_parse (url, &parts) != LDAP_URL_SUCCESS) {
        return "ldaps://HOST, or ldap://HOST";
    }
    const bool plain = strcmp (parts->lud_scheme, "ldap") == 0;
    const bool encrypted = strcmp (parts->lud_scheme, "ldaps") == 0;
    if (!(plain || encrypted) || parts->lud_host == NULL
        || parts->lud_host[0] == '\0'
        || (parts->lud_dn != NULL && parts->lud_dn[0] != '\0')) {
        wrong = "ldaps://HOST, or ldap://HOST";
    } else if (encrypted && start_tls) {
        wrong = "ldap:// with start-tls: ldaps:// is encrypted as it is";
    } else if (plain && !start_tls && !is_loopback (parts->lud_host)) {
        wrong = "ldaps://, or start-tls: passwords go to another machine";
    }
    ldap_free_urldesc (parts);
    return wrong;
}

/*  A filter is searched with: it has one place for what is asked, and is one to
 *  libldap, too. */
static bool
is_filter (const char *filter)
{
    const char *place = strstr (filter, "%s");
    return filter[0] == '(' && place != NULL && strchr (filter, '%') == place
           && strchr (place + 1, '%') == NULL;
}

static void
need (lk_config *config, const char *key, const char *why)
{
    if (lk_config_written (config, key, 0) == NULL) {
        lk_config_complain (config, key, "'%s' is missing: %s", key, why);
    }
}

static void
check_ldap (lk_config *config)
{
    const char *url = lk_config_text (config, "authority/url");
    const bool start_tls = lk_config_flag (config, "authority/start-tls");
    const char *wrong =
        url != NULL ? lk_authority_url_wrong (url, start_tls) : NULL;
    lk_role_rule rule;
    const char *text;
    need (config, "authority/url", "where the server is");
    need (config, "authority/base", "where people are");
    need (config, "authority/group-base", "where groups are");
    need (config, "authority/role", "nobody would have a role");
    if (wrong != NULL) {
        lk_config_refuse (config, "authority/url", 0, wrong);
    }
    if (url != NULL && (start_tls || strncasecmp (url, "ldaps", 5) == 0)) {
        need (config, "authority/ca",
              "by what the server's certificate is known");
    }
    if (lk_config_text (config, "authority/bind-dn") != NULL) {
        need (config, "authority/bind-password-file",
              "'authority/bind-dn' has a password");
    }
    for (size_t i = 0; i < 2; i++) {
        static const char *const filters[] = {"authority/filter",
                                              "authority/group-filter"};
        if (!is_filter (lk_config_text (config, filters[i]))) {
            lk_config_refuse (config, filters[i], 0,
                              "an LDAP filter with %s in it, once");
        }
    }
    for (size_t i = 0;
         (text = lk_config_item (config, "authority/role", i)) != NULL; i++) {
        if (!lk_role_rule_read (&rule, text)) {
            lk_config_refuse (config, "authority/role", i,
                              "the name of a zone, a role (observer, user, "
                              "operator or admin) and a group");
        }
    }
}

/*  -------------------------------------------------------- reading */

static char *
copy (const lk_config *config, const char *key)
{
    const char *text = lk_config_text (config, key);
    return text != NULL ? lk_strdup (text) : NULL;
}

static void
take_rules (lk_authority *self, const lk_config *config)
{
    const char *text;
    while ((text = lk_config_item (config, "authority/role", self->rule_count))
           != NULL) {
        const size_t i = self->rule_count++;
        self->texts =
            lk_realloc (self->texts, self->rule_count * sizeof *self->texts);
        self->rules =
            lk_realloc (self->rules, self->rule_count * sizeof *self->rules);
        self->texts[i] = lk_strdup (text);
        (void) lk_role_rule_read (&self->rules[i], self->texts[i]);
    }
}

static lk_authority *
take (const lk_config *config, const char *name)
{
    lk_authority *self = lk_alloc (sizeof *self);
    self->users = 1;
    snprintf (self->name, sizeof self->name, "%s", name);
    self->type = strcmp (lk_config_text (config, "authority/type"), "ldap") == 0
                     ? LK_AUTHORITY_LDAP
                     : LK_AUTHORITY_PASSWORDS;
    self->timeout_ms = 1000 * lk_config_number (config, "authority/timeout");
    self->file = copy (config, "authority/file");
    self->url = copy (config, "authority/url");
    self->start_tls = lk_config_flag (config, "authority/start-tls");
    self->ca = copy (config, "authority/ca");
    self->base = copy (config, "authority/base");
    self->filter = copy (config, "authority/filter");
    self->bind_dn = copy (config, "authority/bind-dn");
    self->bind_password_file = copy (config, "authority/bind-password-file");
    self->group_base = copy (config, "authority/group-base");
    self->group_filter = copy (config, "authority/group-filter");
    take_rules (self, config);
    return self;
}

static void
check (lk_config *config)
{
    const char *type = lk_config_text (config, "authority/type");
    need (config, "authority/type", "passwords or ldap");
    if (type != NULL && strcmp (type, "ldap") == 0) {
        check_ldap (config);
    } else if (type != NULL) {
        need (config, "authority/file", "the file of its users");
    }
}

lk_authority *
lk_authority_read (const char *path, const char *name)
{
    lk_config *config = lk_config_new (keys);
    lk_authority *self = NULL;
    lk_problem problem = {0};
    char line[PATH_MAX + 600];
    if (lk_config_load (config, path, &problem) == LK_OK) {
        check (config);
    } else if (lk_config_mistakes (config) == 0) {
        lk_log_error ("authority: not read: %s", problem.text);
        lk_config_destroy (&config);
        return NULL;
    }
    for (size_t i = 0; i < lk_config_mistakes (config); i++) {
        lk_config_tell (lk_config_mistake_at (config, i), line, sizeof line);
        lk_log_error ("authority: not read: %s", line);
    }
    if (lk_config_mistakes (config) == 0) {
        self = take (config, name);
    }
    lk_config_destroy (&config);
    return self;
}

/*  -------------------------------------------------------- life */

lk_authority *
lk_authority_hold (lk_authority *self)
{
    __atomic_add_fetch (&self->users, 1, __ATOMIC_SEQ_CST);
    return self;
}

void
lk_authority_let_go (lk_authority **self_p)
{
    lk_authority *self = *self_p;
    *self_p = NULL;
    if (self == NULL
        || __atomic_sub_fetch (&self->users, 1, __ATOMIC_SEQ_CST) > 0) {
        return;
    }
    char *const texts[] = {self->file,        self->url,
                           self->ca,          self->base,
                           self->filter,      self->bind_dn,
                           self->group_base,  self->bind_password_file,
                           self->group_filter};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lk_free (texts[i]);
    }
    for (size_t i = 0; i < self->rule_count; i++) {
        lk_free (self->texts[i]);
    }
    lk_free (self->texts);
    lk_free (self->rules);
    lk_free (self);
}
