/*  status.c - `lockkeeper status`: how this host and its locks are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "util/hash.h"
#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 3000
#define LABEL "%-12s"

typedef struct {
    const lk_options *options;
    lk_asker *asker;
    lk_message *router; /* ROUTERSTATUS or NULL */
    lk_message *lock;   /* LOCKREADY, NOLOCK or NULL */
} report;

/*  -------------------------------------------------------- home */

/*  The leader that orders the object's tickets; NULL if there is none. */
static const char *
home_of (const report *self, const char *object)
{
    size_t leaders =
        self->lock == NULL ? 0 : lk_message_item_count (self->lock, "leaders");
    const size_t size = strlen (object);
    if (leaders == 0 || size > LK_OBJECT_LEN_MAX) {
        return NULL;
    }
    char buffer[LK_NAME_SIZE_MAX];
    const lk_name name = {object, (uint16_t) size};
    lk_name key = lk_object_key ("", "", name, buffer, sizeof buffer);
    if (key.data == NULL) {
        return NULL;
    }
    return lk_message_item (self->lock, "leaders",
                            lk_hash64 (key.data, key.size) % leaders);
}

/*  -------------------------------------------------------- for people */

/*  One per line, but for those with `unwanted` in them. */
static void
print_rows (const lk_message *message, const char *label, const char *field,
            const char *unwanted)
{
    const char *item;
    for (size_t i = 0; (item = lk_message_item (message, field, i)) != NULL;
         i++) {
        if (unwanted == NULL || strstr (item, unwanted) == NULL) {
            printf (LABEL " %s\n", label, item);
            label = "";
        }
    }
}

static void
print_list (const lk_message *message, const char *label, const char *field)
{
    printf (LABEL, label);
    const char *item = lk_message_item (message, field, 0);
    if (item == NULL) {
        printf (" none");
    }
    for (size_t i = 0; item != NULL; i++) {
        printf (" %s", item);
        item = lk_message_item (message, field, i + 1);
    }
    putchar ('\n');
}

