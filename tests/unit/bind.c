/*  bind.c - what is bound: socket files and ports; and parts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/endpoint.h"

#include "net/listener.h"

#include "lib/foreign.h"
#include "lib/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], endpoint[128];
static const char *path;
static lk_loop *loop;
static lk_listener *first, *second;
static lk_problem problem;

static void
set_up (void)
{
    static const lk_listener_calls calls; /* nobody comes */
    snprintf (dir, sizeof dir, "/tmp/lk-endpoint-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (endpoint, sizeof endpoint, "ipc://%s/s", dir);
    path = endpoint + strlen ("ipc://");
    loop = lk_loop_new ();
    first = lk_listener_new (loop, &calls, NULL);
    second = lk_listener_new (loop, &calls, NULL);
}

static void
tear_down (void)
{
    lk_listener_destroy (&first, 0);
    lk_listener_destroy (&second, 0);
    lk_loop_destroy (&loop);
    unlink (path);
    ck_assert_int_eq (rmdir (dir), 0);
}

static lk_err
bind_ipc (lk_listener *self, const char *at, mode_t mode, const char *group)
{
    return lk_listener_bind (self, at, mode, group, &problem);
}

/*  -------------------------------------------------------- parts */

START_TEST (parts_move_and_share)
{
    lk_part part, other, third;
    char large[5000];
    memset (large, 'x', sizeof large);
    lk_part_init (&part);
    lk_part_init (&other);
    lk_part_init (&third);
    ck_assert_ptr_nonnull (lk_part_data (&part));
    lk_part_fill (&part, large, sizeof large);
    const void *data = lk_part_data (&part);
    lk_part_move (&other, &part);
    ck_assert_ptr_eq (lk_part_data (&other), data);
    ck_assert_uint_eq (lk_part_size (&part), 0);
    lk_part_share (&third, &other);
    ck_assert_ptr_eq (lk_part_data (&third), data);
    lk_part_clear (&other);
    ck_assert_mem_eq (lk_part_data (&third), large, sizeof large);
    lk_part_fill (&third, "", 0);
    ck_assert_uint_eq (lk_part_size (&third), 0);
}
END_TEST

/*  -------------------------------------------------------- files */

START_TEST (ipc_mode_group_and_removal)
{
    struct stat status;
    char group[20];
    snprintf (group, sizeof group, "%u", (unsigned) getgid ());
    ck_assert_int_eq (bind_ipc (first, endpoint, 0620, group), LK_OK);
    ck_assert_str_eq (lk_listener_endpoint (first), endpoint);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_uint_eq (status.st_mode & 0777, 0620);
    ck_assert_uint_eq (status.st_gid, getgid ());
    ck_assert_int_eq (lk_endpoint_probe (endpoint), 0);
    lk_listener_destroy (&first, 0);
    ck_assert_int_eq (stat (path, &status), -1);
    ck_assert_int_eq (lk_endpoint_probe (endpoint), ENOENT);
}
END_TEST

START_TEST (ipc_alive_is_not_stolen)
{
    ck_assert_int_eq (bind_ipc (first, endpoint, 0600, NULL), LK_OK);
    ck_assert_int_eq (bind_ipc (second, endpoint, 0600, NULL), LK_REFUSED);
    ck_assert_ptr_nonnull (strstr (problem.text, "another process"));
    lk_listener_destroy (&second, 0);
    ck_assert_int_eq (lk_endpoint_probe (endpoint), 0);
}
END_TEST

START_TEST (ipc_left_behind_is_removed)
{
    close (lk_stream_bind (endpoint)); /* and nobody listens */
    ck_assert_int_eq (lk_endpoint_probe (endpoint), ECONNREFUSED);
    ck_assert_int_eq (bind_ipc (first, endpoint, 0600, NULL), LK_OK);
    ck_assert_int_eq (lk_endpoint_probe (endpoint), 0);
}
END_TEST

START_TEST (ipc_that_cannot_be)
{
    char long_one[300] = "ipc:///tmp/";
    memset (long_one + 11, 'a', 200);
    ck_assert_int_eq (bind_ipc (first, long_one, 0600, NULL), LK_SYSTEM);
    ck_assert_int_eq (problem.number, ENAMETOOLONG);
    ck_assert_int_eq (bind_ipc (first, "ipc:///none/x", 0600, NULL), LK_SYSTEM);
    ck_assert_ptr_nonnull (
        strstr (problem.text, "'ipc:///none/x': there is no folder '/none'"));
    ck_assert_int_eq (bind_ipc (first, "tcp://x", 0600, NULL), LK_INVALID);
    ck_assert_int_eq (bind_ipc (first, endpoint, 0600, "no-such"), LK_INVALID);
    close (open (path, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq (bind_ipc (first, endpoint, 0600, NULL), LK_REFUSED);
    ck_assert_int_eq (access (path, F_OK), 0);
}
END_TEST

/*  -------------------------------------------------------- ports */

static const struct {
    const char *at, *bound; /* but for the port */
} ports[] = {
    {"tcp://127.0.0.1:*", "tcp://127.0.0.1:"},
    {"tcp://*:*", "tcp://0.0.0.0:"},
    {"tcp://lo:*", "tcp://127.0.0.1:"},
    {"tcp://[::1]:*", "tcp://[::1]:"},
    {"tcp://[::]:*", "tcp://[::]:"},
};

#define PORTS ((int) (sizeof ports / sizeof ports[0]))

START_TEST (tcp_tells_its_port)
{
    const size_t size = strlen (ports[_i].bound);
    ck_assert_int_eq (
        lk_listener_bind_tcp (first, ports[_i].at, NULL, &problem), LK_OK);
    const char *bound = lk_listener_endpoint (first);
    ck_assert_int_eq (strncmp (bound, ports[_i].bound, size), 0);
    ck_assert_int_gt (strtol (bound + size, NULL, 10), 0);
    ck_assert_int_eq (lk_listener_bind_tcp (second, bound, NULL, &problem),
                      LK_SYSTEM);
    ck_assert_int_eq (problem.number, EADDRINUSE);
}
END_TEST

START_TEST (tcp_that_cannot_be)
{
    static const struct {
        const char *at, *why;
    } wrong[] = {
        {"tcp://nonsense", "is not HOST:PORT"},
        {"tcp://:7411", "is not HOST:PORT"},
        {"tcp://127.0.0.1:123456789", "is not HOST:PORT"},
        {"ipc:///tmp/x", "no endpoint of the kind tcp://"},
        {"tcp://a.name:7411", "'a.name' is neither an address"},
        {"tcp://192.0.2.1:7411", "cannot assign requested address"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_ne (
            lk_listener_bind_tcp (first, wrong[i].at, NULL, &problem), LK_OK);
        ck_assert_msg (strstr (problem.text, wrong[i].why) != NULL, "%s: %s",
                       wrong[i].at, problem.text);
    }
    ck_assert_ptr_null (lk_listener_endpoint (first));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("bind");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 20);
    tcase_add_test (tcase, parts_move_and_share);
    tcase_add_test (tcase, ipc_mode_group_and_removal);
    tcase_add_test (tcase, ipc_alive_is_not_stolen);
    tcase_add_test (tcase, ipc_left_behind_is_removed);
    tcase_add_test (tcase, ipc_that_cannot_be);
    tcase_add_loop_test (tcase, tcp_tells_its_port, 0, PORTS);
    tcase_add_test (tcase, tcp_that_cannot_be);
    Suite *suite = suite_create ("bind");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
