/*  route.c - tests of router/tables/route.c, directory.c and outbox.c
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "route.h"
#include "directory.h"
#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lk_route route;

static void
set_up (void)
{
    lk_route_init (&route);
}

static void
tear_down (void)
{
    lk_route_clear (&route);
}

static lk_identity
identity (int number)
{
    lk_identity result;
    lk_identity_set (&result, &number, sizeof number);
    return result;
}

static lk_local *
add (int number, const char *service)
{
    lk_local *local = NULL;
    const lk_identity by = identity (number);
    ck_assert_int_eq (
        lk_route_add (&route, LK_SIDE_LOCAL, &by, service, &local), LK_OK);
    return local;
}

static size_t
subscribers (const char *command)
{
    const lk_topic *topic = lk_route_topic (&route, lk_slice_of (command));
    return topic == NULL ? 0 : topic->count;
}

/*  -------------------------------------------------------- sessions */

START_TEST (finds_sessions_by_connection_and_by_name)
{
    lk_local *lock = add (1, "lock");
    lk_local *greeter = add (2, "greeter");
    const lk_identity one = identity (1), three = identity (3);
    ck_assert_ptr_eq (lk_route_by_identity (&route, LK_SIDE_LOCAL, &one), lock);
    ck_assert_ptr_null (lk_route_by_identity (&route, LK_SIDE_LOCAL, &three));
    ck_assert_ptr_eq (lk_route_by_service (&route, lk_slice_of ("greeter")),
                      greeter);
    const lk_slice part = {"lockkeeper", 4};
    ck_assert_ptr_eq (lk_route_by_service (&route, part), lock);
    lk_route_remove (&route, lock);
    ck_assert_ptr_null (lk_route_by_service (&route, part));
    ck_assert_ptr_null (lk_route_by_identity (&route, LK_SIDE_LOCAL, &one));
    ck_assert_uint_eq (lk_route_count (&route), 1);
}
END_TEST

START_TEST (a_name_and_a_connection_are_taken_once)
{
    lk_local *first = add (1, "lock");
    lk_local *second = NULL;
    const lk_identity one = identity (1), two = identity (2);
    ck_assert_int_eq (
        lk_route_add (&route, LK_SIDE_LOCAL, &two, "lock", &second),
        LK_REFUSED);
    ck_assert_int_eq (
        lk_route_add (&route, LK_SIDE_LOCAL, &one, "other", &second),
        LK_REFUSED);
    lk_route_remove (&route, first);
    ck_assert_int_eq (
        lk_route_add (&route, LK_SIDE_LOCAL, &two, "lock", &second), LK_OK);
}
END_TEST

START_TEST (sessions_have_a_limit)
{
    char name[32];
    for (int i = 0; i < LK_SESSIONS_MAX; i++) {
        snprintf (name, sizeof name, "app-%d", i);
        add (i, name);
    }
    lk_local *local = NULL;
    const lk_identity more = identity (LK_SESSIONS_MAX);
    ck_assert_int_eq (
        lk_route_add (&route, LK_SIDE_LOCAL, &more, "more", &local),
        LK_OVERLOADED);
}
END_TEST

/*  -------------------------------------------------------- subscriptions */

START_TEST (subscriptions_come_and_go_with_their_session)
{
    lk_local *a = add (1, "a");
    lk_local *b = add (2, "b");
    const lk_slice status = lk_slice_of ("STATUS");
    ck_assert_int_eq (lk_route_subscribe (&route, a, status), LK_OK);
    ck_assert_int_eq (lk_route_subscribe (&route, a, status), LK_OK);
    ck_assert_int_eq (lk_route_subscribe (&route, b, status), LK_OK);
    ck_assert_uint_eq (subscribers ("STATUS"), 2);
    ck_assert (lk_route_subscribes (a, "STATUS"));
    ck_assert (!lk_route_subscribes (a, "HANGUP"));
    lk_route_remove (&route, a);
    ck_assert_uint_eq (subscribers ("STATUS"), 1);
    lk_route_remove (&route, b);
    ck_assert_uint_eq (subscribers ("STATUS"), 0);
}
END_TEST

