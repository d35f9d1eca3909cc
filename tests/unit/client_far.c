/*  client_far.c - sessions from a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "far_fake.h"

#include "lib/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

/*  -------------------------------------------------------- registration */

START_TEST (registers)
{
    unsigned char raw[LK_CURVE_RAW_SIZE];
    char name[64] = "far-";
    lk_session *session = open_session ();
    ck_assert_str_eq (lk_session_host (session), "h1");
    ck_assert (lk_curve_raw (fake.client.public_key, raw));
    for (size_t i = 0; i < 8; i++) {
        snprintf (name + strlen (name), 3, "%02x", raw[i]);
    }
    ck_assert_msg (strncmp (fake.server[0].name, name, strlen (name)) == 0,
                   "%s", fake.server[0].name);
    ck_assert_ptr_nonnull (strstr (fake.server[0].name, "-a_b-"));
    const char *line = line_of (0, "LOCKREGISTER");
    ck_assert_ptr_nonnull (strstr (line, "\"registration\":1}"));
    ck_assert_ptr_nonnull (strstr (line, "\"lease\":10000,"));
    ck_assert_ptr_nonnull (strstr (line, "\"secret\":\""));
    ck_assert_ptr_nonnull (strstr (line, "\"secret2\":\""));
    ck_assert_ptr_nonnull (strstr (line, "\"sent\":"));
    ck_assert_int_eq (heard (1, "REGISTER"), 0);
    lk_session_destroy (&session);
    ck_assert_ptr_null (session);
}
END_TEST

/*  Secrets are each session's own. */
START_TEST (two_sessions)
{
    char first[2000];
    lk_session *session = open_session ();
    snprintf (first, sizeof first, "%s",
              strstr (line_of (0, "LOCKREGISTER"), "secret"));
    WITH_LOCK (fake.server[0].log[0] = '\0');
    lk_session *other = open_session ();
    ck_assert_int_ne (
        strncmp (first, strstr (line_of (0, "LOCKREGISTER"), "secret"), 50), 0);
    lk_session_destroy (&other);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- a lease */

START_TEST (lease_goes_on)
{
    WITH_LOCK (fake.lease_ms = 900);
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    const int64_t until_ms = lk_lock_until (lock);
    uint64_t number = 1;
    ck_assert_int_gt (until_ms, lk_clock_ms ());
    ck_assert_int_le (until_ms, lk_clock_ms () + 900);
    ck_assert_ptr_null (lk_lock_lease_page (lock, &number));
    ck_assert_uint_eq (lk_lock_key (lock), 0x37);
    quiet_for (session, 2000);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_gt (lk_lock_until (lock), until_ms + 1000);
    int leases;
    WITH_LOCK (leases = fake.server[0].leases);
    ck_assert_int_ge (leases, 6);
    ck_assert_int_eq (heard (0, "LOCK "), 1);
    lk_session_destroy (&session);
}
END_TEST

/*  Its event and lk_lock_held go by the same clock; and it is given back. */
START_TEST (lost_when_its_lease_is_over)
{
    WITH_LOCK (fake.lease_ms = 900);
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    WITH_LOCK (fake.server[0].is_silent = fake.server[1].is_silent = true);
    lk_lock_event event;
    int64_t until_ms = 0;
    do {
        until_ms = lk_lock_until (lock) != 0 ? lk_lock_until (lock) : until_ms;
        event = next_event (session);
    } while (event.kind == LK_EVENT_JEOPARDY);
    ck_assert_int_eq (event.kind, LK_EVENT_LOST);
    ck_assert_int_eq (event.error, LK_DISCONNECTED);
    ck_assert_str_eq (lk_session_problem (session),
                      "no server answered for as long as its lease lasted");
    ck_assert_int_ge (lk_clock_ms (), until_ms);
    ck_assert (!lk_lock_held (lock));
    WITH_LOCK (fake.server[0].is_silent = fake.server[1].is_silent = false);
    const int64_t end_ms = lk_clock_ms () + HANG_MS;
    while (heard (0, "UNLOCK ") + heard (1, "UNLOCK ") == 0
           && lk_clock_ms () < end_ms) {
        ck_assert_int_eq (lk_session_poll (session, 20, &event), LK_EVENT_NONE);
    }
    ck_assert (!lk_lock_held (lock));
    ck_assert_int_eq (lk_lock_release (&lock), LK_DISCONNECTED);
    lk_session_destroy (&session);
}
END_TEST

/*  Nothing is granted without one. */
START_TEST (no_lock_without_a_lease)
{
    lk_lock *lock = NULL;
    WITH_LOCK (fake.server[0].is_unheard = fake.server[1].is_unheard = true);
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, &lock),
                      LK_OK);
    quiet_for (session, 1500);
    WITH_LOCK (fake.server[0].is_unheard = fake.server[1].is_unheard = false);
    ck_assert_int_eq (next_event (session).kind, LK_EVENT_GRANTED);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- moving */

