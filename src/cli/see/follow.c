/*  follow.c - `lockkeeper watch`: what happens in the cluster, as it happens
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Asks all hosts again and again what there is since the last time: no host
 *  keeps anything for who watches, and who is cut off goes on where it was.
 */

#include "cli/cli.h"
#include "cli/see/past.h"
#include "cli/survey.h"
#include "cli/tickets.h"
#include "net/clock.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ANSWER_MS 1000
#define PAUSE_MS 200   /* between two looks at events */
#define SURVEY_MS 1000 /* ... at hosts, leaders and waiters; at a zone */
#define WAITS_MAX 100
#define EVENTS_MAX 500 /* of a zone, as many as are told at a time */
#define ZONE_MS 5000

/*  Up to where the events of a host are told. */
typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    int64_t after; /* -1: none was asked for yet */
} mark;

typedef struct {
    const lk_options *options;
    lk_requester *asker;
    lk_survey survey;
    int64_t surveyed_ms;
    mark mark[LK_SURVEY_HOSTS];
    size_t marks;
    lk_message *waits[WAITS_MAX]; /* rows of LOCKTOP, as told last */
    size_t wait_count;
    lk_past_list known; /* events of the zone, as told last, */
    int64_t known_ms;   /* and when it was asked for them; 0: never */
} follower;

/*  -------------------------------------------------------- lines */

/*  Of this host's calendar, in ms. */
static int64_t
calendar_ms (int64_t ago_ms)
{
    struct timespec now;
    clock_gettime (CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000 - ago_ms;
}

static void
print_time (int64_t ago_ms)
{
    const int64_t ms = calendar_ms (ago_ms);
    const time_t seconds = (time_t) (ms / 1000);
    struct tm parts;
    localtime_r (&seconds, &parts);
    printf ("%02d:%02d:%02d.%03d ", parts.tm_hour, parts.tm_min, parts.tm_sec,
            (int) (ms % 1000));
}

/*  In UTC, for programs. */
static void
set_time (lk_message *row, int64_t ago_ms)
{
    const int64_t ms = calendar_ms (ago_ms);
    const time_t seconds = (time_t) (ms / 1000);
    char day[32], text[48];
    struct tm parts;
    gmtime_r (&seconds, &parts);
    strftime (day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf (text, sizeof text, "%s.%03dZ", day, (int) (ms % 1000));
    lk_message_set_text (row, "time", text);
}

/*  Of the cluster; `host` may be NULL. */
static void
tell (const follower *self, const char *event, const char *host,
      const char *text)
{
    if (self->options->json) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "event", event);
        if (host != NULL) {
            lk_message_set_text (row, "host", host);
        }
        lk_message_set_text (row, "text", text);
        set_time (row, 0);
        puts (lk_message_body (row));
        lk_message_destroy (&row);
        return;
    }
    print_time (0);
    printf ("%s%s%s: ", event, host != NULL ? " " : "",
            host != NULL ? host : "");
    lk_show (stdout, text);
    putchar ('\n');
}

static bool
is_wanted (const follower *self, const lk_message *row)
{
    char room[LK_OBJECT_LEN_MAX];
    return lk_name_is_like (lk_row_name (row, room), self->options->argument,
                            self->options->count);
}

static void
tell_past (const follower *self, lk_message *row)
{
    if (!is_wanted (self, row)) {
        return;
    }
    if (self->options->json) {
        set_time (row, lk_message_number (row, "ago_ms", 0));
        lk_past_print_json (row);
        return;
    }
    print_time (lk_message_number (row, "ago_ms", 0));
    lk_row_print_name (row);
    printf (" ");
    lk_past_print_who (row, "");
    printf (": ");
    lk_past_print_what (row);
    putchar ('\n');
}

/*  -------------------------------------------------------- events of hosts */

static mark *
need_mark (follower *self, const char *host)
{
    for (size_t i = 0; i < self->marks; i++) {
        if (strcmp (self->mark[i].host, host) == 0) {
            return &self->mark[i];
        }
    }
    mark *it = &self->mark[self->marks % LK_SURVEY_HOSTS];
    self->marks += self->marks < LK_SURVEY_HOSTS;
    snprintf (it->host, sizeof it->host, "%s", host);
    it->after = -1;
    return it;
}

/*  At first only where the events are by now. */
static lk_message *
question_for (follower *self, const lk_survey_host *host)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    const mark *it = need_mark (self, host->name);
    if (!host->live) {
        return NULL;
    }
    snprintf (to, sizeof to, "lock@%s", host->name);
    lk_message *question = lk_message_new (to, "LOCKHISTORY");
    lk_message_set_number (question, it->after < 0 ? "count" : "after",
                           it->after < 0 ? 0 : it->after);
    lk_message_set_text (question, "zone", self->options->zone);
    return question;
}

