/*  raw_locks.c - each kind of lock and each refusal, by bare messages
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A client as lockkeeper-protocol(7) lets anybody write one: it has no part
 *  of the library. For cli_raw_locks.sh, on a cluster of three.
 *
 *      raw_locks ENDPOINT ENDPOINT ENDPOINT      of routers h1 h2 h3
 */

#include "lib/bare.h"
#include "lib/refusals.h"
#include "wire/message_frame.h"

#include <stdio.h>
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

/*  The list, from a leader; from anybody else it is the leaders' names. */
static const lk_message *
list_at (const char *service)
{
    static uint64_t serial = 1000000;
    lk_client_say (c, c->address, service, "LOCKLIST", ++serial, NULL);
    const lk_message *answer = lk_client_next (c, ANSWER_MS);
    return answer && lk_message_is (answer, "LOCKLIST")
                   && lk_message_serial (answer) == serial
               ? answer
               : NULL;
}

static const lk_message *
list (void)
{
    char service[LK_ADDRESS_LEN_MAX + 1];
    const lk_message *answer = list_at ("lock@.");
    const char *leader = answer ? lk_message_item (answer, "leaders", 0) : NULL;
    if (leader) {
        snprintf (service, sizeof service, "lock@%s", leader);
        answer = list_at (service);
    }
    return answer;
}

/*  The nth row of that name. */
static lk_message *
find_row (const char *field, const char *name, int nth)
{
    const lk_message *all = list ();
    lk_message *row = NULL;
    EXPECT (all != NULL, "%s: LOCKLIST", name);
    for (size_t i = 0; all && (row = lk_message_row (all, "tickets", i)); i++) {
        const char *text = lk_message_text (row, field);
        if (text && strcmp (text, name) == 0 && nth-- == 0) {
            break;
        }
        lk_message_destroy (&row);
    }
    EXPECT (row != NULL, "%s is in the list", name);
    return row ? row : lk_message_row_new ();
}

static bool
is_listed (const char *name, const char *state)
{
    const lk_message *all = list ();
    lk_message *row;
    bool found = false;
    for (size_t i = 0; all && !found; i++) {
        row = lk_message_row (all, "tickets", i);
        if (!row) {
            break;
        }
        const char *text = lk_message_text (row, "object");
        found = text && strcmp (text, name) == 0
                && (strcmp (lk_message_text (row, "state"), state) == 0
                    || lk_message_flag (row, state));
        lk_message_destroy (&row);
    }
    return found;
}

/*  What two hosts ask for comes in any order: so who needs one waits until a
 *  ticket is in that state. */
static void
await_listed (const char *name, const char *state)
{
    const int64_t until_us = lk_fixture_now_us () + ANSWER_MS * 1000LL;
    bool found;
    while (!(found = is_listed (name, state))
           && lk_fixture_now_us () < until_us) {
        usleep (20000);
    }
    EXPECT (found, "%s: %s", name, state);
}

/*  -------------------------------------------------------- refusals */

static void
try_refusals (void)
{
    int wrong = 0;
    for (size_t i = 0; i < lk_refusal_count; i++) {
        const lk_refused_row *row = &lk_refusals[i];
        const uint64_t serial = lk_bare_say (a, row->command, row->body);
        const lk_message *answer = lk_client_next (a, ANSWER_MS);
        const char *text = answer ? lk_message_text (answer, "text") : NULL;
        const char *error = answer ? lk_message_text (answer, "error") : NULL;
        if (!text || strcmp (text, row->text) != 0
            || strcmp (error, "invalid") != 0
            || lk_message_serial (answer) != serial) {
            printf ("# %s %.300s: %s\n", row->command, row->body,
                    text ? text : "nothing");
            wrong++;
        }
    }
    EXPECT (wrong == 0, "all %zu refusals have their sentence",
            lk_refusal_count);
}

