/*  proxy.c - the session of this host's applications
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Its requests are in life.c: a table of all that may come to them.
 */

#include "proxy.h"

#include "asker.h"
#include "demand.h"
#include "jeopardy.h"
#include "life.h"
#include "proxy_private.h"
#include "report.h"
#include "set.h"
#include "stopping.h"
#include "turn.h"

#include <string.h>
#include <utlist.h>

#define REPORT_MS 300  /* until a part is said again */
#define AT_A_TIME 1024 /* requests sent in one run */

void
lk_proxy_init (lk_proxy *self, lk_core *core, lk_leader *leader)
{
    memset (self, 0, sizeof *self);
    self->core = core;
    self->leader = leader;
    lk_demand_init_maps (self);
    lk_sets_init (self);
    lk_registrations_init (&self->far);
    self->report_ms = LK_LONG_AGO;
    lk_closing_begin (self);
}

void
lk_proxy_clear (lk_proxy *self)
{
    lk_sets_clear (self);
    lk_demand_clear_all (self);
    lk_report_clear (self);
    lk_registrations_clear (&self->far);
}

int64_t
lk_proxy_deadline (const lk_proxy *proxy)
{
    int64_t deadline = lk_heap_next_ms (&proxy->ends);
    if (lk_heap_next_ms (&proxy->set_ends) < deadline) {
        deadline = lk_heap_next_ms (&proxy->set_ends);
    }
    if (proxy->live && proxy->lease_until_ms < deadline) {
        deadline = proxy->lease_until_ms;
    }
    if (lk_heap_next_ms (&proxy->far.silences) < deadline) {
        deadline = lk_heap_next_ms (&proxy->far.silences);
    }
    if (lk_heap_next_ms (&proxy->far.looks) < deadline) {
        deadline = lk_heap_next_ms (&proxy->far.looks);
    }
    if (proxy->leaving && proxy->far.all.count == 0) {
        int64_t wait_ms = lk_closing_wait_ms (proxy);
        wait_ms = wait_ms > proxy->leave_ms ? wait_ms : proxy->leave_ms;
        /*  Behind that it may still drain, which takes steps of its own. */
        if (wait_ms > proxy->core->now_ms && wait_ms < deadline) {
            deadline = wait_ms;
        }
    }
    return deadline;
}

/*  -------------------------------------------------------- session */

/*  Applications on other machines move: what they have is theirs till then.
 *  Protocol 9.20: Ends. */
static bool
concerns (const lk_news *news, const lk_demand *demand)
{
    return !lk_demand_is_far (demand) || demand->state == LK_DEMAND_CLOSING
           || (news->kind == LK_NEWS_HALT && demand->state == LK_DEMAND_KEEPING)
           || (news->kind != LK_NEWS_LEAVE && news->kind != LK_NEWS_HALT);
}

/*  One may be gone then. */
static void
all_hear (lk_proxy *proxy, const lk_news *news)
{
    lk_demand *demand;
    lk_demand *next;
    for (demand = lk_demand_first (proxy); demand; demand = next) {
        next = lk_demand_next (proxy, demand);
        if (concerns (news, demand)) {
            lk_demand_hear (proxy, demand, news);
        }
    }
}

static bool
concerns_set (const lk_news *news, const lk_set *set)
{
    return !set->far || set->state == LK_SET_CLOSING
           || news->kind != LK_NEWS_LEAVE;
}

static void
sets_hear (lk_proxy *proxy, const lk_news *news)
{
    lk_set *set;
    lk_set *next;
    for (set = proxy->sets; set; set = next) {
        next = set->hh.next;
        if (concerns_set (news, set)) {
            lk_set_hear (proxy, set, news);
        }
    }
}

static void
tell_all (lk_proxy *proxy, lk_err error)
{
    const lk_news news = {.kind = LK_NEWS_LOST, .error = error};
    lk_registrations_end_all (proxy);
    lk_out_lease (proxy->core, proxy->core->facts.session, 0);
    all_hear (proxy, &news);
    sets_hear (proxy, &news);
}

