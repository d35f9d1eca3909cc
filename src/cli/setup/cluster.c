/*  cluster.c - `lockkeeper cluster`: who is a member, and changes of that
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The first leader hears all hosts and makes changes; the lock service of
 *  this host tells who that is. If it goes away we ask its successor: to ask
 *  for what is so already does no harm.
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "net/clock.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define WAIT_MS 60000 /* unless --wait says otherwise */
#define ANSWER_MS 2000
#define AGAIN_MS 500 /* a change that is not answered is asked for again */
#define SILENT_MAX 6 /* times at one leader */
#define PAUSE_MS 100
#define PATIENCE_MS 2000 /* before we say why it takes so long */
#define OWN_SERVICE "lock@."
#define WHY_SIZE 256

static const char *
text_of (const lk_message *message, const char *field)
{
    const char *text = lk_message_text (message, field);
    return text != NULL ? text : "?";
}

static bool
has_members (const lk_message *answer)
{
    return answer != NULL && lk_message_is (answer, "LOCKMEMBERS")
           && lk_message_has (answer, "members");
}

/*  -------------------------------------------------------- members */

enum { HOST, ID, ROLE, SEEN, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [HOST] = {.head = "HOST", .width = 16, .whole = true},
    [ID] = {.head = "ID", .width = 8},
    [ROLE] = {.head = "ROLE", .width = 12},
    [SEEN] = {.head = "SEEN", .width = 6}};

static void
add_row (lk_columns *table, const lk_message *row)
{
    char id[9];
    snprintf (id, sizeof id, "%s",
              lk_message_has (row, "id") ? text_of (row, "id") : "-");
    lk_columns_add (table);
    lk_columns_set (table, HOST, text_of (row, "host"));
    lk_columns_set (table, ID, id);
    lk_columns_set (table, ROLE, text_of (row, "role"));
    lk_columns_set (table, SEEN,
                    lk_message_flag (row, "seen") ? "seen" : "silent");
}

/*  How many members; *seen of them. */
static size_t
count_members (const lk_message *answer, size_t *seen)
{
    lk_message *row;
    size_t members = 0;
    *seen = 0;
    for (size_t i = 0; (row = lk_message_row (answer, "members", i)) != NULL;
         i++) {
        if (strcmp (text_of (row, "role"), "proxy") != 0) {
            members++;
            *seen += lk_message_flag (row, "seen");
        }
        lk_message_destroy (&row);
    }
    return members;
}

static void
print_table (const lk_message *answer)
{
    size_t seen;
    const size_t count = count_members (answer, &seen);
    lk_columns *table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    lk_message *row;
    for (size_t i = 0; (row = lk_message_row (answer, "members", i)) != NULL;
         i++) {
        add_row (table, row);
        lk_message_destroy (&row);
    }
    lk_columns_print (table);
    lk_columns_destroy (&table);
    printf ("%zu member%s, %zu seen, %zu needed\n", count,
            count == 1 ? "" : "s", seen, count / 2 + 1);
}

static void
print_members (const lk_message *answer, bool json)
{
    lk_message *row;
    if (!json) {
        print_table (answer);
        return;
    }
    for (size_t i = 0; (row = lk_message_row (answer, "members", i)) != NULL;
         i++) {
        puts (lk_message_body (row));
        lk_message_destroy (&row);
    }
}

static lk_message *
ask (lk_requester *asker, const char *to, int64_t wait_ms)
{
    lk_message *question = lk_message_new (to, "LOCKMEMBERS");
    return lk_requester_ask (asker, &question, (int) wait_ms);
}

/*  What the first leader says is better than what our own service knows, since
 *  it hears all. */
static lk_message *
ask_first_leader (lk_requester *asker, lk_message *own)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    const char *leader = lk_message_item (own, "leaders", 0);
    if (leader == NULL || strcmp (leader, text_of (own, "served_by")) == 0) {
        return own;
    }
    snprintf (to, sizeof to, "lock@%s", leader);
    lk_message *answer = ask (asker, to, ANSWER_MS);
    if (!has_members (answer)) {
        lk_cli_fail (0,
                     "the first leader, '%s', does not answer: this is what "
                     "host '%s' knows",
                     leader, text_of (own, "served_by"));
        lk_message_destroy (&answer);
        return own;
    }
    lk_message_destroy (&own);
    return answer;
}

