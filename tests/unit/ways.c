/*  ways.c - a link whose connection breaks goes on by another one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "gossip.h"
#include "lib/suite.h"
#include "lost.h"
#include "neighbour.h"
#include "router_fake.h"

#define H2 "{\"host\":\"h2\",\"address\":\"h2.example:1\",\"version\":\"1\","
#define FIRST H2 "\"incarnation\":\"0000000000000022\",\"ways\":true}"
#define SECOND H2 "\"incarnation\":\"0000000000000033\",\"ways\":true}"
#define LOST                                                                   \
    "router@h1 > w@h1 HANGUP 0 {\"host\":\"h2\","                              \
    "\"reason\":\"connection lost\"}"
#define BACK                                                                   \
    "router@h1 > w@h1 NEWREMOTECONNECTION 0 {\"host\":\"h2\","                 \
    "\"address\":\"h2.example:1\"}"

static const char *in, *out;

/*  Our channel number `place`, as text; 0: none. */
static const char *
own (int place)
{
    static char text[32];
    const uint64_t number =
        place != 0 ? (router.incarnation << 20) + (uint64_t) place : 0;
    snprintf (text, sizeof text, "%016llx", (unsigned long long) number);
    return text;
}

/*  h2 says which frame comes next, on its connection to us. */
static void
h2_counts (int channel, int peer, int next_one, int heard)
{
    char body[256];
    snprintf (body, sizeof body,
              "{\"channel\":\"%016x\",\"peer\":\"%s\",\"next\":%d,"
              "\"heard\":%d}",
              channel, own (peer), next_one, heard);
    say (LK_SIDE_MESH, in, "router@h2", "router@.", "COUNT", body);
}

/*  h2 has connected to us by `by`, and our own connection stands. */
static void
meet_h2 (const char *by, const char *body)
{
    static char text[2][32];
    static unsigned turn;
    in = by;
    say (LK_SIDE_MESH, in, "router@h2", "router@.", "CONNECT", body);
    lk_neighbour_work (&router);
    out = text[++turn % 2];
    snprintf (text[turn % 2], sizeof text[0], "out%d", opened);
    our_own (out, true);
    say (LK_SIDE_MESH, out, "router@h2", "router@.", "ACCEPT", body);
}

static void
h2_heard (int heard)
{
    char body[256];
    snprintf (body, sizeof body,
              "{\"channel\":\"%016x\",\"peer\":\"%s\",\"heard\":%d}", 7,
              own (1), heard);
    lk_bytes frame = {0};
    add (&frame, "router@h2", "router@.", "ALIVE", 0, body);
    put (LK_SIDE_MESH, in, &frame);
    lk_bytes_clear (&frame);
}

/*  The first frame is the STATUS of w. */
static void
begin_with_h2 (void)
{
    set_up ();
    enter ("w", "\"HANGUP\",\"NEWREMOTECONNECTION\"");
    meet_h2 ("in1", FIRST);
    h2_counts (7, 1, 1, 0);
    assert_next ("w", BACK);
    drain (out);
    h2_heard (1);
}

static void
tell_h2 (const char *command)
{
    say (LK_SIDE_LOCAL, "w", "w@h1", "lock@h2", command, "{}");
}

static void
h2_tells (const char *command)
{
    say (LK_SIDE_MESH, in, "lock@h2", "w@h1", command, "{}");
}

static lk_mesh_link *
link_of_h2 (void)
{
    return lk_mesh_by_host (&router.mesh, lk_slice_of ("h2"));
}

/*  Its own connection to us, too, has another name now. */
static void
break_both (void)
{
    neighbour_left (in);
    our_own (out, false);
}

START_TEST (frames_have_numbers)
{
    tell_h2 ("ONE");
    assert_next (out, "w@h1 > lock@h2 ONE 42 {}");
    ck_assert_uint_eq (link_of_h2 ()->channel.kept.count, 1);
    h2_heard (2);
    ck_assert_uint_eq (link_of_h2 ()->channel.kept.count, 0);
    h2_tells ("TWO");
    assert_next ("w", "lock@h2 > w@h1 TWO 42 {}");
    router.now_ms += 250;
    lk_neighbour_work (&router);
    char body[128];
    snprintf (body, sizeof body,
              "ALIVE 0 {\"channel\":\"%s\",\"peer\":\"0000000000000007\","
              "\"heard\":1}",
              own (1));
    ck_assert_ptr_nonnull (strstr (next (out), body));
}
END_TEST

