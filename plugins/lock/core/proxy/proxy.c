/*  proxy.c - the session of this host's applications
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Requests are in requests.c, what homes say to them in answers.c.
 */

#include "proxy.h"

#include "asked.h"
#include "asker.h"
#include "jeopardy.h"
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
    lk_asked_init_maps (self);
    lk_sets_init (self);
    self->report_ms = LK_LONG_AGO;
    lk_closing_begin (self);
}

void
lk_proxy_clear (lk_proxy *self)
{
    lk_sets_clear (self);
    lk_asked_clear_all (self);
    lk_report_clear (self);
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
    if (proxy->leaving) {
        int64_t wait_ms = lk_closing_wait_ms (proxy);
        wait_ms = wait_ms > proxy->leave_ms ? wait_ms : proxy->leave_ms;
        deadline = wait_ms < deadline ? wait_ms : deadline;
    }
    return deadline;
}

/*  -------------------------------------------------------- session */

static bool
waits (const lk_asked *asked)
{
    return asked->state == LK_ASKED_WAITING || asked->state == LK_ASKED_ERRAND
           || asked->state == LK_ASKED_KEEPING;
}

/*  A static lock may be bound to no session, and be its application's no more:
 *  then it is given back by its key. Protocol 9.13. */
static bool
has_to_go_back (const lk_asked *asked)
{
    return asked->ticket.mode.is_static && asked->ticket.token != 0
           && (asked->state == LK_ASKED_CLOSING
               || asked->state == LK_ASKED_KEEPING);
}

/*  Applications are told first, then what they had may be given away. */
static void
tell_end (lk_proxy *proxy, const lk_asked *asked, lk_err error)
{
    if (asked->state == LK_ASKED_RESUMING
        || (asked->state == LK_ASKED_HELD && !asked->ticket.mode.is_static)
        || (asked->state == LK_ASKED_CLOSING && asked->tell_unlocked
            && !has_to_go_back (asked))) {
        lk_asked_tell (proxy, asked, LK_ANSWER_UNLOCKED, error);
    }
}

/*  It was not told yet, and may be static already: the application goes on to
 *  wait, for another ticket, behind the one that has to go back.
 *  Protocol 9.10: Static locks. */
static void
begin_anew (lk_proxy *proxy, lk_asked *asked)
{
    lk_name name = asked->ticket.object;
    uint32_t app = (uint32_t) asked->name[0];
    uint64_t serial = asked->name[1];
    lk_asked_orphan (proxy, asked);
    lk_asked *again = lk_asked_new (proxy, LK_ASKED_WAITING,
                                    ++proxy->last_serial, app, serial, name);
    lk_asked_set_owner (again, asked->ticket.owner);
    again->queue = asked->queue;
    again->since_ms = asked->since_ms;
    again->wait_until_ms = asked->wait_until_ms;
    lk_asked_await_end (proxy, again);
    again->ticket.pid = asked->ticket.pid;
    again->ticket.duration_ms = asked->ticket.duration_ms;
    again->ticket.mode = asked->ticket.mode;
}

/*  What still waits goes into the next session. */
static void
carry_over (lk_proxy *proxy, lk_asked *asked, lk_err error)
{
    if (asked->set) {
        return;
    }
    if (asked->state == LK_ASKED_KEEPING) {
        begin_anew (proxy, asked);
    }
    if (has_to_go_back (asked)) {
        lk_asked_become_errand (proxy, asked);
    } else if (asked->state == LK_ASKED_WAITING
               || asked->state == LK_ASKED_ERRAND) {
        lk_asked_renumber (proxy, asked);
    } else {
        if (asked->state == LK_ASKED_HELD && asked->ticket.mode.is_static) {
            lk_turn_forget (proxy, asked, error);
        }
        lk_asked_remove (proxy, asked);
    }
}

static void
tell_all (lk_proxy *proxy, lk_err error)
{
    const lk_asked *asked;
    lk_out_lease (proxy->core, proxy->core->facts.session, 0);
    for (asked = lk_asked_first (proxy); asked;
         asked = lk_asked_next (proxy, asked)) {
        tell_end (proxy, asked, error);
    }
    lk_sets_tell_end (proxy, error);
}