static void
try_unknown (void)
{
    lk_bare_failed (a, lk_bare_unlock_with (a, "'object': 'nobody'", 7),
                    "unknown", "a key for what nobody holds");
    lk_bare_failed (
        a, lk_bare_say (a, "UNLOCK", "{'object': 'nobody', 'force': true}"),
        "unknown", "force against nobody");
    lk_bare_failed (
        a, lk_bare_say (a, "UNLOCK", "{'object': 'nobody', 'request': 99999}"),
        "unknown", "an UNLOCK of no LOCK");
    lk_bare_failed (a, lock (a, "{'object': 'nobody', 'turn': 1}"), "unknown",
                    "a change of no lock");
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'denied'}", "a lock");
    lk_bare_failed (b,
                    lk_bare_unlock_with (b, "'object': 'denied'", one.key ^ 1),
                    "denied", "a wrong key");
    lk_bare_say_again (a, one.serial, "{'object': 'another'}");
    lk_bare_failed (a, one.serial, "invalid", "the serial of another");
    lk_bare_unlock (a, &one, "'object': 'denied'");
}

/*  -------------------------------------------------------- kinds */

static void
try_exclusive (void)
{
    static const char o[] = "'object': 'plain'";
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'plain'}", "exclusive");
    EXPECT (strcmp (one.type, "exclusive") == 0 && one.ordinal == 1
                && one.left == -1,
            "it is the only one, without limit");
    const uint64_t waits = lock (b, "{'object': 'plain', 'wait': 60000}");
    lk_bare_silent (b, "the second");
    lk_bare_failed (c, lock (c, "{'object': 'plain', 'wait': 0}"), "full",
                    "the third, at once");
    lk_bare_failed (c, lock (c, "{'object': 'plain', 'wait': 200}"), "timedout",
                    "the fourth, soon");
    lk_bare_unlock (a, &one, o);
    const lk_bare_grant two = lk_bare_granted (b, waits, "the second");
    EXPECT (two.token > one.token, "with a larger token");
    const uint64_t by_key = lk_bare_unlock_with (c, o, two.key);
    lk_bare_told_error (b, waits, "UNLOCKED", "released",
                        "whose holder hears so");
    lk_bare_stopping (c, by_key, "h2", "by its key");
    lk_bare_unlock (b, &two, o);
    lk_bare_freed (c, by_key, "by its key");
}

static void
try_shared (void)
{
    static const char o[] = "'object': 'pages'";
    static const char read[] = "{'object': 'pages', 'type': 'shared'}";
    const lk_bare_grant one = lk_bare_lock (a, read, "a reader");
    const lk_bare_grant two = lk_bare_lock (b, read, "another reader");
    EXPECT (strcmp (two.type, "shared") == 0 && two.ordinal == 2,
            "is the second");
    const uint64_t writer = lock (c, "{'object': 'pages'}");
    await_listed ("pages", "waiting");
    lk_bare_silent (c, "a writer");
    const uint64_t third = lock (a, read);
    lk_bare_silent (a, "a reader behind a writer");
    lk_bare_unlock (a, &one, o);
    lk_bare_unlock (b, &two, o);
    const lk_bare_grant writes = lk_bare_granted (c, writer, "the writer");
    lk_bare_unlock (c, &writes, o);
    const lk_bare_grant late = lk_bare_granted (a, third, "the reader behind");
    lk_bare_unlock (a, &late, o);
}

static void
try_soft (void)
{
    static const char o[] = "'object': 'soft'";
    static const char read[] = "{'object': 'soft', 'type': 'shared'}";
    const lk_bare_grant one = lk_bare_lock (a, read, "a reader");
    const uint64_t writer =
        lock (c, "{'object': 'soft', 'policy': 'soft', 'quiet': 400}");
    await_listed ("soft", "waiting");
    const lk_bare_grant two =
        lk_bare_lock (b, read, "a reader that passes a soft writer");
    lk_bare_unlock (a, &one, o);
    const int64_t since_us = lk_fixture_now_us ();
    lk_bare_unlock (b, &two, o);
    const lk_bare_grant writes =
        lk_bare_granted (c, writer, "the writer after a quiet time");
    EXPECT (lk_fixture_now_us () - since_us >= 400000, "which it waited for");
    lk_bare_unlock (c, &writes, o);
}

