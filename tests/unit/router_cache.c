/*  router_cache.c - tests of messages for a service that is not there yet
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In a whole router without its sockets, whose cache takes 3 messages for a
 *  receiver and 4096 bytes for all.
 */

#include "lib/suite.h"
#include "router_fake.h"
#include "undelivered.h"

/*  As `say`, with that serial and time to live. */
static void
say_for (const char *connection, const char *to, uint64_t serial, uint8_t ttl_s,
         const char *body)
{
    char from[80];
    lk_bytes frame = {0};
    snprintf (from, sizeof from, "%s@h1", connection);
    const lk_frame_envelope envelope = {.to = to,
                                        .from = from,
                                        .command = "TELL",
                                        .serial = serial,
                                        .ttl_s = ttl_s};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, body, strlen (body));
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    put (LK_SIDE_LOCAL, connection, &frame);
    lk_bytes_clear (&frame);
}

static void
pass (int64_t ms)
{
    router.now_ms += ms;
    lk_undelivered_work (&router);
}

static void
assert_report (const char *connection, unsigned serial, const char *word,
               const char *reason)
{
    char start[80], wanted[256];
    const char *text = next (connection);
    snprintf (start, sizeof start,
              "router@h1 > %s@h1 TRANSMISSIONREPORT %u {\"command\":\"TELL\",",
              connection, serial);
    assert_starts (text, start);
    snprintf (wanted, sizeof wanted, "\"error\":\"%s\",\"reason\":\"%s\"}",
              word, reason);
    ck_assert_msg (strstr (text, wanted) != NULL, "'%s' has no '%s'", text,
                   wanted);
}

static void
end (const char *service)
{
    lk_session_end (&router,
                    lk_route_by_service (&router.route, lk_slice_of (service)),
                    "process ended");
}

/*  Registered as an application. */
static void
enter_application (const char *name)
{
    enter (name, "");
    lk_route_by_service (&router.route, lk_slice_of (name))->application = true;
}

/*  -------------------------------------------------------- this host */

START_TEST (kept_and_delivered_in_order)
{
    enter ("a", "");
    enter ("b", "");
    say_for ("a", "late@.", 1, 5, "{}");
    say_for ("b", "late@h1", 2, 9, "{}");
    say_for ("a", "late@.", 3, 5, "{}");
    assert_next ("a", "");
    assert_next ("b", "");
    ck_assert_uint_eq (lk_cache_waiting (&router.cache, "late@h1"), 3);
    enter ("late", "");
    assert_next ("late", "a@h1 > late@. TELL 1 {}");
    assert_next ("late", "b@h1 > late@h1 TELL 2 {}");
    say_for ("a", "late@.", 4, 5, "{}");
    assert_next ("late", "a@h1 > late@. TELL 3 {}");
    assert_next ("late", "a@h1 > late@. TELL 4 {}");
    assert_next ("late", "");
    ck_assert_uint_eq (router.cache.count + router.cache.size, 0);
    pass (60000);
    assert_next ("a", "");
    ck_assert_uint_eq (router.count.cached, 3);
}
END_TEST

START_TEST (without_a_time_to_live_it_comes_back)
{
    enter ("a", "");
    say_for ("a", "late@.", 1, 0, "{}");
    assert_report ("a", 1, "unknown", "no service 'late' on host 'h1'");
    enter ("late", "");
    assert_next ("late", "");
}
END_TEST

START_TEST (what_is_over_comes_back_when_it_is)
{
    enter ("a", "");
    say_for ("a", "late@.", 1, 7, "{}");
    say_for ("a", "late@.", 2, 2, "{}");
    say_for ("a", "late@.", 3, 200, "{}");
    ck_assert_int_eq (lk_router_deadline (&router), router.now_ms + 2000);
    pass (1999);
    assert_next ("a", "");
    pass (1);
    assert_report ("a", 2, "timedout", "'late@.' was not there for 2 s");
    assert_next ("a", "");
    pass (5000);
    assert_report ("a", 1, "timedout", "'late@.' was not there for 7 s");
    pass (52999);
    assert_next ("a", "");
    pass (1); /* the router's own limit */
    assert_report ("a", 3, "timedout", "'late@.' was not there for 60 s");
    ck_assert_uint_eq (router.count.expired, 3);
    ck_assert_int_eq (lk_router_deadline (&router), INT64_MAX);
}
END_TEST

