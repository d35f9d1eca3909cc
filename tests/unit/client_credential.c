/*  client_credential.c - a session from another machine, and its credential
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "far_fake.h"

#include "lib/suite.h"
#include "net/credential_file.h"

#include <errno.h>

#define LINE(serial, since)                                                    \
    "lockkeeper-credential-1 corp ann user KEY 100 40100 " since               \
    " 00000000000000" serial " ISSUER SIGNATURE"

static void
put (const char *line)
{
    FILE *out = fopen (fake.credential, "w");
    ck_assert_int_ge (fputs (line, out), 0);
    ck_assert_int_eq (fclose (out), 0);
}

static void
await_line (const char *line)
{
    char text[LK_CREDENTIAL_LINE_SIZE] = "";
    const int64_t end_ms = lk_clock_ms () + HANG_MS;
    while (strcmp (text, line) != 0 && lk_clock_ms () < end_ms) {
        FILE *in = fopen (fake.credential, "r");
        if (in != NULL && fgets (text, sizeof text, in) != NULL) {
            text[strcspn (text, "\n")] = '\0';
        }
        if (in != NULL) {
            ck_assert_int_eq (fclose (in), 0);
        }
        (void) poll (NULL, 0, 5);
    }
    ck_assert_str_eq (text, line);
}

START_TEST (is_shown)
{
    put (LINE ("01", "50"));
    lk_session *session = open_session ();
    ck_assert_int_eq (heard (0, "\"credential\":\"" LINE ("01", "50") "\""), 1);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (none_is_none)
{
    lk_session *session = open_session ();
    ck_assert_int_gt (heard (0, "REGISTER"), 0);
    ck_assert_int_eq (heard (0, "credential"), 0);
    lk_session_destroy (&session);
}
END_TEST

/*  The same registration goes on, and nothing is told. */
START_TEST (is_renewed)
{
    fake.left_s = 100;
    fake.renewed_s = 40000;
    fake.renewed = LINE ("02", "50");
    put (LINE ("01", "50"));
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    quiet_until (session, 0, "RENEW ");
    quiet_until (session, 0, "\"credential\":\"" LINE ("02", "50") "\"");
    await_line (LINE ("02", "50"));
    quiet_for (session, 300);
    ck_assert_int_eq (heard (0, "RENEW "), 1);
    ck_assert_int_eq (heard (0, "LOCKREGISTER"), 1);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

/*  Somebody else has done so. */
START_TEST (another_one_of_the_file)
{
    fake.left_s = 100;
    fake.renewed_s = 40000;
    fake.renewed = LINE ("02", "0");
    put (LINE ("01", "0"));
    lk_session *session = open_session ();
    put (LINE ("02", "0"));
    quiet_until (session, 0, "\"credential\":\"" LINE ("02", "0") "\"");
    ck_assert_int_eq (heard (0, "RENEW"), 0);
    lk_session_destroy (&session);
}
END_TEST

/*  It is in danger, and then lost; servers answer no lease any more. */
START_TEST (cannot_be_renewed)
{
    fake.left_s = 3;
    fake.unrenewed = "denied";
    put (LINE ("01", "50"));
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_JEOPARDY);
    ck_assert_int_eq (event.error, LK_CREDENTIAL);
    ck_assert (lk_lock_held (lock) && lk_lock_in_jeopardy (lock));
    hears (0, "RENEW ");
    WITH_LOCK (fake.server[0].is_unheard = fake.server[1].is_unheard = true);
    event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_LOST);
    ck_assert_int_eq (event.error, LK_CREDENTIAL);
    ck_assert_int_eq (heard (0, "RENEW "), 1);
    lk_session_destroy (&session);
}
END_TEST

static void
loses (lk_session *session)
{
    lk_lock_event event = next_event (session);
    while (event.kind == LK_EVENT_JEOPARDY) {
        event = next_event (session);
    }
    ck_assert_int_eq (event.kind, LK_EVENT_LOST);
    ck_assert_int_eq (event.error, LK_CREDENTIAL);
}

/*  Leaders are heard late, as in an election. */
START_TEST (cuts_a_late_lease_short)
{
    fake.left_s = 5;
    fake.lease_ms = 4900;
    fake.late_ms = 2500;
    put (LINE ("01", "0"));
    lk_session *session = open_session ();
    (void) get_lock (session);
    WITH_LOCK (fake.server[0].is_silent = fake.server[1].is_silent = true);
    loses (session);
    lk_session_destroy (&session);
}
END_TEST

