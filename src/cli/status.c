/*  status.c - `lockkeeper status`: how this host and its cluster are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/refused.h"
#include "cli/survey.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 1500
#define RATE_S 10.0
#define LABEL "%-12s "
#define HOSTS_HEAD "HOST           ROLE         LINK           SINCE LOCKS"
#define RATES_HEAD "    GOT/s  GIVEN/s"
#define WIDTH_OF_ALL 72 /* of a terminal that has room for the rates */
#define INDENT "             "

/*  -------------------------------------------------------- parts */

static const char *
text_or (const lk_message *message, const char *field, const char *otherwise)
{
    const char *text =
        message != NULL ? lk_message_text (message, field) : NULL;
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

static int64_t
number_of (const lk_message *message, const char *field)
{
    return message != NULL ? lk_message_number (message, field, 0) : 0;
}

/*  Services alone: programs that use locks are listed with their locks. */
static void
print_services (const lk_message *router)
{
    const char *item, *label = "services";
    for (size_t i = 0; (item = lk_message_item (router, "services", i)) != NULL;
         i++) {
        if (strstr (item, " service ") != NULL) {
            printf (LABEL "%s\n", label, item);
            label = "";
        }
    }
}

static void
print_here (const lk_survey *survey)
{
    printf (LABEL "%s (", "host", survey->host[0].name);
    if (survey->router == NULL) {
        puts ("its router tells no more)");
    } else {
        printf ("router %s at %s)\n", text_or (survey->router, "version", "?"),
                text_or (survey->router, "address", "no address"));
        print_services (survey->router);
    }
    printf (LABEL, "locks");
    if (lk_survey_is_ready (survey)) {
        printf ("%sready%s%s\n", lk_color_begin (LK_GOOD), lk_color_end (),
                lk_message_flag (survey->lock, "leads") ? ", this host leads"
                                                        : "");
    } else {
        printf ("%snot ready%s: ", lk_color_begin (LK_BAD), lk_color_end ());
        lk_show (stdout, lk_survey_reason (survey));
        putchar ('\n');
    }
}

static void
print_items (const lk_message *message, const char *label, const char *field)
{
    const char *item = lk_message_item (message, field, 0);
    printf (LABEL "%s", label, item != NULL ? item : "none");
    for (size_t i = 1;
         item != NULL && (item = lk_message_item (message, field, i)) != NULL;
         i++) {
        printf (" %s", item);
    }
    putchar ('\n');
}

static void
print_cluster (const lk_message *lock)
{
    printf (LABEL, "cluster");
    lk_show (stdout,
             text_or (lock, "cluster", "none yet: no member of one was heard"));
    printf ("%s, term %" PRId64 ", proposed by %s; %s\n",
            lk_message_flag (lock, "member") ? "" : " (not a member)",
            number_of (lock, "term"), text_or (lock, "proposer", "nobody"),
            text_or (lock, "phase", "?"));
    print_items (lock, "leaders", "leaders");
    print_items (lock, "members", "members");
    print_items (lock, "sees", "sees");
    printf (LABEL "%" PRId64 ", good for %" PRId64 " ms\n", "session",
            number_of (lock, "session"), number_of (lock, "lease_left"));
}

/*  -------------------------------------------------------- hosts */

static const char *
role_of (const lk_survey_host *host)
{
    return host->leader == 0  ? "first leader"
           : host->leader > 0 ? "leader"
           : host->is_member  ? "member"
                              : "proxy";
}

/*  Why it is not as it should be; NULL: all is well. */
static const char *
trouble_of (const lk_survey_host *host)
{
    if (!host->live) {
        return text_or (host->link, "reason",
                        host->link == NULL ? "its router is in no list here"
                                           : "its router does not answer");
    }
    if (host->lock == NULL) {
        return "no lock service answers there";
    }
    return lk_message_is (host->lock, "LOCKREADY")
               ? NULL
               : text_or (host->lock, "reason", "no reason told");
}

static const char *
link_of (const lk_survey_host *host)
{
    return host->here           ? "here"
           : host->link != NULL ? text_or (host->link, "state", "?")
                                : "unknown";
}

static void
print_rate (int64_t lately)
{
    printf (" %8.1f", (double) lately / RATE_S);
}

static void
print_host (const lk_survey_host *host)
{
    const char *trouble = trouble_of (host);
    const lk_color color = trouble == NULL ? LK_GOOD : LK_BAD;
    const int64_t since_ms =
        host->link != NULL ? number_of (host->link, "since_ms") : -1;
    printf ("%-14s %-12s %s%-9s%s %10s %s%-5s%s", host->name, role_of (host),
            lk_color_begin (host->live ? LK_GOOD : LK_BAD), link_of (host),
            lk_color_end (), lk_span (since_ms).text, lk_color_begin (color),
            trouble == NULL ? "ready" : "no", lk_color_end ());
    if (host->lock != NULL && lk_terminal_width () >= WIDTH_OF_ALL) {
        print_rate (number_of (host->lock, "grants_lately"));
        print_rate (number_of (host->lock, "releases_lately"));
    }
    putchar ('\n');
    if (trouble != NULL && !host->here) {
        printf ("  ");
        lk_show (stdout, trouble);
        putchar ('\n');
    }
}

static void
print_hosts (const lk_survey *survey)
{
    printf ("\n%s" HOSTS_HEAD "%s%s\n", lk_color_begin (LK_HEAD),
            lk_terminal_width () < WIDTH_OF_ALL ? "" : RATES_HEAD,
            lk_color_end ());
    for (size_t i = 0; i < survey->count; i++) {
        print_host (&survey->host[i]);
    }
}

/*  -------------------------------------------------------- sums */

/*  What a leader knows of the whole cluster; NULL: none answers. */
static const lk_message *
a_leader (const lk_survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        const lk_message *lock = survey->host[i].lock;
        if (lock != NULL && lk_message_has (lock, "waiting")) {
            return lock;
        }
    }
    return NULL;
}

