/*  common.c - the settings of a whole cluster: what makes sense, and keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/common.h"
#include "settings/arbiters.h"
#include "settings/zones.h"

#include "lib/suite.h"
#include "net/curve.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K1 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define K2 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define K3 "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
#define LINE(host, key) "    key = \"" host " " key "\"\n"
#define MASK(mask) "    leader-mask = \"" mask "\"\n"
#define ARBITER(name, address, key)                                            \
    "    arbiter = \"" name " " address " " key "\"\n"
#define IN(host, domain) "    domain = \"" host " " domain "\"\n"
#define ZONE(value) "    zone = \"" value "\"\n"
#define ISSUER(zone)                                                           \
    "    issuer = \"" zone                                                     \
    " 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"\n"
#define REVOKED(value) "    revoked = \"" value "\"\n"
#define LOCK "settings\n    lock = h1\n    lock = h3\n"

static const struct {
    const char *text, *problem; /* NULL: it makes sense */
} cases[] = {
    {"", NULL},
    {"#  nothing\n\nsettings\n", NULL},
    {LOCK "router\n" LINE ("h1", K1) LINE ("h2", K2), NULL},
    {"router\n" LINE ("h1", K1) LINE ("*", K2) LINE ("h1", K3), NULL},
    {"settings\n    look = h1\n",
     "line 2: there is no setting 'settings/look'"},
    {"settings\n    lock = \"h 1\"\n",
     "line 2: 'settings/lock' needs the name of a host"},
    {"settings = 1\n", "line 1: there is no setting 'settings'"},
    {"router\n    key = h1\n", "line 2: 'router/key' needs the name of a "
                               "host, a blank, and a public key"},
    {"router\n    key = \"h1 short\"\n", "line 2: 'router/key' needs"},
    {"router\n" LINE ("h@1", K1), "line 2: 'router/key' needs"},
    {"router\n" LINE ("h1", K1 "0"), "line 2: 'router/key' needs"},
    {"router\n" LINE ("h1", K1) LINE ("h2", K1),
     "'router/key' has the key of 'h2' twice"},
    {"router\n" LINE ("h1", K1) LINE ("h1", K2) LINE ("h1", K3),
     "'router/key' has more than 2 keys of 'h1'"},
    {"clients\n" LINE ("m1", K1) LINE ("m1", K2) LINE ("m2", K3), NULL},
    {"router\n" LINE ("h1", K1) "clients\n" LINE ("m1", K1), NULL},
    {"clients\n    kay = m1\n", "line 2: there is no setting"},
    {"clients\n    key = m1\n",
     "line 2: 'clients/key' needs the name of a client, a blank, a public "
     "key"},
    {"clients\n" LINE ("m1", K1 " operator") LINE ("m2", K2 " observer"), NULL},
    {"clients\n" LINE ("m1", K1 " admin"), "line 2: 'clients/key' needs"},
    {"clients\n" LINE ("m1", K1 " none"), "line 2: 'clients/key' needs"},
    {"clients\n" LINE ("m1", K1 " user x"), "line 2: 'clients/key' needs"},
    {"clients\n" LINE ("*", K1), "line 2: 'clients/key' needs"},
    {"clients\n" LINE ("m1", K1 "0"), "line 2: 'clients/key' needs"},
    {"clients\n" LINE ("m1", K1) LINE ("m2", K1),
     "'clients/key' has the key of 'm2' twice"},
    {"zones\n" ZONE ("acme") ZONE ("b locks=5 ttl=60 authority=ldap")
         ISSUER ("acme") REVOKED ("0123456789abcdef 1800000000"),
     NULL},
    {"zones\n" ZONE ("acme") ZONE ("acme locks=1"),
     "'zones/zone' has 'acme' twice"},
    {"zones\n" ZONE ("acme looks=1"), "line 2: 'zones/zone' needs the "
                                      "name of a zone"},
    {"zones\n" ZONE ("acme locks=-1"), "line 2: 'zones/zone' needs"},
    {"zones\n" ZONE ("acme ttl=0"), "line 2: 'zones/zone' needs"},
    {"zones\n" ZONE ("a/b"), "line 2: 'zones/zone' needs"},
    {"zones\n" ISSUER ("acme"),
     "'zones/issuer' is for 'acme', and there is no such zone"},
    {"zones\n    issuer = \"acme 12ab\"\n", "line 2: 'zones/issuer' needs"},
    {"zones\n" REVOKED ("12ab 1800000000"),
     "line 2: 'zones/revoked' needs the serial of a credential"},
    {"zones\n" REVOKED ("0123456789abcdef"), "line 2: 'zones/revoked' needs"},
    {"clients\n    discovery = anyone\n", NULL},
    {"clients\n    discovery = all\n",
     "line 2: 'clients/discovery' needs anyone, authenticated or nobody"},
    {"clients\n    discovery = anyone\n    discovery = nobody\n",
     "'clients/discovery' has more than 1 value"},
    {"hosts\n" IN ("h1", "au.perth") IN ("h2", "au.perth"), NULL},
    {"hosts\n" IN ("h1", "au..perth"), "line 2: 'hosts/domain' needs"},
    {"hosts\n    domain = h1\n", "line 2: 'hosts/domain' needs"},
    {"hosts\n" IN ("h1", "au") IN ("h2", "au") IN ("h1", "nz"),
     "'hosts/domain' has 'h1' twice"},
    {"hosts\n" MASK ("au.*.dh?.*") MASK ("*"), NULL},
    {"hosts\n" MASK ("au..*"), "line 2: 'hosts/leader-mask' needs a mask of"},
    {"hosts\n" MASK ("au.[ab]"), "line 2: 'hosts/leader-mask' needs"},
    {"hosts\n" ARBITER ("a1", "10.0.0.7:7411", K1)
         ARBITER ("a2", "[fe80::1]:1", K2),
     NULL},
    {"hosts\n" ARBITER ("a1", "10.0.0.7", K1),
     "line 2: 'hosts/arbiter' needs the name of an arbiter"},
    {"hosts\n" ARBITER ("a 1", "10.0.0.7:1", K1),
     "line 2: 'hosts/arbiter' needs"},
    {"hosts\n" ARBITER ("*", "10.0.0.7:1", K1),
     "line 2: 'hosts/arbiter' needs"},
    {"hosts\n" ARBITER ("a1", "10.0.0.7:1", K1 "0"),
     "line 2: 'hosts/arbiter' needs"},
    {"hosts\n    arbiter = a1\n", "line 2: 'hosts/arbiter' needs"},
    {"hosts\n" ARBITER ("a1", "x:1", K1) ARBITER ("a1", "y:1", K2),
     "'hosts/arbiter' has 'a1' twice"},
    {"hosts\n" ARBITER ("a1", "x:1", K1) ARBITER ("a2", "x:1", K2),
     "'hosts/arbiter' has 'x:1' twice"},
    {"hosts\n" ARBITER ("a1", "x:1", K1) ARBITER ("a2", "y:1", K1),
     "'hosts/arbiter' has '" K1 "' twice"},
    {"router\n" LINE ("a1", K1) "hosts\n" ARBITER ("a1", "x:1", K2),
     "the name or the key of arbiter 'a1' is that of a host of "
     "'router/key'"},
    {"router\n" LINE ("h1", K1) "hosts\n" ARBITER ("a1", "x:1", K1),
     "the name or the key of arbiter 'a1' is that of a host of "
     "'router/key'"},
};

