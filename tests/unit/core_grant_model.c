/*  core_grant_model.c - random operations, and the rule as plainly as it goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Every operation goes to a table and to the model (lib/grant_model.h), with
 *  what sets add to it; after it their queues are the same. A second table
 *  gets the streams of the two homes later, in another interleaving and with
 *  nobody to tell anything: at times both have the same digests. Then it may
 *  be thrown away, for one that is filled from the first one's listing.
 */

#include "digest.h"
#include "grant.h"
#include "lib/grant_model.h"
#include "lib/suite.h"
#include "util/rng.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define OBJECTS 6 /* of home 0 and 1 in turn */
#define LIVES 700
#define OPERATIONS 1600 /* of each */
#define CROWDED 36      /* tickets at most; sets may come on top */
#define LATER 64        /* operations that the second table is behind */

static const lk_decree decree = {.term = {.number = 7, .proposer = 0xaa},
                                 .members = 3,
                                 .leader_count = 2,
                                 .leader = {0, 1}};

/*  An assertion of Check writes to a file, even where it holds. */
#define HOLDS(fact)                                                            \
    do {                                                                       \
        if (!(fact)) {                                                         \
            ck_abort_msg ("not so: %s", #fact);                                \
        }                                                                      \
    } while (0)
#define SAME(a, b) HOLDS ((a) == (b))

static lk_rng rng;
static lk_table table;
static lk_table second;
static lk_model plain[OBJECTS];
static lk_model_step plain_step;
static char names[OBJECTS][16];
static uint64_t last_serial;
static size_t crowded; /* tickets in this life: then one is dropped */
static uint64_t done[LK_OP_COUNT];
static uint64_t grants;
static uint64_t grants_at_once[2];

static lk_op later[2][LATER]; /* by home: for the second table */
static size_t later_count[2];

static uint32_t
below (uint32_t limit)
{
    return (uint32_t) lk_rng_between (&rng, 0, (int64_t) limit - 1);
}

static lk_name
name_of (int object)
{
    return (lk_name) {names[object], (uint16_t) strlen (names[object])};
}

static int
object_of (lk_name name)
{
    int object = 0;
    while (memcmp (names[object], name.data, name.size) != 0) {
        object++;
    }
    return object;
}

static uint8_t
home_of (const lk_ticket *t)
{
    return (uint8_t) (object_of (t->object) % 2);
}

static lk_model *
plain_of (const lk_ticket *t)
{
    return &plain[object_of (t->object)];
}

static const lk_ticket *
find_plain (lk_request_id request)
{
    const lk_ticket *t = NULL;
    for (int object = 0; object < OBJECTS && !t; object++) {
        t = lk_model_find (&plain[object], request);
    }
    return t;
}

/*  Objects of both homes in turn. */
static void
find_names (void)
{
    int tried = 0;
    for (int object = 0; object < OBJECTS; object++) {
        do {
            snprintf (names[object], sizeof names[object], "n%03d", tried++);
        } while (lk_home_of (&decree, name_of (object)) != object % 2);
    }
}

/*  -------------------------------------------------------- comparing */

static void
compare_ticket (const lk_ticket *ticket, const lk_ticket *t)
{
    SAME (ticket->request.serial, t->request.serial);
    SAME (ticket->request.session, t->request.session);
    SAME (ticket->number, t->number);
    SAME (ticket->token, t->token);
    SAME (ticket->ordinal, t->ordinal);
    SAME (ticket->turn, t->turn);
    SAME (ticket->upgrade, t->upgrade);
    SAME (ticket->kept, t->kept);
    SAME (ticket->mode.type, t->mode.type);
    SAME (ticket->mode.bound, t->mode.bound);
}

/*  Active ones, then those that wait, then those whose turn has not come. */
static void
compare_queue (const lk_table *self, int object)
{
    const lk_queue *queue = lk_table_queue (self, name_of (object));
    const lk_entry *entry = queue ? queue->first : NULL;
    for (size_t i = 0; i < plain[object].count; i++) {
        HOLDS (entry);
        const lk_ticket ticket = lk_entry_ticket (entry);
        compare_ticket (&ticket, &plain[object].ticket[i]);
        entry = entry->next;
    }
    HOLDS (!entry);
}

/*  Who was granted, and nobody else, is told so. */
static void
compare_tells (const lk_notices *notices)
{
    size_t told = 0;
    for (size_t i = 0; i < notices->count; i++) {
        const lk_notice *notice = &notices->item[i];
        if (notice->kind != LK_NOTICE_LOCKED
            || notice->token != plain_step.stamp) {
            continue;
        }
        const lk_ticket *t = find_plain (notice->request);
        HOLDS (t);
        SAME (notice->token, t->token);
        SAME (notice->ordinal, t->ordinal);
        SAME (notice->turn, t->turn);
        SAME (notice->type, t->mode.type);
        told++;
    }
    SAME (told, plain_step.granted);
    grants += told;
}

static void
compare_tables (void)
{
    for (uint8_t home = 0; home < 2; home++) {
        uint64_t one = 0;
        uint64_t other = 0;
        HOLDS (lk_digest_share (&table, home, &one));
        HOLDS (lk_digest_share (&second, home, &other));
        SAME (one, other);
        SAME (table.hash[home], second.hash[home]);
        SAME (lk_digest_sum (&table, home), lk_digest_sum (&second, home));
    }
}

/*  -------------------------------------------------------- both tables */

static void
catch_up_one (uint8_t home)
{
    lk_op *op = &later[home][0];
    lk_table_apply (&second, home, op, 5000, NULL);
    lk_op_clear (op);
    later_count[home]--;
    memmove (op, op + 1, later_count[home] * sizeof *op);
}

static void
catch_up (void)
{
    while (later_count[0] + later_count[1] > 0) {
        const uint8_t home = (uint8_t) below (2);
        if (later_count[home] > 0) {
            catch_up_one (home);
        }
    }
    compare_tables ();
}

/*  A copy: its tickets by the listing, and what else a leader knows. */
static void
refill (void)
{
    lk_table copy;
    lk_table_init (&copy);
    lk_table_begin (&copy, &decree);
    lk_entry *const *listing = lk_table_listing (&table, table.count);
    for (size_t i = 0; i < table.count; i++) {
        const lk_ticket listed = lk_entry_ticket (listing[i]);
        lk_table_restore (&copy, &listed, 7000);
    }
    copy.reclaim = table.reclaim;
    memcpy (copy.gone, table.gone, sizeof copy.gone);
    memcpy (copy.reported, table.reported, sizeof copy.reported);
    memcpy (copy.reporting, table.reporting, sizeof copy.reporting);
    memcpy (copy.parts, table.parts, sizeof copy.parts);
    memcpy (copy.sequence, table.sequence, sizeof copy.sequence);
    memcpy (copy.hash, table.hash, sizeof copy.hash);
    lk_table_move (&second, &copy);
    for (int object = 0; object < OBJECTS; object++) {
        compare_queue (&second, object);
    }
    compare_tables ();
}

static void
begin (uint8_t home)
{
    const uint64_t sequence = table.sequence[home] + 1;
    plain_step = (lk_model_step) {.stamp = decree.term.number << 32 | sequence};
}

/*  After `begin` and the model. */
static bool
apply (uint8_t home, const lk_op *op)
{
    lk_notices notices = {0};
    const bool fine = lk_table_apply (&table, home, op, 5000, &notices);
    done[op->kind]++;
    compare_tells (&notices);
    lk_notices_clear (&notices);
    for (int object = home; object < OBJECTS; object += 2) {
        compare_queue (&table, object);
    }
    lk_op_copy (&later[home][later_count[home]++], op);
    if (later_count[home] == LATER) {
        catch_up_one (home);
    }
    return fine;
}

/*  -------------------------------------------------------- operations */

static lk_op
about (lk_op_kind kind, const lk_ticket *t)
{
    return (lk_op) {.kind = kind,
                    .by.host = LK_NOBODY,
                    .ticket.request = t->request,
                    .ticket.object = t->object};
}

/*  Sets go on behind whoever was granted, until nothing is left to do. */
static void
go_on (void)
{
    for (size_t i = 0; i < plain_step.count; i++) {
        const lk_ticket *t = find_plain (plain_step.going[i]);
        lk_request_id next = t->request;
        next.serial++;
        const lk_ticket *follower = find_plain (next);
        if (t->rest > 0 && follower && home_of (follower) == home_of (t)) {
            lk_model_enqueue (plain_of (follower), next, &plain_step);
        }
    }
}

/*  All queues of a home, in the order of their names. */
static void
settle_all (int home)
{
    for (int object = home; object < OBJECTS; object += 2) {
        lk_model_settle (&plain[object], &plain_step);
    }
    go_on ();
}

static lk_lock_mode
random_mode (void)
{
    lk_lock_mode mode = {.type = below (LK_LOCK_TYPE_COUNT),
                         .is_static = below (4) == 0};
    if (mode.type == LK_EXCLUSIVE) {
        mode.soft = below (2) == 0;
        mode.quiet_ms = mode.soft && below (2) == 0 ? 100 : 0;
    } else if (mode.type == LK_SEMAPHORE) {
        mode.limit = below (5);
        mode.bound = below (3) == 0 || mode.limit == 0 ? 1 + below (5) : 0;
    }
    return mode;
}

static lk_ticket
random_ticket (int object)
{
    return (lk_ticket) {
        .request = {(lk_host) (5 + below (3)), 1 + below (3), ++last_serial},
        .object = name_of (object),
        .owner = {"app@h1", 6},
        .key = 1000 + last_serial,
        .mode = random_mode ()};
}

/*  Whether it would be granted at once is known ahead. */
static void
add_one (int object)
{
    const uint8_t home = (uint8_t) (object % 2);
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    op.ticket = random_ticket (object);
    const bool at_once = lk_grant_at_once (
        lk_table_queue (&table, op.ticket.object), &op.ticket.mode);
    begin (home);
    lk_model_add (&plain[object], &op.ticket);
    lk_model_enqueue (&plain[object], op.ticket.request, &plain_step);
    go_on ();
    HOLDS (apply (home, &op));
    if (!plain[object].reclaim) {
        SAME (at_once, lk_model_is_active (find_plain (op.ticket.request)));
        grants_at_once[at_once]++;
    }
}

/*  A set whose names have one home; at times its first is there already. */
static void
add_set (int home)
{
    lk_ticket rest[OBJECTS / 2];
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY, .tickets = rest};
    op.ticket = random_ticket (home);
    begin ((uint8_t) home);
    for (int object = home; object < OBJECTS; object += 2) {
        lk_ticket ticket = random_ticket (object);
        ticket.request = op.ticket.request;
        ticket.request.serial += op.ticket_count + (object > home);
        ticket.rest = (uint16_t) ((OBJECTS - 1 - object) / 2);
        lk_model_add (&plain[object], &ticket);
        if (object == home) {
            op.ticket = ticket;
        } else {
            rest[op.ticket_count++] = ticket;
        }
    }
    last_serial += OBJECTS;
    lk_model_enqueue (&plain[home], op.ticket.request, &plain_step);
    go_on ();
    HOLDS (apply ((uint8_t) home, &op));
}