static void
print_sums (const lk_survey *survey)
{
    const lk_message *leader = a_leader (survey);
    int64_t grants = 0, releases = 0;
    for (size_t i = 0; i < survey->count; i++) {
        grants += number_of (survey->host[i].lock, "grants_lately");
        releases += number_of (survey->host[i].lock, "releases_lately");
    }
    printf ("\n" LABEL, "requests");
    if (leader == NULL) {
        puts ("no leader tells how many there are");
    } else {
        printf ("%" PRId64 " in the cluster, %" PRId64 " of them wait, for "
                "%" PRId64 " names\n",
                number_of (leader, "tickets"), number_of (leader, "waiting"),
                number_of (leader, "waited_for"));
    }
    printf (LABEL "%.1f got and %.1f given back per second in the last 10 s\n",
            "rates", (double) grants / RATE_S, (double) releases / RATE_S);
}

/*  -------------------------------------------------------- alerts */

/*  The message of a table that was wrong is the same on all hosts. */
static int
print_table_alerts (const lk_survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        const lk_message *lock = survey->host[i].lock;
        if (number_of (lock, "alerts") > 0) {
            printf (LABEL "%" PRId64
                          " times a leader's table was wrong; at last ",
                    "alerts", number_of (lock, "alerts"));
            lk_show (stdout, text_or (lock, "alert", "?"));
            puts ("\n" INDENT "it was filled anew; check that host's memory");
            return 1;
        }
    }
    return 0;
}

static size_t
count_members (const lk_survey *survey, size_t *live)
{
    size_t members = 0;
    *live = 0;
    for (size_t i = 0; i < survey->count; i++) {
        const lk_survey_host *host = &survey->host[i];
        members += host->is_member;
        *live += host->is_member && host->live && host->lock != NULL;
    }
    return members;
}

/*  How many more may be lost. */
static int
print_member_alerts (const lk_survey *survey)
{
    size_t live;
    const size_t members = count_members (survey, &live);
    const size_t needed = members / 2 + 1;
    if (live == members) {
        return 0;
    }
    printf (LABEL "%zu of %zu members answer, %zu are needed%s\n" INDENT,
            "warning", live, members, needed,
            live == needed ? ": no other one may fail" : "");
    puts (live < needed
              ? "start their daemons or mend the network; nobody gets a lock "
                "before"
              : "start the daemons of the missing ones, or `cluster remove` "
                "them");
    return 1;
}

