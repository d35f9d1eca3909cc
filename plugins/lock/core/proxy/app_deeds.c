/*  app_deeds.c - what is done when an application speaks of its request
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Deeds of life.c, for what requests.c hears.
 */

#include "asked_tell.h"
#include "life.h"
#include "proxy_private.h"
#include "stopping.h"
#include "turn.h"

/*  -------------------------------------------------------- again */

/*  The application says LOCK again: its answer may have been lost. */
void
lk_tell_it_is_held (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_tell_locked (proxy, asked);
}

void
lk_tell_it_ended (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_tell (proxy, asked, LK_ANSWER_UNLOCKED, asked->error);
}

void
lk_tell_it_failed (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (!asked->tell_unlocked) {
        lk_asked_tell (proxy, asked, LK_ANSWER_FAILED, asked->error);
    }
}

/*  -------------------------------------------------------- giving back */

/*  protocol 9.11 */
void
lk_give_back (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    asked->late |=
        asked->state == LK_ASKED_ENDED && asked->error == LK_TIMEDOUT;
    lk_await_unlocked (proxy, asked, news);
    lk_asked_close (proxy, asked);
}

void
lk_await_unlocked (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_await_unlocked (proxy, asked);
}

/*  -------------------------------------------------------- left behind */

/*  Its application is gone, and nobody is told: what may be a ticket goes
 *  back. Protocol 9.13. */
void
lk_leave_wish (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_orphan (proxy, asked);
    lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
}

static void
linger (const lk_proxy *proxy, lk_asked *asked)
{
    asked->linger_until_ms = asked->linger_ms < INT64_MAX - proxy->core->now_ms
                                 ? proxy->core->now_ms + asked->linger_ms
                                 : INT64_MAX;
}

/*  What is static stays, and is nobody's. */
void
lk_leave_held (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (asked->ticket.mode.is_static) {
        lk_asked_orphan (proxy, asked);
        lk_asked_remove (proxy, asked);
    } else if (asked->linger_ms > 0) {
        lk_asked_orphan (proxy, asked);
        linger (proxy, asked);
        lk_turn_give_up (proxy, asked);
        lk_asked_enter (proxy, asked, LK_ASKED_LINGERING);
    } else {
        lk_leave_wish (proxy, asked, news);
    }
}

void
lk_leave_ended (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (asked->ticket.mode.is_static) {
        lk_asked_orphan (proxy, asked);
        lk_asked_remove (proxy, asked);
    } else if (asked->linger_ms > 0) {
        lk_stopping_orphan (proxy, asked, asked->linger_ms);
    } else {
        lk_leave_wish (proxy, asked, news);
    }
}

/*  It lingers as soon as it is of this session. */
void
lk_leave_resuming (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (asked->linger_ms > 0) {
        lk_asked_orphan (proxy, asked);
        linger (proxy, asked);
    } else {
        lk_leave_wish (proxy, asked, news);
    }
}

void
lk_leave_closing (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_orphan (proxy, asked);
}

/*  One that gives back what was its own goes on. */
void
lk_leave_errand (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    const bool gives_back = asked->tell_unlocked;
    (void) news;
    lk_asked_orphan (proxy, asked);
    if (!gives_back) {
        lk_asked_remove (proxy, asked);
    }
}