static void
begin_session (lk_proxy *proxy, lk_err error)
{
    const lk_news news = {.kind = LK_NEWS_NEXT, .error = error};
    lk_out_trace (
        proxy->core, LK_TRACE_WARNING, "session over: session=%llu why=%s",
        (unsigned long long) proxy->core->facts.session, lk_err_word (error));
    if (error == LK_SHUTDOWN) {
        lk_closing_end (proxy);
    } else {
        lk_closing_add (proxy);
    }
    proxy->core->facts.session++;
    lk_out_persist (proxy->core);
    proxy->live = false;
    proxy->lease_until_ms = 0;
    lk_report_restart (proxy);
    all_hear (proxy, &news);
    sets_hear (proxy, &news);
    lk_out_status (proxy->core);
}

static void
end_session (lk_proxy *proxy, lk_err error)
{
    tell_all (proxy, error);
    begin_session (proxy, error);
}

/*  protocol 9.13 */
void
lk_proxy_vouched (lk_proxy *proxy, lk_term term, int64_t at)
{
    int64_t until_ms = at + proxy->core->config.host_lease_ms;
    if (lk_term_compare (term, proxy->core->in_force.term) < 0
        || until_ms <= proxy->core->now_ms
        || until_ms <= proxy->lease_until_ms) {
        return;
    }
    bool begins = !proxy->live;
    proxy->live = true;
    proxy->lease_until_ms = until_ms;
    if (!proxy->leaving) { /* else its applications have nothing any more */
        lk_out_lease (proxy->core, proxy->core->facts.session, until_ms);
    }
    if (begins) {
        lk_jeopardy_restart (proxy);
        lk_out_trace (proxy->core, LK_TRACE_INFO,
                      "session begins: session=%llu",
                      (unsigned long long) proxy->core->facts.session);
        lk_out_status (proxy->core);
        lk_proxy_run (proxy);
    }
    lk_registrations_vouched (proxy, lk_ping_number (proxy->core, at), term);
}

/*  protocol 9.11 */
void
lk_proxy_new_decree (lk_proxy *proxy)
{
    lk_report_restart (proxy);
    lk_sets_new_decree (proxy);
    lk_demand_say_all_anew (proxy);
    lk_jeopardy_restart (proxy);
    lk_out_status (proxy->core);
    lk_ping_now (proxy->core); /* the new leaders' leases rest on it */
    lk_proxy_run (proxy);
}

/*  protocol 9.11 */
void
lk_proxy_leader_is_back (lk_proxy *proxy)
{
    lk_demand_say_all_anew (proxy);
    lk_proxy_run (proxy);
}

/*  -------------------------------------------------------- time */

void
lk_proxy_expire (lk_proxy *proxy)
{
    lk_closing_run (proxy);
    /*  protocol 9.13 */
    if (proxy->live && proxy->core->now_ms >= proxy->lease_until_ms) {
        end_session (proxy, lk_jeopardy_why_over (proxy));
    }
    lk_registrations_expire (proxy);
    lk_demand *demand;
    while ((demand = lk_demand_next_end (proxy))) {
        lk_demand_hear (proxy, demand, &(lk_news) {.kind = LK_NEWS_OVER});
    }
    lk_set *set;
    while ((set = lk_heap_due (&proxy->set_ends, proxy->core->now_ms))) {
        lk_set_hear (proxy, set, &(lk_news) {.kind = LK_NEWS_OVER});
    }
}

/*  Until what is in that list is due. Ever more seldom: a home that has the
 *  ticket calls back, and one that is behind is not helped by hearing it again.
 *  Protocol 9.11. */
static int64_t
gap_ms (size_t list)
{
    return LK_RESEND_MS << (list - LK_UNSAID_LIST - 1);
}

/*  The next that is due; NULL: none. */
static lk_demand *
find_due (const lk_proxy *proxy)
{
    lk_demand *const *list = proxy->list;
    lk_demand *due = list[LK_UNSAID_LIST];
    for (size_t i = LK_UNSAID_LIST + 1; !due && i < LK_LISTS; i++) {
        if (list[i] && proxy->core->now_ms - list[i]->sent_ms >= gap_ms (i)) {
            due = list[i];
        }
    }
    return due;
}

