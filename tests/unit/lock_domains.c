/*  lock_domains.c - where hosts are, as the core, the router and people hear
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The settings say where one is; else the host itself, in LOCKSTARTED.
 */

#include "lock_fake.h"

/*  h1 is at au.perth.dc4.rack3 by its own file. */
static void
set_up_placed (void)
{
    begin ();
    write_genesis ("blue");
    open_lockd ();
    snprintf (lockd.options.domain, sizeof lockd.options.domain,
              "au.perth.dc4.rack3");
    attach ();
    forget_sent ();
    node.count = 0;
}

/*  It says where it is; NULL: it does not. */
static lk_message *
new_greeting (const char *host, uint64_t id, const char *domain)
{
    char from[LK_ADDRESS_LEN_MAX + 1];
    lk_hostmap hostmap;
    lk_lock_message started = {
        .kind = LK_MSG_STARTED, .origin = LK_NOBODY, .destination = LK_NOBODY};
    lk_hostmap_init (&hostmap);
    started.to = lk_hostmap_intern (&hostmap, "h1", OWN_ID);
    started.from = lk_hostmap_intern (&hostmap, host, id);
    started.as.started.candidate.priority = 8;
    started.as.started.answer = true;
    lk_message *message = lk_lock_encode (&started, &hostmap, started.from);
    snprintf (from, sizeof from, "lock@%s", host);
    lk_message_set_from (message, from);
    lk_charter_write (&lockd.peers.charter, message);
    if (domain != NULL) {
        lk_message_set_text (message, "domain", domain);
    }
    return message;
}

static lk_host
greet (const char *host, uint64_t id, const char *domain)
{
    const size_t before = node.count;
    give (new_greeting (host, id, domain));
    ck_assert_uint_eq (node.count, before + 1);
    return lk_hostmap_find (&lockd.hostmap, host, id);
}

/*  Others come into force. */
static void
set_text (const char *text)
{
    lk_facts facts = lockd.state.facts;
    facts.active.settings.version++;
    facts.active.settings.hash[0] = facts.active.settings.version;
    node.status.settings = facts.active.settings;
    node.status.settings_text = (lk_name) {text, (uint16_t) strlen (text)};
    add_effect ((lk_effect) {.type = LK_DO_PERSIST, .facts = facts});
    tick ();
}

static uint8_t
score (lk_host one, lk_host other)
{
    ck_assert_uint_eq (node.places.score[one][other],
                       node.places.score[other][one]);
    return node.places.score[one][other];
}

/*  -------------------------------------------------------- the core */

START_TEST (from_their_own_files)
{
    const lk_host h2 = greet ("h2", 0x22, "au.perth.dc4.rack2");
    const lk_host h3 = greet ("h3", 0x33, "au.sydney.dc1.rack2");
    const lk_host h4 = greet ("h4", 0x44, NULL);
    ck_assert_uint_eq (score (lockd.self, h2), 1);
    ck_assert_uint_eq (score (lockd.self, h3), 3);
    ck_assert_uint_eq (score (h2, h3), 3);
    ck_assert_uint_eq (score (h2, h4), 0);
    ck_assert_uint_eq (score (h2, h2), 0);
}
END_TEST

/*  Many that greet at once are one step. */
START_TEST (once_for_each_wake_up)
{
    const size_t before = node.placed;
    lk_message *one = new_greeting ("h2", 0x22, "au");
    lk_message *other = new_greeting ("h3", 0x33, "nz");
    lk_lockd_service.message (&lockd, one);
    lk_lockd_service.message (&lockd, other);
    ck_assert_uint_eq (node.placed, before);
    settle ();
    ck_assert_uint_eq (node.placed, before + 1);
    tick ();
    ck_assert_uint_eq (node.placed, before + 1);
    lk_message_destroy (&one);
    lk_message_destroy (&other);
}
END_TEST

START_TEST (the_settings_win)
{
    const lk_host h2 = greet ("h2", 0x22, "au.perth.dc4.rack2");
    const lk_host h3 = greet ("h3", 0x33, NULL);
    set_text ("hosts\n    domain = \"h2 nz\"\n    domain = \"h3 au.perth\"\n");
    ck_assert_uint_eq (score (lockd.self, h2), 4);
    ck_assert_uint_eq (score (lockd.self, h3), 2);
    set_text ("hosts\n    domain = \"h3 nz\"\n");
    ck_assert_uint_eq (score (lockd.self, h2), 1);
    ck_assert_uint_eq (score (lockd.self, h3), 4);
}
END_TEST

/*  It is not said any more, or elsewhere; and one that has lost its state file
 *  is another host of that name. */
START_TEST (what_is_said_last_counts)
{
    lk_host h2 = greet ("h2", 0x22, "nz");
    ck_assert_uint_eq (score (lockd.self, h2), 4);
    ck_assert_uint_eq (greet ("h2", 0x22, "au.perth"), h2);
    ck_assert_uint_eq (score (lockd.self, h2), 2);
    ck_assert_uint_eq (greet ("h2", 0x22, NULL), h2);
    ck_assert_uint_eq (score (lockd.self, h2), 0);
    greet ("h2", 0x22, "nz");
    const lk_host again = greet ("h2", 0x222, "au");
    ck_assert_uint_ne (again, h2);
    ck_assert_uint_eq (score (lockd.self, again), 3);
}
END_TEST

