/*  lock_values.c - tests of the messages between lock services: the values
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each field is described once for both directions, so a wrong description
 *  would agree with itself: the examples, written by another hand, and their
 *  values spelled out here are what it is held against.
 */

#include "codec_fake.h"

#include "lib/suite.h"

#define HASH 0x9e1c5ad2037b84f6u
#define KEY 0xc0ffee5eed1e55a7u
#define TOKEN 0x0000000700000004u
#define ALL ((lk_hosts) 7)

/*  -------------------------------------------------------- values

    Of the examples, field by field. */

static void
name_eq (lk_name name, const char *data, size_t size)
{
    ck_assert_uint_eq (name.size, size);
    ck_assert_mem_eq (name.data, data, size);
}

#define NAME_EQ(name, text) name_eq (name, text, sizeof (text) - 1)
#define PLAIN "\0\0backup/db-1"
#define NIGHTLY "\0nightly\0backup/db-1"
#define RED "red\0nightly\0backup/db-1"

static void
term_eq (lk_term term, uint64_t number, uint64_t proposer)
{
    ck_assert_uint_eq (term.number, number);
    ck_assert_uint_eq (term.proposer, proposer);
}

static void
request_eq (lk_request_id request, int host, uint64_t session, uint64_t serial)
{
    ck_assert_int_eq (request.host, host);
    ck_assert_uint_eq (request.session, session);
    ck_assert_uint_eq (request.serial, serial);
}

static void
is_decree (const lk_decree *decree) /* DECREE of make.py */
{
    term_eq (decree->term, 7, ID1);
    ck_assert_uint_eq (decree->members, ALL);
    ck_assert_int_eq (decree->leader_count, 3);
    ck_assert_int_eq (decree->leader[0], H2);
    ck_assert_int_eq (decree->leader[1], H1);
    ck_assert_int_eq (decree->leader[2], H3);
    ck_assert (!decree->reclaim);
}

static void
is_reclaim (const lk_decree *decree) /* RECLAIM */
{
    term_eq (decree->term, 8, ID2);
    ck_assert_uint_eq (decree->members, ALL);
    ck_assert_int_eq (decree->leader_count, 2);
    ck_assert_int_eq (decree->leader[0], H2);
    ck_assert_int_eq (decree->leader[1], H3);
    ck_assert (decree->reclaim);
}

static void
is_candidate (const lk_candidate *candidate)
{
    ck_assert_uint_eq (candidate->priority, 8);
    ck_assert_uint_eq (candidate->random, 190427651);
    ck_assert_mem_eq (candidate->address,
                      "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x02", 16);
    ck_assert_uint_eq (candidate->port, 7201);
    ck_assert_uint_eq (candidate->pid, 4021);
}

static void
is_holds (const lk_holds *holds)
{
    term_eq (holds->term, 7, ID1);
    ck_assert (!holds->reclaim);
    ck_assert_uint_eq (holds->length, 812);
}

static void
is_owner (const lk_ticket *ticket, int64_t duration_ms)
{
    NAME_EQ (ticket->owner, "backup-4711@h1");
    ck_assert_uint_eq (ticket->pid, 4711);
    ck_assert_int_eq (ticket->duration_ms, duration_ms);
}

static void
are_tickets (const lk_ticket *tickets, size_t count)
{
    ck_assert_uint_eq (count, 2);
    request_eq (tickets[0].request, H1, 3, 1);
    request_eq (tickets[1].request, H2, 9, UINT64_MAX);
    NAME_EQ (tickets[0].object, PLAIN);
    NAME_EQ (tickets[1].object, RED);
    ck_assert_uint_eq (tickets[0].token, TOKEN);
    ck_assert_uint_eq (tickets[1].token, 0);
    for (size_t i = 0; i < count; i++) {
        is_owner (&tickets[i], 0);
        ck_assert_uint_eq (tickets[i].number, 0x0000000700000003u);
        ck_assert_uint_eq (tickets[i].key, KEY);
        ck_assert_int_eq (tickets[i].age_ms, 5210);
    }
}

