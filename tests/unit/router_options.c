/*  router_options.c - what a router's configuration may say, and is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/suite.h"
#include "settings/keys.h"
#include "settings/router.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/lk-options-XXXXXX";
static lk_config *config;
static lk_router_options options;
static lk_problem problem;

static void
set_up (void)
{
    snprintf (path, sizeof path, "/tmp/lk-options-XXXXXX");
    int fd = mkstemp (path);
    ck_assert_int_ne (fd, -1);
    close (fd);
    config = lk_config_new (lk_settings);
}

static void
tear_down (void)
{
    lk_config_destroy (&config);
    unlink (path);
}

/*  As line 3 of the file. */
static lk_err
read_line (const char *line)
{
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fprintf (file, "router\n    mode = 0600\n    %s\n", line);
    fclose (file);
    ck_assert_int_eq (lk_config_load (config, path, &problem), LK_OK);
    return lk_router_options_read (&options, config, &problem);
}

static void
taken (const char *line)
{
    ck_assert_msg (read_line (line) == LK_OK, "%s: %s", line, problem.text);
}

static void
refused (const char *line, const char *key)
{
    char place[100];
    ck_assert_msg (read_line (line) == LK_INVALID, "taken: %s", line);
    snprintf (place, sizeof place, "'%s', line 3: '", path);
    ck_assert_msg (strncmp (problem.text, place, strlen (place)) == 0
                       && strstr (problem.text, key) != NULL,
                   "%s: %s", line, problem.text);
}

/*  Those of the pages. */
START_TEST (defaults)
{
    ck_assert_int_eq (lk_router_options_read (&options, config, &problem),
                      LK_OK);
    ck_assert_str_eq (options.endpoint, "ipc:///run/lockkeeper/router");
    ck_assert_uint_eq (options.mode, 0660);
    ck_assert_str_eq (options.group, "");
    ck_assert_str_eq (options.listen, "");
    ck_assert_str_eq (options.address, "");
    ck_assert_int_eq (options.dead_after_ms, 1000);
    ck_assert_int_eq (options.log_level, LK_LOG_NOTICE);
    ck_assert (!options.syslog);
    ck_assert_ptr_null (options.neighbour[0]);
    ck_assert_str_eq (options.host, "");
    ck_assert_str_eq (options.identity, "/var/lib/lockkeeper/identity");
}
END_TEST

START_TEST (where_admins_attach)
{
    char line[200];
    ck_assert_str_eq (options.admin_endpoint, "");
    taken ("endpoint = \"ipc:///tmp/x\"");
    ck_assert_str_eq (options.admin_endpoint, "ipc:///tmp/x-admin");
    taken ("admin-endpoint = \"ipc:///tmp/y\"");
    ck_assert_str_eq (options.admin_endpoint, "ipc:///tmp/y");
    refused ("admin-endpoint = \"tcp://127.0.0.1:1\"",
             "'router/admin-endpoint'");
    refused ("admin-endpoint = \"ipc:///run/lockkeeper/router\"",
             "another one than router/endpoint");
    /*  The path of a socket has 107 bytes. */
    snprintf (line, sizeof line, "endpoint = \"ipc:///%0100d\"", 0);
    taken (line);
    ck_assert_uint_eq (strlen (options.admin_endpoint),
                       strlen ("ipc://") + 107);
    snprintf (line, sizeof line, "endpoint = \"ipc:///%0101d\"", 0);
    taken (line);
    ck_assert_str_eq (options.admin_endpoint, "");
}
END_TEST

