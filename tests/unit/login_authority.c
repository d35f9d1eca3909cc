/*  login_authority.c - files of authorities, roles of groups, and URLs
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "authority.h"

#include "net/log.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[64];
static char told[4096];

static void
note (lk_log_level level, const char *line)
{
    (void) level;
    const size_t used = strlen (told);
    snprintf (told + used, sizeof told - used, "%s\n", line);
}

static void
set_up (void)
{
    snprintf (file, sizeof file, "/tmp/authority.XXXXXX");
    const int fd = mkstemp (file);
    ck_assert_int_ge (fd, 0);
    close (fd);
    told[0] = '\0';
    lk_log_set_sink (note);
}

static void
tear_down (void)
{
    unlink (file);
    lk_log_set_sink (NULL);
}

static lk_authority *
read_text (const char *text)
{
    FILE *out = fopen (file, "w");
    ck_assert_ptr_nonnull (out);
    fputs (text, out);
    fclose (out);
    told[0] = '\0';
    return lk_authority_read (file, "corp");
}

/*  The log names that line and says that. */
static void
refuses (const char *text, unsigned line, const char *why)
{
    char place[32];
    ck_assert_ptr_null (read_text (text));
    snprintf (place, sizeof place, "line %u:", line);
    ck_assert_msg (line == 0 || strstr (told, place) != NULL, "%s", told);
    ck_assert_msg (strstr (told, why) != NULL, "%s", told);
}

#define LDAP_HEAD "authority\n    type = ldap\n"
#define LDAP_REST                                                              \
    "    base = \"dc=x\"\n    group-base = \"dc=x\"\n"                         \
    "    role = \"acme user g\"\n"

START_TEST (a_file_of_passwords)
{
    lk_authority *it = read_text ("authority\n    type = passwords\n"
                                  "    file = /x/corp.passwd\n");
    ck_assert_ptr_nonnull (it);
    ck_assert_int_eq (it->type, LK_AUTHORITY_PASSWORDS);
    ck_assert_str_eq (it->file, "/x/corp.passwd");
    ck_assert_int_eq (it->timeout_ms, 5000);
    lk_authority *other = lk_authority_hold (it);
    lk_authority_let_go (&it);
    ck_assert_ptr_null (it);
    ck_assert_str_eq (other->name, "corp");
    lk_authority_let_go (&other);
    refuses ("authority\n    type = passwords\n", 0, "'authority/file'");
}
END_TEST

START_TEST (a_server)
{
    lk_authority *it =
        read_text (LDAP_HEAD "    url = ldaps://h\n    ca = /ca\n"
                             "    timeout = 7\n" LDAP_REST
                             "    role = \"lab admin cn=a, dc=x\"\n");
    ck_assert_ptr_nonnull (it);
    ck_assert_int_eq (it->type, LK_AUTHORITY_LDAP);
    ck_assert_int_eq (it->timeout_ms, 7000);
    ck_assert_str_eq (it->filter, "(uid=%s)");
    ck_assert_str_eq (it->group_filter, "(member=%s)");
    ck_assert_uint_eq (it->rule_count, 2);
    ck_assert_str_eq (it->rules[1].group, "cn=a, dc=x");
    lk_authority_let_go (&it);
}
END_TEST

START_TEST (mistakes_have_their_lines)
{
    refuses ("authority\n", 0, "'authority/type' is missing");
    refuses ("authority\n    type = unix\n", 2, "passwords|ldap");
    refuses (LDAP_HEAD "    typ = 1\n", 3, "'authority/typ'");
    refuses (LDAP_HEAD LDAP_REST, 0, "'authority/url' is missing");
    refuses (LDAP_HEAD "    url = ldaps://h\n" LDAP_REST, 0,
             "'authority/ca' is missing");
    refuses (LDAP_HEAD "    url = ldap://h\n    start-tls = yes\n" LDAP_REST, 0,
             "'authority/ca' is missing");
    refuses (LDAP_HEAD "    url = ldap://h\n" LDAP_REST, 3,
             "passwords go to another machine");
    refuses (LDAP_HEAD
             "    url = ldap://::1\n    bind-dn = \"cn=x\"\n" LDAP_REST,
             0, "'authority/bind-password-file' is missing");
    refuses (LDAP_HEAD "    url = ldap://localhost\n"
                       "    filter = \"(uid=x)\"\n" LDAP_REST,
             4, "an LDAP filter with %s in it, once");
    refuses (LDAP_HEAD "    url = ldap://localhost\n" LDAP_REST
                       "    role = \"acme root g\"\n",
             7, "the name of a zone, a role");
    refuses (LDAP_HEAD
             "    url = ldap://localhost\n    timeout = 0\n" LDAP_REST,
             4, "from 1 to 10");
}
END_TEST

