/*  settings_change.c - the cluster's settings, asked for and changed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/settings_change.h"

#include "cli/cli.h"
#include "cli/setup/editor.h"
#include "cli/setup/leader_call.h"
#include "settings/common.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define ANSWER_MS 2000

static bool
has_text (const lk_message *answer)
{
    return answer != NULL && lk_message_is (answer, "LOCKSETTINGS")
           && lk_message_has (answer, "text");
}

int
lk_settings_say_no_answer (const lk_message *answer)
{
    if (answer != NULL && lk_message_is (answer, "LOCKSETTINGS")) {
        return lk_cli_fail (
            LK_EXIT_NO,
            "host '%s' lacks the settings: it fetches them from "
            "another one",
            lk_text_of (answer, "served_by"));
    }
    if (answer != NULL && lk_message_is (answer, "LOCKFAILED")) {
        return lk_cli_fail (LK_EXIT_NO, "%s", lk_text_of (answer, "text"));
    }
    return lk_say_no_service (answer);
}

const char *
lk_settings_time (const lk_message *message, char text[LK_UTC_SIZE])
{
    return lk_utc_text (lk_message_number (message, "since", 0), text);
}

/*  -------------------------------------------------------- asking */

/*  That version, as this host had it; 0: the one in force, with its text or
 *  without. NULL: said why. */
lk_message *
lk_settings_ask_any (lk_requester *asker, int64_t version, int *code)
{
    lk_message *question = lk_message_new (LK_SETTINGS_SERVICE, "LOCKSETTINGS");
    if (version > 0) {
        lk_message_set_number (question, "version", version);
    }
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    if (answer == NULL || !lk_message_is (answer, "LOCKSETTINGS")) {
        *code = lk_settings_say_no_answer (answer);
        lk_message_destroy (&answer);
    }
    return answer;
}

/*  With its text. */
lk_message *
lk_settings_ask (lk_requester *asker, int64_t version, int *code)
{
    lk_message *answer = lk_settings_ask_any (asker, version, code);
    if (answer != NULL && !has_text (answer)) {
        *code = lk_settings_say_no_answer (answer);
        lk_message_destroy (&answer);
    }
    return answer;
}

void
lk_settings_print (const lk_message *answer)
{
    char time[LK_UTC_SIZE];
    lk_message *row = lk_message_row_new ();
    lk_message_set_number (row, "version",
                           lk_message_number (answer, "version", 0));
    if (lk_message_has (answer, "hash")) {
        lk_message_set_text (row, "hash", lk_text_of (answer, "hash"));
    }
    lk_message_set_text (row, "since", lk_settings_time (answer, time));
    lk_message_set_text (row, "host", lk_text_of (answer, "served_by"));
    lk_message_set_text (row, "text", lk_text_of (answer, "text"));
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

/*  -------------------------------------------------------- changing */

typedef struct {
    lk_requester *asker;
    const lk_message *base; /* what was edited */
    const char *text;       /* what has come of it */
    bool json;
    bool is_aside;
} edit;

static void
fill (const void *context, lk_message *question)
{
    const edit *self = context;
    lk_message_set_number (question, "base",
                           lk_message_number (self->base, "version", 0));
    if (lk_message_has (self->base, "hash")) {
        lk_message_set_text (question, "hash", lk_text_of (self->base, "hash"));
    }
    lk_message_set_text (question, "text", self->text);
}

static int
say_done (const void *context, const lk_message *answer)
{
    const edit *self = context;
    const int64_t version = lk_message_number (answer, "version", 0);
    if (self->json) {
        lk_settings_print (answer);
    } else if (self->is_aside) {
        lk_cli_hint ("version %lld of the settings is in force",
                     (long long) version);
    } else {
        printf ("version %lld of the settings is in force\n",
                (long long) version);
    }
    return LK_EXIT_OK;
}

/*  Shows the difference if they were changed meanwhile. */
static int
take_refusal (const void *context, lk_err error, const char *text, bool given)
{
    const edit *self = context;
    int code = LK_EXIT_NO;
    (void) given;
    if (error == LK_OUTDATED) {
        lk_message *now = lk_settings_ask (self->asker, 0, &code);
        if (now != NULL && has_text (self->base)) {
            lk_editor_show_difference (lk_text_of (self->base, "text"),
                                       lk_text_of (now, "text"));
        }
        lk_message_destroy (&now);
    }
    return lk_cli_fail (LK_EXIT_NO, "the settings stay as they are: %s", text);
}

static int
say_late (const void *context, const char *why)
{
    (void) context;
    return lk_cli_fail (LK_EXIT_LATE,
                        "the settings were not changed in time: %s; it may "
                        "still happen, `lockkeeper settings history` shows it",
                        why);
}

static const lk_leader_call change = {.command = "LOCKSETTINGS",
                                      .fill = fill,
                                      .is_done = has_text,
                                      .say_done = say_done,
                                      .take_refusal = take_refusal,
                                      .say_no_answer =
                                          lk_settings_say_no_answer,
                                      .say_late = say_late};

int
lk_settings_change (lk_requester *asker, const lk_settings_edit *it)
{
    lk_problem problem;
    const edit self = {.asker = asker,
                       .base = it->base,
                       .text = it->text,
                       .json = it->json,
                       .is_aside = it->is_aside};
    if (has_text (it->base)
        && strcmp (it->text, lk_text_of (it->base, "text")) == 0) {
        lk_cli_hint ("nothing was changed");
        return LK_EXIT_OK;
    }
    if (lk_common_settings_check (it->text, &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_NO, "%s", problem.text);
    }
    return lk_call_leader (asker, &change, &self, it->wait_ms);
}
