/*  ends.c - how a request ends: by time, with its service, with its session
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asker.h"
#include "demand_tell.h"
#include "life.h"
#include "stopping.h"
#include "turn.h"

/*  -------------------------------------------------------- time */

static bool
is_over (const lk_proxy *proxy, int64_t when_ms)
{
    return when_ms <= proxy->core->now_ms;
}

/*  It is not had, or done. */
static void
fail (lk_proxy *proxy, lk_demand *demand, lk_err error)
{
    if (demand->state == LK_DEMAND_ERRAND) {
        if (lk_demand_is_awaited (demand)) {
            lk_demand_tell (proxy, demand, LK_ANSWER_FAILED, error);
        }
        lk_demand_remove (proxy, demand);
    } else {
        lk_demand_fail (proxy, demand, error);
    }
}

void
lk_fail_late (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, demand->wait_until_ms)) {
        fail (proxy, demand, LK_TIMEDOUT);
    }
}

/*  The lease that its application held it by is over, as it knows itself; what
 *  others wait for goes back when it had time to stop.
 *  Protocol 9.13: A restart. */
void
lk_lapse (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (lk_demand_is_far (demand) && is_over (proxy, demand->wait_until_ms)) {
        lk_demand_fail (proxy, demand, LK_DISCONNECTED);
    } else if (is_over (proxy, demand->wait_until_ms)) {
        lk_demand_end (proxy, demand, LK_DISCONNECTED);
        demand->until_ms = proxy->core->now_ms + lk_stopping_ms (proxy->core);
        lk_demand_await_end (proxy, demand);
    }
}

/*  It was not told in time what the lock is, which lingers on.
 *  Protocol 9.11. */
static void
refuse_heir (lk_proxy *proxy, lk_demand *demand)
{
    lk_demand_tell (proxy, demand, LK_ANSWER_FAILED, LK_TIMEDOUT);
    demand->turn.heir_waits = false;
    demand->guarded = demand->turn.was_guarded;
    lk_demand_orphan (proxy, demand);
    lk_demand_enter (proxy, demand, LK_DEMAND_LINGERING);
}

void
lk_expire_held (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, demand->until_ms)) {
        lk_demand_end (proxy, demand, LK_TIMEDOUT);
    } else if (demand->turn.heir_waits
               && is_over (proxy, demand->wait_until_ms)) {
        refuse_heir (proxy, demand);
    } else if (demand->asks_on && is_over (proxy, demand->turn.until_ms)) {
        lk_turn_expire (proxy, demand);
    }
}

void
lk_expire_ended (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, demand->until_ms)) {
        demand->late = demand->error == LK_TIMEDOUT;
        lk_demand_close (proxy, demand);
    }
}

/*  Nobody needs what lingers after its duration, but for who ends what was
 *  started under it. Protocol 9.11. */
static int64_t
linger_until (const lk_demand *demand)
{
    return !demand->guarded && demand->until_ms < demand->linger_until_ms
               ? demand->until_ms
               : demand->linger_until_ms;
}

void
lk_expire_lingering (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, linger_until (demand))) {
        lk_demand_close (proxy, demand);
    }
}

/*  -------------------------------------------------------- its service */

/*  The service is to stop for good: what is static stays its application's;
 *  what has none goes back. Protocol 9.13. */
void
lk_stop_held (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (demand->ticket.mode.is_static) {
        lk_turn_forget (proxy, demand, LK_SHUTDOWN);
        lk_demand_remove (proxy, demand);
    } else {
        lk_demand_end (proxy, demand, LK_SHUTDOWN);
    }
}

void
lk_stop_resuming (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_end (proxy, demand, LK_SHUTDOWN);
}

/*  Nobody else could end it. */
void
lk_stop_keeping (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_fail (proxy, demand, LK_SHUTDOWN);
    lk_demand_orphan (proxy, demand);
    lk_demand_await_unlocked (proxy, demand);
}