START_TEST (rules)
{
    lk_role_rule rule;
    ck_assert (lk_role_rule_read (&rule, "acme operator lock people"));
    ck_assert_str_eq (rule.zone, "acme");
    ck_assert_int_eq (rule.role, LK_ROLE_OPERATOR);
    ck_assert (lk_role_rule_fits (&rule, "cn=x,dc=y", "Lock People"));
    ck_assert (!lk_role_rule_fits (&rule, "cn=lock people,dc=y", NULL));
    ck_assert (!lk_role_rule_fits (&rule, "cn=lock people,dc=y", "lock"));
    ck_assert (lk_role_rule_read (&rule, "acme user CN=a b, DC=y"));
    ck_assert (lk_role_rule_fits (&rule, "cn=a b,dc=y", "z"));
    ck_assert (!lk_role_rule_fits (&rule, "cn=a b,dc=z", "CN=a b, DC=y"));
    ck_assert (!lk_role_rule_fits (&rule, "cn=a b", "a b"));
    ck_assert (!lk_role_rule_read (&rule, ""));
    ck_assert (!lk_role_rule_read (&rule, "acme"));
    ck_assert (!lk_role_rule_read (&rule, "acme user"));
    ck_assert (!lk_role_rule_read (&rule, "acme none g"));
    ck_assert (!lk_role_rule_read (&rule, "ac/me user g"));
}
END_TEST

START_TEST (the_highest_role_of_the_zone)
{
    lk_authority *it =
        read_text (LDAP_HEAD "    url = ldap://localhost\n" LDAP_REST
                             "    role = \"acme operator g\"\n"
                             "    role = \"acme observer g\"\n"
                             "    role = \"default admin h\"\n");
    ck_assert_ptr_nonnull (it);
    ck_assert_int_eq (lk_authority_role (it, "acme", "cn=g", "g", LK_ROLE_NONE),
                      LK_ROLE_OPERATOR);
    ck_assert_int_eq (
        lk_authority_role (it, "acme", "cn=h", "h", LK_ROLE_OBSERVER),
        LK_ROLE_OBSERVER);
    ck_assert_int_eq (lk_authority_role (it, "lab", "cn=g", "g", LK_ROLE_NONE),
                      LK_ROLE_NONE);
    ck_assert_int_eq (lk_authority_role (it, "", "cn=h", "h", LK_ROLE_NONE),
                      LK_ROLE_ADMIN);
    lk_authority_let_go (&it);
}
END_TEST

START_TEST (urls)
{
    static const char *const good[] = {
        "ldaps://ldap.example.org", "ldaps://10.0.0.1:6360/",
        "ldap://localhost", "ldap://127.0.0.2", "ldap://[::1]:389"};
    static const char *const wrong[] = {"ldap://ldap.example.org",
                                        "ldap://127.0.0.1.example.org",
                                        "ldaps://",
                                        "ldapi:///x",
                                        "http://x",
                                        "ldaps://x/dc=y",
                                        "ldaps://a ldap://b",
                                        "ldap://10.0.0.1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg (!lk_authority_url_wrong (good[i], false), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg (lk_authority_url_wrong (wrong[i], false) != NULL, "%s",
                       wrong[i]);
    }
    ck_assert (!lk_authority_url_wrong ("ldap://ldap.example.org", true));
    ck_assert (lk_authority_url_wrong ("ldaps://ldap.example.org", true));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("authority");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_file_of_passwords);
    tcase_add_test (tests, a_server);
    tcase_add_test (tests, mistakes_have_their_lines);
    tcase_add_test (tests, rules);
    tcase_add_test (tests, the_highest_role_of_the_zone);
    tcase_add_test (tests, urls);

    Suite *suite = suite_create ("login_authority");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
