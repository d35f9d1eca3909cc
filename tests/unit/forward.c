/*  forward.c - tests of a whole router without its sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Frames go in as from local processes and neighbours, what is in the
 *  outboxes of their connections is looked at.
 */

#include "router_fake.h"

#include "lib/suite.h"
#include "lost.h"

/*  -------------------------------------------------------- sessions */

START_TEST (register_once_and_only_properly)
{
    enter ("lock", "");
    say (LK_SIDE_LOCAL, "other", "lock@.", "router@.", "REGISTER",
         "{\"service\":\"lock\",\"pid\":7}");
    assert_next ("other", "router@h1 > lock@. REFUSE 42 "
                          "{\"reason\":\"name is taken by process 1108\"}");
    say (LK_SIDE_LOCAL, "other", "x@.", "router@.", "REGISTER",
         "{\"service\":\"router\",\"pid\":7}");
    assert_starts (next ("other"), "router@h1 > x@. REFUSE 42 ");
    say (LK_SIDE_LOCAL, "other", "x@.", "router@.", "REGISTER",
         "{\"service\":\"x\"}");
    assert_starts (next ("other"), "router@h1 > x@. REFUSE 42 ");
    say (LK_SIDE_LOCAL, "other", "x@.", "router@.", "REGISTER",
         "{\"service\":\"x\",\"pid\":666}");
    assert_starts (next ("other"), "router@h1 > x@. REFUSE 42 ");
    say (LK_SIDE_LOCAL, "other", "x@.", "router@.", "REGISTER", "{\"serv");
    assert_starts (next ("other"), "router@h1 > x@. INVALID 42 ");
    ck_assert_uint_eq (lk_route_count (&router.route), 1);

    /*  Again by the same: the answer was lost. */
    say (LK_SIDE_LOCAL, "lock", "lock@.", "router@.", "REGISTER",
         "{\"service\":\"lock\",\"pid\":7}");
    assert_starts (next ("lock"), "router@h1 > lock@. READY 42 ");
}
END_TEST

/*  A connection asks to be `service`, as process `pid`. */
static const char *
ask_for (const char *connection, const char *service, int pid, bool application)
{
    char from[80], body[256];
    snprintf (from, sizeof from, "%s@.", service);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"pid\":%d,\"application\":%s}", service,
              pid, application ? "true" : "false");
    say (LK_SIDE_LOCAL, connection, from, "router@.", "REGISTER", body);
    return next (connection);
}

START_TEST (a_process_registers_itself_alone)
{
    assert_starts (ask_for ("known", "a", 18, true),
                   "router@h1 > a@. REFUSE 42 {\"reason\":\"process 18 is not "
                   "yours, you are 17\"}");
    assert_starts (ask_for ("over", "a", 17, true),
                   "router@h1 > a@. REFUSE 42 {\"reason\":\"the connection is "
                   "over\"}");
    ck_assert_uint_eq (lk_route_count (&router.route), 0);
    assert_starts (ask_for ("known", "a", 17, true),
                   "router@h1 > a@. READY 42 ");
}
END_TEST

/*  Whoever has the name of a service is believed to be it. */
START_TEST (services_are_of_the_routers_user)
{
    static const char *const names[] = {
        "lock", "a", "a-17", "-4711", "a-4711x", "a-47110-1", "a4711", "4711"};
    assert_starts (ask_for ("user", "lock", 4711, false),
                   "router@h1 > lock@. REFUSE 42 {\"reason\":\"services are of "
                   "the router's user, or root's\"}");
    assert_starts (ask_for ("user", "a-4711", 4711, false),
                   "router@h1 > a-4711@. REFUSE 42 ");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ck_assert_ptr_nonnull (strstr (
            ask_for ("user", names[i], 4711, true),
            " REFUSE 42 {\"reason\":\"as you are not the router's user, "
            "your name needs your process number in it, like "
            "'backup-4711'\"}"));
    }
    ck_assert_uint_eq (lk_route_count (&router.route), 0);
    assert_starts (ask_for ("user", "a-4711", 4711, true),
                   "router@h1 > a-4711@. READY 42 ");
    assert_starts (ask_for ("user2", "a-4711-a-4712-1", 4712, true),
                   "router@h1 > a-4711-a-4712-1@. READY 42 ");
    assert_starts (ask_for ("root", "lock", 1, false),
                   "router@h1 > lock@. READY 42 ");
}
END_TEST

