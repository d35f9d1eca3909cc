/*  judge.c - finds in a history what a lock service must never let happen
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The events of each request are put together, in the order of time, and
 *  judged one by one. What requests have to do with each other is for the
 *  simulator's checker, which is told what they believed and when (told.h).
 */

#include "lib/judge.h"

#include "lib/told.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 5000 /* from the end of the wait to FAILED */
#define NS_PER_MS INT64_C (1000000)

/*  What became of one request; 0: did not happen. */
typedef struct {
    const lk_history_event *asked;
    const lk_history_event *granted;
    const lk_history_event *failed;
    const lk_history_event *unheld; /* or lost, if that came first */
    const lk_history_event *lost;
    const lk_history_event *unlock;
    const lk_history_event *released;
    int64_t ended; /* its process; INT64_MAX: it goes on */
} request;

typedef struct {
    const lk_history *history;
    const lk_judge_options *options;
    FILE *complaints;
    lk_verdict verdict;
    request *requests;
    size_t count;
    lk_told told;
    char host[SIM_HOSTS_MAX][32];
} judge;

static void __attribute__ ((format (printf, 4, 5)))
complain (judge *self, const char *rule, const lk_history_event *event,
          const char *format, ...)
{
    va_list list;
    self->verdict.violations++;
    fprintf (self->complaints, "%s: %s %" PRIu64 " '%s' at %" PRId64 ": ", rule,
             event->process, event->request, event->object, event->ns);
    va_start (list, format);
    vfprintf (self->complaints, format, list);
    va_end (list);
    fputc ('\n', self->complaints);
}

static bool
is_host (const lk_history_event *event, const char *host, size_t size)
{
    return strncmp (event->process, host, size) == 0
           && (event->process[size] == '/' || event->process[size] == '\0');
}

static size_t
host_size (const lk_history_event *event)
{
    return strcspn (event->process, "/");
}

/*  -------------------------------------------------------- one request */

/*  By process, then by request, then by time. */
static int
by_request (const void *left, const void *right)
{
    const lk_history_event *a = *(lk_history_event *const *) left;
    const lk_history_event *b = *(lk_history_event *const *) right;
    const int order = strcmp (a->process, b->process);
    if (order != 0) {
        return order;
    }
    if (a->request != b->request) {
        return a->request < b->request ? -1 : 1;
    }
    return (a > b) - (a < b);
}

static void
take_answer (judge *self, request *it, const lk_history_event *event)
{
    const bool granted = event->kind == LK_HISTORY_GRANTED;
    if (it->granted != NULL || it->failed != NULL || it->released != NULL) {
        complain (self, "twice", event, "%s after an answer",
                  lk_history_word (event->kind));
    } else if (granted) {
        it->granted = event;
    } else {
        it->failed = event;
    }
}

static void
take_loss (judge *self, request *it, const lk_history_event *event)
{
    if (it->granted == NULL) {
        complain (self, "order", event, "%s before it was granted",
                  lk_history_word (event->kind));
        return;
    }
    if (it->unheld == NULL) {
        it->unheld = event;
    }
    if (event->kind == LK_HISTORY_UNHELD) {
        return;
    }
    if (it->lost != NULL || it->released != NULL) {
        complain (self, "twice", event, "lost after its end");
    }
    it->lost = event;
}

static void
take_release (judge *self, request *it, const lk_history_event *event)
{
    if (it->released != NULL) {
        complain (self, "twice", event, "released after its release");
    } else if (it->unlock == NULL) {
        complain (self, "order", event, "released unasked");
    }
    it->released = event;
}

static void
take_event (judge *self, request *it, const lk_history_event *event)
{
    if (event->kind != LK_HISTORY_ASKED && it->asked == NULL) {
        complain (self, "order", event, "%s, but never asked for",
                  lk_history_word (event->kind));
        it->asked = event;
    }
    switch (event->kind) {
    case LK_HISTORY_ASKED:
        if (it->asked != NULL) {
            complain (self, "order", event, "asked for with an old number");
        }
        it->asked = event;
        break;
    case LK_HISTORY_GRANTED:
    case LK_HISTORY_FAILED:
        take_answer (self, it, event);
        break;
    case LK_HISTORY_UNHELD:
    case LK_HISTORY_LOST:
        take_loss (self, it, event);
        break;
    case LK_HISTORY_UNLOCK:
        it->unlock = event;
        break;
    case LK_HISTORY_RELEASED:
        take_release (self, it, event);
        break;
    case LK_HISTORY_ENDED:
    case LK_HISTORY_FAULT:
    case LK_HISTORY_HEALED:
    case LK_HISTORY_KIND_COUNT:
        break;
    }
}

/*  -------------------------------------------------------- all of them */

/*  A process' end has request 0, so it comes before its requests. The first
 *  one counts: who kills it notes another, in the same moment. */
