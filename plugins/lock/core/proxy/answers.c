/*  answers.c - what homes say to this host's proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "demand.h"
#include "demand_tell.h"
#include "life.h"
#include "proxy_private.h"
#include "registration.h"
#include "report.h"
#include "set.h"
#include "stopping.h"

/*  Whether an answer is for this session and not of a decree that is over.
 *  Protocol 9.8: Telling. */
static bool
is_for_us (const lk_proxy *proxy, const lk_lock_message *message,
           lk_request_id request)
{
    return !proxy->halted && request.host == proxy->core->config.self
           && request.session == proxy->core->facts.session
           && lk_term_compare (message->term, proxy->core->in_force.term) >= 0;
}

static bool
is_current (const lk_proxy *proxy, const lk_lock_message *message)
{
    return is_for_us (proxy, message, message->as.reply.request);
}

/*  A ticket that nobody here asks for (any more): an UNLOCK is kept and
 *  repeated like any other. What was said of it may be old: a static lock that
 *  was kept since outlived its application, and stays. Protocol 9.11. */
static void
give_back (lk_proxy *proxy, uint64_t serial, lk_name object, bool unless_kept)
{
    if (object.size == 0 || serial > proxy->last_serial
        || proxy->serials.count >= LK_REQUESTS_MAX) {
        return; /* it is none of ours, or has to wait for the next time */
    }
    lk_demand *demand =
        lk_demand_new (proxy, LK_DEMAND_CLOSING, serial, LK_NO_APP, 0, object);
    demand->unless_kept = unless_kept;
    lk_demand_send (proxy, demand);
}

/*  The time left counts from `as_of`, and a LOCKED whose `as_of` is a host
 *  lease old is not believed. Protocol 9.11. */
static bool
is_fresh (const lk_proxy *proxy, int64_t as_of)
{
    return as_of <= proxy->core->now_ms
           && as_of > proxy->core->now_ms - proxy->core->config.host_lease_ms;
}

/*  A duration that a witness tells of counts since it was asked for, if that
 *  was once; else the home has to tell. False: it has.
 *  Protocol 9.8: The shortcut. */
static bool
count_duration (lk_msg_reply *reply, const lk_demand *demand)
{
    if (!reply->witnessed || reply->left_ms < 0) {
        return true;
    }
    if (!demand || demand->sent_ms != demand->since_ms) {
        return false;
    }
    reply->as_of = demand->since_ms;
    return true;
}

/*  protocol 9.20: Credentials */
static bool
may_be_told (const lk_proxy *proxy, const lk_demand *demand)
{
    const uint64_t *name = demand->set ? demand->set->name : demand->name;
    return !lk_demand_is_far (demand)
           || lk_registration_may_hold (proxy, (uint32_t) name[0]);
}

void
lk_on_locked (lk_proxy *proxy, const lk_lock_message *message)
{
    if (!is_current (proxy, message) || !proxy->live) {
        return;
    }
    lk_msg_reply told = message->as.reply;
    const lk_msg_reply *reply = &told;
    int64_t sent = 0;
    lk_demand *demand = lk_demand_by_serial (proxy, reply->request.serial);
    if (!count_duration (&told, demand) || !is_fresh (proxy, told.as_of)) {
        return;
    }
    if (demand
        && (!may_be_told (proxy, demand)
            || !lk_registration_dates (proxy, demand, reply, &sent))) {
        return;
    }
    if (demand) {
        lk_demand_hear (
            proxy, demand,
            &(lk_news) {.kind = LK_NEWS_LOCKED, .reply = reply, .sent = sent});
    } else if (!reply->kept) {
        give_back (proxy, reply->request.serial, reply->object, true);
    }
}

/*  -------------------------------------------------------- UNLOCKED */

/*  A later registration has it, which its application believes. One that is
 *  given back waits for the answer to that. A LOCK of this registration that
 *  comes after all is late, and its home may not know that any more.
 *  Protocol 9.20: Moving. */
