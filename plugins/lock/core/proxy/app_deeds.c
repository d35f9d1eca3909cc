/*  app_deeds.c - what is done when an application speaks of its request
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Deeds of life.c, for what requests.c hears.
 */

#include "demand_tell.h"
#include "life.h"
#include "proxy_private.h"
#include "stopping.h"
#include "turn.h"

/*  -------------------------------------------------------- again */

/*  The application says LOCK again: its answer may have been lost. */
void
lk_tell_it_is_held (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_tell_locked (proxy, demand);
}

void
lk_tell_it_ended (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_tell (proxy, demand, LK_ANSWER_UNLOCKED, demand->error);
}

void
lk_tell_it_failed (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    if (!demand->tell_unlocked) {
        lk_demand_tell (proxy, demand, LK_ANSWER_FAILED, demand->error);
    }
}

/*  -------------------------------------------------------- giving back */

/*  protocol 9.11 */
void
lk_give_back (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    demand->late |=
        demand->state == LK_DEMAND_ENDED && demand->error == LK_TIMEDOUT;
    lk_await_unlocked (proxy, demand, news);
    lk_demand_close (proxy, demand);
}

void
lk_await_unlocked (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    demand->unlock = news->request->unlock;
    lk_demand_await_unlocked (proxy, demand);
}

/*  -------------------------------------------------------- left behind */

/*  Its application is gone, and nobody is told: what may be a ticket goes
 *  back. Protocol 9.13. */
void
lk_leave_wish (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_orphan (proxy, demand);
    lk_demand_enter (proxy, demand, LK_DEMAND_CLOSING);
}

static void
linger (const lk_proxy *proxy, lk_demand *demand)
{
    demand->linger_until_ms =
        demand->linger_ms < INT64_MAX - proxy->core->now_ms
            ? proxy->core->now_ms + demand->linger_ms
            : INT64_MAX;
}

/*  What is static stays, and is nobody's. */
void
lk_leave_held (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (demand->ticket.mode.is_static) {
        lk_demand_orphan (proxy, demand);
        lk_demand_remove (proxy, demand);
    } else if (demand->linger_ms > 0) {
        lk_demand_orphan (proxy, demand);
        linger (proxy, demand);
        lk_turn_give_up (proxy, demand);
        lk_demand_enter (proxy, demand, LK_DEMAND_LINGERING);
    } else {
        lk_leave_wish (proxy, demand, news);
    }
}

void
lk_leave_ended (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (demand->ticket.mode.is_static) {
        lk_demand_orphan (proxy, demand);
        lk_demand_remove (proxy, demand);
    } else if (demand->linger_ms > 0) {
        lk_stopping_orphan (proxy, demand, demand->linger_ms);
    } else {
        lk_leave_wish (proxy, demand, news);
    }
}

/*  It lingers as soon as it is of this session. */
void
lk_leave_resuming (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (demand->linger_ms > 0) {
        lk_demand_orphan (proxy, demand);
        linger (proxy, demand);
    } else {
        lk_leave_wish (proxy, demand, news);
    }
}

void
lk_leave_closing (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    (void) news;
    lk_demand_orphan (proxy, demand);
}

/*  One that gives back what was its own goes on. */
void
lk_leave_command (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const bool gives_back = demand->tell_unlocked;
    (void) news;
    lk_demand_orphan (proxy, demand);
    if (!gives_back) {
        lk_demand_remove (proxy, demand);
    }
}