/*  A lock service that was restarted counts from the beginning. */
static void
take_answer (follower *self, const char *host, const lk_message *answer,
             lk_past_list *list)
{
    mark *it = need_mark (self, host);
    if (answer == NULL || !lk_message_is (answer, "LOCKHISTORY")) {
        return;
    }
    const int64_t after = lk_message_number (answer, "after", 0);
    if (it->after > after) {
        it->after = 0;
        return;
    }
    if (lk_message_flag (answer, "missed")) {
        tell (self, "missed", host,
              "more happened there than is remembered: some of it is not told");
    }
    lk_past_take (list, answer);
    it->after = after;
}

static lk_past_list
copy_list (const lk_message *answer)
{
    lk_past_list list = {0};
    lk_past_take (&list, answer);
    return list;
}

/*  Events of a zone have no number: those heard before are left out. */
static void
look_at_zone (follower *self)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKHISTORY");
    const int64_t now_ms = lk_clock_ms ();
    lk_message_set_number (question, "count", EVENTS_MAX);
    lk_message *answer = lk_requester_ask (self->asker, &question, ZONE_MS);
    if (answer != NULL && lk_message_is (answer, "LOCKHISTORY")) {
        lk_past_list list = copy_list (answer);
        lk_past_drop_known (&list, &self->known, now_ms - self->known_ms);
        for (size_t i = 0; self->known_ms != 0 && i < list.count; i++) {
            tell_past (self, list.row[i]);
        }
        lk_past_clear (&list);
        lk_past_clear (&self->known);
        self->known = copy_list (answer);
        self->known_ms = now_ms;
    }
    lk_message_destroy (&answer);
}

/*  Of all hosts, in the order of time as far as one look brings them. */
static void
look_at_events (follower *self)
{
    lk_message *questions[LK_SURVEY_HOSTS], *answers[LK_SURVEY_HOSTS];
    const size_t count = self->survey.count;
    lk_past_list list = {0};
    if (self->survey.is_zoned) {
        look_at_zone (self);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        questions[i] = question_for (self, &self->survey.host[i]);
    }
    lk_requester_ask_all (self->asker, questions, answers, count, ANSWER_MS);
    for (size_t i = 0; i < count; i++) {
        take_answer (self, self->survey.host[i].name, answers[i], &list);
        lk_message_destroy (&answers[i]);
    }
    lk_past_sort (&list);
    for (size_t i = 0; i < list.count; i++) {
        tell_past (self, list.row[i]);
    }
    lk_past_clear (&list);
}

/*  -------------------------------------------------------- the cluster */

static const lk_survey_host *
find_host (const lk_survey *survey, const char *name)
{
    for (size_t i = 0; i < survey->count; i++) {
        if (strcmp (survey->host[i].name, name) == 0) {
            return &survey->host[i];
        }
    }
    return NULL;
}

static void
compare_hosts (const follower *self, const lk_survey *now)
{
    for (size_t i = 0; i < now->count; i++) {
        const lk_survey_host *host = &now->host[i];
        const lk_survey_host *was = find_host (&self->survey, host->name);
        const bool was_live = was != NULL && was->live;
        const bool had_lock = was != NULL && was->lock != NULL;
        if (host->live != was_live) {
            tell (self, "host", host->name,
                  host->live ? "its router is linked"
                             : "its router is not linked any more");
        }
        if (host->live && (host->lock != NULL) != had_lock) {
            tell (self, "host", host->name,
                  host->lock != NULL ? "its lock service answers"
                                     : "its lock service does not answer");
        }
    }
}

static void
list_leaders (const lk_survey *survey, char *text, size_t size)
{
    const lk_message *lock = survey->lock;
    const char *item;
    size_t used = (size_t) snprintf (
        text, size, "term %" PRId64 ", leaders",
        lock != NULL ? lk_message_number (lock, "term", 0) : 0);
    for (size_t i = 0; lock != NULL && used < size
                       && (item = lk_message_item (lock, "leaders", i)) != NULL;
         i++) {
        used += (size_t) snprintf (text + used, size - used, " %s", item);
    }
}

static void
compare_leaders (const follower *self, const lk_survey *now)
{
    char before[700], after[700];
    list_leaders (&self->survey, before, sizeof before);
    list_leaders (now, after, sizeof after);
    if (now->lock != NULL && strcmp (before, after) != 0) {
        tell (self, "leaders", NULL, after);
    }
}

static void
compare_ready (const follower *self, const lk_survey *now, bool first)
{
    const bool ready = lk_survey_is_ready (now);
    if (first || ready != lk_survey_is_ready (&self->survey)) {
        tell (self, ready ? "ready" : "not ready",
              now->is_zoned ? NULL : now->host[0].name,
              !ready          ? lk_survey_reason (now)
              : now->is_zoned ? "locks can be had"
                              : "locks can be had there");
    }
}

/*  -------------------------------------------------------- who waits */