/*  Said again: whose turn had not come is queued. */
static void
add_again (const lk_ticket *t)
{
    const lk_op op = about (LK_OP_ADD, t);
    const uint8_t home = home_of (t);
    begin (home);
    lk_model_enqueue (plain_of (t), op.ticket.request, &plain_step);
    go_on ();
    HOLDS (apply (home, &op));
}

static void
drop (const lk_ticket *t)
{
    const lk_op op = about (LK_OP_DROP, t);
    const uint8_t home = home_of (t);
    lk_model *queue = plain_of (t);
    begin (home);
    lk_model_remove (queue, op.ticket.request);
    lk_model_settle (queue, &plain_step);
    go_on ();
    HOLDS (apply (home, &op));
}

/*  What is kept is no session's. */
static void
remove_gone (lk_model *self, lk_request_id who)
{
    for (size_t i = self->count; i-- > 0;) {
        const lk_ticket *t = &self->ticket[i];
        if (t->request.host == who.host && t->request.session <= who.session
            && !t->kept) {
            lk_model_remove (self, t->request);
        }
    }
}

static void
gone (int home)
{
    lk_op op = {.kind = LK_OP_GONE, .by.host = LK_NOBODY};
    op.ticket.request.host = (lk_host) (5 + below (3));
    op.ticket.request.session = 1 + below (2);
    begin ((uint8_t) home);
    for (int object = home; object < OBJECTS; object += 2) {
        remove_gone (&plain[object], op.ticket.request);
    }
    settle_all (home);
    HOLDS (apply ((uint8_t) home, &op));
}

