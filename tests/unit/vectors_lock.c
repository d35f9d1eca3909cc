/*  vectors_lock.c - the examples of tests/vectors are what is said of locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What the library asks and the service answers is compared field by field,
 *  and the service hears the questions of the examples. Between lock services
 *  it is LOCKSTARTED alone; lock_codec.c has the others.
 */

#include "lock_fake.h"

#include "client/book.h"
#include "client/letter.h"
#include "lib/example.h"

#define APP "backup-4711@h1"
#define LEASE_PAGE "/run/lockkeeper/lock.lease"
#define TOKEN 0x0000000700000004u
#define KEY 0xc0ffee5eed1e55a7u
#define HASH 0x9e1c5ad2037b84f6u

/*  -------------------------------------------------------- in and out */

static void
hear (const char *example)
{
    give (lk_vector_message (lk_vector_find (example)));
}

static void
compare (lk_message *message, const char *example)
{
    const lk_vector *wanted = lk_vector_find (example);
    lk_message_set_from (message, wanted->from);
    const char *difference = lk_vector_differs (wanted, message);
    ck_assert_msg (difference[0] == '\0', "%s", difference);
}

/*  What the service said is the example, and nothing else. */
static void
says (const char *example)
{
    ck_assert_uint_eq (bus.count, 1);
    compare (bus.sent[0], example);
    forget_sent ();
}

static void
set_up_demo (void)
{
    begin ();
    write_genesis ("demo");
    open_lockd ();
    attach ();
    forget_sent ();
    node.count = 0;
}

/*  -------------------------------------------------------- locks */

/*  The core's answer to the application's request 1, or 3. */
static lk_answer *
next_answer (lk_answer_kind kind, uint64_t serial, lk_err error)
{
    const uint32_t app = lk_apps_find (&lockd.apps, APP)->number;
    add_answer (kind, app, serial, error);
    lk_answer *answer = &node.effect[node.effect_count - 1].answer;
    answer->token = TOKEN;
    answer->key = KEY;
    answer->ordinal = 1;
    return answer;
}

static void
answer (lk_answer_kind kind, lk_err error)
{
    (void) next_answer (kind, 1, error);
    tick ();
}

static const lk_app_request *
ask_for (const char *example)
{
    hear (example);
    const lk_app_request *asked = &last_event (LK_ON_LOCK)->request;
    ck_assert_uint_eq (asked->serial, 1);
    return asked;
}

static lk_answer *
next_grant (void)
{
    add_effect ((lk_effect) {
        .type = LK_DO_LEASE, .session = 3, .lease_until_ms = 86408000});
    return next_answer (LK_ANSWER_LOCKED, 1, LK_OK);
}

/*  It is told the grant that next_grant () gave. */
static void
granted (const char *example)
{
    tick ();
    ck_assert_uint_eq (bus.count, 1);
    lk_message_set_text (bus.sent[0], "lease_page", LEASE_PAGE);
    says (example);
}

static void
grant (void)
{
    (void) next_grant ();
    granted ("app-locked");
}

static void
lock (void)
{
    const lk_app_request *asked = ask_for ("app-lock");
    ck_assert_int_eq (asked->wait_ms, 10000);
    ck_assert_int_eq (asked->duration_ms, 0);
    ck_assert_uint_eq (asked->pid, 4711);
}

START_TEST (locked_and_unlocked)
{
    lock ();
    grant ();
    hear ("app-unlock");
    ck_assert_uint_eq (last_event (LK_ON_UNLOCK)->request.serial, 1);
    answer (LK_ANSWER_UNLOCKED, LK_OK);
    says ("app-unlocked");
}
END_TEST

START_TEST (late)
{
    lock ();
    grant ();
    hear ("app-unlock");
    answer (LK_ANSWER_UNLOCKED, LK_LATE);
    says ("app-unlocked-late");
}
END_TEST

START_TEST (failed)
{
    lock ();
    answer (LK_ANSWER_FAILED, LK_TIMEDOUT);
    says ("app-lockfailed");
}
END_TEST

START_TEST (lost)
{
    lock ();
    grant ();
    answer (LK_ANSWER_UNLOCKED, LK_ISOLATED);
    says ("app-unlocked-lost");
}
END_TEST

START_TEST (forced)
{
    lock ();
    grant ();
    next_answer (LK_ANSWER_UNLOCKED, 1, LK_FORCED)->reason =
        (lk_name) {"hung since noon", 15};
    tick ();
    says ("app-unlocked-forced");
}
END_TEST

