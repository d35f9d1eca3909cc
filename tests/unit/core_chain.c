/*  core_chain.c - tables in which sets go on, name by name
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Single operations first: what the queues of a home are is a line of text,
 *  "a: 11! 21 (31)" where 11 is active, 21 waits and 31's turn has not come.
 *  Request 12 is the second of the set that begins with 11.
 */

#include "digest.h"
#include "grant.h"
#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static const lk_decree two_homes = {.term = {.number = 7, .proposer = 0xaa},
                                    .members = 3,
                                    .leader_count = 2,
                                    .leader = {0, 1}};

static lk_table table;
static lk_notices notices;

static char letters[26];

static lk_name
name_of (char letter)
{
    letters[letter - 'a'] = letter;
    return (lk_name) {&letters[letter - 'a'], 1};
}

static const char *
just (char letter)
{
    static char text[2];
    text[0] = letter;
    return text;
}

/*  The home with several of the first letters, and one of the others. */
static char a, b, c, elsewhere;
#define HOME 0

static void
set_up (void)
{
    char *here[] = {&a, &b, &c};
    size_t found = 0;
    lk_table_init (&table);
    lk_table_begin (&table, &two_homes);
    elsewhere = 0;
    for (char letter = 'a'; letter <= 'z'; letter++) {
        if (lk_home_of (&two_homes, name_of (letter)) != HOME) {
            elsewhere = elsewhere ? elsewhere : letter;
        } else if (found < 3) {
            *here[found++] = letter;
        }
    }
    ck_assert (found == 3 && elsewhere);
}

static void
tear_down (void)
{
    lk_notices_clear (&notices);
    lk_table_clear (&table);
}

/*  -------------------------------------------------------- operations */

/*  Sets that begin with an even number are host 2's. */
static lk_request_id
request (uint64_t serial)
{
    return (lk_request_id) {serial / 10 % 2 ? 1 : 2, 1, serial};
}

static void
apply (uint8_t home, const lk_op *op)
{
    uint64_t digest;
    lk_notices_clear (&notices);
    ck_assert (lk_table_apply (&table, home, op, 1000, &notices));
    ck_assert (lk_digest_share (&table, 0, &digest));
    ck_assert (lk_digest_share (&table, 1, &digest));
}

/*  A LOCK of these names, of which `behind` more follow later. */
static void
add (uint64_t serial, const char *names, uint16_t behind)
{
    lk_ticket tickets[8];
    const size_t count = strlen (names);
    for (size_t i = 0; i < count; i++) {
        tickets[i] = (lk_ticket) {.request = request (serial + i),
                                  .object = name_of (names[i]),
                                  .owner = {"app@h1", 6},
                                  .key = 1000 + serial + i,
                                  .rest = (uint16_t) (count - 1 - i + behind)};
    }
    const lk_op op = {.kind = LK_OP_ADD,
                      .by.host = LK_NOBODY,
                      .ticket = tickets[0],
                      .tickets = tickets + 1,
                      .ticket_count = count - 1};
    apply ((uint8_t) lk_home_of (&two_homes, name_of (names[0])), &op);
}

static void
drop (uint64_t serial, char letter)
{
    const lk_op op = {.kind = LK_OP_DROP,
                      .by.host = LK_NOBODY,
                      .ticket.request = request (serial),
                      .ticket.object = name_of (letter)};
    apply ((uint8_t) lk_home_of (&two_homes, name_of (letter)), &op);
}

static const char *
line (char letter)
{
    static char text[256];
    size_t size = 0;
    const lk_queue *queue = lk_table_queue (&table, name_of (letter));
    const lk_entry *entry;
    text[0] = '\0';
    DL_FOREACH (queue ? queue->first : NULL, entry) {
        const bool pending = entry->token == 0 && entry->number == 0;
        size += (size_t) snprintf (
            text + size, sizeof text - size, pending ? "%s(%llu)" : "%s%llu%s",
            size ? " " : "", (unsigned long long) entry->serial,
            entry->token ? "!" : "");
    }
    return text;
}

