/*  mesh.c - tests of router/tables/mesh.c: the table of a link, and who is who
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "mesh_fake.h"

static const lk_party h2_again = {.host = "h2",
                                  .address = "10.0.0.2:1",
                                  .version = "1",
                                  .incarnation = 23};
static const lk_party h2_elsewhere = {.host = "h2",
                                      .address = "10.0.0.9:1",
                                      .version = "1",
                                      .incarnation = 29};

static lk_mesh_link *
asking (const char *address)
{
    lk_mesh_link *link = lk_mesh_add (&mesh, address, true, NOW);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_TIME, NOW),
                       LK_DO_OPEN);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_UP, NOW), LK_DO_ASK);
    ck_assert_int_eq (link->state, LK_LINK_ASKING);
    return link;
}

static unsigned
accepted (lk_mesh_link *link, const lk_party *peer)
{
    const lk_mesh_event event = lk_mesh_accepted (&mesh, link, &own, peer, NOW);
    return lk_mesh_step (&mesh, link, event, NOW);
}

static lk_mesh_link *
live (const char *address, const lk_party *peer, const char *by)
{
    lk_mesh_link *link = asking (address);
    meet (link, peer, by);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_MET, NOW), 0);
    ck_assert_uint_eq (accepted (link, peer), LIVE);
    ck_assert (lk_mesh_link_is_live (link));
    return link;
}

static void
assert_count (size_t total_wanted, size_t live_wanted)
{
    size_t total_got, live_got;
    lk_mesh_count (&mesh, &total_got, &live_got);
    ck_assert_uint_eq (total_got, total_wanted);
    ck_assert_uint_eq (live_got, live_wanted);
}

/*  -------------------------------------------------------- the table */

START_TEST (goes_live_whoever_is_first)
{
    live ("10.0.0.2:1", &h2, "in2");
    assert_count (2, 2);

    static const lk_party h3 = {.host = "h3",
                                .address = "10.0.0.3:1",
                                .version = "1",
                                .incarnation = 33};
    lk_mesh_link *link = asking ("10.0.0.3:1");
    ck_assert_uint_eq (accepted (link, &h3), 0);
    ck_assert_int_eq (link->state, LK_LINK_ACCEPTED);
    assert_count (3, 2);
    meet (link, &h3, "in3");
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_MET, NOW), LIVE);
    assert_count (3, 3);
}
END_TEST

/*  What each event makes of a link that is live. */
static const struct {
    lk_mesh_event event;
    lk_mesh_state next;
    unsigned effects;
    bool met;
} endings[] = {
    {LK_LINK_TIME, LK_LINK_LIVE, LK_DO_BEAT, true},
    {LK_LINK_UP, LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST, true},
    {LK_LINK_DOWN, LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST, true},
    {LK_LINK_REFUSE, LK_LINK_ASKING, LK_DO_LOST | LK_DO_ASK, true},
    {LK_LINK_SILENT, LK_LINK_DIALING, LK_DO_CLOSE | LK_DO_LOST | LK_DO_OPEN,
     false},
    {LK_LINK_LEFT, LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST, false},
    {LK_LINK_MET, LK_LINK_LIVE, LK_DO_INTRODUCE, true},
    {LK_LINK_JOINED, LK_LINK_LIVE, 0, true},
};

START_TEST (ends_as_the_table_says)
{
    lk_mesh_link *link = live ("10.0.0.2:1", &h2, "in2");
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, endings[_i].event, NOW),
                       endings[_i].effects);
    ck_assert_int_eq (link->state, endings[_i].next);
    ck_assert_int_eq (link->met, endings[_i].met);
}
END_TEST

/*  An answer may take longer than dead_after, on a busy machine: a connection
 *  that is given up again and again would never be one. */
START_TEST (waits_longer_for_each_answer)
{
    int64_t now = NOW;
    lk_mesh_link *link = asking ("10.0.0.2:1");
    for (int i = 0; i < 8; i++) {
        const int64_t patience = link->deadline_ms - now;
        ck_assert_int_eq (patience, i < 5 ? DEAD_AFTER << i : DEAD_AFTER << 4);
        now = link->deadline_ms;
        ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_TIME, now),
                           LK_DO_CLOSE | LK_DO_OPEN);
        ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_UP, now),
                           LK_DO_ASK);
    }
    lk_mesh_step (&mesh, link, LK_LINK_MET, now);
    ck_assert_int_gt (link->deadline_ms - now, DEAD_AFTER);
    lk_mesh_step (&mesh, link, LK_LINK_TAKEN, now);
    lk_mesh_step (&mesh, link, LK_LINK_REFUSE, now);
    ck_assert_int_eq (link->state, LK_LINK_ASKING);
    ck_assert_int_eq (link->deadline_ms - now, DEAD_AFTER);
}
END_TEST

/*  Whatever comes in whatever order: what is opened is closed before it is
 *  opened again, LIVE and LOST alternate, and only LIVE is live. */
