/*  vectors_lock.c - the examples of tests/vectors are what is said of locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What the library asks and the service answers is compared field by field,
 *  and the service hears the questions of the examples. Between lock services
 *  it is LOCKSTARTED alone; lock_codec.c has the others.
 */

#include "vectors.h"

#include "client/book.h"
#include "client/letter.h"

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
    const TTest *const services[] = {started, started_is_heard};
    const group groups[] = {
        GROUP ("locks", locks, set_up_demo),
        GROUP ("kinds", kinds, set_up_demo),
        GROUP ("library", library, set_up_demo),
        GROUP ("services", services, set_up_demo),
    };
    return run_groups ("vectors_lock", groups,
                       sizeof groups / sizeof groups[0]);
}
