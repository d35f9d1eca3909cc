/*  test_router_cache.c - two routers, and services that come late
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/router_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { SOON_MS = 60000 }; /* else it hangs */

static lk_fixture fixture;
static lk_client *a;

static void
say_for (lk_client *self, const char *to, uint64_t serial, uint8_t ttl_s)
{
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {.to = to,
                                        .from = self->address,
                                        .command = "TELL",
                                        .serial = serial,
                                        .ttl_s = ttl_s};
    const size_t start = lk_frame_begin (&frame, &envelope);
    EXPECT (lk_frame_finish (&frame, start) == LK_OK
                && lk_client_throw (self, frame.data, frame.size),
            "TELL %d to %s", (int) serial, to);
    lk_bytes_clear (&frame);
}

static bool
is_report (uint64_t serial, const char *error)
{
    const lk_message *report =
        lk_client_await (a, "TRANSMISSIONREPORT", SOON_MS);
    const char *word =
        report != NULL ? lk_message_text (report, "error") : NULL;
    return word != NULL && strcmp (word, error) == 0
           && lk_message_serial (report) == serial;
}

static bool
hears (lk_client *self, uint64_t serial)
{
    const lk_message *message = lk_client_await (self, "TELL", SOON_MS);
    return message != NULL && lk_message_serial (message) == serial;
}

static int64_t
waiting (void)
{
    lk_client_say (a, a->address, "router@.", "ROUTERSTATUS", 77, NULL);
    const lk_message *status = lk_client_await (a, "ROUTERSTATUS", SOON_MS);
    return status != NULL ? lk_message_number (status, "waiting", -1) : -1;
}

static void
on_this_host (void)
{
    say_for (a, "late@.", 1, 0);
    EXPECT (is_report (1, "unknown"), "nobody there, and it may not wait");
    say_for (a, "late@.", 2, 30);
    say_for (a, "late@.", 3, 30);
    EXPECT (waiting () == 2, "ROUTERSTATUS tells how many wait");
    lk_client *late =
        lk_client_enter (fixture.router[0].endpoint, "late", "STATUS");
    EXPECT (hears (late, 2) && hears (late, 3),
            "who comes late hears what was said, in order");
    EXPECT (waiting () == 0, "nothing waits any more");
    lk_client_destroy (&late);
    const int64_t began_us = lk_fixture_now_us ();
    say_for (a, "never@.", 4, 1);
    EXPECT (is_report (4, "timedout"), "what waited in vain comes back");
    const int64_t ms = (lk_fixture_now_us () - began_us) / 1000;
    EXPECT (ms >= 990 && ms < 20000, "after its second: %d ms", (int) ms);
}

/*  The bound is 3. */
static void
over_the_bound (void)
{
    for (uint64_t serial = 11; serial <= 14; serial++) {
        say_for (a, "full@.", serial, 2);
    }
    EXPECT (is_report (14, "overloaded"), "one is too many");
    uint64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        const lk_message *report =
            lk_client_await (a, "TRANSMISSIONREPORT", SOON_MS);
        sum += report != NULL ? lk_message_serial (report) : 0;
    }
    EXPECT (sum == 11 + 12 + 13, "the others waited");
}

static void
on_another_host (void)
{
    say_for (a, "late@h2", 21, 0);
    EXPECT (is_report (21, "unknown"), "nobody there on h2");
    say_for (a, "late@h2", 22, 30);
    EXPECT (waiting () == 0, "it waits on h2");
    lk_client *late =
        lk_client_enter (fixture.router[1].endpoint, "late", "STATUS");
    EXPECT (hears (late, 22), "and is heard there");
    lk_client_destroy (&late);
    say_for (a, "never@h2", 23, 1);
    EXPECT (is_report (23, "timedout"), "h2 reports back");
}

static void
while_a_host_is_away (void)
{
    lk_fixture_signal (&fixture, 1, SIGKILL);
    lk_fixture_wait (&fixture, 1, SOON_MS);
    EXPECT (lk_client_await_live (a, 1, SOON_MS), "h2 is gone");
    say_for (a, "late@h2", 31, 0);
    EXPECT (is_report (31, "disconnected"), "h2 is not connected");
    say_for (a, "late@h2", 32, 30);
    say_for (a, "late@h2", 33, 30);
    EXPECT (waiting () == 2, "they wait on h1");
    lk_fixture_start (&fixture, 1, NULL);
    EXPECT (lk_client_await_live (a, 2, SOON_MS), "h2 is back");
    lk_client *late =
        lk_client_enter (fixture.router[1].endpoint, "late", "STATUS");
    EXPECT (hears (late, 32) && hears (late, 33),
            "heard by who comes to h2 later still");
    lk_client_destroy (&late);
}

int
main (void)
{
    static const char *const bound[] = {"--cache-messages=3", NULL};
    lk_fixture_begin (&fixture, 2);
    lk_fixture_start (&fixture, 0, bound);
    lk_fixture_start (&fixture, 1, NULL);
    a = lk_client_enter (fixture.router[0].endpoint, "a", "STATUS");
    EXPECT (lk_client_await_live (a, 2, SOON_MS), "h1 sees two hosts");
    on_this_host ();
    over_the_bound ();
    on_another_host ();
    while_a_host_is_away ();
    lk_client_destroy (&a);
    for (size_t i = 0; i < 2; i++) {
        lk_fixture_signal (&fixture, i, SIGTERM);
        EXPECT (lk_fixture_wait (&fixture, i, SOON_MS) == 0, "h%zu stops",
                i + 1);
    }
    return lk_fixture_end (&fixture);
}
