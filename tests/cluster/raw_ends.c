/*  raw_ends.c - how locks end, by bare messages
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A client as lockkeeper-protocol(7) lets anybody write one: it has no part
 *  of the library. For cli_raw_ends.sh, on a cluster of three.
 *
 *      raw_ends ENDPOINT ENDPOINT ENDPOINT      of routers h1 h2 h3
 */

#include "lib/bare.h"
#include "wire/message_frame.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 60000

static const char *endpoint[3];
static lk_client *a, *b, *c; /* on h1, h2, h3 */

static uint64_t
lock (lk_client *app, const char *body)
{
    return lk_bare_say (app, "LOCK", body);
}

/*  -------------------------------------------------------- ends */

/*  Who holds it, and who takes it away, for somebody who waits for it. */
typedef struct {
    lk_bare_grant one;
    uint64_t operator, next;
} taken;

/*  Its holder hears so at once. */
static taken
take (const char *how)
{
    char body[200];
    const taken self = {
        .one = lk_bare_lock (a, "{'object': 'hangs'}", "what hangs"),
        .next = lock (c, "{'object': 'hangs'}")};
    lk_bare_silent (c, "the next one");
    snprintf (body, sizeof body,
              "{'object': 'hangs', 'force': true, "
              "'reason': 'since \\'noon\\''%s}",
              how);
    const uint64_t serial = lk_bare_say (b, "UNLOCK", body);
    const lk_message *lost =
        lk_bare_told (a, self.one.serial, "UNLOCKED", "its holder is told");
    EXPECT (lost && strcmp (lk_message_text (lost, "error"), "forced") == 0,
            "by force");
    const char *reason = lost ? lk_message_text (lost, "reason") : NULL;
    EXPECT (reason && strstr (reason, "noon"), "and why");
    return (taken) {self.one, serial, self.next};
}

static void
end_taken (const taken *self)
{
    const lk_bare_grant two = lk_bare_granted (c, self->next, "the next one");
    EXPECT (two.token > self->one.token, "with a larger token");
    lk_bare_unlock (c, &two, "'object': 'hangs'");
}

static void
try_force (void)
{
    char body[100];
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'hangs'}", "what hangs");
    snprintf (body, sizeof body,
              "{'object': 'hangs', 'force': true, 'token': '%016llx'}",
              (unsigned long long) one.token + 1);
    lk_bare_failed (b, lk_bare_say (b, "UNLOCK", body), "unknown",
                    "force, another's token");
    lk_bare_unlock (a, &one, "'object': 'hangs'");
    const taken told = take ("");
    lk_bare_stopping (b, told.operator, "h1", "the operator");
    lk_bare_silent (c, "the holder has time to stop; the next one");
    lk_bare_unlock (a, &told.one, "'object': 'hangs'");
    lk_bare_freed (b, told.operator, "the operator");
    end_taken (&told);
}

/*  A holder that says nothing more has a quarter of a lease. */
static void
try_force_deaf (void)
{
    const taken told = take ("");
    lk_bare_stopping (b, told.operator, "h1", "the operator");
    lk_bare_freed (b, told.operator, "the operator, in the end");
    end_taken (&told);
}

static void
try_force_now (void)
{
    const taken told = take (", 'now': true");
    (void) lk_bare_told (b, told.operator, "UNLOCKED", "now: the operator");
    end_taken (&told);
}

static void
try_check (void)
{
    char body[100];
    uint64_t newest = 0;
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'checked'}", "what is checked");
    for (int held = 1; held >= 0; held--) {
        snprintf (body, sizeof body,
                  "{'object': 'checked', 'token': '%016llx'}",
                  (unsigned long long) one.token);
        const uint64_t serial = lk_bare_say (c, "LOCKCHECK", body);
        const lk_message *answer = lk_bare_told (
            c, serial, "LOCKCHECK", held ? "while held" : "afterwards");
        EXPECT (answer && lk_message_flag (answer, "held") == (held == 1)
                    && lk_message_hex (answer, "newest", &newest)
                    && newest == (held ? one.token : 0),
                held ? "it is the newest" : "nobody has it");
        if (held) {
            lk_bare_unlock (a, &one, "'object': 'checked'");
        }
    }
}

static void
try_static (void)
{
    static const char o[] = "'object': 'stays'";
    lk_client *gone = lk_bare_enter (endpoint[0]);
    const lk_bare_grant one =
        lk_bare_lock (gone, "{'object': 'stays', 'static': true}", "static");
    EXPECT (one.is_static, "it says so");
    lk_bare_leave (&gone);
    lk_bare_failed (b, lock (b, "{'object': 'stays', 'wait': 500}"), "timedout",
                    "who wants it, when its application is gone");
    (void) lk_bare_told (c, lk_bare_unlock_with (c, o, one.key), "UNLOCKED",
                         "its key");
    const lk_bare_grant two =
        lk_bare_lock (b, "{'object': 'stays'}", "it is free");
    EXPECT (two.token > one.token, "with a larger token");
    lk_bare_unlock (b, &two, o);
}

