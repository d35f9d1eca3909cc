/*  core_settings.c - the cluster's settings, in decrees and on disks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is asked to change them, and proposes; then it hears of decrees whose
 *  text it does not have; then it starts without its own. The others are played
 *  by the test. lockkeeper-protocol(7), 9.17.
 */

#include "changing.h"

static const lk_name first = {"first", 5};
static const lk_name second = {"second", 6};

/*  -------------------------------------------------------- a change */

static void
edit (lk_settings_id base, lk_name text)
{
    const lk_event event = {.type = LK_ON_CHANGE,
                            .now_ms = now_ms,
                            .host = LK_NOBODY,
                            .settings = text,
                            .base = base};
    step (&event);
    go_on ();
}

static lk_settings_id
settings_now (void)
{
    return lk_node_core (node)->in_force.settings;
}

static bool
has (lk_settings_id id, lk_name text)
{
    const lk_node_status status = node_status ();
    return lk_settings_id_equal (status.settings, id)
           && status.settings_text.size == text.size
           && memcmp (status.settings_text.data, text.data, text.size) == 0;
}

START_TEST (takes_one_election)
{
    const lk_settings_id wanted = lk_test_settings_id (1, first);
    edit ((lk_settings_id) {0}, first);
    pass (1000);
    then ("ok: done\n");
    ck_assert_int_eq (in_force, 1);
    ck_assert_uint_eq (made[1], 0xf);
    ck_assert (lk_settings_id_equal (settings_now (), wanted));
    ck_assert (has (wanted, first));
}
END_TEST

/*  Its look at what is to be done comes in the step in which they come into
 *  force. */
START_TEST (takes_no_second_election)
{
    edit ((lk_settings_id) {0}, first);
    pass (1000);
    then ("ok: done\n");
    ck_assert_int_eq (in_force, 1);
}
END_TEST

/*  There are ten seconds between two. */
START_TEST (takes_the_next_one_later)
{
    const lk_settings_id before = lk_test_settings_id (1, first);
    edit ((lk_settings_id) {0}, first);
    pass (1000);
    then ("ok: done\n");
    edit (before, second);
    pass (8000);
    then ("");
    ck_assert (lk_settings_id_equal (settings_now (), before));
    pass (3000);
    then ("ok: done\n");
    ck_assert (has (lk_test_settings_id (2, second), second));
}
END_TEST

/*  What it was told, asked for again. */
START_TEST (is_so_already)
{
    edit ((lk_settings_id) {0}, first);
    pass (1000);
    then ("ok: done\n");
    edit ((lk_settings_id) {0}, first);
    then ("ok: is so already\n");
}
END_TEST

START_TEST (is_outdated)
{
    edit ((lk_settings_id) {0}, first);
    pass (1000);
    then ("ok: done\n");
    edit ((lk_settings_id) {0}, second);
    then ("outdated: the settings were changed meanwhile: they are not those "
          "that were edited\n");
    edit (lk_test_settings_id (1, second), second);
    then ("outdated: the settings were changed meanwhile: they are not those "
          "that were edited\n");
}
END_TEST

START_TEST (one_change_at_a_time)
{
    voters[0] = 0;
    edit ((lk_settings_id) {0}, first);
    change (true, NEW);
    then ("overloaded: another change is under way\n");
}
END_TEST

/*  q have it, but one of the leaders does not acknowledge. */
START_TEST (needs_all_leaders)
{
    markers[0] = ALL & ~BIT (3);
    edit ((lk_settings_id) {0}, first);
    pass (1000);
    then ("");
    ck_assert_int_eq (in_force, 0);
    ck_assert_uint_eq (asked[LK_MSG_ACTIVE] & BIT (3), BIT (3));
}
END_TEST

/*  The others follow one that was changed meanwhile: its settings stay, and it
 *  is not changed from something else. */
START_TEST (keeps_those_of_d)
{
    const lk_decree other = {
        .term = {8, 0xa1}, .members = 0xf, .settings = {.version = 1}};
    lk_plant (node).change->wish = LK_WISH_SETTINGS;
    lk_settings_set (&lk_plant (node).change->text,
                     lk_test_settings_id (1, first), first);
    ck_assert_uint_eq (
        lk_change_settings (lk_node_election (node), &other).hash[0], 0);
    const lk_decree same = {.term = {8, 0xa1}, .members = 0xf};
    ck_assert (lk_settings_id_equal (
        lk_change_settings (lk_node_election (node), &same),
        lk_test_settings_id (1, first)));
    lk_settings_unset (&lk_plant (node).change->text);
    lk_plant (node).change->wish = LK_WISH_NONE;
}
END_TEST

/*  -------------------------------------------------------- a decree */