static void
forget_moved (lk_proxy *proxy, lk_demand *demand)
{
    if (!demand || demand->ticket.remote.number == 0
        || demand->state == LK_DEMAND_CLOSING) {
        return;
    }
    lk_registration_note_move (proxy,
                               demand->set ? demand->set->name : demand->name);
    if (demand->set) {
        lk_set_moved (proxy, demand);
    } else {
        lk_demand_remove (proxy, demand);
    }
}

/*  It waited, and a later registration has given it back: else it would stand
 *  in the queue again. Protocol 9.20: Moving. */
static bool
is_over_elsewhere (const lk_demand *demand, const lk_msg_reply *reply)
{
    return demand && lk_demand_is_far (demand)
           && demand->state == LK_DEMAND_WAITING && reply->token == 0
           && !lk_stopping_asks_back (reply);
}

void
lk_on_unlocked (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_reply *reply = &message->as.reply;
    if (!is_current (proxy, message)) {
        return;
    }
    lk_demand *demand = lk_demand_by_serial (proxy, reply->request.serial);
    if (reply->moved || is_over_elsewhere (demand, reply)) {
        forget_moved (proxy, demand);
    } else if (demand) {
        lk_demand_hear (proxy, demand,
                        &(lk_news) {.kind = LK_NEWS_UNLOCKED, .reply = reply});
    } else if (lk_stopping_asks_back (reply)) {
        give_back (proxy, reply->request.serial, reply->object, false);
    }
}

/*  -------------------------------------------------------- LOCKFAILED */

void
lk_on_lockfailed (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_reply *reply = &message->as.reply;
    lk_demand *demand = is_current (proxy, message)
                            ? lk_demand_by_serial (proxy, reply->request.serial)
                            : NULL;
    if (demand) {
        lk_demand_hear (proxy, demand,
                        &(lk_news) {.kind = LK_NEWS_FAILED, .reply = reply});
    }
}

/*  -------------------------------------------------------- the others */

void
lk_on_checked (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_check *check = &message->as.check;
    if (!is_for_us (proxy, message, check->request)) {
        return;
    }
    lk_demand *demand = lk_demand_by_serial (proxy, check->request.serial);
    if (demand && demand->command == LK_COMMAND_CHECK) {
        lk_demand_answer (proxy, demand,
                          (lk_answer) {.kind = LK_ANSWER_CHECKED,
                                       .until_ms = INT64_MAX,
                                       .token = demand->ticket.token,
                                       .held = check->held,
                                       .newest = check->newest});
        lk_demand_remove (proxy, demand);
    }
}

void
lk_on_reported (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_report *report = &message->as.report;
    if (lk_term_equal (message->term, proxy->core->in_force.term)
        && report->session == proxy->core->facts.session
        && report->home < proxy->core->in_force.leader_count) {
        lk_report_heard (proxy, report->home, report->part);
    }
}

/*  Whether the request has what its home says. One that is given back says
 *  nothing: a late LOCK may make a ticket again, until UNLOCK is heard.
 *  Protocol 9.11. */
static bool
has_ticket (const lk_demand *demand, const lk_msg_audit *audit)
{
    if (audit->token == 0) {
        return demand->state == LK_DEMAND_WAITING
               || demand->state == LK_DEMAND_LATER;
    }
    return demand->ticket.token == audit->token
           && (demand->state == LK_DEMAND_HELD
               || demand->state == LK_DEMAND_ENDED
               || demand->state == LK_DEMAND_KEEPING
               || demand->state == LK_DEMAND_LINGERING);
}

void
lk_on_audit (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_audit *audit = &message->as.audit;
    if (audit->request.host != proxy->core->config.self
        || audit->request.session != proxy->core->facts.session || !proxy->live
        || lk_term_compare (message->term, proxy->core->in_force.term) < 0) {
        return;
    }
    const lk_demand *demand =
        lk_demand_by_serial (proxy, audit->request.serial);
    if (!demand) {
        give_back (proxy, audit->request.serial, audit->object, true);
        return;
    }
    if (!has_ticket (demand, audit)) {
        return;
    }
    lk_lock_message *answer = lk_out_message (proxy->core, LK_MSG_AUDITED);
    answer->term = message->term;
    answer->as.audit = *audit;
    answer->as.audit.object = lk_out_name (proxy->core, audit->object);
    lk_out_send (proxy->core, answer, message->from);
}