static const char *
text_or (const lk_message *message, const char *field, const char *otherwise)
{
    const char *text = lk_message_text (message, field);
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

static void
print_router (const report *self)
{
    if (self->router == NULL) {
        printf (LABEL " %s (its router tells no more)\n", "host",
                lk_asker_host (self->asker));
        return;
    }
    printf (LABEL " %s (router %s at %s)\n", "host",
            lk_asker_host (self->asker), text_or (self->router, "version", "?"),
            text_or (self->router, "address", "no address"));
    /*  Ourselves: from a list that all hosts have alike. */
    print_rows (self->router, "hosts", "hosts", " ourselves ");
    print_rows (self->router, "services", "services", NULL);
}

static void
print_readiness (const report *self)
{
    if (lk_message_is (self->lock, "LOCKREADY")) {
        printf (LABEL " ready%s\n", "locks",
                lk_message_flag (self->lock, "leads") ? ", this host leads"
                                                      : "");
    } else {
        printf (LABEL " not ready: ", "locks");
        lk_show (stdout, text_or (self->lock, "reason", "no reason told"));
        putchar ('\n');
    }
}

static void
print_lock (const report *self)
{
    const lk_message *lock = self->lock;
    print_readiness (self);
    printf (LABEL " ", "cluster");
    lk_show (stdout,
             text_or (lock, "cluster", "none yet: no member of one was heard"));
    puts (lk_message_flag (lock, "member") ? "" : " (not a member)");
    printf (LABEL " %" PRId64 ", proposed by %s; %s\n", "term",
            lk_message_number (lock, "term", 0),
            text_or (lock, "proposer", "nobody"), text_or (lock, "phase", "?"));
    print_list (lock, "leaders", "leaders");
    print_list (lock, "members", "members");
    print_list (lock, "sees", "sees");
    printf (LABEL " %" PRId64 ", good for %" PRId64 " ms\n", "session",
            lk_message_number (lock, "session", 0),
            lk_message_number (lock, "lease_left", 0));
    printf (LABEL " %" PRId64 " of this host, %" PRId64 " tickets in its "
                  "table\n",
            "requests", lk_message_number (lock, "requests", 0),
            lk_message_number (lock, "tickets", 0));
    if (lk_message_number (lock, "alerts", 0) > 0) {
        printf (LABEL " %" PRId64 " times a leader's table was wrong; at last ",
                "alerts", lk_message_number (lock, "alerts", 0));
        lk_show (stdout, text_or (lock, "alert", "?"));
        putchar ('\n');
    }
}

static void
print_for_people (const report *self)
{
    print_router (self);
    if (self->lock == NULL) {
        printf (LABEL " not ready: there is no lock service on this host; "
                      "start lockkeeper-lockd\n",
                "locks");
    } else {
        print_lock (self);
    }
    if (self->options->object != NULL) {
        const char *home = home_of (self, self->options->object);
        printf (LABEL " %s\n", "home", home != NULL ? home : "none now");
    }
}

/*  -------------------------------------------------------- for programs */

static void
print_json (const report *self)
{
    lk_message *none = lk_message_row_new ();
    lk_message *all = lk_message_row_new ();
    const char *home = NULL;
    if (self->options->object != NULL) {
        home = home_of (self, self->options->object);
    }
    lk_message_set_text (all, "host", lk_asker_host (self->asker));
    lk_message_set_flag (all, "ready",
                         self->lock != NULL
                             && lk_message_is (self->lock, "LOCKREADY"));
    if (self->options->object != NULL) {
        lk_cli_set_object (all, self->options->object);
        lk_message_set_text (all, "home", home != NULL ? home : "");
    }
    printf ("%s\n%s\n%s\n", lk_message_body (all),
            lk_message_body (self->lock != NULL ? self->lock : none),
            lk_message_body (self->router != NULL ? self->router : none));
    lk_message_destroy (&all);
    lk_message_destroy (&none);
}

/*  -------------------------------------------------------- the verb */

/*  NULL if it does not answer, or knows no such question. */
static lk_message *
ask_status (report *self, const char *to, const char *command)
{
    lk_message *question = lk_message_new (to, command);
    lk_message *answer = lk_asker_ask (self->asker, &question, ANSWER_MS);
    if (answer != NULL && lk_message_is_complaint (answer)) {
        lk_message_destroy (&answer);
    }
    return answer;
}

static int
run_status (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_status,
                          LK_OPT_ENDPOINT | LK_OPT_JSON | LK_OPT_OBJECT, argc,
                          argv, &code)) {
        return code;
    }
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_status,
                               "'status' takes no '%s'; "
                               "--object NAME asks for one lock",
                               lk_shown_name (options.argument[0]).text);
    }
    if (options.object != NULL
        && lk_cli_check_name (options.object) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    report self = {.options = &options};
    self.asker = lk_cli_asker (options.endpoint);
    if (self.asker == NULL) {
        return LK_EXIT_FAILED;
    }
    self.router = ask_status (&self, "router@.", "ROUTERSTATUS");
    self.lock = ask_status (&self, "lock@.", "LOCKSTATUS");
    if (options.json) {
        print_json (&self);
    } else {
        print_for_people (&self);
    }
    code = self.lock != NULL && lk_message_is (self.lock, "LOCKREADY")
               ? LK_EXIT_OK
               : LK_EXIT_NO;
    lk_message_destroy (&self.router);
    lk_message_destroy (&self.lock);
    lk_asker_destroy (&self.asker);
    return code;
}

const lk_verb lk_verb_status = {
    "status",
    "[--object NAME] [--json]",
    "Shows this host, its cluster, and whether locks can be had",
    "  --object NAME  also show the home of a lock: the leader that keeps its "
    "queue\n"
    "  --json         print three JSON objects, one per line: in short, the "
    "lock\n                 service's answer, the router's\n"
    "  --endpoint E   where the router is\n\n"
    "Exit code: 0 locks can be had; 1 not now; 125 no router.\n",
    run_status,
};
