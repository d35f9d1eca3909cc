/*  lock_recover.c - a cluster that begins anew, as its lock services hear of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Their state on disk, and that a service which enters a generation or stands
 *  still ends, to begin anew. Relations of generations: generation.c.
 */

#include "lock_fake.h"

#define APP "cli-7@h1"

static lk_host h2, h3;

/*  h1, h2 and h3 are members; h3 is not heard. */
static void
set_up_cluster (void)
{
    set_up ();
    h2 = lk_hostmap_intern (&lockd.hostmap, "h2", 0x22);
    h3 = lk_hostmap_intern (&lockd.hostmap, "h3", 0x33);
    lockd.state.facts.promised = (lk_term) {9, 0x22};
    node.status.sees = LK_HOST_BIT (lockd.self);
    forget_sent ();
}

static void
ask_to (const char *host, const char *cluster)
{
    lk_message *message = new_message (APP, "LOCKRECOVER", 5);
    if (host) {
        lk_message_add_item (message, "hosts", host);
    }
    if (cluster) {
        lk_message_set_text (message, "cluster", cluster);
    }
    give (message);
}

static void
is_refused (const char *part)
{
    const lk_message *failed = only_sent (APP, "LOCKFAILED");
    const char *text = lk_message_text (failed, "text");
    ck_assert_msg (text && strstr (text, part), "%s", text ? text : "?");
    ck_assert_int_eq (bus.stopped, 0);
    forget_sent ();
}

/*  The state that is on the disk. */
static lk_lock_state
read_disk (lk_hostmap *hostmap)
{
    char path[128], text[4096], problem[256];
    lk_lock_state state;
    path_of (path, "lock.state");
    FILE *file = fopen (path, "r");
    ck_assert_ptr_nonnull (file);
    const size_t size = fread (text, 1, sizeof text, file);
    fclose (file);
    lk_hostmap_init (hostmap);
    ck_assert_int_eq (lk_lock_state_decode (text, size, hostmap, &state,
                                            problem, sizeof problem),
                      LK_OK);
    return state;
}

static bool
wishes_to_join (void)
{
    char path[128];
    path_of (path, "join");
    const bool wishes = access (path, F_OK) == 0;
    (void) unlink (path);
    return wishes;
}

/*  -------------------------------------------------------- by hand */

START_TEST (it_says_what_it_would_be)
{
    ask_to ("h2", NULL);
    const lk_message *answer = only_sent (APP, "LOCKRECOVER");
    uint64_t token;
    ck_assert (!lk_message_flag (answer, "begun"));
    ck_assert_int_eq (lk_message_number (answer, "generation", 0), 1);
    ck_assert_str_eq (lk_message_item (answer, "members", 0), "h1");
    ck_assert_str_eq (lk_message_item (answer, "members", 1), "h2");
    ck_assert_str_eq (lk_message_item (answer, "without", 0), "h3");
    ck_assert (lk_message_hex (answer, "token", &token));
    ck_assert_uint_eq (token, (uint64_t) (9 + 65536 + 1) << 32);
    ck_assert_int_eq (bus.stopped, 0);
}
END_TEST

START_TEST (it_is_refused)
{
    node.status.sees |= LK_HOST_BIT (h3);
    ask_to ("h2", "blue");
    is_refused ("host 'h3' is heard");
    node.status.sees = LK_HOST_BIT (lockd.self) | LK_HOST_BIT (h2);
    ask_to ("h2", "blue");
    is_refused ("a majority of the members is there");
    node.status.sees = LK_HOST_BIT (lockd.self);
    ask_to ("h2", "red");
    is_refused ("this host is of cluster 'blue'");
    ask_to ("h9", "blue");
    is_refused ("'h9' is no member");
    ask_to ("h 2", "blue");
    is_refused ("no name of a host");
    lockd.state.facts.promised.number = LK_TERM_NUMBER_MAX;
    ask_to ("h2", "blue");
    is_refused ("no more terms");
}
END_TEST

