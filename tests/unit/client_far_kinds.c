/*  client_far_kinds.c - locks of every kind, from a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Sets, static locks, changes of type, and what lingers, while servers end.
 */

#include "far_fake.h"

#include "lib/suite.h"

static void
has (const char *line, const char *text)
{
    ck_assert_msg (strstr (line, text) != NULL, "no %s in %s", text, line);
}

static void
has_not (const char *line, const char *text)
{
    ck_assert_msg (strstr (line, text) == NULL, "%s in %s", text, line);
}

static int64_t
number_in (const char *line, const char *text)
{
    has (line, text);
    return strtoll (strstr (line, text) + strlen (text), NULL, 10);
}

static void
expect (lk_session *session, lk_event_kind kind, lk_err error)
{
    const lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, kind);
    ck_assert_int_eq (event.error, error);
}

/*  -------------------------------------------------------- sets */

static const lk_object_name pair[] = {{.object = "salt"}, {.object = "oil"}};

static lk_lock *
ask_for_pair (lk_session *session)
{
    lk_lock *lock = NULL;
    ck_assert_int_eq (lk_lock_request_all (session, pair, 2, NULL, &lock),
                      LK_OK);
    return lock;
}

static lk_lock *
get_pair (lk_session *session)
{
    lk_lock *lock = ask_for_pair (session);
    expect (session, LK_EVENT_GRANTED, LK_OK);
    return lock;
}

/*  Tokens and keys go to the names that they are of. */
START_TEST (a_set)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_pair (session);
    has (line_of (0, "LOCK "),
         "\"locks\":[{\"object\":\"salt\"},{\"object\":\"oil\"}]");
    ck_assert_uint_eq (lk_lock_token_at (lock, 1), lk_lock_token (lock) + 1);
    ck_assert_uint_eq (lk_lock_key (lock), 0x37);
    ck_assert_uint_eq (lk_lock_key_at (lock, 1), 0x38);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (a_set_that_is_held_moves)
{
    char text[128];
    lk_session *session = open_session ();
    lk_lock *lock = get_pair (session);
    const uint64_t token = lk_lock_token (lock);
    kill_server (0);
    quiet_until (session, 1, "LOCK ");
    const char *line = line_of (1, "LOCK ");
    snprintf (text, sizeof text,
              "{\"object\":\"oil\",\"token\":\"%016x\",\"key\":\"%016x\"}",
              (unsigned) token + 1, 0x38);
    has (line, text);
    has (line, "\"again\":true");
    has (line, "\"left\":");
    quiet_for (session, 2300); /* more than the first lease */
    ck_assert (lk_lock_held (lock));
    ck_assert_uint_eq (lk_lock_token (lock), token);
    ck_assert_uint_eq (lk_lock_token_at (lock, 1), token + 1);
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    line = line_of (1, "UNLOCK ");
    has (line, "\"locks\":[{\"object\":\"salt\"},{\"object\":\"oil\"}]");
    has (line, "\"request\":");
    has_not (line, "token");
    lk_session_destroy (&session);
}
END_TEST

static void
wait_for_pair (lk_session *session)
{
    quiet_until (session, 0, "LOCK ");
    kill_server (0);
    quiet_until (session, 1, "\nLOCK ");
}

/*  The former request goes back by its names, and the set is asked for under
 *  another serial. */
START_TEST (a_set_that_waits_begins_anew)
{
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    lk_lock *lock = ask_for_pair (session);
    wait_for_pair (session);
    const int former = (int) number_in (line_of (0, "LOCK "), "LOCK ");
    const int later = (int) number_in (line_of (1, "\nLOCK "), "LOCK ");
    const char *line = line_of (1, "UNLOCK ");
    ck_assert_int_eq (number_in (line, "UNLOCK "), former + 1);
    ck_assert_int_eq (number_in (line, "\"request\":") % 1000, former);
    has (line, "\"locks\":[{\"object\":\"salt\"},{\"object\":\"oil\"}]");
    ck_assert_int_ne (later, former);
    has_not (line_of (1, "\nLOCK "), "again");
    WITH_LOCK (fake.is_full = false);
    expect (session, LK_EVENT_GRANTED, LK_OK);
    quiet_for (session, 1500);
    ck_assert_int_eq (heard (1, "UNLOCK "), 1);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    lk_session_destroy (&session);
}
END_TEST

