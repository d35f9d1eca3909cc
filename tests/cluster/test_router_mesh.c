/*  test_router_mesh.c - three routers that are killed, stopped and doubled
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/router_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS                                                                 \
    "STATUS HANGUP DISCONNECTED NEWREMOTECONNECTION CLUSTERUP CLUSTERDOWN "    \
    "CLUSTERCOMPLETE CLUSTERINCOMPLETE NEWS"

/*  So long that what comes earlier has another cause, also under load. */
#define PATIENT "--dead-after", "4000"
static const char *const patient[] = {PATIENT, NULL};

enum { DEAD_AFTER_MS = 4000, SOON_MS = 60000 };

static lk_fixture fixture;
static lk_client *client[3];

static int
ms_since (int64_t began_us)
{
    return (int) ((lk_fixture_now_us () - began_us) / 1000);
}

static void
drain_all (void)
{
    usleep (50000);
    for (size_t i = 0; i < 3; i++) {
        lk_client_drain (client[i]);
    }
}

static void
forms_a_mesh (void)
{
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        lk_fixture_start (&fixture, i, patient);
    }
    for (size_t i = 0; i < 3; i++) {
        client[i] =
            lk_client_enter (fixture.router[i].endpoint, names[i], EVENTS);
    }
    for (size_t i = 0; i < 3; i++) {
        EXPECT (lk_client_await_live (client[i], 3, SOON_MS),
                "h%zu sees three hosts", i + 1);
    }
}

/*  -------------------------------------------------------- addresses */

static void
carries_over_the_mesh (void)
{
    drain_all ();
    lk_client_say (client[0], "a@h1", "b@h2", "HELLO", 7, "{\"x\":\"y\"}");
    const lk_message *message = lk_client_await (client[1], "HELLO", SOON_MS);
    EXPECT (message != NULL && lk_message_serial (message) == 7
                && strcmp (lk_message_from (message), "a@h1") == 0
                && strcmp (lk_message_text (message, "x"), "y") == 0,
            "a message to a host by its name arrives as it was sent");

    lk_client_say (client[0], "a@h1", "c@?", "HELLO", 8, NULL);
    EXPECT (lk_client_await (client[2], "HELLO", SOON_MS) != NULL,
            "'?' finds the host that has the service");

    lk_client_say (client[0], "a@h1", "nobody@h2", "HELLO", 9, NULL);
    message = lk_client_await (client[0], "TRANSMISSIONREPORT", SOON_MS);
    EXPECT (message != NULL && lk_message_serial (message) == 9
                && strcmp (lk_message_text (message, "reason"),
                           "no service 'nobody' on host 'h2'")
                       == 0,
            "an unknown service of another host is reported back");
}

/*  That comes in time, and more of it that comes soon behind it. */
static int
count_news (lk_client *self, int wait_ms)
{
    int count = lk_client_await (self, "NEWS", wait_ms) != NULL;
    for (const lk_message *message;
         (message = lk_client_next (self, 200)) != NULL;) {
        count += lk_message_is (message, "NEWS");
    }
    return count;
}

static void
broadcasts_once (void)
{
    drain_all ();
    lk_client_say (client[0], "a@h1", "*@*", "NEWS", 1, NULL);
    EXPECT (count_news (client[1], SOON_MS) == 1,
            "a broadcast comes to b once");
    EXPECT (count_news (client[2], SOON_MS) == 1,
            "a broadcast comes to c once");
    EXPECT (count_news (client[0], 200) == 0, "but not back to its sender");
}

/*  -------------------------------------------------------- losses */

static void
tells_of_a_kill (void)
{
    drain_all ();
    const int64_t began = lk_fixture_now_us ();
    lk_fixture_signal (&fixture, 1, SIGKILL);
    const lk_message *message =
        lk_client_await_with (client[0], "STATUS", "service", "b@h2", SOON_MS);
    EXPECT (message != NULL
                && strcmp (lk_message_text (message, "status"), "unknown") == 0,
            "the services of a killed router are unknown");
    message = lk_client_await (client[0], "HANGUP", SOON_MS);
    const int took = ms_since (began);
    EXPECT (message != NULL
                && strcmp (lk_message_text (message, "host"), "h2") == 0
                && took < DEAD_AFTER_MS / 2,
            "HANGUP of a killed router comes at once");
    printf ("measured: HANGUP after kill -9 of a router: %d ms\n", took);
    message = lk_client_await (client[0], "CLUSTERUP", SOON_MS);
    EXPECT (message != NULL && lk_message_number (message, "live", 0) == 2
                && lk_message_number (message, "total", 0) == 3,
            "two of three hosts are up");
    EXPECT (lk_client_await (client[0], "CLUSTERINCOMPLETE", SOON_MS) != NULL,
            "but incomplete");
    EXPECT (lk_client_await (client[2], "HANGUP", SOON_MS) != NULL,
            "the other neighbour hears of it, too");
    lk_fixture_wait (&fixture, 1, SOON_MS);
    lk_client_say (client[0], "a@h1", "b@h2", "HELLO", 5, NULL);
    message = lk_client_await (client[0], "TRANSMISSIONREPORT", SOON_MS);
    EXPECT (message != NULL
                && strcmp (lk_message_text (message, "reason"),
                           "host 'h2' is not connected")
                       == 0,
            "a message to a lost host is reported back");
}