START_TEST (jeopardy)
{
    lock ();
    grant ();
    next_answer (LK_ANSWER_JEOPARDY, 1, LK_OK)->danger = true;
    tick ();
    says ("app-lockjeopardy");
    answer (LK_ANSWER_JEOPARDY, LK_OK);
    ck_assert (!lk_message_flag (only_sent (APP, "LOCKJEOPARDY"), "danger"));
}
END_TEST

START_TEST (unlocked_by_key)
{
    hear ("app-unlock-key");
    const lk_app_request *asked = &last_event (LK_ON_UNLOCK_BY_KEY)->request;
    ck_assert_uint_eq (asked->serial, 3);
    ck_assert_uint_eq (asked->key, KEY);
    (void) next_answer (LK_ANSWER_UNLOCKED, 3, LK_OK);
    tick ();
    says ("app-unlocked-key");
}
END_TEST

START_TEST (unlocked_by_force)
{
    hear ("app-unlock-force");
    const lk_app_request *asked = &last_event (LK_ON_FORCE)->request;
    ck_assert_uint_eq (asked->serial, 3);
    ck_assert_uint_eq (asked->token, TOKEN);
    ck_assert_uint_eq (asked->reason.size, 15);
    ck_assert_mem_eq (asked->reason.data, "hung since noon", 15);
    (void) next_answer (LK_ANSWER_UNLOCKED, 3, LK_OK);
    tick ();
    says ("app-unlocked-key");
}
END_TEST

START_TEST (stopping)
{
    hear ("app-unlock-force");
    lk_answer *pending = next_answer (LK_ANSWER_PENDING, 3, LK_OK);
    pending->host = lk_hostmap_intern (&lockd.hostmap, "h2", 0);
    pending->left_ms = 2000;
    pending->silent_ms = -1;
    tick ();
    says ("app-lockstopping");
    pending = next_answer (LK_ANSWER_PENDING, 3, LK_OK);
    pending->host = lk_hostmap_intern (&lockd.hostmap, "h3", 0);
    pending->left_ms = 7100;
    pending->silent_ms = 3900;
    tick ();
    says ("app-lockstopping-silent");
    (void) next_answer (LK_ANSWER_UNLOCKED, 3, LK_OK);
    tick ();
    says ("app-unlocked-key");
}
END_TEST

START_TEST (checked)
{
    hear ("app-lockcheck");
    const lk_app_request *asked = &last_event (LK_ON_CHECK)->request;
    ck_assert_uint_eq (asked->token, TOKEN);
    next_answer (LK_ANSWER_CHECKED, 3, LK_OK)->newest = 0x700000009;
    tick ();
    says ("app-lockcheck-answer");
}
END_TEST

/*  -------------------------------------------------------- other kinds */

START_TEST (name_of_bytes)
{
    const lk_app_request *asked = ask_for ("app-lock-bytes");
    ck_assert_uint_eq (asked->object.size, 18);
    ck_assert_mem_eq (asked->object.data, "red\0nightly\0\0\xffkey\n", 18);
    (void) next_grant ();
    granted ("app-locked-bytes");
}
END_TEST

START_TEST (semaphore)
{
    const lk_app_request *asked = ask_for ("app-lock-semaphore");
    ck_assert_int_eq (asked->mode.type, LK_SEMAPHORE);
    ck_assert_uint_eq (asked->mode.limit, 5);
    ck_assert_uint_eq (asked->mode.bound, 3);
    ck_assert (asked->mode.lenient);
    ck_assert_int_eq (asked->wait_ms, 0);
    lk_answer *told = next_grant ();
    told->type = LK_SEMAPHORE;
    told->ordinal = 2;
    told->until_ms = 70000;
    granted ("app-locked-semaphore");
}
END_TEST

START_TEST (soft)
{
    const lk_app_request *asked = ask_for ("app-lock-soft");
    ck_assert (asked->mode.soft);
    ck_assert_uint_eq (asked->mode.quiet_ms, 500);
}
END_TEST

START_TEST (static_lock)
{
    ck_assert (ask_for ("app-lock-static")->mode.is_static);
    (void) next_grant ();
    granted ("app-locked-static");
}
END_TEST

START_TEST (held_before)
{
    const lk_app_request *asked = ask_for ("app-lock-resume");
    ck_assert_uint_eq (asked->token, TOKEN);
    ck_assert_uint_eq (asked->key, KEY);
    ck_assert_int_eq (asked->lease_until_ms, 86408000);
}
END_TEST

