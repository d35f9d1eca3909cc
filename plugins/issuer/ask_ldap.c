/*  ask_ldap.c - an LDAP server as authority
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Searches the user, and the groups, as `bind-dn`; then binds as the user,
 *  which shows that the password is right. An empty password never comes here:
 *  LDAP takes that for nobody in particular, and agrees.
 */

#include "question.h"

#include "net/clock.h"
#include "net/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ldap.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define FILTER_SIZE 4096
#define GROUPS_MAX 1000

typedef struct {
    const lk_question *question;
    const lk_authority *authority;
    lk_authority_answer *verdict;
    LDAP *ldap;
} asking;

/*  -------------------------------------------------------- mistakes */

/*  False, for its caller to return. */
static bool
fail (asking *self, int rc, const char *what)
{
    char *more = NULL;
    if (self->ldap != NULL) {
        (void) ldap_get_option (self->ldap, LDAP_OPT_DIAGNOSTIC_MESSAGE, &more);
    }
    self->verdict->saying = LK_SAYS_NO_ANSWER;
    snprintf (self->verdict->why, sizeof self->verdict->why, "%s: %s%s%s", what,
              ldap_err2string (rc), more != NULL && more[0] != '\0' ? ": " : "",
              more != NULL ? more : "");
    ldap_memfree (more);
    return false;
}

static bool
fail_errno (asking *self, const char *what)
{
    self->verdict->saying = LK_SAYS_NO_ANSWER;
    snprintf (self->verdict->why, sizeof self->verdict->why, "%s: %s", what,
              strerror (errno));
    return false;
}

static bool
say (asking *self, lk_saying saying)
{
    self->verdict->saying = saying;
    return false;
}

/*  -------------------------------------------------------- connection */

/*  Each step has what is left of the time for all. */
static bool
set_time (asking *self, struct timeval *left)
{
    const int64_t left_ms = self->question->until_ms - lk_clock_ms ();
    if (left_ms <= 0) {
        return fail (self, LDAP_TIMEOUT, "no time is left");
    }
    *left = (struct timeval) {.tv_sec = left_ms / 1000,
                              .tv_usec = left_ms % 1000 * 1000};
    const int rc = ldap_set_option (self->ldap, LDAP_OPT_TIMEOUT, left);
    return rc == LDAP_OPT_SUCCESS
               ? ldap_set_option (self->ldap, LDAP_OPT_NETWORK_TIMEOUT, left)
                         == LDAP_OPT_SUCCESS
                     || fail (self, LDAP_PARAM_ERROR, "cannot set a time")
               : fail (self, rc, "cannot set a time");
}

static bool
set_encryption (asking *self)
{
    const int demand = LDAP_OPT_X_TLS_DEMAND;
    const int version = LDAP_OPT_X_TLS_PROTOCOL_TLS1_2;
    const int client = 0;
    const char *ca = self->authority->ca;
    if (ca == NULL) {
        return true;
    }
    return (ldap_set_option (self->ldap, LDAP_OPT_X_TLS_CACERTFILE, ca)
                == LDAP_OPT_SUCCESS
            && ldap_set_option (self->ldap, LDAP_OPT_X_TLS_REQUIRE_CERT,
                                &demand)
                   == LDAP_OPT_SUCCESS
            && ldap_set_option (self->ldap, LDAP_OPT_X_TLS_PROTOCOL_MIN,
                                &version)
                   == LDAP_OPT_SUCCESS
            && ldap_set_option (self->ldap, LDAP_OPT_X_TLS_NEWCTX, &client)
                   == LDAP_OPT_SUCCESS)
           || fail (self, LDAP_LOCAL_ERROR, "cannot use the file of 'ca'");
}

