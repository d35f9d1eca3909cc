/*  service.c - a service as a process, with a router played by the test
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The child runs lk_service_run and writes a line for each callback.
 */

#include "lib/foreign.h"
#include "lib/suite.h"
#include "net/attach.h"
#include "net/clock.h"
#include "net/log.h"
#include "wire/message_frame.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <lockkeeper/service.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*  -------------------------------------------------------- the child */

static int told; /* the end of the pipe that callbacks write to */
static lk_bus *bus;
static bool is_tired; /* the next timer takes its time */

static void
tell (const char *callback, const char *text)
{
    char line[200];
    int size = snprintf (line, sizeof line, "%s %s\n", callback, text);
    if (write (told, line, (size_t) size) != size) {
        _exit (99);
    }
}

static void
say (const char *command)
{
    lk_message *message = lk_message_new ("other@h2", command);
    (void) lk_bus_send (bus, &message);
}

static void
attach (void *self, lk_bus *given)
{
    bus = given;
    tell ("attach", lk_bus_host (bus));
    say ("ONE");
    say ("TWO");
    lk_bus_subscribe (bus, "NEWS");
    lk_bus_wake_at (bus, lk_bus_now (bus) + 20);
    (void) self;
}

static void
leave (void *self, const char *reason)
{
    (void) self;
    tell ("leave", reason);
}

static lk_service service;
static bool is_gathering;

static void
message (void *self, const lk_message *message)
{
    tell ("message", lk_message_command (message));
    if (lk_message_is (message, "QUIT")) {
        lk_bus_stop (bus, *(int *) self);
    } else if (lk_message_is (message, "BE_POLITE")) {
        service.leave = leave;
    } else if (lk_message_is (message, "GATHER")) {
        is_gathering = true;
        say ("GATHERED");
    } else if (lk_message_is (message, "NAP")) {
        is_tired = true;
        lk_bus_wake_at (bus, lk_bus_now (bus));
    }
}

static void
event (void *self, const lk_message *event)
{
    (void) self;
    tell ("event", lk_message_command (event));
}

static void
timer (void *self)
{
    (void) self;
    tell ("timer", lk_bus_service (bus));
    usleep (is_tired ? 200000 : 0);
}

static void
settle (void *self)
{
    (void) self;
    if (is_gathering) {
        is_gathering = false;
        say ("SETTLED");
    }
}

static void
detach (void *self, const char *reason)
{
    (void) self;
    tell ("detach", reason);
    say ("BYE");
}

static const char *const subscriptions[] = {"CLUSTERUP", NULL};
static lk_service service = {
    .name = "tested",
    .version = "1",
    .subscriptions = subscriptions,
    .attach = attach,
    .message = message,
    .event = event,
    .timer = timer,
    .settle = settle,
    .detach = detach,
};

static void
be_quiet (lk_log_level level, const char *line)
{
    (void) level;
    (void) line;
}

/*  -------------------------------------------------------- the router */

static char dir[64];
static char endpoint[128];
static lk_context *context;
static lk_socket *router;
static lk_identity peer;
static int lines[2];
static pid_t child;
static const char *answer;
static char heard[4000]; /* commands from the service, "|" between frames */
static char said[4000];  /* lines from its callbacks, ";" between them */

static void
open_router (void)
{
    lk_socket_options options = {.linger_ms = 0};
    router = lk_socket_router_new (context, &options);
    lk_socket_bind (router, endpoint);
}

static void
send_from (lk_message *to_send, const char *sender)
{
    lk_bytes frame = {0};
    lk_part part;
    lk_message_set_from (to_send, sender);
    ck_assert_int_eq (lk_message_write (to_send, &frame), LK_OK);
    lk_part_init (&part);
    lk_part_fill (&part, frame.data, frame.size);
    ck_assert_int_eq (lk_socket_send (router, &peer, &part), LK_IO_DONE);
    lk_part_clear (&part);
    lk_bytes_clear (&frame);
    lk_message_destroy (&to_send);
}

static void
send_command (const char *command, const char *sender)
{
    send_from (lk_message_new ("tested@h1", command), sender);
}

static void
take_header (const lk_frame_header *header)
{
    size_t used = strlen (heard);
    snprintf (heard + used, sizeof heard - used, "%.*s ",
              (int) header->command.size, header->command.data);
    if (lk_slice_is (header->command, "REGISTER")) {
        lk_message *reply = lk_message_new ("tested@.", answer);
        lk_message_set_text (reply, "host", "h1");
        lk_message_set_text (reply, "reason", "not you");
        send_from (reply, "router@h1");
    }
}

