/*  proxy.c - the session of this host's applications
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Requests are in requests.c, what homes say to them in answers.c.
 */

#include "proxy.h"

#include "asked.h"
#include "jeopardy.h"
#include "node_private.h"
#include "report.h"
#include "set.h"
#include "turn.h"

#include <string.h>
#include <utlist.h>

#define REPORT_MS 300  /* until a part is said again */
#define BACKOFF_MAX 3  /* doublings of the time until it is said again */
#define AT_A_TIME 1024 /* requests sent in one run */

void
lk_proxy_init (lk_proxy *self)
{
    memset (self, 0, sizeof *self);
    lk_asked_init_maps (self);
    self->due_ms = INT64_MAX;
    self->report_ms = LK_LONG_AGO;
}

static void
free_list (lk_asked *list)
{
    lk_asked *asked;
    lk_asked *next;
    DL_FOREACH_SAFE (list, asked, next) {
        lk_asked_free (asked);
    }
}

void
lk_proxy_clear (lk_proxy *self)
{
    lk_asked_clear_maps (self);
    lk_sets_clear (self);
    free_list (self->open);
    free_list (self->held);
    lk_proxy_init (self);
}

void
lk_proxy_due (lk_node *node, int64_t when_ms)
{
    if (when_ms < node->proxy.due_ms) {
        node->proxy.due_ms = when_ms;
    }
}