/*  Lines of section local. */
START_TEST (zones_of_processes)
{
    static const struct {
        const char *line, *said;
    } wrong[] = {
        {"root", "USER ZONE, @GROUP ZONE"},
        {"root red user more", "USER ZONE, @GROUP ZONE"},
        {"root r@d", "a zone is 1 to 63"},
        {"root red admin", "a role is observer, user or operator"},
        {"root red none", "a role is observer, user or operator"},
        {"nobody-has-that red", "there is no user 'nobody-has-that'"},
        {"@nobody-has-that red", "there is no group 'nobody-has-that'"},
        {"4294967295 red", "there is no user '4294967295'"},
    };
    const gid_t groups[] = {5, 7};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tear_down ();
        set_up ();
        ck_assert_int_eq (
            lk_config_set (config, "local/zone", wrong[i].line, &problem),
            LK_OK);
        ck_assert_int_eq (lk_router_options_read (&options, config, &problem),
                          LK_INVALID);
        ck_assert_msg (strstr (problem.text, wrong[i].said) != NULL, "%s",
                       problem.text);
    }
    tear_down ();
    set_up ();
    ck_assert_int_eq (
        lk_config_set (config, "local/zone", "root red operator", &problem),
        LK_OK);
    ck_assert_int_eq (lk_config_set (config, "local/zone", "@7 blue", &problem),
                      LK_OK);
    ck_assert_int_eq (lk_router_options_read (&options, config, &problem),
                      LK_OK);
    ck_assert_uint_eq (options.local_zone_count, 2);
    const lk_local_zone *zones = options.local_zone;
    const lk_local_zone *found = lk_local_zones_find (zones, 2, 0, groups, 2);
    ck_assert_ptr_eq (found, &zones[0]);
    ck_assert_int_eq (found->role, LK_ROLE_OPERATOR);
    found = lk_local_zones_find (zones, 2, 7, groups, 2);
    ck_assert_ptr_eq (found, &zones[1]);
    ck_assert_str_eq (found->zone, "blue");
    ck_assert_int_eq (found->role, LK_ROLE_USER);
    ck_assert_ptr_null (lk_local_zones_find (zones, 2, 7, groups, 1));
    ck_assert (lk_local_zones_have_groups (zones, 2));
    ck_assert (!lk_local_zones_have_groups (zones, 1));
}
END_TEST

START_TEST (places_to_listen)
{
    taken ("listen = \"tcp://127.0.0.1:7411\"");
    taken ("listen = \"tcp://127.0.0.1:*\"");
    taken ("listen = \"tcp://*:65535\"");
    taken ("listen = \"tcp://*:*\"");
    taken ("listen = \"tcp://[::1]:1\"");
    taken ("listen = \"tcp://eth0:7411\"");
    refused ("listen = \"tcp://127.0.0.1:99999\"", "'router/listen'");
    refused ("listen = \"tcp://127.0.0.1:65536\"", "1 to 65535");
    refused ("listen = \"tcp://127.0.0.1:0\"", "'router/listen'");
    refused ("listen = \"tcp://127.0.0.1\"", "'router/listen'");
    refused ("listen = \"tcp://*x:7411\"", "'router/listen'");
    refused ("listen = \"tcp://:7411\"", "'router/listen'");
    refused ("listen = \"tcp://\"", "'router/listen'");
    refused ("listen = \"ipc:///tmp/x\"", "'router/listen'");
}
END_TEST

START_TEST (other_addresses)
{
    taken ("neighbour = \"h2:7411\"");
    refused ("neighbour = \"h2\"", "'router/neighbour'");
    refused ("neighbour = \"h2:65536\"", "'router/neighbour'");
    refused ("neighbour = \"*:7411\"", "'router/neighbour'");
    ck_assert_int_eq (read_line ("neighbour = a:1\n    neighbour = a:1"),
                      LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "line 4"));
    ck_assert_ptr_nonnull (strstr (problem.text, "twice"));
    taken ("address = \"h1:7411\"");
    taken ("address = \"h1:*\"");
    refused ("address = \"*:7411\"", "'router/address'");
    refused ("address = \"h1\"", "'router/address'");
    taken ("endpoint = \"ipc:///tmp/x\"");
    refused ("endpoint = \"ipc://\"", "'router/endpoint'");
    refused ("endpoint = \"tcp://127.0.0.1:1\"", "'router/endpoint'");
}
END_TEST