START_TEST (texts)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lk_problem problem = {.text = ""};
        const lk_err error = lk_common_settings_check (cases[i].text, &problem);
        const char *wanted = cases[i].problem ? cases[i].problem : "";
        ck_assert_int_eq (error, cases[i].problem ? LK_INVALID : LK_OK);
        ck_assert_msg (strncmp (problem.text, wanted, strlen (wanted)) == 0,
                       "%zu: %s", i, problem.text);
    }
}
END_TEST

START_TEST (its_keys)
{
    static const char text[] =
        LOCK "router\n" LINE ("h2", K1) LINE ("*", K2) LINE ("h2", K3);
    lk_host_key keys[LK_HOST_KEYS_MAX];
    char line[LK_HOST_KEY_LINE_SIZE];
    ck_assert_uint_eq (lk_common_settings_keys (text, keys), 3);
    ck_assert_str_eq (keys[1].host, LK_HOST_KEY_ANY);
    ck_assert_ptr_eq (lk_host_key_find (keys, 3, K3), &keys[2]);
    ck_assert_ptr_eq (lk_host_key_of (keys, 3, "h2"), &keys[0]);
    ck_assert_ptr_null (lk_host_key_of (keys, 3, "h1"));
    ck_assert_ptr_null (lk_host_key_find (keys, 2, K3));
    lk_host_key_write (&keys[0], line);
    ck_assert_str_eq (line, "h2 " K1);
    ck_assert_uint_eq (lk_common_settings_keys (LOCK, keys), 0);
}
END_TEST