int64_t
lk_proxy_deadline (const lk_node *node)
{
    const lk_proxy *self = &node->proxy;
    int64_t deadline = lk_heap_next_ms (&self->ends);
    if (self->due_ms < deadline) {
        deadline = self->due_ms;
    }
    if (self->live && self->lease_until_ms < deadline) {
        deadline = self->lease_until_ms;
    }
    if (self->leaving && self->leave_ms < deadline) {
        deadline = self->leave_ms;
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
    if ((asked->state == LK_ASKED_HELD && !asked->ticket.mode.is_static)
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
    again->queue = asked->queue;
    again->asked_ms = asked->asked_ms;
    again->wait_until_ms = asked->wait_until_ms;
    lk_asked_await_end (node, again);
    again->ticket.owner.data =
        lk_memdup (asked->ticket.owner.data, asked->ticket.owner.size);
    again->ticket.owner.size = asked->ticket.owner.size;
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
    DL_FOREACH (self->held, asked) {
        tell_end (node, asked, error);
    }
    DL_FOREACH (self->open, asked) {
        tell_end (node, asked, error);
    }
    lk_sets_tell_end (node, error);
}

/*  To call a session closed says that those before it are over, too. What the
 *  predecessor of this process was vouched for ended, by this host's clock, a
 *  host lease after our start at the latest: until then only the homes can
 *  find out, by hearing nothing of it. */
static bool
is_heir (const lk_node *node)
{
    return node->incarnation == 1
           || node->now_ms - node->started_ms >= node->config.host_lease_ms;
}

static void
close_predecessor (lk_node *node)
{
    uint64_t predecessor = node->incarnation - 1;
    if (node->proxy.closed < predecessor && is_heir (node)) {
        node->proxy.closed = predecessor;
    }
}

/*  Homes may give away at once what a closed session had: not before the
 *  applications could stop what they do, as long as they have when a host
 *  falls silent. Who leaves gives back all by itself. */
static void
close_session (lk_node *node, lk_err error)
{
    lk_proxy *self = &node->proxy;
    if (error == LK_SHUTDOWN) {
        self->closed = node->facts.session;
    } else {
        self->closing = node->facts.session;
        self->closing_ms = node->now_ms + node->config.host_lease_ms / 4;
    }
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
    if (is_heir (node)) {
        close_session (node, error);
    }
    node->facts.session++;
    lk_out_persist (node);
    self->live = false;
    self->lease_until_ms = 0;
    lk_report_restart (node);
    DL_FOREACH_SAFE (self->held, asked, next) {
        carry_over (node, asked, error);
    }
    DL_FOREACH_SAFE (self->open, asked, next) {
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
    if (lk_term_compare (term, self->decree.term) < 0
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
lk_proxy_hears (lk_node *node, const lk_decree *decree, uint8_t reclaim)
{
    lk_proxy *self = &node->proxy;
    int order = lk_term_compare (decree->term, self->decree.term);
    if (order < 0 || decree->leader_count == 0) {
        return;
    }
    if (order == 0) {
        self->reclaim &= reclaim;
        return;
    }
    self->decree = *decree;
    self->reclaim = reclaim;
    lk_node_drop_old (node);
    lk_report_restart (node);
    lk_sets_new_decree (node);
    lk_asked *asked;
    DL_FOREACH (self->open, asked) {
        asked->sent_ms = LK_LONG_AGO;
        asked->tries = 0;
    }
    DL_FOREACH2 (self->asking, asked, asking_next) {
        asked->sent_ms = LK_LONG_AGO;
        asked->tries = 0;
    }
    lk_jeopardy_restart (node);
    lk_out_status (node);
    lk_ping_send (node); /* the new leaders' leases rest on it */
    lk_proxy_run (node);
}

/*  -------------------------------------------------------- time */

static void
end_asked (lk_node *node, lk_asked *asked, lk_err error)
{
    asked->error = error;
    asked->until_ms = INT64_MAX; /* the home ends it when the grace is over */
    lk_asked_tell (node, asked, LK_ANSWER_UNLOCKED, error);
    lk_turn_give_up (node, asked);
    lk_asked_enter (node, asked, LK_ASKED_ENDED);
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

static int64_t
linger_until (const lk_asked *asked)
{
    return asked->until_ms < asked->linger_until_ms ? asked->until_ms
                                                    : asked->linger_until_ms;
}

static void
expire_asked (lk_node *node, lk_asked *asked)
{
    if (waits (asked) && asked->wait_until_ms <= node->now_ms) {
        fail_asked (node, asked, LK_TIMEDOUT);
    } else if (asked->state == LK_ASKED_HELD
               && asked->until_ms <= node->now_ms) {
        end_asked (node, asked, LK_TIMEDOUT);
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
static lk_err
why_over (const lk_node *node)
{
    lk_hosts members = node->proxy.decree.members;
    lk_hosts heard = lk_node_sees (node) & members;
    bool hears_others = (heard & ~LK_HOST_BIT (node->config.self)) != 0;
    return hears_others && !lk_is_quorum (members, heard) ? LK_QUORUM
                                                          : LK_ISOLATED;
}

void
lk_proxy_expire (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    close_predecessor (node);
    if (self->closing > self->closed && node->now_ms >= self->closing_ms) {
        self->closed = self->closing;
    }
    if (self->live && node->now_ms >= self->lease_until_ms) {
        end_session (node, why_over (node));
    }
    lk_asked *asked;
    while ((asked = lk_asked_next_end (node))) {
        expire_asked (node, asked);
    }
    if (node->now_ms >= self->due_ms) {
        self->due_ms = INT64_MAX;
        lk_sets_expire (node);
    }
}

/*  Ever more seldom: a home that has the ticket calls back, and one that is
 *  behind is not helped by hearing it again. */
static int64_t
gap_ms (const lk_asked *asked)
{
    int doublings = asked->tries > 0 ? asked->tries - 1 : 0;
    return LK_RESEND_MS << (doublings < BACKOFF_MAX ? doublings : BACKOFF_MAX);
}

/*  Sends what is due, the longest unsaid first, but only so much at a time
 *  that pings go on. */
static void
send_due (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    lk_asked *asked;
    lk_asked *next;
    int sent = 0;
    self->is_behind = false;
    DL_FOREACH_SAFE (self->open, asked, next) {
        if (node->now_ms - asked->sent_ms < gap_ms (asked)) {
            continue;
        }
        if (sent == AT_A_TIME) {
            self->is_behind = true;
            return;
        }
        sent++;
        lk_asked_send (node, asked);
        DL_DELETE (self->open, asked);
        DL_APPEND (self->open, asked);
    }
}

/*  Those that hold what they ask about, few as they are. */
static void
ask_on (lk_node *node)
{
    lk_asked *asked;
    DL_FOREACH2 (node->proxy.asking, asked, asking_next) {
        if (node->now_ms - asked->sent_ms >= gap_ms (asked)) {
            lk_asked_send (node, asked);
        }
    }
}

static void
report (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    uint8_t missing = self->reclaim & (uint8_t) ~self->reported;
    if (missing == 0 || node->now_ms - self->report_ms <= REPORT_MS) {
        return;
    }
    self->report_ms = node->now_ms;
    for (uint8_t home = 0; home < self->decree.leader_count; home++) {
        if (missing >> home & 1) {
            lk_report_send (node, home);
        }
    }
}

void
lk_proxy_run (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    if (!self->live || self->decree.leader_count == 0) {
        return;
    }
    send_due (node);
    ask_on (node);
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
leave_held (lk_node *node, lk_asked *asked)
{
    if (asked->state == LK_ASKED_HELD && asked->ticket.mode.is_static) {
        lk_turn_forget (node, asked, LK_SHUTDOWN);
        lk_asked_remove (node, asked);
    } else if (asked->state == LK_ASKED_HELD) {
        end_asked (node, asked, LK_SHUTDOWN);
    } else if (asked->state == LK_ASKED_KEEPING) {
        fail_asked (node, asked, LK_SHUTDOWN);
        lk_asked_orphan (node, asked);
        lk_asked_await_unlocked (node, asked);
    } else if (asked->state == LK_ASKED_LINGERING) {
        lk_asked_enter (node, asked, LK_ASKED_CLOSING);
    }
}

void
lk_proxy_leave (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    lk_asked *asked;
    lk_asked *next;
    self->leaving = true;
    self->leave_ms = node->now_ms + node->config.host_lease_ms / 4;
    lk_out_lease (node, node->facts.session, 0);
    lk_sets_leave (node);
    DL_FOREACH_SAFE (self->held, asked, next) {
        leave_held (node, asked);
    }
    DL_FOREACH_SAFE (self->open, asked, next) {
        if (waits (asked) && !is_last_word (asked)) {
            fail_asked (node, asked, LK_SHUTDOWN);
        }
    }
    lk_out_status (node);
    lk_proxy_run (node);
}

bool
lk_proxy_has_left (const lk_node *node)
{
    const lk_proxy *self = &node->proxy;
    return !self->live || node->now_ms >= self->leave_ms
           || (!self->held && self->unlocking == 0);
}

void
lk_proxy_stop (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    lk_asked *asked;
    tell_all (node, LK_SHUTDOWN);
    DL_FOREACH (self->held, asked) {
        lk_asked_send_unlock (node, asked);
    }
    DL_FOREACH (self->open, asked) {
        lk_asked_send_unlock (node, asked);
    }
    begin_session (node, LK_SHUTDOWN);
}