START_TEST (over_a_bound_it_comes_back)
{
    enter ("a", "");
    for (uint64_t serial = 1; serial <= 3; serial++) {
        say_for ("a", "late@.", serial, 5, "{}");
    }
    say_for ("a", "late@.", 4, 5, "{}");
    assert_report ("a", 4, "overloaded",
                   "no service 'late' on host 'h1', and as many messages as "
                   "may be cached for it wait already");
    char body[3600];
    memset (body, ' ', sizeof body);
    body[0] = '{';
    body[sizeof body - 2] = '}';
    body[sizeof body - 1] = '\0';
    say_for ("a", "other@.", 5, 5, body);
    assert_report ("a", 5, "overloaded",
                   "no service 'other' on host 'h1', and the router's cache "
                   "is full");
    say_for ("a", "other@.", 6, 5, "{}");
    assert_next ("a", "");
    ck_assert_uint_eq (router.cache.count, 4);
}
END_TEST

START_TEST (said_again_it_keeps_its_place)
{
    enter ("a", "");
    say_for ("a", "late@.", 1, 5, "{}");
    say_for ("a", "late@.", 2, 5, "{}");
    pass (1);
    say_for ("a", "late@.", 3, 5, "{}");
    pass (4000);
    say_for ("a", "late@.", 1, 5, "{\"again\":1}");
    pass (1000);
    assert_report ("a", 2, "timedout", "'late@.' was not there for 5 s");
    assert_report ("a", 3, "timedout", "'late@.' was not there for 5 s");
    say_for ("a", "late@.", 0, 5, "{}");
    say_for ("a", "late@.", 0, 5, "{}");
    enter ("late", "");
    assert_next ("late", "a@h1 > late@. TELL 1 {\"again\":1}");
    assert_next ("late", "a@h1 > late@. TELL 0 {}");
    assert_next ("late", "a@h1 > late@. TELL 0 {}");
    assert_next ("late", "");
}
END_TEST

START_TEST (what_it_had_not_read_waits_for_the_next)
{
    enter ("a", "");
    enter ("late", "");
    say_for ("a", "late@.", 1, 5, "{}");
    say_for ("a", "late@.", 2, 0, "{}");
    end ("late");
    assert_report ("a", 2, "unknown", "no service 'late' on host 'h1'");
    enter ("late", "");
    assert_next ("late", "a@h1 > late@. TELL 1 {}");
    assert_next ("late", "");
}
END_TEST

START_TEST (an_application_takes_what_it_wanted_along)
{
    enter_application ("a");
    enter ("b", "");
    say_for ("a", "late@.", 1, 5, "{}");
    say_for ("b", "late@.", 2, 5, "{}");
    say_for ("a", "other@.", 3, 5, "{}");
    end ("a");
    end ("b");
    ck_assert_uint_eq (router.count.lost, 2);
    enter ("late", "");
    assert_next ("late", "b@h1 > late@. TELL 2 {}");
    assert_next ("late", "");
    ck_assert_uint_eq (router.cache.count, 0);
}
END_TEST

START_TEST (one_to_many_does_not_wait)
{
    enter ("a", "");
    say_for ("a", "late@*", 1, 5, "{}");
    say_for ("a", "*@h1", 2, 5, "{}");
    say_for ("a", "*@h2", 3, 5, "{}");
    ck_assert_uint_eq (router.cache.count, 0);
    assert_next ("a", "");
    ck_assert_uint_eq (router.count.lost, 1);
}
END_TEST