START_TEST (a_name_whose_connection_is_gone_is_free)
{
    enter ("lock", "");
    reachable = false;
    say (LK_SIDE_LOCAL, "other", "lock@.", "router@.", "REGISTER",
         "{\"service\":\"lock\",\"pid\":7}");
    assert_starts (next ("other"), "router@h1 > lock@. READY 42 ");
    ck_assert_uint_eq (lk_route_count (&router.route), 1);
}
END_TEST

START_TEST (strangers_can_only_register)
{
    enter ("lock", "");
    say (LK_SIDE_LOCAL, "nobody", "x@h1", "lock@h1", "LOCK", "{}");
    assert_next ("nobody",
                 "router@h1 > *@. INVALID 42 {\"reason\":\"register first\"}");
    say (LK_SIDE_LOCAL, "nobody", "x@h1", "router@.", "STOP", "{}");
    assert_next ("nobody",
                 "router@h1 > x@h1 INVALID 42 {\"reason\":\"register first\"}");
    assert_next ("lock", "");
    ck_assert_int_eq (stopped, 0);
}
END_TEST

START_TEST (a_lie_about_the_sender_is_not_forwarded)
{
    enter ("lock", "");
    enter ("liar", "");
    static const char *const lies[] = {"lock@h1", "liar@h2", "liar@.",
                                       "router@h1"};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        say (LK_SIDE_LOCAL, "liar", lies[i], "lock@h1", "LOCK", "{}");
        assert_next ("liar", "router@h1 > *@. INVALID 42 {\"reason\":\"the "
                             "sender's address is not yours\"}");
        assert_next ("lock", "");
    }
    ck_assert_uint_eq (router.count.lies, 4);
}
END_TEST

/*  Only REGISTER, and only to the router, comes from who does not know its host
 *  yet. */
START_TEST (a_lie_is_not_forwarded_as_register)
{
    static const char *const lies[][2] = {{"liar@h2", "lock@h1"},
                                          {"liar@.", "lock@h1"},
                                          {"liar@h2", "router@."},
                                          {"liar@h2", "*@h1"}};
    enter ("lock", "\"REGISTER\"");
    enter ("liar", "");
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        say (LK_SIDE_LOCAL, "liar", lies[i][0], lies[i][1], "REGISTER", "{}");
        assert_next ("lock", "");
        ck_assert_uint_eq (router.count.lies, i + 1);
    }
}
END_TEST

START_TEST (the_end_of_a_process_is_told)
{
    enter ("watch", "\"STATUS\"");
    enter ("lock", "");
    assert_next ("watch", "router@h1 > watch@h1 STATUS 0 "
                          "{\"service\":\"lock@h1\",\"status\":\"up\","
                          "\"pid\":1108,\"version\":\"1\","
                          "\"application\":false}");
    enter ("late", "\"STATUS\",\"CLUSTERUP\",\"CLUSTERINCOMPLETE\"");
    assert_starts (next ("late"), "router@h1 > late@h1 STATUS 0 "
                                  "{\"service\":\"watch@h1\","
                                  "\"status\":\"up\"");
    assert_starts (next ("late"), "router@h1 > late@h1 STATUS 0 "
                                  "{\"service\":\"lock@h1\"");
    assert_next ("late", "router@h1 > late@h1 CLUSTERUP 0 "
                         "{\"total\":1,\"live\":1}");
    assert_next ("late", "");
    drain ("watch");
    lk_local *lock = lk_route_by_service (&router.route, lk_slice_of ("lock"));
    lk_session_end (&router, lock, "process ended");
    assert_starts (next ("watch"), "router@h1 > watch@h1 STATUS 0 "
                                   "{\"service\":\"lock@h1\","
                                   "\"status\":\"down\"");
    enter ("lock", "");
}
END_TEST