static void
try_linger (void)
{
    char body[100];
    lk_client *gone = lk_bare_enter (endpoint[0]);
    const lk_bare_grant one = lk_bare_lock (
        gone, "{'object': 'lingers', 'linger': 60000}", "lingering");
    lk_bare_leave (&gone);
    lk_bare_failed (b, lock (b, "{'object': 'lingers', 'wait': 0}"), "full",
                    "who wants it");
    lk_client *next = lk_bare_enter (endpoint[0]);
    snprintf (body, sizeof body,
              "{'object': 'lingers', 'key': '%016llx', 'linger': 300}",
              (unsigned long long) one.key);
    const lk_bare_grant two = lk_bare_lock (next, body, "handed on by its key");
    EXPECT (two.token == one.token && two.key == one.key, "as it was");
    lk_bare_leave (&next);
    const lk_bare_grant three =
        lk_bare_lock (b, "{'object': 'lingers'}", "after a while");
    EXPECT (three.token > one.token, "it is free");
    lk_bare_unlock (b, &three, "'object': 'lingers'");
}

/*  -------------------------------------------------------- faults */

/*  A signal to the lock service of a host. */
static void
signal_lockd (int host, int number)
{
    char path[200];
    int pid = 0;
    snprintf (path, sizeof path, "%s/h%d/lockd.pid",
              getenv ("LOCKKEEPER_SANDBOX"), host);
    FILE *file = fopen (path, "r");
    EXPECT (file && fscanf (file, "%d", &pid) == 1 && kill (pid, number) == 0,
            "signal %d to the lock service of h%d", number, host);
    if (file) {
        fclose (file);
    }
}

static void
signal_others (int number)
{
    signal_lockd (2, number);
    signal_lockd (3, number);
}

/*  In danger, or not any more; others may come ahead of it, as its home moves
 *  when the leaders change. */
static void
await_danger (const lk_bare_grant *lock, bool danger, const char *what)
{
    const lk_message *told;
    do {
        told = lk_client_await (a, "LOCKJEOPARDY", ANSWER_MS);
    } while (told && lk_message_flag (told, "danger") != danger);
    EXPECT (told && lk_message_serial (told) == lock->serial
                && lk_message_is_flag (told, "danger"),
            "%s", what);
}

/*  For less than a lease nobody is heard, and then again. */
static void
try_jeopardy (void)
{
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'danger'}", "what will be in danger");
    signal_others (SIGSTOP);
    await_danger (&one, true, "nobody is heard for half a lease: danger");
    signal_others (SIGCONT);
    await_danger (&one, false, "all are heard again: no danger");
    lk_client_drain (a);
    lk_bare_unlock (a, &one, "'object': 'danger'");
}

/*  And for more than a lease. */
static void
try_isolation (void)
{
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'alone'}", "what will be lost");
    signal_others (SIGSTOP);
    await_danger (&one, true, "in danger first");
    const lk_message *lost = lk_client_await (a, "UNLOCKED", ANSWER_MS);
    const char *error = lost ? lk_message_text (lost, "error") : NULL;
    EXPECT (error && strcmp (error, "isolated") == 0
                && lk_message_serial (lost) == one.serial,
            "then lost: isolated");
    signal_others (SIGCONT);
    const uint64_t serial = lock (b, "{'object': 'alone'}");
    const lk_message *next = lk_client_await (b, "LOCKED", ANSWER_MS);
    uint64_t token = 0;
    EXPECT (next && lk_message_serial (next) == serial
                && lk_message_hex (next, "token", &token) && token > one.token,
            "the others go on, with a larger token");
    const lk_bare_grant two = {.serial = serial};
    lk_bare_unlock (b, &two, "'object': 'alone'");
}

/*  The lock service of h1 stops for good: at last. That the lock was given
 *  back is its last word, which the router may miss if it sees the end of the
 *  process first. */
static void
try_shutdown (void)
{
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'stops'}", "what will be stopped");
    const uint64_t waits = lock (a, "{'object': 'stops'}");
    const uint64_t next = lock (b, "{'object': 'stops'}");
    lk_bare_silent (b, "the next");
    signal_lockd (1, SIGINT);
    for (int i = 0; i < 2; i++) {
        const lk_message *end = lk_client_next (a, ANSWER_MS);
        const bool held = end && lk_message_serial (end) == one.serial;
        const char *error = end ? lk_message_text (end, "error") : NULL;
        EXPECT (end && lk_message_is (end, held ? "UNLOCKED" : "LOCKFAILED")
                    && (held || lk_message_serial (end) == waits) && error
                    && strcmp (error, "shutdown") == 0,
                "shutdown: %s", held ? "the holder" : "who waits");
    }
    lk_bare_silent (b, "the holder has time to stop; the next");
    lk_bare_failed (a, lock (a, "{'object': 'new'}"), "shutdown", "a new one");
    char body[60];
    snprintf (body, sizeof body, "{'request': %llu}",
              (unsigned long long) one.serial);
    (void) lk_bare_say (a, "UNLOCK", body);
    (void) lk_bare_granted (b, next, "the next, when it is given back");
}

int
main (int argc, char **argv)
{
    static lk_client **const apps[] = {&a, &b, &c};
    static const lk_bare_try tries[] = {
        try_force,  try_force_deaf, try_force_now, try_check,   try_static,
        try_linger, try_jeopardy,   try_isolation, try_shutdown};
    return lk_bare_main (argc, argv, apps, endpoint, tries,
                         sizeof tries / sizeof tries[0]);
}