/*  It is no more when that is, too. */
START_TEST (what_a_set_was_is_given_back_first)
{
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    lk_lock *lock = ask_for_pair (session);
    quiet_until (session, 0, "LOCK ");
    WITH_LOCK (fake.kept = fake.lock[0].serial);
    wait_for_pair (session);
    const int former = (int) number_in (line_of (0, "LOCK "), "LOCK ");
    WITH_LOCK (fake.is_full = false);
    expect (session, LK_EVENT_GRANTED, LK_OK);
    ck_assert_int_eq (lk_lock_release_start (lock), LK_OK);
    char text[64];
    snprintf (text, sizeof text, "UNLOCK %d ", former + 1);
    quiet_until_often (session, 1, text, 3);
    WITH_LOCK (fake.kept = 0);
    expect (session, LK_EVENT_RELEASED, LK_OK);
    quiet_for (session, 600);
    lk_lock_forget (&lock);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (a_set_that_waits_is_given_back)
{
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    lk_lock *lock = ask_for_pair (session);
    wait_for_pair (session);
    WITH_LOCK (fake.server[0].log[0] = '\0'; open_server (0));
    kill_server (1);
    quiet_until (session, 0, "\nLOCK "); /* twice anew */
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    ck_assert_int_ge (heard (0, "UNLOCK "), 2); /* both */
    size_t left = 0;
    WITH_LOCK (for (size_t i = 0; i < LOCKS_MAX;
                    i++) { left += fake.lock[i].serial != 0; });
    ck_assert_uint_eq (left, 0);
    lk_session_destroy (&session);
}
END_TEST

/*  A set whose names are not all there is no grant. */
START_TEST (half_a_set)
{
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    lk_lock *lock = ask_for_pair (session);
    quiet_until (session, 0, "LOCK ");
    WITH_LOCK (fake.lock[0].count = 1;
               grant (&fake.server[0], fake.lock[0].serial));
    quiet_for (session, 300);
    ck_assert (!lk_lock_held (lock));
    WITH_LOCK (fake.lock[0].count = 2; fake.is_full = false);
    expect (session, LK_EVENT_GRANTED, LK_OK);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- static locks */

static const lk_lock_options forever = {.wait_ms = LK_FOREVER,
                                        .mode = {.is_static = true}};

static lk_lock *
get_static (lk_session *session, lk_lock_type type)
{
    lk_lock *lock = NULL;
    lk_lock_options options = forever;
    options.mode.type = type;
    ck_assert_int_eq (lk_lock_acquire (session, "site", 4, &options, &lock),
                      LK_OK);
    has (line_of (0, "LOCK "), "\"static\":true");
    return lock;
}

/*  It needs no lease, is not claimed, and goes back to any server. */
START_TEST (a_static_lock_stays)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_static (session, LK_EXCLUSIVE);
    ck_assert (lk_lock_until (lock) == INT64_MAX);
    kill_server (0);
    quiet_until (session, 1, "LOCKLEASE");
    quiet_for (session, 2300);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (heard (1, "\nLOCK "), 0);
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    const char *line = line_of (1, "UNLOCK ");
    has (line, "\"object\":\"site\"");
    has (line, "\"request\":");
    has (line, "\"registration\":2,");
    lk_session_destroy (&session);
}
END_TEST

START_TEST (a_static_lock_outlives_all_servers)
{
    WITH_LOCK (fake.lease_ms = 600);
    lk_session *session = open_session ();
    lk_lock *lock = get_static (session, LK_EXCLUSIVE);
    kill_server (0);
    kill_server (1);
    quiet_for (session, 1500);
    ck_assert (lk_lock_held (lock));
    ck_assert (!lk_lock_in_jeopardy (lock));
    lk_session_destroy (&session);
}
END_TEST

START_TEST (a_static_lock_that_waits_moves)
{
    lk_lock *lock = NULL;
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "site", 4, &forever, &lock),
                      LK_OK);
    quiet_until (session, 0, "LOCK ");
    kill_server (0);
    quiet_until (session, 1, "LOCK ");
    has (line_of (1, "LOCK "), "\"again\":true");
    WITH_LOCK (fake.is_full = false);
    expect (session, LK_EVENT_GRANTED, LK_OK);
    lk_session_destroy (&session);
}
END_TEST

/*  With the session, too. */
START_TEST (a_static_lock_is_left)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_static (session, LK_EXCLUSIVE);
    lk_lock *other = get_static (session, LK_EXCLUSIVE);
    ck_assert_int_eq (lk_lock_leave (&lock), LK_OK);
    ck_assert (lk_lock_held (other));
    lk_session_destroy (&session);
    hears (0, "LOCKGOODBYE");
    ck_assert_int_eq (heard (0, "UNLOCK "), 0);
}
END_TEST