START_TEST (another_connection_goes_on)
{
    tell_h2 ("ONE");
    drain (out);
    tell_h2 ("TWO");
    drain (out);
    h2_tells ("THREE");
    drain ("w");
    break_both ();
    assert_next ("w", "");
    ck_assert_uint_eq (router.cluster.live, 2);
    tell_h2 ("FOUR");
    meet_h2 ("in2", FIRST);
    ck_assert_ptr_nonnull (strstr (next (out), " CONNECT "));
    ck_assert_ptr_nonnull (strstr (next (out), " COUNT 0 {\"next\":2,"));
    h2_counts (7, 1, 1, 2);
    h2_tells ("THREE");
    assert_next ("w", "");
    h2_tells ("FIVE");
    assert_next ("w", "lock@h2 > w@h1 FIVE 42 {}");
    ck_assert_uint_eq (router.count.repeated, 1);
    /*  ONE had been heard, and is not said again. */
    ck_assert_ptr_nonnull (strstr (next (out), " COUNT 0 {\"next\":3,"));
    assert_starts (next (out), "w@h1 > lock@h2 TWO 42 ");
    assert_starts (next (out), "w@h1 > lock@h2 FOUR 42 ");
    assert_next (out, "");
}
END_TEST

START_TEST (out_of_turn_is_not_taken)
{
    h2_counts (7, 1, 2, 0);
    h2_tells ("TWO");
    assert_next ("w", "");
    h2_counts (7, 1, 1, 0);
    h2_tells ("ONE");
    assert_next ("w", "lock@h2 > w@h1 ONE 42 {}");
}
END_TEST

START_TEST (nothing_is_taken_before_it_is_counted)
{
    break_both ();
    meet_h2 ("in2", FIRST);
    h2_tells ("ONE");
    assert_next ("w", "");
}
END_TEST

/*  Nobody is told later than before. */
START_TEST (it_is_lost_once_nobody_is_there)
{
    tell_h2 ("ONE");
    break_both ();
    lk_neighbour_work (&router);
    ck_assert_int_eq (opened, 2);
    assert_next ("w", "");
    our_own ("out2", false);
    assert_starts (next ("w"), "router@h1 > w@h1 TRANSMISSIONREPORT 42 ");
    assert_next ("w", LOST);
    ck_assert_uint_eq (router.cluster.live, 1);
}
END_TEST

START_TEST (it_is_lost_after_a_while)
{
    break_both ();
    lk_neighbour_work (&router);
    lk_gossip_work (&router);
    ck_assert_int_eq (lk_router_deadline (&router), router.now_ms + 125);
    router.now_ms += 124;
    lk_neighbour_work (&router);
    assert_next ("w", "");
    router.now_ms++;
    lk_neighbour_work (&router);
    assert_next ("w", LOST);
}
END_TEST

START_TEST (another_process_is_another_link)
{
    tell_h2 ("ONE");
    drain (out);
    break_both ();
    meet_h2 ("in2", SECOND);
    assert_next ("w", LOST);
    assert_next ("w", BACK);
    drain (out);
    h2_counts (8, 2, 1, 0);
    drain (out);
    ck_assert_uint_eq (link_of_h2 ()->channel.kept.count, 1);
    tell_h2 ("TWO");
    assert_next (out, "w@h1 > lock@h2 TWO 42 {}");
}
END_TEST

/*  Our connection reaches it ahead of its own word. */
START_TEST (another_process_answers)
{
    break_both ();
    lk_neighbour_work (&router);
    our_own ("out2", true);
    say (LK_SIDE_MESH, "out2", "router@h2", "router@.", "ACCEPT", SECOND);
    assert_next ("w", LOST);
}
END_TEST

START_TEST (much_that_was_heard_is_told_at_once)
{
    for (int i = 1; i < LK_UNTOLD_FRAMES_MAX; i++) {
        h2_tells ("ONE");
    }
    assert_next (out, "");
    h2_tells ("ONE");
    ck_assert_ptr_nonnull (strstr (next (out), "ALIVE 0 {"));
}
END_TEST

/*  The other end told its services that we are gone: so ours are told that it
 *  is, and all begins anew. */