static bool
open_it (asking *self)
{
    const int version = LDAP_VERSION3;
    struct timeval left;
    int rc = ldap_initialize (&self->ldap, self->authority->url);
    if (rc != LDAP_SUCCESS) {
        self->ldap = NULL;
        return fail (self, rc, "cannot begin");
    }
    (void) ldap_set_option (self->ldap, LDAP_OPT_PROTOCOL_VERSION, &version);
    (void) ldap_set_option (self->ldap, LDAP_OPT_REFERRALS, LDAP_OPT_OFF);
    (void) ldap_set_option (self->ldap, LDAP_OPT_RESTART, LDAP_OPT_OFF);
    if (!set_time (self, &left) || !set_encryption (self)) {
        return false;
    }
    if (self->authority->start_tls) {
        rc = ldap_start_tls_s (self->ldap, NULL, NULL);
        return rc == LDAP_SUCCESS || fail (self, rc, "cannot begin TLS");
    }
    return true;
}

static int
bind_as (asking *self, const char *dn, char *password)
{
    struct berval secret = {.bv_val = password, .bv_len = strlen (password)};
    return ldap_sasl_bind_s (self->ldap, dn, LDAP_SASL_SIMPLE, &secret, NULL,
                             NULL, NULL);
}

/*  Its first line. */
static bool
read_password (asking *self, char password[LK_PASSWORD_SIZE])
{
    const int fd =
        open (self->authority->bind_password_file, O_RDONLY | O_CLOEXEC);
    const ssize_t size =
        fd >= 0 ? lk_file_read (fd, password, LK_PASSWORD_SIZE - 1) : -1;
    const int number = errno;
    if (fd >= 0) {
        close (fd);
    }
    errno = number;
    if (size < 0) {
        return fail_errno (self, "cannot read 'bind-password-file'");
    }
    password[size] = '\0';
    password[strcspn (password, "\r\n")] = '\0';
    return password[0] != '\0'
           || fail (self, LDAP_PARAM_ERROR, "'bind-password-file' is empty");
}

static bool
bind_to_search (asking *self)
{
    char password[LK_PASSWORD_SIZE] = "";
    struct timeval left;
    if (self->authority->bind_dn == NULL) {
        return true;
    }
    if (!read_password (self, password) || !set_time (self, &left)) {
        return false;
    }
    const int rc = bind_as (self, self->authority->bind_dn, password);
    explicit_bzero (password, sizeof password);
    return rc == LDAP_SUCCESS || fail (self, rc, "cannot bind as 'bind-dn'");
}

/*  -------------------------------------------------------- searches */

/*  The filter with the text in its place, as libldap writes it there so that it
 *  is nothing but a text. False: there is no room. */
static bool
fill_in (const char *filter, const char *text, char filled[FILTER_SIZE])
{
    const char *place = strstr (filter, "%s");
    struct berval raw = {.bv_val = (char *) text, .bv_len = strlen (text)};
    struct berval escaped = {0};
    if (place == NULL || ldap_bv2escaped_filter_value (&raw, &escaped) != 0) {
        return false;
    }
    const int size =
        snprintf (filled, FILTER_SIZE, "%.*s%s%s", (int) (place - filter),
                  filter, escaped.bv_val, place + 2);
    ber_memfree (escaped.bv_val);
    return size < FILTER_SIZE;
}

/*  More than there may be is no failure: what came counts. */
static bool
search (asking *self, const char *base, const char *filter, const char *text,
        int most, LDAPMessage **found)
{
    char *attributes[] = {(char *) "cn", NULL};
    char filled[FILTER_SIZE];
    struct timeval left;
    *found = NULL;
    if (!fill_in (filter, text, filled)) {
        return fail (self, LDAP_FILTER_ERROR, "cannot fill in the filter");
    }
    if (!set_time (self, &left)) {
        return false;
    }
    const int rc =
        ldap_search_ext_s (self->ldap, base, LDAP_SCOPE_SUBTREE, filled,
                           attributes, 0, NULL, NULL, &left, most, found);
    return rc == LDAP_SUCCESS || rc == LDAP_SIZELIMIT_EXCEEDED
           || fail (self, rc, "cannot search");
}

