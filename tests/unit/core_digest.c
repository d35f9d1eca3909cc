/*  core_digest.c - one leader's table is made wrong, and nothing is lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A small cluster without any fault but the one that a test plants. Each host
 *  has locks; then a leader's table is corrupted, and every host has to hear of
 *  it once, of the right leader; its copy is filled anew, and all that was told
 *  LOCKED is in every leader's table.
 */

#include "lib/checked_step.h"
#include "lib/corrupt.h"
#include "lib/small.h"

#include "digest.h"
#include "lib/suite.h"
#include "node_view.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS_MAX 5
#define LOCKS 6 /* of each host */
#define DELAY_MS 10

/*  What its application was told. */
typedef struct {
    uint64_t token[LOCKS + 1]; /* LOCKED with it */
    int failed;
    int lost; /* UNLOCKED with an error */
} app;

static lk_small cluster;
static app apps[HOSTS_MAX];

/*  -------------------------------------------------------- cluster */

static bool
spoil (lk_node *node, lk_corrupt_kind kind, uint8_t home, uint64_t nth)
{
    lk_check_no_more ();
    return lk_corrupt (node, kind, home, nth);
}

static void
hear (app *self, const lk_answer *answer)
{
    if (answer->kind == LK_ANSWER_LOCKED) {
        self->token[answer->serial - 1] = answer->token;
    } else if (answer->kind == LK_ANSWER_FAILED) {
        self->failed++;
    } else if (answer->kind == LK_ANSWER_UNLOCKED) {
        self->lost += answer->error != LK_OK;
    }
}

static void
run (int64_t ms)
{
    lk_small_run (&cluster, ms);
    for (size_t i = 0; i < cluster.told_count; i++) {
        hear (&apps[cluster.told[i].host], &cluster.told[i].answer);
    }
    lk_small_forget (&cluster);
}

static lk_table *
table_of (lk_host leader)
{
    return lk_leader_table (lk_node_leader (cluster.base.node[leader]));
}

static const lk_decree *
leaders (void)
{
    return lk_small_leaders (&cluster);
}

static void
tear_down (void)
{
    lk_small_clear (&cluster);
}

/*  -------------------------------------------------------- locks */

/*  An object of that number, at home at that place; 12 bytes. */
static lk_name
object_at (int home, int number, char text[24])
{
    for (int i = 0;; i++) {
        snprintf (text, 24, "object-%02d-%02d", number, i);
        const lk_name name = {text, 12};
        if (lk_home_of (leaders (), name) == home) {
            return name;
        }
    }
}

static void
ask (lk_host place, uint64_t serial, lk_name object, int64_t wait_ms)
{
    lk_app_request request = lk_small_request (1, serial, "");
    request.object = object;
    request.wait_ms = wait_ms;
    lk_small_ask (&cluster, place, LK_ON_LOCK, &request);
}

/*  So many hosts have locks of every home. */
static void
begin (int count, uint8_t leaders_max, int64_t digest_ms)
{
    char text[24];
    memset (apps, 0, sizeof apps);
    lk_small_init (&cluster, &(lk_small_plan) {.hosts = (size_t) count,
                                               .leaders = leaders_max,
                                               .seed = 1,
                                               .delay_ms = DELAY_MS,
                                               .digest_ms = digest_ms});
    run (8000);
    ck_assert (lk_small_wait_ready (&cluster, 0));
    ck_assert_uint_eq (leaders ()->leader_count,
                       count < leaders_max ? count : leaders_max);
    for (int i = 0; i < LOCKS * count; i++) {
        lk_name object = object_at (i % leaders ()->leader_count, i, text);
        ask ((lk_host) (i % count), (uint64_t) (i / count) + 1, object, -1);
    }
    run (500);
}

static const lk_entry *
entry_of (lk_host leader, lk_host place, uint64_t serial)
{
    lk_table *table = table_of (leader);
    lk_entry *const *listing = lk_table_listing (table, table->count);
    for (size_t i = 0; i < table->count; i++) {
        const lk_entry *entry = listing[i];
        if (lk_entry_request (entry).host == place
            && entry->token == apps[place].token[serial - 1]) {
            return entry;
        }
    }
    return NULL;
}

/*  All of a host's locks are in all leaders' tables, with what was told, and
 *  its applications were told nothing else. */