START_TEST (lingering)
{
    const lk_app_request *asked = ask_for ("app-lock-key");
    ck_assert_uint_eq (asked->key, KEY);
    ck_assert_int_eq (asked->linger_ms, 5000);
}
END_TEST

START_TEST (turned)
{
    lock ();
    grant ();
    const lk_app_request *asked = ask_for ("app-lock-turn");
    ck_assert_uint_eq (asked->turn, 1);
    ck_assert_int_eq (asked->mode.type, LK_SHARED);
    lk_answer *told = next_grant ();
    told->type = LK_SHARED;
    told->turn = 1;
    granted ("app-locked-turn");
}
END_TEST

START_TEST (not_turned)
{
    lock ();
    grant ();
    (void) ask_for ("app-lock-turn");
    next_answer (LK_ANSWER_FAILED, 1, LK_DEADLOCK)->turn = 1;
    tick ();
    says ("app-lockfailed-turn");
    hear ("app-unlock");
    ck_assert_uint_eq (last_event (LK_ON_UNLOCK)->request.serial, 1);
}
END_TEST

START_TEST (set)
{
    const lk_granted all[] = {{{"\0\0backup/db-1", 13}, TOKEN, KEY},
                              {{"\0\0backup/db-2", 13}, TOKEN + 1, HASH}};
    const lk_app_request *asked = ask_for ("app-lock-set");
    ck_assert_uint_eq (asked->rest_count, 1);
    ck_assert_mem_eq (asked->rest[0].data, "\0\0backup/db-2", 13);
    lk_answer *told = next_grant ();
    told->set = all;
    told->set_count = 2;
    granted ("app-locked-set");
    hear ("app-unlock-set");
    ck_assert_uint_eq (last_event (LK_ON_UNLOCK)->request.serial, 1);
    answer (LK_ANSWER_UNLOCKED, LK_OK);
    says ("app-unlocked-set");
}
END_TEST

START_TEST (set_failed)
{
    (void) ask_for ("app-lock-set");
    answer (LK_ANSWER_FAILED, LK_FULL);
    says ("app-lockfailed-set");
}
END_TEST

/*  -------------------------------------------------------- the library */

/*  What it asks; its number and process are its own. */
static void
library_asks (lk_message *message, uint64_t serial, const char *example)
{
    lk_message_set_serial (message, serial);
    if (lk_message_has (message, "pid")) {
        lk_message_set_number (message, "pid", 4711);
    }
    compare (message, example);
    lk_message_destroy (&message);
}

START_TEST (questions_of_the_library)
{
    char object[] = "backup/db-1", context[] = "";
    const lk_lock plain = {
        .object = object, .len = strlen (object), .context = context};
    lk_lock one = plain;
    one.wish.wait_ms = 10000;
    library_asks (lk_letter_lock (&one, 0), 1, "app-lock");

    one = plain;
    one.serial = 1;
    one.token = TOKEN;
    one.key = KEY;
    library_asks (lk_letter_end (&one), 2, "app-unlock");

    one.deed = LK_DEED_UNLOCK;
    library_asks (lk_letter_end (&one), 3, "app-unlock-key");

    char reason[] = "hung since noon";
    one.deed = LK_DEED_FORCE;
    one.reason = reason;
    library_asks (lk_letter_end (&one), 3, "app-unlock-force");

    one.deed = LK_DEED_CHECK;
    library_asks (lk_letter_end (&one), 3, "app-lockcheck");

    lk_message *grant = lk_vector_message (lk_vector_find ("app-locked"));
    library_asks (lk_letter_give_back (grant), 2, "app-unlock-set");
    lk_message_destroy (&grant);
}
END_TEST

START_TEST (answers_to_the_library)
{
    lk_grant grant;
    lk_message *locked = lk_vector_message (lk_vector_find ("app-locked"));
    ck_assert (lk_letter_read_grant (locked, &grant));
    ck_assert_uint_eq (grant.token, TOKEN);
    ck_assert_uint_eq (grant.key, KEY);
    ck_assert_uint_eq (grant.session, 3);
    ck_assert_int_eq (grant.until_ms, INT64_MAX);
    ck_assert_int_eq (grant.lease_until_ms, 86408000);
    ck_assert_str_eq (grant.lease_page, LEASE_PAGE);
    lk_message_destroy (&locked);
}
END_TEST

