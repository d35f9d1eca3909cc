/*  life.c - what is done when something comes to a request: the table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  News that a row lacks cannot come, or change nothing.
 *  lockkeeper-protocol(7), 9.11 to 9.14.
 */

#include "life.h"

#include "asker.h"
#include "util/assert.h"

/*  -------------------------------------------------------- one lock */

static lk_deed *const alone[LK_DEMAND_STATES][LK_NEWS_COUNT] = {
    [LK_DEMAND_WAITING] =
        {
            [LK_NEWS_TURN] = lk_refuse_turn,
            [LK_NEWS_UNLOCK] = lk_give_back,
            [LK_NEWS_GONE] = lk_leave_wish,
            [LK_NEWS_LOCKED] = lk_take_grant,
            [LK_NEWS_FAILED] = lk_take_failure,
            [LK_NEWS_OVER] = lk_fail_late,
            [LK_NEWS_LEAVE] = lk_stop_waiting,
            [LK_NEWS_HALT] = lk_say_last,
            [LK_NEWS_NEXT] = lk_wait_on,
        },
    [LK_DEMAND_KEEPING] =
        {
            [LK_NEWS_TURN] = lk_refuse_turn,
            [LK_NEWS_UNLOCK] = lk_give_back,
            [LK_NEWS_GONE] = lk_leave_wish,
            [LK_NEWS_LOCKED] = lk_take_kept,
            [LK_NEWS_UNLOCKED] = lk_lose,
            [LK_NEWS_OVER] = lk_fail_late,
            [LK_NEWS_LEAVE] = lk_stop_keeping,
            [LK_NEWS_HALT] = lk_say_last_of_kept,
            [LK_NEWS_NEXT] = lk_wait_anew,
        },
    [LK_DEMAND_RESUMING] =
        {
            [LK_NEWS_TURN] = lk_refuse_turn,
            [LK_NEWS_UNLOCK] = lk_give_back,
            [LK_NEWS_GONE] = lk_leave_resuming,
            [LK_NEWS_LOCKED] = lk_go_on,
            [LK_NEWS_UNLOCKED] = lk_lose_resuming,
            [LK_NEWS_FAILED] = lk_fail_resuming,
            [LK_NEWS_OVER] = lk_lapse,
            [LK_NEWS_LEAVE] = lk_stop_resuming,
            [LK_NEWS_LOST] = lk_tell_lost,
            [LK_NEWS_NEXT] = lk_forget,
        },
    [LK_DEMAND_HELD] =
        {
            [LK_NEWS_LOCK] = lk_tell_it_is_held,
            [LK_NEWS_TURN] = lk_begin_turn,
            [LK_NEWS_UNLOCK] = lk_give_back,
            [LK_NEWS_GONE] = lk_leave_held,
            [LK_NEWS_LOCKED] = lk_take_turn,
            [LK_NEWS_UNLOCKED] = lk_lose_held,
            [LK_NEWS_FAILED] = lk_fail_turn,
            [LK_NEWS_OVER] = lk_expire_held,
            [LK_NEWS_LEAVE] = lk_stop_held,
            [LK_NEWS_LOST] = lk_tell_lost_held,
            [LK_NEWS_NEXT] = lk_forget_held,
        },
    [LK_DEMAND_ENDED] =
        {
            [LK_NEWS_LOCK] = lk_tell_it_ended,
            [LK_NEWS_TURN] = lk_tell_it_ended,
            [LK_NEWS_UNLOCK] = lk_give_back,
            [LK_NEWS_GONE] = lk_leave_ended,
            [LK_NEWS_LOCKED] = lk_take_turn,
            [LK_NEWS_UNLOCKED] = lk_lose_ended,
            [LK_NEWS_FAILED] = lk_fail_turn,
            [LK_NEWS_OVER] = lk_expire_ended,
            [LK_NEWS_NEXT] = lk_forget,
        },
    [LK_DEMAND_LINGERING] =
        {
            [LK_NEWS_LOCKED] = lk_take_turn,
            [LK_NEWS_UNLOCKED] = lk_lose,
            [LK_NEWS_FAILED] = lk_fail_turn,
            [LK_NEWS_OVER] = lk_expire_lingering,
            [LK_NEWS_LEAVE] = lk_stop_lingering,
            [LK_NEWS_NEXT] = lk_forget,
        },
    [LK_DEMAND_CLOSING] =
        {
            [LK_NEWS_LOCK] = lk_tell_it_failed,
            [LK_NEWS_TURN] = lk_tell_it_failed,
            [LK_NEWS_UNLOCK] = lk_await_unlocked,
            [LK_NEWS_GONE] = lk_leave_closing,
            [LK_NEWS_UNLOCKED] = lk_take_end,
            [LK_NEWS_HALT] = lk_say_last,
            [LK_NEWS_LOST] = lk_tell_lost_closing,
            [LK_NEWS_NEXT] = lk_close_on,
        },
    [LK_DEMAND_ERRAND] =
        {
            [LK_NEWS_UNLOCK] = lk_await_unlocked,
            [LK_NEWS_GONE] = lk_leave_command,
            [LK_NEWS_UNLOCKED] = lk_take_end,
            [LK_NEWS_FAILED] = lk_fail_command,
            [LK_NEWS_OVER] = lk_fail_late,
            [LK_NEWS_LEAVE] = lk_stop_waiting,
            [LK_NEWS_HALT] = lk_say_last_of_command,
            [LK_NEWS_NEXT] = lk_wait_on,
        },
};