/*  -------------------------------------------------------- unicast */

START_TEST (a_frame_for_one_goes_on_as_it_came)
{
    enter ("a", "");
    enter ("b", "");
    lk_bytes frame = {0};
    add (&frame, "a@h1", "b@.", "ONE", 1, "");
    add (&frame, "a@h1", "b@h1", "TWO", 2, "{}");
    const lk_identity identity = by ("a");
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, frame.data, frame.size);
    const void *data = lk_part_data (&part);
    lk_forward_frame (&router, LK_SIDE_LOCAL, &identity, &part);
    ck_assert_ptr_eq (lk_part_data (lk_outbox_first (&hop_of ("b")->box)),
                      data);
    assert_next ("b", "a@h1 > b@. ONE 1");
    assert_next ("b", "a@h1 > b@h1 TWO 2 {}");
    lk_part_clear (&part);
    lk_bytes_clear (&frame);
}
END_TEST

START_TEST (a_frame_for_many_is_taken_apart)
{
    enter ("a", "");
    enter ("b", "");
    enter ("c", "");
    lk_bytes frame = {0};
    add (&frame, "a@h1", "b@.", "ONE", 1, "");
    add (&frame, "a@h1", "nobody@.", "TWO", 2, "");
    add (&frame, "a@h1", "b@.", "THREE", 3, "");
    add (&frame, "a@h1", "c@.", "FOUR", 4, "");
    add (&frame, "a@h1", "router@.", "ALIVE", 5, "");
    add (&frame, "b@h1", "c@.", "LIE", 6, "");
    add (&frame, "a@h1", "b@h7", "SEVEN", 7, "");
    add (&frame, "a@h1", "b@.", "EIGHT", 8, "");
    put (LK_SIDE_LOCAL, "a", &frame);
    assert_next ("b", "a@h1 > b@. ONE 1");
    assert_next ("b", "a@h1 > b@. THREE 3");
    assert_next ("b", "a@h1 > b@. EIGHT 8");
    assert_next ("b", "");
    assert_next ("c", "a@h1 > c@. FOUR 4");
    assert_next ("c", "");
    assert_next ("a", "router@h1 > a@h1 TRANSMISSIONREPORT 2 "
                      "{\"command\":\"TWO\",\"to\":\"nobody@.\","
                      "\"error\":\"unknown\",\"reason\":\"no service 'nobody' "
                      "on host 'h1'\"}");
    assert_next ("a", "router@h1 > a@h1 ABSOLUTELY 5");
    assert_starts (next ("a"), "router@h1 > *@. INVALID 6 ");
    assert_next ("a",
                 "router@h1 > a@h1 TRANSMISSIONREPORT 7 "
                 "{\"command\":\"SEVEN\",\"to\":\"b@h7\","
                 "\"error\":\"disconnected\",\"reason\":\"host 'h7' is not "
                 "connected\"}");
    assert_next ("a", "");
    lk_bytes_clear (&frame);
}
END_TEST

START_TEST (what_is_broken_is_answered_and_the_rest_arrives)
{
    enter ("a", "");
    enter ("b", "");
    lk_bytes frame = {0};
    add (&frame, "a@h1", "b@.", "ONE", 1, "");
    const size_t whole = frame.size;
    add (&frame, "a@h1", "b@.", "TWO", 2, "{}");
    for (size_t size = whole + 1; size < frame.size; size++) {
        const lk_bytes half = {frame.data, size, size};
        put (LK_SIDE_LOCAL, "a", &half);
        assert_next ("b", "a@h1 > b@. ONE 1");
        assert_next ("b", "");
        assert_starts (next ("a"), "router@h1 > *@. INVALID ");
        assert_next ("a", "");
    }
    const lk_bytes empty = {frame.data, 0, 0};
    put (LK_SIDE_LOCAL, "a", &empty);
    assert_starts (next ("a"), "router@h1 > *@. INVALID 0 ");
    lk_bytes_clear (&frame);
}
END_TEST

