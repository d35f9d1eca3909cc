/*  test_greeter.c - the example of a service, on two hosts' bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What service.h promises a service that includes nothing else, and that
 *  only its own router can stop it: as a process of its own, and hosted in the
 *  router's.
 */

#include "lib/router_fixture.h"

#include "util/assert.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOON_MS = 60000 }; /* else it hangs */

static lk_fixture fixture;
static char told[96]; /* what the greeter writes */
static pid_t greeter;

static void
start_greeter (void)
{
    const char *build = getenv ("BUILD");
    char program[512];
    snprintf (program, sizeof program, "%s/lockkeeper-greeter",
              build != NULL ? build : "build");
    snprintf (told, sizeof told, "%s/greeter", fixture.dir);
    greeter = fork ();
    LK_ASSERT (greeter >= 0);
    if (greeter == 0) {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        const int fd = open (told, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2 (fd, STDOUT_FILENO);
        dup2 (fd, STDERR_FILENO);
        execl (program, program, fixture.router[0].endpoint, (char *) NULL);
        _exit (127);
    }
}

/*  Whether it writes that line, within the time. */
static bool
tells (const char *wanted)
{
    for (int tries = 0; tries < SOON_MS / 10; tries++) {
        char line[200];
        bool found = false;
        FILE *file = fopen (told, "r");
        while (file != NULL && !found
               && fgets (line, sizeof line, file) != NULL) {
            line[strcspn (line, "\n")] = '\0';
            found = strcmp (line, wanted) == 0;
        }
        if (file != NULL) {
            fclose (file);
        }
        if (found) {
            return true;
        }
        usleep (10000);
    }
    return false;
}

/*  Its exit code; -1 if it does not end by itself. */
static int
end_of_greeter (void)
{
    int status;
    for (int tries = 0; tries < SOON_MS / 10; tries++) {
        if (waitpid (greeter, &status, WNOHANG) == greeter) {
            greeter = 0;
            return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
        }
        usleep (10000);
    }
    return -1;
}

static bool
has_text (const lk_message *message, const char *field, const char *text)
{
    const char *has = message ? lk_message_text (message, field) : NULL;
    return has != NULL && strcmp (has, text) == 0;
}

/*  -------------------------------------------------------- the story */

static void
counts_the_hosts (const char *const *router_options)
{
    lk_fixture_start (&fixture, 0, router_options);
    if (router_options == NULL) {
        start_greeter ();
    }
    EXPECT (tells ("greeting as greeter@h1"), "the greeter attaches");
    lk_fixture_start (&fixture, 1, NULL);
    EXPECT (tells ("hosts alive: 2 of 2"), "it counts the hosts");
}

static void
greets (lk_client *client)
{
    lk_client_say (client, "a@h2", "greeter@?", "HELLO", 7,
                   "{\"name\":\"Ada\"}");
    const lk_message *answer = lk_client_await (client, "GREETING", SOON_MS);
    EXPECT (has_text (answer, "text", "Hello, Ada. This is h1."),
            "HELLO is answered with a greeting, on another host too");
    EXPECT (answer != NULL && lk_message_serial (answer) == 7
                && strcmp (lk_message_from (answer), "greeter@h1") == 0
                && lk_message_number (answer, "hosts", 0) == 2,
            "with the serial, the sender and the number of hosts");
    lk_client_say (client, "a@h2", "greeter@h1", "HELLO", 8, NULL);
    EXPECT (has_text (lk_client_await (client, "GREETING", SOON_MS), "text",
                      "Hello, stranger. This is h1."),
            "whoever tells no name is a stranger");
    lk_client_say (client, "a@h2", "greeter@h1", "NONSENSE", 9, NULL);
    answer = lk_client_await (client, "UNKNOWN", SOON_MS);
    EXPECT (has_text (answer, "reason", "greeter knows HELLO only")
                && has_text (answer, "command", "NONSENSE"),
            "what it does not understand is answered with UNKNOWN");
}

static void
goes_on (lk_client *client)
{
    lk_client_say (client, "a@h2", "greeter@h1", "STOP", 10, NULL);
    EXPECT (has_text (lk_client_await (client, "INVALID", SOON_MS), "reason",
                      "that is not yours to say"),
            "STOP from another host is refused");
    lk_client *near = lk_client_enter (fixture.router[0].endpoint, "b", "");
    lk_client_say (near, "b@h1", "greeter@.", "STOP", 11, NULL);
    EXPECT (lk_client_await (near, "INVALID", SOON_MS) != NULL,
            "and so is that of a process of its own host");
    lk_client_say (near, "b@h1", "greeter@.", "HELLO", 12, NULL);
    EXPECT (lk_client_await (near, "GREETING", SOON_MS) != NULL,
            "it greets all the same");
    lk_client_destroy (&near);
}

static void
ends (void)
{
    lk_fixture_signal (&fixture, 1, SIGKILL);
    lk_fixture_wait (&fixture, 1, SOON_MS);
    EXPECT (tells ("hosts alive: 1 of 2"), "it counts a host less");
    kill (greeter, SIGTERM);
    EXPECT (end_of_greeter () == 0, "SIGTERM ends it");
    EXPECT (tells ("detached: signal"), "it detaches");
    (void) unlink (told);
    start_greeter ();
    EXPECT (tells ("hosts alive: 1 of 2"), "the next one attaches");
    lk_client *client = lk_client_enter (fixture.router[0].endpoint, "b", "");
    lk_client_say (client, "b@h1", "router@.", "SHUTDOWN", 1, NULL);
    EXPECT (end_of_greeter () == 0, "SHUTDOWN ends it");
    EXPECT (tells ("detached: stop"), "told by its router");
    lk_client_destroy (&client);
}

static void
has_its_name (void)
{
    char body[128];
    lk_client *liar = lk_client_new (fixture.router[0].endpoint, "greeter");
    snprintf (body, sizeof body, "{\"service\":\"greeter\",\"pid\":%ld}",
              (long) getpid ());
    lk_client_say (liar, "greeter@.", "router@.", "REGISTER", 1, body);
    const lk_message *answer = lk_client_await (liar, "REFUSE", SOON_MS);
    const char *reason = answer ? lk_message_text (answer, "reason") : NULL;
    EXPECT (reason != NULL && strstr (reason, "taken") != NULL,
            "another process does not get its name");
    lk_client_say (liar, "greeter@h1", "router@.", "STOP", 2, NULL);
    EXPECT (lk_client_await (liar, "INVALID", SOON_MS) != NULL,
            "nor can it speak in its name");
    lk_client_destroy (&liar);
}

static void
ends_with_its_router (void)
{
    lk_client *client = lk_client_enter (fixture.router[0].endpoint, "b", "");
    lk_client_say (client, "b@h1", "router@.", "SHUTDOWN", 1, NULL);
    const int status = lk_fixture_wait (&fixture, 0, SOON_MS);
    EXPECT (status == 0, "SHUTDOWN ends router and greeter");
    EXPECT (tells ("detached: stop"), "told by its router");
    lk_client_destroy (&client);
}

/*  NULL: the greeter is a process of its own. */
static void
tell_story (const char *const *router_options)
{
    counts_the_hosts (router_options);
    lk_client *client = lk_client_enter (fixture.router[1].endpoint, "a", "");
    EXPECT (lk_client_await_live (client, 2, SOON_MS), "h2 sees both hosts");
    greets (client);
    goes_on (client);
    lk_client_destroy (&client);
}

int
main (void)
{
    static const char *const hosted[] = {"--plugin=greeter", NULL};
    lk_fixture_begin (&fixture, 2);
    tell_story (NULL);
    ends ();
    lk_fixture_wait (&fixture, 0, SOON_MS);
    (void) unlink (told);
    snprintf (told, sizeof told, "%s", fixture.router[0].log);
    tell_story (hosted);
    has_its_name ();
    ends_with_its_router ();
    if (greeter > 0) {
        kill (greeter, SIGKILL);
        waitpid (greeter, NULL, 0);
    }
    return lk_fixture_end (&fixture);
}