static void
convert (const lk_ticket *t)
{
    lk_op op = about (LK_OP_CONVERT, t);
    const uint8_t home = home_of (t);
    op.ticket.mode.type = below (12) == 0 ? LK_SEMAPHORE : below (2);
    op.ticket.turn = t->turn + below (3);
    begin (home);
    lk_model_convert (plain_of (t), op.ticket.request, op.ticket.mode.type,
                      op.ticket.turn, &plain_step);
    go_on ();
    HOLDS (apply (home, &op));
}

static void
ripe (const lk_ticket *t)
{
    const lk_op op = about (LK_OP_RIPE, t);
    const uint8_t home = home_of (t);
    begin (home);
    lk_model_ripe (plain_of (t), op.ticket.request, &plain_step);
    go_on ();
    HOLDS (apply (home, &op));
}

static void
keep (const lk_ticket *t)
{
    const lk_op op = about (LK_OP_KEEP, t);
    const uint8_t home = home_of (t);
    begin (home);
    lk_model_keep (plain_of (t), op.ticket.request);
    HOLDS (apply (home, &op));
}

/*  -------------------------------------------------------- reclaims */

/*  One of the first four; NULL: none is there. */
static const lk_ticket *
any_waiting (const lk_model *self)
{
    uint32_t left = below (4);
    for (size_t i = 0; i < self->count; i++) {
        if (lk_model_waits (&self->ticket[i]) && left-- == 0) {
            return &self->ticket[i];
        }
    }
    return NULL;
}