static void
gather (judge *self, const lk_history_event *const *event, size_t count)
{
    const lk_history_event *end = NULL;
    const lk_history_event *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const bool other =
            last == NULL || strcmp (last->process, event[i]->process) != 0;
        if (other) {
            end = NULL;
        }
        if (event[i]->kind == LK_HISTORY_ENDED) {
            self->verdict.ended += end == NULL;
            end = end == NULL ? event[i] : end;
        } else if (event[i]->request != 0) {
            if (other || last->request != event[i]->request) {
                self->requests[self->count++].ended =
                    end != NULL ? end->ns : INT64_MAX;
            }
            take_event (self, &self->requests[self->count - 1], event[i]);
        }
        last = event[i];
    }
}

static void
gather_all (judge *self)
{
    const size_t count = self->history->count;
    const lk_history_event **sorted = lk_alloc ((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &self->history->event[i];
        self->verdict.faults += sorted[i]->kind == LK_HISTORY_FAULT;
    }
    qsort (sorted, count, sizeof *sorted, by_request);
    self->requests = lk_alloc ((count + 1) * sizeof *self->requests);
    gather (self, sorted, count);
    lk_free (sorted);
}

/*  Whether something was done to the host in that time, or so shortly before
 *  that its lease may end by it; `what`: of that kind, NULL: anything. */
static bool
has_fault (const judge *self, const lk_history_event *from,
           const lk_history_event *until, const char *what)
{
    bool open = false;
    const size_t size = host_size (from);
    const int64_t since = from->ns - self->options->lease_ms * NS_PER_MS;
    for (size_t i = 0; i < self->history->count; i++) {
        const lk_history_event *event = &self->history->event[i];
        if (event->ns > until->ns) {
            break;
        }
        if (!is_host (event, from->process, size)) {
            continue;
        }
        if (event->kind == LK_HISTORY_FAULT) {
            open = open || what == NULL || strstr (event->word, what) != NULL;
        } else if (event->kind == LK_HISTORY_HEALED && event->ns < since) {
            open = false;
        }
    }
    return open;
}

static void
check_answered (judge *self, const request *it)
{
    const bool goes_on = it->ended == INT64_MAX;
    if (it->granted == NULL && it->failed == NULL && it->unlock == NULL
        && goes_on) {
        complain (self, "answer", it->asked, "never answered");
    }
    if (it->unlock != NULL && it->released == NULL && it->failed == NULL
        && goes_on) {
        complain (self, "answer", it->unlock, "its release never answered");
    }
    if (it->failed == NULL || it->asked->number < 0) {
        return;
    }
    const int64_t took_ms = (it->failed->ns - it->asked->ns) / NS_PER_MS;
    const int64_t limit_ms =
        it->asked->number + ANSWER_MS + self->options->noise_ms;
    if (took_ms > limit_ms
        && !has_fault (self, it->asked, it->failed, "apps")) {
        complain (self, "late", it->failed,
                  "failed after %" PRId64 " ms, its wait was %" PRId64 " ms",
                  took_ms, it->asked->number);
    }
}

/*  Whether it was told that its duration is over. */
static bool
is_timed_out (const request *it)
{
    return it->lost != NULL && strcmp (it->lost->word, "timedout") == 0;
}

static void
check_loss (judge *self, const request *it)
{
    if (is_timed_out (it)) {
        self->verdict.timedout++;
        return;
    }
    self->verdict.lost++;
    if (!has_fault (self, it->asked, it->lost, NULL)) {
        complain (self, "lost", it->lost, "lost ('%s') without a cause",
                  it->lost->word);
    }
}

static void
count_request (judge *self, const request *it)
{
    lk_verdict *verdict = &self->verdict;
    verdict->requests++;
    verdict->granted += it->granted != NULL;
    verdict->failed += it->failed != NULL;
    verdict->released += it->released != NULL;
    verdict->taken_back +=
        it->unlock != NULL && it->granted == NULL && it->failed == NULL;
    verdict->orphaned += it->ended != INT64_MAX && it->failed == NULL
                         && it->released == NULL && it->lost == NULL;
}

/*  -------------------------------------------------------- the checker */

static int64_t
earlier (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static sim_who
who_is (judge *self, const lk_history_event *event)
{
    const size_t size = host_size (event);
    uint8_t host = 0;
    while (host < SIM_HOSTS_MAX && self->host[host][0] != '\0'
           && !is_host (event, self->host[host], strlen (self->host[host]))) {
        host++;
    }
    if (host == SIM_HOSTS_MAX) {
        complain (self, "hosts", event, "more than the checker knows");
        host = 0;
    } else if (self->host[host][0] == '\0') {
        memcpy (self->host[host], event->process, size);
    }
    char *birth;
    uint32_t number =
        (uint32_t) strtoul (event->process + size + 1, &birth, 10);
    if (*birth == '.') {
        number |= (uint32_t) strtoul (birth + 1, NULL, 10) << 22;
    }
    return (sim_who) {.host = host, .app = number, .serial = event->request};
}

/*  The end of its duration; SIM_FOREVER without one. */
static int64_t
duration_until_ms (const request *it)
{
    return strcmp (it->granted->word, "-") == 0
               ? SIM_FOREVER
               : strtoll (it->granted->word, NULL, 10);
}

/*  Until when it believed to hold it; whether a duration has to end that is
 *  the checker's own business. */
static int64_t
believed_until (const judge *self, const request *it)
{
    int64_t until = it->ended;
    if (it->unlock != NULL) {
        until = earlier (until, it->unlock->ns);
    }
    if (it->unheld != NULL && !is_timed_out (it)
        && it->unheld->ns / NS_PER_MS < duration_until_ms (it)) {
        until = earlier (until, self->options->told ? it->unheld->ns
                                                    : it->unheld->number);
    }
    return until;
}

static void
tell (judge *self, lk_told_kind kind, const lk_history_event *event, int64_t ns,
      lk_told_moment moment)
{
    moment.kind = kind;
    moment.ns = ns;
    moment.object = event->object;
    moment.who = who_is (self, event);
    moment.user = event;
    lk_told_add (&self->told, &moment);
}

static int64_t
wait_until_ms (const lk_history_event *asked, int64_t more_ms)
{
    return asked->number < 0 ? SIM_FOREVER
                             : asked->ns / NS_PER_MS + asked->number + more_ms;
}

/*  What was never held is nobody's. */
static void
tell_grant (judge *self, const request *it)
{
    const lk_history_event *granted = it->granted;
    const int64_t until = believed_until (self, it);
    const bool is_over = granted->ns / NS_PER_MS >= duration_until_ms (it);
    if (until > granted->ns && !is_over) {
        tell (self, LK_TOLD_LOCKED, granted, granted->ns,
              (lk_told_moment) {.token = (uint64_t) granted->number,
                                .until_ms = duration_until_ms (it)});
    }
    if (is_timed_out (it) && it->lost->ns < until) {
        tell (self, LK_TOLD_EXPIRED, it->lost, it->lost->ns,
              (lk_told_moment) {.token = 0});
    }
    if (until < INT64_MAX) {
        tell (self, LK_TOLD_ENDED, granted,
              until > granted->ns ? until : granted->ns,
              (lk_told_moment) {.token = 0});
    }
}

/*  Something that was done to the host may have ended its session, and then
 *  there is no grace. A duration may be over when LOCKED arrives, and then it
 *  fails as timed out long before its wait is over. */
static void
tell_request (judge *self, const request *it)
{
    const lk_history_event *asked = it->asked;
    const bool limited = it->granted != NULL
                         && duration_until_ms (it) < SIM_FOREVER
                         && it->unlock != NULL;
    const bool graceful = limited && !has_fault (self, asked, it->unlock, NULL);
    tell (self, LK_TOLD_ASKED, asked, asked->ns,
          (lk_told_moment) {
              .until_ms =
                  wait_until_ms (asked, ANSWER_MS + self->options->noise_ms),
              .grace_ms = graceful ? self->options->grace_ms : 0});
    if (it->granted != NULL) {
        tell_grant (self, it);
    } else if (it->failed != NULL) {
        const bool timed_out = strcmp (it->failed->word, "timedout") == 0
                               && strcmp (asked->word, "-") == 0;
        tell (self, timed_out ? LK_TOLD_FAILED : LK_TOLD_ENDED, it->failed,
              it->failed->ns,
              (lk_told_moment) {.until_ms = wait_until_ms (asked, 0)});
    } else if (it->unlock != NULL || it->ended != INT64_MAX) {
        tell (self, LK_TOLD_ENDED, asked,
              it->unlock != NULL ? it->unlock->ns : it->ended,
              (lk_told_moment) {.token = 0});
    }
}

static void
take_failure (void *data, const lk_told_moment *moment, const char *failure)
{
    complain (data, "checker", moment->user, "%s", failure);
}

lk_verdict
lk_judge (const lk_history *history, const lk_judge_options *options,
          FILE *complaints)
{
    judge self = {
        .history = history, .options = options, .complaints = complaints};
    gather_all (&self);
    for (size_t i = 0; i < self.count; i++) {
        const request *it = &self.requests[i];
        count_request (&self, it);
        check_answered (&self, it);
        if (it->lost != NULL) {
            check_loss (&self, it);
        }
        tell_request (&self, it);
    }
    lk_told_play (&self.told, take_failure, &self);
    lk_told_clear (&self.told);
    lk_free (self.requests);
    return self.verdict;
}

/*  -------------------------------------------------------- pauses */

static bool
is_listed (const char *hosts, const lk_history_event *event)
{
    while (*hosts != '\0') {
        const size_t size = strcspn (hosts, ",");
        if (is_host (event, hosts, size)) {
            return true;
        }
        hosts += size + (hosts[size] == ',');
    }
    return false;
}

int64_t
lk_judge_pause (const lk_history *history, const char *hosts,
                const char *object, int64_t from, int64_t until)
{
    int64_t longest = 0, since = from;
    for (size_t i = 0; i < history->count; i++) {
        const lk_history_event *event = &history->event[i];
        if (event->kind != LK_HISTORY_GRANTED || event->ns <= from
            || event->ns > until || strcmp (event->object, object) != 0
            || !is_listed (hosts, event)) {
            continue;
        }
        if (event->ns - since > longest) {
            longest = event->ns - since;
        }
        since = event->ns;
    }
    return until - since > longest ? until - since : longest;
}