static int
say_no_answer (const lk_message *answer)
{
    if (answer == NULL) {
        return lk_cli_fail (LK_EXIT_LATE,
                            "the lock service of this host does not answer; "
                            "`lockkeeper status` shows how it is");
    }
    if (lk_message_is (answer, "LOCKMEMBERS")) {
        return lk_cli_fail (LK_EXIT_NO,
                            "no member of a cluster was heard yet; "
                            "`lockkeeper status` shows which hosts are");
    }
    return lk_cli_fail (LK_EXIT_FAILED,
                        "%s; is lockkeeper-lockd running on this host?",
                        text_of (answer, "reason"));
}

static int
list_members (lk_requester *asker, const lk_options *options)
{
    size_t seen;
    lk_message *answer = ask (asker, OWN_SERVICE, ANSWER_MS);
    if (!has_members (answer) || count_members (answer, &seen) == 0) {
        int code = say_no_answer (answer);
        lk_message_destroy (&answer);
        return code;
    }
    answer = ask_first_leader (asker, answer);
    print_members (answer, options->json);
    lk_message_destroy (&answer);
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- changes */

typedef struct {
    lk_requester *asker;
    const char *verb; /* "add", "remove" */
    bool json;
    const char *host;
    int64_t began_ms;
    int64_t until_ms;
    char to[LK_ADDRESS_LEN_MAX + 1];
    bool given;         /* a leader was at it, as far as we know */
    char why[WHY_SIZE]; /* it takes so long */
    bool said;
    int silent; /* times that `to` did not answer */
} changer;

static bool
adds (const changer *self)
{
    return strcmp (self->verb, "add") == 0;
}

/*  Asks on at `to`; says why, but not again and again. */
static void
ask_on (changer *self, const char *to, const char *why)
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

static int
say_done (const changer *self)
{
    if (!self->json) {
        printf ("'%s' is %s member now\n", self->host,
                adds (self) ? "a" : "no");
        return LK_EXIT_OK;
    }
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "host", self->host);
    lk_message_set_flag (row, "member", adds (self));
    puts (lk_message_body (row));
    lk_message_destroy (&row);
    return LK_EXIT_OK;
}

/*  No answer in time. That of a leader comes when it is done, also if it is not
 *  the first one any more: two who were at it would be in each other's way. One
 *  that is gone is told of by the router. */
static void
take_silence (changer *self)
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
take_failure (changer *self, const lk_message *answer)
{
    const char *text = text_of (answer, "text");
    lk_err error = lk_err_from_word (text_of (answer, "error"));
    switch (error) {
    case LK_TIMEDOUT:
    case LK_SHUTDOWN:
        self->given = true;
        ask_on (self, OWN_SERVICE, text);
        return -1;
    case LK_OVERLOADED:
    case LK_ISOLATED:
        ask_on (self, OWN_SERVICE, text);
        return -1;
    default:
        break;
    }
    /*  Another leader, who does not hear it yet, or never heard of it. */
    if (error == LK_UNKNOWN && self->given && adds (self)) {
        ask_on (self, OWN_SERVICE, text);
        return -1;
    }
    if (error == LK_UNKNOWN && self->given) {
        return say_done (self);
    }
    return lk_cli_fail (LK_EXIT_NO, "cannot %s '%s': %s", self->verb,
                        self->host, text);
}

/*  Not its to do: on to the first leader. */
static void
go_to_leader (changer *self, const lk_message *answer)
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
take_answer (changer *self, const lk_message *answer, bool first)
{
    if (answer == NULL) {
        take_silence (self);
    } else if (has_members (answer)) {
        return say_done (self);
    } else if (lk_message_is (answer, "LOCKMEMBERS")) {
        go_to_leader (self, answer);
    } else if (lk_message_is (answer, "LOCKFAILED")) {
        return take_failure (self, answer);
    } else if (first) {
        return say_no_answer (answer);
    } else {
        ask_on (self, OWN_SERVICE, text_of (answer, "reason"));
    }
    return -1;
}

