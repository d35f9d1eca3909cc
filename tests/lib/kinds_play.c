/*  kinds_play.c - random histories: a small cluster against the model
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/kinds_play.h"

#include "util/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NO_NAME (-1)
#define SLACK_MS 260 /* until a home sees that a quiet time is over */
#define WAIT_MAX_MS 400
#define QUIET_MAX_MS 1000
#define HOSTS_GONE_MS 60000

static char problem[400];
static const lk_play *judged; /* for who is given a number only */
static lk_host dead;

/*  -------------------------------------------------------- complaints */

__attribute__ ((format (printf, 2, 3))) static void
complain (const lk_play *self, const char *format, ...)
{
    va_list args;
    if (problem[0] != '\0') {
        return;
    }
    int size = snprintf (problem, sizeof problem,
                         "%s, deed %ld: ", self->plan->name, self->deed);
    va_start (args, format);
    vsnprintf (problem + size, sizeof problem - (size_t) size, format, args);
    va_end (args);
}

static bool
is_fine (void)
{
    return problem[0] == '\0';
}

static const char *
kind_word (lk_answer_kind kind)
{
    static const char *const words[] = {"locked", "failed", "unlocked",
                                        "jeopardy", "checked"};
    return words[kind];
}

static const char *
text_of (int name)
{
    static const char *const names[LK_PLAY_NAMES_MAX] = {"one", "two", "three",
                                                         "four"};
    return names[name];
}

/*  -------------------------------------------------------- comparing */

static int
caller_of (const lk_play *self, const lk_small_told *told)
{
    for (size_t i = 0; i < self->plan->callers; i++) {
        const lk_play_caller *caller = &self->caller[i];
        if (caller->host == told->host && caller->app == told->answer.app
            && caller->serial == told->answer.serial) {
            return (int) i;
        }
    }
    return -1;
}

static bool
is_quiet_grant (const lk_play *self, const lk_kinds_told *expected)
{
    const lk_play_caller *caller = &self->caller[expected->who];
    const lk_ticket *ticket =
        lk_kinds_find (&self->model[caller->name], expected->who);
    return ticket && ticket->mode.quiet_ms > 0;
}

static bool
is_as_expected (const lk_play *self, const lk_kinds_told *expected,
                const lk_small_told *told)
{
    const lk_answer *answer = &told->answer;
    const int64_t late_ms = told->at_ms - expected->at_ms;
    const int64_t slack = is_quiet_grant (self, expected) ? SLACK_MS : 0;
    if (answer->kind != expected->kind || late_ms < 0 || late_ms > slack) {
        return false;
    }
    return answer->kind == LK_ANSWER_LOCKED
               ? answer->type == expected->type
                     && answer->ordinal == expected->ordinal
                     && answer->turn == expected->turn
               : answer->error == expected->error;
}

/*  Who is told something in the end forgets it. */
static void
take_note (lk_play *self, const lk_kinds_told *expected,
           const lk_answer *answer)
{
    lk_play_caller *caller = &self->caller[expected->who];
    self->granted += answer->kind == LK_ANSWER_LOCKED;
    self->full += answer->error == LK_FULL;
    self->timedout += answer->error == LK_TIMEDOUT;
    self->deadlocks += answer->error == LK_DEADLOCK;
    self->upgraded += answer->kind == LK_ANSWER_LOCKED && answer->turn > 0
                      && answer->type == LK_EXCLUSIVE;
    if (answer->kind != LK_ANSWER_LOCKED) {
        return;
    }
    uint64_t *latest = &self->token[caller->name];
    const bool is_kept = answer->turn > 0 && answer->type == LK_SHARED;
    if (is_kept ? answer->token != caller->token
                : answer->token < *latest
                      || (answer->token == *latest
                          && answer->type == LK_EXCLUSIVE)) {
        complain (self, "caller %d has token %llx after %llx", expected->who,
                  (unsigned long long) answer->token,
                  (unsigned long long) *latest);
    }
    caller->token = answer->token;
    *latest = answer->token > *latest ? answer->token : *latest;
}