static void
hear (void)
{
    lk_part part;
    lk_frame_header header;
    const char *problem;
    lk_part_init (&part);
    while (router && lk_socket_receive (router, &peer, &part) == LK_IO_DONE) {
        size_t at = 0;
        while (lk_frame_next (lk_part_data (&part), lk_part_size (&part), &at,
                              &header, &problem)
               == LK_FRAME_MESSAGE) {
            take_header (&header);
        }
        size_t used = strlen (heard);
        snprintf (heard + used, sizeof heard - used, "|");
    }
    lk_part_clear (&part);
}

static void
read_lines (void)
{
    size_t used = strlen (said);
    ssize_t size = read (lines[0], said + used, sizeof said - used - 1);
    for (ssize_t i = 0; i < size; i++) {
        if (said[used + (size_t) i] == '\n') {
            said[used + (size_t) i] = ';';
        }
    }
    said[used + (size_t) (size > 0 ? size : 0)] = '\0';
}

/*  Until `text` is in `where`. */
static void
until (const char *where, const char *text)
{
    int64_t end = lk_clock_ms () + 5000;
    while (!strstr (where, text)) {
        ck_assert_msg (lk_clock_ms () < end, "no '%s' in '%s'", text, where);
        hear ();
        read_lines ();
        usleep (1000);
    }
}

/*  Until the child takes signals as it should: before that they end it. */
static void
until_it_takes_signals (void)
{
    const int64_t end = lk_clock_ms () + 5000;
    char name[64], line[256];
    unsigned long long blocked = 0;
    snprintf (name, sizeof name, "/proc/%d/status", (int) child);
    while (!(blocked >> (SIGTERM - 1) & 1)) {
        FILE *file = fopen (name, "r");
        ck_assert (file && lk_clock_ms () < end);
        while (fgets (line, sizeof line, file)) {
            (void) sscanf (line, "SigBlk: %llx", &blocked);
        }
        fclose (file);
        usleep (1000);
    }
}

static int
exit_code (void)
{
    int status;
    int64_t end = lk_clock_ms () + 5000;
    while (waitpid (child, &status, WNOHANG) == 0) {
        ck_assert_int_lt (lk_clock_ms (), end);
        hear ();
        usleep (1000);
    }
    child = 0;
    hear ();
    read_lines ();
    return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-service-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (endpoint, sizeof endpoint, "ipc://%s/r", dir);
    ck_assert_int_eq (pipe2 (lines, O_CLOEXEC | O_NONBLOCK), 0);
    answer = "READY";
    child = fork ();
    if (child == 0) {
        int code = 5;
        lk_service_options options = {.endpoint = endpoint,
                                      .program = "tested"};
        told = lines[1];
        lk_log_set_sink (be_quiet);
        exit (lk_service_run (&service, &code, &options));
    }
    context = lk_context_new ();
    open_router ();
}

static void
tear_down (void)
{
    if (child > 0) {
        kill (child, SIGKILL);
        waitpid (child, NULL, 0);
    }
    lk_socket_destroy (&router);
    lk_context_destroy (&context);
    close (lines[0]);
    close (lines[1]);
    ck_assert_int_eq (rmdir (dir), 0);
}

/*  -------------------------------------------------------- tests */

START_TEST (callbacks)
{
    until (said, "attach h1;");
    until (heard, "REGISTER |ONE TWO SUBSCRIBE |");
    until (said, "timer tested;");
    send_command ("CLUSTERUP", "router@h1");
    until (said, "event CLUSTERUP;");
    send_command ("HELLO", "other@h2");
    until (said, "message HELLO;");
    send_command ("STATUS", "router1@h1"); /* is none, whatever it says */
    until (said, "message STATUS;");
    send_command ("QUIT", "other@h2");
    ck_assert_int_eq (exit_code (), 5);
    ck_assert_str_eq (said, "attach h1;timer tested;event CLUSTERUP;"
                            "message HELLO;message STATUS;message QUIT;");
}
END_TEST

/*  Ahead of what sends what the wake-up brought about. */
START_TEST (settles_in_the_same_wake_up)
{
    until (said, "timer");
    send_command ("GATHER", "other@h2");
    until (heard, "|GATHERED SETTLED |");
}
END_TEST

/*  What another host's router says is that host's word, no event of this. */
START_TEST (events_of_its_own_router_alone)
{
    static const char *const others[] = {"router@h2", "router@h11", "router@h",
                                         "router1@h1"};
    static const char *const commands[] = {"STATUS",    "HANGUP",
                                           "CLUSTERUP", "TRANSMISSIONREPORT",
                                           "READY",     "REFUSE"};
    char line[64];
    until (said, "timer tested;");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        for (size_t j = 0; j < sizeof commands / sizeof commands[0]; j++) {
            said[0] = '\0';
            snprintf (line, sizeof line, "message %s;", commands[j]);
            send_command (commands[j], others[i]);
            until (said, line);
            ck_assert_str_eq (said, line);
        }
    }
    send_command ("STATUS", "router@h1");
    until (said, "event STATUS;");
}
END_TEST

