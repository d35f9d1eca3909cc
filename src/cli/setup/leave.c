/*  leave.c - `lockkeeper leave`: others lead ahead of a stop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The lock service is asked again and again: it tells how far it is.
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "net/clock.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000
#define PAUSE_MS 100
#define WAIT_MS 30000 /* unless it is said */
#define FOR_MS 600000
#define REMOTES_MS 5000 /* applications on other machines have to go */

typedef struct {
    const lk_options *options;
    lk_requester *asker;
    char to[LK_ADDRESS_LEN_MAX + 1];
    int64_t began_ms, until_ms;
    int64_t drained_ms; /* so long it has led nothing; INT64_MAX */
} leaver;

static lk_message *
ask (const leaver *self)
{
    lk_message *question = lk_message_new (self->to, "LOCKDRAIN");
    lk_message_set_flag (question, "drain", !self->options->undo);
    lk_message_set_flag (question, "force", self->options->force);
    lk_message_set_number (question, "for",
                           self->options->for_ms > 0 ? self->options->for_ms
                                                     : FOR_MS);
    return lk_requester_ask (self->asker, &question, ANSWER_MS);
}

/*  -------------------------------------------------------- telling */

static void
print_json (const leaver *self, const lk_message *answer)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "host", lk_text_of (answer, "host"));
    lk_message_set_text (row, "state", lk_text_of (answer, "state"));
    lk_message_set_flag (row, "leads", lk_message_flag (answer, "leads"));
    lk_message_set_number (row, "remotes",
                           lk_message_number (answer, "remotes", 0));
    lk_message_set_number (row, "held", lk_message_number (answer, "held", 0));
    lk_message_set_number (row, "waited_ms", lk_clock_ms () - self->began_ms);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

/*  They have nowhere else to go, or do not say that they went. */
static void
print_remotes (int64_t remotes)
{
    if (remotes > 0) {
        printf (", but still serves %" PRId64 " application%s on other "
                "machines",
                remotes, remotes == 1 ? "" : "s");
    }
}

static void
print_drained (const lk_message *answer)
{
    const int64_t held = lk_message_number (answer, "held", 0);
    lk_show (stdout, lk_text_of (answer, "host"));
    printf (" leads nothing");
    print_remotes (lk_message_number (answer, "remotes", 0));
    printf (": restart or stop it");
    if (held > 0) {
        printf ("; %" PRId64 " lock%s held there %s on if it is back within "
                "%.1f s",
                held, held == 1 ? "" : "s", held == 1 ? "goes" : "go",
                (double) lk_message_number (answer, "host_lease", 0) / 1000);
    }
    putchar ('\n');
}

static void
print (const leaver *self, const lk_message *answer)
{
    if (self->options->json) {
        print_json (self, answer);
    } else if (self->options->undo) {
        lk_show (stdout, lk_text_of (answer, "host"));
        puts (" may lead again");
    } else {
        print_drained (answer);
    }
}

static int
say_late (const leaver *self, const lk_message *answer)
{
    if (self->options->json) {
        print_json (self, answer);
    }
    return lk_cli_fail (LK_EXIT_LATE,
                        "host '%s' still leads after %.1f s, and will not as "
                        "soon as others do; `lockkeeper status` tells more",
                        lk_text_of (answer, "host"),
                        (double) (lk_clock_ms () - self->began_ms) / 1000);
}

static int
say_problem (const leaver *self, const lk_message *answer)
{
    if (answer != NULL && lk_message_is (answer, "LOCKFAILED")) {
        const bool may_force = !self->options->force;
        return lk_cli_fail (LK_EXIT_NO, "it cannot leave: %s%s",
                            lk_complaint_of (answer),
                            may_force ? "; --force has it leave as soon as "
                                        "others can lead"
                                      : "");
    }
    if (self->options->count > 0) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "the lock service of host '%s' does not answer "
                            "that: %s",
                            lk_shown_name (self->options->argument[0]).text,
                            answer != NULL ? lk_complaint_of (answer)
                                           : "no answer");
    }
    return lk_say_no_service (answer);
}

/*  -------------------------------------------------------- the verb */

/*  It may end, and those that it served on other machines are gone, or will not
 *  go soon. */
static bool
is_done (leaver *self, const lk_message *answer)
{
    const int64_t now_ms = lk_clock_ms ();
    const char *state = lk_text_of (answer, "state");
    if (self->options->undo) {
        return strcmp (state, "serving") == 0;
    }
    if (strcmp (state, "drained") != 0) {
        self->drained_ms = INT64_MAX;
        return false;
    }
    if (self->drained_ms == INT64_MAX) {
        self->drained_ms = now_ms;
    }
    return lk_message_number (answer, "remotes", 0) == 0
           || now_ms >= self->until_ms
           || now_ms - self->drained_ms >= REMOTES_MS;
}

static int
leave (leaver *self)
{
    for (;;) {
        lk_message *answer = ask (self);
        int code = LK_EXIT_OK;
        const bool told = answer != NULL && lk_message_is (answer, "LOCKDRAIN");
        const bool done = told && is_done (self, answer);
        if (!told) {
            code = say_problem (self, answer);
        } else if (done) {
            print (self, answer);
        } else if (lk_clock_ms () >= self->until_ms) {
            code = say_late (self, answer);
        }
        const bool over = code != LK_EXIT_OK || done;
        lk_message_destroy (&answer);
        if (over) {
            return code;
        }
        (void) poll (NULL, 0, PAUSE_MS);
    }
}

static int
run_leave (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_leave, argc, argv, &code)) {
        return code;
    }
    if (options.count > 1) {
        return lk_cli_misused (&lk_verb_leave,
                               "'leave' takes one host, or none for this one");
    }
    leaver self = {.options = &options,
                   .began_ms = lk_clock_ms (),
                   .drained_ms = INT64_MAX};
    self.until_ms =
        self.began_ms
        + (options.wait_ms == LK_FOREVER ? WAIT_MS : options.wait_ms);
    snprintf (self.to, sizeof self.to, "lock@%s",
              options.count > 0 ? options.argument[0] : ".");
    self.asker = lk_cli_asker (options.endpoint);
    if (self.asker == NULL) {
        return LK_EXIT_FAILED;
    }
    code = leave (&self);
    lk_requester_destroy (&self.asker);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES (FOR),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 30)"),
    LK_TAKES (UNDO),
    LK_TAKES_AS (FORCE, "also if nobody else can lead now"),
    LK_TAKES_AS (JSON, "print nothing but one JSON object at the end"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {LK_FOLLOWS (NULL, HOST),
                                           LK_FOLLOWS_END};

const lk_verb lk_verb_leave = {
    .name = "leave",
    .usage = "[HOST] [options]",
    .summary = "Has others lead, ahead of a restart or stop of this host",
    .intro = "Locks are had as before meanwhile. Ends by itself, or with the "
             "lock service.\n",
    .options = takes,
    .help = "Exit code: 0 it leads nothing; 1 refused; 124 not in time; 125 "
            "failed.\n",
    .arguments = follows,
    .run = run_leave,
};