static void
print_alerts (const lk_survey *survey, lk_asker *asker)
{
    if (print_table_alerts (survey) + print_member_alerts (survey)
            + lk_cli_print_refused (survey, asker, ANSWER_MS)
        == 0) {
        printf (LABEL "none\n", "alerts");
    }
}

static void
print_for_people (const lk_survey *survey, lk_asker *asker, const char *object)
{
    print_here (survey);
    if (survey->lock != NULL) {
        print_cluster (survey->lock);
    }
    if (object != NULL) {
        const char *home = lk_survey_home (survey, "", object);
        printf (LABEL "%s\n", "home", home != NULL ? home : "none now");
    }
    print_hosts (survey);
    print_sums (survey);
    print_alerts (survey, asker);
}

/*  -------------------------------------------------------- for programs */

static lk_message *
row_of (const lk_survey_host *host)
{
    static const char *const numbers[] = {"requests",      "grants",
                                          "releases",      "alerts",
                                          "grants_lately", "releases_lately"};
    lk_message *row = lk_message_row_new ();
    const char *trouble = trouble_of (host);
    lk_message_set_text (row, "host", host->name);
    lk_message_set_text (row, "role", role_of (host));
    lk_message_set_text (row, "state", link_of (host));
    lk_message_set_flag (row, "live", host->live);
    lk_message_set_flag (row, "ready", trouble == NULL);
    if (trouble != NULL) {
        lk_message_set_text (row, "reason", trouble);
    }
    if (host->link != NULL) {
        lk_message_set_text (row, "address",
                             text_or (host->link, "address", ""));
        lk_message_set_number (row, "since_ms",
                               number_of (host->link, "since_ms"));
    }
    for (size_t i = 0;
         host->lock != NULL && i < sizeof numbers / sizeof numbers[0]; i++) {
        lk_message_set_number (row, numbers[i],
                               number_of (host->lock, numbers[i]));
    }
    return row;
}

/*  One object: the messages' bodies go into it as they are. */
static void
print_json (const lk_survey *survey, const char *object)
{
    lk_message *all = lk_message_row_new ();
    lk_message_set_text (all, "host", survey->host[0].name);
    lk_message_set_flag (all, "ready", lk_survey_is_ready (survey));
    if (!lk_survey_is_ready (survey)) {
        lk_message_set_text (all, "reason", lk_survey_reason (survey));
    }
    if (object != NULL) {
        const char *home = lk_survey_home (survey, "", object);
        lk_cli_set_object (all, object);
        lk_message_set_text (all, "home", home != NULL ? home : "");
    }
    for (size_t i = 0; i < survey->count; i++) {
        lk_message *row = row_of (&survey->host[i]);
        lk_message_add_row (all, "hosts", &row);
    }
    const char *body = lk_message_body (all);
    printf ("%.*s,\"router\":%s,\"lock\":%s}\n", (int) strlen (body) - 1, body,
            survey->router != NULL ? lk_message_body (survey->router) : "null",
            survey->lock != NULL ? lk_message_body (survey->lock) : "null");
    lk_message_destroy (&all);
}

/*  -------------------------------------------------------- the verb */

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
    lk_asker *asker = lk_cli_asker (options.endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    lk_survey survey;
    lk_survey_take (&survey, asker, ANSWER_MS);
    if (options.json) {
        print_json (&survey, options.object);
    } else {
        print_for_people (&survey, asker, options.object);
    }
    code = lk_survey_is_ready (&survey) ? LK_EXIT_OK : LK_EXIT_NO;
    lk_survey_clear (&survey);
    lk_asker_destroy (&asker);
    return code;
}

const lk_verb lk_verb_status = {
    "status",
    "[--object NAME] [--json]",
    "Shows this host, its cluster, and whether locks can be had",
    "  --object NAME  also show the home of a lock: the leader that keeps its "
    "queue\n"
    "  --json         print one JSON object\n"
    "  --endpoint E   where the router is\n\n"
    "Exit code: 0 locks can be had; 1 not now; 125 no router.\n",
    run_status,
};