/*  Where others find it, by where it listens and where routers dial it. */
START_TEST (applications_on_other_machines)
{
    static const struct {
        const char *bound, *address, *found;
    } rows[] = {
        {"tcp://10.0.0.1:7412", "h1.example:7411", "10.0.0.1:7412"},
        {"tcp://0.0.0.0:7412", "h1.example:7411", "h1.example:7412"},
        {"tcp://[::]:7412", "[fd00::1]:7411", "[fd00::1]:7412"},
        {"tcp://[fd00::2]:7412", "10.0.0.1:7411", "[fd00::2]:7412"},
        {"ipc://x", "10.0.0.1:7411", ""},
    };
    char found[LK_ADDRESS_LEN_MAX + 1];
    taken ("host = h1");
    ck_assert_str_eq (options.listen_clients, "");
    ck_assert_str_eq (options.clients_keys, "/var/lib/lockkeeper/clients-keys");
    taken ("listen-clients = \"tcp://*:7412\"\n    clients-keys = /x/y");
    ck_assert_str_eq (options.listen_clients, "tcp://*:7412");
    ck_assert_str_eq (options.clients_keys, "/x/y");
    refused ("listen-clients = \"tcp://127.0.0.1\"", "'router/listen-clients'");
    refused ("listen-clients = \"ipc:///tmp/x\"", "'router/listen-clients'");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lk_router_clients_address (rows[i].bound, rows[i].address, found,
                                   sizeof found);
        ck_assert_str_eq (found, rows[i].found);
    }
}
END_TEST

START_TEST (names_of_the_host)
{
    taken ("host = h-1.x_y");
    refused ("host = \"h 1\"", "'router/host'");
}
END_TEST

START_TEST (neighbour_over_the_limit)
{
    char line[4096] = "neighbour = \"h0:1\"";
    for (int i = 1; i <= LK_LINKS_MAX; i++) {
        size_t size = strlen (line);
        snprintf (line + size, sizeof line - size,
                  "\n    neighbour = \"h%d:1\"", i);
    }
    char last[32];
    snprintf (last, sizeof last, "line %d: 'h%d:1'", 3 + LK_LINKS_MAX,
              LK_LINKS_MAX);
    ck_assert_int_eq (read_line (line), LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, last));
}
END_TEST

START_TEST (plugins)
{
    char name[8];
    taken ("plugin = lock\n    plugin = greeter");
    ck_assert_str_eq (options.plugin[0], "lock");
    ck_assert_str_eq (options.plugin[1], "greeter");
    ck_assert_ptr_null (options.plugin[2]);
    ck_assert_str_eq (options.plugin_dir, "");
    refused ("plugin = \"a/b\"", "router/plugin");
    ck_assert_int_eq (read_line ("plugin = a\n    plugin = a"), LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "line 4"));
    taken ("endpoint = \"ipc:///x\"");
    for (int i = 0; i < LK_PLUGINS_MAX; i++) {
        snprintf (name, sizeof name, "p%d", i);
        ck_assert_int_eq (
            lk_config_set (config, "router/plugin", name, &problem), LK_OK);
    }
    ck_assert_int_eq (lk_router_options_read (&options, config, &problem),
                      LK_OK);
    ck_assert_int_eq (
        lk_config_set (config, "router/plugin", "one-more", &problem), LK_OK);
    ck_assert_int_eq (lk_router_options_read (&options, config, &problem),
                      LK_INVALID);
}
END_TEST

START_TEST (options_have_no_line)
{
    taken ("host = h1");
    ck_assert_int_eq (lk_config_set (config, "router/host", "h@", &problem),
                      LK_OK);
    ck_assert_int_eq (lk_router_options_read (&options, config, &problem),
                      LK_INVALID);
    ck_assert_ptr_null (strstr (problem.text, "line"));
    ck_assert_ptr_nonnull (strstr (problem.text, "'h@'"));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("router_options");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, defaults);
    tcase_add_test (tcase, where_admins_attach);
    tcase_add_test (tcase, zones_of_processes);
    tcase_add_test (tcase, places_to_listen);
    tcase_add_test (tcase, other_addresses);
    tcase_add_test (tcase, applications_on_other_machines);
    tcase_add_test (tcase, names_of_the_host);
    tcase_add_test (tcase, neighbour_over_the_limit);
    tcase_add_test (tcase, plugins);
    tcase_add_test (tcase, options_have_no_line);
    Suite *suite = suite_create ("router_options");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