START_TEST (any_order_keeps_the_books)
{
    srand (7);
    lk_mesh_link *link = lk_mesh_add (&mesh, "10.0.0.2:1", true, NOW);
    bool open = false, told = false;
    for (int i = 0; i < 200000; i++) {
        lk_mesh_event event = (lk_mesh_event) (rand () % LK_LINK_EVENTS);
        if (event == LK_LINK_MET) {
            meet (link, &h2, "in2");
        } else if (event == LK_LINK_JOINED && !link->met) {
            event = LK_LINK_TAKEN;
        } else if (event == LK_LINK_TAKEN) {
            link->met = false;
        }
        const unsigned effects = lk_mesh_step (&mesh, link, event, NOW);
        if (effects & LK_DO_CLOSE) {
            ck_assert (open);
            open = false;
        }
        if (effects & LK_DO_LOST) {
            ck_assert (told);
            told = false;
        }
        if (effects & LK_DO_OPEN) {
            ck_assert (!open);
            open = true;
        }
        if (effects & (LK_DO_ASK | LK_DO_BEAT)) {
            ck_assert (open);
        }
        if (effects & LK_DO_LIVE) {
            ck_assert (!told);
            told = true;
        }
        ck_assert_int_eq (told, lk_mesh_link_is_live (link));
        ck_assert (!lk_mesh_link_is_open (link) || open);
    }
}
END_TEST

/*  Each state waits for something: a deadline, or what its connection tells. */
START_TEST (no_state_is_a_dead_end)
{
    for (int state = 0; state < LK_LINK_STATES; state++) {
        if (state == LK_LINK_DIALING || state == LK_LINK_OURSELVES) {
            continue;
        }
        lk_mesh_link *link = lk_mesh_add (&mesh, "10.0.0.2:1", true, NOW);
        link->state = (lk_mesh_state) state;
        meet (link, &h2, "in2");
        lk_mesh_step (&mesh, link, LK_LINK_TIME, NOW);
        ck_assert_msg (link->deadline_ms < INT64_MAX
                           || link->state == LK_LINK_DIALING,
                       "%s", lk_mesh_link_state_name (link->state));
        lk_mesh_remove (&mesh, link);
    }
}
END_TEST

/*  -------------------------------------------------------- time */

START_TEST (beats_four_times_in_dead_after_and_hears_silence)
{
    lk_mesh_link *link = live ("10.0.0.2:1", &h2, "in2");
    lk_mesh_event event;
    ck_assert_int_eq (lk_mesh_deadline (&mesh), NOW + DEAD_AFTER / 4);
    ck_assert_ptr_null (lk_mesh_due (&mesh, NOW + DEAD_AFTER / 4 - 1, &event));
    for (int quarter = 1; quarter < 4; quarter++) {
        const int64_t now = NOW + quarter * DEAD_AFTER / 4;
        ck_assert_ptr_eq (lk_mesh_due (&mesh, now, &event), link);
        ck_assert_int_eq (event, LK_LINK_TIME);
        ck_assert_uint_eq (lk_mesh_step (&mesh, link, event, now), LK_DO_BEAT);
        ck_assert_ptr_null (lk_mesh_due (&mesh, now, &event));
    }
    ck_assert_ptr_eq (lk_mesh_due (&mesh, NOW + DEAD_AFTER, &event), link);
    ck_assert_int_eq (event, LK_LINK_SILENT);
    lk_mesh_step (&mesh, link, event, NOW + DEAD_AFTER);
    ck_assert_ptr_null (lk_mesh_due (&mesh, NOW + 10 * DEAD_AFTER, &event));
}
END_TEST

START_TEST (asks_again_when_nobody_answers)
{
    lk_mesh_link *link = asking ("10.0.0.2:1");
    lk_mesh_event event;
    ck_assert_ptr_eq (lk_mesh_due (&mesh, NOW + DEAD_AFTER, &event), link);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, event, NOW + DEAD_AFTER),
                       LK_DO_CLOSE | LK_DO_OPEN);
}
END_TEST

/*  -------------------------------------------------------- who is who */

START_TEST (connect_is_judged)
{
    lk_mesh_link *found;
    static const lk_party namesake = {.host = "h1",
                                      .address = "10.0.0.7:1",
                                      .version = "1",
                                      .incarnation = 77};
    static const lk_party ourselves = {.host = "h1",
                                       .address = "10.0.0.1:1",
                                       .version = "1",
                                       .incarnation = 11};
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &namesake, &found),
                      LK_MEET_NAMESAKE);
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &ourselves, &found),
                      LK_MEET_OURSELVES);
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &h2, &found),
                      LK_MEET_WELCOME);
    ck_assert_ptr_null (found);

    lk_mesh_link *link = live ("10.0.0.2:1", &h2, "in2");
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &h2, &found),
                      LK_MEET_WELCOME);
    ck_assert_ptr_eq (found, link);
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &h2_again, &found),
                      LK_MEET_RESTARTED);
    ck_assert_ptr_eq (found, link);
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &h2_elsewhere, &found),
                      LK_MEET_NAMESAKE);

    /*  As long as its last messages may come, it is there. */
    lk_mesh_step (&mesh, link, LK_LINK_DOWN, NOW);
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &h2_elsewhere, &found),
                      LK_MEET_NAMESAKE);
    lk_mesh_step (&mesh, link, LK_LINK_SILENT, NOW + DEAD_AFTER);
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &h2_elsewhere, &found),
                      LK_MEET_WELCOME);
    ck_assert_ptr_null (found);
}
END_TEST