/*  The DN of the one that is called so, for ldap_memfree. NULL: the verdict is
 *  there. */
static char *
find_user (asking *self)
{
    LDAPMessage *found;
    char *dn = NULL;
    if (search (self, self->authority->base, self->authority->filter,
                self->question->user, 2, &found)) {
        const int count = ldap_count_entries (self->ldap, found);
        if (count == 1) {
            dn = ldap_get_dn (self->ldap, ldap_first_entry (self->ldap, found));
        } else {
            (void) say (self,
                        count > 1 ? LK_SAYS_NO_ONE_USER : LK_SAYS_NO_USER);
        }
    }
    ldap_msgfree (found);
    if (dn != NULL && dn[0] == '\0') {
        ldap_memfree (dn);
        dn = NULL;
        (void) say (self, LK_SAYS_NO_USER);
    }
    return dn;
}

static lk_role
role_of_group (const asking *self, LDAPMessage *group, lk_role role)
{
    char *dn = ldap_get_dn (self->ldap, group);
    struct berval **names = ldap_get_values_len (self->ldap, group, "cn");
    const lk_authority *authority = self->authority;
    const char *zone = self->question->zone;
    if (dn != NULL) {
        role = lk_authority_role (authority, zone, dn, NULL, role);
        for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
            const struct berval *name = names[i];
            if (strlen (name->bv_val) == name->bv_len) {
                role =
                    lk_authority_role (authority, zone, dn, name->bv_val, role);
            }
        }
    }
    ldap_value_free_len (names);
    ldap_memfree (dn);
    return role;
}

/*  NONE may be its role. False: the verdict is there. */
static bool
find_role (asking *self, const char *user_dn, lk_role *role)
{
    LDAPMessage *found;
    *role = LK_ROLE_NONE;
    const bool fine =
        search (self, self->authority->group_base,
                self->authority->group_filter, user_dn, GROUPS_MAX, &found);
    for (LDAPMessage *group = fine ? ldap_first_entry (self->ldap, found)
                                   : NULL;
         group != NULL; group = ldap_next_entry (self->ldap, group)) {
        *role = role_of_group (self, group, *role);
    }
    ldap_msgfree (found);
    return fine;
}

/*  -------------------------------------------------------- the whole */

static bool
check_password (asking *self, const char *dn)
{
    struct timeval left;
    char password[LK_PASSWORD_SIZE];
    if (!set_time (self, &left)) {
        return false;
    }
    snprintf (password, sizeof password, "%s", self->question->password);
    const int rc = bind_as (self, dn, password);
    explicit_bzero (password, sizeof password);
    if (rc == LDAP_SUCCESS) {
        return true;
    }
    return LDAP_NAME_ERROR (rc) || LDAP_SECURITY_ERROR (rc)
                   || rc == LDAP_UNWILLING_TO_PERFORM
                   || rc == LDAP_CONSTRAINT_VIOLATION
               ? say (self, LK_SAYS_WRONG_PASSWORD)
               : fail (self, rc, "cannot bind as the user");
}

static void
ask (asking *self)
{
    char *dn = NULL;
    lk_role role;
    if (open_it (self) && bind_to_search (self)
        && (dn = find_user (self)) != NULL && find_role (self, dn, &role)
        && (self->question->is_renewal || check_password (self, dn))) {
        self->verdict->role = role;
        (void) say (self, role > LK_ROLE_NONE ? LK_SAYS_ROLE : LK_SAYS_NO_ROLE);
    }
    ldap_memfree (dn);
}

void
lk_ask_ldap (const lk_question *question, lk_authority_answer *verdict)
{
    asking self = {.question = question,
                   .authority = question->authority,
                   .verdict = verdict};
    *verdict = (lk_authority_answer) {.saying = LK_SAYS_NO_ANSWER};
    ask (&self);
    if (self.ldap != NULL) {
        (void) ldap_unbind_ext_s (self.ldap, NULL, NULL);
    }
}