static bool
is_same_name (const lk_message *one, const lk_message *other)
{
    static const char *const fields[] = {"object", "object_hex", "context",
                                         "zone"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *a = lk_message_text (one, fields[i]);
        const char *b = lk_message_text (other, fields[i]);
        if ((a != NULL || b != NULL)
            && (a == NULL || b == NULL || strcmp (a, b) != 0)) {
            return false;
        }
    }
    return true;
}

static int64_t
waiters_before (const follower *self, const lk_message *row)
{
    for (size_t i = 0; i < self->wait_count; i++) {
        if (is_same_name (self->waits[i], row)) {
            return lk_message_number (self->waits[i], "waiters", 0);
        }
    }
    return 0;
}

static void
tell_wait (const follower *self, lk_message *row)
{
    const int64_t waiters = lk_message_number (row, "waiters", 0);
    if (waiters == waiters_before (self, row) || !is_wanted (self, row)) {
        return;
    }
    if (self->options->json) {
        lk_message_set_text (row, "event", "waiting");
        set_time (row, 0);
        puts (lk_message_body (row));
        return;
    }
    print_time (0);
    lk_row_print_name (row);
    printf (": %" PRId64 " waiting, the longest for %s; held by %" PRId64 "\n",
            waiters, lk_span (lk_message_number (row, "longest_ms", 0)).text,
            lk_message_number (row, "holders", 0));
}

static void
drop_waits (follower *self)
{
    while (self->wait_count > 0) {
        lk_message_destroy (&self->waits[--self->wait_count]);
    }
}

/*  Any leader knows of all of them. */
static void
look_at_waits (follower *self)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKTOP");
    lk_message *answers[LK_SURVEY_HOSTS], *rows[WAITS_MAX];
    size_t count = 0;
    bool told = false;
    lk_message_set_text (question, "zone", self->options->zone);
    lk_survey_ask (&self->survey, self->asker, question, answers, ANSWER_MS);
    for (size_t i = 0; i < self->survey.count; i++) {
        while (!told && count < WAITS_MAX && answers[i] != NULL
               && (rows[count] = lk_message_row (answers[i], "waits", count))
                      != NULL) {
            tell_wait (self, rows[count++]);
        }
        told = told
               || (answers[i] != NULL
                   && (self->survey.is_zoned
                       || lk_message_flag (answers[i], "leads")));
        lk_message_destroy (&answers[i]);
    }
    if (told) {
        drop_waits (self);
        memcpy (self->waits, rows, count * sizeof rows[0]);
        self->wait_count = count;
    }
    lk_message_destroy (&question);
}

/*  -------------------------------------------------------- the verb */

static void
look_at_cluster (follower *self, bool first)
{
    lk_survey now;
    lk_survey_take (&now, self->asker, ANSWER_MS);
    if (!first || self->options->count == 0) {
        compare_ready (self, &now, first);
    }
    if (!first) {
        compare_hosts (self, &now);
    }
    compare_leaders (self, &now);
    lk_survey_clear (&self->survey);
    self->survey = now;
    self->surveyed_ms = lk_clock_ms ();
}

static void
follow (follower *self)
{
    look_at_cluster (self, true);
    look_at_waits (self);
    for (;;) {
        look_at_events (self);
        if (lk_clock_ms () - self->surveyed_ms >= SURVEY_MS) {
            look_at_cluster (self, false);
            look_at_waits (self);
        }
        if (fflush (stdout) != 0) {
            return;
        }
        (void) poll (NULL, 0, self->survey.is_zoned ? SURVEY_MS : PAUSE_MS);
    }
}

static int
run_watch (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_watch, argc, argv, &code)) {
        return code;
    }
    follower *self = lk_alloc (sizeof *self);
    self->options = &options;
    self->asker = lk_cli_looker (&options);
    if (self->asker != NULL) {
        follow (self);
        code = lk_cli_fail (LK_EXIT_FAILED, "cannot write to stdout: %m");
    } else {
        code = LK_EXIT_FAILED;
    }
    drop_waits (self);
    lk_past_clear (&self->known);
    lk_survey_clear (&self->survey);
    lk_requester_destroy (&self->asker);
    lk_free (self);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (ZONE, "only names of that zone"),
    LK_TAKES_AS (JSON, "print a JSON object per line"), LK_TAKES (ENDPOINT),
    LK_TAKES_END};

const lk_verb lk_verb_watch = {
    .name = "watch",
    .usage = "[PATTERN...] [options]",
    .summary = "Tells what happens to locks, hosts and leaders, until Ctrl-C",
    .intro = "PATTERN is one of glob(7), for the names of locks; with several "
             "any may fit.\n",
    .options = takes,
    .help = "Exit code: 130 after Ctrl-C; 125 failed.\n",
    .arguments = lk_follows_lock,
    .is_zoned = true,
    .run = run_watch,
};
