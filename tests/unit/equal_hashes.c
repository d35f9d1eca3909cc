/*  equal_hashes.c - names whose hashes are equal stay apart
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The linker puts the hash below in place of lk_hash64 (--wrap, see the
 *  Makefile), which finds homes and all that is in a table by its name: here
 *  there is one hash for all of them.
 */

#include "apps.h"
#include "digest.h"
#include "lib/suite.h"
#include "table.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 64

uint64_t __wrap_lk_hash64 (const void *data, size_t size);

uint64_t
__wrap_lk_hash64 (const void *data, size_t size)
{
    (void) data;
    (void) size;
    return 1;
}

static const lk_decree decree = {.term = {.number = 7, .proposer = 0xaa},
                                 .members = 7,
                                 .leader_count = 3,
                                 .leader = {0, 1, 2}};
static char names[NAMES][4];
static lk_table table;
static lk_notices notices;

static lk_name
name_of (size_t i)
{
    memcpy (names[i], (char[]) {'\0', '\0', 'n', (char) i}, 4);
    return (lk_name) {names[i], 4};
}

static lk_request_id
request_of (size_t i)
{
    return (lk_request_id) {0, 1, i + 1};
}

static void
apply (lk_op_kind kind, lk_name object, lk_request_id who)
{
    lk_op op = {.kind = kind, .by.host = LK_NOBODY};
    op.ticket = (lk_ticket) {.request = who, .object = object, .key = 5};
    lk_notices_clear (&notices);
    ck_assert (lk_table_apply (&table, 1, &op, 1000, &notices));
}

static void
set_up (void)
{
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    for (size_t i = 0; i < NAMES; i++) {
        apply (LK_OP_ADD, name_of (i), request_of (i));
    }
}

static void
tear_down (void)
{
    lk_notices_clear (&notices);
    lk_table_clear (&table);
}

static uint64_t
token_of (lk_request_id who)
{
    const lk_entry *entry = lk_table_find (&table, who);
    ck_assert_ptr_nonnull (entry);
    return entry->token;
}

/*  Each name has a queue of its own: its first request is held, its second
 *  waits for that and for no other. */
START_TEST (separate_queues)
{
    for (size_t i = 0; i < NAMES; i++) {
        ck_assert_uint_ne (token_of (request_of (i)), 0);
        ck_assert_ptr_nonnull (lk_table_queue (&table, name_of (i)));
        apply (LK_OP_ADD, name_of (i), request_of (NAMES + i));
        ck_assert_uint_eq (token_of (request_of (NAMES + i)), 0);
    }
    for (size_t i = 0; i < NAMES; i++) {
        apply (LK_OP_DROP, name_of (i), request_of (i));
        for (size_t other = 0; other < NAMES; other++) {
            ck_assert ((token_of (request_of (NAMES + other)) != 0)
                       == (other <= i));
        }
    }
    const lk_name longer = {"\0\0n\0\0", 5};
    ck_assert_ptr_null (lk_table_queue (&table, longer));
}
END_TEST

/*  One home orders them all, since that goes by the hash. */
START_TEST (one_home)
{
    for (size_t i = 0; i < NAMES; i++) {
        ck_assert_uint_eq (lk_table_home (&table, name_of (i)), 1);
    }
}
END_TEST

/*  The same ticket of another name is another ticket, and the digests say so:
 *  operations, tickets, and what a home adds up over its table. */
START_TEST (separate_digests)
{
    lk_op one = {.kind = LK_OP_ADD, .by.host = LK_NOBODY}, other;
    one.ticket = (lk_ticket) {.request = request_of (0), .object = name_of (0)};
    other = one;
    ck_assert_uint_eq (lk_digest_op (9, &one), lk_digest_op (9, &other));
    ck_assert_uint_eq (lk_digest_common (&one.ticket),
                       lk_digest_common (&other.ticket));
    other.ticket.object = name_of (1);
    ck_assert_uint_ne (lk_digest_op (9, &one), lk_digest_op (9, &other));
    ck_assert_uint_ne (lk_digest_common (&one.ticket),
                       lk_digest_common (&other.ticket));
    other = one;
    other.ticket.owner = name_of (1);
    ck_assert_uint_ne (lk_digest_op (9, &one), lk_digest_op (9, &other));
}
END_TEST

/*  The daemon's own tables: applications by address, answers by serial. */
START_TEST (separate_applications)
{
    static const char *const addresses[] = {"a@h1", "b@h1", "a@h10"};
    lk_apps apps;
    lk_apps_init (&apps);
    for (uint32_t i = 0; i < 3; i++) {
        lk_app *app = lk_apps_intern (&apps, addresses[i]);
        ck_assert_uint_eq (app->number, i + 1);
        for (uint64_t serial = 0; serial <= i; serial++) {
            lk_unsent_keep (&app->unsent, &(lk_answer) {.serial = serial});
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        lk_app *app = lk_apps_find (&apps, addresses[i]);
        ck_assert_uint_eq (app->number, i + 1);
        ck_assert_ptr_eq (lk_apps_by_number (&apps, i + 1), app);
        for (uint64_t serial = 0; serial <= i; serial++) {
            ck_assert (lk_unsent_has (app->unsent, serial));
            lk_unsent_sent (&app->unsent, &(lk_answer) {.serial = serial});
        }
        ck_assert_ptr_null (app->unsent);
    }
    lk_apps_clear (&apps);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("equal_hashes");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, separate_queues);
    tcase_add_test (tests, one_home);
    tcase_add_test (tests, separate_digests);
    tcase_add_test (tests, separate_applications);

    Suite *suite = suite_create ("equal_hashes");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