START_TEST (its_arbiters)
{
    static const char text[] = "hosts\n" ARBITER ("a1", "10.0.0.7:7411", K1)
        IN ("h1", "au") ARBITER ("a2", "arbiter.example:1", K2);
    lk_arbiter arbiters[LK_ARBITERS_MAX];
    char line[LK_ARBITER_LINE_SIZE];
    ck_assert_uint_eq (lk_common_settings_arbiters (text, arbiters), 2);
    ck_assert_str_eq (arbiters[1].address, "arbiter.example:1");
    ck_assert_str_eq (arbiters[1].key, K2);
    ck_assert_ptr_eq (lk_arbiter_find (arbiters, 2, "a2"), &arbiters[1]);
    ck_assert_ptr_null (lk_arbiter_find (arbiters, 2, "h1"));
    lk_arbiter_write (&arbiters[0], line);
    ck_assert_str_eq (line, "a1 10.0.0.7:7411 " K1);
}
END_TEST

START_TEST (too_many_arbiters)
{
    char text[1024] = "hosts\n";
    lk_curve_pair pair;
    lk_problem problem;
    for (int i = 0; i <= LK_ARBITERS_MAX; i++) {
        const size_t used = strlen (text);
        ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_OK);
        lk_curve_make (&pair);
        snprintf (text + used, sizeof text - used,
                  "    arbiter = \"a%d 10.0.0.%d:1 %s\"\n", i, i,
                  pair.public_key);
    }
    ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_INVALID);
    ck_assert_str_eq (problem.text, "'hosts/arbiter' has more than 5 arbiters");
}
END_TEST

START_TEST (too_many_domains)
{
    char text[(LK_DOMAINS_MAX + 1) * 40] = "hosts\n";
    lk_host_domain domains[LK_DOMAINS_MAX];
    lk_problem problem;
    size_t used = strlen (text);
    for (int i = 0; i <= LK_DOMAINS_MAX; i++) {
        ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_OK);
        used += (size_t) snprintf (text + used, sizeof text - used,
                                   "    domain = \"g%d au.x%d\"\n", i, i);
    }
    ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_INVALID);
    ck_assert_str_eq (problem.text, "'hosts/domain' has more than 64 hosts");
    ck_assert_uint_eq (lk_common_settings_domains (text, domains),
                       LK_DOMAINS_MAX);
    ck_assert_str_eq (lk_host_domain_of (domains, LK_DOMAINS_MAX, "g7")->domain,
                      "au.x7");
    ck_assert_ptr_null (lk_host_domain_of (domains, LK_DOMAINS_MAX, "g64"));
}
END_TEST

/*  The first that it fits counts, and the more are behind that the more. */
START_TEST (where_leaders_are_wished)
{
    static const char text[] =
        "hosts\n" MASK ("au.perth.*") MASK ("au.*") MASK ("nz");
    ck_assert_uint_eq (lk_common_settings_wish (text, "au.perth.dh4"), 3);
    ck_assert_uint_eq (lk_common_settings_wish (text, "au.perth"), 2);
    ck_assert_uint_eq (lk_common_settings_wish (text, "nz"), 1);
    ck_assert_uint_eq (lk_common_settings_wish (text, "fr"), 0);
    ck_assert_uint_eq (lk_common_settings_wish (text, ""), 0);
    ck_assert_uint_eq (lk_common_settings_wish (NULL, "nz"), 0);
    ck_assert_uint_eq (lk_common_settings_wish (LOCK, "nz"), 0);
}
END_TEST

START_TEST (too_many_masks)
{
    static const char all[] = "hosts\n" MASK ("*") MASK ("*") MASK ("*")
        MASK ("*") MASK ("*") MASK ("*") MASK ("*");
    static const char more[] = "hosts\n" MASK ("*") MASK ("*") MASK ("*")
        MASK ("*") MASK ("*") MASK ("*") MASK ("*") MASK ("*");
    lk_problem problem;
    ck_assert_int_eq (lk_common_settings_check (all, &problem), LK_OK);
    ck_assert_uint_eq (lk_common_settings_wish (all, "au"),
                       LK_LEADER_MASKS_MAX);
    ck_assert_int_eq (lk_common_settings_check (more, &problem), LK_INVALID);
    ck_assert_str_eq (problem.text,
                      "'hosts/leader-mask' has more than 7 masks");
    ck_assert_uint_eq (lk_common_settings_wish (more, "au"),
                       LK_LEADER_MASKS_MAX);
}
END_TEST

START_TEST (who_may_know)
{
    static const char text[] = "clients\n    discovery = nobody\n";
    ck_assert_int_eq (lk_common_settings_discovery (text), LK_DISCOVERY_NOBODY);
    ck_assert_int_eq (lk_common_settings_discovery (LOCK),
                      LK_DISCOVERY_AUTHENTICATED);
}
END_TEST