START_TEST (subscriptions_have_limits)
{
    lk_local *local = add (1, "a");
    char command[64];
    for (int i = 0; i < LK_SUBSCRIPTIONS_MAX; i++) {
        snprintf (command, sizeof command, "COMMAND%d", i);
        ck_assert_int_eq (
            lk_route_subscribe (&route, local, lk_slice_of (command)), LK_OK);
    }
    ck_assert_int_eq (lk_route_subscribe (&route, local, lk_slice_of ("MORE")),
                      LK_OVERLOADED);
    ck_assert_int_eq (
        lk_route_subscribe (&route, local, lk_slice_of ("COMMAND1")), LK_OK);
    ck_assert_uint_eq (subscribers ("MORE"), 0);
    lk_local *other = add (2, "b");
    memset (command, 'A', sizeof command - 1);
    command[sizeof command - 1] = '\0';
    ck_assert_int_eq (lk_route_subscribe (&route, other, lk_slice_of (command)),
                      LK_INVALID);
    static const char *const none[] = {"", "STATUS:", "STATUS:*", "HANGUP:a",
                                       "STATUS:a:b"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        ck_assert_int_eq (
            lk_route_subscribe (&route, other, lk_slice_of (none[i])),
            LK_INVALID);
    }
    ck_assert_int_eq (
        lk_route_subscribe (&route, other, lk_slice_of ("STATUS:a")), LK_OK);
}
END_TEST

/*  -------------------------------------------------------- directory */

START_TEST (the_directory_knows_services_by_host)
{
    lk_directory directory;
    lk_directory_init (&directory);
    ck_assert_int_eq (lk_directory_set (&directory, "h2", "lock", "1", 7),
                      LK_OK);
    ck_assert_int_eq (lk_directory_set (&directory, "h3", "lock", "1", 8),
                      LK_OK);
    ck_assert_int_eq (lk_directory_set (&directory, "h2", "lock", "2", 9),
                      LK_OK);
    const lk_remote *any = lk_directory_find (&directory, NULL, "lock", 4);
    ck_assert_str_eq (any->host, "h2");
    ck_assert_int_eq (any->pid, 9);
    ck_assert_ptr_null (lk_directory_find (&directory, NULL, "loc", 3));
    ck_assert_ptr_null (lk_directory_find (&directory, "h4", "lock", 4));
    ck_assert (lk_directory_drop (&directory, "h2", "lock"));
    ck_assert (!lk_directory_drop (&directory, "h2", "lock"));
    any = lk_directory_find (&directory, NULL, "lock", 4);
    ck_assert_str_eq (any->host, "h3");
    lk_remote *taken = lk_directory_take (&directory, "h3");
    ck_assert_str_eq (taken->service, "lock");
    lk_free (taken);
    ck_assert_ptr_null (lk_directory_take (&directory, "h3"));
    lk_directory_clear (&directory);
}
END_TEST

START_TEST (a_host_tells_of_so_many_services_only)
{
    lk_directory directory;
    lk_directory_init (&directory);
    char name[32];
    for (int i = 0; i < LK_REMOTES_MAX; i++) {
        snprintf (name, sizeof name, "s%d", i);
        ck_assert_int_eq (lk_directory_set (&directory, "h2", name, "", 1),
                          LK_OK);
    }
    ck_assert_int_eq (lk_directory_set (&directory, "h2", "more", "", 1),
                      LK_OVERLOADED);
    ck_assert_int_eq (lk_directory_set (&directory, "h3", "more", "", 1),
                      LK_OK);
    lk_directory_clear (&directory);
}
END_TEST

/*  -------------------------------------------------------- outbox */

static void
fill (lk_part *part, char byte, size_t size)
{
    char *data = lk_alloc (size + 1);
    memset (data, byte, size);
    lk_part_init (part);
    lk_part_fill (part, data, size);
    lk_free (data);
}