START_TEST (value_envelope)
{
    take ("lock-vote");
    ck_assert_int_eq (got.from, H2);
    ck_assert_int_eq (got.to, H1);
    ck_assert_int_eq (got.origin, LK_NOBODY);
    ck_assert_int_eq (got.destination, LK_NOBODY);
    term_eq (got.term, 8, ID2);
    take ("lock-voted");
    ck_assert_int_eq (got.from, H3);
}
END_TEST

START_TEST (value_started)
{
    take ("lock-started");
    const lk_msg_started *started = &got.as.started;
    ck_assert (!started->answer);
    is_candidate (&started->candidate);
    ck_assert (started->eligible);
    ck_assert_uint_eq (started->incarnation, 9);
    term_eq (started->active.term, 0, 0);
    ck_assert_uint_eq (started->active.members, ALL);
    ck_assert_int_eq (started->active.leader_count, 0);
}
END_TEST

START_TEST (value_ping)
{
    take ("lock-ping");
    const lk_msg_ping *ping = &got.as.ping;
    ck_assert_int_eq (ping->at, 86400250);
    ck_assert_uint_eq (ping->incarnation, 9);
    ck_assert (ping->has_echo);
    ck_assert_int_eq (ping->echo_at, 512250);
    ck_assert_uint_eq (ping->echo_incarnation, 3);
    is_decree (&ping->active);
    term_eq (ping->promised, 7, ID1);
    is_decree (&ping->table);
    ck_assert (ping->ready && ping->well && ping->eligible);
    ck_assert_uint_eq (ping->reclaim, 0);
    ck_assert_uint_eq (ping->sees, ALL);
    ck_assert_uint_eq (ping->session, 9);
    ck_assert_uint_eq (ping->closed, 8);
    ck_assert_uint_eq (ping->vouch, 3);
}
END_TEST

START_TEST (value_election)
{
    take ("lock-date");
    ck_assert_int_eq (got.as.date.in_ms, 300);
    term_eq (got.as.date.promised, 7, ID1);
    ck_assert_int_eq (got.as.date.reason, LK_WHY_LOST);
    take ("lock-agreed");
    ck_assert_int_eq (got.as.date.in_ms, 120);
    take ("lock-voted");
    is_candidate (&got.as.voted.candidate);
    ck_assert (got.as.voted.eligible);
    is_decree (&got.as.voted.active);
    is_holds (&got.as.voted.holds);
    ck_assert_uint_eq (got.as.voted.hears, LK_HOST_BIT (H2));
    ck_assert_uint_eq (got.as.voted.sees, ALL);
    take ("lock-desist");
    term_eq (got.term, 7, ID1);
    term_eq (got.as.desist.promised, 8, ID2);
}
END_TEST

START_TEST (value_decrees)
{
    take ("lock-elected");
    is_reclaim (&got.as.decree.decree);
    term_eq (got.as.decree.previous, 7, ID1);
    ck_assert (!got.as.decree.genesis);
    ck_assert_int_eq (got.as.decree.holder, H3);
    take ("lock-sitting");
    is_decree (&got.as.decree.decree);
    ck_assert_int_eq (got.as.decree.holder, LK_NOBODY);
    take ("lock-active");
    is_reclaim (&got.as.decree.decree);
    take ("lock-ready");
    is_reclaim (&got.as.decree.decree);
}
END_TEST

START_TEST (value_takeover)
{
    take ("lock-entered");
    is_holds (&got.as.entered.holds);
    take ("lock-getmax");
    term_eq (got.as.getmax.previous, 7, ID1);
    ck_assert_uint_eq (got.as.getmax.chunk, 0);
    take ("lock-filled");
    ck_assert_uint_eq (got.as.filled.chunk, 1);
    ck_assert_uint_eq (got.as.filled.hash, HASH);
}
END_TEST