static void
try_semaphore (void)
{
    static const char o[] = "'object': 'units'";
    static const char unit[] = "{'object': 'units', 'type': 'semaphore', "
                               "'limit': 9, 'bound': 2, 'wait': 0}";
    const lk_bare_grant one = lk_bare_lock (a, unit, "a unit");
    const lk_bare_grant two =
        lk_bare_lock (b,
                      "{'object': 'units', 'type': 'semaphore', 'limit': 5, "
                      "'bound': 9}",
                      "another");
    EXPECT (one.ordinal == 1 && two.ordinal == 2
                && strcmp (two.type, "semaphore") == 0,
            "they are numbered");
    lk_message *row = find_row ("object", "units", 1);
    EXPECT (lk_message_number (row, "limit", 0) == 5
                && lk_message_number (row, "bound", 0) == 2
                && lk_message_number (row, "ordinal", 0) == 2
                && strcmp (lk_message_text (row, "type"), "semaphore") == 0,
            "with the stored bound");
    lk_message_destroy (&row);
    lk_bare_failed (c, lock (c, unit), "full",
                    "a third: the first bound counts");
    lk_bare_unlock (a, &one, o);
    lk_bare_failed (
        c,
        lock (c, "{'object': 'units', 'type': 'semaphore', 'limit': 1, "
                 "'wait': 0}"),
        "full", "who wants one at most");
    const lk_bare_grant three = lk_bare_lock (c, unit, "a freed unit");
    lk_bare_unlock (b, &two, o);
    lk_bare_unlock (c, &three, o);
}

static void
try_turns (void)
{
    static const char o[] = "'object': 'turns'";
    static const char read[] = "{'object': 'turns', 'type': 'shared'}";
    static const char write[] =
        "{'object': 'turns', 'type': 'exclusive', 'turn': 1}";
    const lk_bare_grant one = lk_bare_lock (a, read, "a reader");
    const lk_bare_grant two = lk_bare_lock (b, read, "another");
    lk_bare_say_again (a, one.serial, write);
    await_listed ("turns", "upgrade");
    lk_bare_silent (a, "its upgrade");
    lk_bare_say_again (b, two.serial, write);
    const lk_message *no =
        lk_bare_told (b, two.serial, "LOCKFAILED", "a second one");
    EXPECT (no && strcmp (lk_message_text (no, "error"), "deadlock") == 0
                && lk_message_number (no, "turn", 0) == 1,
            "would be a deadlock");
    lk_bare_unlock (b, &two, o);
    const lk_bare_grant up = lk_bare_granted (a, one.serial, "the upgrade");
    EXPECT (up.turn == 1 && up.token > one.token
                && strcmp (up.type, "exclusive") == 0 && up.key == one.key,
            "has a new token");
    lk_bare_say_again (a, one.serial,
                       "{'object': 'turns', 'type': 'shared', 'turn': 2}");
    const lk_bare_grant down = lk_bare_granted (a, one.serial, "the downgrade");
    EXPECT (down.turn == 2 && down.token == up.token
                && strcmp (down.type, "shared") == 0,
            "keeps its token");
    const lk_bare_grant three = lk_bare_lock (c, read, "a reader beside it");
    lk_bare_unlock (c, &three, o);
    lk_bare_unlock (a, &one, o);
}

/*  -------------------------------------------------------- sets */

