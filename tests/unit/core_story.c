/*  core_story.c - a lock service's life, told as events and their effects
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A whole node is given one event at a time, and what it wants done is
 *  written down, an effect a line, and compared with what is expected. Each
 *  test is a story to be read from top to bottom. First a member that is all
 *  of its cluster, and so plays all parts itself; then a host that is no
 *  member, and has its leader played by the test.
 */

#include "node.h"

#include "lib/suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SELF 0
#define LEADER 1
#define SELF_ID 0xa0
#define LEADER_ID 0xa1

static lk_node *node;
static int64_t now_ms;
static char told[4000]; /* the effects of the last steps */
static uint64_t key;    /* of the last LOCKED */

/*  -------------------------------------------------------- writing down */

static void say (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

static void
say (const char *format, ...)
{
    const size_t used = strlen (told);
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (told + used, sizeof told - used, format, arguments);
    va_end (arguments);
}

/*  A token as "term/sequence". */
static void
say_token (uint64_t token)
{
    say (" token=%" PRIu64 "/%" PRIu64, token >> 32, token & 0xffffffff);
}

static void
say_message (const lk_lock_message *message)
{
    say ("send %s to %u", lk_lock_kind_name (message->kind), message->to);
    switch (message->kind) {
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        say (" request=%" PRIu64 "/%" PRIu64,
             message->as.request.ticket.request.session,
             message->as.request.ticket.request.serial);
        break;
    case LK_MSG_REPORT:
        say (" session=%" PRIu64 " tickets=%zu", message->as.report.session,
             message->as.report.ticket_count);
        break;
    default:
        break;
    }
    say ("\n");
}

static void
say_answer (const lk_answer *answer)
{
    static const char *const kinds[] = {
        [LK_ANSWER_LOCKED] = "locked",     [LK_ANSWER_FAILED] = "failed",
        [LK_ANSWER_UNLOCKED] = "unlocked", [LK_ANSWER_JEOPARDY] = "jeopardy",
        [LK_ANSWER_PENDING] = "stopping",  [LK_ANSWER_CHECKED] = "checked",
    };
    say ("tell %" PRIu32 ": %s %" PRIu64, answer->app, kinds[answer->kind],
         answer->serial);
    if (answer->kind == LK_ANSWER_LOCKED) {
        say_token (answer->token);
        key = answer->key;
    } else if (answer->kind == LK_ANSWER_PENDING) {
        say (" left=%lld", (long long) answer->left_ms);
    } else {
        say (" %s", lk_err_word (answer->error));
    }
    say ("\n");
}

/*  Pings, traces and changes of the status are no part of the stories. */
static void
say_effect (const lk_effect *effect)
{
    switch (effect->type) {
    case LK_DO_PERSIST:
        say ("persist promised=%" PRIu64 " active=%" PRIu64 " session=%" PRIu64
             "\n",
             effect->facts.promised.number, effect->facts.active.term.number,
             effect->facts.session);
        break;
    case LK_DO_KEEP:
    case LK_DO_RECORD:
        break;
    case LK_DO_SEND:
        if (effect->message->kind != LK_MSG_PING) {
            say_message (effect->message);
        }
        break;
    case LK_DO_TELL:
        say_answer (&effect->answer);
        break;
    case LK_DO_LEASE:
        if (effect->lease_until_ms == 0) {
            say ("lease over session=%" PRIu64 "\n", effect->session);
        }
        break;
    case LK_DO_CHANGED:
        say ("changed %s: %s\n", lk_err_word (effect->error), effect->text);
        break;
    case LK_DO_STATUS:
    case LK_DO_DROPPED:
    case LK_DO_ENDED:
    case LK_DO_ALERT:
    case LK_DO_TRACE:
        break;
    }
}

static void
step (lk_event *event)
{
    lk_effects effects;
    event->now_ms = now_ms;
    lk_node_step (node, event, &effects);
    for (size_t i = 0; i < effects.count; i++) {
        say_effect (&effects.item[i]);
    }
}

/*  -------------------------------------------------------- what happens */

/*  All that it did since the last `then` must be this. */
static void
then (const char *expected)
{
    ck_assert_str_eq (told, expected);
    told[0] = '\0';
}

/*  Time passes, a tick at each of the node's deadlines. */
static void
wait_ms (int64_t ms)
{
    const int64_t end = now_ms + ms;
    while (now_ms < end) {
        const int64_t deadline = lk_node_deadline (node);
        now_ms = deadline <= now_ms ? now_ms + 1
                 : deadline < end   ? deadline
                                    : end;
        lk_event tick = {.type = LK_ON_TICK};
        step (&tick);
    }
}

static lk_name
name (const char *text)
{
    return (lk_name) {text, (uint16_t) strlen (text)};
}

static void
lock (uint32_t app, uint64_t serial, int64_t wait, int64_t duration)
{
    lk_event event = {.type = LK_ON_LOCK,
                      .request = {.app = app,
                                  .serial = serial,
                                  .object = name ("x"),
                                  .owner = name ("app@h0"),
                                  .wait_ms = wait,
                                  .duration_ms = duration}};
    step (&event);
}

static void
unlock (uint32_t app, uint64_t serial)
{
    lk_event event = {.type = LK_ON_UNLOCK,
                      .request = {.app = app, .serial = serial}};
    step (&event);
}

static void
unlock_by_key (uint32_t app, uint64_t serial, uint64_t with)
{
    lk_event event = {.type = LK_ON_UNLOCK_BY_KEY,
                      .request = {.app = app,
                                  .serial = serial,
                                  .object = name ("x"),
                                  .wait_ms = -1,
                                  .key = with}};
    step (&event);
}

static void
app_gone (uint32_t app)
{
    lk_event event = {.type = LK_ON_APP_GONE, .request.app = app};
    step (&event);
}

static void
stop (void)
{
    lk_event event = {.type = LK_ON_STOP};
    step (&event);
}

/*  -------------------------------------------------------- alone */

static void
start (lk_node_config *config)
{
    now_ms = 1000;
    told[0] = '\0';
    config->self = SELF;
    config->id = SELF_ID;
    config->seed[0] = 5;
    config->seed[1] = 6;
    node = lk_node_new (config, now_ms);
    lk_event tick = {.type = LK_ON_TICK};
    step (&tick);
}

/*  The only member of its cluster, as `lockkeeper init` left it. */
static void
start_alone (void)
{
    lk_node_config config;
    lk_node_config_init (&config);
    config.member = true;
    config.digest_ms = 0;
    config.facts.active.members = LK_HOST_BIT (SELF);
    start (&config);
}

static void
end (void)
{
    lk_node_destroy (&node);
}

/*  It promises number 1, votes for itself, is elected, passes the doorway
 *  without tickets, and the decree is in force: all with itself. */
static void
elect_itself (void)
{
    then ("persist promised=0 active=0 session=1\n");
    wait_ms (2000);
    then ("persist promised=1 active=0 session=1\n"
          "persist promised=1 active=1 session=1\n");
}

START_TEST (one_host_elects_itself)
{
    lk_node_status status;
    lk_node_get_status (node, &status);
    ck_assert (!status.ready);
    ck_assert_str_eq (status.phase, "booting");
    elect_itself ();
    lk_node_get_status (node, &status);
    ck_assert (status.ready && status.leads);
    ck_assert_str_eq (status.phase, "elected");
    ck_assert_uint_eq (status.decree.term.number, 1);
    ck_assert_uint_eq (status.decree.leader_count, 1);
}
END_TEST

/*  Sequence 1 of the term is OPEN; each operation has the next. */
START_TEST (lock_and_unlock)
{
    elect_itself ();
    lock (7, 1, -1, 0);
    then ("tell 7: locked 1 token=1/2\n");
    unlock (7, 1);
    then ("tell 7: unlocked 1 ok\n");
    lock (7, 2, -1, 0);
    then ("tell 7: locked 2 token=1/4\n");
}
END_TEST

START_TEST (the_next_gets_it)
{
    elect_itself ();
    lock (7, 1, -1, 0);
    lock (8, 1, -1, 0);
    lock (9, 1, -1, 0);
    then ("tell 7: locked 1 token=1/2\n");
    unlock (7, 1);
    then ("tell 7: unlocked 1 ok\n"
          "tell 8: locked 1 token=1/5\n");
    app_gone (8); /* as good as an UNLOCK */
    then ("tell 9: locked 1 token=1/6\n");
}
END_TEST

START_TEST (a_request_said_again_is_the_same)
{
    elect_itself ();
    lock (7, 1, -1, 0);
    lock (8, 1, -1, 0);
    lock (7, 1, -1, 0);
    lock (8, 1, -1, 0);
    then ("tell 7: locked 1 token=1/2\n"
          "tell 7: locked 1 token=1/2\n");
    unlock (7, 1);
    unlock (7, 1);
    then ("tell 7: unlocked 1 ok\n"
          "tell 8: locked 1 token=1/4\n"
          "tell 7: failed 1 unknown\n");
}
END_TEST

START_TEST (a_try_and_a_wait)
{
    elect_itself ();
    lock (7, 1, -1, 0);
    then ("tell 7: locked 1 token=1/2\n");
    lock (8, 1, 0, 0);
    then ("tell 8: failed 1 full\n");
    lock (8, 2, 300, 0);
    wait_ms (299);
    then ("");
    wait_ms (1);
    then ("tell 8: failed 2 timedout\n");
    wait_ms (500); /* and its ticket is gone from the queue */
    lock (9, 1, -1, 0);
    unlock (7, 1);
    ck_assert_ptr_nonnull (strstr (told, "tell 9: locked 1 "));
}
END_TEST

/*  Before there is a leader, a request waits; a try does for 5 s. */
START_TEST (requests_wait_for_leaders)
{
    then ("persist promised=0 active=0 session=1\n");
    lock (7, 1, -1, 0);
    then ("");
    wait_ms (2000);
    then ("persist promised=1 active=0 session=1\n"
          "persist promised=1 active=1 session=1\n"
          "tell 7: locked 1 token=1/2\n");
}
END_TEST

/*  The holder is told in time. The object stays its own until it unlocks, or
 *  the grace (at least 60 s) is over, too. */
START_TEST (a_duration)
{
    elect_itself ();
    lock (7, 1, -1, 1000);
    lock (8, 1, -1, 0);
    then ("tell 7: locked 1 token=1/2\n");
    wait_ms (1000);
    then ("tell 7: unlocked 1 timedout\n");
    wait_ms (59000);
    then ("");
    wait_ms (2000);
    then ("tell 8: locked 1 token=1/4\n");
}
END_TEST

START_TEST (a_duration_and_an_unlock)
{
    elect_itself ();
    lock (7, 1, -1, 1000);
    lock (8, 1, -1, 0);
    wait_ms (1500);
    unlock (7, 1);
    then ("tell 7: locked 1 token=1/2\n"
          "tell 7: unlocked 1 timedout\n"
          "tell 7: unlocked 1 late\n"
          "tell 8: locked 1 token=1/4\n");
}
END_TEST

START_TEST (anybody_with_the_key)
{
    elect_itself ();
    lock (7, 1, -1, 0);
    then ("tell 7: locked 1 token=1/2\n");
    unlock_by_key (8, 1, key ^ 1);
    then ("tell 8: failed 1 denied\n");
    unlock_by_key (8, 2, key);
    then ("tell 7: unlocked 1 released\n"
          "tell 8: stopping 2 left=2000\n");
    unlock (7, 1);
    then ("tell 7: unlocked 1 ok\n"
          "tell 8: unlocked 2 ok\n");
    unlock_by_key (8, 3, key);
    then ("tell 8: failed 3 unknown\n");
}
END_TEST

START_TEST (what_makes_no_sense)
{
    elect_itself ();
    lock (7, 1, -2, 0);
    lock (7, 2, -1, -1);
    lock (0, 3, -1, 0);
    unlock (7, 4);
    then ("tell 7: failed 1 invalid\n"
          "tell 7: failed 2 invalid\n"
          "tell 0: failed 3 invalid\n"
          "tell 7: failed 4 unknown\n");
}
END_TEST

/*  The session is over, and everybody is told so. */
START_TEST (it_stops)
{
    elect_itself ();
    lock (7, 1, -1, 0);
    lock (8, 1, -1, 0);
    told[0] = '\0';
    stop ();
    then ("lease over session=1\n"
          "tell 7: unlocked 1 shutdown\n"
          "tell 8: failed 1 shutdown\n");
    unlock (7, 1);
    then ("tell 7: unlocked 1 ok\n"
          "lease over session=1\n"
          "persist promised=1 active=1 session=2\n");
    ck_assert_int_eq (lk_node_deadline (node), INT64_MAX);
    lock (9, 1, -1, 0);
    then ("");
}
END_TEST

/*  -------------------------------------------------------- a proxy */

/*  Host 1 leads alone in term 3; this one is no member. */
static lk_decree decree = {.term = {3, LEADER_ID},
                           .members = LK_HOST_BIT (LEADER),
                           .leader_count = 1,
                           .leader = {LEADER}};

static void
start_as_proxy (void)
{
    lk_node_config config;
    lk_node_config_init (&config);
    config.eligible = false;
    start (&config);
    then ("persist promised=0 active=0 session=1\n");
}

static void
give (lk_lock_message *message)
{
    message->from = LEADER;
    message->to = SELF;
    message->origin = message->destination = LK_NOBODY;
    lk_event event = {.type = LK_ON_MESSAGE, .message = message};
    step (&event);
}

/*  The leader pings, echoing our clock of now, and vouches for `session`. */
static void
leader_pings (uint64_t session)
{
    lk_lock_message message = {.kind = LK_MSG_PING};
    message.as.ping = (lk_msg_ping) {.at = now_ms,
                                     .incarnation = 1,
                                     .has_echo = session != 0,
                                     .echo_at = now_ms,
                                     .echo_incarnation = 1,
                                     .active = decree,
                                     .promised = decree.term,
                                     .table = decree,
                                     .ready = true,
                                     .well = true,
                                     .sees = 3,
                                     .session = 1,
                                     .vouch = session};
    give (&message);
}

static void
leader_locks (uint64_t session, uint64_t serial, uint64_t token, int64_t as_of)
{
    lk_lock_message message = {.kind = LK_MSG_LOCKED, .term = decree.term};
    message.as.reply = (lk_msg_reply) {.request = {SELF, session, serial},
                                       .object = name ("x"),
                                       .token = (uint64_t) 3 << 32 | token,
                                       .key = 99,
                                       .as_of = as_of,
                                       .left_ms = -1};
    give (&message);
}

static void
leader_unlocks (uint64_t session, uint64_t serial)
{
    lk_lock_message message = {.kind = LK_MSG_UNLOCKED, .term = decree.term};
    message.as.reply = (lk_msg_reply) {.request = {SELF, session, serial},
                                       .object = name ("x")};
    give (&message);
}

/*  The leader has lost its table and begins anew, asking for reports. */
static void
leader_begins_a_reclaim (uint64_t term)
{
    decree.term.number = term;
    decree.reclaim = true;
    lk_lock_message message = {.kind = LK_MSG_READY, .term = decree.term};
    message.as.decree = (lk_msg_decree) {.decree = decree, .holder = LK_NOBODY};
    give (&message);
}

static void
leader_has_the_report (void)
{
    lk_lock_message message = {.kind = LK_MSG_REPORTED, .term = decree.term};
    message.as.report.session = 1;
    give (&message);
}

static bool
is_ready (void)
{
    lk_node_status status;
    lk_node_get_status (node, &status);
    return status.ready;
}

/*  Nothing is sent before a leader vouches for the session. */
START_TEST (a_host_that_is_no_member)
{
    lock (7, 1, -1, 0);
    leader_pings (0);
    then ("persist promised=3 active=3 session=1\n");
    leader_pings (1); /* not newer than the ping before */
    then ("");
    now_ms++;
    leader_pings (1);
    then ("send lock to 1 request=1/1\n");
    leader_locks (1, 1, 9, now_ms);
    then ("tell 7: locked 1 token=3/9\n");
    unlock (7, 1);
    then ("send unlock to 1 request=1/1\n");
    leader_unlocks (1, 1);
    then ("tell 7: unlocked 1 ok\n");
}
END_TEST

/*  Ever more seldom, since a home that has it calls back. */
START_TEST (what_is_not_answered_is_said_again)
{
    leader_pings (1);
    told[0] = '\0';
    lock (7, 1, -1, 0);
    for (int i = 0; i < 24; i++) {
        wait_ms (250);
        leader_pings (1);
    }
    then ("send lock to 1 request=1/1\n"
          "send lock to 1 request=1/1\n"
          "send lock to 1 request=1/1\n"
          "send lock to 1 request=1/1\n");
    app_gone (7);
    for (int i = 0; i < 4; i++) {
        wait_ms (250);
        leader_pings (1);
    }
    then ("send unlock to 1 request=1/1\n"
          "send unlock to 1 request=1/1\n");
}
END_TEST

/*  A LOCKED that nobody waits for goes back at once. */
START_TEST (a_grant_that_nobody_wants)
{
    leader_pings (1);
    lock (7, 1, -1, 0);
    app_gone (7);
    leader_unlocks (1, 1);
    told[0] = '\0';
    leader_locks (1, 1, 9, now_ms); /* was late */
    then ("send unlock to 1 request=1/1\n");
    leader_locks (1, 5, 9, now_ms); /* was never asked for */
    then ("");
    leader_locks (2, 1, 9, now_ms); /* of another session */
    then ("");
}
END_TEST

/*  The home had not heard of us for a host lease: it may be somebody else's
 *  by now. */
START_TEST (a_grant_that_is_too_old)
{
    leader_pings (1);
    lock (7, 1, -1, 0);
    told[0] = '\0';
    leader_locks (1, 1, 9, now_ms - 8000);
    then ("");
    leader_locks (1, 1, 9, now_ms - 7999);
    then ("tell 7: locked 1 token=3/9\n");
}
END_TEST

/*  8 s after the last vouch the locks are gone, although nobody could tell
 *  us; what waits goes over into the next session. */
START_TEST (isolated)
{
    leader_pings (1);
    lock (7, 1, -1, 0);
    lock (8, 1, -1, 0);
    leader_locks (1, 1, 9, now_ms);
    ck_assert_ptr_nonnull (strstr (told, "tell 7: locked 1 token=3/9\n"));
    wait_ms (7999);
    ck_assert_ptr_null (strstr (told, "unlocked"));
    told[0] = '\0';
    wait_ms (1);
    then ("lease over session=1\n"
          "tell 7: unlocked 1 isolated\n"
          "persist promised=3 active=3 session=2\n");
    leader_pings (1); /* for a session that is over: too late */
    then ("");
    now_ms++;
    leader_pings (2);
    then ("send lock to 1 request=2/3\n");
}
END_TEST

/*  What is held survives all leaders: the home is told of it, with its token,
 *  and nothing of the term before counts any more. */
START_TEST (a_reclaim)
{
    leader_pings (1);
    lock (7, 1, -1, 0);
    leader_locks (1, 1, 9, now_ms);
    lock (8, 1, -1, 0);
    ck_assert (is_ready ());
    told[0] = '\0';
    const lk_term old = decree.term;
    leader_begins_a_reclaim (5);
    then ("persist promised=5 active=5 session=1\n"
          "send lock to 1 request=1/2\n"
          "send report to 1 session=1 tickets=1\n");
    ck_assert (!is_ready ());
    decree.term = old;
    leader_locks (1, 2, 10, now_ms); /* late, of the former term */
    then ("");
    decree.term.number = 5;
    leader_has_the_report ();
    ck_assert (is_ready ());
    leader_locks (1, 2, 11, now_ms);
    then ("tell 8: locked 1 token=3/11\n");
}
END_TEST

/*  -------------------------------------------------------- all of it */

static TCase *
alone_tests (void)
{
    TCase *tests = tcase_create ("alone");
    tcase_add_checked_fixture (tests, start_alone, end);
    tcase_add_test (tests, one_host_elects_itself);
    tcase_add_test (tests, lock_and_unlock);
    tcase_add_test (tests, the_next_gets_it);
    tcase_add_test (tests, a_request_said_again_is_the_same);
    tcase_add_test (tests, a_try_and_a_wait);
    tcase_add_test (tests, requests_wait_for_leaders);
    tcase_add_test (tests, a_duration);
    tcase_add_test (tests, a_duration_and_an_unlock);
    tcase_add_test (tests, anybody_with_the_key);
    tcase_add_test (tests, what_makes_no_sense);
    tcase_add_test (tests, it_stops);
    return tests;
}

static TCase *
proxy_tests (void)
{
    TCase *tests = tcase_create ("proxy");
    tcase_add_checked_fixture (tests, start_as_proxy, end);
    tcase_add_test (tests, a_host_that_is_no_member);
    tcase_add_test (tests, what_is_not_answered_is_said_again);
    tcase_add_test (tests, a_grant_that_nobody_wants);
    tcase_add_test (tests, a_grant_that_is_too_old);
    tcase_add_test (tests, isolated);
    tcase_add_test (tests, a_reclaim);
    return tests;
}

int
main (void)
{
    Suite *suite = suite_create ("core_story");
    suite_add_tcase (suite, alone_tests ());
    suite_add_tcase (suite, proxy_tests ());
    return lk_suite_run (suite);
}
