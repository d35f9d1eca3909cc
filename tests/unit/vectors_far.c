/*  vectors_far.c - the examples of tests/vectors are what is said of locks on
 *  other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "far.h"
#include "vectors.h"

#include "lib/refusals.h"

#define FAR "far-bb88471d65e2659b-backup-4711@h1"
#define DRAWN 0x5ca1ab1e0ddba115u
#define OTHER_KEY "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

/*  -------------------------------------------------------- in and out */

static void
hear_status (void)
{
    lk_message *status = lk_vector_message (lk_vector_find ("status-far"));
    lk_lockd_service.event (&lockd, status);
    lk_message_destroy (&status);
    forget_sent ();
}

/*  The same example with another field, or without (NULL). */
static void
hear_with (const char *example, const char *field, const char *text)
{
    const lk_vector *vector = lk_vector_find (example);
    lk_message *whole = lk_vector_message (vector);
    lk_message *message = lk_message_new (vector->to, vector->command);
    static const char *const texts[] = {"object", "type",   "drawn",  "token",
                                        "key",    "secret", "secret2"};
    static const char *const numbers[] = {"registration", "lease", "sent",
                                          "left",         "pid",   "request"};
    lk_message_set_from (message, vector->from);
    lk_message_set_serial (message, vector->serial);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *value = lk_message_text (whole, texts[i]);
        if (value && strcmp (texts[i], field) != 0) {
            lk_message_set_text (message, texts[i], value);
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (lk_message_has (whole, numbers[i])
            && strcmp (numbers[i], field) != 0) {
            lk_message_set_number (message, numbers[i],
                                   lk_message_number (whole, numbers[i], 0));
        }
    }
    if (lk_message_flag (whole, "again") && strcmp ("again", field) != 0) {
        lk_message_set_flag (message, "again", true);
    }
    if (text) {
        lk_message_set_text (message, field, text);
    }
    lk_message_destroy (&whole);
    give (message);
}

/*  Of the last registration, or of none. */
static lk_answer *
next_answer (lk_answer_kind kind, uint32_t app, uint64_t serial)
{
    add_answer (kind, app, serial, LK_OK);
    lk_answer *answer = &node.effect[node.effect_count - 1].answer;
    answer->token = TOKEN;
    answer->key = KEY;
    answer->ordinal = 1;
    answer->far = (lk_registered) {.number = 2, .drawn = DRAWN};
    return answer;
}

/*  The application's number of the registration. */
static uint32_t app;

static void
registered (void)
{
    hear_status ();
    app = lockd.apps.last_number + 1;
    (void) next_answer (LK_ANSWER_READY, app, 0);
    hear ("app-lockregister");
}

static void
set_up_far (void)
{
    set_up_demo ();
    registered ();
}

/*  -------------------------------------------------------- registrations */

START_TEST (registers)
{
    says ("app-lockregister-answer");
    lk_lockd_tell_status (&lockd, NULL, NULL);
    ck_assert_int_eq (lk_message_number (bus.sent[0], "registrations", -1), 1);
    forget_sent ();
    const lk_event *event = last_event (LK_ON_REGISTER);
    ck_assert_uint_eq (event->request.far.number, 2);
    ck_assert_uint_eq (event->request.far.drawn, 0);
    ck_assert_int_eq (event->request.left_ms, 8000);
    ck_assert_uint_eq (event->request.app, app);
    /*  Once more it is the same one. */
    const lk_registered id = event->request.far;
    (void) next_answer (LK_ANSWER_READY, app, 0);
    hear ("app-lockregister");
    says ("app-lockregister-answer");
    event = last_event (LK_ON_REGISTER);
    ck_assert_uint_eq (event->request.app, app);
    ck_assert_mem_eq (event->request.far.owner, id.owner, sizeof id.owner);
}
END_TEST