static void
show_ticket (const lk_ticket *ticket)
{
    const lk_lock_mode *mode = &ticket->mode;
    printf ("%s type %d limit %u bound %u soft %d quiet %u%s\n",
            lk_model_is_active (ticket) ? "held" : "waiting", (int) mode->type,
            mode->limit, mode->bound, mode->soft, mode->quiet_ms,
            ticket->upgrade ? " upgrade" : "");
}

/*  What both say, for people. */
static void
show (const lk_play *self)
{
    lk_ticket tickets[LK_MODEL_MAX];
    for (size_t i = 0; i < self->tolds.count; i++) {
        const lk_kinds_told *told = &self->tolds.item[i];
        printf ("# expected: caller %d at %lld: %s %s, type %d ordinal %u "
                "turn %u\n",
                told->who, (long long) told->at_ms, kind_word (told->kind),
                lk_err_word (told->error), (int) told->type, told->ordinal,
                told->turn);
    }
    for (size_t i = 0; i < self->cluster.told_count; i++) {
        const lk_small_told *told = &self->cluster.told[i];
        const lk_answer *answer = &told->answer;
        printf ("# told: caller %d at %lld: %s %s, type %d ordinal %u turn "
                "%u\n",
                caller_of (self, told), (long long) told->at_ms,
                kind_word (answer->kind), lk_err_word (answer->error),
                (int) answer->type, answer->ordinal, answer->turn);
    }
    for (size_t name = 0; name < self->plan->names; name++) {
        const char *text = text_of ((int) name);
        const size_t count = lk_small_tickets (
            &self->cluster, (lk_name) {text, (uint16_t) strlen (text)}, tickets,
            LK_MODEL_MAX);
        for (size_t i = 0; i < self->model[name].queue.count; i++) {
            const lk_ticket *ticket = &self->model[name].queue.ticket[i];
            const int who = lk_kinds_who (ticket);
            printf ("# model of %s: caller %d of host %d ", text, who,
                    self->caller[who].host);
            show_ticket (ticket);
        }
        for (size_t i = 0; i < count; i++) {
            printf ("# home of %s: host %d serial %d ", text,
                    tickets[i].request.host, (int) tickets[i].request.serial);
            show_ticket (&tickets[i]);
        }
    }
}

/*  Danger comes with failures, and is no answer. */
static void
pass_over_danger (lk_play *self)
{
    for (size_t k = 0; k < self->cluster.told_count; k++) {
        lk_answer *answer = &self->cluster.told[k].answer;
        if (answer->kind == LK_ANSWER_JEOPARDY) {
            answer->app = 0;
        }
    }
}

/*  Each of what is expected was told, once; nothing else was. */
static void
compare (lk_play *self)
{
    pass_over_danger (self);
    for (size_t i = 0; i < self->tolds.count && is_fine (); i++) {
        const lk_kinds_told *expected = &self->tolds.item[i];
        const lk_play_caller *caller = &self->caller[expected->who];
        const lk_answer *answer = NULL;
        for (size_t k = 0; k < self->cluster.told_count && !answer; k++) {
            lk_small_told *told = &self->cluster.told[k];
            if (caller_of (self, told) == expected->who
                && is_as_expected (self, expected, told)) {
                answer = &told->answer;
                take_note (self, expected, answer);
                told->answer.app = 0;
            }
        }
        if (!answer) {
            show (self);
            complain (self,
                      "caller %d of name %d was not told '%s %s' (type %d, "
                      "ordinal %u, turn %u) at %lld",
                      expected->who, caller->name, kind_word (expected->kind),
                      lk_err_word (expected->error), (int) expected->type,
                      expected->ordinal, expected->turn,
                      (long long) expected->at_ms);
        }
    }
    for (size_t k = 0; k < self->cluster.told_count; k++) {
        const lk_small_told *told = &self->cluster.told[k];
        if (told->answer.app != 0 && is_fine ()) {
            show (self);
            complain (self,
                      "caller %d was told '%s %s' (type %d, ordinal %u, turn "
                      "%u) at %lld",
                      caller_of (self, told), kind_word (told->answer.kind),
                      lk_err_word (told->answer.error), (int) told->answer.type,
                      told->answer.ordinal, told->answer.turn,
                      (long long) told->at_ms);
        }
    }
    self->tolds.count = 0;
    lk_small_forget (&self->cluster);
    for (size_t i = 0; i < self->plan->callers; i++) {
        lk_play_caller *caller = &self->caller[i];
        if (caller->name != NO_NAME
            && !lk_kinds_find (&self->model[caller->name], (int) i)) {
            caller->name = NO_NAME;
            caller->token = 0;
        }
    }
}