START_TEST (one_frame_leaves_as_it_came)
{
    lk_outbox box = {0};
    lk_part part;
    fill (&part, 'a', 1000);
    const void *data = lk_part_data (&part);
    ck_assert_int_eq (lk_outbox_add (&box, &part), LK_OK);
    ck_assert_uint_eq (lk_part_size (&part), 0);
    ck_assert_ptr_eq (lk_part_data (lk_outbox_first (&box)), data);
    lk_outbox_drop (&box);
    ck_assert_ptr_null (lk_outbox_first (&box));
    ck_assert_uint_eq (box.size, 0);
    lk_outbox_clear (&box);
    lk_part_clear (&part);
}
END_TEST

START_TEST (several_are_packed_in_their_order)
{
    lk_outbox box = {0};
    lk_part part;
    fill (&part, 'a', 100);
    ck_assert_int_eq (lk_outbox_add (&box, &part), LK_OK);
    ck_assert_int_eq (lk_outbox_pack (&box, lk_slice_of ("bb")), LK_OK);
    fill (&part, 'c', LK_PACK_SIZE_MAX);
    ck_assert_int_eq (lk_outbox_add (&box, &part), LK_OK);
    ck_assert_int_eq (lk_outbox_pack (&box, lk_slice_of ("d")), LK_OK);

    lk_part *first = lk_outbox_first (&box);
    ck_assert_uint_eq (lk_part_size (first), 102);
    ck_assert_mem_eq ((char *) lk_part_data (first) + 99, "abb", 3);
    lk_outbox_drop (&box);
    first = lk_outbox_first (&box);
    ck_assert_uint_eq (lk_part_size (first), LK_PACK_SIZE_MAX);
    lk_outbox_drop (&box);
    first = lk_outbox_first (&box);
    ck_assert_uint_eq (lk_part_size (first), 1);
    /*  What could not be sent goes on growing. */
    ck_assert_int_eq (lk_outbox_pack (&box, lk_slice_of ("e")), LK_OK);
    first = lk_outbox_first (&box);
    ck_assert_mem_eq (lk_part_data (first), "de", 2);
    lk_outbox_clear (&box);
    ck_assert_uint_eq (box.size, 0);
    ck_assert_uint_eq (box.count, 0);
}
END_TEST

START_TEST (an_outbox_has_a_bound)
{
    lk_outbox box = {0};
    lk_part part;
    const size_t size = 1024 * 1024;
    for (size_t i = 0; i < LK_OUTBOX_SIZE_MAX / size; i++) {
        fill (&part, 'x', size);
        ck_assert_int_eq (lk_outbox_add (&box, &part), LK_OK);
    }
    fill (&part, 'y', 1);
    ck_assert_int_eq (lk_outbox_add (&box, &part), LK_OVERLOADED);
    ck_assert_uint_eq (lk_part_size (&part), 1);
    ck_assert_int_eq (lk_outbox_pack (&box, lk_slice_of ("z")), LK_OVERLOADED);
    lk_part_clear (&part);
    lk_outbox_drop (&box);
    ck_assert_int_eq (lk_outbox_pack (&box, lk_slice_of ("z")), LK_OK);
    lk_outbox_clear (&box);
}
END_TEST

static void
fill_outbox (lk_outbox *box)
{
    lk_part part;
    lk_err error = LK_OK;
    while (error == LK_OK) {
        fill (&part, 'x', 1024 * 1024);
        error = lk_outbox_add (box, &part);
    }
    lk_part_clear (&part);
}

/*  Behind what fills it, and so much. */
START_TEST (what_is_told_has_room_of_its_own)
{
    lk_outbox box = {0};
    size_t told = 0;
    fill_outbox (&box);
    while (lk_outbox_tell (&box, lk_slice_of ("0123456789")) == LK_OK) {
        told += 10;
        ck_assert_int_eq (lk_outbox_pack (&box, lk_slice_of ("z")),
                          LK_OVERLOADED);
    }
    ck_assert_uint_eq (told, LK_OUTBOX_TOLD_SIZE_MAX / 10 * 10);
    ck_assert_uint_le (box.count,
                       LK_OUTBOX_FRAMES_MAX + LK_OUTBOX_TOLD_FRAMES_MAX);
    for (size_t i = 0; i < LK_OUTBOX_SIZE_MAX / (1024 * 1024); i++) {
        ck_assert_int_eq (*(char *) lk_part_data (lk_outbox_first (&box)), 'x');
        lk_outbox_drop (&box);
    }
    ck_assert_mem_eq (lk_part_data (lk_outbox_first (&box)), "0123456789", 10);
    ck_assert_int_eq (lk_outbox_pack (&box, lk_slice_of ("z")), LK_OK);
    lk_outbox_clear (&box);
}
END_TEST

