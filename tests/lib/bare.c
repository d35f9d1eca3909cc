/*  bare.c - an application that says what it is told to, and no more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/bare.h"

#include "lib/refusals.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 60000
#define SILENCE_MS 300

static uint64_t last_serial;

/*  -------------------------------------------------------- messages */

lk_client *
lk_bare_enter (const char *endpoint)
{
    static int count;
    char name[32];
    snprintf (name, sizeof name, "bare-%d", ++count);
    lk_client *app = lk_client_enter (endpoint, name, "");
    EXPECT (app->address[0] != '\0', "%s is there", name);
    return app;
}

void
lk_bare_leave (lk_client **app)
{
    lk_client_say (*app, (*app)->address, "router@.", "UNREGISTER",
                   ++last_serial, NULL);
    usleep (100000);
    lk_client_destroy (app);
}

uint64_t
lk_bare_say (lk_client *app, const char *command, const char *body)
{
    lk_bytes frame = {0};
    lk_message *message =
        lk_refusal_message (app->address, command, ++last_serial, body);
    (void) lk_message_write (message, &frame);
    (void) lk_client_throw (app, frame.data, frame.size);
    lk_bytes_clear (&frame);
    lk_message_destroy (&message);
    return last_serial;
}

void
lk_bare_say_again (lk_client *app, uint64_t serial, const char *body)
{
    const uint64_t last = last_serial;
    last_serial = serial - 1;
    (void) lk_bare_say (app, "LOCK", body);
    last_serial = last;
}

const lk_message *
lk_bare_await (lk_client *app, uint64_t serial, const char *command,
               const char *what, int wait_ms)
{
    const lk_message *message = lk_client_next (app, wait_ms);
    const bool right = message && lk_message_is (message, command)
                       && lk_message_serial (message) == serial;
    if (!EXPECT (right, "%s: %s", what, command) && message) {
        printf ("# got %s %llu %s\n", lk_message_command (message),
                (unsigned long long) lk_message_serial (message),
                lk_message_body (message));
    }
    return right ? message : NULL;
}

const lk_message *
lk_bare_told (lk_client *app, uint64_t serial, const char *command,
              const char *what)
{
    return lk_bare_await (app, serial, command, what, ANSWER_MS);
}

void
lk_bare_told_error (lk_client *app, uint64_t serial, const char *command,
                    const char *error, const char *what)
{
    const lk_message *message = lk_bare_told (app, serial, command, what);
    const char *word = message ? lk_message_text (message, "error") : NULL;
    EXPECT (word && strcmp (word, error) == 0, "%s: %s", what, error);
}

void
lk_bare_failed (lk_client *app, uint64_t serial, const char *error,
                const char *what)
{
    lk_bare_told_error (app, serial, "LOCKFAILED", error, what);
}

void
lk_bare_silent (lk_client *app, const char *what)
{
    EXPECT (lk_client_next (app, SILENCE_MS) == NULL, "%s: waits", what);
}

void
lk_bare_stopping (lk_client *app, uint64_t serial, const char *host,
                  const char *what)
{
    const lk_message *told = lk_bare_told (app, serial, "LOCKSTOPPING", what);
    const char *name = told ? lk_message_text (told, "host") : NULL;
    EXPECT (name && strcmp (name, host) == 0
                && lk_message_number (told, "left", -1) > 0
                && !lk_message_has (told, "silent"),
            "%s: %s has time to stop", what, host);
}

void
lk_bare_freed (lk_client *app, uint64_t serial, const char *what)
{
    const lk_message *told;
    do {
        told = lk_client_next (app, ANSWER_MS);
    } while (told && lk_message_is (told, "LOCKSTOPPING")
             && lk_message_serial (told) == serial);
    EXPECT (told && lk_message_is (told, "UNLOCKED")
                && lk_message_serial (told) == serial
                && !lk_message_has (told, "error"),
            "%s: UNLOCKED", what);
}

/*  -------------------------------------------------------- grants */

lk_bare_grant
lk_bare_granted (lk_client *app, uint64_t serial, const char *what)
{
    lk_bare_grant got = {.serial = serial};
    const lk_message *message = lk_bare_told (app, serial, "LOCKED", what);
    if (message) {
        (void) lk_message_hex (message, "token", &got.token);
        (void) lk_message_hex (message, "key", &got.key);
        got.ordinal = lk_message_number (message, "ordinal", 0);
        got.turn = lk_message_number (message, "turn", 0);
        got.left = lk_message_number (message, "left", -2);
        got.is_static = lk_message_flag (message, "static");
        const char *type = lk_message_text (message, "type");
        snprintf (got.type, sizeof got.type, "%s", type ? type : "");
    }
    return got;
}

lk_bare_grant
lk_bare_lock (lk_client *app, const char *body, const char *what)
{
    return lk_bare_granted (app, lk_bare_say (app, "LOCK", body), what);
}

void
lk_bare_unlock (lk_client *app, const lk_bare_grant *lock, const char *name)
{
    char body[200];
    snprintf (body, sizeof body, "{%s, 'request': %llu}", name,
              (unsigned long long) lock->serial);
    const uint64_t serial = lk_bare_say (app, "UNLOCK", body);
    (void) lk_bare_told (app, serial, "UNLOCKED", name);
}

uint64_t
lk_bare_unlock_with (lk_client *app, const char *name, uint64_t key)
{
    char body[200];
    snprintf (body, sizeof body, "{%s, 'key': '%016llx'}", name,
              (unsigned long long) key);
    return lk_bare_say (app, "UNLOCK", body);
}

/*  -------------------------------------------------------- tests */

int
lk_bare_main (int argc, char **argv, lk_client **const apps[3],
              const char *endpoints[3], const lk_bare_try *tries, size_t count)
{
    lk_fixture fixture;
    if (argc != 4) {
        fprintf (stderr, "usage: %s ENDPOINT ENDPOINT ENDPOINT\n", argv[0]);
        return 2;
    }
    lk_fixture_begin (&fixture, 0);
    for (size_t i = 0; i < 3; i++) {
        endpoints[i] = argv[i + 1];
        *apps[i] = lk_bare_enter (endpoints[i]);
    }
    for (size_t i = 0; i < count; i++) {
        tries[i]();
        for (size_t host = 0; host < 3; host++) {
            lk_client_drain (*apps[host]);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        lk_client_destroy (apps[i]);
    }
    return lk_fixture_end (&fixture);
}