/*  Whom the last operation lets its home tell LOCKED, in that order. */
static const char *
told (void)
{
    static char text[256];
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < notices.count; i++) {
        if (notices.item[i].kind == LK_NOTICE_LOCKED) {
            size += (size_t) snprintf (
                text + size, sizeof text - size, "%s%llu", size ? " " : "",
                (unsigned long long) notices.item[i].request.serial);
        }
    }
    return text;
}

/*  -------------------------------------------------------- going on */

START_TEST (all_at_once)
{
    const char names[] = {a, b, c, '\0'};
    add (11, names, 0);
    ck_assert_str_eq (told (), "11 12 13");
    const lk_entry *entry = lk_table_find (&table, request (13));
    ck_assert_uint_eq (entry->token, ((uint64_t) 7 << 32) | 1);
    ck_assert_uint_eq (entry->number, entry->token);
    ck_assert_uint_eq (entry->key, 1013);
    ck_assert_uint_eq (table.sequence[HOME], 1);
}
END_TEST

START_TEST (name_by_name)
{
    const char names[] = {a, b, c, '\0'};
    const char last[] = {b, '\0'};
    add (21, names, 0);
    add (31, last, 0);
    add (11, names, 0);
    ck_assert_str_eq (told (), "");
    ck_assert_str_eq (line (a), "21! 11");
    ck_assert_str_eq (line (b), "22! 31 (12)");
    ck_assert_str_eq (line (c), "23! (13)");
    drop (23, c); /* nobody is waiting for it yet */
    ck_assert_str_eq (told (), "");
    drop (21, a);
    ck_assert_str_eq (told (), "11");
    ck_assert_str_eq (line (b), "22! 31 12"); /* behind who came before */
    drop (22, b);
    ck_assert_str_eq (told (), "31");
    drop (31, b);
    ck_assert_str_eq (told (), "12 13");
}
END_TEST

/*  One whose turn has not come is in nobody's way. */
START_TEST (who_comes_later_may_pass)
{
    const char names[] = {a, b, '\0'};
    const char last[] = {b, '\0'};
    const char first[] = {a, '\0'};
    add (21, first, 0);
    add (11, names, 0);
    add (31, last, 0);
    ck_assert_str_eq (told (), "31");
    ck_assert_str_eq (line (b), "31! (12)");
    add (41, last, 0);
    drop (21, a);
    ck_assert_str_eq (line (b), "31! 41 12");
}
END_TEST

START_TEST (two_at_the_same_time)
{
    const char names[] = {a, b, '\0'};
    lk_ticket shared = {.request = request (11),
                        .object = name_of (a),
                        .mode.type = LK_SHARED,
                        .rest = 1};
    lk_ticket rest = {.object = name_of (b), .mode.type = LK_EXCLUSIVE};
    lk_op op = {.kind = LK_OP_ADD,
                .by.host = LK_NOBODY,
                .ticket = shared,
                .tickets = &rest,
                .ticket_count = 1};
    add (21, names, 0);
    apply (HOME, &op);
    op.ticket.request = request (31);
    apply (HOME, &op);
    drop (21, a);
    ck_assert_str_eq (told (), "11 31");
    ck_assert_str_eq (line (b), "22! 12 32");
    drop (22, b);
    ck_assert_str_eq (told (), "12");
    drop (12, b);
    ck_assert_str_eq (told (), "32");
}
END_TEST

/*  -------------------------------------------------------- other homes */

/*  The home of the first has no say in the next one's queue: on other leaders
 *  the two streams come in another order. */