/*  By the key, and by the secret. */
START_TEST (who_it_is)
{
    const lk_registered id = last_event (LK_ON_REGISTER)->request.far;
    forget_sent ();
    hear_with ("app-lockregister", "secret2", "0000000000000001");
    const lk_registered other = last_event (LK_ON_REGISTER)->request.far;
    ck_assert_mem_ne (id.owner, other.owner, sizeof id.owner);
    /*  The core has not taken it: nothing is left of it. */
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (HASH_CNT (by_id, lockd.apps.by_id), 1);
    lk_app *session = lk_apps_find (&lockd.apps, FAR);
    snprintf (session->key, sizeof session->key, "%s", OTHER_KEY);
    hear ("app-lockregister");
    const lk_registered thief = last_event (LK_ON_REGISTER)->request.far;
    ck_assert_mem_ne (id.owner, thief.owner, sizeof id.owner);
    hear ("app-locklease");
    ck_assert (lk_message_is (bus.sent[0], "LOCKUNREGISTERED"));
}
END_TEST

START_TEST (leases)
{
    forget_sent ();
    hear ("app-locklease");
    const lk_app_request *asked = &last_event (LK_ON_LEASE)->request;
    ck_assert_int_eq (asked->sent, 71000);
    ck_assert_uint_eq (asked->far.drawn, DRAWN);
    ck_assert_uint_eq (asked->app, app);
    lk_answer *answer = next_answer (LK_ANSWER_LEASE, app, 0);
    answer->sent = 71000;
    answer->left_ms = 8000;
    tick ();
    says ("app-locklease-answer");
}
END_TEST

START_TEST (moves_and_ends)
{
    forget_sent ();
    (void) next_answer (LK_ANSWER_MOVE, app, 0);
    tick ();
    says ("app-lockmove");
    lk_answer *ended = next_answer (LK_ANSWER_UNKNOWN, app, 0);
    node.effect[node.effect_count - 1].type = LK_DO_ENDED;
    ended->asked =
        (lk_asked) {.asks = LK_ON_LOCK,
                    .object = {"x", 1},
                    .course = {bus.now_ms - 9, bus.now_ms - 7, TOKEN}};
    (void) next_answer (LK_ANSWER_UNKNOWN, app, 0);
    tick ();
    lk_past past;
    lk_recent_place place = lk_recent_begin (lockd.recent);
    ck_assert (lk_recent_next (lockd.recent, &place, &past));
    ck_assert_int_eq (past.event, LK_PAST_ENDED);
    ck_assert_mem_eq (past.owner.data, FAR, past.owner.size);
    ck_assert_uint_eq (past.token, TOKEN);
    ck_assert_uint_eq (past.held_ms, 7);
    says ("app-lockunregistered");
    ck_assert_ptr_null (lk_apps_by_number (&lockd.apps, app));
    const size_t count = node.count;
    hear ("app-locklease");
    ck_assert (lk_message_is (bus.sent[0], "LOCKUNREGISTERED"));
    ck_assert_uint_eq (lk_message_serial (bus.sent[0]), 2);
    forget_sent ();
    hear ("app-lockgoodbye");
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, count);
}
END_TEST

START_TEST (ends_with_its_credential)
{
    forget_sent ();
    next_answer (LK_ANSWER_UNKNOWN, app, 0)->error = LK_CREDENTIAL;
    tick ();
    says ("app-lockunregistered-credential");
    ck_assert_ptr_null (lk_apps_by_number (&lockd.apps, app));
}
END_TEST

/*  By its numbers alone nobody speaks of it. */
START_TEST (whose_it_is)
{
    const size_t count = node.count;
    lk_app *other =
        lk_apps_intern (&lockd.apps, "far-bb88471d65e2659b-other@h1");
    snprintf (other->key, sizeof other->key, "%s",
              lk_apps_find (&lockd.apps, FAR)->key);
    other->attached = lockd.attachment;
    lk_message *lease = lk_vector_message (lk_vector_find ("app-locklease"));
    lk_message_set_from (lease, other->address);
    forget_sent ();
    give (lease);
    ck_assert (lk_message_is (bus.sent[0], "LOCKUNREGISTERED"));
    lease = lk_vector_message (lk_vector_find ("app-locklease"));
    lk_message_set_number (lease, "registration", 3);
    forget_sent ();
    give (lease);
    ck_assert (lk_message_is (bus.sent[0], "LOCKUNREGISTERED"));
    ck_assert_int_eq (lk_message_number (bus.sent[0], "registration", 0), 3);
    ck_assert_uint_eq (node.count, count);
}
END_TEST