void
lk_stop_lingering (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (demand->guarded) {
        lk_stopping_orphan (proxy, demand,
                            linger_until (demand) - proxy->core->now_ms);
    } else {
        lk_demand_enter (proxy, demand, LK_DEMAND_CLOSING);
    }
}

/*  What nobody else could end is given back as long as there is time. */
void
lk_stop_waiting (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const bool is_last_word =
        demand->command == LK_COMMAND_BY_KEY && demand->name[0] == LK_NO_APP;
    (void) news;
    if (!is_last_word) {
        fail (proxy, demand, LK_SHUTDOWN);
    }
}

/*  What its applications hold stays theirs as long as the lease lasts: they say
 *  to the next service what it is. What is asked for is asked for anew, and one
 *  that was not told yet would be in its own way: it is given back, as far as a
 *  last word can do so. Protocol 9.13. */
void
lk_say_last (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_send_unlock (proxy, demand);
}

void
lk_say_last_of_kept (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    lk_demand_enter (proxy, demand, LK_DEMAND_CLOSING);
    lk_say_last (proxy, demand, news);
}

void
lk_say_last_of_command (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (demand->command == LK_COMMAND_BY_KEY) {
        lk_say_last (proxy, demand, news);
    }
}

void
lk_say_last_of_member (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (demand->set->state == LK_SET_WAITING
        || demand->set->state == LK_SET_CLOSING) {
        lk_say_last (proxy, demand, news);
    }
}

/*  -------------------------------------------------------- its session */

/*  Applications are told first, then what they had may be given away. */
void
lk_tell_lost (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    lk_demand_tell (proxy, demand, LK_ANSWER_UNLOCKED, news->error);
}

void
lk_tell_lost_held (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (!demand->ticket.mode.is_static) {
        lk_tell_lost (proxy, demand, news);
    }
}

/*  A static lock may be bound to no session, and be its application's no more:
 *  then it is given back by its key. Protocol 9.13. */
static bool
has_to_go_back (const lk_demand *demand)
{
    return demand->ticket.mode.is_static && demand->ticket.token != 0;
}

void
lk_tell_lost_closing (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (demand->tell_unlocked && !has_to_go_back (demand)) {
        lk_tell_lost (proxy, demand, news);
    }
}

/*  What still waits goes into the next session. */
void
lk_wait_on (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_renumber (proxy, demand);
}

void
lk_forget (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_remove (proxy, demand);
}

void
lk_forget_held (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (demand->ticket.mode.is_static) {
        lk_turn_forget (proxy, demand, news->error);
    }
    lk_demand_remove (proxy, demand);
}

/*  By its key it would be taken from a later registration, too.
 *  Protocol 9.20: Not moved. */
void
lk_close_on (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (has_to_go_back (demand) && demand->ticket.remote.number != 0) {
        lk_demand_renumber (proxy, demand);
    } else if (has_to_go_back (demand)) {
        lk_demand_become_command (proxy, demand);
    } else {
        lk_demand_remove (proxy, demand);
    }
}

/*  It was not told yet, and may be static already: the application goes on to
 *  wait, for another ticket, behind the one that has to go back.
 *  Protocol 9.10: Static locks. */
void
lk_wait_anew (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    lk_name name = demand->ticket.object;
    uint32_t app = (uint32_t) demand->name[0];
    uint64_t serial = demand->name[1];
    lk_demand_orphan (proxy, demand);
    lk_demand *again = lk_demand_new (proxy, LK_DEMAND_WAITING,
                                      ++proxy->last_serial, app, serial, name);
    lk_demand_set_owner (again, demand->ticket.owner);
    again->listed = demand->listed;
    again->pid = demand->pid;
    again->course = demand->course;
    again->queue = demand->queue;
    again->since_ms = demand->since_ms;
    again->wait_until_ms = demand->wait_until_ms;
    lk_demand_await_end (proxy, again);
    again->ticket.pid = demand->ticket.pid;
    again->ticket.duration_ms = demand->ticket.duration_ms;
    again->ticket.mode = demand->ticket.mode;
    lk_close_on (proxy, demand, news);
}