/*  It goes on as it came; the router itself does not read it. */
START_TEST (packed_bodies_are_for_others)
{
    lk_bytes frame = {0};
    lk_frame_header header;
    lk_frame_envelope envelope = {.to = "b@.",
                                  .from = "a@h1",
                                  .command = "CMD",
                                  .serial = 7,
                                  .packed = true};
    enter ("a", "");
    enter ("b", "");
    for (int i = 0; i < 2; i++) {
        const size_t start = lk_frame_begin (&frame, &envelope);
        lk_bytes_add (&frame, "\x01\xff\x00", 3);
        ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
        envelope.to = "router@.";
        envelope.command = "ALIVE";
    }
    put (LK_SIDE_LOCAL, "a", &frame);
    ck_assert (next_header ("b", &header));
    ck_assert_int_eq (header.body_kind, LK_BODY_PACKED);
    ck_assert_uint_eq (header.body.size, 3);
    ck_assert_mem_eq (header.body.data, "\x01\xff\x00", 3);
    assert_next ("a", "router@h1 > a@h1 INVALID 7 {\"reason\":\"the body is no "
                      "JSON object\"}");
    lk_bytes_clear (&frame);
}
END_TEST

START_TEST (complaints_are_never_answered)
{
    enter ("a", "");
    static const char *const commands[] = {"UNKNOWN", "INVALID",
                                           "TRANSMISSIONREPORT"};
    for (size_t i = 0; i < 3; i++) {
        say (LK_SIDE_LOCAL, "a", "a@h1", "nobody@.", commands[i], "{}");
        say (LK_SIDE_LOCAL, "a", "a@h1", "b@h9", commands[i], "{}");
        say (LK_SIDE_LOCAL, "a", "b@h1", "a@.", commands[i], "{}");
        say (LK_SIDE_LOCAL, "a", "a@h1", "router@.", commands[i], "{");
        say (LK_SIDE_LOCAL, "a", "a@h1", "router@.", commands[i], "{}");
        say (LK_SIDE_LOCAL, "x", "x@.", "router@.", commands[i], "{}");
    }
    assert_next ("a", "");
    assert_next ("x", "");
}
END_TEST

START_TEST (who_does_not_read_is_not_waited_for)
{
    enter ("a", "");
    enter ("b", "");
    char body[60000];
    memset (body, ' ', sizeof body - 1);
    body[0] = '{';
    body[sizeof body - 2] = '}';
    body[sizeof body - 1] = '\0';
    const int fits = LK_OUTBOX_SIZE_MAX / (int) sizeof body;
    for (int i = 0; i < fits; i++) {
        say (LK_SIDE_LOCAL, "a", "a@h1", "b@.", "MORE", body);
    }
    assert_next ("a", "");
    say (LK_SIDE_LOCAL, "a", "a@h1", "b@.", "MORE", body);
    say (LK_SIDE_LOCAL, "a", "a@h1", "b@.", "MORE", body);
    assert_starts (next ("a"), "router@h1 > a@h1 TRANSMISSIONREPORT 42 "
                               "{\"command\":\"MORE\",\"to\":\"b@.\","
                               "\"error\":\"overloaded\","
                               "\"reason\":\"the receiver does not keep up");
    ck_assert_uint_ge (router.count.overloaded, 1);
}
END_TEST

/*  "watch" has as much to read as may wait for it, of "a". */
static void
fill_up (void)
{
    char body[60000];
    memset (body, ' ', sizeof body - 1);
    body[0] = '{';
    body[sizeof body - 2] = '}';
    body[sizeof body - 1] = '\0';
    while (router.count.overloaded == 0) {
        say (LK_SIDE_LOCAL, "a", "a@h1", "watch@.", "MORE", body);
    }
    drain ("a");
}

static void
end_session (const char *service)
{
    lk_session_end (&router,
                    lk_route_by_service (&router.route, lk_slice_of (service)),
                    "process ended");
}

