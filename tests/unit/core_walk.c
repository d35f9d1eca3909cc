/*  core_walk.c - a table is walked through, and asked for its holders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "grant_fake.h"

#include "holders.h"
#include "lib/suite.h"
#include "util/rng.h"
#include "walk.h"

#define STAY 900
#define OTHERS 3000
#define PAGE 17

static int seen[STAY];

/*  Its own name; those that stay have the first serials. */
static void
put_in (const char *zone, lk_op_kind kind, uint64_t serial)
{
    char name[32];
    lk_op op = operation (kind, serial);
    const int size = snprintf (name, sizeof name, "%s%c%cn%u", zone, 0, 0,
                               (unsigned) serial);
    op.ticket.object = (lk_name) {name, (uint16_t) size};
    op.ticket.owner = (lk_name) {"app@h1", 6};
    lk_notices_clear (&notices);
    ck_assert (lk_table_apply (&table, 0, &op, now_ms, &notices));
}

static void
put_one (lk_op_kind kind, uint64_t serial)
{
    put_in ("", kind, serial);
}

/*  Between two pages others come, or go, so that the table grows and shrinks by
 *  several times. */
START_TEST (what_stays_comes_once)
{
    size_t cursor = 0, here = 0;
    const bool grows = _i == 0;
    const lk_entry *entry;
    for (uint64_t serial = 0; serial < STAY; serial++) {
        put_one (LK_OP_ADD, serial + 1);
    }
    for (uint64_t i = 0; !grows && i < OTHERS; i++) {
        put_one (LK_OP_ADD, STAY + 1 + i);
    }
    memset (seen, 0, sizeof seen);
    for (size_t count = 0; (entry = lk_walk_next (&table, NULL, &cursor));
         count++) {
        ck_assert_uint_lt (cursor, UINT64_C (1) << 53);
        if (entry->serial <= STAY) {
            seen[entry->serial - 1]++;
        }
        for (int i = 0; count % PAGE == 0 && i < 60 && here < OTHERS; i++) {
            put_one (grows ? LK_OP_ADD : LK_OP_DROP, STAY + 1 + here++);
        }
    }
    ck_assert_uint_gt (here, OTHERS / 2);
    for (size_t i = 0; i < STAY; i++) {
        ck_assert_int_eq (seen[i], 1);
    }
}
END_TEST

START_TEST (all_of_one_name)
{
    size_t cursor = 0;
    for (uint64_t serial = 1; serial <= 300; serial++) {
        add (serial, SHARED);
    }
    for (uint64_t serial = 1; serial <= 300; serial++) {
        if (serial == 100 || serial == 200) {
            add (serial + 1000, EXCLUSIVE); /* behind them */
        }
        const lk_entry *entry = lk_walk_next (&table, NULL, &cursor);
        ck_assert_uint_eq (entry->serial, serial);
    }
    ck_assert_uint_eq (lk_walk_next (&table, NULL, &cursor)->serial, 1100);
    ck_assert_uint_eq (lk_walk_next (&table, NULL, &cursor)->serial, 1200);
    ck_assert_ptr_null (lk_walk_next (&table, NULL, &cursor));
    ck_assert_ptr_null (lk_walk_next (&table, NULL, &cursor));
}
END_TEST

/*  -------------------------------------------------------- of a zone */

#define RED 900

/*  The cursors of all of zone red, whose tickets come once. */
static void
walk_red (size_t cursors[RED], bool is_busy)
{
    const lk_zoned *red = lk_zoned_find (&table, "red", 3);
    size_t cursor = 0, here = 0;
    const lk_entry *entry;
    memset (seen, 0, sizeof seen);
    for (size_t count = 0; (entry = lk_walk_next (&table, red, &cursor));
         count++) {
        ck_assert_uint_le (entry->serial, RED);
        ck_assert_uint_lt (cursor, UINT64_C (1) << 53);
        ck_assert_int_eq (seen[entry->serial - 1]++, 0);
        cursors[count] = cursor;
        for (int i = 0; is_busy && count % PAGE == 0 && i < 50; i++) {
            put_in ("blue", LK_OP_DROP, RED + 1 + here++);
        }
    }
    for (size_t i = 0; i < RED; i++) {
        ck_assert_int_eq (seen[i], 1);
    }
}