/*  -------------------------------------------------------- time */

/*  When time does something next in any model; `name_p`: in which. */
static int64_t
next_ms (const lk_play *self, size_t *name_p)
{
    int64_t next_ms = INT64_MAX;
    for (size_t name = 0; name < self->plan->names; name++) {
        const int64_t ms =
            lk_kinds_next (&self->model[name], self->cluster.now_ms);
        if (ms < next_ms) {
            next_ms = ms;
            *name_p = name;
        }
    }
    return next_ms;
}

/*  Both go on for so long, and a little further where a quiet time ends. */
static void
pass (lk_play *self, int64_t ms)
{
    int64_t end_ms = self->cluster.now_ms + ms;
    size_t name = 0;
    lk_small_settle (&self->cluster);
    for (int64_t at; is_fine () && (at = next_ms (self, &name)) <= end_ms;) {
        const lk_kinds *model = &self->model[name];
        const size_t told = self->tolds.count;
        if (at > self->cluster.now_ms) {
            lk_small_run (&self->cluster, at - self->cluster.now_ms);
        }
        lk_kinds_time (&self->model[name], at, &self->tolds);
        for (size_t i = told; i < self->tolds.count; i++) {
            const lk_ticket *ticket =
                lk_kinds_find (model, self->tolds.item[i].who);
            if (ticket && ticket->mode.quiet_ms > 0 && end_ms < at + SLACK_MS) {
                end_ms = at + SLACK_MS;
            }
        }
    }
    if (end_ms > self->cluster.now_ms) {
        lk_small_run (&self->cluster, end_ms - self->cluster.now_ms);
    }
    compare (self);
}

/*  -------------------------------------------------------- deeds */

static bool
ends_then (const lk_play *self, int64_t until_ms)
{
    bool ends = false;
    for (size_t name = 0; name < self->plan->names; name++) {
        const lk_kinds *model = &self->model[name];
        for (size_t i = 0; i < model->queue.count; i++) {
            const int who = lk_kinds_who (&model->queue.ticket[i]);
            ends = ends || model->caller[who].until_ms == until_ms;
        }
    }
    return ends;
}

/*  No two waits end at the same time, and none near the end of a quiet time:
 *  nobody says who is first then. */
static int64_t
any_wait (lk_play *self, const lk_lock_mode *mode)
{
    const int64_t dice = lk_rng_between (&self->rng, 0, 999);
    if (dice < self->plan->try_now) {
        return 0;
    }
    if (dice >= self->plan->try_now + self->plan->wait || mode->quiet_ms > 0) {
        return -1;
    }
    int64_t wait_ms = lk_rng_between (&self->rng, 1, WAIT_MAX_MS);
    while (ends_then (self, self->cluster.now_ms + wait_ms)) {
        wait_ms++;
    }
    return wait_ms;
}