START_TEST (the_next_one_is_elsewhere)
{
    const char names[] = {a, '\0'};
    const char other[] = {elsewhere, '\0'};
    add (11, names, 1);
    drop (11, a);
    lk_table_restore (&table,
                      &(lk_ticket) {.request = request (12),
                                    .object = name_of (elsewhere),
                                    .rest = 1},
                      1000);
    ck_assert_str_eq (line (elsewhere), "(12)");
    add (11, names, 1);
    ck_assert_str_eq (line (a), "11!");
    ck_assert_str_eq (line (elsewhere), "(12)");
    add (12, other, 1); /* its proxy asks there */
    ck_assert_str_eq (line (elsewhere), "12!");
    ck_assert_str_eq (told (), "12");
    lk_table_restore (
        &table, &(lk_ticket) {.request = request (13), .object = name_of (b)},
        1000);
    add (11, names, 2); /* whether 12 is held is not for this stream to see */
    ck_assert_str_eq (line (b), "(13)");
}
END_TEST

/*  After a takeover that has parted the names and another that has joined
 *  them: the first is held, and nothing is going to happen to it. */
START_TEST (it_is_asked_for_again)
{
    const char names[] = {a, b, c, '\0'};
    const char rest[] = {b, c, '\0'};
    add (11, just (a), 2);
    lk_table_restore (&table,
                      &(lk_ticket) {.request = request (12),
                                    .object = name_of (b),
                                    .rest = 1},
                      1000);
    add (21, just (b), 0);
    ck_assert_str_eq (line (b), "21! (12)");
    add (12, rest, 0);
    ck_assert_str_eq (line (b), "21! 12");
    ck_assert_str_eq (line (c), "(13)");
    const uint64_t number = lk_table_find (&table, request (12))->number;
    add (12, rest, 0); /* a repeated one changes nothing */
    ck_assert_str_eq (line (b), "21! 12");
    ck_assert_uint_eq (lk_table_find (&table, request (12))->number, number);
    add (11, names, 0); /* nor one that is said late */
    ck_assert_str_eq (line (b), "21! 12");
    ck_assert_str_eq (line (c), "(13)");
    drop (21, b);
    ck_assert_str_eq (told (), "12 13");
    drop (12, b);
    drop (13, c);
    add (11, names, 0); /* LOCKED was lost: the others go on behind it */
    ck_assert_str_eq (told (), "12 13");
    drop (11, a);
    drop (13, c);
    add (11, names, 0); /* a late one, while all goes back */
    ck_assert_str_eq (told (), "11 13");
}
END_TEST

/*  -------------------------------------------------------- ends */

START_TEST (one_goes_before_its_turn)
{
    const char names[] = {a, b, c, '\0'};
    add (21, just (a), 0);
    add (11, names, 0);
    drop (12, b); /* the first UNLOCK that comes */
    ck_assert_str_eq (line (b), "");
    drop (21, a);
    ck_assert_str_eq (told (), "11");
    ck_assert_str_eq (line (c), "(13)");
    drop (11, a);
    drop (13, c);
    ck_assert_uint_eq (table.count, 0);
    ck_assert_ptr_eq (table.groups, table.idle_group);
}
END_TEST

START_TEST (its_host_is_gone)
{
    const char names[] = {a, b, c, '\0'};
    const lk_op gone = {.kind = LK_OP_GONE,
                        .by.host = LK_NOBODY,
                        .ticket.request = {.host = 2, .session = 1}};
    add (21, names, 0);
    add (41, names, 0);
    add (11, names, 0);
    add (31, just (c), 0);
    ck_assert_str_eq (line (c), "23! 31 (43) (13)");
    apply (HOME, &gone);
    ck_assert_str_eq (line (a), "11!");
    ck_assert_str_eq (line (b), "12!");
    ck_assert_str_eq (line (c), "31! 13");
    drop (31, c);
    ck_assert_str_eq (told (), "13");
}
END_TEST