static void
check_claim (uint64_t token)
{
    char text[64];
    const char *line = line_of (1, "LOCK ");
    snprintf (text, sizeof text, "\"token\":\"%016x\"", (unsigned) token);
    ck_assert_msg (strstr (line, text) != NULL, "%s", line);
    ck_assert_ptr_nonnull (strstr (line, "\"key\":\"0000000000000037\""));
    ck_assert_ptr_nonnull (strstr (line, "\"left\":"));
    ck_assert_ptr_nonnull (strstr (line, "\"again\":true"));
    ck_assert_ptr_null (strstr (line, "\"registration\":1,"));
}

START_TEST (moves_when_the_first_is_silent)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    const uint64_t token = lk_lock_token (lock);
    WITH_LOCK (fake.server[0].is_silent = true);
    quiet_until (session, 1, "LOCK ");
    check_claim (token);
    quiet_for (session, 2300); /* more than the first lease */
    ck_assert (lk_lock_held (lock));
    ck_assert_uint_eq (lk_lock_token (lock), token);
    ck_assert_str_eq (lk_session_host (session), "h2");
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    ck_assert_int_ge (heard (1, "UNLOCK "), 1);
    lk_session_destroy (&session);
}
END_TEST

/*  One by whose clock the credential has ended takes no claim: nothing is lost
 *  by that. */
START_TEST (claim_is_not_taken)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    const uint64_t token = lk_lock_token (lock);
    WITH_LOCK (fake.claim_error = "credential";
               fake.server[0].is_silent = true);
    const int64_t end_ms = lk_clock_ms () + HANG_MS;
    while (heard (1, "LOCK ") < 2 && lk_clock_ms () < end_ms) {
        lk_lock_event event; /* of danger */
        ck_assert_int_ne (lk_session_poll (session, 20, &event), LK_EVENT_LOST);
    }
    ck_assert_int_ge (heard (1, "LOCK "), 2);
    ck_assert (lk_lock_held (lock));
    ck_assert_uint_eq (lk_lock_token (lock), token);
    lk_session_destroy (&session);
}
END_TEST

/*  One that is closed is not waited for. */
START_TEST (moves_when_the_first_ends)
{
    WITH_LOCK (fake.lease_ms = 6000);
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    const int64_t begun_ms = lk_clock_ms ();
    kill_server (0);
    quiet_until (session, 1, "\nLOCK ");
    ck_assert_int_lt (lk_clock_ms (), begun_ms + 1500);
    check_claim (lk_lock_token (lock));
    quiet_for (session, 500);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
    hears (1, "LOCKGOODBYE");
}
END_TEST

/*  And back again, when the second ends. */
START_TEST (moves_back)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    kill_server (0);
    quiet_until (session, 1, "LOCK ");
    quiet_for (session, 500);
    WITH_LOCK (fake.server[0].log[0] = '\0'; open_server (0));
    kill_server (1);
    quiet_until (session, 0, "LOCK ");
    quiet_for (session, 2300);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

START_TEST (what_waits_moves_too)
{
    lk_lock *lock = NULL;
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, &lock),
                      LK_OK);
    quiet_until (session, 0, "LOCK ");
    kill_server (0);
    quiet_until (session, 1, "LOCK ");
    const char *line = line_of (1, "LOCK ");
    ck_assert_ptr_null (strstr (line, "token"));
    ck_assert_ptr_null (strstr (line, "left"));
    ck_assert_ptr_nonnull (strstr (line, "\"wait\":-1"));
    ck_assert_ptr_nonnull (strstr (line, "\"again\":true"));
    WITH_LOCK (fake.is_full = false);
    ck_assert_int_eq (next_event (session).kind, LK_EVENT_GRANTED);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

/*  A lock service that was restarted knows of nothing. */
START_TEST (registers_anew)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    WITH_LOCK (fake.server[0].number = 0; fake.server[0].drawn += 9;
               fake.server[1].is_silent = true);
    quiet_until (session, 0, "\"registration\":2,");
    quiet_until (session, 0, "\"again\":true");
    quiet_for (session, 2300);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

