/*  life.h - what comes to a request, and what is done then in each state
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  life.c has the table, [state][news], of single requests, of members of sets
 *  and of sets; its deeds are in the files that say so below. The files that
 *  hear something and find what it is about are above it: requests.c, answers.c
 *  and proxy.c. Deeds are below it, and give the table no news.
 */

#ifndef LK_LIFE_H
#define LK_LIFE_H

#include "demand.h"
#include "set.h"

typedef enum {
    LK_NEWS_LOCK,     /* its application says LOCK again */
    LK_NEWS_TURN,     /* ... and wants another type */
    LK_NEWS_UNLOCK,   /* ... UNLOCK */
    LK_NEWS_GONE,     /* its application is gone */
    LK_NEWS_LOCKED,   /* its home says LOCKED */
    LK_NEWS_UNLOCKED, /* ... UNLOCKED: it has ended, or is to */
    LK_NEWS_FAILED,   /* ... LOCKFAILED */
    LK_NEWS_OVER,     /* a time of it is over */
    LK_NEWS_LEAVE,    /* the service is to stop for good */
    LK_NEWS_HALT,     /* ... stops now; the next one goes on */
    LK_NEWS_LOST,     /* the session is over: it is told */
    LK_NEWS_NEXT,     /* ... and the next one begins */
    LK_NEWS_COUNT
} lk_news_kind;

typedef struct {
    lk_news_kind kind;
    const lk_app_request *request; /* TURN */
    const lk_msg_reply *reply;     /* LOCKED, UNLOCKED, FAILED */
    lk_err error;                  /* LOST, NEXT: why */
    int64_t sent; /* LOCKED of a remote one: lk_registration_dates () */
} lk_news;

/*  Does what its table says; it may be gone then. */
void lk_demand_hear (lk_proxy *proxy, lk_demand *demand, const lk_news *news);
void lk_set_hear (lk_proxy *proxy, lk_set *set, const lk_news *news);

/*  All that an application has asked for hears it. */
void lk_app_hear (lk_proxy *proxy, uint32_t app, const lk_news *news);

/*  -------------------------------------------------------- deeds */

typedef void lk_deed (lk_proxy *proxy, lk_demand *demand, const lk_news *news);
typedef void lk_set_deed (lk_proxy *proxy, lk_set *set, const lk_news *news);

/*  Words of its application: app_deeds.c, turn.c */
lk_deed lk_tell_it_is_held, lk_tell_it_ended, lk_tell_it_failed;
lk_deed lk_begin_turn, lk_refuse_turn;
lk_deed lk_give_back, lk_await_unlocked;
lk_deed lk_leave_wish, lk_leave_held, lk_leave_ended, lk_leave_resuming,
    lk_leave_closing, lk_leave_command;

/*  Words of its home: home_deeds.c, stopping.c, turn.c, set_*.c */
lk_deed lk_take_grant, lk_take_member, lk_go_on, lk_take_kept, lk_take_turn;
lk_deed lk_take_end, lk_lose, lk_lose_held, lk_lose_resuming, lk_lose_ended,
    lk_lose_member, lk_lose_held_member;
lk_deed lk_take_failure, lk_fail_turn, lk_fail_resuming, lk_fail_command,
    lk_fail_member, lk_fail_resuming_member;

/*  Time, and the ends of service and session: ends.c */
lk_deed lk_fail_late, lk_lapse, lk_expire_held, lk_expire_ended,
    lk_expire_lingering;
lk_deed lk_stop_held, lk_stop_resuming, lk_stop_keeping, lk_stop_lingering,
    lk_stop_waiting;
lk_deed lk_say_last, lk_say_last_of_kept, lk_say_last_of_command,
    lk_say_last_of_member;
lk_deed lk_tell_lost, lk_tell_lost_held, lk_tell_lost_closing;
lk_deed lk_wait_on, lk_wait_anew, lk_close_on, lk_forget_held, lk_forget;

/*  Sets: set.c, set_ends.c */
lk_set_deed lk_set_tell_held, lk_set_tell_ended, lk_set_tell_failed;
lk_set_deed lk_set_give_back, lk_set_await_unlocked, lk_set_let_go;
lk_set_deed lk_set_fail_late, lk_set_lapse, lk_set_expire, lk_set_expire_ended;
lk_set_deed lk_set_stop_held, lk_set_stop_waiting;
lk_set_deed lk_set_tell_lost, lk_set_tell_lost_closing;
lk_set_deed lk_set_wait_anew, lk_set_forget;

#endif