START_TEST (a_reclaim_is_over)
{
    const char names[] = {a, b, c, '\0'};
    lk_ticket claim = {.request = request (22),
                       .object = name_of (b),
                       .token = 600,
                       .rest = 1};
    const lk_op report = {.kind = LK_OP_REPORT,
                          .by.host = LK_NOBODY,
                          .ticket.request = {.host = 2, .session = 1},
                          .tickets = &claim,
                          .ticket_count = 1};
    const lk_op open = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
    table.reclaim = 1 << HOME;
    add (11, names, 0);
    ck_assert_str_eq (line (a), "11");
    ck_assert_str_eq (line (b), "(12)");
    apply (HOME, &report);
    ck_assert_str_eq (line (b), "22! (12)");
    apply (HOME, &open);
    ck_assert_str_eq (told (), "11");
    ck_assert_str_eq (line (b), "22! 12");
    add (23, just (c), 0); /* the claimed set goes on itself */
    ck_assert_str_eq (told (), "23");
    drop (22, b);
    drop (23, c);
    ck_assert_str_eq (told (), "13");
}
END_TEST

/*  As if a late LOCK had made the first one's ticket again, while the second
 *  was not given back yet: they wait on their own, and both are granted. */
START_TEST (both_at_once)
{
    const lk_op open = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
    lk_ticket waiting = {
        .request = request (11), .object = name_of (a), .number = 7, .rest = 2};
    lk_table_restore (&table, &waiting, 1000);
    waiting.request.serial++;
    waiting.object = name_of (b);
    waiting.rest--;
    lk_table_restore (&table, &waiting, 1000);
    apply (HOME, &open);
    ck_assert_str_eq (told (), "11 12");
    ck_assert_uint_eq (table.going_count, 0);
}
END_TEST

/*  A copy has the same lines, and what is pending stays so. */
START_TEST (it_is_copied)
{
    const char names[] = {a, b, c, '\0'};
    lk_table copy;
    uint64_t digest[2];
    add (21, names, 0);
    add (11, names, 0);
    add (31, just (c), 0);
    lk_table_init (&copy);
    lk_table_begin (&copy, &two_homes);
    for (size_t i = 0; i < table.count; i++) {
        const lk_ticket listed =
            lk_entry_ticket (lk_table_listing (&table, table.count)[i]);
        lk_table_restore (&copy, &listed, 1000);
    }
    ck_assert (lk_digest_share (&table, HOME, &digest[0]));
    ck_assert (lk_digest_share (&copy, HOME, &digest[1]));
    ck_assert_uint_eq (digest[0], digest[1]);
    lk_table_move (&table, &copy);
    ck_assert_str_eq (line (c), "23! 31 (13)");
    drop (21, a);
    ck_assert_str_eq (line (b), "22! 12");
}
END_TEST

/*  A leader that does not go on has another chain at once. */
START_TEST (going_on_is_in_the_chain)
{
    const char names[] = {a, b, '\0'};
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        tear_down ();
        set_up ();
        add (21, names, 0);
        add (11, names, 0);
        if (i == 1) { /* a wrong one */
            lk_table_find (&table, request (11))->rest = 0;
        }
        hash[i] = table.hash[HOME];
        lk_op op = {.kind = LK_OP_DROP,
                    .by.host = LK_NOBODY,
                    .ticket.request = request (21),
                    .ticket.object = name_of (a)};
        lk_table_apply (&table, HOME, &op, 1000, NULL);
        hash[i] ^= table.hash[HOME];
        ck_assert_str_eq (line (b), i == 0 ? "22! 12" : "22! (12)");
    }
    ck_assert_uint_ne (hash[0], hash[1]);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("chain");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, all_at_once);
    tcase_add_test (tests, name_by_name);
    tcase_add_test (tests, who_comes_later_may_pass);
    tcase_add_test (tests, two_at_the_same_time);
    tcase_add_test (tests, the_next_one_is_elsewhere);
    tcase_add_test (tests, it_is_asked_for_again);
    tcase_add_test (tests, one_goes_before_its_turn);
    tcase_add_test (tests, its_host_is_gone);
    tcase_add_test (tests, a_reclaim_is_over);
    tcase_add_test (tests, both_at_once);
    tcase_add_test (tests, it_is_copied);
    tcase_add_test (tests, going_on_is_in_the_chain);
    Suite *suite = suite_create ("core_chain");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