static void
has_all (lk_host place)
{
    const lk_decree *decree = leaders ();
    ck_assert_int_eq (apps[place].lost, 0);
    for (uint64_t serial = 1; serial <= LOCKS; serial++) {
        ck_assert_uint_ne (apps[place].token[serial - 1], 0);
        for (size_t i = 0; i < decree->leader_count; i++) {
            ck_assert_ptr_nonnull (entry_of (decree->leader[i], place, serial));
        }
    }
}

static void
tables_are_equal (void)
{
    const lk_decree *decree = leaders ();
    for (uint8_t home = 0; home < decree->leader_count; home++) {
        uint64_t first;
        uint64_t other;
        ck_assert (
            lk_digest_share (table_of (decree->leader[0]), home, &first));
        for (size_t i = 1; i < decree->leader_count; i++) {
            lk_node *node = cluster.base.node[decree->leader[i]];
            ck_assert (lk_leader_is_serving (lk_node_leader (node)));
            ck_assert (lk_digest_share (lk_node_table (node), home, &other));
            ck_assert_uint_eq (first, other);
        }
    }
}

/*  Every host was told once, of that leader; nothing is lost. */
static void
all_is_well_but (lk_host wrong, lk_alert_cause cause)
{
    for (lk_host place = 0; place < cluster.base.count; place++) {
        ck_assert_int_eq (cluster.alerts[place], 1);
        ck_assert_uint_eq (cluster.alert[place].host, wrong);
        ck_assert_int_eq (cluster.alert[place].cause, cause);
        ck_assert_uint_ne (cluster.alert[place].hash,
                           cluster.alert[place].expected);
        has_all (place);
    }
    ck_assert (lk_small_wait_ready (&cluster, 0));
    tables_are_equal ();
}

/*  -------------------------------------------------------- no fault */

START_TEST (nothing_is_found_where_nothing_is_wrong)
{
    begin (4, 3, 300);
    uint64_t before = table_of (leaders ()->leader[0])->sequence[0];
    lk_term term = leaders ()->term;
    run (5000);
    ck_assert_uint_gt (table_of (leaders ()->leader[0])->sequence[0],
                       before + 8);
    ck_assert (lk_term_equal (leaders ()->term, term));
    for (lk_host place = 0; place < cluster.base.count; place++) {
        ck_assert_int_eq (cluster.alerts[place], 0);
        has_all (place);
    }
}
END_TEST

/*  -------------------------------------------------------- faults */

/*  Three leaders; all kinds, on the home and on others. */
START_TEST (one_of_three)
{
    lk_corrupt_kind kind = (lk_corrupt_kind) (_i / 3);
    uint8_t place = (uint8_t) (_i % 3);
    begin (5, 3, 1000);
    lk_term term = leaders ()->term;
    lk_host wrong = leaders ()->leader[place];
    ck_assert (spoil (cluster.base.node[wrong], kind, 1, 5));
    run (10000);
    bool by_itself = kind != LK_CORRUPT_SLIP && kind != LK_CORRUPT_CHAIN;
    all_is_well_but (wrong, by_itself ? LK_ALERT_TABLE : LK_ALERT_STREAM);
    ck_assert (!lk_term_equal (leaders ()->term, term));
    ck_assert_uint_eq (leaders ()->leader_count, 3);
}
END_TEST

/*  Two: each knows by itself whether its memory is sound. */
START_TEST (one_of_two)
{
    lk_corrupt_kind kind = (lk_corrupt_kind) (_i / 2);
    begin (2, 3, 1000);
    lk_host wrong = leaders ()->leader[_i % 2];
    ck_assert (spoil (cluster.base.node[wrong], kind, 1, 2));
    run (10000);
    all_is_well_but (wrong, LK_ALERT_TABLE);
}
END_TEST

/*  What an operation did on one side only nobody knows: the home's counts. */
START_TEST (two_that_differ)
{
    begin (2, 3, 1000);
    lk_host other = leaders ()->leader[0];
    ck_assert (spoil (cluster.base.node[other], LK_CORRUPT_SLIP, 1, 2));
    run (10000);
    all_is_well_but (other, LK_ALERT_STREAM);
}
END_TEST

/*  Alone: it drops its table all the same, and asks those who hold. */
START_TEST (the_only_one)
{
    begin (3, 1, 1000);
    lk_host wrong = leaders ()->leader[0];
    ck_assert (spoil (cluster.base.node[wrong], LK_CORRUPT_LOST, 0, 2));
    run (40000);
    all_is_well_but (wrong, LK_ALERT_TABLE);
}
END_TEST