/*  Behind all that it was sent before. */
START_TEST (the_end_of_a_process_is_told_to_who_does_not_read)
{
    enter ("watch", "\"STATUS\"");
    enter ("a", "");
    enter ("b", "");
    drain ("watch");
    fill_up ();
    end_session ("b");
    ck_assert (!hop_of ("watch")->deaf);
    const char *text = next ("watch");
    while (strstr (text, "MORE") != NULL) {
        text = next ("watch");
    }
    assert_starts (text, "router@h1 > watch@h1 STATUS 0 "
                         "{\"service\":\"b@h1\",\"status\":\"down\"");
    assert_next ("watch", "");
    ck_assert_uint_eq (router.count.lost, 0);
}
END_TEST

/*  Else it would go on with what is not so. When it comes anew it is told who
 *  is there. */
START_TEST (who_cannot_be_told_is_cut_off)
{
    enter ("watch", "\"STATUS\"");
    enter ("a", "");
    drain ("watch");
    fill_up ();
    while (!hop_of ("watch")->deaf) {
        enter ("b", "");
        end_session ("b");
    }
    ck_assert_uint_le (hop_of ("watch")->box.size,
                       LK_OUTBOX_SIZE_MAX + LK_OUTBOX_TOLD_SIZE_MAX);
    lk_lost_hop (&router, hop_of ("watch"));
    ck_assert_ptr_null (
        lk_route_by_service (&router.route, lk_slice_of ("watch")));
    assert_next ("watch",
                 "router@h1 > *@. INVALID 0 {\"reason\":\"register first\"}");
    enter ("watch", "\"STATUS\"");
    assert_starts (next ("watch"), "router@h1 > watch@h1 STATUS 0 "
                                   "{\"service\":\"a@h1\",\"status\":\"up\"");
    assert_next ("watch", "");
}
END_TEST

START_TEST (what_waited_for_one_that_ended_is_returned)
{
    enter ("a", "");
    enter ("b", "");
    say (LK_SIDE_LOCAL, "a", "a@h1", "b@.", "ONE", "{}");
    lk_session_end (&router,
                    lk_route_by_service (&router.route, lk_slice_of ("b")),
                    "process ended");
    assert_starts (next ("a"), "router@h1 > a@h1 TRANSMISSIONREPORT 42 "
                               "{\"command\":\"ONE\"");
}
END_TEST

/*  -------------------------------------------------------- the mesh */