START_TEST (says_goodbye)
{
    forget_sent ();
    hear ("app-lockgoodbye");
    ck_assert_uint_eq (last_event (LK_ON_GOODBYE)->request.far.drawn, DRAWN);
    ck_assert_ptr_null (lk_apps_by_number (&lockd.apps, app));
    ck_assert_ptr_null (lockd.apps.by_drawn);
    ck_assert_ptr_null (lockd.apps.payers);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  -------------------------------------------------------- locks */

START_TEST (locks)
{
    forget_sent ();
    hear ("app-lock-far");
    const lk_app_request *asked = &last_event (LK_ON_LOCK)->request;
    ck_assert_uint_eq (asked->app, app);
    ck_assert_uint_eq (asked->far.number, 2);
    ck_assert_uint_eq (asked->far.drawn, DRAWN);
    ck_assert (!asked->asked_before);
    ck_assert_int_eq (asked->left_ms, 0);
    ck_assert_int_eq (asked->sent, 71200);
    ck_assert_uint_eq (asked->owner.size, strlen (FAR));
    lk_answer *answer = next_answer (LK_ANSWER_LOCKED, app, 1);
    answer->until_ms = bus.now_ms + 30000; /* by the clock of this host */
    answer->sent = 71200;
    answer->left_ms = 29500;
    tick ();
    says ("app-locked-far");
    hear ("app-unlock-far");
    const lk_app_request *back = &last_event (LK_ON_UNLOCK)->request;
    ck_assert_uint_eq (back->serial, 1);
    ck_assert_uint_eq (back->unlock, 2);
    ck_assert_uint_eq (back->far.drawn, DRAWN);
    (void) next_answer (LK_ANSWER_UNLOCKED, app, 1);
    tick ();
    says ("app-unlocked-far");
}
END_TEST

/*  By its names it can be given back at another server. */
START_TEST (gives_back_a_set)
{
    hear ("app-unlock-far-set");
    const lk_app_request *back = &last_event (LK_ON_UNLOCK)->request;
    ck_assert_uint_eq (back->serial, 1);
    ck_assert_uint_eq (back->unlock, 2);
    ck_assert (back->listed);
    ck_assert_mem_eq (back->object.data, "\0\0backup/db-1", back->object.size);
    ck_assert_uint_eq (back->rest_count, 1);
    ck_assert_ptr_null (back->claims);
}
END_TEST

START_TEST (claims)
{
    forget_sent ();
    hear ("app-lock-claim");
    const lk_app_request *asked = &last_event (LK_ON_LOCK)->request;
    ck_assert (asked->asked_before);
    ck_assert_uint_eq (asked->token, TOKEN);
    ck_assert_uint_eq (asked->key, KEY);
    ck_assert_int_eq (asked->left_ms, 5500);
    ck_assert_int_eq (asked->lease_until_ms, 0);
}
END_TEST

/*  A process of this host that has its number by chance is not shown. */
START_TEST (no_process_of_this_host)
{
    lk_message *question = new_message (APP, "LOCKOWNERS", 1);
    lk_message *ticket = lk_message_row_new ();
    hear ("app-lock-far");
    forget_sent ();
    lockd.session = 3;
    node.demand = (lk_node_demand) {.app = app, .app_serial = 1, .pid = 4711};
    lk_message_set_number (ticket, "session", 3);
    lk_message_set_number (ticket, "serial", 1);
    lk_message_set_number (ticket, "pid", 4711);
    lk_message_add_row (question, "tickets", &ticket);
    give (question);
    lk_message *row =
        lk_message_row (only_sent (APP, "LOCKOWNERS"), "owners", 0);
    ck_assert_ptr_nonnull (row);
    ck_assert (!lk_message_has (row, "command"));
    lk_message_destroy (&row);
}
END_TEST

/*  Its session with the router ends, and comes again: that is no end. */
START_TEST (a_session_is_cut)
{
    const size_t count = node.count;
    lk_message *down = lk_vector_message (lk_vector_find ("status-far"));
    lk_message_set_text (down, "status", "down");
    lk_message_set_text (down, "reason", "connection ended");
    lk_apps_find (&lockd.apps, FAR)->pid = (uint32_t) getpid ();
    forget_sent ();
    lk_lockd_service.event (&lockd, down);
    lk_message_destroy (&down);
    ck_assert_uint_eq (node.count, count);
    ck_assert_ptr_null (lk_apps_find (&lockd.apps, FAR));
    ck_assert_ptr_nonnull (lk_apps_by_number (&lockd.apps, app));
    hear_status ();
    hear ("app-locklease");
    ck_assert_uint_eq (last_event (LK_ON_LEASE)->request.app, app);
}
END_TEST

/*  Nor is the end of the router, after which it does not come again. */
START_TEST (a_router_is_lost)
{
    lk_lockd_service.detach (&lockd, "router lost");
    attach ();
    bus.now_ms += 10 * LK_LOCKD_RETURN_MS;
    lk_lockd_service.timer (&lockd);
    ck_assert_ptr_null (lk_apps_find (&lockd.apps, FAR));
    ck_assert_ptr_nonnull (lk_apps_by_number (&lockd.apps, app));
}
END_TEST

/*  -------------------------------------------------------- refusals */

static void
fails (const char *text)
{
    ck_assert_uint_eq (bus.count, 1);
    ck_assert (lk_message_is (bus.sent[0], "LOCKFAILED"));
    ck_assert_str_eq (lk_message_text (bus.sent[0], "text"), text);
    forget_sent ();
}

START_TEST (fields_that_make_no_sense)
{
    static const struct {
        const char *example, *field, *value, *text;
    } rows[] = {
        {"app-lock-far", "registration", NULL,
         "the field 'registration' is missing"},
        {"app-lock-far", "registration", "2",
         "the field 'registration' is no whole number"},
        {"app-lock-far", "drawn", NULL, "the field 'drawn' is missing"},
        {"app-lock-far", "drawn", "2",
         "the field 'drawn' is not 16 hexadecimal digits"},
        {"app-lock-claim", "left", NULL,
         "the field 'left' is missing, and 'token' is there"},
        {"app-lock-claim", "again", NULL, "the field 'token' needs 'again'"},
        {"app-lock-claim", "token", NULL, "the field 'left' needs 'token'"},
        {"app-lockregister", "sent", NULL, "the field 'sent' is missing"},
        {"app-lockregister", "lease", NULL, "the field 'lease' is missing"},
        {"app-lockregister", "secret", NULL, "the field 'secret' is missing"},
        {"app-lockregister", "secret2", "x",
         "the field 'secret2' is not 16 hexadecimal digits"},
        {"app-locklease", "sent", NULL, "the field 'sent' is missing"},
        {"app-locklease", "drawn", NULL, "the field 'drawn' is missing"},
        {"app-lockgoodbye", "drawn", NULL, "the field 'drawn' is missing"},
    };
    forget_sent ();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hear_with (rows[i].example, rows[i].field, rows[i].value);
        fails (rows[i].text);
    }
}
END_TEST