static void
try_sets (void)
{
    static const char all[] = "{'locks': [{'object': 's3'}, {'object': 's1'}, "
                              "{'object_hex': '00ff'}], 'wait': 0}";
    uint64_t serial = lock (a, all), token = 0;
    const lk_message *locked = lk_bare_told (a, serial, "LOCKED", "a set");
    size_t rows = locked ? lk_message_item_count (locked, "locks") : 0;
    EXPECT (rows == 3, "of three");
    static const char *const names[] = {"00ff", "s1", "s3"};
    for (size_t i = 0; i < rows; i++) {
        lk_message *row = lk_message_row (locked, "locks", i);
        const char *name =
            lk_message_text (row, i == 0 ? "object_hex" : "object");
        EXPECT (name && strcmp (name, names[i]) == 0
                    && lk_message_hex (row, "token", &token) && token != 0,
                "%s, and its token", names[i]);
        lk_message_destroy (&row);
    }
    lk_bare_failed (b, lock (b, all), "full", "the same set");
    lk_bare_failed (b, lock (b, "{'object': 's1', 'wait': 0}"), "full",
                    "one of it");
    const uint64_t waits =
        lock (c, "{'locks': [{'object': 's0'}, {'object': 's1'}]}");
    lk_bare_silent (c, "a set that has one in common");
    char body[60];
    snprintf (body, sizeof body, "{'request': %llu}",
              (unsigned long long) serial);
    serial = lk_bare_say (a, "UNLOCK", body);
    (void) lk_bare_told (a, serial, "UNLOCKED", "the set goes back");
    (void) lk_bare_told (c, waits, "LOCKED", "who waited for it");
    snprintf (body, sizeof body, "{'request': %llu}",
              (unsigned long long) waits);
    (void) lk_bare_told (c, lk_bare_say (c, "UNLOCK", body), "UNLOCKED",
                         "that one, too");
}

/*  -------------------------------------------------------- times */

static void
try_durations (void)
{
    static const char o[] = "'object': 'spans'";
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object': 'spans', 'duration': 300}", "for a time");
    EXPECT (one.left > 0 && one.left <= 300, "of which something is left");
    lk_bare_told_error (a, one.serial, "UNLOCKED", "timedout",
                        "the time is over");
    char body[100];
    snprintf (body, sizeof body, "{%s, 'request': %llu}", o,
              (unsigned long long) one.serial);
    const uint64_t serial = lk_bare_say (a, "UNLOCK", body);
    const lk_message *done =
        lk_bare_told (a, serial, "UNLOCKED", "back, but late");
    EXPECT (done && lk_message_flag (done, "late"), "and is told so");
    const lk_bare_grant two = lk_bare_lock (
        b, "{'object': 'spans', 'duration': 300, 'lenient': true}", "lenient");
    usleep (500000);
    lk_bare_silent (b, "nobody waits, so it lasts; its end");
    const uint64_t waits = lock (c, "{'object': 'spans'}");
    lk_bare_told_error (b, two.serial, "UNLOCKED", "timedout",
                        "somebody waits");
    lk_bare_unlock (b, &two, o);
    const lk_bare_grant three = lk_bare_granted (c, waits, "who waited");
    lk_bare_unlock (c, &three, o);
}

/*  -------------------------------------------------------- names */

static void
try_names (void)
{
    static const char o[] = "'object_hex': '00ff6b0a', 'zone': 'z'";
    static const char *const own[] = {"{'object_hex': '00ff6b0a'}",
                                      "{'object_hex': '00ff6b0b', 'zone': 'z'}",
                                      "{'object': 'k', 'zone': 'z'}"};
    const lk_bare_grant one =
        lk_bare_lock (a, "{'object_hex': '00ff6b0a', 'zone': 'z'}", "of bytes");
    for (size_t i = 0; i < 3; i++) {
        (void) lk_bare_lock (b, own[i], "another name");
    }
    lk_message *row = find_row ("object_hex", "00ff6b0a", 1);
    EXPECT (!lk_message_has (row, "object"), "by no other name");
    lk_message_destroy (&row);
    lk_bare_failed (
        c, lock (c, "{'object_hex': '00FF6B0A', 'zone': 'z', 'wait': 0}"),
        "full", "the same name");
    lk_bare_unlock (a, &one, o);
}

int
main (int argc, char **argv)
{
    static lk_client **const apps[] = {&a, &b, &c};
    static const lk_bare_try tries[] = {
        try_refusals,  try_unknown, try_exclusive, try_shared,    try_soft,
        try_semaphore, try_turns,   try_sets,      try_durations, try_names};
    return lk_bare_main (argc, argv, apps, endpoint, tries,
                         sizeof tries / sizeof tries[0]);
}
