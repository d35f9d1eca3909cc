/*  core_fake.h - one node of the core, among hosts that the test plays
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The node is host 0, of id 0xa0; the others are hosts 1, 2, ... of ids 0xa1,
 *  0xa2, ... A test says what they send, and looks at what the node sends.
 */

#ifndef CORE_FAKE_H
#define CORE_FAKE_H

#include "lib/plant.h"
#include "lib/settings_text.h"
#include "lib/suite.h"
#include "node_view.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define FAKE __attribute__ ((unused)) static

static lk_node *node;
static lk_effects effects;
static int64_t now_ms;

/*  How a process is configured that starts, beside its defaults. */
static uint8_t leaders_max; /* 0: default */
static int64_t grace_ms;    /* likewise */
static bool ineligible;
static bool arbiter;
static lk_candidate candidate;
static lk_name settings; /* their text; data NULL: it is lacking */

static int said[LK_MSG_COUNT]; /* messages of each kind since start_with */

/*  -------------------------------------------------------- messages */

FAKE lk_lock_message
message_of (lk_lock_kind kind, lk_term term)
{
    return (lk_lock_message) {.kind = kind,
                              .origin = LK_NOBODY,
                              .destination = LK_NOBODY,
                              .term = term};
}

FAKE void
step (const lk_event *event)
{
    lk_node_step (node, event, &effects);
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_SEND) {
            said[effects.item[i].message->kind]++;
        }
    }
}

FAKE void
give (lk_host from, lk_lock_message *message)
{
    message->from = from;
    const lk_event event = {
        .type = LK_ON_MESSAGE, .now_ms = now_ms, .message = message};
    step (&event);
}

/*  It is told which hosts are arbiters. */
FAKE void
give_places (lk_hosts arbiters)
{
    const lk_places places = {.arbiters = arbiters};
    const lk_event event = {
        .type = LK_ON_PLACES, .now_ms = now_ms, .places = &places};
    step (&event);
}

/*  A message that says nothing but its term. */
FAKE void
give_plain (lk_host from, lk_lock_kind kind, lk_term term)
{
    lk_lock_message message = message_of (kind, term);
    give (from, &message);
}

FAKE void
give_decree (lk_host from, lk_lock_kind kind, const lk_decree *decree)
{
    lk_lock_message message = message_of (kind, decree->term);
    message.as.decree =
        (lk_msg_decree) {.decree = *decree, .holder = LK_NOBODY};
    give (from, &message);
}

FAKE void
wait_ms (int64_t ms)
{
    now_ms += ms;
    const lk_event event = {.type = LK_ON_TICK, .now_ms = now_ms};
    step (&event);
}

/*  The last message of that kind that it sends to `to`; NULL: none. */
FAKE const lk_lock_message *
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

/*  Whether it sends such a message to anybody. */
FAKE bool
says (lk_lock_kind kind)
{
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_SEND
            && effects.item[i].message->kind == kind) {
            return true;
        }
    }
    return false;
}

/*  Whether it says so, as a notice. */
FAKE bool
logs (const char *text)
{
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_TRACE
            && effects.item[i].level == LK_TRACE_NOTICE
            && strstr (effects.item[i].text, text)) {
            return true;
        }
    }
    return false;
}

/*  Whether it writes that promise to its disk. */
FAKE bool
persists (lk_term promised)
{
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_PERSIST
            && lk_term_equal (effects.item[i].facts.promised, promised)) {
            return true;
        }
    }
    return false;
}

/*  -------------------------------------------------------- terms */

FAKE lk_term
term_of (uint64_t number, lk_host proposer)
{
    return (lk_term) {number, 0xa0 + proposer};
}

/*  The decree of that term, with three leaders from `first` on. */
FAKE lk_decree
decree_of (lk_term term, lk_hosts members, lk_host a, lk_host b, lk_host c)
{
    return (lk_decree) {.term = term,
                        .members = members,
                        .leader_count = 3,
                        .leader = {a, b, c}};
}

/*  -------------------------------------------------------- the node */

/*  A process that starts with these facts on its disk. */
FAKE void
start_with (lk_term promised, const lk_decree *active)
{
    lk_node_config config;
    lk_node_config_init (&config);
    config.id = 0xa0;
    config.member = true;
    config.leader_lease_ms = 2000;
    config.leaders_max = leaders_max ? leaders_max : config.leaders_max;
    config.grace_ms = grace_ms ? grace_ms : config.grace_ms;
    config.eligible = !ineligible;
    config.arbiter = arbiter;
    config.candidate.pid = candidate.pid;
    config.candidate.port = candidate.port;
    config.settings = settings;
    config.hash_text = lk_test_hash_text;
    config.facts =
        (lk_facts) {.promised = promised, .active = *active, .session = 4};
    now_ms = 50000;
    memset (said, 0, sizeof said);
    lk_node_destroy (&node);
    node = lk_node_new (&config, now_ms);
    wait_ms (0);
}

FAKE void
stop (void)
{
    lk_node_destroy (&node);
}

FAKE lk_leader_view
leader (void)
{
    return lk_leader_see (lk_node_leader (node));
}

/*  In its table, queue by queue. */
FAKE const lk_entry *
entry_at (size_t i)
{
    return lk_table_listing (lk_leader_table (lk_node_leader (node)), i + 1)[i];
}

FAKE lk_election_view
election (void)
{
    return lk_election_see (lk_node_election (node));
}

FAKE lk_proxy_view
proxy (void)
{
    return lk_proxy_see (lk_node_proxy (node));
}

/*  What is asked for under that serial; serial 0: nothing. */
FAKE lk_demand_view
asked_by (uint64_t serial)
{
    return lk_proxy_see_demand (lk_node_proxy (node), serial);
}

FAKE lk_node_status
node_status (void)
{
    lk_node_status status;
    lk_node_get_status (node, &status);
    return status;
}

/*  It starts, at that address. */
FAKE void
give_started (lk_host from, lk_candidate address)
{
    lk_lock_message message = message_of (LK_MSG_STARTED, (lk_term) {0, 0});
    message.as.started =
        (lk_msg_started) {.answer = true,
                          .candidate = address,
                          .eligible = true,
                          .incarnation = 1,
                          .active = lk_node_core (node)->facts.active};
    give (from, &message);
}

/*  A ping as `from` would send it now, that has heard all of us. */
FAKE lk_lock_message
ping_of (lk_host from, lk_hosts sees)
{
    lk_lock_message message = message_of (LK_MSG_PING, (lk_term) {0, 0});
    message.as.ping =
        (lk_msg_ping) {.at = now_ms,
                       .incarnation = 1,
                       .has_echo = true,
                       .echo_at = now_ms,
                       .echo_incarnation = lk_node_core (node)->incarnation,
                       .active = lk_node_core (node)->facts.active,
                       .promised = lk_node_core (node)->facts.active.term,
                       .eligible = true,
                       .sees = sees | LK_HOST_BIT (from),
                       .session = 1};
    return message;
}

FAKE int
run_suite (Suite *suite)
{
    return lk_suite_run (suite);
}

/*  Runs the tests of a file. */
FAKE int
run_tests (const char *name, TCase *tests)
{
    Suite *suite = suite_create (name);
    suite_add_tcase (suite, tests);
    return run_suite (suite);
}

#endif
