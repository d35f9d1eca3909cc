/*  judge.c - finds in a history what a lock service must never let happen
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  First the events of each request are put together, in the order of time;
 *  then the holdings of each object are.
 */

#include "lib/judge.h"

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
    const request *of;
    int64_t from;
    int64_t until;
} holding;

typedef struct {
    const lk_history *history;
    const lk_judge_options *options;
    FILE *complaints;
    lk_verdict verdict;
    request *requests;
    size_t count;
    holding *holdings;
    size_t holding_count;
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

/*  A process' end has request 0, so it comes before its requests. */
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
            end = event[i];
            self->verdict.ended++;
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

/*  Whether something was done to the host in that time. */
static bool
has_fault (const judge *self, const lk_history_event *from,
           const lk_history_event *until)
{
    bool open = false;
    const size_t size = host_size (from);
    for (size_t i = 0; i < self->history->count; i++) {
        const lk_history_event *event = &self->history->event[i];
        if (event->ns > until->ns) {
            break;
        }
        if (!is_host (event, from->process, size)) {
            continue;
        }
        if (event->kind == LK_HISTORY_FAULT) {
            open = true;
        } else if (event->kind == LK_HISTORY_HEALED && event->ns < from->ns) {
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
    if (took_ms > limit_ms) {
        complain (self, "late", it->failed,
                  "failed after %" PRId64 " ms, its wait was %" PRId64 " ms",
                  took_ms, it->asked->number);
    }
}

static void
check_loss (judge *self, const request *it)
{
    if (strcmp (it->lost->word, "timedout") == 0) {
        self->verdict.timedout++;
        return;
    }
    self->verdict.lost++;
    if (!has_fault (self, it->asked, it->lost)) {
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

/*  -------------------------------------------------------- holdings */

static int64_t
earlier (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*  Nothing, if held () was never true. */
static void
add_holding (judge *self, const request *it)
{
    int64_t until = it->ended;
    if (it->unlock != NULL) {
        until = earlier (until, it->unlock->ns);
    }
    if (it->unheld != NULL) {
        until = earlier (until, self->options->told ? it->unheld->ns
                                                    : it->unheld->number);
    }
    if (until > it->granted->ns) {
        self->holdings[self->holding_count++] =
            (holding) {it, it->granted->ns, until};
    }
}

/*  By object, then by time. */
static int
by_object (const void *left, const void *right)
{
    const holding *a = left, *b = right;
    const int order = strcmp (a->of->granted->object, b->of->granted->object);
    if (order != 0) {
        return order;
    }
    return (a->from > b->from) - (a->from < b->from);
}

static void
check_pair (judge *self, const holding *first, const holding *second)
{
    const lk_history_event *one = first->of->granted;
    const lk_history_event *two = second->of->granted;
    if (second->from < first->until) {
        complain (self, self->options->told ? "told" : "overlap", two,
                  "%s %" PRIu64 " holds it from %" PRId64 " to %" PRId64,
                  one->process, one->request, first->from, first->until);
    }
    if (two->number <= one->number) {
        complain (self, "token", two, "%" PRId64 " after %" PRId64, two->number,
                  one->number);
    }
}

/*  Each against the one before it that lasts longest. */
static void
check_holdings (judge *self)
{
    qsort (self->holdings, self->holding_count, sizeof *self->holdings,
           by_object);
    const holding *longest = NULL;
    for (size_t i = 0; i < self->holding_count; i++) {
        const holding *it = &self->holdings[i];
        const bool same =
            longest != NULL
            && strcmp (longest->of->granted->object, it->of->granted->object)
                   == 0;
        if (same) {
            check_pair (self, longest, it);
        }
        if (!same || it->until > longest->until) {
            longest = it;
        }
    }
}

lk_verdict
lk_judge (const lk_history *history, const lk_judge_options *options,
          FILE *complaints)
{
    judge self = {
        .history = history, .options = options, .complaints = complaints};
    gather_all (&self);
    self.holdings = lk_alloc ((self.count + 1) * sizeof *self.holdings);
    for (size_t i = 0; i < self.count; i++) {
        const request *it = &self.requests[i];
        count_request (&self, it);
        check_answered (&self, it);
        if (it->lost != NULL) {
            check_loss (&self, it);
        }
        if (it->granted != NULL) {
            add_holding (&self, it);
        }
    }
    check_holdings (&self);
    lk_free (self.holdings);
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