/*  -------------------------------------------------------- questions */

/*  DECREE of make.py: of term 7, by h1; h2, h1 and h3 lead. */
static void
elect (void)
{
    const lk_host h2 = lk_hostmap_find (&lockd.hostmap, "h2", 0);
    const lk_host h3 = lk_hostmap_find (&lockd.hostmap, "h3", 0);
    node.status = (lk_node_status) {.decree = {.term = {7, OWN_ID},
                                               .members = lockd.state.genesis,
                                               .leader_count = 3,
                                               .leader = {h2, lockd.self, h3}},
                                    .sees = lockd.state.genesis,
                                    .session = 3,
                                    .requests = 1,
                                    .tickets = 2};
}

static const lk_node_wait waits[] = {
    {.object = {"\0\0backup/db-2", 13},
     .holders = 2,
     .waiters = 1,
     .longest_ms = 90},
    {.object = {"\0\0backup/db-1", 13},
     .holders = 1,
     .waiters = 3,
     .longest_ms = 1500},
};

/*  As of so long ago. */
static void
note (lk_past_event event, int64_t ago_ms)
{
    const lk_past past = {.event = event,
                          .at_ms = bus.now_ms - ago_ms,
                          .key = {"\0\0backup/db-1", 13},
                          .held_ms = event == LK_PAST_RELEASED ? 1500 : 0};
    lk_journal_add (lockd.journal, &past);
}

static const lk_node_own own[] = {
    {.ticket = {.request = {0, 3, 9}, .object = {"\0\0backup/db-1", 13}},
     .left_ms = -1},
    {.ticket = {.request = {0, 3, 7},
                .object = {"\0nightly\0backup/db-1", 20},
                .owner = {APP, sizeof APP - 1},
                .pid = 4711,
                .duration_ms = 60000,
                .token = TOKEN,
                .ordinal = 1,
                .age_ms = 5210},
     .danger = true,
     .left_ms = 59999}};

START_TEST (list_of_own)
{
    node.own = own;
    node.owns = 2;
    hear ("app-locklist-own");
    says ("app-locklist-own-answer");
}
END_TEST

START_TEST (status_ready)
{
    elect ();
    node.status.ready = node.status.leads = node.status.endangered = true;
    node.status.phase = "elected";
    node.status.lease_until_ms = bus.now_ms + 7800;
    lockd.alerts = 1;
    node.status.waiting = 4;
    node.status.waited_for = 2;
    node.own = own;
    node.owns = 2;
    note (LK_PAST_GRANTED, 1500);
    snprintf (lockd.alert, sizeof lockd.alert,
              "2026-11-20T12:00:00Z wrong table: host=h3");
    hear ("app-lockstatus");
    says ("app-lockready");
}
END_TEST

START_TEST (alert)
{
    const lk_host h2 = lk_hostmap_find (&lockd.hostmap, "h2", 0);
    const lk_lock_message message = {
        .kind = LK_MSG_ALERT,
        .from = h2,
        .term = {7, OWN_ID},
        .as.alert = {.cause = LK_ALERT_STREAM,
                     .host = lk_hostmap_find (&lockd.hostmap, "h3", 0),
                     .home = h2,
                     .sequence = 9,
                     .hash = HASH,
                     .expected = KEY}};
    const lk_effect effect = {.type = LK_DO_ALERT,
                              .message = &message,
                              .text = "wrong table: host=h3"};
    lk_lockd_alert (&lockd, &effect);
    says ("app-lockalert");
    ck_assert_uint_eq (lockd.alerts, 1);
    ck_assert_ptr_nonnull (strstr (lockd.alert, "Z wrong table: host=h3"));
    ck_assert (lockd.status_changed);
}
END_TEST

START_TEST (status_not_ready)
{
    elect ();
    node.status.phase = "pause";
    node.status.sees = LK_HOST_BIT (lockd.self);
    hear ("app-lockstatus");
    says ("app-nolock");
}
END_TEST

