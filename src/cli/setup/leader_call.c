/*  leader_call.c - a change that the first leader makes, whoever that is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/leader_call.h"

#include "cli/cli.h"
#include "net/clock.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define WAIT_MS 60000 /* unless --wait says otherwise */
#define AGAIN_MS 500  /* a change that is not answered is asked for again */
#define SILENT_MAX 6  /* times at one leader */
#define PAUSE_MS 100
#define PATIENCE_MS 2000 /* before we say why it takes so long */
#define OWN_SERVICE "lock@."
#define WHY_SIZE 256

typedef struct {
    lk_requester *asker;
    const lk_leader_call *call;
    const void *context;
    int64_t began_ms;
    int64_t until_ms;
    char to[LK_ADDRESS_LEN_MAX + 1];
    bool given;         /* a leader was at it, as far as we know */
    char why[WHY_SIZE]; /* it takes so long */
    bool said;
    int silent; /* times that `to` did not answer */
} caller;

/*  Asks on at `to`; says why, but not again and again. */
static void
ask_on (caller *self, const char *to, const char *why)
{
    bool news = strcmp (why, self->why) != 0;
    snprintf (self->why, sizeof self->why, "%s", why);
    if ((news || !self->said)
        && lk_clock_ms () - self->began_ms > PATIENCE_MS) {
        self->said = true;
        lk_cli_notice ("not yet: %s", why);
    }
    if (strcmp (self->to, to) != 0) {
        self->silent = 0;
        snprintf (self->to, sizeof self->to, "%s", to);
    }
    poll (NULL, 0, PAUSE_MS);
}

/*  No answer in time. That of a leader comes when it is done, also if it is not
 *  the first one any more: two who were at it would be in each other's way. One
 *  that is gone is told of by the router. */
static void
take_silence (caller *self)
{
    char why[WHY_SIZE];
    bool own = strcmp (self->to, OWN_SERVICE) == 0;
    bool patient = ++self->silent < SILENT_MAX;
    self->given = true;
    snprintf (why, sizeof why, "%s is at it, or does not answer",
              own ? "the lock service of this host" : self->to);
    ask_on (self, patient ? self->to : OWN_SERVICE, why);
}

/*  -1: ask on. */
static int
take_failure (caller *self, const lk_message *answer)
{
    const char *text = lk_text_of (answer, "text");
    lk_err error = lk_err_from_word (lk_text_of (answer, "error"));
    int code = -1;
    if (error == LK_TIMEDOUT || error == LK_SHUTDOWN) {
        self->given = true;
    } else if (error != LK_OVERLOADED && error != LK_ISOLATED) {
        code =
            self->call->take_refusal (self->context, error, text, self->given);
    }
    if (code < 0) {
        ask_on (self, OWN_SERVICE, text);
    }
    return code;
}

/*  Not its to do: on to the first leader. */
static void
go_to_leader (caller *self, const lk_message *answer)
{
    char to[sizeof self->to];
    const char *leader = lk_message_item (answer, "leaders", 0);
    if (leader == NULL) {
        ask_on (self, OWN_SERVICE, "no leaders are known");
        return;
    }
    snprintf (to, sizeof to, "lock@%s", leader);
    if (strcmp (self->to, OWN_SERVICE) != 0) {
        ask_on (self, to, "the leaders change");
    }
    self->silent = 0;
    snprintf (self->to, sizeof self->to, "%s", to);
}

/*  -1: ask on. */
static int
take_answer (caller *self, const lk_message *answer, bool first)
{
    if (answer == NULL) {
        take_silence (self);
    } else if (self->call->is_done (answer)) {
        return self->call->say_done (self->context, answer);
    } else if (lk_message_is (answer, self->call->command)) {
        go_to_leader (self, answer);
    } else if (lk_message_is (answer, "LOCKFAILED")) {
        return take_failure (self, answer);
    } else if (first) {
        return self->call->say_no_answer (answer);
    } else {
        ask_on (self, OWN_SERVICE, lk_text_of (answer, "reason"));
    }
    return -1;
}

int
lk_call_leader (lk_requester *asker, const lk_leader_call *call,
                const void *context, int64_t wait_ms)
{
    const int64_t now_ms = lk_clock_ms ();
    int code = -1;
    bool first = true;
    caller self = {.asker = asker,
                   .call = call,
                   .context = context,
                   .began_ms = now_ms,
                   .until_ms =
                       now_ms + (wait_ms == LK_FOREVER ? WAIT_MS : wait_ms),
                   .to = OWN_SERVICE,
                   .why = "there was no time"};
    do {
        int64_t left_ms = self.until_ms - lk_clock_ms ();
        lk_message *question = lk_message_new (self.to, call->command);
        call->fill (context, question);
        lk_message *answer = lk_requester_ask (
            asker, &question,
            (int) (left_ms < AGAIN_MS ? left_ms + 1 : AGAIN_MS));
        code = take_answer (&self, answer, first);
        first = false;
        lk_message_destroy (&answer);
    } while (code < 0 && lk_clock_ms () < self.until_ms);
    return code < 0 ? call->say_late (context, self.why) : code;
}