START_TEST (too_many_keys)
{
    char text[LK_HOST_KEYS_MAX * 80] = "router\n";
    lk_host_key keys[LK_HOST_KEYS_MAX];
    lk_problem problem;
    size_t used = strlen (text);
    for (int i = 0; i <= LK_HOST_KEYS_MAX; i++) {
        lk_curve_pair pair;
        lk_curve_make (&pair);
        ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_OK);
        used +=
            (size_t) snprintf (text + used, sizeof text - used,
                               "    key = \"g%d %s\"\n", i, pair.public_key);
    }
    ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_INVALID);
    ck_assert_str_eq (problem.text, "'router/key' has more than 140 keys");
    ck_assert_uint_eq (lk_common_settings_keys (text, keys), LK_HOST_KEYS_MAX);
}
END_TEST

START_TEST (its_clients)
{
    static const char text[] = LOCK
        "router\n" LINE ("h2", K1) "clients\n" LINE ("m1", K2) LINE ("m1", K3);
    lk_client_key keys[LK_CLIENT_KEYS_MAX];
    char line[LK_CLIENT_KEY_LINE_SIZE];
    ck_assert_uint_eq (lk_common_settings_clients (text, keys), 2);
    ck_assert_ptr_eq (lk_client_key_find (keys, 2, K3), &keys[1]);
    ck_assert_ptr_null (lk_client_key_find (keys, 2, K1));
    lk_client_key_write (&keys[0], line);
    ck_assert_str_eq (line, "m1 " K2);
    ck_assert (!lk_client_key_read (&keys[0], "* " K2));
    ck_assert (!lk_client_key_read (&keys[0], K2));
    ck_assert_uint_eq (lk_common_settings_clients (LOCK, keys), 0);
}
END_TEST

START_TEST (too_many_clients)
{
    const size_t room = (LK_CLIENT_KEYS_MAX + 1) * 80;
    char *text = calloc (1, room);
    lk_problem problem;
    size_t used = (size_t) snprintf (text, room, "clients\n");
    for (int i = 0; i <= LK_CLIENT_KEYS_MAX; i++) {
        if (i == LK_CLIENT_KEYS_MAX) {
            ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_OK);
        }
        lk_curve_pair pair;
        lk_curve_make (&pair);
        used +=
            (size_t) snprintf (text + used, room - used,
                               "    key = \"m%d %s\"\n", i, pair.public_key);
    }
    ck_assert_int_eq (lk_common_settings_check (text, &problem), LK_INVALID);
    ck_assert_str_eq (problem.text, "'clients/key' has more than 500 keys");
    free (text);
}
END_TEST

START_TEST (who_may_change_them)
{
    ck_assert (lk_common_settings_may_change ("", "h2"));
    ck_assert (lk_common_settings_may_change (LOCK, "h3"));
    ck_assert (!lk_common_settings_may_change (LOCK, "h2"));
}
END_TEST

START_TEST (zones)
{
    lk_zone zone;
    char line[LK_ZONE_LINE_SIZE];
    ck_assert (lk_zone_read (&zone, "acme requests=5  bytes=7 sessions=3"));
    ck_assert_str_eq (zone.name, "acme");
    ck_assert_int_eq (zone.requests, 5);
    ck_assert_int_eq (zone.bytes, 7);
    ck_assert_int_eq (zone.sessions, 3);
    ck_assert_int_eq (zone.locks, 0);
    ck_assert_int_eq (zone.ttl_s, LK_ZONE_TTL_S);
    ck_assert_int_eq (zone.renew_s, LK_ZONE_RENEW_S);
    ck_assert_str_eq (zone.authority, "");
    lk_zone_write (&zone, line);
    ck_assert_str_eq (line, "acme sessions=3 requests=5 bytes=7");
    ck_assert (lk_zone_read (&zone, "acme renew=0 authority=corp"));
    lk_zone_write (&zone, line);
    ck_assert_str_eq (line, "acme renew=0 authority=corp");
    ck_assert_ptr_nonnull (lk_zone_find (&zone, 1, "acme"));
    ck_assert_ptr_null (lk_zone_find (&zone, 1, "default"));
    ck_assert (lk_zone_read (&zone, "default"));
    ck_assert_ptr_nonnull (lk_zone_find (&zone, 1, ""));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("common");
    tcase_add_test (tcase, texts);
    tcase_add_test (tcase, zones);
    tcase_add_test (tcase, its_keys);
    tcase_add_test (tcase, who_may_know);
    tcase_add_test (tcase, its_arbiters);
    tcase_add_test (tcase, too_many_arbiters);
    tcase_add_test (tcase, too_many_domains);
    tcase_add_test (tcase, where_leaders_are_wished);
    tcase_add_test (tcase, too_many_masks);
    tcase_add_test (tcase, too_many_keys);
    tcase_add_test (tcase, its_clients);
    tcase_add_test (tcase, too_many_clients);
    tcase_add_test (tcase, who_may_change_them);
    Suite *suite = suite_create ("common");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