START_TEST (value_maxticket)
{
    take ("lock-maxticket");
    const lk_msg_chunk *chunk = &got.as.chunk;
    term_eq (chunk->table, 7, ID1);
    ck_assert_uint_eq (chunk->incarnation, 5);
    ck_assert_uint_eq (chunk->chunk, 0);
    ck_assert (!chunk->more);
    are_tickets (chunk->tickets, chunk->ticket_count);
    ck_assert_uint_eq (chunk->reclaim, 0);
    ck_assert_uint_eq (chunk->gone[H1], 0);
    ck_assert_uint_eq (chunk->gone[H3], 4);
    ck_assert_uint_eq (chunk->release_count, 2);
    ck_assert_uint_eq (chunk->releases[0].by.host, H1);
    ck_assert_uint_eq (chunk->releases[0].up_to, (uint64_t) 7 << 32 | 4);
    ck_assert_uint_eq (chunk->releases[1].by.host, H2);
    ck_assert_uint_eq (chunk->releases[1].by.serial, 12);
}
END_TEST

START_TEST (value_fill)
{
    take ("lock-fill");
    const lk_msg_chunk *chunk = &got.as.chunk;
    is_reclaim (&chunk->decree);
    ck_assert_uint_eq (chunk->chunk, 1);
    ck_assert (chunk->more);
    are_tickets (chunk->tickets, chunk->ticket_count);
    ck_assert_uint_eq (chunk->reclaim, 3);
    ck_assert_uint_eq (chunk->gone[H3], 4);
}
END_TEST

START_TEST (value_ops)
{
    take ("lock-ops");
    const lk_op *op = got.as.ops.ops;
    ck_assert_uint_eq (got.as.ops.home, 0);
    ck_assert_uint_eq (got.as.ops.first, 3);
    ck_assert_uint_eq (got.as.ops.hash, HASH);
    ck_assert_uint_eq (got.as.ops.op_count, 7);
    ck_assert_int_eq (op[0].kind, LK_OP_ADD);
    request_eq (op[0].ticket.request, H1, 3, 1);
    NAME_EQ (op[0].ticket.object, "red\0\0backup/db-1");
    is_owner (&op[0].ticket, 60000);
    ck_assert_int_eq (op[0].ticket.age_ms, 12);
    ck_assert_uint_eq (op[0].ticket.key, KEY);
    ck_assert_int_eq (op[1].kind, LK_OP_DROP);
    request_eq (op[1].ticket.request, H1, 3, 1);
    NAME_EQ (op[1].ticket.object, PLAIN);
    request_eq (op[1].by, H2, 9, UINT64_MAX);
    ck_assert_int_eq (op[2].kind, LK_OP_GONE);
    request_eq (op[2].ticket.request, H3, 4, 0);
    ck_assert_int_eq (op[3].kind, LK_OP_REPORT);
    request_eq (op[3].ticket.request, H1, 3, 0);
    are_tickets (op[3].tickets, op[3].ticket_count);
    ck_assert_int_eq (op[4].kind, LK_OP_OPEN);
    ck_assert_int_eq (op[5].kind, LK_OP_CONFIRM);
    request_eq (op[5].ticket.request, H1, 3, 1);
    NAME_EQ (op[5].ticket.object, PLAIN);
    ck_assert_uint_eq (op[5].ticket.token, TOKEN);
    ck_assert_int_eq (op[6].kind, LK_OP_DIGEST);
}
END_TEST

START_TEST (value_streams)
{
    take ("lock-ops-drop");
    ck_assert_uint_eq (got.as.ops.home, 1);
    ck_assert_int_eq (got.as.ops.ops[0].by.host, LK_NOBODY);
    lk_lock_message_clear (&got);
    take ("lock-acked");
    ck_assert_uint_eq (got.as.acked.home, 0);
    ck_assert_uint_eq (got.as.acked.sequence, 9);
    ck_assert_uint_eq (got.as.acked.hash, HASH);
    take ("lock-host");
    ck_assert_int_eq (got.as.host.host, H3);
    ck_assert_uint_eq (got.as.host.session, 4);
}
END_TEST