/*  No cursor of a zone shows anything that others have, and do. */
START_TEST (zone_is_walked_alone)
{
    static size_t alone[RED], beside[RED];
    for (uint64_t serial = 1; serial <= RED; serial++) {
        put_in ("red", LK_OP_ADD, serial);
    }
    walk_red (alone, false);
    tear_down ();
    set_up ();
    for (uint64_t serial = 1; serial <= RED; serial++) {
        put_in ("red", LK_OP_ADD, serial);
        for (uint64_t i = 0; i < 4; i++) {
            put_in ("blue", LK_OP_ADD, RED + serial + i * RED);
        }
        put_one (LK_OP_ADD, RED * 5 + serial);
    }
    lk_table_check (&table, true);
    walk_red (beside, true);
    ck_assert_mem_eq (alone, beside, sizeof alone);
    lk_table_check (&table, true);
    for (uint64_t serial = 1; serial <= RED; serial++) {
        put_in ("red", LK_OP_DROP, serial);
    }
    lk_table_check (&table, true);
}
END_TEST

/*  A walk does not go by the memory of another one. */
START_TEST (two_walks_at_once)
{
    lk_op op = operation (LK_OP_ADD, 1);
    size_t cursor = 0, other;
    op.ticket.object = (lk_name) {"red\0\0x", 6};
    op.ticket.owner = (lk_name) {"app@h1", 6};
    apply (&op);
    op.ticket.request = request (2);
    apply (&op);
    const lk_zoned *red = lk_zoned_find (&table, "red", 3);
    const lk_entry *holder = lk_walk_next (&table, red, &cursor);
    other = cursor;
    ck_assert_ptr_ne (lk_walk_next (&table, NULL, &other), holder->next);
    ck_assert_ptr_eq (lk_walk_next (&table, red, &cursor), holder->next);
    ck_assert_ptr_null (lk_walk_next (&table, red, &cursor));
}
END_TEST

/*  -------------------------------------------------------- holders */

static lk_queue *
queue_of_all (void)
{
    return lk_table_queue (&table, object);
}

/*  As all of them say, one by one. */
static void
check_holders (void)
{
    lk_queue *queue = queue_of_all ();
    uint64_t newest = 0;
    for (lk_entry *entry = queue->first; entry; entry = entry->next) {
        const bool holds = entry->token != 0;
        newest = newest < entry->token ? entry->token : newest;
        ck_assert_ptr_eq (lk_holder_by_key (queue, entry->key),
                          holds ? entry : NULL);
        if (holds) {
            const lk_entry *found = lk_holder_by_token (queue, entry->token);
            ck_assert_uint_eq (found->token, entry->token);
            ck_assert_uint_ge (lk_holders_with (queue, entry->token), 1);
        }
    }
    ck_assert_uint_eq (lk_holders_newest (queue), newest);
    ck_assert_ptr_null (lk_holder_by_key (queue, 1));
    ck_assert_ptr_null (lk_holder_by_token (queue, 1));
    ck_assert_uint_eq (lk_holders_with (queue, 1), 0);
}

START_TEST (holders_come_and_go)
{
    lk_rng rng;
    bool there[60] = {false};
    lk_rng_init (&rng, 1 + (uint64_t) _i);
    add (100, SHARED);
    check_holders ();
    for (int i = 0; i < 600; i++) {
        const uint64_t serial = (uint64_t) lk_rng_between (&rng, 0, 59);
        const bool alone = lk_rng_between (&rng, 0, 3) == 0;
        if (there[serial]) {
            drop (serial + 1);
        } else {
            add (serial + 1, alone ? SOFT : SHARED);
        }
        there[serial] = !there[serial];
        check_holders ();
    }
}
END_TEST

/*  Who waits behind one that went, before there is an operation for it. */
START_TEST (nobody_holds_it)
{
    add (1, QUIET);
    add (2, QUIET);
    check_holders ();
    ck_assert_uint_eq (lk_holders_newest (queue_of_all ()), 0);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("walk");
    TCase *walk = tcase_create ("walk");
    tcase_add_checked_fixture (walk, set_up, tear_down);
    tcase_add_loop_test (walk, what_stays_comes_once, 0, 2);
    tcase_add_test (walk, all_of_one_name);
    tcase_add_test (walk, zone_is_walked_alone);
    tcase_add_test (walk, two_walks_at_once);
    tcase_add_loop_test (walk, holders_come_and_go, 0, 5);
    tcase_add_test (walk, nobody_holds_it);
    suite_add_tcase (suite, walk);
    return lk_suite_run (suite);
}