START_TEST (a_proxy_cannot)
{
    lockd.state.facts.active.members = 0;
    ask_to (NULL, "blue");
    is_refused ("this host is no member");
}
END_TEST

START_TEST (it_begins)
{
    lk_hostmap hostmap;
    ask_to ("h2", "blue");
    ck_assert (lk_message_flag (only_sent (APP, "LOCKRECOVER"), "begun"));
    ck_assert_int_eq (bus.stopped, LK_SERVICE_AGAIN + 1);
    const lk_lock_state state = read_disk (&hostmap);
    ck_assert_uint_eq (state.generation.number, 1);
    ck_assert_uint_eq (state.generation.count, 2);
    ck_assert_uint_eq (state.generation.member[0].former, OWN_ID);
    ck_assert_uint_eq (state.id, state.generation.member[0].id);
    ck_assert_uint_ne (state.id, OWN_ID);
    ck_assert_uint_eq (state.facts.promised.number, 9 + 65536);
    ck_assert_int_eq (__builtin_popcountll (state.facts.active.members), 2);
    ck_assert (!wishes_to_join ());
    const size_t count = node.count;
    give (new_lock ("app-1@h1", 1, "x")); /* nothing is served any more */
    ck_assert_uint_eq (node.count, count);
}
END_TEST

/*  -------------------------------------------------------- by others */

/*  LOCKSTARTED of h2, of the generation that goes on with these. */
static lk_message *
started_of (const lk_generation *generation)
{
    char text[LK_GENERATION_TEXT_SIZE];
    lk_hostmap hostmap = lockd.hostmap;
    const lk_host from = lk_hostmap_intern (&hostmap, "h2", 0x92);
    lk_lock_message started = {.kind = LK_MSG_STARTED,
                               .from = from,
                               .to = lockd.self,
                               .origin = LK_NOBODY,
                               .destination = LK_NOBODY};
    started.as.started.candidate.priority = 8;
    started.as.started.incarnation = 1;
    lk_message *message = lk_lock_encode (&started, &hostmap, from);
    lk_message_set_from (message, "lock@h2");
    lk_message_set_number (message, "protocol", LK_PEERS_PROTOCOL);
    lk_message_set_text (message, "cluster", "blue");
    lk_message_set_number (message, "leader_lease", 2000);
    lk_message_set_number (message, "host_lease", 8000);
    for (size_t i = 0; i < generation->count; i++) {
        lk_message_add_item (message, "genesis", generation->member[i].host);
    }
    lk_generation_write (generation, text);
    lk_message_set_text (message, "generation", text);
    return message;
}

static lk_generation
second (uint64_t former)
{
    return (lk_generation) {
        .number = 1,
        .id = 0xabc,
        .above = 65600,
        .count = 2,
        .member = {{"h1", former, 0x91}, {"h2", 0x22, 0x92}}};
}

START_TEST (who_is_named_follows)
{
    lk_hostmap hostmap;
    const lk_generation generation = second (OWN_ID);
    give (started_of (&generation));
    ck_assert_int_eq (bus.stopped, LK_SERVICE_AGAIN + 1);
    ck_assert_uint_eq (node.count, 0);
    const lk_lock_state state = read_disk (&hostmap);
    ck_assert_uint_eq (state.id, 0x91);
    ck_assert_int_eq (__builtin_popcountll (state.facts.active.members), 2);
    ck_assert (!wishes_to_join ());
}
END_TEST

START_TEST (who_is_sworn_dead_joins)
{
    lk_hostmap hostmap;
    const lk_generation generation = second (0x77);
    give (started_of (&generation));
    ck_assert_int_eq (bus.stopped, LK_SERVICE_AGAIN + 1);
    const lk_lock_state state = read_disk (&hostmap);
    ck_assert_uint_eq (state.generation.number, 1);
    ck_assert_uint_ne (state.id, OWN_ID);
    ck_assert_uint_ne (state.id, 0x91);
    ck_assert_uint_eq (state.facts.active.members, 0);
    ck_assert (wishes_to_join ());
}
END_TEST

