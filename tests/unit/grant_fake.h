/*  grant_fake.h - one object and one home, and what is asked of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What a queue looks like is a line of text: "1:1 2:2^ | 3 4" has request 1
 *  with ordinal 1 and request 2 with ordinal 2 active, which wants to be
 *  exclusive; 3 and 4 wait.
 */

#ifndef GRANT_FAKE_H
#define GRANT_FAKE_H

#include "digest.h"
#include "grant.h"
#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE __attribute__ ((unused)) static

static int64_t now_ms = 1000;

static const lk_decree decree = {.term = {.number = 7, .proposer = 0xaa},
                                 .members = 1,
                                 .leader_count = 1,
                                 .leader = {0}};

static const lk_name object = {"x", 1};

static lk_table table;
static lk_notices notices;

FAKE void
set_up (void)
{
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
}

FAKE void
tear_down (void)
{
    lk_notices_clear (&notices);
    lk_table_clear (&table);
}

/*  -------------------------------------------------------- saying things */

#define EXCLUSIVE ((lk_lock_mode) {.type = LK_EXCLUSIVE})
#define SHARED ((lk_lock_mode) {.type = LK_SHARED})
#define SOFT ((lk_lock_mode) {.type = LK_EXCLUSIVE, .soft = true})
#define QUIET                                                                  \
    ((lk_lock_mode) {.type = LK_EXCLUSIVE, .soft = true, .quiet_ms = 500})

FAKE lk_lock_mode
units (uint32_t limit)
{
    return (lk_lock_mode) {.type = LK_SEMAPHORE, .limit = limit};
}

FAKE lk_lock_mode
bound (uint32_t limit, uint32_t stored)
{
    return (lk_lock_mode) {
        .type = LK_SEMAPHORE, .limit = limit, .bound = stored};
}

/*  Odd requests are host 1's, even ones host 2's. */
FAKE lk_request_id
request (uint64_t serial)
{
    return (lk_request_id) {serial % 2 ? 1 : 2, 1, serial};
}

FAKE void
apply (const lk_op *op)
{
    lk_notices_clear (&notices);
    ck_assert (lk_table_apply (&table, 0, op, now_ms, &notices));
    uint64_t digest;
    ck_assert (lk_digest_share (&table, 0, &digest));
}

FAKE lk_op
operation (lk_op_kind kind, uint64_t serial)
{
    return (lk_op) {.kind = kind,
                    .by.host = LK_NOBODY,
                    .ticket.request = request (serial),
                    .ticket.object = object};
}

FAKE void
add (uint64_t serial, lk_lock_mode mode)
{
    lk_op op = operation (LK_OP_ADD, serial);
    op.ticket.owner = (lk_name) {"app@h1", 6};
    op.ticket.key = 1000 + serial;
    op.ticket.mode = mode;
    apply (&op);
}

FAKE void
drop (uint64_t serial)
{
    const lk_op op = operation (LK_OP_DROP, serial);
    apply (&op);
}

FAKE void
gone (lk_host host)
{
    lk_op op = operation (LK_OP_GONE, 0);
    op.ticket.request = (lk_request_id) {.host = host, .session = 1};
    apply (&op);
}

FAKE void
convert (uint64_t serial, lk_lock_type type, uint32_t turn)
{
    lk_op op = operation (LK_OP_CONVERT, serial);
    op.ticket.mode.type = type;
    op.ticket.turn = turn;
    apply (&op);
}

FAKE void
ripe (uint64_t serial)
{
    const lk_op op = operation (LK_OP_RIPE, serial);
    apply (&op);
}

FAKE void
keep (uint64_t serial)
{
    const lk_op op = operation (LK_OP_KEEP, serial);
    apply (&op);
}

FAKE bool
claim (uint64_t serial, lk_lock_mode mode)
{
    lk_ticket ticket = {.request = request (serial),
                        .object = object,
                        .owner = {"app@h1", 6},
                        .token = 70 + serial,
                        .ordinal = 9,
                        .mode = mode};
    lk_op op = operation (LK_OP_REPORT, serial);
    op.part = table.parts[0][op.ticket.request.host];
    op.more = true;
    op.tickets = &ticket;
    op.ticket_count = 1;
    return lk_table_apply (&table, 0, &op, now_ms, NULL);
}

/*  -------------------------------------------------------- looking */

FAKE const char *
queue (void)
{
    static char text[200];
    const lk_queue *self = lk_table_queue (&table, object);
    size_t used = 0;
    text[0] = '\0';
    for (const lk_entry *entry = self ? self->first : NULL; entry;
         entry = entry->next) {
        const char *space = used > 0 ? " " : "";
        const char *bar = entry == self->waiting ? "| " : "";
        used +=
            (size_t) snprintf (text + used, sizeof text - used, "%s%s%llu",
                               space, bar, (unsigned long long) entry->serial);
        if (entry->token != 0) {
            used +=
                (size_t) snprintf (text + used, sizeof text - used, ":%u%s",
                                   entry->ordinal, entry->upgrade ? "^" : "");
        }
    }
    return text;
}

#define QUEUE(text) ck_assert_str_eq (queue (), text)

FAKE const lk_ticket *
ticket (uint64_t serial)
{
    static lk_ticket copy;
    const lk_entry *entry = lk_table_find (&table, request (serial));
    ck_assert_ptr_nonnull (entry);
    copy = lk_entry_ticket (entry);
    return &copy;
}

FAKE bool
at_once (lk_lock_mode mode)
{
    return lk_grant_at_once (lk_table_queue (&table, object), &mode);
}

FAKE TCase *
make_case (const char *text)
{
    TCase *tests = tcase_create (text);
    tcase_add_checked_fixture (tests, set_up, tear_down);
    return tests;
}

FAKE int
run_suite (Suite *suite)
{
    return lk_suite_run (suite);
}

#endif
