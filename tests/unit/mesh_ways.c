/*  mesh_ways.c - tests of router/tables/mesh.c: links of one connection alone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A host dials its arbiter (OUT), which dials nobody (IN).
 */

#include "mesh_fake.h"

static const lk_party a1 = {.host = "a1",
                            .address = "10.0.0.7:1",
                            .version = "1",
                            .incarnation = 77,
                            .one_way = true};

/*  To arbiter a1, as the settings name it. */
static lk_mesh_link *
to_arbiter (void)
{
    const lk_identity out = identity ("out");
    lk_mesh_link *link = lk_mesh_add (&mesh, a1.address, false, NOW);
    link->way = LK_WAY_OUT;
    snprintf (link->host, sizeof link->host, "%s", a1.host);
    lk_hop_init (&link->out, LK_SIDE_MESH, &out);
    return link;
}

static lk_mesh_link *
asking (lk_mesh_link *link)
{
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_TIME, NOW),
                       LK_DO_OPEN);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_UP, NOW), LK_DO_ASK);
    return link;
}

static lk_mesh_event
accepted (lk_mesh_link *link, const lk_party *peer)
{
    return lk_mesh_accepted (&mesh, link, &own, peer, NOW);
}

/*  -------------------------------------------------------- OUT */

START_TEST (our_connection_is_both_halves)
{
    lk_mesh_link *link = asking (to_arbiter ());
    const lk_identity out = identity ("out");
    size_t total, live;
    ck_assert_ptr_null (lk_mesh_by_met (&mesh, &out));
    ck_assert_int_eq (accepted (link, &a1), LK_LINK_JOINED);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_JOINED, NOW), LIVE);
    ck_assert (lk_mesh_link_is_open (link));
    ck_assert_ptr_eq (lk_mesh_by_met (&mesh, &out), link);
    ck_assert_ptr_eq (lk_mesh_by_host (&mesh, lk_slice_of ("a1")), link);

    /*  It is no host. */
    lk_mesh_count (&mesh, &total, &live);
    ck_assert_uint_eq (total, 1);
    ck_assert_uint_eq (live, 1);
    ck_assert (!lk_mesh_link_is_memorable (link));
    ck_assert_ptr_null (lk_mesh_spare (&mesh));
    ck_assert_ptr_null (lk_mesh_stale (&mesh, NOW + 1000000));

    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_DOWN, NOW),
                       LK_DO_CLOSE | LK_DO_LOST);
    ck_assert (!link->met);
    ck_assert_ptr_null (lk_mesh_by_host (&mesh, lk_slice_of ("a1")));
    ck_assert_ptr_null (lk_mesh_stale (&mesh, NOW + 1000000));
    ck_assert_ptr_null (lk_mesh_spare (&mesh));
}
END_TEST

/*  Its end is the end of both halves, whatever it was. */
static const struct {
    lk_mesh_event event;
    lk_mesh_state next;
    unsigned effects;
} out_endings[] = {
    {LK_LINK_TIME, LK_LINK_LIVE, LK_DO_BEAT},
    {LK_LINK_UP, LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST},
    {LK_LINK_DOWN, LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST},
    {LK_LINK_TAKEN, LK_LINK_ACCEPTED, LK_DO_LOST},
    {LK_LINK_JOINED, LK_LINK_LIVE, 0},
    {LK_LINK_REFUSE, LK_LINK_ASKING, LK_DO_LOST | LK_DO_ASK},
    {LK_LINK_OWN, LK_LINK_OURSELVES, LK_DO_CLOSE | LK_DO_LOST},
    {LK_LINK_TWIN, LK_LINK_DOUBLE, LK_DO_CLOSE | LK_DO_LOST},
    {LK_LINK_SILENT, LK_LINK_DIALING, LK_DO_CLOSE | LK_DO_LOST | LK_DO_OPEN},
    {LK_LINK_LEFT, LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST},
};

START_TEST (out_ends_as_the_table_says)
{
    lk_mesh_link *link = asking (to_arbiter ());
    (void) accepted (link, &a1);
    lk_mesh_step (&mesh, link, LK_LINK_JOINED, NOW);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, out_endings[_i].event, NOW),
                       out_endings[_i].effects);
    ck_assert_int_eq (link->state, out_endings[_i].next);
    ck_assert_int_eq (link->met, out_endings[_i].next == LK_LINK_LIVE);
}
END_TEST

/*  An arbiter that is away is soon sought again, as a host that is known. */
START_TEST (out_is_dialled_as_a_host_is)
{
    lk_mesh_link *link = to_arbiter ();
    for (int i = 0; i < 20; i++) {
        lk_mesh_step (&mesh, link, LK_LINK_TIME, NOW);
        lk_mesh_step (&mesh, link, LK_LINK_DOWN, NOW);
    }
    ck_assert_int_le (link->deadline_ms, NOW + 1000);
}
END_TEST

START_TEST (only_the_settings_make_an_arbiter)
{
    /*  An ordinary link that ends in one. */
    lk_mesh_link *link = lk_mesh_add (&mesh, "10.0.0.9:1", true, NOW);
    ck_assert_int_eq (accepted (asking (link), &a1), LK_LINK_REFUSE);
    ck_assert (!link->met);
    ck_assert_str_eq (link->reason,
                      "it is an arbiter, and the settings do not name it");

    /*  One that they name, and is none, or another one. */
    lk_party host = a1;
    link = asking (to_arbiter ());
    host.one_way = false;
    ck_assert_int_eq (accepted (link, &host), LK_LINK_REFUSE);
    ck_assert_str_eq (link->reason,
                      "it is no arbiter, as the settings have it");
    host = a1;
    host.host = "a2";
    ck_assert_int_eq (accepted (link, &host), LK_LINK_REFUSE);
    ck_assert (!link->met);
    ck_assert_str_eq (link->host, "a1");
}
END_TEST