START_TEST (own_address_is_dropped_for_good)
{
    lk_mesh_link *link = asking ("10.0.0.1:1");
    static const lk_party ourselves = {.host = "h1",
                                       .address = "10.0.0.1:1",
                                       .version = "1",
                                       .incarnation = 11};
    ck_assert_uint_eq (accepted (link, &ourselves), LK_DO_CLOSE);
    ck_assert_int_eq (link->state, LK_LINK_OURSELVES);
    ck_assert_int_eq (lk_mesh_deadline (&mesh), INT64_MAX);
    assert_count (1, 1);
}
END_TEST

START_TEST (two_addresses_of_one_host_are_one_host)
{
    /*  Configured under a name, met under the number that it tells. */
    lk_mesh_link *named = asking ("h2.example:1");
    lk_mesh_link *learned = lk_mesh_add (&mesh, "10.0.0.2:1", false, NOW);
    assert_count (2, 1);
    meet (learned, &h2, "in2");
    lk_mesh_step (&mesh, learned, LK_LINK_MET, NOW);
    lk_mesh_step (&mesh, learned, LK_LINK_UP, NOW);

    ck_assert_uint_eq (accepted (named, &h2), LIVE);
    ck_assert_uint_eq (accepted (learned, &h2), LK_DO_CLOSE);
    ck_assert_int_eq (learned->state, LK_LINK_DOUBLE);
    assert_count (2, 2);
    const lk_identity in2 = identity ("in2");
    ck_assert_ptr_eq (lk_mesh_by_met (&mesh, &in2), named);
    ck_assert_ptr_eq (lk_mesh_by_host (&mesh, lk_slice_of ("h2")), named);
}
END_TEST

START_TEST (restart_seen_first_by_its_accept_is_a_loss)
{
    lk_mesh_link *link = live ("10.0.0.2:1", &h2, "in2");
    ck_assert_uint_eq (accepted (link, &h2_again), LK_DO_LOST);
    ck_assert_int_eq (link->state, LK_LINK_ACCEPTED);
    meet (link, &h2_again, "in2b");
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_MET, NOW), LIVE);
}
END_TEST

START_TEST (learned_hosts_count_once_they_were_live)
{
    lk_mesh_link *link = lk_mesh_add (&mesh, "10.0.0.2:1", false, NOW);
    assert_count (1, 1);
    meet (link, &h2, "in2");
    lk_mesh_step (&mesh, link, LK_LINK_MET, NOW);
    lk_mesh_step (&mesh, link, LK_LINK_UP, NOW);
    ck_assert (lk_mesh_link_is_open (link));
    ck_assert_uint_eq (accepted (link, &h2), LIVE);
    assert_count (2, 2);
    lk_mesh_step (&mesh, link, LK_LINK_DOWN, NOW);
    assert_count (2, 1);
}
END_TEST

START_TEST (the_table_of_links_has_an_end)
{
    char address[32];
    for (int i = 0; i < LK_LINKS_MAX; i++) {
        snprintf (address, sizeof address, "10.0.1.%d:1", i);
        ck_assert_ptr_nonnull (lk_mesh_add (&mesh, address, true, NOW));
    }
    ck_assert_ptr_null (lk_mesh_add (&mesh, "10.0.2.1:1", true, NOW));
    ck_assert_ptr_nonnull (lk_mesh_add (&mesh, "10.0.1.5:1", true, NOW));
    assert_count (LK_LINKS_MAX + 1, 1);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("mesh");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, goes_live_whoever_is_first);
    tcase_add_loop_test (tcase, ends_as_the_table_says, 0,
                         sizeof endings / sizeof endings[0]);
    tcase_add_test (tcase, waits_longer_for_each_answer);
    tcase_add_test (tcase, any_order_keeps_the_books);
    tcase_add_test (tcase, no_state_is_a_dead_end);
    tcase_add_test (tcase, beats_four_times_in_dead_after_and_hears_silence);
    tcase_add_test (tcase, asks_again_when_nobody_answers);
    tcase_add_test (tcase, connect_is_judged);
    tcase_add_test (tcase, own_address_is_dropped_for_good);
    tcase_add_test (tcase, two_addresses_of_one_host_are_one_host);
    tcase_add_test (tcase, restart_seen_first_by_its_accept_is_a_loss);
    tcase_add_test (tcase, learned_hosts_count_once_they_were_live);
    tcase_add_test (tcase, the_table_of_links_has_an_end);
    Suite *suite = suite_create ("mesh");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