static void
unlock_refused (const char *body, const char *text)
{
    give (lk_refusal_message (FAR, "UNLOCK", 9, body));
    fails (text);
}

START_TEST (names_that_make_no_sense)
{
    forget_sent ();
    unlock_refused ("{'locks': [{'object': 'o'}], 'registration': 2, "
                    "'drawn': '5ca1ab1e0ddba115'}",
                    "the field 'locks' needs 'request', and no 'key'");
    unlock_refused ("{'locks': [{'object': 'o'}], 'registration': 2, "
                    "'drawn': '5ca1ab1e0ddba115', 'request': 1, "
                    "'key': '0000000000000037'}",
                    "the field 'locks' needs 'request', and no 'key'");
    unlock_refused ("{'locks': [{'object': 'o', 'token': '0000000000000007', "
                    "'key': '0000000000000037'}], 'registration': 2, "
                    "'drawn': '5ca1ab1e0ddba115', 'request': 1}",
                    "the field 'locks' has an item with a token, which UNLOCK "
                    "does not say");
    unlock_refused ("{'locks': [], 'registration': 2, "
                    "'drawn': '5ca1ab1e0ddba115', 'request': 1}",
                    "the field 'locks' is no list, or an empty one");
}
END_TEST

/*  One of this host has no registration. */
START_TEST (local_ones)
{
    static const char *const commands[] = {"LOCKREGISTER", "LOCKLEASE",
                                           "LOCKGOODBYE"};
    forget_sent ();
    report_status (APP, "up", 4711);
    forget_sent ();
    for (size_t i = 0; i < 3; i++) {
        give (new_message (APP, commands[i], 0));
        fails ("that is for applications on other machines");
    }
    lk_message *lock = new_message (APP, "LOCK", 1);
    lk_message_set_text (lock, "object", "x");
    lk_message_set_number (lock, "registration", 1);
    give (lock);
    fails ("the field 'registration' is for applications on other machines");
    give (lk_refusal_message (APP, "UNLOCK", 2,
                              "{'locks': [{'object': 'o'}], 'request': 1}"));
    fails ("the field 'locks' is for applications on other machines");
}
END_TEST