START_TEST (value_lock)
{
    take ("lock-lock");
    const lk_msg_request *request = &got.as.request;
    ck_assert_int_eq (got.origin, H3);
    ck_assert_int_eq (got.destination, H1);
    request_eq (request->ticket.request, H3, 5, 77);
    NAME_EQ (request->ticket.object, NIGHTLY);
    NAME_EQ (request->ticket.owner, "run-88@h3");
    ck_assert_uint_eq (request->ticket.pid, 88);
    ck_assert_int_eq (request->ticket.duration_ms, 0);
    ck_assert_int_eq (request->ticket.age_ms, 12);
    ck_assert (request->queue);
    ck_assert_int_eq (request->at, 86400250);
}
END_TEST

START_TEST (value_unlock)
{
    take ("lock-unlock");
    const lk_msg_request *request = &got.as.request;
    ck_assert_int_eq (got.origin, H2);
    ck_assert_int_eq (got.destination, LK_NOBODY);
    request_eq (request->ticket.request, H2, 9, UINT64_MAX);
    NAME_EQ (request->ticket.object, PLAIN);
    ck_assert (request->by_key);
    ck_assert_uint_eq (request->ticket.key, KEY);
    ck_assert_int_eq (request->at, 86400250);
}
END_TEST

START_TEST (value_replies)
{
    const lk_msg_reply *reply = &got.as.reply;
    take ("lock-locked");
    request_eq (reply->request, H1, 3, 1);
    NAME_EQ (reply->object, PLAIN);
    ck_assert_uint_eq (reply->token, TOKEN);
    ck_assert_uint_eq (reply->key, KEY);
    ck_assert_int_eq (reply->as_of, 512000);
    ck_assert_int_eq (reply->left_ms, -1);
    lk_lock_message_clear (&got);
    take ("lock-unlocked");
    request_eq (reply->request, H1, 3, 1);
    NAME_EQ (reply->object, PLAIN);
    ck_assert_int_eq (reply->error, LK_OK);
    ck_assert_uint_eq (reply->token, TOKEN);
    lk_lock_message_clear (&got);
    take ("lock-lockfailed");
    ck_assert_int_eq (reply->error, LK_FULL);
}
END_TEST

START_TEST (value_sessions)
{
    take ("lock-report");
    ck_assert_int_eq (got.origin, H3);
    ck_assert_int_eq (got.destination, H1);
    ck_assert_uint_eq (got.as.report.session, 9);
    ck_assert_uint_eq (got.as.report.home, 1);
    ck_assert_uint_eq (got.as.report.part, 2);
    ck_assert (got.as.report.more);
    are_tickets (got.as.report.tickets, got.as.report.ticket_count);
    lk_lock_message_clear (&got);
    take ("lock-reported");
    ck_assert_int_eq (got.origin, LK_NOBODY);
    ck_assert_int_eq (got.destination, H3);
    ck_assert_uint_eq (got.as.report.session, 3);
    ck_assert_uint_eq (got.as.report.home, 1);
    ck_assert_uint_eq (got.as.report.part, 2);
    take ("lock-audit");
    request_eq (got.as.audit.request, H1, 3, 1);
    NAME_EQ (got.as.audit.object, PLAIN);
    ck_assert_uint_eq (got.as.audit.number, 0x0000000700000003u);
    ck_assert_uint_eq (got.as.audit.token, TOKEN);
}
END_TEST

START_TEST (value_stopping)
{
    const lk_msg_stopping *stopping = &got.as.stopping;
    take ("lock-stopping");
    ck_assert_int_eq (got.origin, H2);
    request_eq (stopping->request, H1, 3, 1);
    NAME_EQ (stopping->object, PLAIN);
    ck_assert_uint_eq (stopping->token, TOKEN);
    ck_assert_int_eq (stopping->left_ms, 1990);
    lk_lock_message_clear (&got);
    take ("lock-pending");
    ck_assert_int_eq (got.destination, H1);
    ck_assert_int_eq (stopping->host, H2);
    ck_assert_int_eq (stopping->left_ms, 1990);
    ck_assert_int_eq (stopping->silent_ms, -1);
    lk_lock_message_clear (&got);
    take ("lock-unlock-now");
    ck_assert (got.as.request.now);
    ck_assert (got.as.request.by_key);
    lk_lock_message_clear (&got);
    take ("lock-unlock");
    ck_assert (!got.as.request.now);
}
END_TEST