static void
begin_session (lk_proxy *proxy, lk_err error)
{
    lk_asked *asked;
    lk_asked *next;
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
    for (asked = lk_asked_first (proxy); asked; asked = next) {
        next = lk_asked_next (proxy, asked);
        carry_over (proxy, asked, error);
    }
    lk_sets_carry_over (proxy);
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
}

/*  protocol 9.11 */
void
lk_proxy_new_decree (lk_proxy *proxy)
{
    lk_report_restart (proxy);
    lk_sets_new_decree (proxy);
    lk_asked_say_all_anew (proxy);
    lk_jeopardy_restart (proxy);
    lk_out_status (proxy->core);
    lk_ping_now (proxy->core); /* the new leaders' leases rest on it */
    lk_proxy_run (proxy);
}

/*  -------------------------------------------------------- time */

void
lk_asked_end (lk_proxy *proxy, lk_asked *asked, lk_err error)
{
    asked->error = error;
    asked->until_ms = INT64_MAX; /* the home ends it when the grace is over */
    lk_asked_tell (proxy, asked, LK_ANSWER_UNLOCKED, error);
    lk_turn_give_up (proxy, asked);
    lk_asked_enter (proxy, asked, LK_ASKED_ENDED);
}

/*  The lease that its application held it by is over, as it knows itself; what
 *  others wait for goes back when it had time to stop.
 *  Protocol 9.13: A restart. */
static void
lapse (lk_proxy *proxy, lk_asked *asked)
{
    lk_asked_end (proxy, asked, LK_DISCONNECTED);
    asked->until_ms = proxy->core->now_ms + lk_stopping_ms (proxy->core);
    lk_asked_await_end (proxy, asked);
}

static void
fail_asked (lk_proxy *proxy, lk_asked *asked, lk_err error)
{
    lk_asked_tell (proxy, asked, LK_ANSWER_FAILED, error);
    if (asked->state == LK_ASKED_ERRAND) {
        lk_asked_remove (proxy, asked);
        return;
    }
    asked->error = error;
    lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
    lk_asked_send (proxy, asked); /* others may wait behind it */
}

/*  Nobody needs what lingers after its duration, but for who ends what was
 *  started under it. Protocol 9.11. */
static int64_t
linger_until (const lk_asked *asked)
{
    return !asked->guarded && asked->until_ms < asked->linger_until_ms
               ? asked->until_ms
               : asked->linger_until_ms;
}

static void
expire_asked (lk_proxy *proxy, lk_asked *asked)
{
    if (waits (asked) && asked->wait_until_ms <= proxy->core->now_ms) {
        fail_asked (proxy, asked, LK_TIMEDOUT);
    } else if (asked->state == LK_ASKED_RESUMING
               && asked->wait_until_ms <= proxy->core->now_ms) {
        lapse (proxy, asked);
    } else if (asked->state == LK_ASKED_HELD
               && asked->until_ms <= proxy->core->now_ms) {
        lk_asked_end (proxy, asked, LK_TIMEDOUT);
    } else if (asked->state == LK_ASKED_ENDED
               && asked->until_ms <= proxy->core->now_ms) {
        asked->late = asked->error == LK_TIMEDOUT;
        lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
        lk_asked_send (proxy, asked);
    } else if (asked->state == LK_ASKED_HELD
               && asked->turn.until_ms <= proxy->core->now_ms
               && asked->asks_on) {
        lk_turn_expire (proxy, asked);
    } else if (asked->state == LK_ASKED_LINGERING
               && linger_until (asked) <= proxy->core->now_ms) {
        lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
        lk_asked_send (proxy, asked);
    }
}

/*  Who hears other members, but too few of them, is not cut off by itself.
 *  Protocol 9.13. */
lk_err
lk_proxy_why_over (const lk_proxy *proxy)
{
    lk_hosts members = proxy->core->in_force.members;
    lk_hosts heard = lk_leader_sees (proxy->leader) & members;
    bool hears_others = (heard & ~LK_HOST_BIT (proxy->core->config.self)) != 0;
    return hears_others && !lk_is_quorum (members, heard) ? LK_QUORUM
                                                          : LK_ISOLATED;
}

