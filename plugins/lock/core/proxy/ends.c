/*  ends.c - how a request ends: by time, with its service, with its session
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked_tell.h"
#include "asker.h"
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
fail (lk_proxy *proxy, lk_asked *asked, lk_err error)
{
    if (asked->state == LK_ASKED_ERRAND) {
        lk_asked_tell (proxy, asked, LK_ANSWER_FAILED, error);
        lk_asked_remove (proxy, asked);
    } else {
        lk_asked_fail (proxy, asked, error);
    }
}

void
lk_fail_late (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, asked->wait_until_ms)) {
        fail (proxy, asked, LK_TIMEDOUT);
    }
}

/*  The lease that its application held it by is over, as it knows itself; what
 *  others wait for goes back when it had time to stop.
 *  Protocol 9.13: A restart. */
void
lk_lapse (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, asked->wait_until_ms)) {
        lk_asked_end (proxy, asked, LK_DISCONNECTED);
        asked->until_ms = proxy->core->now_ms + lk_stopping_ms (proxy->core);
        lk_asked_await_end (proxy, asked);
    }
}

/*  It was not told in time what the lock is, which lingers on.
 *  Protocol 9.11. */
static void
refuse_heir (lk_proxy *proxy, lk_asked *asked)
{
    lk_asked_tell (proxy, asked, LK_ANSWER_FAILED, LK_TIMEDOUT);
    asked->turn.heir_waits = false;
    asked->guarded = asked->turn.was_guarded;
    lk_asked_orphan (proxy, asked);
    lk_asked_enter (proxy, asked, LK_ASKED_LINGERING);
}

void
lk_expire_held (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, asked->until_ms)) {
        lk_asked_end (proxy, asked, LK_TIMEDOUT);
    } else if (asked->turn.heir_waits
               && is_over (proxy, asked->wait_until_ms)) {
        refuse_heir (proxy, asked);
    } else if (asked->asks_on && is_over (proxy, asked->turn.until_ms)) {
        lk_turn_expire (proxy, asked);
    }
}

void
lk_expire_ended (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, asked->until_ms)) {
        asked->late = asked->error == LK_TIMEDOUT;
        lk_asked_close (proxy, asked);
    }
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

void
lk_expire_lingering (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (is_over (proxy, linger_until (asked))) {
        lk_asked_close (proxy, asked);
    }
}

/*  -------------------------------------------------------- its service */

/*  The service is to stop for good: what is static stays its application's;
 *  what has none goes back. Protocol 9.13. */
void
lk_stop_held (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (asked->ticket.mode.is_static) {
        lk_turn_forget (proxy, asked, LK_SHUTDOWN);
        lk_asked_remove (proxy, asked);
    } else {
        lk_asked_end (proxy, asked, LK_SHUTDOWN);
    }
}

void
lk_stop_resuming (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_end (proxy, asked, LK_SHUTDOWN);
}

/*  Nobody else could end it. */
void
lk_stop_keeping (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_fail (proxy, asked, LK_SHUTDOWN);
    lk_asked_orphan (proxy, asked);
    lk_asked_await_unlocked (proxy, asked);
}

void
lk_stop_lingering (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (asked->guarded) {
        lk_stopping_orphan (proxy, asked,
                            linger_until (asked) - proxy->core->now_ms);
    } else {
        lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
    }
}

/*  What nobody else could end is given back as long as there is time. */
void
lk_stop_waiting (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    const bool is_last_word =
        asked->errand == LK_ERRAND_BY_KEY && asked->name[0] == LK_NO_APP;
    (void) news;
    if (!is_last_word) {
        fail (proxy, asked, LK_SHUTDOWN);
    }
}

/*  What its applications hold stays theirs as long as the lease lasts: they say
 *  to the next service what it is. What is asked for is asked for anew, and one
 *  that was not told yet would be in its own way: it is given back, as far as a
 *  last word can do so. Protocol 9.13. */
void
lk_say_last (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_send_unlock (proxy, asked);
}

void
lk_say_last_of_kept (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
    lk_say_last (proxy, asked, news);
}

void
lk_say_last_of_errand (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (asked->errand == LK_ERRAND_BY_KEY) {
        lk_say_last (proxy, asked, news);
    }
}

void
lk_say_last_of_member (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (asked->set->state == LK_SET_WAITING
        || asked->set->state == LK_SET_CLOSING) {
        lk_say_last (proxy, asked, news);
    }
}

/*  -------------------------------------------------------- its session */

/*  Applications are told first, then what they had may be given away. */
void
lk_tell_lost (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    lk_asked_tell (proxy, asked, LK_ANSWER_UNLOCKED, news->error);
}

void
lk_tell_lost_held (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (!asked->ticket.mode.is_static) {
        lk_tell_lost (proxy, asked, news);
    }
}

/*  A static lock may be bound to no session, and be its application's no more:
 *  then it is given back by its key. Protocol 9.13. */
static bool
has_to_go_back (const lk_asked *asked)
{
    return asked->ticket.mode.is_static && asked->ticket.token != 0;
}

void
lk_tell_lost_closing (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (asked->tell_unlocked && !has_to_go_back (asked)) {
        lk_tell_lost (proxy, asked, news);
    }
}

/*  What still waits goes into the next session. */
void
lk_wait_on (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_renumber (proxy, asked);
}

void
lk_forget (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    lk_asked_remove (proxy, asked);
}

void
lk_forget_held (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (asked->ticket.mode.is_static) {
        lk_turn_forget (proxy, asked, news->error);
    }
    lk_asked_remove (proxy, asked);
}

void
lk_close_on (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    (void) news;
    if (has_to_go_back (asked)) {
        lk_asked_become_errand (proxy, asked);
    } else {
        lk_asked_remove (proxy, asked);
    }
}

/*  It was not told yet, and may be static already: the application goes on to
 *  wait, for another ticket, behind the one that has to go back.
 *  Protocol 9.10: Static locks. */
void
lk_wait_anew (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
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
    lk_close_on (proxy, asked, news);
}