/*  Its server alone knows it. */
START_TEST (a_static_lock_changes_where_it_was_granted)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_static (session, LK_SHARED);
    ck_assert_int_eq (lk_lock_change (lock, LK_EXCLUSIVE, 1000), LK_OK);
    WITH_LOCK (fake.is_full = true);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_SHARED, 0), LK_OK);
    quiet_until (session, 0, "\"turn\":2");
    kill_server (0);
    expect (session, LK_EVENT_UNCHANGED, LK_INVALID);
    has (lk_session_problem (session), "in use no more");
    quiet_until (session, 1, "LOCKLEASE");
    ck_assert_int_eq (lk_lock_change (lock, LK_SHARED, 0), LK_INVALID);
    has (lk_session_problem (session), "the server that granted it");
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- types */

static lk_lock *
get_type (lk_session *session, lk_lock_type type)
{
    lk_lock *lock = NULL;
    const lk_lock_options options = {.mode = {.type = type}};
    ck_assert_int_eq (lk_lock_acquire (session, "book", 4, &options, &lock),
                      LK_OK);
    return lock;
}

START_TEST (changes)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_type (session, LK_SHARED);
    const uint64_t token = lk_lock_token (lock);
    ck_assert_int_eq (lk_lock_change (lock, LK_EXCLUSIVE, 5000), LK_OK);
    ck_assert_int_eq (heard (0, "\"turn\":1"), 1);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_EXCLUSIVE);
    ck_assert_uint_eq (lk_lock_token (lock), token + 100);
    ck_assert_int_eq (lk_lock_change (lock, LK_SHARED, 0), LK_OK);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    ck_assert_int_eq (heard (0, "\"turn\":2"), 1);
    quiet_for (session, 1000);
    ck_assert_int_eq (heard (0, "\"turn\":"), 2);
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (does_not_change)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_type (session, LK_SHARED);
    WITH_LOCK (fake.is_full = true);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, LK_FOREVER),
                      LK_OK);
    quiet_until (session, 0, "\"turn\":1");
    fail_lock ("deadlock", 1);
    expect (session, LK_EVENT_UNCHANGED, LK_DEADLOCK);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, LK_FOREVER),
                      LK_OK);
    quiet_until (session, 0, "\"turn\":2");
    fail_lock ("deadlock", 1); /* late */
    WITH_LOCK (fake.lock[0].turn =
                   2; /* servers say the latest, failed or not */
               grant (&fake.server[0], fake.lock[0].serial));
    quiet_for (session, 300);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    fail_lock ("invalid", 0);
    expect (session, LK_EVENT_UNCHANGED, LK_INVALID);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    ck_assert_int_eq (heard (0, "UNLOCK "), 0);
    lk_session_destroy (&session);
}
END_TEST

/*  An answer to the former one is late. */
START_TEST (a_change_takes_the_place_of_another_one)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_type (session, LK_SHARED);
    WITH_LOCK (fake.is_full = true);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, 20000), LK_OK);
    quiet_until (session, 0, "\"turn\":1");
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, LK_FOREVER),
                      LK_OK);
    quiet_until (session, 0, "\"turn\":2");
    fail_lock ("timedout", 1);
    WITH_LOCK (fake.is_full = false);
    expect (session, LK_EVENT_CHANGED, LK_OK);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_EXCLUSIVE);
    lk_session_destroy (&session);
}
END_TEST

/*  Nobody answers: it is shared again, which its server is told. */
START_TEST (a_change_is_taken_back)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_type (session, LK_SHARED);
    WITH_LOCK (fake.is_full = true);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, 0), LK_OK);
    expect (session, LK_EVENT_UNCHANGED, LK_TIMEDOUT);
    quiet_until (session, 0, "\"type\":\"shared\",\"wait\":0,\"turn\":2");
    WITH_LOCK (fake.is_full = false);
    quiet_for (session, 1000);
    ck_assert_int_eq (lk_lock_change (lock, LK_EXCLUSIVE, 5000), LK_OK);
    ck_assert_int_ge (heard (0, "\"turn\":3"), 1);
    lk_session_destroy (&session);
}
END_TEST

/*  It is claimed as what it was, then asked for once more. */
static void
check_claim_and_turn (lk_session *session, uint64_t token)
{
    char text[64];
    kill_server (0);
    quiet_until (session, 1, "LOCK ");
    const char *line = line_of (1, "LOCK ");
    has (line, "\"type\":\"shared\"");
    has_not (line, "turn");
    snprintf (text, sizeof text, "\"token\":\"%016x\"", (unsigned) token);
    has (line, text);
}