void
lk_proxy_expire (lk_proxy *proxy)
{
    lk_closing_run (proxy);
    /*  protocol 9.13 */
    if (proxy->live && proxy->core->now_ms >= proxy->lease_until_ms) {
        end_session (proxy, lk_proxy_why_over (proxy));
    }
    lk_asked *asked;
    while ((asked = lk_asked_next_end (proxy))) {
        expire_asked (proxy, asked);
    }
    lk_sets_expire (proxy);
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
static lk_asked *
find_due (const lk_proxy *proxy)
{
    lk_asked *const *list = proxy->list;
    lk_asked *due = list[LK_UNSAID_LIST];
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
    lk_asked *asked = find_due (proxy);
    for (int sent = 0; asked && sent < AT_A_TIME; sent++) {
        lk_asked_send (proxy, asked);
        asked = find_due (proxy);
    }
    proxy->is_behind = asked != NULL;
}

/*  protocol 9.7 */
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

void
lk_proxy_run (lk_proxy *proxy)
{
    if (!proxy->live || proxy->core->in_force.leader_count == 0) {
        return;
    }
    send_due (proxy);
    report (proxy);
    lk_jeopardy_run (proxy);
}

/*  -------------------------------------------------------- leaving */

/*  What nobody else could end is given back as long as there is time. */
static bool
is_last_word (const lk_asked *asked)
{
    return asked->errand == LK_ERRAND_BY_KEY && asked->name[0] == LK_NO_APP;
}

/*  What is static stays its application's; what has none goes back.
 *  Protocol 9.13. */
static void
leave_one (lk_proxy *proxy, lk_asked *asked)
{
    if (asked->state == LK_ASKED_HELD && asked->ticket.mode.is_static) {
        lk_turn_forget (proxy, asked, LK_SHUTDOWN);
        lk_asked_remove (proxy, asked);
    } else if (asked->state == LK_ASKED_HELD
               || asked->state == LK_ASKED_RESUMING) {
        lk_asked_end (proxy, asked, LK_SHUTDOWN);
    } else if (asked->state == LK_ASKED_KEEPING) {
        fail_asked (proxy, asked, LK_SHUTDOWN);
        lk_asked_orphan (proxy, asked);
        lk_asked_await_unlocked (proxy, asked);
    } else if (asked->state == LK_ASKED_LINGERING && asked->guarded) {
        lk_stopping_orphan (proxy, asked,
                            linger_until (asked) - proxy->core->now_ms);
    } else if (asked->state == LK_ASKED_LINGERING) {
        lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
    } else if (waits (asked) && !is_last_word (asked)) {
        fail_asked (proxy, asked, LK_SHUTDOWN);
    }
}

/*  An application that sleeps since before this process began goes by the lease
 *  of then, whatever it is told. Protocol 9.14. */
void
lk_proxy_note_former (lk_proxy *proxy, int64_t lease_until_ms)
{
    const int64_t most_ms =
        proxy->core->now_ms + proxy->core->config.host_lease_ms;
    const int64_t until_ms =
        lease_until_ms < most_ms ? lease_until_ms : most_ms;
    if (proxy->former_ms < until_ms) {
        proxy->former_ms = until_ms;
    }
}

void
lk_proxy_leave (lk_proxy *proxy)
{
    lk_asked *asked;
    lk_asked *next;
    proxy->leaving = true;
    proxy->leave_ms = proxy->core->now_ms < proxy->former_ms
                          ? proxy->former_ms
                          : proxy->core->now_ms;
    proxy->leave_ms += lk_stopping_ms (proxy->core);
    lk_out_lease (proxy->core, proxy->core->facts.session, 0);
    lk_sets_leave (proxy);
    for (asked = lk_asked_first (proxy); asked; asked = next) {
        next = lk_asked_next (proxy, asked);
        leave_one (proxy, asked);
    }
    lk_out_status (proxy->core);
    lk_proxy_run (proxy);
}

/*  protocol 9.14 */
bool
lk_proxy_has_left (const lk_proxy *proxy)
{
    bool all_given = !proxy->live || proxy->core->now_ms >= proxy->leave_ms
                     || (proxy->settled == 0 && proxy->unlocking == 0);
    return all_given && proxy->core->now_ms >= lk_closing_wait_ms (proxy);
}

void
lk_proxy_stop (lk_proxy *proxy)
{
    const lk_asked *asked;
    tell_all (proxy, LK_SHUTDOWN);
    for (asked = lk_asked_first (proxy); asked;
         asked = lk_asked_next (proxy, asked)) {
        lk_asked_send_unlock (proxy, asked);
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