/*  There is no time-out to wait for. */
START_TEST (refused)
{
    const lk_session_options options = {
        .client = fake.file, .name = "a b", .connect_ms = 10 * HANG_MS};
    fake.refusal = "the credential has ended";
    put (LINE ("01", "50"));
    ck_assert_ptr_null (lk_session_new (&options));
    ck_assert_int_eq (errno, EKEYREJECTED);
    ck_assert_ptr_nonnull (
        strstr (lk_session_problem (NULL), "the credential has ended"));
}
END_TEST

/*  Servers cut the session off, and refuse it, long before its end. */
static void
revoke_it (void)
{
    fake.refusal = "the credential was revoked";
    for (size_t i = 0; i < 2; i++) {
        kill_server (i);
        WITH_LOCK (open_server (i));
    }
}

START_TEST (revoked)
{
    fake.left_s = 30000;
    put (LINE ("01", "0"));
    lk_session *session = open_session ();
    (void) get_lock (session);
    revoke_it ();
    loses (session);
    lk_session_destroy (&session);
}
END_TEST

#define TIMES 100

/*  Nothing is waited for, be it that it waits already, nor kept, until the file
 *  has another one: that is looked for at once. */
static void
fails_until_another_one (lk_session *session, lk_lock *waits, const char *why)
{
    lk_lock *lock;
    const lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_FAILED);
    ck_assert_ptr_eq (event.lock, waits);
    ck_assert_int_eq (event.error, LK_CREDENTIAL);
    ck_assert_ptr_nonnull (strstr (lk_session_problem (session), why));
    for (int i = 0; i < TIMES; i++) {
        ck_assert_int_eq (lk_lock_wait (session, "new", LK_FOREVER, &lock),
                          LK_CREDENTIAL);
        ck_assert_ptr_null (lock);
        ck_assert_ptr_nonnull (strstr (lk_session_problem (session), why));
    }
    WITH_LOCK (for (size_t i = 0; i < SERVERS; i++) {
        fake.server[i].is_silent = true;
        fake.server[i].is_unheard = false;
    } fake.is_full = false;
               fake.renewed = LINE ("02", "0"); fake.renewed_s = 40000);
    put (LINE ("02", "0"));
    ck_assert_int_eq (lk_lock_request (session, "new", 3, NULL, &lock), LK_OK);
    quiet_for (session, 1500);
    WITH_LOCK (fake.server[0].is_silent = fake.server[1].is_silent = false);
    ck_assert_int_eq (next_event (session).kind, LK_EVENT_GRANTED);
    ck_assert_int_lt (heard (0, "UNLOCK ") + heard (1, "UNLOCK "), TIMES);
    lk_lock_forget (&waits);
    lk_session_destroy (&session);
}

/*  A session, and a lock that it waits for. */
static lk_session *
open_waiting (int64_t left_s, lk_lock **lock_p)
{
    fake.left_s = left_s;
    fake.is_full = true;
    put (LINE ("01", "0"));
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, lock_p),
                      LK_OK);
    quiet_until (session, 0, "LOCK ");
    return session;
}

START_TEST (none_waits_when_it_was_revoked)
{
    lk_lock *lock;
    lk_session *session = open_waiting (30000, &lock);
    revoke_it ();
    fails_until_another_one (session, lock, "the credential was revoked");
}
END_TEST

/*  Its server is silent then, and refuses nobody. */
START_TEST (none_waits_when_it_has_ended)
{
    lk_lock *lock;
    lk_session *session = open_waiting (2, &lock);
    WITH_LOCK (fake.server[0].is_unheard = fake.server[1].is_unheard = true);
    fails_until_another_one (session, lock, "its credential has ended");
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("client_credential");
    TCase *tcase = add_case (suite, "client_credential");
    tcase_add_test (tcase, is_shown);
    tcase_add_test (tcase, none_is_none);
    tcase_add_test (tcase, is_renewed);
    tcase_add_test (tcase, another_one_of_the_file);
    tcase_add_test (tcase, cannot_be_renewed);
    tcase_add_test (tcase, cuts_a_late_lease_short);
    tcase_add_test (tcase, refused);
    tcase_add_test (tcase, revoked);
    tcase_add_test (tcase, none_waits_when_it_was_revoked);
    tcase_add_test (tcase, none_waits_when_it_has_ended);
    return lk_suite_run (suite);
}