START_TEST (hosts_are_reached_by_name_by_all_and_by_any)
{
    enter ("a", "");
    enter ("b", "\"NEWS\"");
    const char *out = link_host ("h2");
    say (LK_SIDE_LOCAL, "a", "a@h1", "lock@h2", "ONE", "{}");
    assert_next (out, "a@h1 > lock@h2 ONE 42 {}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "*@*", "NEWS", "{}");
    assert_next (out, "a@h1 > *@* NEWS 42 {}");
    assert_next ("b", "a@h1 > *@* NEWS 42 {}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "*@.", "NEWS", "{}");
    assert_next (out, "");
    assert_next ("b", "a@h1 > *@. NEWS 42 {}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "*@h2", "NEWS", "{}");
    assert_next (out, "a@h1 > *@h2 NEWS 42 {}");
    assert_next ("b", "");
    say (LK_SIDE_LOCAL, "a", "a@h1", "b@*", "TELL", "{}");
    assert_next (out, "a@h1 > b@* TELL 42 {}");
    assert_next ("b", "a@h1 > b@* TELL 42 {}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "b@?", "TELL", "{}");
    assert_next ("b", "a@h1 > b@? TELL 42 {}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "c@?", "TELL", "{}");
    assert_starts (next ("a"), "router@h1 > a@h1 TRANSMISSIONREPORT 42 ");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@h1", "STATUS",
         "{\"service\":\"c@h2\",\"status\":\"up\",\"pid\":9}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "c@?", "TELL", "{}");
    assert_next (out, "a@h1 > c@? TELL 42 {}");
    say (LK_SIDE_LOCAL, "a", "a@h1", "*@?", "TELL", "{}");
    assert_starts (next ("a"), "router@h1 > *@. INVALID 42 ");
    assert_next ("a", "");
}
END_TEST

START_TEST (what_crossed_the_mesh_crosses_it_no_more)
{
    enter ("b", "\"NEWS\"");
    link_host ("h2");
    const char *out3 = link_host ("h3");
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {
        .to = "*@*", .from = "a@h2", .command = "NEWS", .crossed = true};
    ck_assert_int_eq (
        lk_frame_finish (&frame, lk_frame_begin (&frame, &envelope)), LK_OK);
    put (LK_SIDE_MESH, "in-h2", &frame);
    assert_next ("b", "a@h2 > *@* NEWS 0");
    assert_next (out3, "");
    lk_bytes_clear (&frame);

    /*  Nor does what did not, or is for another host. */
    say (LK_SIDE_MESH, "in-h2", "a@h2", "*@*", "NEWS", "{}");
    say (LK_SIDE_MESH, "in-h2", "a@h2", "b@h3", "TELL", "{}");
    assert_next (out3, "");
    assert_next ("b", "");
}
END_TEST

START_TEST (a_neighbour_speaks_for_its_own_host_only)
{
    enter ("b", "");
    link_host ("h2");
    say (LK_SIDE_MESH, "in-h2", "a@h3", "b@h1", "TELL", "{}");
    say (LK_SIDE_MESH, "in-h2", "a@h1", "b@h1", "TELL", "{}");
    say (LK_SIDE_MESH, "in-h4", "a@h2", "b@h1", "TELL", "{}");
    say (LK_SIDE_MESH, "out1", "a@h2", "b@h1", "TELL", "{}");
    assert_next ("b", "");
    ck_assert_uint_eq (router.count.lies, 4);
    say (LK_SIDE_MESH, "in-h2", "a@h2", "b@h1", "TELL", "{}");
    assert_next ("b", "a@h2 > b@h1 TELL 42 {}");

    /*  A process of that host is not its router. */
    say (LK_SIDE_MESH, "in-h2", "a@h2", "router@h1", "DISCONNECTED", "{}");
    say (LK_SIDE_MESH, "in-h2", "a@h2", "router@h1", "SHUTDOWN", "{}");
    say (LK_SIDE_MESH, "in-h2", "a@h2", "router@h1", "STATUS",
         "{\"service\":\"c@h2\",\"status\":\"up\",\"pid\":9}");
    ck_assert_int_eq (stopped, 0);
    ck_assert_int_eq (closed, 0);
    ck_assert_ptr_null (lk_directory_find (&router.directory, NULL, "c", 1));
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@h1", "STATUS",
         "{\"service\":\"c@h3\",\"status\":\"up\",\"pid\":9}");
    ck_assert_ptr_null (lk_directory_find (&router.directory, NULL, "c", 1));
}
END_TEST

START_TEST (answers_go_back_over_the_mesh)
{
    const char *out = link_host ("h2");
    say (LK_SIDE_MESH, "in-h2", "a@h2", "nobody@h1", "TELL", "{}");
    assert_next (out, "router@h1 > a@h2 TRANSMISSIONREPORT 42 "
                      "{\"command\":\"TELL\",\"to\":\"nobody@h1\","
                      "\"error\":\"unknown\",\"reason\":\"no service 'nobody' "
                      "on host 'h1'\"}");
    say (LK_SIDE_MESH, "in-h2", "a@h2", "router@h1", "ALIVE", "{}");
    assert_next (out, "router@h1 > a@h2 ABSOLUTELY 42");
    say (LK_SIDE_MESH, "in-h2", "a@h2", "router@h1", "GARBAGE", "{}");
    assert_starts (next (out), "router@h1 > a@h2 UNKNOWN 42 ");
}
END_TEST

/*  Who is not linked yet speaks as a router or not at all. */
START_TEST (callers_speak_as_routers)
{
    say (LK_SIDE_MESH, "in-h7", "a@h7", "router@h1", "CONNECT",
         "{\"host\":\"h7\",\"address\":\"h7:1\",\"version\":\"1\","
         "\"incarnation\":\"00000000000000aa\"}");
    assert_starts (next ("in-h7"), "router@h1 > *@. INVALID 42 ");
    ck_assert_uint_eq (router.count.lies, 1);
}
END_TEST

START_TEST (other_hosts_do_not_rule)
{
    static const char *const commands[] = {"STOP", "SHUTDOWN", "RELOADCONFIG",
                                           "LOG", "UNREGISTER"};
    const char *out = link_host ("h2");
    const lk_log_level level = lk_log_get_level ();
    enter ("lock", "");
    drain (out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        say (LK_SIDE_MESH, "in-h2", "a@h2", "router@h1", commands[i],
             "{\"level\":\"debug\"}");
        assert_next (out, "router@h1 > a@h2 INVALID 42 {\"reason\":\"that is "
                          "not yours to say\"}");
    }
    ck_assert_int_eq (stopped, 0);
    ck_assert_int_eq (reloaded, 0);
    ck_assert_int_eq (lk_log_get_level (), level);
    ck_assert_uint_eq (lk_route_count (&router.route), 1);
}
END_TEST

START_TEST (stop_and_shutdown)
{
    enter ("a", "");
    enter ("root", "");
    enter ("lock", "");
    const char *out = link_host ("h2");
    say (LK_SIDE_LOCAL, "a", "a@h1", "router@.", "RELOADCONFIG", "{}");
    ck_assert_int_eq (reloaded, 1);
    say (LK_SIDE_LOCAL, "a", "a@h1", "router@.", "STOP", "{}");
    ck_assert_int_eq (stopped, 1);
    assert_next (out, "");
    say (LK_SIDE_LOCAL, "root", "root@h1", "router@.", "SHUTDOWN", "{}");
    ck_assert_int_eq (stopped, 2);
    assert_next (out, "router@h1 > router@h2 SHUTDOWN 0");
    assert_next ("lock", "router@h1 > lock@h1 STOP 0");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "SHUTDOWN", "{}");
    ck_assert_int_eq (stopped, 3);
    assert_next (out, "");
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("forward");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, register_once_and_only_properly);
    tcase_add_test (tcase, a_process_registers_itself_alone);
    tcase_add_test (tcase, services_are_of_the_routers_user);
    tcase_add_test (tcase, a_name_whose_connection_is_gone_is_free);
    tcase_add_test (tcase, strangers_can_only_register);
    tcase_add_test (tcase, a_lie_about_the_sender_is_not_forwarded);
    tcase_add_test (tcase, a_lie_is_not_forwarded_as_register);
    tcase_add_test (tcase, the_end_of_a_process_is_told);
    tcase_add_test (tcase, a_frame_for_one_goes_on_as_it_came);
    tcase_add_test (tcase, a_frame_for_many_is_taken_apart);
    tcase_add_test (tcase, what_is_broken_is_answered_and_the_rest_arrives);
    tcase_add_test (tcase, packed_bodies_are_for_others);
    tcase_add_test (tcase, complaints_are_never_answered);
    tcase_add_test (tcase, who_does_not_read_is_not_waited_for);
    tcase_add_test (tcase, what_waited_for_one_that_ended_is_returned);
    tcase_add_test (tcase, the_end_of_a_process_is_told_to_who_does_not_read);
    tcase_add_test (tcase, who_cannot_be_told_is_cut_off);
    tcase_add_test (tcase, hosts_are_reached_by_name_by_all_and_by_any);
    tcase_add_test (tcase, what_crossed_the_mesh_crosses_it_no_more);
    tcase_add_test (tcase, a_neighbour_speaks_for_its_own_host_only);
    tcase_add_test (tcase, answers_go_back_over_the_mesh);
    tcase_add_test (tcase, other_hosts_do_not_rule);
    tcase_add_test (tcase, callers_speak_as_routers);
    tcase_add_test (tcase, stop_and_shutdown);
    Suite *suite = suite_create ("forward");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