START_TEST (list_of_tickets)
{
    const lk_host h2 = lk_hostmap_find (&lockd.hostmap, "h2", 0);
    const lk_ticket tickets[] = {
        {.request = {lockd.self, 3, 1},
         .object = {"\0\0backup/db-1", 13},
         .owner = {APP, sizeof APP - 1},
         .pid = 4711,
         .duration_ms = 60000,
         .token = TOKEN,
         .ordinal = 1,
         .age_ms = 5210},
        {.request = {h2, 9, 1},
         .object = {"red\0nightly\0backup/db-1", 23},
         .owner = {"run-88@h2", 9},
         .pid = 88,
         .number = TOKEN + 1,
         .mode = {.soft = true, .quiet_ms = 500},
         .age_ms = 310},
        {.request = {h2, 9, 2},
         .object = {"\0\0backup/db-2", 13},
         .owner = {"run-89@h2", 9},
         .pid = 89,
         .duration_ms = 250,
         .number = TOKEN + 1,
         .token = TOKEN,
         .mode = {.type = LK_SHARED, .is_static = true},
         .kept = true,
         .ordinal = 3,
         .turn = 1,
         .upgrade = true,
         .age_ms = 310},
        {.request = {h2, 9, 3},
         .object = {"\0\0\0\xffkey\n", 8},
         .owner = {"run-90@h2", 9},
         .pid = 90,
         .mode =
             {.type = LK_SEMAPHORE, .limit = 5, .bound = 3, .lenient = true},
         .age_ms = 310}};
    node.status.leads = true;
    node.ticket = tickets;
    node.tickets = 4;
    node.in_grace = LK_HOST_BIT (h2);
    node.grace_ms = 59940;
    node.silent = LK_HOST_BIT (h2);
    node.silence = (lk_node_silence) {.silent_ms = 4000, .free_ms = 7900};
    hear ("app-locklist");
    says ("app-locklist-answer");
}
END_TEST

START_TEST (list_of_one)
{
    const lk_ticket tickets[] = {
        {.object = {"\0\0backup/db-1", 13}},
        {.object = {"\0nightly\0backup/db-1", 20}, .pid = 88},
    };
    node.status.leads = true;
    node.ticket = tickets;
    node.tickets = 2;
    hear ("app-locklist-one");
    const lk_message *list = only_sent (APP, "LOCKLIST");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 1);
    lk_message *row = lk_message_row (list, "tickets", 0);
    check_text (row, "context", "nightly");
    ck_assert_int_eq (lk_message_number (row, "pid", 0), 88);
    lk_message_destroy (&row);
}
END_TEST

START_TEST (owners)
{
    lockd.session = 3;
    node.demand = (lk_node_demand) {.app_serial = 1, .pid = 4711, .danger = 1};
    hear ("app-lockowners");
    says ("app-lockowners-answer");
}
END_TEST

START_TEST (history)
{
    lk_app *app = lk_apps_by_number (&lockd.apps, ask (APP, 1, "backup/db-1"));
    const lk_name reason = {"db-1 is broken", 14};
    lk_answer answer = {.kind = LK_ANSWER_LOCKED, .token = TOKEN};
    answer.asked = find_asked (app->number, 1)->asked;
    answer.asked.pid = 4711;
    lk_lockd_note_answer (&lockd, app, &answer);
    answer.asked.course = (lk_course) {bus.now_ms, bus.now_ms, TOKEN};
    lk_lockd_note_answer (&lockd, app, &answer);
    bus.now_ms += 1000;
    lk_lockd_note_force (&lockd, lk_apps_intern (&lockd.apps, "cli-8@h1"),
                         &(lk_app_request) {.object = answer.asked.object,
                                            .token = TOKEN,
                                            .reason = reason});
    bus.now_ms += 500;
    answer = (lk_answer) {LK_ANSWER_UNLOCKED, .asked = answer.asked,
                          .error = LK_FORCED, .reason = reason};
    lk_lockd_note_answer (&lockd, app, &answer);
    answer.asked.course = (lk_course) {0};
    lk_lockd_note_answer (&lockd, app, &answer);
    forget_sent ();
    hear ("app-lockhistory");
    says ("app-lockhistory-answer");
    hear ("app-lockhistory-after");
    says ("app-lockhistory-answer");
}
END_TEST

START_TEST (top)
{
    node.status.leads = true;
    node.wait = waits;
    node.waits = 2;
    bus.now_ms += 20000;
    note (LK_PAST_GRANTED, 20000); /* too long ago */
    note (LK_PAST_GRANTED, 1500);
    note (LK_PAST_RELEASED, 0);
    hear ("app-locktop");
    says ("app-locktop-answer");
}
END_TEST

START_TEST (list_is_elsewhere)
{
    elect ();
    node.status.decree.leader_count = 2;
    node.status.decree.leader[1] = node.status.decree.leader[2];
    hear ("app-locklist");
    says ("app-locklist-elsewhere");
}
END_TEST