/*  Of somebody who waits, or of somebody new. */
static void
claim (int object)
{
    const uint8_t home = (uint8_t) (object % 2);
    const lk_ticket *t = any_waiting (&plain[object]);
    lk_ticket ticket = random_ticket (object);
    if (t) {
        ticket.request = t->request;
    }
    ticket.token = 100 + last_serial;
    ticket.ordinal = below (9);
    ticket.turn = below (3);
    ticket.kept = ticket.mode.is_static && below (2) == 0;
    ticket.upgrade = below (2) == 0;
    const lk_host host = ticket.request.host;
    lk_op op = {.kind = LK_OP_REPORT,
                .by.host = LK_NOBODY,
                .ticket.request = ticket.request,
                .more = true,
                .tickets = &ticket,
                .ticket_count = 1};
    if (table.reporting[home][host] == ticket.request.session) {
        op.part = table.parts[home][host];
    }
    begin (home);
    const bool fine = lk_model_claim (&plain[object], &ticket);
    SAME (apply (home, &op), fine);
}

static void
open_home (int home)
{
    const lk_op op = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
    begin ((uint8_t) home);
    for (int object = home; object < OBJECTS; object += 2) {
        plain[object].reclaim = false;
    }
    settle_all (home);
    HOLDS (apply ((uint8_t) home, &op));
}

/*  -------------------------------------------------------- a life */

static const lk_ticket *
anybody (void)
{
    const lk_ticket *found[OBJECTS * LK_MODEL_MAX];
    uint32_t count = 0;
    for (int object = 0; object < OBJECTS; object++) {
        for (size_t i = 0; i < plain[object].count; i++) {
            found[count++] = &plain[object].ticket[i];
        }
    }
    return count > 0 ? found[below (count)] : NULL;
}

static void
change (const lk_ticket *t, uint32_t what)
{
    if (what < 50) {
        drop (t);
    } else if (what < 75) {
        convert (t);
    } else if (what < 85) {
        ripe (t);
    } else if (what < 90) {
        add_again (t);
    } else {
        keep (t);
    }
}

static void
do_something (void)
{
    const uint32_t what = table.count < crowded ? below (200) : 199;
    const int object = (int) below (OBJECTS);
    const lk_ticket *t = anybody ();
    if (plain[object].reclaim && what < 66) {
        claim (object);
    } else if (what < 4) {
        gone (object % 2);
    } else if (what < 12) {
        add_set (object % 2);
    } else if (what < 90 || !t) {
        add_one (object);
    } else {
        change (t, what < 199 ? below (100) : 0);
    }
}

static void
live (bool with_reclaim)
{
    memset (plain, 0, sizeof plain);
    crowded = 4 + below (CROWDED - 4);
    lk_table_init (&table);
    lk_table_init (&second);
    lk_table_begin (&table, &decree);
    lk_table_begin (&second, &decree);
    if (with_reclaim) {
        table.reclaim = second.reclaim = 3;
        for (int object = 0; object < OBJECTS; object++) {
            plain[object].reclaim = true;
        }
    }
    for (int i = 0; i < OPERATIONS; i++) {
        do_something ();
        for (int home = 0; home < 2; home++) {
            if (plain[home].reclaim && below (100) == 0) {
                open_home (home);
            }
        }
        if (below (100) == 0) {
            catch_up ();
            if (below (2) == 0) {
                refill ();
            }
        }
    }
    catch_up ();
    lk_table_clear (&table);
    lk_table_clear (&second);
}

START_TEST (a_million_operations)
{
    lk_rng_init (&rng, 20261120);
    find_names ();
    for (int i = 0; i < LIVES; i++) {
        live (i % 3 == 0);
    }
    uint64_t all = 0;
    for (int kind = 0; kind < LK_OP_COUNT; kind++) {
        all += done[kind];
    }
    printf ("# %llu operations, %llu grants\n", (unsigned long long) all,
            (unsigned long long) grants);
    ck_assert_uint_ge (all, 1000000);
    ck_assert_uint_ge (done[LK_OP_CONVERT], 50000);
    ck_assert_uint_ge (done[LK_OP_RIPE], 20000);
    ck_assert_uint_ge (done[LK_OP_KEEP], 20000);
    ck_assert_uint_ge (done[LK_OP_GONE], 10000);
    ck_assert_uint_ge (done[LK_OP_REPORT], 5000);
    ck_assert_uint_ge (grants_at_once[0], 100000);
    ck_assert_uint_ge (grants_at_once[1], 50000);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_grant_model");
    TCase *tests = tcase_create ("model");
    tcase_set_timeout (tests, 300);
    tcase_add_test (tests, a_million_operations);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
