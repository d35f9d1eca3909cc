/*  leading.h - one leader among three, the others played by the test
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is a leader of term 7, at place 1; hosts 1 and 2, at places 0 and 2,
 *  are the test. For one test program each.
 */

#ifndef LK_LEADING_H
#define LK_LEADING_H

#include "lib/plant.h"
#include "node_view.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_PLACE 1
#define FIRST 1 /* the host at place 0 */
#define THIRD 2 /* the one at place 2 */

static const lk_decree decree = {.term = {7, 0xa1},
                                 .members = 7,
                                 .leader_count = 3,
                                 .leader = {FIRST, 0, THIRD}};

static lk_node *node;
static lk_effects effects;
static int64_t now_ms;

/*  -------------------------------------------------------- messages */

static lk_lock_message
message_of (lk_lock_kind kind)
{
    return (lk_lock_message) {.kind = kind,
                              .origin = LK_NOBODY,
                              .destination = LK_NOBODY,
                              .term = decree.term};
}

static void
give (lk_host from, lk_lock_message *message)
{
    message->from = from;
    const lk_event event = {
        .type = LK_ON_MESSAGE, .now_ms = now_ms, .message = message};
    lk_node_step (node, &event, &effects);
}

__attribute__ ((unused)) static void
tick (void)
{
    const lk_event event = {.type = LK_ON_TICK, .now_ms = now_ms};
    lk_node_step (node, &event, &effects);
}

/*  A fellow leader's, which echoes our clock of now. */
static lk_lock_message
ping_of_leader (void)
{
    lk_lock_message message = message_of (LK_MSG_PING);
    message.as.ping =
        (lk_msg_ping) {.at = now_ms,
                       .incarnation = 1,
                       .has_echo = true,
                       .echo_at = now_ms,
                       .echo_incarnation = lk_node_core (node)->incarnation,
                       .active = decree,
                       .promised = decree.term,
                       .table = decree,
                       .ready = true,
                       .well = true,
                       .eligible = true,
                       .sees = 7,
                       .session = 1};
    return message;
}

static void
ping (lk_host from)
{
    lk_lock_message message = ping_of_leader ();
    give (from, &message);
}

/*  The last message of that kind that it sends to `to`; NULL: none. */
static const lk_lock_message *
sent (lk_lock_kind kind, lk_host to)
{
    const lk_lock_message *found = NULL;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type == LK_DO_SEND && effect->message->kind == kind
            && effect->message->to == to) {
            found = effect->message;
        }
    }
    return found;
}

/*  -------------------------------------------------------- set-up */

__attribute__ ((unused)) static lk_leader_view
leader (void)
{
    return lk_leader_see (lk_node_leader (node));
}

/*  In its table, queue by queue. */
__attribute__ ((unused)) static const lk_entry *
entry_at (size_t i)
{
    return lk_table_listing (lk_leader_table (lk_node_leader (node)), i + 1)[i];
}

/*  What an honest follower says. */
static uint64_t
hash_behind (uint64_t sequence)
{
    return lk_leader_see_chain (lk_node_leader (node), sequence);
}

static void
acked (lk_host from, uint64_t sequence)
{
    lk_lock_message message = message_of (LK_MSG_ACKED);
    message.as.acked = (lk_msg_acked) {.home = OWN_PLACE,
                                       .sequence = sequence,
                                       .hash = hash_behind (sequence)};
    give (from, &message);
}

/*  It has been filled with an empty table, the decree is in force, it has its
 *  lease, and both others have the OPEN of its stream. */
static void
set_up (void)
{
    lk_node_config config;
    lk_node_config_init (&config);
    config.id = 0xa0;
    config.member = true;
    config.facts.active.members = decree.members;
    now_ms = 5000;
    node = lk_node_new (&config, now_ms);
    lk_lock_message fill = message_of (LK_MSG_FILL);
    fill.as.chunk.decree = decree;
    give (FIRST, &fill);
    ck_assert_ptr_nonnull (sent (LK_MSG_FILLED, FIRST));
    lk_lock_message ready = message_of (LK_MSG_READY);
    ready.as.decree = (lk_msg_decree) {.decree = decree, .holder = LK_NOBODY};
    give (FIRST, &ready);
    ck_assert_uint_eq (sent (LK_MSG_OPS, THIRD)->as.ops.ops[0].kind,
                       LK_OP_OPEN);
    ping (FIRST);
    ping (THIRD);
    acked (FIRST, 1);
    acked (THIRD, 1);
    ck_assert (leader ().unacked == 0);
}

static void
tear_down (void)
{
    lk_node_destroy (&node);
}

/*  -------------------------------------------------------- objects */

/*  A name whose home is at that place. */
static lk_name
object_at (int place, char text[16])
{
    for (int i = 0;; i++) {
        const int size = snprintf (text, 16, "lock-%d", i % 1000);
        const lk_name name = {text, (uint16_t) size};
        if (lk_home_of (&decree, name) == place) {
            return name;
        }
    }
}

static lk_ticket
ticket (lk_name object, uint64_t serial)
{
    return (lk_ticket) {.request = {THIRD, 1, serial},
                        .object = object,
                        .owner = {"app@h2", 6},
                        .key = 40 + serial};
}

/*  What host 1's stream is, as host 1 has it: `count` tickets added. */
__attribute__ ((unused)) static void
stream_of_first (lk_op *ops, uint64_t *hash, size_t count)
{
    static char text[16];
    lk_table table;
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    hash[0] = 0;
    for (size_t i = 0; i < count; i++) {
        ops[i] = (lk_op) {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
        ops[i].ticket = ticket (object_at (0, text), i + 1);
        lk_table_apply (&table, 0, &ops[i], now_ms, NULL);
        hash[i + 1] = table.hash[0];
    }
    lk_table_clear (&table);
}

/*  Gives `count` operations behind sequence `first`, and says what it is told
 *  it has; -1: nothing. */
__attribute__ ((unused)) static int
follow (lk_op *ops, const uint64_t *hash, size_t first, size_t count)
{
    lk_lock_message message = message_of (LK_MSG_OPS);
    message.as.ops = (lk_msg_ops) {.first = first,
                                   .hash = hash[first],
                                   .ops = ops + first,
                                   .op_count = count};
    give (FIRST, &message);
    const lk_lock_message *answer = sent (LK_MSG_ACKED, FIRST);
    return answer ? (int) answer->as.acked.sequence : -1;
}

/*  -------------------------------------------------------- a home */

/*  They have no lease, so that their proxies have to be told by us. */
__attribute__ ((unused)) static void
others_cannot_tell (void)
{
    now_ms++;
    lk_lock_message message = ping_of_leader ();
    message.as.ping.well = false;
    give (FIRST, &message);
    give (THIRD, &message);
}

/*  Host 2 asks for an object that is at home here. */
__attribute__ ((unused)) static lk_lock_message
lock_of_third (uint64_t serial)
{
    static char text[16];
    lk_lock_message message = message_of (LK_MSG_LOCK);
    message.as.request = (lk_msg_request) {
        .ticket = ticket (object_at (OWN_PLACE, text), serial),
        .queue = true,
        .at = now_ms};
    return message;
}

__attribute__ ((unused)) static void
ask (uint64_t serial)
{
    lk_lock_message message = lock_of_third (serial);
    give (THIRD, &message);
}

#endif
