/*  wait_ready.c - `lockkeeper wait-ready`: until locks can be had
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For scripts and units that start together with the daemons: a router that
 *  is not there yet is waited for like anything else.
 */

#include "cli/access.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/see/status.h"
#include "net/clock.h"
#include "wire/message_frame.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define ASK_MS 1000
#define ASK_FAR_MS 5000 /* a name may have several addresses */
#define LOOK_MS 200     /* that long a look may take, whatever --timeout says */
#define PAUSE_MS 100
#define REASON_SIZE 700

typedef struct {
    const lk_options *options;
    lk_requester *asker;
    int64_t began_ms, until_ms;
    char host[LK_HOST_LEN_MAX + 1]; /* "": no router told it yet, or we are in
                                       a zone */
    char reason[REASON_SIZE];       /* what is waited for */
} waiter;

/*  -------------------------------------------------------- telling */

/*  Each reason once, as it comes up. */
static void
wait_for (waiter *self, const char *reason)
{
    if (strcmp (self->reason, reason) == 0) {
        return;
    }
    snprintf (self->reason, sizeof self->reason, "%s", reason);
    if (!self->options->json) {
        printf ("waiting: ");
        lk_show (stdout, self->reason);
        putchar ('\n');
        fflush (stdout);
    }
}

static void
print_json (const waiter *self, bool ready)
{
    lk_message *row = lk_message_row_new ();
    if (self->asker == NULL || !lk_requester_is_zoned (self->asker)) {
        lk_message_set_text (row, "host", self->host);
    }
    lk_message_set_flag (row, "ready", ready);
    if (!ready) {
        lk_message_set_text (row, "reason", self->reason);
    }
    lk_message_set_number (row, "waited_ms", lk_clock_ms () - self->began_ms);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

/*  Whether more is told there alone. */
static bool
is_for_hosts (const waiter *self)
{
    return lk_cli_is_far (self->options->endpoint)
           && (self->asker == NULL || !lk_requester_is_zoned (self->asker));
}

static int
conclude (const waiter *self, bool ready)
{
    if (self->options->json) {
        print_json (self, ready);
    } else if (ready) {
        printf ("ready: locks can be had%s%s%s\n",
                self->host[0] != '\0' ? " on " : "", self->host,
                self->options->full ? ", and the cluster is full" : "");
    }
    if (ready) {
        return LK_EXIT_OK;
    }
    if (self->options->full) {
        return lk_cli_fail (LK_EXIT_LATE,
                            "the cluster is not full after %.1f s: %s; "
                            "`lockkeeper status` tells more",
                            (double) (lk_clock_ms () - self->began_ms) / 1000,
                            self->reason);
    }
    return lk_cli_fail (LK_EXIT_LATE,
                        "locks cannot be had after %.1f s: %s; `lockkeeper "
                        "status` %stells more",
                        (double) (lk_clock_ms () - self->began_ms) / 1000,
                        self->reason,
                        is_for_hosts (self) ? "on a host of the cluster " : "");
}

/*  -------------------------------------------------------- looking */

static int
time_left (const waiter *self)
{
    const int64_t left = self->until_ms - lk_clock_ms ();
    const int ask_ms =
        lk_cli_is_far (self->options->endpoint) ? ASK_FAR_MS : ASK_MS;
    return left < LOOK_MS ? LOOK_MS : left < ask_ms ? (int) left : ask_ms;
}

static void
seek_router (waiter *self)
{
    lk_problem problem = {0};
    self->asker =
        lk_requester_new (self->options->endpoint, time_left (self), &problem);
    if (self->asker != NULL && lk_requester_is_zoned (self->asker)) {
        return;
    }
    if (self->asker != NULL) {
        snprintf (self->host, sizeof self->host, "%s",
                  lk_requester_host (self->asker));
        return;
    }
    if (!lk_cli_is_forbidden (problem.number)
        || lk_cli_is_far (self->options->endpoint)) {
        wait_for (self, problem.text);
        return;
    }
    char advice[REASON_SIZE / 2], text[REASON_SIZE];
    lk_cli_access_advice (self->options->endpoint, advice, sizeof advice);
    snprintf (text, sizeof text, "%s; %s", problem.text, advice);
    wait_for (self, text);
}

static bool
is_ready (waiter *self)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKSTATUS");
    lk_message *answer =
        lk_requester_ask (self->asker, &question, time_left (self));
    const bool ready = answer != NULL && lk_message_is (answer, "LOCKREADY");
    if (answer == NULL) {
        wait_for (self, "the lock service does not answer");
    } else if (lk_message_is_complaint (answer)) {
        wait_for (self, "lockkeeper-lockd does not run on this host");
    } else if (!ready) {
        wait_for (self, lk_complaint_of (answer));
    }
    lk_message_destroy (&answer);
    return ready;
}

/*  A zone never hears of it. */
static bool
is_full (waiter *self)
{
    lk_survey survey;
    char why[REASON_SIZE];
    if (lk_requester_is_zoned (self->asker)) {
        wait_for (self, "a zone is not told of members");
        self->until_ms = 0;
        return false;
    }
    lk_survey_take (&survey, self->asker, time_left (self));
    const bool full = lk_status_is_full (&survey, why, sizeof why);
    if (!full) {
        wait_for (self, why);
    }
    lk_survey_clear (&survey);
    return full;
}

static bool
look (waiter *self)
{
    if (self->asker == NULL) {
        seek_router (self);
    }
    return self->asker != NULL && is_ready (self)
           && (!self->options->full || is_full (self));
}

/*  -------------------------------------------------------- the verb */

static int
run_wait_ready (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_wait_ready, argc, argv, &code)) {
        return code;
    }
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_wait_ready,
                               "'wait-ready' takes no '%s'; --timeout S says "
                               "how long to wait",
                               lk_shown_name (options.argument[0]).text);
    }
    if (!lk_cli_is_endpoint (options.endpoint)) {
        return LK_EXIT_FAILED;
    }
    if (options.full && lk_cli_is_far (options.endpoint)) {
        lk_cli_say_for_hosts ("--full");
        return LK_EXIT_FAILED;
    }
    waiter self = {.options = &options, .began_ms = lk_clock_ms ()};
    self.until_ms = options.timeout_ms == LK_FOREVER
                        ? INT64_MAX
                        : self.began_ms + options.timeout_ms;
    bool ready = look (&self);
    while (!ready && lk_clock_ms () < self.until_ms) {
        (void) poll (NULL, 0, PAUSE_MS);
        ready = look (&self);
    }
    code = conclude (&self, ready);
    lk_requester_destroy (&self.asker);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES (FULL), LK_TAKES (TIMEOUT),
    LK_TAKES_AS (JSON, "print nothing but one JSON object at the end"),
    LK_TAKES (ENDPOINT), LK_TAKES_END};

const lk_verb lk_verb_wait_ready = {
    .name = "wait-ready",
    .usage = "[options]",
    .summary = "Returns as soon as locks can be had on this host",
    .intro = "Tells what it waits for: the router, the lock service, enough "
             "members, leaders.\n",
    .options = takes,
    .help =
        "Exit code: 0 locks can be had; 124 not in time; 125 wrong usage.\n",
    .is_far = true,
    .run = run_wait_ready,
};