static void
takes_it_back (void)
{
    lk_client_destroy (&client[1]);
    /*  Long enough for the others to try only once a second. */
    usleep (1500000);
    const int64_t began = lk_fixture_now_us ();
    lk_fixture_start (&fixture, 1, patient);
    EXPECT (lk_client_await (client[0], "NEWREMOTECONNECTION", SOON_MS) != NULL,
            "a router that was restarted is linked again");
    printf ("measured: link after the restart of a router: %d ms\n",
            ms_since (began));
    client[1] = lk_client_enter (fixture.router[1].endpoint, "b", EVENTS);
    EXPECT (lk_client_await_live (client[1], 3, SOON_MS),
            "and sees three hosts");
    EXPECT (
        lk_client_await_with (client[0], "STATUS", "service", "b@h2", SOON_MS)
            != NULL,
        "its services are told");
}

static void
tells_of_silence (void)
{
    drain_all ();
    const int64_t began = lk_fixture_now_us ();
    lk_fixture_signal (&fixture, 2, SIGSTOP);
    const lk_message *message = lk_client_await (client[0], "HANGUP", SOON_MS);
    const int took = ms_since (began);
    EXPECT (message != NULL, "HANGUP of a silent router comes");
    printf ("measured: HANGUP after SIGSTOP of a router: %d ms\n", took);
    EXPECT (took >= DEAD_AFTER_MS / 2, "but not long before dead_after");
    lk_fixture_signal (&fixture, 2, SIGCONT);
    EXPECT (lk_client_await_live (client[0], 3, SOON_MS)
                && lk_client_await_live (client[2], 3, SOON_MS),
            "it is back when it goes on");
    lk_client_say (client[0], "a@h1", "c@h3", "HELLO", 6, NULL);
    EXPECT (lk_client_await (client[2], "HELLO", SOON_MS) != NULL,
            "and is reached");
    lk_client_say (client[2], "c@h3", "a@h1", "HELLO", 6, NULL);
    EXPECT (lk_client_await (client[0], "HELLO", SOON_MS) != NULL, "both ways");
}

static void
leaves_in_good_order (void)
{
    drain_all ();
    lk_fixture_signal (&fixture, 1, SIGTERM);
    const lk_message *message =
        lk_client_await (client[0], "DISCONNECTED", SOON_MS);
    EXPECT (message != NULL
                && strcmp (lk_message_text (message, "host"), "h2") == 0,
            "a router that leaves says so to its neighbours");
    message = lk_client_await (client[1], "DISCONNECTED", SOON_MS);
    EXPECT (message != NULL
                && strcmp (lk_message_text (message, "host"), "h2") == 0,
            "and to its own processes");
    EXPECT (lk_fixture_wait (&fixture, 1, SOON_MS) == 0, "it ends with 0");
    EXPECT (access (fixture.router[1].endpoint + strlen ("ipc://"), F_OK) != 0,
            "its endpoint is gone");
    lk_client_destroy (&client[1]);
    lk_fixture_start (&fixture, 1, patient);
    client[1] = lk_client_enter (fixture.router[1].endpoint, "b", EVENTS);
    EXPECT (lk_client_await_live (client[1], 3, SOON_MS), "it can come back");
}

/*  -------------------------------------------------------- names */

static void
refuses_a_second_host_of_a_name (void)
{
    static const char *const named[] = {PATIENT, "--host", "h2", NULL};
    drain_all ();
    while (lk_client_next (client[0], 1000) != NULL) {
        continue; /* of who came back */
    }
    lk_fixture_start (&fixture, 3, named);
    EXPECT (lk_fixture_logged (&fixture, 3,
                               "refused by it: another live "
                               "host is called 'h2'",
                               SOON_MS),
            "who comes with a name that is taken logs that");
    EXPECT (lk_fixture_logged (&fixture, 0,
                               "refused: another live host is "
                               "called 'h2'",
                               SOON_MS),
            "and so does who refuses it");
    EXPECT (lk_client_next (client[0], 1500) == NULL,
            "nobody else notices anything");
    EXPECT (lk_client_await_live (client[1], 3, SOON_MS),
            "the first of that name keeps its links");
    lk_fixture_signal (&fixture, 3, SIGTERM);
    lk_fixture_wait (&fixture, 3, SOON_MS);
}

static void
says_whose_name_does_not_resolve (void)
{
    char neighbour[128];
    const char *const more[] = {PATIENT, "--neighbour", neighbour, NULL};
    snprintf (neighbour, sizeof neighbour, "%080d.example:7411", 0);
    lk_fixture_start (&fixture, 3, more);
    EXPECT (lk_fixture_logged (&fixture, 3,
                               "warning: neighbour: its name does not "
                               "resolve: ",
                               SOON_MS),
            "a neighbour's name that does not resolve is logged");
    lk_fixture_signal (&fixture, 3, SIGTERM);
    lk_fixture_wait (&fixture, 3, SOON_MS);
}

static void
shuts_all_down (void)
{
    lk_client_say (client[0], "a@h1", "router@.", "SHUTDOWN", 1, NULL);
    EXPECT (lk_client_await (client[2], "STOP", SOON_MS) != NULL,
            "SHUTDOWN stops the services of other hosts");
    for (size_t i = 0; i < 3; i++) {
        EXPECT (lk_fixture_wait (&fixture, i, SOON_MS) == 0,
                "router h%zu stops", i + 1);
    }
}

int
main (void)
{
    /*  The fourth is the double; the others do not know of it. */
    lk_fixture_begin (&fixture, 4);
    fixture.count = 3;
    forms_a_mesh ();
    carries_over_the_mesh ();
    broadcasts_once ();
    tells_of_a_kill ();
    takes_it_back ();
    tells_of_silence ();
    leaves_in_good_order ();
    refuses_a_second_host_of_a_name ();
    says_whose_name_does_not_resolve ();
    shuts_all_down ();
    for (size_t i = 0; i < 3; i++) {
        lk_client_destroy (&client[i]);
    }
    fixture.count = 4;
    return lk_fixture_end (&fixture);
}
