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
#include "node_private.h"
#include "report.h"
#include "set.h"
#include "stopping.h"
#include "turn.h"

#include <string.h>
#include <utlist.h>

#define REPORT_MS 300  /* until a part is said again */
#define AT_A_TIME 1024 /* requests sent in one run */

void
lk_proxy_init (lk_proxy *self)
{
    memset (self, 0, sizeof *self);
    lk_asked_init_maps (self);
    lk_sets_init (self);
    self->report_ms = LK_LONG_AGO;
}

void
lk_proxy_clear (lk_proxy *self)
{
    lk_sets_clear (self);
    lk_asked_clear_all (self);
    lk_report_clear (self);
    lk_proxy_init (self);
}

int64_t
lk_proxy_deadline (const lk_node *node)
{
    const lk_proxy *self = &node->proxy;
    int64_t deadline = lk_heap_next_ms (&self->ends);
    if (lk_heap_next_ms (&self->set_ends) < deadline) {
        deadline = lk_heap_next_ms (&self->set_ends);
    }
    if (self->live && self->lease_until_ms < deadline) {
        deadline = self->lease_until_ms;
    }
    if (self->leaving) {
        int64_t wait_ms = lk_closing_wait_ms (node);
        wait_ms = wait_ms > self->leave_ms ? wait_ms : self->leave_ms;
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

/*  A static lock may be bound to no session, and be its application's no
 *  more: then it is given back by its key. */
static bool
has_to_go_back (const lk_asked *asked)
{
    return asked->ticket.mode.is_static && asked->ticket.token != 0
           && (asked->state == LK_ASKED_CLOSING
               || asked->state == LK_ASKED_KEEPING);
}

/*  Applications are told first, then what they had may be given away. */
static void
tell_end (lk_node *node, const lk_asked *asked, lk_err error)
{
    if (asked->state == LK_ASKED_RESUMING
        || (asked->state == LK_ASKED_HELD && !asked->ticket.mode.is_static)
        || (asked->state == LK_ASKED_CLOSING && asked->tell_unlocked
            && !has_to_go_back (asked))) {
        lk_asked_tell (node, asked, LK_ANSWER_UNLOCKED, error);
    }
}

/*  It was not told yet, and may be static already: the application goes on to
 *  wait, for another ticket, behind the one that has to go back. */
static void
begin_anew (lk_node *node, lk_asked *asked)
{
    lk_name name = asked->ticket.object;
    uint32_t app = (uint32_t) asked->name[0];
    uint64_t serial = asked->name[1];
    lk_asked_orphan (node, asked);
    lk_asked *again = lk_asked_new (
        node, LK_ASKED_WAITING, ++node->proxy.last_serial, app, serial, name);
    lk_asked_set_owner (again, asked->ticket.owner);
    again->queue = asked->queue;
    again->since_ms = asked->since_ms;
    again->wait_until_ms = asked->wait_until_ms;
    lk_asked_await_end (node, again);
    again->ticket.pid = asked->ticket.pid;
    again->ticket.duration_ms = asked->ticket.duration_ms;
    again->ticket.mode = asked->ticket.mode;
}

/*  What still waits goes into the next session. */
static void
carry_over (lk_node *node, lk_asked *asked, lk_err error)
{
    if (asked->set) {
        return;
    }
    if (asked->state == LK_ASKED_KEEPING) {
        begin_anew (node, asked);
    }
    if (has_to_go_back (asked)) {
        lk_asked_become_errand (node, asked);
    } else if (asked->state == LK_ASKED_WAITING
               || asked->state == LK_ASKED_ERRAND) {
        lk_asked_renumber (node, asked);
    } else {
        if (asked->state == LK_ASKED_HELD && asked->ticket.mode.is_static) {
            lk_turn_forget (node, asked, error);
        }
        lk_asked_remove (node, asked);
    }
}

static void
tell_all (lk_node *node, lk_err error)
{
    lk_proxy *self = &node->proxy;
    const lk_asked *asked;
    lk_out_lease (node, node->facts.session, 0);
    for (asked = lk_asked_first (self); asked;
         asked = lk_asked_next (self, asked)) {
        tell_end (node, asked, error);
    }
    lk_sets_tell_end (node, error);
}

static void
begin_session (lk_node *node, lk_err error)
{
    lk_proxy *self = &node->proxy;
    lk_asked *asked;
    lk_asked *next;
    lk_out_trace (node, LK_TRACE_WARNING, "session over: session=%llu why=%s",
                  (unsigned long long) node->facts.session,
                  lk_err_word (error));
    if (error == LK_SHUTDOWN) {
        lk_closing_end (node);
    } else {
        lk_closing_add (node);
    }
    node->facts.session++;
    lk_out_persist (node);
    self->live = false;
    self->lease_until_ms = 0;
    lk_report_restart (node);
    for (asked = lk_asked_first (self); asked; asked = next) {
        next = lk_asked_next (self, asked);
        carry_over (node, asked, error);
    }
    lk_sets_carry_over (node);
    lk_out_status (node);
}

static void
end_session (lk_node *node, lk_err error)
{
    tell_all (node, error);
    begin_session (node, error);
}

void
lk_proxy_vouched (lk_node *node, lk_term term, int64_t at)
{
    lk_proxy *self = &node->proxy;
    int64_t until_ms = at + node->config.host_lease_ms;
    if (lk_term_compare (term, node->in_force.term) < 0
        || until_ms <= node->now_ms || until_ms <= self->lease_until_ms) {
        return;
    }
    bool begins = !self->live;
    self->live = true;
    self->lease_until_ms = until_ms;
    if (!self->leaving) { /* else its applications have nothing any more */
        lk_out_lease (node, node->facts.session, until_ms);
    }
    if (begins) {
        lk_jeopardy_restart (node);
        lk_out_trace (node, LK_TRACE_INFO, "session begins: session=%llu",
                      (unsigned long long) node->facts.session);
        lk_out_status (node);
        lk_proxy_run (node);
    }
}

void
lk_proxy_new_decree (lk_node *node)
{
    lk_report_restart (node);
    lk_sets_new_decree (node);
    lk_asked_say_all_anew (node);
    lk_jeopardy_restart (node);
    lk_out_status (node);
    lk_ping_now (node); /* the new leaders' leases rest on it */
    lk_proxy_run (node);
}

/*  -------------------------------------------------------- time */

void
lk_asked_end (lk_node *node, lk_asked *asked, lk_err error)
{
    asked->error = error;
    asked->until_ms = INT64_MAX; /* the home ends it when the grace is over */
    lk_asked_tell (node, asked, LK_ANSWER_UNLOCKED, error);
    lk_turn_give_up (node, asked);
    lk_asked_enter (node, asked, LK_ASKED_ENDED);
}

/*  The lease that its application held it by is over, as it knows itself; what
 *  others wait for goes back when it had time to stop. */
static void
lapse (lk_node *node, lk_asked *asked)
{
    lk_asked_end (node, asked, LK_DISCONNECTED);
    asked->until_ms = node->now_ms + lk_stopping_ms (node);
    lk_asked_await_end (node, asked);
}

static void
fail_asked (lk_node *node, lk_asked *asked, lk_err error)
{
    lk_asked_tell (node, asked, LK_ANSWER_FAILED, error);
    if (asked->state == LK_ASKED_ERRAND) {
        lk_asked_remove (node, asked);
        return;
    }
    asked->error = error;
    lk_asked_enter (node, asked, LK_ASKED_CLOSING);
    lk_asked_send (node, asked); /* others may wait behind it */
}

/*  Nobody needs what lingers after its duration, but for who ends what was
 *  started under it. */
static int64_t
linger_until (const lk_asked *asked)
{
    return !asked->guarded && asked->until_ms < asked->linger_until_ms
               ? asked->until_ms
               : asked->linger_until_ms;
}

static void
expire_asked (lk_node *node, lk_asked *asked)
{
    if (waits (asked) && asked->wait_until_ms <= node->now_ms) {
        fail_asked (node, asked, LK_TIMEDOUT);
    } else if (asked->state == LK_ASKED_RESUMING
               && asked->wait_until_ms <= node->now_ms) {
        lapse (node, asked);
    } else if (asked->state == LK_ASKED_HELD
               && asked->until_ms <= node->now_ms) {
        lk_asked_end (node, asked, LK_TIMEDOUT);
    } else if (asked->state == LK_ASKED_ENDED
               && asked->until_ms <= node->now_ms) {
        asked->late = asked->error == LK_TIMEDOUT;
        lk_asked_enter (node, asked, LK_ASKED_CLOSING);
        lk_asked_send (node, asked);
    } else if (asked->state == LK_ASKED_HELD
               && asked->turn.until_ms <= node->now_ms && asked->asks_on) {
        lk_turn_expire (node, asked);
    } else if (asked->state == LK_ASKED_LINGERING
               && linger_until (asked) <= node->now_ms) {
        lk_asked_enter (node, asked, LK_ASKED_CLOSING);
        lk_asked_send (node, asked);
    }
}

/*  Who hears other members, but too few of them, is not cut off by itself. */
lk_err
lk_proxy_why_over (const lk_node *node)
{
    lk_hosts members = node->in_force.members;
    lk_hosts heard = lk_node_sees (node) & members;
    bool hears_others = (heard & ~LK_HOST_BIT (node->config.self)) != 0;
    return hears_others && !lk_is_quorum (members, heard) ? LK_QUORUM
                                                          : LK_ISOLATED;
}

void
lk_proxy_expire (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    lk_closing_run (node);
    if (self->live && node->now_ms >= self->lease_until_ms) {
        end_session (node, lk_proxy_why_over (node));
    }
    lk_asked *asked;
    while ((asked = lk_asked_next_end (node))) {
        expire_asked (node, asked);
    }
    lk_sets_expire (node);
}

/*  Until what is in that list is due. Ever more seldom: a home that has the
 *  ticket calls back, and one that is behind is not helped by hearing it
 *  again. */
static int64_t
gap_ms (size_t list)
{
    return LK_RESEND_MS << (list - LK_UNSAID_LIST - 1);
}

/*  The next that is due; NULL: none. */
static lk_asked *
find_due (const lk_node *node)
{
    lk_asked *const *list = node->proxy.list;
    lk_asked *due = list[LK_UNSAID_LIST];
    for (size_t i = LK_UNSAID_LIST + 1; !due && i < LK_LISTS; i++) {
        if (list[i] && node->now_ms - list[i]->sent_ms >= gap_ms (i)) {
            due = list[i];
        }
    }
    return due;
}

/*  Only so much at a time that pings go on. */
static void
send_due (lk_node *node)
{
    lk_asked *asked = find_due (node);
    for (int sent = 0; asked && sent < AT_A_TIME; sent++) {
        lk_asked_send (node, asked);
        asked = find_due (node);
    }
    node->proxy.is_behind = asked != NULL;
}

static void
report (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    uint8_t missing = node->in_reclaim & (uint8_t) ~self->reported;
    if (missing == 0 || node->now_ms - self->report_ms <= REPORT_MS) {
        return;
    }
    self->report_ms = node->now_ms;
    for (uint8_t home = 0; home < node->in_force.leader_count; home++) {
        if (missing >> home & 1) {
            lk_report_send (node, home);
        }
    }
}

void
lk_proxy_run (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    if (!self->live || node->in_force.leader_count == 0) {
        return;
    }
    send_due (node);
    report (node);
    lk_jeopardy_run (node);
}

/*  -------------------------------------------------------- leaving */

/*  What nobody else could end is given back as long as there is time. */
static bool
is_last_word (const lk_asked *asked)
{
    return asked->errand == LK_ERRAND_BY_KEY && asked->name[0] == LK_NO_APP;
}

/*  What is static stays its application's; what has none goes back. */
static void
leave_one (lk_node *node, lk_asked *asked)
{
    if (asked->state == LK_ASKED_HELD && asked->ticket.mode.is_static) {
        lk_turn_forget (node, asked, LK_SHUTDOWN);
        lk_asked_remove (node, asked);
    } else if (asked->state == LK_ASKED_HELD
               || asked->state == LK_ASKED_RESUMING) {
        lk_asked_end (node, asked, LK_SHUTDOWN);
    } else if (asked->state == LK_ASKED_KEEPING) {
        fail_asked (node, asked, LK_SHUTDOWN);
        lk_asked_orphan (node, asked);
        lk_asked_await_unlocked (node, asked);
    } else if (asked->state == LK_ASKED_LINGERING && asked->guarded) {
        lk_stopping_orphan (node, asked, linger_until (asked) - node->now_ms);
    } else if (asked->state == LK_ASKED_LINGERING) {
        lk_asked_enter (node, asked, LK_ASKED_CLOSING);
    } else if (waits (asked) && !is_last_word (asked)) {
        fail_asked (node, asked, LK_SHUTDOWN);
    }
}

/*  An application that sleeps since before this process began goes by the lease
 *  of then, whatever it is told. */
void
lk_proxy_note_former (lk_node *node, int64_t lease_until_ms)
{
    lk_proxy *self = &node->proxy;
    const int64_t most_ms = node->now_ms + node->config.host_lease_ms;
    const int64_t until_ms =
        lease_until_ms < most_ms ? lease_until_ms : most_ms;
    if (self->former_ms < until_ms) {
        self->former_ms = until_ms;
    }
}

void
lk_proxy_leave (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    lk_asked *asked;
    lk_asked *next;
    self->leaving = true;
    self->leave_ms =
        node->now_ms < self->former_ms ? self->former_ms : node->now_ms;
    self->leave_ms += lk_stopping_ms (node);
    lk_out_lease (node, node->facts.session, 0);
    lk_sets_leave (node);
    for (asked = lk_asked_first (self); asked; asked = next) {
        next = lk_asked_next (self, asked);
        leave_one (node, asked);
    }
    lk_out_status (node);
    lk_proxy_run (node);
}

bool
lk_proxy_has_left (const lk_node *node)
{
    const lk_proxy *self = &node->proxy;
    bool all_given = !self->live || node->now_ms >= self->leave_ms
                     || (self->settled == 0 && self->unlocking == 0);
    return all_given && node->now_ms >= lk_closing_wait_ms (node);
}

void
lk_proxy_stop (lk_node *node)
{
    const lk_proxy *self = &node->proxy;
    const lk_asked *asked;
    tell_all (node, LK_SHUTDOWN);
    for (asked = lk_asked_first (self); asked;
         asked = lk_asked_next (self, asked)) {
        lk_asked_send_unlock (node, asked);
    }
    begin_session (node, LK_SHUTDOWN);
}

/*  -------------------------------------------------------- readiness */

bool
lk_proxy_is_ready (lk_node *node)
{
    const lk_proxy *proxy = &node->proxy;
    return proxy->live && !proxy->leaving
           && (node->in_reclaim & ~proxy->reported) == 0
           && lk_node_hears_leader (node);
}