START_TEST (an_arbiter_dials_nobody)
{
    lk_mesh_link *found;
    lk_party host = h2;
    lk_mesh_link *link = to_arbiter ();
    ck_assert_ptr_eq (lk_mesh_arbiter (&mesh, "a1"), link);
    ck_assert_ptr_null (lk_mesh_arbiter (&mesh, "h2"));
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &a1, &found),
                      LK_MEET_NAMESAKE);
    host.host = "a1";
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &host, &found),
                      LK_MEET_NAMESAKE);
    host = h2;
    host.address = a1.address;
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &host, &found),
                      LK_MEET_NAMESAKE);
    ck_assert_int_eq (lk_mesh_judge (&mesh, &own, &h2, &found),
                      LK_MEET_WELCOME);
}
END_TEST

/*  -------------------------------------------------------- IN */

static lk_mesh_link *
from_host (void)
{
    mesh.accepts_only = true;
    lk_mesh_link *link = lk_mesh_add (&mesh, h2.address, false, NOW);
    ck_assert_int_eq (link->way, LK_WAY_IN);
    return link;
}

START_TEST (their_connection_is_both_halves)
{
    lk_mesh_link *link = from_host ();
    lk_mesh_event event;
    ck_assert_int_eq (lk_mesh_deadline (&mesh), INT64_MAX);
    meet (link, &h2, "in2");
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_MET, NOW), LIVE);
    ck_assert (lk_mesh_link_is_open (link));
    ck_assert_int_eq (lk_mesh_deadline (&mesh), NOW + DEAD_AFTER / 4);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, LK_LINK_MET, NOW),
                       LK_DO_INTRODUCE);

    ck_assert_ptr_eq (lk_mesh_due (&mesh, NOW + DEAD_AFTER, &event), link);
    ck_assert_int_eq (event, LK_LINK_SILENT);
    ck_assert_uint_eq (lk_mesh_step (&mesh, link, event, NOW + DEAD_AFTER),
                       LK_DO_CLOSE | LK_DO_LOST);
    ck_assert (!link->met);
    ck_assert_int_eq (link->state, LK_LINK_CLOSED);
    ck_assert_int_eq (lk_mesh_deadline (&mesh), INT64_MAX);

    /*  A host that comes no more is forgotten. */
    ck_assert_ptr_null (lk_mesh_stale (&mesh, NOW + 1000));
    ck_assert_ptr_eq (lk_mesh_stale (&mesh, NOW + 1000000), link);
}
END_TEST

/*  Each event in each state: nothing is ever opened or asked, what was live is
 *  closed and told, and only a CONNECT that is taken makes it live. */
START_TEST (in_is_closed_or_live)
{
    lk_mesh_link *link = from_host ();
    for (int state = 0; state < LK_LINK_STATES; state++) {
        for (int event = 0; event < LK_LINK_EVENTS; event++) {
            const bool was_live = state == LK_LINK_LIVE;
            const bool is_live =
                event == LK_LINK_MET
                || (was_live
                    && (event == LK_LINK_TIME || event == LK_LINK_JOINED));
            meet (link, &h2, "in2");
            link->state = (lk_mesh_state) state;
            const unsigned effects =
                lk_mesh_step (&mesh, link, (lk_mesh_event) event, NOW);
            ck_assert_int_eq (link->state,
                              is_live ? LK_LINK_LIVE : LK_LINK_CLOSED);
            ck_assert_int_eq (link->met, is_live);
            ck_assert_uint_eq (effects & (LK_DO_OPEN | LK_DO_ASK), 0);
            ck_assert_uint_eq (effects & (LK_DO_CLOSE | LK_DO_LOST),
                               was_live && !is_live ? LK_DO_CLOSE | LK_DO_LOST
                                                    : 0);
            ck_assert_int_eq ((effects & LK_DO_LIVE) != 0,
                              !was_live && is_live);
        }
    }
}
END_TEST

/*  An OUT link asks for the same in each state as an ordinary one; it is met
 *  only while it is live. */
START_TEST (out_is_as_both_in_each_cell)
{
    lk_mesh_link *out = to_arbiter ();
    lk_mesh_link *both = lk_mesh_add (&mesh, h2.address, true, NOW);
    for (int state = 0; state < LK_LINK_STATES; state++) {
        for (int event = 0; event < LK_LINK_EVENTS; event++) {
            meet (out, &a1, "out");
            meet (both, &h2, "in2");
            out->state = both->state = (lk_mesh_state) state;
            ck_assert_uint_eq (
                lk_mesh_step (&mesh, out, (lk_mesh_event) event, NOW),
                lk_mesh_step (&mesh, both, (lk_mesh_event) event, NOW));
            ck_assert_int_eq (out->state, both->state);
            ck_assert_int_eq (out->met, lk_mesh_link_is_live (out));
        }
    }
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("mesh_ways");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, our_connection_is_both_halves);
    tcase_add_loop_test (tcase, out_ends_as_the_table_says, 0,
                         sizeof out_endings / sizeof out_endings[0]);
    tcase_add_test (tcase, out_is_dialled_as_a_host_is);
    tcase_add_test (tcase, only_the_settings_make_an_arbiter);
    tcase_add_test (tcase, an_arbiter_dials_nobody);
    tcase_add_test (tcase, their_connection_is_both_halves);
    tcase_add_test (tcase, in_is_closed_or_live);
    tcase_add_test (tcase, out_is_as_both_in_each_cell);
    Suite *suite = suite_create ("mesh_ways");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