static int
change (changer *self)
{
    int code = -1;
    bool first = true;
    snprintf (self->to, sizeof self->to, "%s", OWN_SERVICE);
    do {
        int64_t left_ms = self->until_ms - lk_clock_ms ();
        lk_message *question = lk_message_new (self->to, "LOCKMEMBERS");
        lk_message_set_text (question, self->verb, self->host);
        lk_message *answer = lk_requester_ask (
            self->asker, &question,
            (int) (left_ms < AGAIN_MS ? left_ms + 1 : AGAIN_MS));
        code = take_answer (self, answer, first);
        first = false;
        lk_message_destroy (&answer);
    } while (code < 0 && lk_clock_ms () < self->until_ms);
    if (code < 0) {
        code = lk_cli_fail (LK_EXIT_LATE,
                            "did not %s '%s' in time: %s; it may still "
                            "happen, `lockkeeper cluster members` shows it",
                            self->verb, self->host, self->why);
    }
    return code;
}

/*  -------------------------------------------------------- the verb */

static int
run_on (lk_requester *asker, const lk_options *options)
{
    const char *verb = options->argument[0];
    if (strcmp (verb, "members") == 0) {
        return list_members (asker, options);
    }
    int64_t wait_ms =
        options->wait_ms == LK_FOREVER ? WAIT_MS : options->wait_ms;
    changer self = {.asker = asker,
                    .verb = verb,
                    .json = options->json,
                    .host = options->argument[1],
                    .began_ms = lk_clock_ms (),
                    .until_ms = lk_clock_ms () + wait_ms,
                    .why = "there was no time"};
    return change (&self);
}

/*  Whether the arguments make sense; else said why not. */
static bool
check_arguments (const lk_options *options)
{
    const char *verb = options->count > 0 ? options->argument[0] : "";
    bool lists = strcmp (verb, "members") == 0;
    bool changes = strcmp (verb, "add") == 0 || strcmp (verb, "remove") == 0;
    if (!lists && !changes) {
        lk_cli_misused (&lk_verb_cluster,
                        "'cluster' needs 'members', 'add' or 'remove'");
    } else if (lists && options->count != 1) {
        lk_cli_misused (&lk_verb_cluster, "'cluster members' takes nothing "
                                          "more");
    } else if (changes && options->count != 2) {
        lk_cli_misused (&lk_verb_cluster,
                        "'cluster %s' needs the name of one "
                        "host",
                        verb);
    } else if (changes
               && !lk_address_is_name (lk_slice_of (options->argument[1]))) {
        lk_cli_misused (&lk_verb_cluster, "'%s' is no name of a host",
                        lk_shown_name (options->argument[1]).text);
    } else {
        return true;
    }
    return false;
}

static int
run_cluster (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_cluster, argc, argv, &code)) {
        return code;
    }
    if (!check_arguments (&options)) {
        return LK_EXIT_FAILED;
    }
    lk_requester *asker = lk_cli_asker (options.endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    code = run_on (asker, &options);
    lk_requester_destroy (&asker);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (JSON, "print a JSON object per host"),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 60)"),
    LK_TAKES_AS (ENDPOINT,
                 "where the router is; any host of the cluster will do"),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("members", FLAG), LK_FOLLOWS ("add", HOST),
    LK_FOLLOWS ("remove", HOST), LK_FOLLOWS_END};

const lk_verb lk_verb_cluster = {
    .name = "cluster",
    .usage = "members [options]\n"
             "       lockkeeper cluster add|remove HOST [options]",
    .summary = "Shows and changes which hosts are members of the cluster",
    .options = takes,
    .help = "Members elect the leaders; more than half of them have to be "
            "there. A host that\n"
            "is to be added runs its router and lockkeeper-lockd already, as a "
            "proxy; one that\n"
            "is removed may be dead. Locks are kept; for a second or two none "
            "is granted.\n"
            "\n"
            "Exit code: 0 so it is; 1 it cannot be; 124 not confirmed in time; "
            "125 failed.\n",
    .arguments = follows,
    .run = run_cluster,
};