START_TEST (value_alerts)
{
    take ("lock-alert");
    const lk_msg_alert *alert = &got.as.alert;
    ck_assert_uint_eq (alert->incarnation, 9);
    ck_assert_uint_eq (alert->number, 1);
    ck_assert_int_eq (alert->cause, LK_ALERT_STREAM);
    ck_assert_int_eq (alert->host, H3);
    ck_assert_int_eq (alert->home, H2);
    ck_assert_uint_eq (alert->sequence, 9);
    ck_assert_uint_eq (alert->hash, HASH);
    ck_assert_uint_eq (alert->expected, KEY);
    take ("lock-alerted");
    ck_assert_uint_eq (alert->incarnation, 9);
    ck_assert_uint_eq (alert->number, 1);
}
END_TEST

/*  -------------------------------------------------------- copies */

static bool
says (const lk_message *message, const lk_vector *one)
{
    char problem[128];
    json_t *body = lk_json_read (lk_slice_of (lk_message_body (message)),
                                 problem, sizeof problem);
    const bool equal = json_equal (body, one->body);
    json_decref (body);
    return equal;
}

/*  A copy says the same when its source is gone. */
START_TEST (copies)
{
    size_t count;
    const lk_vector *all = lk_vectors (&count);
    for (size_t i = 0; i < count; i++) {
        if (!lk_example_is_lock (&all[i])) {
            continue;
        }
        lk_lock_message copy;
        take (all[i].name);
        lk_lock_message_copy (&copy, &got);
        lk_lock_message_clear (&got);
        lk_message *bus = lk_example_encode (&all[i], &copy, &hostmap);
        ck_assert_msg (says (bus, &all[i]), "%s: another", all[i].name);
        lk_message_destroy (&bus);
        lk_lock_message_clear (&copy);
    }
}
END_TEST

START_TEST (copies_of_parts)
{
    lk_ticket one, none = {.pid = 5};
    lk_op op;
    take ("lock-ops");
    lk_op_copy (&op, &got.as.ops.ops[3]);
    lk_ticket_copy (&one, &got.as.ops.ops[0].ticket);
    lk_ticket *tickets = lk_tickets_copy (op.tickets, op.ticket_count);
    lk_lock_message_clear (&got);
    are_tickets (op.tickets, op.ticket_count);
    lk_op_clear (&op);
    are_tickets (tickets, 2);
    lk_tickets_free (tickets);
    NAME_EQ (one.object, "red\0\0backup/db-1");
    is_owner (&one, 60000);
    lk_ticket_clear (&one);
    ck_assert_ptr_null (one.object.data);
    lk_ticket_copy (&one, &none);
    ck_assert_uint_eq (one.pid, 5);
    lk_ticket_clear (&one);
    ck_assert_ptr_null (lk_tickets_copy (NULL, 0));
    lk_tickets_free (NULL);
    lk_op_copy (&op, &(lk_op) {.kind = LK_OP_OPEN});
    lk_op_clear (&op);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_values");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, value_envelope);
    tcase_add_test (tests, value_started);
    tcase_add_test (tests, value_ping);
    tcase_add_test (tests, value_election);
    tcase_add_test (tests, value_decrees);
    tcase_add_test (tests, value_takeover);
    tcase_add_test (tests, value_maxticket);
    tcase_add_test (tests, value_fill);
    tcase_add_test (tests, value_ops);
    tcase_add_test (tests, value_streams);
    tcase_add_test (tests, value_lock);
    tcase_add_test (tests, value_unlock);
    tcase_add_test (tests, value_replies);
    tcase_add_test (tests, value_sessions);
    tcase_add_test (tests, value_stopping);
    tcase_add_test (tests, value_alerts);
    tcase_add_test (tests, copies);
    tcase_add_test (tests, copies_of_parts);

    Suite *suite = suite_create ("lock_values");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