/*  Rather than late it is broken: an old word of an election would do harm. */
START_TEST (what_lock_services_say_does_not_wait)
{
    enter ("lock", "");
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {.to = "lock@h2",
                                        .from = "lock@h1",
                                        .command = "VOTE",
                                        .ttl_s = 5,
                                        .packed = true};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, "x", 1);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    put (LK_SIDE_LOCAL, "lock", &frame);
    assert_next ("lock", "router@h1 > *@. INVALID 0 {\"reason\":\"what lock "
                         "services say to each other is never cached\"}");
    ck_assert_uint_eq (router.cache.count, 0);
    lk_bytes_clear (&frame);
}
END_TEST

/*  -------------------------------------------------------- other hosts */

START_TEST (for_a_host_that_is_not_linked)
{
    enter ("a", "");
    say_for ("a", "late@h2", 1, 9, "{}");
    say_for ("a", "late@h3", 2, 5, "{}");
    say_for ("a", "other@h2", 3, 9, "{}");
    pass (5000);
    assert_report ("a", 2, "timedout", "'late@h3' was not there for 5 s");
    enter ("b", "");
    char body[] = "{\"host\":\"h2\",\"address\":\"h2.example:1\",\"version\":"
                  "\"1\",\"incarnation\":\"0000000000000022\"}";
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "CONNECT", body);
    drain ("in-h2");
    our_own ("out1", true);
    assert_starts (next ("out1"), "router@h1 > router@. CONNECT 0 ");
    lk_frame_header header = {0};
    ck_assert (next_header ("out1", &header));
    ck_assert_uint_eq (header.serial, 1);
    ck_assert_uint_eq (header.ttl_s, 4); /* what is left of it */
    assert_next ("out1", "a@h1 > other@h2 TELL 3 {}");
    assert_next ("out1", "");
    assert_next ("a", "");
}
END_TEST

START_TEST (what_a_link_did_not_take_waits_for_the_next)
{
    enter ("a", "");
    link_host ("h2");
    say_for ("a", "late@h2", 1, 5, "{}");
    lk_neighbour_step (&router,
                       lk_mesh_by_host (&router.mesh, lk_slice_of ("h2")),
                       LK_LINK_DOWN);
    assert_next ("a", "");
    ck_assert_uint_eq (lk_cache_waiting (&router.cache, "late@h2"), 1);
    pass (5000);
    assert_report ("a", 1, "timedout", "'late@h2' was not there for 5 s");
}
END_TEST

/*  The serials of all that is for "late" on a connection, in their order. */
static const char *
serials (const char *connection)
{
    static char text[64];
    lk_frame_header header;
    text[0] = '\0';
    while (next_header (connection, &header)) {
        const size_t used = strlen (text);
        if (lk_slice_is (header.command, "TELL")) {
            snprintf (text + used, sizeof text - used, " %u",
                      (unsigned) header.serial);
        }
    }
    return text;
}

/*  As soon as anything may be sent to that host: it met us, and was asked. */
START_TEST (what_comes_later_does_not_overtake_it)
{
    static const char body[] =
        "{\"host\":\"h2\",\"address\":\"h2.example:1\",\"version\":\"1\","
        "\"incarnation\":\"0000000000000022\"}";
    enter ("a", "");
    say_for ("a", "late@h2", 1, 9, "{}");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "CONNECT", body);
    say_for ("a", "late@h2", 2, 9, "{}");
    our_own ("out1", true);
    say_for ("a", "late@h2", 3, 9, "{}");
    say (LK_SIDE_MESH, "out1", "router@h2", "router@.", "ACCEPT", body);
    say_for ("a", "late@h2", 4, 9, "{}");
    ck_assert_str_eq (serials ("out1"), " 1 2 3 4");

    /*  Closed, and met again ahead of our own connection. */
    say_for ("a", "late@h2", 5, 9, "{}");
    our_own ("out1", false);
    say_for ("a", "late@h2", 6, 9, "{}");
    say (LK_SIDE_MESH, "again", "router@h2", "router@.", "CONNECT", body);
    our_own ("out2", true);
    say_for ("a", "late@h2", 7, 9, "{}");
    say (LK_SIDE_MESH, "out2", "router@h2", "router@.", "ACCEPT", body);
    ck_assert_str_eq (serials ("out2"), " 5 6 7");
    assert_next ("a", "");
}
END_TEST