START_TEST (is_told_to_move)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    WITH_LOCK (send_back (&fake.server[0],
                          new_word (&fake.server[0], "LOCKMOVE", 0), "lock"));
    quiet_until (session, 1, "LOCK ");
    quiet_until (session, 0, "LOCKGOODBYE");
    quiet_for (session, 2300);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

/*  A claim that finds nothing. */
START_TEST (nobody_knows_it_any_more)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    WITH_LOCK (memset (fake.lock, 0, sizeof fake.lock));
    kill_server (0);
    const lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_LOST);
    ck_assert_int_eq (event.error, LK_LOST);
    ck_assert (!lk_lock_held (lock));
    ck_assert_int_eq (lk_lock_release (&lock), LK_LOST);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- ends */

START_TEST (says_goodbye)
{
    lk_session *session = open_session ();
    (void) get_lock (session);
    lk_session_destroy (&session);
    hears (0, "\nUNREGISTER");
    ck_assert_int_eq (heard (0, "\nUNLOCK "), 1);
    ck_assert_int_eq (heard (0, "LOCKGOODBYE"), 1);
    const char *log = fake.server[0].log;
    const char *unlock = strstr (log, "\nUNLOCK ");
    ck_assert (unlock < strstr (log, "LOCKGOODBYE"));
    ck_assert (strstr (log, "LOCKGOODBYE") < strstr (log, "\nUNREGISTER"));
}
END_TEST

/*  It is kept, and so claimed, until the user gives it back. */
START_TEST (taken_away)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    lk_message *word;
    WITH_LOCK (word =
                   new_word (&fake.server[0], "UNLOCKED", fake.lock[0].serial);
               lk_message_set_text (word, "error", "forced");
               lk_message_set_text (word, "reason", "because");
               send_back (&fake.server[0], word, "lock"));
    lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_LOST);
    ck_assert_int_eq (event.error, LK_FORCED);
    ck_assert_str_eq (lk_lock_reason (lock), "because");
    ck_assert (!lk_lock_held (lock));
    quiet_for (session, 1000);
    ck_assert_int_eq (heard (0, "\nUNLOCK "), 0);
    ck_assert_int_eq (lk_lock_release_start (lock), LK_OK);
    event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_RELEASED);
    ck_assert_int_eq (event.error, LK_FORCED);
    ck_assert_int_eq (heard (0, "\nUNLOCK "), 1);
    lk_lock_forget (&lock);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (refused)
{
    lk_lock *lock = NULL;
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, &lock),
                      LK_OK);
    quiet_until (session, 0, "LOCK ");
    fail_lock ("full", 0);
    const lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_FAILED);
    ck_assert_int_eq (event.error, LK_FULL);
    lk_lock_forget (&lock);
    quiet_until (session, 0, "\nUNLOCK ");
    lk_session_destroy (&session);
}
END_TEST

/*  The router names no registration. */
START_TEST (not_ours_to_say)
{
    lk_lock *lock = NULL;
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, &lock),
                      LK_OK);
    quiet_until (session, 0, "LOCK ");
    lk_message *word;
    WITH_LOCK (word = lk_message_new ("far-x@h1", "INVALID");
               lk_message_set_serial (word, fake.lock[0].serial);
               lk_message_set_text (word, "reason", "that is not yours to say");
               send_back (&fake.server[0], word, "router"));
    const lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_FAILED);
    ck_assert_int_eq (event.error, LK_INVALID);
    ck_assert_str_eq (lk_session_problem (session), "that is not yours to say");
    lk_session_destroy (&session);
}
END_TEST

/*  A wait that may be over before anybody answers is a try first. */
START_TEST (short_wait)
{
    lk_lock *lock = NULL;
    WITH_LOCK (fake.is_full = true);
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "thing", 5,
                                       &(lk_lock_options) {.wait_ms = 90},
                                       &lock),
                      LK_OK);
    quiet_until (session, 0, "\"wait\":0");
    fail_lock ("full", 0);
    WITH_LOCK (fake.is_full = false);
    ck_assert_int_eq (next_event (session).kind, LK_EVENT_GRANTED);
    quiet_until (session, 0, "\nUNLOCK "); /* of the first one */
    quiet_for (session, 1000);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    lk_session_destroy (&session);
}
END_TEST