/*  Ahead of all levels, but not of one and the same place. */
START_TEST (masks_count_more)
{
    const lk_host h2 = greet ("h2", 0x22, "au.perth.dc4.rack3");
    const lk_host h3 = greet ("h3", 0x33, "au.perth.dc4.rack1");
    const lk_host h4 = greet ("h4", 0x44, "nz.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p");
    set_text ("hosts\n    leader-mask = \"au.perth.dc4.rack1\"\n"
              "    leader-mask = \"au.*\"\n");
    ck_assert_uint_eq (score (lockd.self, h2), 0);
    ck_assert_uint_eq (score (lockd.self, h3), 1 + 16 * 3);
    ck_assert_uint_eq (score (lockd.self, h4), 15 + 16);
}
END_TEST

START_TEST (more_than_a_score_can_tell)
{
#define MASK "    leader-mask = \"*\"\n"
    const lk_host h2 = greet ("h2", 0x22, "nz.1.2.3.4.5.6.7.8.9.a.b.c.d.e.f");
    set_text ("hosts\n" MASK MASK MASK MASK MASK MASK MASK);
    ck_assert_uint_eq (score (lockd.self, h2), 15 + 16 * 14);
}
END_TEST

/*  Its number is another one's, which says nothing. */
START_TEST (who_is_forgotten_is_nowhere)
{
    const lk_host h9 = greet ("h9", 0x99, "nz");
    ck_assert_uint_eq (score (lockd.self, h9), 4);
    node.gone = LK_HOST_BIT (h9);
    ck_assert (lk_lockd_make_room (&lockd, false));
    ck_assert_uint_eq (greet ("h8", 0x88, NULL), h9);
    ck_assert_uint_eq (score (lockd.self, h9), 0);
}
END_TEST

START_TEST (what_is_no_domain)
{
    static const char *const bad[] = {"", "au..perth", "au.*", ".au"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        give (new_greeting ("h2", 0x22, bad[i]));
        ck_assert_uint_eq (node.count, 0);
        ck_assert_uint_eq (lockd.dropped, i + 1);
    }
    lk_message *message = new_greeting ("h2", 0x22, NULL);
    lk_message_set_number (message, "domain", 7);
    give (message);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

/*  -------------------------------------------------------- others */

static const lk_message *
last_sent (const char *command)
{
    for (size_t i = bus.count; i > 0; i--) {
        if (lk_message_is (bus.sent[i - 1], command)) {
            return bus.sent[i - 1];
        }
    }
    return NULL;
}

/*  When that is new; it tells clients. */
START_TEST (the_router_hears_of_it)
{
    greet ("h2", 0x22, "nz");
    const lk_message *keys = last_sent ("CLIENTKEYS");
    ck_assert_str_eq (lk_message_item (keys, "domains", 0),
                      "h1 au.perth.dc4.rack3");
    ck_assert_str_eq (lk_message_item (keys, "domains", 1), "h2 nz");
    ck_assert_uint_eq (lk_message_item_count (keys, "domains"), 2);
    set_text ("hosts\n    domain = \"h3 au\"\n");
    keys = last_sent ("CLIENTKEYS");
    ck_assert_str_eq (lk_message_item (keys, "domains", 0), "h3 au");
    ck_assert_str_eq (lk_message_item (keys, "domains", 1),
                      "h1 au.perth.dc4.rack3");
    ck_assert_str_eq (lk_message_item (keys, "domains", 2), "h2 nz");
    ck_assert_uint_eq (lk_message_item_count (keys, "domains"), 3);
    forget_sent ();
    greet ("h2", 0x22, "nz");
    ck_assert_ptr_null (last_sent ("CLIENTKEYS"));
    greet ("h2", 0x22, "fr");
    keys = last_sent ("CLIENTKEYS");
    ck_assert_str_eq (lk_message_item (keys, "domains", 2), "h2 fr");
}
END_TEST

/*  Of one that the settings have elsewhere both are told. */
START_TEST (members_hear_of_it)
{
    static const struct {
        const char *domain, *told;
    } all[] = {{"au.perth.dc4.rack3", NULL}, {"nz.x", "nz"}, {"fr", NULL}};
    node.status.decree.members = lockd.state.genesis;
    greet ("h2", 0x22, "nz");
    greet ("h3", 0x33, "fr");
    set_text ("hosts\n    domain = \"h2 nz.x\"\n    domain = \"h3 fr\"\n");
    forget_sent ();
    give (new_message ("cli-7@h2", "LOCKMEMBERS", 3));
    const lk_message *list = only_sent ("cli-7@h2", "LOCKMEMBERS");
    for (size_t i = 0; i < 3; i++) {
        lk_message *row = lk_message_row (list, "members", i);
        ck_assert_ptr_nonnull (row);
        check_text (row, "domain", all[i].domain);
        ck_assert (lk_message_has (row, "told_domain")
                   == (all[i].told != NULL));
        if (all[i].told != NULL) {
            check_text (row, "told_domain", all[i].told);
        }
        lk_message_destroy (&row);
    }
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_domains");
    tcase_add_checked_fixture (tests, set_up_placed, tear_down);
    tcase_add_test (tests, from_their_own_files);
    tcase_add_test (tests, once_for_each_wake_up);
    tcase_add_test (tests, the_settings_win);
    tcase_add_test (tests, what_is_said_last_counts);
    tcase_add_test (tests, masks_count_more);
    tcase_add_test (tests, more_than_a_score_can_tell);
    tcase_add_test (tests, who_is_forgotten_is_nowhere);
    tcase_add_test (tests, what_is_no_domain);
    tcase_add_test (tests, the_router_hears_of_it);
    tcase_add_test (tests, members_hear_of_it);

    Suite *suite = suite_create ("lock_domains");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