/*  Without digests, too, a home is not believed that does something else than
 *  the others do: what it would grant is held. */
START_TEST (a_second_holder_is_not_told)
{
    char text[24];
    begin (4, 3, -1);
    lk_host wrong = leaders ()->leader[1];
    const lk_table *table = table_of (wrong);
    ck_assert (spoil (cluster.base.node[wrong],
                      _i ? LK_CORRUPT_SLIP : LK_CORRUPT_LOST, 1, 0));
    size_t left = table->count;
    ck_assert_uint_eq (left, LOCKS * 4 - 1);
    for (int i = 1; i < LOCKS * 4; i += 3) { /* all that are at home there */
        lk_name object = object_at (1, i, text);
        ask (2, (uint64_t) i + 100, object, 300);
    }
    ck_assert_int_eq (apps[2].failed, 0);
    run (10000);
    all_is_well_but (wrong, _i ? LK_ALERT_STREAM : LK_ALERT_TABLE);
    ck_assert_int_eq (apps[2].failed, LOCKS * 4 / 3);
}
END_TEST

/*  A table with one lock; `token` is for a memory that is wrong. */
static uint64_t
chain_of_confirm (uint64_t token, bool told)
{
    const lk_decree decree = {.term = {7, 1}, .members = 1, .leader_count = 1};
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    lk_table table;
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    op.ticket = (lk_ticket) {.request = {0, 1, 1},
                             .object = {"object", 6},
                             .owner = {"app@h", 5},
                             .key = 9};
    lk_table_apply (&table, 0, &op, 1000, NULL);
    op.ticket.token =
        told ? lk_table_listing (&table, table.count)[0]->token : 0;
    lk_table_listing (&table, table.count)[0]->token ^= token;
    op.kind = LK_OP_CONFIRM;
    lk_table_apply (&table, 0, &op, 1000, NULL);
    uint64_t hash = table.hash[0];
    lk_table_clear (&table);
    return hash;
}

/*  What is told again is compared. */
START_TEST (a_wrong_token_is_not_confirmed)
{
    ck_assert_uint_eq (chain_of_confirm (0, true), chain_of_confirm (0, true));
    ck_assert_uint_ne (chain_of_confirm (0, true), chain_of_confirm (1, true));
    ck_assert_uint_ne (chain_of_confirm (0, false),
                       chain_of_confirm (1, false));
}
END_TEST

/*  Whoever is sealed looks before it says what it holds. */
START_TEST (a_voter_looks_at_its_table)
{
    begin (3, 3, -1);
    lk_host wrong = leaders ()->leader[_i];
    lk_host other = leaders ()->leader[(_i + 1) % 3];
    lk_lock_message vote = {.kind = LK_MSG_VOTE,
                            .from = other,
                            .to = wrong,
                            .origin = LK_NOBODY,
                            .destination = LK_NOBODY,
                            .term = {leaders ()->term.number + 1, 0xffu}};
    lk_event arrives = {.type = LK_ON_MESSAGE, .message = &vote};
    ck_assert (spoil (cluster.base.node[wrong], LK_CORRUPT_KEY, 0, 3));
    lk_small_step (&cluster, wrong, &arrives);
    ck_assert_uint_eq (
        lk_node_core (cluster.base.node[wrong])->facts.promised.proposer,
        0xffu);
    ck_assert (!lk_table_is_filled (table_of (wrong)));
    run (10000);
    all_is_well_but (wrong, LK_ALERT_TABLE);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("digest");
    tcase_set_timeout (tests, 60);
    tcase_add_checked_fixture (tests, NULL, tear_down);
    tcase_add_test (tests, nothing_is_found_where_nothing_is_wrong);
    tcase_add_loop_test (tests, one_of_three, 0, 3 * LK_CORRUPT_COUNT);
    tcase_add_loop_test (tests, one_of_two, 0, 2 * LK_CORRUPT_SLIP);
    tcase_add_test (tests, two_that_differ);
    tcase_add_test (tests, the_only_one);
    tcase_add_loop_test (tests, a_second_holder_is_not_told, 0, 2);
    tcase_add_test (tests, a_wrong_token_is_not_confirmed);
    tcase_add_loop_test (tests, a_voter_looks_at_its_table, 0, 3);
    Suite *suite = suite_create ("core_digest");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