/*  By the application's clock, as far as the lock service had heard it. */
START_TEST (duration)
{
    WITH_LOCK (fake.duration_ms = 1000);
    lk_session *session = open_session ();
    const int64_t begun_ms = lk_clock_ms ();
    lk_lock *lock = get_lock (session);
    ck_assert_ptr_nonnull (strstr (line_of (0, "LOCK "), "\"sent\":"));
    ck_assert_int_le (lk_lock_left (lock), 1000);
    ck_assert_int_ge (lk_lock_left (lock), 1);
    const lk_lock_event event = next_event (session);
    ck_assert_int_eq (event.kind, LK_EVENT_LOST);
    ck_assert_int_eq (event.error, LK_TIMEDOUT);
    ck_assert_int_le (lk_clock_ms (), begun_ms + 3000);
    ck_assert_int_eq (lk_lock_release (&lock), LK_LATE);
    lk_session_destroy (&session);
}
END_TEST

/*  As its server knows, whose clock counts, too. */
START_TEST (given_back_late)
{
    WITH_LOCK (fake.is_late = true);
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    ck_assert_int_eq (lk_lock_release (&lock), LK_LATE);
    lk_session_destroy (&session);
}
END_TEST

/*  A lock that nobody asked for goes back to its server. */
START_TEST (granted_unasked)
{
    lk_session *session = open_session ();
    WITH_LOCK (grant (&fake.server[0], 4242));
    quiet_until (session, 0, "UNLOCK 243 {\"request\":4242,");
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- others' locks */

START_TEST (unlocks_by_key)
{
    const lk_lock_name name = {.object = "thing"};
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_session_unlock (session, &name, 0x99, NULL, 5000),
                      LK_OK);
    const char *line = line_of (0, "UNLOCK ");
    ck_assert_ptr_nonnull (strstr (line, "\"key\":\"0000000000000099\""));
    ck_assert_ptr_nonnull (strstr (line, "\"registration\":1,"));
    ck_assert_ptr_nonnull (strstr (line, "\"drawn\":\""));
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- no server */

static void
fail_session (const char *file, const char *text, int number)
{
    const lk_session_options options = {.client = file, .connect_ms = 1500};
    ck_assert_ptr_null (lk_session_new (&options));
    ck_assert_int_eq (errno, number);
    ck_assert_msg (strstr (lk_session_problem (NULL), text) != NULL, "%s",
                   lk_session_problem (NULL));
}

/*  Each server is named, and why it is no use. */
START_TEST (nobody_serves)
{
    char text[200];
    kill_server (0);
    WITH_LOCK (fake.server[1].is_bare = true);
    snprintf (text, sizeof text,
              "no server serves us: '%s': connection refused; '%s': nobody is "
              "called lock",
              fake.server[0].endpoint, fake.server[1].endpoint);
    fail_session (fake.file, text, ETIMEDOUT);
    fail_session ("/no/such/file", "'/no/such/file': no such file", ENOENT);
    ck_assert_int_eq (chmod (fake.file, 0644), 0);
    fail_session (fake.file, "chmod 600", EINVAL);
}
END_TEST

/*  With another key than the file has for it. */
START_TEST (another_server)
{
    kill_server (1);
    lk_curve_make (&fake.server[0].pair);
    write_file ();
    fail_session (fake.file, "it has another key", EACCES);
}
END_TEST

/*  A port that takes connections and says nothing is no matter of keys. */
START_TEST (mute_server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int fd = socket (AF_INET, SOCK_STREAM, 0);
    const lk_session_options options = {.client = fake.file,
                                        .connect_ms = 3500};
    ck_assert_int_eq (bind (fd, (struct sockaddr *) &address, size), 0);
    ck_assert_int_eq (listen (fd, 100), 0);
    ck_assert_int_eq (getsockname (fd, (struct sockaddr *) &address, &size), 0);
    kill_server (0);
    kill_server (1);
    snprintf (fake.server[0].endpoint, sizeof fake.server[0].endpoint,
              "tcp://127.0.0.1:%d", ntohs (address.sin_port));
    write_file ();
    ck_assert_ptr_null (lk_session_new (&options));
    ck_assert_int_ne (errno, EACCES);
    ck_assert_ptr_nonnull (
        strstr (lk_session_problem (NULL), "it does not answer"));
    ck_assert_int_eq (close (fd), 0);
}
END_TEST

/*  -------------------------------------------------------- processes */

/*  It sees until when its parent believes, and says nothing. */
START_TEST (child)
{
    WITH_LOCK (fake.lease_ms = 900);
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    int32_t way[2];
    ck_assert_int_eq (pipe (way), 0);
    const pid_t pid = fork ();
    if (pid == 0) {
        const int64_t first_ms = lk_lock_until (lock);
        bool is_good = !lk_lock_held (lock) && first_ms > lk_clock_ms ();
        (void) poll (NULL, 0, 1500);
        is_good = is_good && lk_lock_until (lock) > lk_clock_ms ();
        lk_session_destroy (&session);
        _exit (is_good ? 0 : 1);
    }
    quiet_for (session, 2300);
    int status;
    ck_assert_int_eq (waitpid (pid, &status, 0), pid);
    ck_assert_int_eq (status, 0);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (heard (0, "UNREGISTER") + heard (0, "GOODBYE"), 0);
    ck_assert_int_eq (heard (0, "\nUNLOCK "), 0);
    lk_session_destroy (&session);
}
END_TEST

/*  A loop of the program's own. */
START_TEST (own_poll)
{
    lk_lock *lock = NULL;
    lk_lock_event event = {.kind = LK_EVENT_NONE};
    lk_session *session = open_session ();
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, &lock),
                      LK_OK);
    const int64_t end_ms = lk_clock_ms () + HANG_MS;
    while (event.kind == LK_EVENT_NONE && lk_clock_ms () < end_ms) {
        struct pollfd fd = {lk_session_fd (session), POLLIN, 0};
        (void) poll (&fd, 1, lk_session_timeout (session));
        (void) lk_session_poll (session, 0, &event);
    }
    ck_assert_int_eq (event.kind, LK_EVENT_GRANTED);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- where */