/*  Of term 8, by host 1. */
static lk_decree
later (void)
{
    lk_decree decree = {.term = term_of (8, 1),
                        .members = 0xf,
                        .leader_count = 3,
                        .leader = {1, 2, 3},
                        .settings = lk_test_settings_id (1, first)};
    return decree;
}

static void
give_text (lk_host from, lk_settings_id id, lk_name text)
{
    lk_lock_message message = message_of (LK_MSG_SETTINGS, term_of (8, 1));
    message.as.settings = (lk_msg_settings) {.id = id, .text = text};
    give (from, &message);
}

/*  In that order. */
static bool
does (lk_effect_type one, lk_effect_type other)
{
    size_t i = 0;
    while (i < effects.count && effects.item[i].type != one) {
        i++;
    }
    while (i < effects.count && effects.item[i].type != other) {
        i++;
    }
    return i < effects.count;
}

static bool
is_taken (void)
{
    return lk_node_core (node)->facts.active.term.number == 8;
}

START_TEST (waits_for_its_text)
{
    const lk_decree decree = later ();
    give_decree (1, LK_MSG_ACTIVE, &decree);
    const lk_lock_message *question = sent (LK_MSG_WANTING, 1);
    ck_assert_ptr_nonnull (question);
    ck_assert (
        lk_settings_id_equal (question->as.settings.id, decree.settings));
    ck_assert_ptr_null (sent (LK_MSG_ACTIVATED, 1));
    ck_assert (!is_taken ());
    give_text (2, decree.settings, first);
    ck_assert (is_taken ());
    ck_assert (does (LK_DO_KEEP, LK_DO_PERSIST));
    ck_assert_ptr_nonnull (sent (LK_MSG_ACTIVATED, 1));
    ck_assert (has (decree.settings, first));
}
END_TEST

START_TEST (takes_no_other_text)
{
    const lk_decree decree = later ();
    give_decree (1, LK_MSG_ACTIVE, &decree);
    give_text (1, decree.settings, second);
    give_text (1, lk_test_settings_id (1, second), second);
    ck_assert (!is_taken ());
    ck_assert (!does (LK_DO_KEEP, LK_DO_KEEP));
}
END_TEST

/*  It does not know that it wants any. */
START_TEST (takes_no_text_unasked)
{
    give_text (1, later ().settings, first);
    ck_assert (!does (LK_DO_KEEP, LK_DO_KEEP));
}
END_TEST

/*  Who told of it first does not answer. */
START_TEST (asks_again)
{
    const lk_decree decree = later ();
    give_decree (1, LK_MSG_ACTIVE, &decree);
    wait_ms (100);
    give_decree (1, LK_MSG_ACTIVE, &decree);
    ck_assert_ptr_null (sent (LK_MSG_WANTING, 1));
    wait_ms (300);
    give_decree (2, LK_MSG_READY, &decree);
    ck_assert_ptr_nonnull (sent (LK_MSG_WANTING, 2));
    give_text (2, decree.settings, first);
    ck_assert_ptr_nonnull (sent (LK_MSG_ACTIVATED, 1));
}
END_TEST

START_TEST (gives_its_text)
{
    lk_lock_message question = message_of (LK_MSG_WANTING, term_of (8, 1));
    const lk_decree decree = later ();
    question.as.settings.id = decree.settings;
    give (2, &question);
    ck_assert_ptr_null (sent (LK_MSG_SETTINGS, 2));
    give_decree (1, LK_MSG_ACTIVE, &decree);
    give_text (1, decree.settings, first);
    give (2, &question);
    const lk_lock_message *answer = sent (LK_MSG_SETTINGS, 2);
    ck_assert_ptr_nonnull (answer);
    ck_assert_uint_eq (answer->as.settings.text.size, first.size);
}
END_TEST

static const lk_term in_vain[] = {{9, 0xa3}, {8, 0xa2}, {8, 0xa0}};

/*  A vote that came to nothing; then it hears of term 8, then that this is in
 *  force. */
static void
promise_in_vain (lk_term promised, const lk_decree *decree)
{
    four ();
    give_plain (3, LK_MSG_VOTE, promised);
    give_decree (1, LK_MSG_SITTING, decree);
    ck_assert_ptr_null (sent (LK_MSG_WANTING, 1));
    give_decree (1, LK_MSG_READY, decree);
    give_decree (1, LK_MSG_READY, decree);
}

/*  Else it would have the former settings until a term goes beyond that. */
START_TEST (a_promise_keeps_none_from_who_is_removed)
{
    lk_decree decree = later ();
    decree.members &= ~BIT (0);
    for (size_t i = 0; i < sizeof in_vain / sizeof in_vain[0]; i++) {
        promise_in_vain (in_vain[i], &decree);
        ck_assert_ptr_nonnull (sent (LK_MSG_WANTING, 1));
        give_text (1, decree.settings, first);
        ck_assert (is_taken ());
        ck_assert (has (decree.settings, first));
        ck_assert (
            lk_term_equal (lk_node_core (node)->facts.promised, in_vain[i]));
    }
}
END_TEST