START_TEST (the_other_end_gave_it_up)
{
    tell_h2 ("ONE");
    drain (out);
    h2_counts (8, 0, 1, 0);
    assert_next ("w", "router@h1 > w@h1 HANGUP 0 {\"host\":\"h2\",\"reason\":"
                      "\"the other router has given it up\"}");
    assert_next ("w", BACK);
    char body[64];
    snprintf (body, sizeof body, "\"next\":1,\"channel\":\"%s\",", own (2));
    ck_assert_ptr_nonnull (strstr (next (out), body));
    assert_starts (next (out), "router@h1 > router@h2 STATUS 0 ");
    h2_counts (8, 2, 1, 0);
    h2_tells ("TWO");
    assert_next ("w", "lock@h2 > w@h1 TWO 42 {}");
}
END_TEST

START_TEST (silence_is_the_end)
{
    router.now_ms += 1000;
    lk_neighbour_work (&router);
    assert_next ("w", "router@h1 > w@h1 HANGUP 0 {\"host\":\"h2\",\"reason\":"
                      "\"silent for 1000 ms\"}");
}
END_TEST

START_TEST (so_is_a_good_bye)
{
    say (LK_SIDE_MESH, in, "router@h2", "router@h1", "DISCONNECTED", "{}");
    ck_assert_uint_eq (router.cluster.live, 1);
    assert_next ("w", "");
    ck_assert_int_eq (link_of_h2 () == NULL, true);
}
END_TEST

/*  It does not know us, but is the same. */
START_TEST (a_refusal_of_the_same_process)
{
    tell_h2 ("ONE");
    drain (out);
    say (LK_SIDE_MESH, out, "router@h2", "router@.", "REFUSE",
         "{\"reason\":\"not connected\",\"host\":\"h2\","
         "\"incarnation\":\"0000000000000022\"}");
    assert_next ("w", "");
    assert_starts (next (out), "router@h1 > router@. CONNECT 0 ");
    ck_assert_ptr_nonnull (strstr (next (out), " COUNT 0 {\"next\":2,"));
    assert_starts (next (out), "w@h1 > lock@h2 ONE 42 ");
    say (LK_SIDE_MESH, out, "router@h2", "router@.", "ACCEPT", FIRST);
    ck_assert (lk_mesh_link_is_direct (link_of_h2 ()));
    assert_next ("w", "");
}
END_TEST

START_TEST (a_refusal_of_another_process)
{
    say (LK_SIDE_MESH, out, "router@h2", "router@.", "REFUSE",
         "{\"reason\":\"not connected\",\"host\":\"h2\","
         "\"incarnation\":\"0000000000000033\"}");
    assert_next ("w", LOST);
}
END_TEST

START_TEST (who_does_not_read_is_cut_off)
{
    link_of_h2 ()->channel.out.deaf = true;
    lk_hops_add (&router.hops, &link_of_h2 ()->channel.out);
    lk_lost_hop (&router, &link_of_h2 ()->channel.out);
    assert_next ("w", "router@h1 > w@h1 HANGUP 0 {\"host\":\"h2\",\"reason\":"
                      "\"it does not read\"}");
    ck_assert (!link_of_h2 ()->channel.out.deaf);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("ways");
    tcase_add_checked_fixture (tests, begin_with_h2, tear_down);
    tcase_add_test (tests, frames_have_numbers);
    tcase_add_test (tests, another_connection_goes_on);
    tcase_add_test (tests, out_of_turn_is_not_taken);
    tcase_add_test (tests, nothing_is_taken_before_it_is_counted);
    tcase_add_test (tests, it_is_lost_once_nobody_is_there);
    tcase_add_test (tests, it_is_lost_after_a_while);
    tcase_add_test (tests, another_process_is_another_link);
    tcase_add_test (tests, another_process_answers);
    tcase_add_test (tests, much_that_was_heard_is_told_at_once);
    tcase_add_test (tests, the_other_end_gave_it_up);
    tcase_add_test (tests, silence_is_the_end);
    tcase_add_test (tests, so_is_a_good_bye);
    tcase_add_test (tests, a_refusal_of_the_same_process);
    tcase_add_test (tests, a_refusal_of_another_process);
    tcase_add_test (tests, who_does_not_read_is_cut_off);

    Suite *suite = suite_create ("ways");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