/*  DECREE again, but h2 and h1 alone lead, and h3 is silent; h4 is heard. */
static void
elect_two (void)
{
    const lk_host h2 = lk_hostmap_intern (&lockd.hostmap, "h2", ID2);
    const lk_host h3 = lk_hostmap_intern (&lockd.hostmap, "h3", ID3);
    const lk_host h4 = lk_hostmap_intern (&lockd.hostmap, "h4", ID4);
    elect ();
    lockd.hostmap.entry[lockd.self].id = ID1;
    node.status.decree.leader_count = 2;
    node.status.sees &= ~LK_HOST_BIT (h3);
    node.status.sees |= LK_HOST_BIT (h4);
    node.status.decree.leader[0] = h2;
}

START_TEST (list_of_members)
{
    elect_two ();
    hear ("app-lockmembers");
    says ("app-lockmembers-answer");
}
END_TEST

START_TEST (members_elsewhere)
{
    elect_two ();
    hear ("app-lockmembers-add");
    says ("app-lockmembers-elsewhere");
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (members_not_changed)
{
    elect_two ();
    node.status.decree.leader[0] = lockd.self;
    hear ("app-lockmembers-remove");
    ck_assert (!last_event (LK_ON_CHANGE)->add);
    add_effect ((lk_effect) {.type = LK_DO_CHANGED,
                             .error = LK_REFUSED,
                             .text = "it is the last member"});
    tick ();
    says ("app-lockmembers-failed");
}
END_TEST

/*  -------------------------------------------------------- LOCKSTARTED */

/*  Own values differ; each field is there, and what is around the core is
 *  the same. */
START_TEST (started)
{
    static const char *const same[] = {"stage",        "answer",     "eligible",
                                       "protocol",     "cluster",    "genesis",
                                       "leader_lease", "host_lease", NULL};
    const lk_vector *wanted = lk_vector_find ("lock-started");
    lk_lockd_announce (&lockd, "*");
    const lk_message *message = only_sent ("lock@*", wanted->command);
    char problem[128];
    json_t *body = lk_json_read (lk_slice_of (lk_message_body (message)),
                                 problem, sizeof problem);
    const char *name;
    json_t *value;
    json_object_foreach (wanted->body, name, value) {
        /*  To all: to nobody's id. */
        ck_assert_msg (json_object_get (body, name)
                           || strcmp (name, "to_id") == 0,
                       "no %s", name);
    }
    json_object_foreach (body, name, value) {
        ck_assert_msg (json_object_get (wanted->body, name) != NULL,
                       "%s is not in the example", name);
    }
    for (size_t i = 0; same[i]; i++) {
        ck_assert_msg (json_equal (json_object_get (body, same[i]),
                                   json_object_get (wanted->body, same[i])),
                       "another %s", same[i]);
    }
    json_decref (body);
}
END_TEST

/*  h1 of the example's cluster takes it. */
START_TEST (started_is_heard)
{
    hear ("lock-started");
    ck_assert_int_eq (lk_peers_intern (&lockd.peers, "h2", ID2)->state,
                      LK_OTHER_ACCEPTED);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

int
main (void)
{
    const TTest *const locks[] = {locked_and_unlocked,
                                  late,
                                  failed,
                                  lost,
                                  forced,
                                  jeopardy,
                                  unlocked_by_key,
                                  unlocked_by_force,
                                  stopping,
                                  checked};
    const TTest *const kinds[] = {
        name_of_bytes, semaphore,   soft,       static_lock, lingering,
        turned,        held_before, not_turned, set,         set_failed};
    const TTest *const library[] = {questions_of_the_library,
                                    answers_to_the_library};
    const TTest *const questions[] = {status_ready,
                                      status_not_ready,
                                      list_of_tickets,
                                      list_is_elsewhere,
                                      list_of_members,
                                      members_elsewhere,
                                      members_not_changed,
                                      alert,
                                      list_of_one,
                                      list_of_own,
                                      owners,
                                      history,
                                      top};
    const TTest *const services[] = {started, started_is_heard};
    const group groups[] = {
        GROUP ("locks", locks, set_up_demo),
        GROUP ("kinds", kinds, set_up_demo),
        GROUP ("library", library, set_up_demo),
        GROUP ("questions", questions, set_up_demo),
        GROUP ("services", services, set_up_demo),
    };
    return run_groups ("vectors_lock", groups,
                       sizeof groups / sizeof groups[0]);
}