START_TEST (a_promise_keeps_them_from_a_member)
{
    const lk_decree decree = later ();
    for (size_t i = 0; i < sizeof in_vain / sizeof in_vain[0]; i++) {
        promise_in_vain (in_vain[i], &decree);
        ck_assert_ptr_null (sent (LK_MSG_WANTING, 1));
        give_text (1, decree.settings, first);
        ck_assert (!is_taken ());
    }
}
END_TEST

/*  -------------------------------------------------------- a damaged disk */

static void
lacking (void)
{
    const lk_decree decree = later ();
    settings = (lk_name) {0};
    start_with (decree.term, &decree);
    others = 0xe;
    forget ();
}

static void
knowing (void)
{
    const lk_decree decree = later ();
    settings = first;
    start_with (decree.term, &decree);
    settings = (lk_name) {0};
    others = 0xe;
    forget ();
}

static void
give_ping (lk_host from, bool lacks)
{
    now_ms++;
    lk_lock_message ping = ping_of (from, 0xf);
    ping.as.ping.lacks = lacks;
    give (from, &ping);
}

START_TEST (says_that_it_lacks_it)
{
    wait_ms (300);
    ck_assert (sent (LK_MSG_PING, 1) == NULL
               || sent (LK_MSG_PING, 1)->as.ping.lacks);
    ck_assert_ptr_null (node_status ().settings_text.data);
    give_ping (2, true);
    ck_assert_ptr_null (sent (LK_MSG_WANTING, 2));
    give_ping (1, false);
    ck_assert_ptr_nonnull (sent (LK_MSG_WANTING, 1));
    give_text (1, later ().settings, first);
    ck_assert (has (later ().settings, first));
    wait_ms (300);
    ck_assert_ptr_nonnull (sent (LK_MSG_PING, 1));
    ck_assert (!sent (LK_MSG_PING, 1)->as.ping.lacks);
}
END_TEST

START_TEST (follows_without_it)
{
    lk_decree next = later ();
    next.term = term_of (9, 1);
    give_decree (1, LK_MSG_ACTIVE, &next);
    ck_assert_ptr_nonnull (sent (LK_MSG_ACTIVATED, 1));
}
END_TEST

START_TEST (has_it_from_its_disk)
{
    ck_assert (has (later ().settings, first));
    wait_ms (300);
    give_ping (1, false);
    ck_assert_ptr_null (sent (LK_MSG_WANTING, 1));
}
END_TEST

/*  -------------------------------------------------------- others */

/*  Members that are heard and have others, or lack them. */
START_TEST (sees_who_is_behind)
{
    const lk_decree decree = later ();
    give_decree (1, LK_MSG_READY, &decree);
    give_ping (1, false);
    give_ping (2, true);
    now_ms++;
    lk_lock_message ping = ping_of (3, 0xf);
    ping.as.ping.active.settings.version = 7;
    ping.as.ping.active.term = term_of (7, 1);
    give (3, &ping);
    ck_assert_uint_eq (node_status ().behind, BIT (2) | BIT (3));
    ck_assert (!lk_peer_is_estranged (lk_node_core (node), 2));
    wait_ms (60000);
    ping.as.ping.at = now_ms;
    give (3, &ping);
    ck_assert (lk_peer_is_estranged (lk_node_core (node), 3));
    give_ping (3, false);
    ck_assert (!lk_peer_is_estranged (lk_node_core (node), 3));
}
END_TEST

/*  Maybe no host has the text. */
START_TEST (forgives_who_lacks_the_text)
{
    const lk_decree decree = later ();
    give_decree (1, LK_MSG_READY, &decree);
    give_ping (2, true);
    wait_ms (60000);
    give_ping (2, true);
    ck_assert_uint_eq (node_status ().behind, BIT (2));
    ck_assert (!lk_peer_is_estranged (lk_node_core (node), 2));
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_settings");
    ADD_CASE (suite, four, takes_one_election, takes_the_next_one_later,
              is_so_already, is_outdated, one_change_at_a_time,
              needs_all_leaders, keeps_those_of_d, waits_for_its_text,
              takes_no_other_text, takes_no_text_unasked, asks_again,
              gives_its_text, a_promise_keeps_none_from_who_is_removed,
              a_promise_keeps_them_from_a_member);
    ADD_CASE (suite, leading, takes_no_second_election);
    ADD_CASE (suite, lacking, says_that_it_lacks_it, follows_without_it);
    ADD_CASE (suite, knowing, has_it_from_its_disk, sees_who_is_behind,
              forgives_who_lacks_the_text);
    return run_suite (suite);
}