START_TEST (what_is_for_hosts)
{
    static const char *const senders[] = {
        FAR, "far-bb88471d65e2659b-backup-4711@h2"};
    forget_sent ();
    for (size_t i = 0; i < 2; i++) {
        give_any (new_message (senders[i], "LOCKSETTINGS", 1));
        fails ("that is for hosts of the cluster");
        give_any (new_message (senders[i], "LOCKRECOVER", 1));
        fails ("that is for hosts of the cluster");
        lk_message *members = new_message (senders[i], "LOCKMEMBERS", 1);
        lk_message_set_text (members, "remove", "h2");
        give_any (members);
        fails ("that is for hosts of the cluster");
        give_any (new_message (senders[i], "LOCKMEMBERS", 1));
        ck_assert (lk_message_is (bus.sent[0], "LOCKMEMBERS"));
        forget_sent ();
    }
    lk_message *elsewhere = new_message (senders[1], "LOCKLEASE", 0);
    give_any (elsewhere);
    fails ("ask the lock service of your own host");
}
END_TEST

/*  One machine does not have all room. */
START_TEST (too_many)
{
    const lk_app *session = lk_apps_find (&lockd.apps, FAR);
    lk_registered id = {.number = 3};
    size_t count = 1;
    forget_sent ();
    while (lk_apps_register (&lockd.apps, session, &id)) {
        id.number++;
        count++;
    }
    ck_assert_uint_eq (count, LK_APPS_OF_KEY_MAX);
    hear_with ("app-lockregister", "secret", "0000000000000001");
    ck_assert (lk_message_is (bus.sent[0], "LOCKMOVE"));
    forget_sent ();
    /*  What is there is still. */
    hear ("app-locklease");
    ck_assert_uint_eq (last_event (LK_ON_LEASE)->request.app, app);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("far");
    tcase_add_checked_fixture (tcase, set_up_far, tear_down);
    tcase_add_test (tcase, registers);
    tcase_add_test (tcase, who_it_is);
    tcase_add_test (tcase, leases);
    tcase_add_test (tcase, moves_and_ends);
    tcase_add_test (tcase, ends_with_its_credential);
    tcase_add_test (tcase, whose_it_is);
    tcase_add_test (tcase, says_goodbye);
    tcase_add_test (tcase, locks);
    tcase_add_test (tcase, gives_back_a_set);
    tcase_add_test (tcase, names_that_make_no_sense);
    tcase_add_test (tcase, claims);
    tcase_add_test (tcase, no_process_of_this_host);
    tcase_add_test (tcase, a_session_is_cut);
    tcase_add_test (tcase, a_router_is_lost);
    tcase_add_test (tcase, fields_that_make_no_sense);
    tcase_add_test (tcase, local_ones);
    tcase_add_test (tcase, what_is_for_hosts);
    tcase_add_test (tcase, too_many);
    Suite *suite = suite_create ("vectors_far");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