/*  Nobody says who of two is first whose quiet times end together. */
static bool
has_quiet_one (const lk_kinds *model)
{
    bool has = false;
    for (size_t i = 0; i < model->queue.count; i++) {
        const lk_ticket *ticket = &model->queue.ticket[i];
        has =
            has || (!lk_model_is_active (ticket) && ticket->mode.quiet_ms > 0);
    }
    return has;
}

static void
ask (lk_play *self, int who)
{
    lk_play_caller *caller = &self->caller[who];
    caller->name =
        (int) lk_rng_between (&self->rng, 0, (int64_t) self->plan->names - 1);
    caller->serial = ++self->serials;
    lk_app_request request =
        lk_small_request (caller->app, caller->serial, text_of (caller->name));
    request.mode = self->plan->mode (&self->rng);
    if (has_quiet_one (&self->model[caller->name])) {
        request.mode.quiet_ms = 0;
    }
    request.wait_ms = any_wait (self, &request.mode);
    const lk_kinds_request asked = {
        .who = who, .mode = request.mode, .wait_ms = request.wait_ms};
    lk_kinds_ask (&self->model[caller->name], &asked, self->cluster.now_ms,
                  &self->tolds);
    lk_small_ask (&self->cluster, caller->host, LK_ON_LOCK, &request);
}

static void
leave (lk_play *self, int who, bool dies)
{
    lk_play_caller *caller = &self->caller[who];
    const lk_app_request request =
        lk_small_request (caller->app, caller->serial, text_of (caller->name));
    lk_kinds_leave (&self->model[caller->name], who, !dies,
                    self->cluster.now_ms, &self->tolds);
    lk_small_ask (&self->cluster, caller->host,
                  dies ? LK_ON_APP_GONE : LK_ON_UNLOCK, &request);
}

static void
convert (lk_play *self, int who, const lk_ticket *ticket)
{
    lk_play_caller *caller = &self->caller[who];
    const bool down = ticket->mode.type == LK_EXCLUSIVE || ticket->upgrade;
    lk_app_request request =
        lk_small_request (caller->app, caller->serial, text_of (caller->name));
    request.turn = self->model[caller->name].caller[who].turn + 1;
    request.mode.type = down ? LK_SHARED : LK_EXCLUSIVE;
    request.wait_ms = any_wait (self, &request.mode);
    const lk_kinds_request asked = {
        .who = who, .mode = request.mode, .wait_ms = request.wait_ms};
    lk_kinds_convert (&self->model[caller->name], &asked, self->cluster.now_ms,
                      &self->tolds);
    lk_small_ask (&self->cluster, caller->host, LK_ON_LOCK, &request);
}

static void
do_something (lk_play *self)
{
    const int who =
        (int) lk_rng_between (&self->rng, 0, (int64_t) self->plan->callers - 1);
    const lk_play_caller *caller = &self->caller[who];
    const int64_t dice = lk_rng_between (&self->rng, 0, 999);
    if (caller->name == NO_NAME) {
        ask (self, who);
        return;
    }
    const lk_ticket *ticket = lk_kinds_find (&self->model[caller->name], who);
    if (lk_model_is_active (ticket) && ticket->mode.type != LK_SEMAPHORE
        && dice < self->plan->convert) {
        convert (self, who, ticket);
    } else {
        leave (self, who, dice >= 970);
    }
}

/*  -------------------------------------------------------- failures */

static bool
is_dead (int who)
{
    return judged->caller[who].host == dead;
}

/*  It loses its lock service, and its applications all that they have. */
static void
kill_one (lk_play *self, lk_host host)
{
    lk_small *cluster = &self->cluster;
    lk_kinds_tolds *tolds = &self->tolds;
    lk_small_kill (cluster, host, lk_rng_between (&self->rng, 0, 1));
    lk_small_run (cluster, lk_rng_between (&self->rng, 0, 4000));
    lk_small_start (cluster, host);
    if (!lk_small_wait_ready (cluster, HOSTS_GONE_MS)
        || !lk_small_wait_gone (cluster, host, HOSTS_GONE_MS)) {
        complain (self, "host %d's old locks are still there", host);
    }
    dead = host;
    judged = self;
    for (size_t name = 0; name < self->plan->names; name++) {
        lk_kinds_leave_all (&self->model[name], is_dead, cluster->now_ms,
                            tolds);
    }
    for (size_t i = 0; i < tolds->count; i++) {
        for (size_t k = 0; k < cluster->told_count; k++) {
            lk_small_told *told = &cluster->told[k];
            if (caller_of (self, told) == tolds->item[i].who) {
                tolds->item[i].at_ms = told->at_ms;
            }
        }
    }
}