START_TEST (from_another_host_it_waits_here)
{
    const char *out = link_host ("h2");
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {.to = "late@h1",
                                        .from = "x@h2",
                                        .command = "TELL",
                                        .serial = 8,
                                        .ttl_s = 5};
    const size_t start = lk_frame_begin (&frame, &envelope);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    put (LK_SIDE_MESH, "in-h2", &frame);
    assert_next (out, "");
    pass (5000);
    assert_starts (next (out), "router@h1 > x@h2 TRANSMISSIONREPORT 8 ");
    put (LK_SIDE_MESH, "in-h2", &frame);
    enter ("late", "");
    assert_next ("late", "x@h2 > late@h1 TELL 8");
    lk_bytes_clear (&frame);
}
END_TEST

START_TEST (for_any_host_the_first_that_comes)
{
    enter ("a", "");
    const char *out = link_host ("h2");
    say_for ("a", "late@?", 1, 5, "{}");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@h1", "STATUS",
         "{\"service\":\"late@h2\",\"status\":\"up\",\"pid\":9}");
    assert_next (out, "a@h1 > late@? TELL 1 {}");
    say_for ("a", "other@?", 2, 5, "{}");
    enter ("other", "");
    assert_next ("other", "a@h1 > other@? TELL 2 {}");
    assert_next ("a", "");
}
END_TEST

/*  -------------------------------------------------------- told */

START_TEST (how_many_wait_is_told)
{
    enter ("a", "");
    say_for ("a", "late@.", 1, 5, "{}");
    say_for ("a", "late@.", 2, 5, "{}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "router@.", "ROUTERSTATUS", "{}");
    const char *status = next ("a");
    ck_assert_ptr_nonnull (strstr (status, "\"waiting\":2,"));
    ck_assert_ptr_nonnull (strstr (status, "\"awaited\":[\"late@h1 2\"]"));
    say (LK_SIDE_LOCAL, "a", "a@h1", "router@.", "SERVICESTATUS",
         "{\"service\":\"late\"}");
    assert_next ("a", "router@h1 > a@h1 STATUS 42 {\"service\":\"late@h1\","
                      "\"status\":\"down\",\"waiting\":2}");
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("router_cache");
    TCase *tcase = tcase_create ("router_cache");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, kept_and_delivered_in_order);
    tcase_add_test (tcase, without_a_time_to_live_it_comes_back);
    tcase_add_test (tcase, what_is_over_comes_back_when_it_is);
    tcase_add_test (tcase, over_a_bound_it_comes_back);
    tcase_add_test (tcase, said_again_it_keeps_its_place);
    tcase_add_test (tcase, what_it_had_not_read_waits_for_the_next);
    tcase_add_test (tcase, an_application_takes_what_it_wanted_along);
    tcase_add_test (tcase, one_to_many_does_not_wait);
    tcase_add_test (tcase, what_lock_services_say_does_not_wait);
    tcase_add_test (tcase, for_a_host_that_is_not_linked);
    tcase_add_test (tcase, what_a_link_did_not_take_waits_for_the_next);
    tcase_add_test (tcase, what_comes_later_does_not_overtake_it);
    tcase_add_test (tcase, from_another_host_it_waits_here);
    tcase_add_test (tcase, for_any_host_the_first_that_comes);
    tcase_add_test (tcase, how_many_wait_is_told);
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