static lk_local *
add_of (int number, const char *service, uid_t user)
{
    lk_local *local = add (number, service);
    local->user = user;
    lk_route_charge_user (&route, local);
    return local;
}

/*  Receivers that do not read take no more than their user may; what they had
 *  is there for others when they are gone, or read. */
START_TEST (receivers_of_a_user_have_a_budget)
{
    enum { EACH = LK_OUTBOX_SIZE_MAX, COUNT = LK_USER_SIZE_MAX / EACH };
    lk_local *deaf[COUNT];
    char name[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf (name, sizeof name, "deaf%d", i);
        deaf[i] = add_of (i, name, 1000);
        fill_outbox (&deaf[i]->out.box);
        ck_assert_uint_eq (deaf[i]->out.box.size, EACH);
    }
    const lk_slice word = lk_slice_of ("word");
    lk_local *next = add_of (COUNT, "next", 1000);
    lk_local *other = add_of (COUNT + 1, "other", 1001);
    lk_local *trusted = add (COUNT + 2, "trusted");
    ck_assert_int_eq (lk_outbox_pack (&next->out.box, word), LK_OVERLOADED);
    ck_assert_int_eq (lk_outbox_tell (&next->out.box, word), LK_OK);
    ck_assert_int_eq (lk_outbox_pack (&other->out.box, word), LK_OK);
    ck_assert_int_eq (lk_outbox_pack (&trusted->out.box, word), LK_OK);
    ck_assert_uint_eq (route.budget.size, LK_USER_SIZE_MAX + 3 * word.size);
    lk_outbox_drop (&deaf[0]->out.box);
    ck_assert_int_eq (lk_outbox_pack (&next->out.box, word), LK_OK);
    for (int i = 0; i < COUNT; i++) {
        lk_route_remove (&route, deaf[i]);
    }
    ck_assert_uint_eq (route.budget.size, 4 * word.size);
    lk_route_remove (&route, next);
    ck_assert_uint_eq (HASH_COUNT (route.users), 1);
    fill_outbox (&other->out.box);
    ck_assert_uint_gt (other->out.box.size, EACH - 1024 * 1024);
}
END_TEST

START_TEST (receivers_of_a_host_have_a_budget)
{
    enum { EACH = LK_OUTBOX_SIZE_MAX, COUNT = LK_HOST_SIZE_MAX / EACH };
    char name[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf (name, sizeof name, "deaf%d", i);
        fill_outbox (&add (i, name)->out.box);
    }
    ck_assert_uint_eq (route.budget.size, LK_HOST_SIZE_MAX);
    lk_local *next = add (COUNT, "next");
    ck_assert_int_eq (lk_outbox_pack (&next->out.box, lk_slice_of ("word")),
                      LK_OVERLOADED);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("route");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, finds_sessions_by_connection_and_by_name);
    tcase_add_test (tcase, a_name_and_a_connection_are_taken_once);
    tcase_add_test (tcase, sessions_have_a_limit);
    tcase_add_test (tcase, subscriptions_come_and_go_with_their_session);
    tcase_add_test (tcase, subscriptions_have_limits);
    tcase_add_test (tcase, the_directory_knows_services_by_host);
    tcase_add_test (tcase, a_host_tells_of_so_many_services_only);
    tcase_add_test (tcase, one_frame_leaves_as_it_came);
    tcase_add_test (tcase, several_are_packed_in_their_order);
    tcase_add_test (tcase, an_outbox_has_a_bound);
    tcase_add_test (tcase, what_is_told_has_room_of_its_own);
    tcase_add_test (tcase, receivers_of_a_user_have_a_budget);
    tcase_add_test (tcase, receivers_of_a_host_have_a_budget);
    Suite *suite = suite_create ("route");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