/*  Nobody loses anything. */
static void
lose_touch (lk_play *self, lk_host host)
{
    lk_small_isolate (&self->cluster, host, true);
    lk_small_run (&self->cluster, lk_rng_between (&self->rng, 10, 4000));
    lk_small_isolate (&self->cluster, host, false);
    lk_small_run (&self->cluster, 2000); /* what was not heard is said again */
    if (!lk_small_wait_ready (&self->cluster, HOSTS_GONE_MS)) {
        complain (self, "not all are ready after host %d was out of touch",
                  host);
    }
}

/*  When nobody waits for a time, and no quiet time is running; after it a
 *  home may count quiet times anew. Nobody says when exactly a dead reader was
 *  gone. */
static void
disturb (lk_play *self)
{
    const lk_host host = (lk_host) lk_rng_between (
        &self->rng, 0, (int64_t) self->plan->hosts - 1);
    size_t name;
    while (is_fine () && next_ms (self, &name) != INT64_MAX) {
        pass (self, 2 * QUIET_MAX_MS);
    }
    bool kills = lk_rng_between (&self->rng, 0, 1);
    for (size_t i = 0; i < self->plan->names; i++) {
        kills = kills && !has_quiet_one (&self->model[i]);
    }
    if (kills) {
        kill_one (self, host);
    } else {
        lose_touch (self, host);
    }
    compare (self);
    if (next_ms (self, &name) == INT64_MAX) {
        pass (self, 2 * QUIET_MAX_MS);
    }
}

/*  -------------------------------------------------------- play */

static void
set_up (lk_play *self, const lk_play_plan *plan)
{
    memset (self, 0, sizeof *self);
    problem[0] = '\0';
    self->plan = plan;
    lk_rng_init (&self->rng, plan->seed);
    LK_ASSERT (plan->callers <= LK_PLAY_CALLERS_MAX
               && plan->names <= LK_PLAY_NAMES_MAX);
    lk_small_init (&self->cluster,
                   &(lk_small_plan) {.hosts = plan->hosts, .seed = plan->seed});
    for (size_t i = 0; i < plan->callers; i++) {
        self->caller[i] =
            (lk_play_caller) {.host = (lk_host) (i % plan->hosts),
                              .app = (uint32_t) (1 + i / plan->hosts),
                              .name = NO_NAME};
    }
}

/*  All leave, and nothing is left. */
static void
end (lk_play *self)
{
    for (int who = 0; who < (int) self->plan->callers && is_fine (); who++) {
        if (self->caller[who].name != NO_NAME) {
            leave (self, who, false);
            pass (self, 0);
        }
    }
    if (is_fine () && lk_small_count (&self->cluster) != 0) {
        complain (self, "%ld tickets are left",
                  lk_small_count (&self->cluster));
    }
    lk_small_clear (&self->cluster);
}

const char *
lk_play_run (lk_play *self, const lk_play_plan *plan)
{
    set_up (self, plan);
    for (self->deed = 1; self->deed <= plan->deeds && is_fine ();
         self->deed++) {
        do_something (self);
        pass (self, lk_rng_between (&self->rng, 0, plan->pause_ms));
        if (plan->between > 0 && self->deed % plan->between == 0
            && is_fine ()) {
            disturb (self);
        }
    }
    end (self);
    return is_fine () ? NULL : problem;
}
