/*  lock_sizes.c - messages between lock services: copies and sizes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "codec_fake.h"

#include "lib/suite.h"
#include "wire/message_frame.h"

#include <lockkeeper/lockkeeper.h>

/*  -------------------------------------------------------- copies, sizes */

/*  Names of nothing but what JSON escapes, each other field at its longest. */
static lk_ticket
large_ticket (size_t name_size)
{
    static char name[LK_NAME_SIZE_MAX];
    memset (name, '\x01', sizeof name);
    name[255] = name[511] = '\0';
    return (lk_ticket) {.request = {H1, COUNT_MAX, UINT64_MAX},
                        .object = {name, (uint16_t) (512 + name_size)},
                        .owner = {name, 127},
                        .pid = UINT32_MAX,
                        .duration_ms = COUNT_MAX,
                        .age_ms = COUNT_MAX,
                        .ordinal = UINT32_MAX};
}

/*  What only other locks than plain exclusive ones have, at its longest. */
static const lk_lock_mode large_mode = {.type = LK_SEMAPHORE,
                                        .soft = true,
                                        .quiet_ms = LK_QUIET_MAX_MS,
                                        .limit = LK_LIMIT_MAX,
                                        .bound = LK_LIMIT_MAX,
                                        .lenient = true,
                                        .is_static = true};

/*  Likewise, and a name that is no text. */
static lk_ticket
large_kind (size_t name_size)
{
    static char name[LK_NAME_SIZE_MAX];
    lk_ticket ticket = large_ticket (name_size);
    memcpy (name, ticket.object.data, ticket.object.size);
    memset (name + 512, '\xff', name_size);
    ticket.object.data = name;
    ticket.mode = large_mode;
    ticket.turn = UINT32_MAX;
    ticket.upgrade = ticket.kept = true;
    ticket.rest = LK_SET_MAX - 1;
    return ticket;
}

static void
fits (const lk_lock_message *message)
{
    lk_message *bus = lk_lock_encode (message, &hostmap, H1);
    lk_bytes frame = {0};
    lk_message_set_from (bus, "lock@h1");
    ck_assert_int_eq (lk_message_write (bus, &frame), LK_OK);
    ck_assert_uint_gt (frame.size, LK_BULK_SIZE_MAX / 2);
    lk_bytes_clear (&frame);
    lk_message_destroy (&bus);
}

static void
one_large_host (void)
{
    char host[64];
    memset (host, 'h', 63);
    host[63] = '\0';
    lk_hostmap_init (&hostmap);
    lk_hostmap_intern (&hostmap, host, ID1);
}

/*  As many of it as a message takes. */
static void
report_fits (const lk_ticket *ticket)
{
    static lk_ticket tickets[LK_REPORT_MAX];
    lk_lock_message report = {.kind = LK_MSG_REPORT,
                              .term = {COUNT_MAX, UINT64_MAX}};
    const size_t count = LK_BULK_SIZE_MAX / lk_ticket_size (ticket);
    for (size_t at = 0; at < count; at++) {
        tickets[at] = *ticket;
    }
    report.as.report.tickets = tickets;
    report.as.report.ticket_count = count;
    fits (&report);
}

/*  Whatever stays below LK_BULK_SIZE_MAX can be sent. */
START_TEST (largest_tables)
{
    const size_t name_sizes[] = {1, 100, LK_OBJECT_LEN_MAX};
    one_large_host ();
    for (size_t i = 0; i < 3; i++) {
        const lk_ticket plain = large_ticket (name_sizes[i]);
        const lk_ticket kind = large_kind (name_sizes[i]);
        report_fits (&plain);
        report_fits (&kind);
    }
}
END_TEST

/*  A set of the longest names is one message, too. */
START_TEST (largest_set)
{
    lk_ticket rest[LK_SET_MAX - 1];
    lk_lock_message message = {.kind = LK_MSG_LOCK,
                               .term = {COUNT_MAX, UINT64_MAX}};
    lk_op op = {.kind = LK_OP_ADD, .ticket = large_kind (LK_OBJECT_LEN_MAX)};
    one_large_host ();
    for (size_t i = 0; i < LK_SET_MAX - 1; i++) {
        rest[i] = op.ticket;
    }
    message.as.request.ticket = op.ticket;
    message.as.request.rest = op.tickets = rest;
    message.as.request.rest_count = op.ticket_count = LK_SET_MAX - 1;
    ck_assert_uint_gt (lk_op_size (&op), LK_BULK_SIZE_MAX);
    message.as.request.rest_count = op.ticket_count = 70;
    ck_assert_uint_lt (lk_op_size (&op), LK_BULK_SIZE_MAX);
    fits (&message);
}
END_TEST

START_TEST (largest_batches)
{
    static lk_op ops[LK_REPORT_MAX];
    const lk_ticket claim = large_ticket (1);
    lk_ticket claims[] = {claim, claim};
    lk_lock_message message = {.kind = LK_MSG_OPS,
                               .term = {COUNT_MAX, UINT64_MAX}};
    message.as.ops.ops = ops;
    one_large_host ();
    for (int kind = 0; kind < LK_OP_COUNT; kind++) {
        lk_op op = {.kind = (lk_op_kind) kind,
                    .ticket = large_ticket (1),
                    .by = claim.request,
                    .tickets = claims,
                    .ticket_count = kind == LK_OP_REPORT ? 2 : 0};
        const size_t count = LK_BULK_SIZE_MAX / lk_op_size (&op);
        for (size_t at = 0; at < count; at++) {
            ops[at] = op;
        }
        message.as.ops.op_count = count;
        if (kind != LK_OP_GONE && kind != LK_OP_OPEN && kind != LK_OP_DIGEST) {
            fits (&message);
        }
    }
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_sizes");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, largest_tables);
    tcase_add_test (tests, largest_set);
    tcase_add_test (tests, largest_batches);

    Suite *suite = suite_create ("lock_sizes");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