START_TEST (stop_message)
{
    until (said, "timer");
    send_command ("STOP", "router@h1");
    ck_assert_int_eq (exit_code (), 0);
    ck_assert_ptr_nonnull (strstr (said, "detach stop;"));
    until (heard, "BYE |UNREGISTER |");
}
END_TEST

/*  A router that says so and ends: both have come when the service looks. */
START_TEST (stop_message_at_last)
{
    until (said, "timer");
    lk_socket_set_linger (router, 1000);
    send_command ("NAP", "other@h2");
    until (said, "message NAP;timer tested;");
    send_command ("STOP", "router@h1");
    lk_socket_destroy (&router);
    ck_assert_int_eq (exit_code (), 0);
    ck_assert_str_eq (said, "attach h1;timer tested;message NAP;"
                            "timer tested;detach stop;");
}
END_TEST

START_TEST (stop_message_of_others)
{
    static const char *const others[] = {
        "cli@h1",     "tested@h1",  "cli@h2",  "router@h2",
        "router@h11", "router1@h1", "router@h"};
    until (said, "timer");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        heard[0] = '\0';
        send_command ("STOP", others[i]);
        until (heard, "INVALID |");
    }
    send_command ("HELLO", "other@h2");
    until (said, "message HELLO;"); /* it goes on, and was not told */
    ck_assert_str_eq (said, "attach h1;timer tested;message HELLO;");
}
END_TEST

START_TEST (stop_signal)
{
    until (said, "timer");
    kill (child, SIGHUP);
    usleep (20000);
    kill (child, SIGTERM);
    ck_assert_int_eq (exit_code (), 0);
    ck_assert_ptr_nonnull (strstr (said, "detach signal;"));
    until (heard, "BYE |UNREGISTER |");
}
END_TEST

/*  It stops when it has done what there was to do. */
START_TEST (stop_later)
{
    until (said, "timer");
    send_command ("BE_POLITE", "other@h2");
    until (said, "BE_POLITE;");
    said[0] = '\0';
    kill (child, SIGTERM);
    until (said, "leave signal;");
    send_command ("HELLO", "other@h2");
    until (said, "message HELLO;");
    send_command ("QUIT", "other@h2");
    ck_assert_int_eq (exit_code (), 5);
    ck_assert_str_eq (said, "leave signal;message HELLO;message QUIT;");
}
END_TEST

START_TEST (stop_now)
{
    until (said, "timer");
    send_command ("BE_POLITE", "other@h2");
    until (said, "BE_POLITE;");
    said[0] = '\0';
    send_command ("STOP", "router@h1");
    until (said, "leave stop;");
    kill (child, SIGTERM);
    ck_assert_int_eq (exit_code (), 0);
    ck_assert_str_eq (said, "leave stop;detach signal;");
    until (heard, "BYE |UNREGISTER |");
}
END_TEST

START_TEST (router_lost_and_found)
{
    until (said, "timer");
    lk_socket_destroy (&router);
    until (said, "detach router lost;");
    said[0] = heard[0] = '\0';
    open_router ();
    until (said, "attach h1;");
    until (heard, "REGISTER |ONE TWO |"); /* NEWS went along in REGISTER */
    lk_socket_destroy (&router);
    until (said, "detach router lost;");
    kill (child, SIGINT);
    ck_assert_int_eq (exit_code (), 0);
    ck_assert_ptr_nonnull (strstr (said, "detach interrupt;"));
}
END_TEST

START_TEST (refused)
{
    answer = "REFUSE";
    ck_assert_int_eq (exit_code (), 1);
    ck_assert_str_eq (said, "");
}
END_TEST

START_TEST (no_router_and_a_signal)
{
    lk_socket_destroy (&router);
    until_it_takes_signals ();
    kill (child, SIGTERM);
    ck_assert_int_eq (exit_code (), 0);
    ck_assert_str_eq (said, "");
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("service");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 20);
    tcase_add_test (tcase, callbacks);
    tcase_add_test (tcase, settles_in_the_same_wake_up);
    tcase_add_test (tcase, events_of_its_own_router_alone);
    tcase_add_test (tcase, stop_message);
    tcase_add_test (tcase, stop_message_at_last);
    tcase_add_test (tcase, stop_message_of_others);
    tcase_add_test (tcase, stop_signal);
    tcase_add_test (tcase, stop_later);
    tcase_add_test (tcase, stop_now);
    tcase_add_test (tcase, router_lost_and_found);
    tcase_add_test (tcase, refused);
    tcase_add_test (tcase, no_router_and_a_signal);
    Suite *suite = suite_create ("service");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