START_TEST (an_upgrade_moves)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_type (session, LK_SHARED);
    const uint64_t token = lk_lock_token (lock);
    WITH_LOCK (fake.is_full = true);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, LK_FOREVER),
                      LK_OK);
    quiet_until_often (session, 0, "\"turn\":1", 3);
    ck_assert_int_eq (heard (0, "\"turn\":2"), 0);
    check_claim_and_turn (session, token);
    quiet_until (session, 1, "\"turn\":1");
    WITH_LOCK (fake.is_full = false);
    expect (session, LK_EVENT_CHANGED, LK_OK);
    ck_assert_uint_eq (lk_lock_token (lock), token + 100);
    quiet_for (session, 2300);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

/*  It was made, and nobody heard of it. */
START_TEST (an_upgrade_that_was_made_moves)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_type (session, LK_SHARED);
    const uint64_t token = lk_lock_token (lock);
    WITH_LOCK (fake.is_dumb = true);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, LK_FOREVER),
                      LK_OK);
    quiet_until (session, 0, "\"turn\":1");
    check_claim_and_turn (session, token);
    quiet_until (session, 1, "\"turn\":1");
    ck_assert_uint_eq (lk_lock_token (lock), token + 100);
    WITH_LOCK (fake.is_dumb = false);
    expect (session, LK_EVENT_CHANGED, LK_OK);
    ck_assert_uint_eq (lk_lock_token (lock), token + 200);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_EXCLUSIVE);
    lk_session_destroy (&session);
}
END_TEST

/*  From when it is asked for on it counts as shared. */
START_TEST (a_downgrade_moves)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_type (session, LK_EXCLUSIVE);
    const uint64_t token = lk_lock_token (lock);
    WITH_LOCK (fake.is_full = true);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_SHARED, 0), LK_OK);
    quiet_until (session, 0, "\"turn\":1");
    check_claim_and_turn (session, token);
    WITH_LOCK (fake.is_full = false);
    expect (session, LK_EVENT_CHANGED, LK_OK);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    kill_server (1);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- what lingers */

START_TEST (lingers)
{
    lk_lock *lock = NULL;
    const lk_lock_options options = {.linger_ms = 20000, .guarded = true};
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_acquire (session, "lamp", 4, &options, &lock),
                      LK_OK);
    has (line_of (0, "LOCK "), "\"linger\":20000");
    has (line_of (0, "LOCK "), "\"guarded\":true");
    kill_server (0);
    quiet_until (session, 1, "LOCK ");
    has (line_of (1, "LOCK "), "\"linger\":20000");
    has (line_of (1, "LOCK "), "\"guarded\":true");
    quiet_for (session, 300);
    ck_assert_int_eq (lk_lock_leave (&lock), LK_OK);
    lk_session_destroy (&session);
    hears (1, "LOCKGOODBYE");
    ck_assert_int_eq (heard (1, "UNLOCK "), 0);
}
END_TEST

/*  protocol 9.20: Not moved */
START_TEST (inherits_nothing)
{
    lk_lock *lock = NULL;
    const lk_lock_options options = {.key = 0x37};
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_acquire (session, "lamp", 4, &options, &lock),
                      LK_INVALID);
    has (lk_session_problem (session), "on a host alone");
    ck_assert_int_eq (heard (0, "LOCK "), 0);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- all of them */

static void
add_types (Suite *suite)
{
    TCase *tcase = add_case (suite, "types");
    tcase_add_test (tcase, changes);
    tcase_add_test (tcase, does_not_change);
    tcase_add_test (tcase, a_change_takes_the_place_of_another_one);
    tcase_add_test (tcase, a_change_is_taken_back);
    tcase_add_test (tcase, an_upgrade_moves);
    tcase_add_test (tcase, an_upgrade_that_was_made_moves);
    tcase_add_test (tcase, a_downgrade_moves);
}

int
main (void)
{
    Suite *suite = suite_create ("client_far_kinds");
    TCase *tcase = add_case (suite, "sets");
    tcase_add_test (tcase, a_set);
    tcase_add_test (tcase, a_set_that_is_held_moves);
    tcase_add_test (tcase, a_set_that_waits_begins_anew);
    tcase_add_test (tcase, what_a_set_was_is_given_back_first);
    tcase_add_test (tcase, a_set_that_waits_is_given_back);
    tcase_add_test (tcase, half_a_set);
    tcase = add_case (suite, "static");
    tcase_add_test (tcase, a_static_lock_stays);
    tcase_add_test (tcase, a_static_lock_outlives_all_servers);
    tcase_add_test (tcase, a_static_lock_that_waits_moves);
    tcase_add_test (tcase, a_static_lock_is_left);
    tcase_add_test (tcase, a_static_lock_changes_where_it_was_granted);
    add_types (suite);
    tcase = add_case (suite, "linger");
    tcase_add_test (tcase, lingers);
    tcase_add_test (tcase, inherits_nothing);
    return lk_suite_run (suite);
}