/*  Only so much at a time that pings go on. Protocol 9.11. */
static void
send_due (lk_proxy *proxy)
{
    lk_demand *demand = find_due (proxy);
    for (int sent = 0; demand && sent < AT_A_TIME; sent++) {
        lk_demand_send (proxy, demand);
        demand = find_due (proxy);
    }
    proxy->is_behind = demand != NULL;
}

/*  A session that nobody has vouched for holds nothing, and says so: it is
 *  vouched for then, and may go on with what a former one held.
 *  Protocol 9.7, 9.18. */
static void
report (lk_proxy *proxy)
{
    uint8_t missing = proxy->core->in_reclaim & (uint8_t) ~proxy->reported;
    if (missing == 0 || proxy->core->now_ms - proxy->report_ms <= REPORT_MS) {
        return;
    }
    proxy->report_ms = proxy->core->now_ms;
    for (uint8_t home = 0; home < proxy->core->in_force.leader_count; home++) {
        if (missing >> home & 1) {
            lk_report_send (proxy, home);
        }
    }
}

/*  An arbiter has no applications, and nothing to report. */
void
lk_proxy_run (lk_proxy *proxy)
{
    if (proxy->core->in_force.leader_count == 0
        || proxy->core->config.arbiter) {
        return;
    }
    if (proxy->live) {
        send_due (proxy);
        lk_jeopardy_run (proxy);
    }
    report (proxy);
}

/*  -------------------------------------------------------- leaving */

void
lk_proxy_leave (lk_proxy *proxy)
{
    const lk_news news = {.kind = LK_NEWS_LEAVE};
    proxy->leaving = true;
    proxy->leave_ms = proxy->core->now_ms < proxy->former_ms
                          ? proxy->former_ms
                          : proxy->core->now_ms;
    proxy->leave_ms += lk_stopping_ms (proxy->core);
    lk_out_lease (proxy->core, proxy->core->facts.session, 0);
    lk_registrations_leave (proxy);
    sets_hear (proxy, &news);
    all_hear (proxy, &news);
    lk_out_status (proxy->core);
    lk_proxy_run (proxy);
}

/*  protocol 9.14 */
bool
lk_proxy_has_left (const lk_proxy *proxy)
{
    bool all_given = !proxy->live || proxy->core->now_ms >= proxy->leave_ms
                     || (proxy->settled == 0 && proxy->unlocking == 0);
    all_given = all_given && proxy->far.all.count == 0;
    return all_given && proxy->core->now_ms >= lk_closing_wait_ms (proxy);
}

/*  Its session is not closed: applications hold on to it. */
void
lk_proxy_halt (lk_proxy *proxy)
{
    proxy->halted = true;
    all_hear (proxy, &(lk_news) {.kind = LK_NEWS_HALT});
}

void
lk_proxy_stop (lk_proxy *proxy)
{
    const lk_demand *demand;
    tell_all (proxy, LK_SHUTDOWN);
    for (demand = lk_demand_first (proxy); demand;
         demand = lk_demand_next (proxy, demand)) {
        lk_demand_send_unlock (proxy, demand);
    }
    begin_session (proxy, LK_SHUTDOWN);
}

/*  -------------------------------------------------------- readiness */

/*  protocol 9.7 */
bool
lk_proxy_is_ready (lk_proxy *proxy)
{
    return proxy->live && !proxy->leaving
           && (proxy->core->in_reclaim & ~proxy->reported) == 0
           && lk_hears_leader (proxy->leader);
}

bool
lk_proxy_is_behind (const lk_proxy *proxy)
{
    return proxy->is_behind;
}

bool
lk_proxy_is_leaving (const lk_proxy *proxy)
{
    return proxy->leaving;
}

uint64_t
lk_proxy_closed (const lk_proxy *proxy)
{
    return proxy->closing.closed;
}