/*  -------------------------------------------------------- of a set */

/*  News of all members come to the set. */
static lk_deed *const member[LK_DEMAND_STATES][LK_NEWS_COUNT] = {
    [LK_DEMAND_LATER] =
        {
            [LK_NEWS_LOCKED] = lk_take_member,
            [LK_NEWS_UNLOCKED] = lk_lose_member,
            [LK_NEWS_HALT] = lk_say_last_of_member,
        },
    [LK_DEMAND_WAITING] =
        {
            [LK_NEWS_LOCKED] = lk_take_member,
            [LK_NEWS_UNLOCKED] = lk_lose_member,
            [LK_NEWS_FAILED] = lk_fail_member,
            [LK_NEWS_HALT] = lk_say_last_of_member,
        },
    [LK_DEMAND_RESUMING] =
        {
            [LK_NEWS_LOCKED] = lk_go_on,
            [LK_NEWS_UNLOCKED] = lk_lose_member,
            [LK_NEWS_FAILED] = lk_fail_resuming_member,
            [LK_NEWS_HALT] = lk_say_last_of_member,
        },
    [LK_DEMAND_HELD] =
        {
            [LK_NEWS_UNLOCKED] = lk_lose_held_member,
            [LK_NEWS_HALT] = lk_say_last_of_member,
        },
    [LK_DEMAND_ENDED] =
        {
            [LK_NEWS_UNLOCKED] = lk_lose_member,
            [LK_NEWS_HALT] = lk_say_last_of_member,
        },
    [LK_DEMAND_CLOSING] =
        {
            [LK_NEWS_UNLOCKED] = lk_lose_member,
            [LK_NEWS_HALT] = lk_say_last_of_member,
        },
};

static lk_set_deed *const sets[LK_SET_STATES][LK_NEWS_COUNT] = {
    [LK_SET_WAITING] =
        {
            [LK_NEWS_UNLOCK] = lk_set_give_back,
            [LK_NEWS_GONE] = lk_set_let_go,
            [LK_NEWS_OVER] = lk_set_fail_late,
            [LK_NEWS_LEAVE] = lk_set_stop_waiting,
            [LK_NEWS_NEXT] = lk_set_wait_anew,
        },
    [LK_SET_RESUMING] =
        {
            [LK_NEWS_UNLOCK] = lk_set_give_back,
            [LK_NEWS_GONE] = lk_set_let_go,
            [LK_NEWS_OVER] = lk_set_lapse,
            [LK_NEWS_LEAVE] = lk_set_stop_held,
            [LK_NEWS_LOST] = lk_set_tell_lost,
            [LK_NEWS_NEXT] = lk_set_forget,
        },
    [LK_SET_HELD] =
        {
            [LK_NEWS_LOCK] = lk_set_tell_held,
            [LK_NEWS_UNLOCK] = lk_set_give_back,
            [LK_NEWS_GONE] = lk_set_let_go,
            [LK_NEWS_OVER] = lk_set_expire,
            [LK_NEWS_LEAVE] = lk_set_stop_held,
            [LK_NEWS_LOST] = lk_set_tell_lost,
            [LK_NEWS_NEXT] = lk_set_forget,
        },
    [LK_SET_ENDED] =
        {
            [LK_NEWS_LOCK] = lk_set_tell_ended,
            [LK_NEWS_UNLOCK] = lk_set_give_back,
            [LK_NEWS_GONE] = lk_set_let_go,
            [LK_NEWS_OVER] = lk_set_expire_ended,
            [LK_NEWS_NEXT] = lk_set_forget,
        },
    [LK_SET_CLOSING] =
        {
            [LK_NEWS_LOCK] = lk_set_tell_failed,
            [LK_NEWS_UNLOCK] = lk_set_await_unlocked,
            [LK_NEWS_GONE] = lk_set_let_go,
            [LK_NEWS_LOST] = lk_set_tell_lost_closing,
            [LK_NEWS_NEXT] = lk_set_forget,
        },
};

/*  -------------------------------------------------------- both */

void
lk_demand_hear (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    LK_ASSERT (demand->state < LK_DEMAND_STATES && news->kind < LK_NEWS_COUNT);
    lk_deed *deed = demand->set ? member[demand->state][news->kind]
                                : alone[demand->state][news->kind];
    if (deed) {
        deed (proxy, demand, news);
    }
}

void
lk_set_hear (lk_proxy *proxy, lk_set *set, const lk_news *news)
{
    LK_ASSERT (set->state < LK_SET_STATES && news->kind < LK_NEWS_COUNT);
    lk_set_deed *deed = sets[set->state][news->kind];
    if (deed) {
        deed (proxy, set, news);
    }
}

void
lk_app_hear (lk_proxy *proxy, uint32_t app, const lk_news *news)
{
    lk_demand *demand;
    lk_demand *next;
    for (demand = lk_demand_of_app (proxy, app); demand; demand = next) {
        next = demand->sibling_next;
        lk_demand_hear (proxy, demand, news);
    }
    const lk_asker *asker = lk_asker_find (proxy, app);
    lk_set *set = asker ? asker->sets : NULL;
    while (set) {
        lk_set *later = set->next;
        lk_set_hear (proxy, set, news);
        set = later;
    }
}