START_TEST (a_proxy_does_not_wish_to)
{
    const lk_generation generation = second (0x77);
    lockd.state.facts.active.members = 0;
    give (started_of (&generation));
    ck_assert_int_eq (bus.stopped, LK_SERVICE_AGAIN + 1);
    ck_assert (!wishes_to_join ());
}
END_TEST

/*  It is not read, and hears of ours. */
START_TEST (an_earlier_one_is_told)
{
    const lk_generation generation = second (OWN_ID);
    lockd.peers.charter.generation = second (OWN_ID);
    lockd.peers.charter.generation.number = 2;
    give (started_of (&generation));
    ck_assert_str_eq (lk_message_command (bus.sent[0]), "LOCKSTARTED");
    ck_assert_ptr_nonnull (lk_message_text (bus.sent[0], "generation"));
    ck_assert_int_eq (bus.stopped, 0);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (rivals_stand_still)
{
    lk_hostmap hostmap;
    const lk_generation theirs = second (OWN_ID);
    lockd.state.generation = second (OWN_ID);
    lockd.state.generation.id++;
    lockd.peers.charter.generation = lockd.state.generation;
    lockd.state.facts.active.settings = (lk_settings_id) {4, {0x33, 0x44}};
    give (started_of (&theirs));
    ck_assert_str_eq (lk_message_command (bus.sent[0]), "LOCKSTARTED");
    ck_assert_int_eq (bus.stopped, LK_SERVICE_AGAIN + 1);
    const lk_lock_state state = read_disk (&hostmap);
    ck_assert (state.has_rival);
    ck_assert_uint_eq (state.id, OWN_ID);
    ck_assert_uint_eq (state.facts.active.members, 0);
    ck_assert_uint_eq (state.facts.active.settings.version, 4);
}
END_TEST

/*  It takes nobody, whatever he says, and can be made to go on with whom it has
 *  heard. */
START_TEST (who_stands_still_hears_nobody)
{
    lk_generation ours = second (OWN_ID);
    lk_hostmap hostmap;
    lockd.state.generation = ours;
    lockd.state.has_rival = lockd.peers.stands_still = true;
    lockd.state.facts.active.members = 0;
    lockd.peers.charter.generation = ours;
    lockd.peers.charter.count = 2;
    give (started_of (&ours));
    ck_assert_uint_eq (node.count, 0);
    ck_assert_int_eq (bus.stopped, 0);
    forget_sent ();
    lockd.state.facts.active.settings = (lk_settings_id) {4, {0x33, 0x44}};
    node.status.settings_text = (lk_name) {"# a\n", 4};
    ask_to ("h2", "blue");
    ck_assert_int_eq (bus.stopped, LK_SERVICE_AGAIN + 1);
    const lk_lock_state state = read_disk (&hostmap);
    ck_assert_uint_eq (state.generation.number, 2);
    ck_assert_uint_eq (state.generation.settings.version, 4);
    ck_assert_uint_eq (state.generation.member[1].former, 0x92);
    ck_assert (!state.has_rival);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("recover");
    tcase_add_checked_fixture (tests, set_up_cluster, tear_down);
    tcase_add_test (tests, it_says_what_it_would_be);
    tcase_add_test (tests, it_is_refused);
    tcase_add_test (tests, a_proxy_cannot);
    tcase_add_test (tests, it_begins);
    tcase_add_test (tests, who_is_named_follows);
    tcase_add_test (tests, who_is_sworn_dead_joins);
    tcase_add_test (tests, a_proxy_does_not_wish_to);
    tcase_add_test (tests, an_earlier_one_is_told);
    tcase_add_test (tests, rivals_stand_still);
    tcase_add_test (tests, who_stands_still_hears_nobody);

    Suite *suite = suite_create ("lock_recover");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