/*  By the environment; an endpoint of this host comes first. */
START_TEST (where)
{
    setenv ("LOCKKEEPER_CLIENT", fake.file, 1);
    lk_session *session = lk_session_new (NULL);
    ck_assert_ptr_nonnull (session);
    ck_assert_str_eq (lk_session_host (session), "h1");
    lk_session_destroy (&session);
    setenv ("LOCKKEEPER_ENDPOINT", fake.server[1].endpoint, 1);
    session = lk_session_new (NULL);
    ck_assert_msg (session != NULL, "%s", lk_session_problem (NULL));
    ck_assert_str_eq (lk_session_host (session), "h2");
    lk_session_destroy (&session);
    ck_assert_ptr_null (lk_session_new (&(lk_session_options) {
        .endpoint = "ipc:///no/such/router", .connect_ms = 100}));
    ck_assert_int_eq (errno, ENOENT);
    unsetenv ("LOCKKEEPER_CLIENT");
    unsetenv ("LOCKKEEPER_ENDPOINT");
}
END_TEST

static void
add_moves (Suite *suite)
{
    TCase *tcase = add_case (suite, "moves");
    tcase_add_test (tcase, moves_when_the_first_is_silent);
    tcase_add_test (tcase, claim_is_not_taken);
    tcase_add_test (tcase, moves_when_the_first_ends);
    tcase_add_test (tcase, moves_back);
    tcase_add_test (tcase, what_waits_moves_too);
    tcase_add_test (tcase, registers_anew);
    tcase_add_test (tcase, is_told_to_move);
    tcase_add_test (tcase, nobody_knows_it_any_more);
}

static void
add_ends (Suite *suite)
{
    TCase *tcase = add_case (suite, "ends");
    tcase_add_test (tcase, says_goodbye);
    tcase_add_test (tcase, taken_away);
    tcase_add_test (tcase, refused);
    tcase_add_test (tcase, not_ours_to_say);
    tcase_add_test (tcase, short_wait);
    tcase_add_test (tcase, duration);
    tcase_add_test (tcase, given_back_late);
    tcase_add_test (tcase, granted_unasked);
    tcase_add_test (tcase, unlocks_by_key);
}

int
main (void)
{
    Suite *suite = suite_create ("client_far");
    TCase *tcase = add_case (suite, "session");
    tcase_add_test (tcase, registers);
    tcase_add_test (tcase, two_sessions);
    tcase_add_test (tcase, lease_goes_on);
    tcase_add_test (tcase, lost_when_its_lease_is_over);
    tcase_add_test (tcase, no_lock_without_a_lease);
    tcase_add_test (tcase, nobody_serves);
    tcase_add_test (tcase, another_server);
    tcase_add_test (tcase, mute_server);
    tcase_add_test (tcase, child);
    tcase_add_test (tcase, own_poll);
    tcase_add_test (tcase, where);
    add_moves (suite);
    add_ends (suite);
    return lk_suite_run (suite);
}
