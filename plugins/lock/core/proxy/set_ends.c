/*  set_ends.c - how a set of locks ends: lost, given back, left behind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "demand_tell.h"
#include "proxy_private.h"
#include "set_private.h"
#include "stopping.h"

/*  Whether its application believes in it. */
static bool
is_held (const lk_set *self)
{
    return self->state == LK_SET_HELD || self->state == LK_SET_RESUMING;
}

static void
enter_all (lk_proxy *proxy, lk_set *self, lk_demand_state state)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i]) {
            lk_demand_enter (proxy, self->member[i], state);
        }
    }
}

static void
give_back (lk_proxy *proxy, lk_set *self)
{
    self->state = LK_SET_CLOSING;
    lk_set_until (proxy, self, 0);
    enter_all (proxy, self, LK_DEMAND_CLOSING);
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i]) {
            lk_demand_send (proxy, self->member[i]);
        }
    }
}

/*  It waits no more. Protocol 9.12. */
void
lk_set_failed (lk_proxy *proxy, lk_set *self, lk_err error, lk_name reason)
{
    self->error = error;
    lk_set_tell_why (proxy, self, LK_ANSWER_FAILED, error, reason);
    give_back (proxy, self);
}

/*  One on another machine may not have heard it, and has until it is silent;
 *  but for the end of its duration, which it knows.
 *  Protocol 9.20: Taken away. */
static bool
is_until_silent (const lk_set *self, lk_err error)
{
    return self->far && error != LK_TIMEDOUT;
}

/*  The application was told, and has some time to stop what it does. */
static void
end (lk_proxy *proxy, lk_set *self, lk_err error, lk_name reason,
     int64_t span_ms)
{
    lk_set_tell_why (proxy, self, LK_ANSWER_UNLOCKED, error, reason);
    self->error = error;
    self->state = LK_SET_ENDED;
    enter_all (proxy, self, LK_DEMAND_ENDED);
    lk_set_until (proxy, self, is_until_silent (self, error) ? 0 : span_ms);
}

/*  protocol 9.14 */
void
lk_set_stop (lk_proxy *proxy, lk_set *self, lk_err error, lk_name reason)
{
    const int64_t span_ms = lk_stopping_time (proxy, self->guarded);
    if (is_held (self)) {
        end (proxy, self, error, reason, span_ms);
    } else if (!is_until_silent (self, self->error)
               && self->until_ms > proxy->core->now_ms + span_ms) {
        lk_set_until (proxy, self, span_ms); /* nobody waits for the grace */
    }
}

void
lk_set_await_unlocked (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    self->unlock = news->request->unlock;
    proxy->unlocking += !self->tell_unlocked;
    self->tell_unlocked = true;
}

void
lk_set_give_back (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    lk_set_await_unlocked (proxy, self, news);
    self->late = self->state == LK_SET_ENDED && self->error == LK_TIMEDOUT;
    give_back (proxy, self);
}

/*  For how long what its application started may still be there. */
static int64_t
time_left (const lk_proxy *proxy, const lk_set *self)
{
    const int64_t left_ms = self->until_ms - proxy->core->now_ms;
    if (!is_held (self) && self->state != LK_SET_ENDED) {
        return 0;
    }
    return self->state == LK_SET_ENDED && left_ms < self->linger_ms
               ? left_ms
               : self->linger_ms;
}

/*  Its members go back one by one, and nobody is told. */
void
lk_set_let_go (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    const int64_t left_ms = time_left (proxy, self);
    for (size_t i = 0; i < self->count; i++) {
        lk_demand *member = self->member[i];
        if (!member) {
            continue;
        }
        member->set = NULL;
        if (member->state == LK_DEMAND_CLOSING) {
            continue; /* nobody works under it */
        }
        if (left_ms > 0) {
            lk_stopping_orphan (proxy, member, left_ms);
        } else {
            lk_demand_enter (proxy, member, LK_DEMAND_CLOSING);
        }
    }
    lk_set_destroy (proxy, self);
}

/*  -------------------------------------------------------- homes */

/*  Under the others what its application started may still be at work.
 *  Protocol 9.12. */
static void
lost (lk_proxy *proxy, lk_demand *member, lk_err error, lk_name reason)
{
    lk_set *self = member->set;
    if (is_held (self)) {
        end (proxy, self, error, reason,
             lk_stopping_time (proxy, self->guarded));
    }
    lk_demand_enter (proxy, member, LK_DEMAND_CLOSING);
    lk_demand_send (proxy, member);
}

static void
drop_member (lk_proxy *proxy, lk_demand *member)
{
    lk_set *self = member->set;
    self->member[member->place] = NULL;
    lk_demand_remove (proxy, member);
    self->left--;
}

static void
given_back (lk_proxy *proxy, lk_demand *member)
{
    lk_set *self = member->set;
    drop_member (proxy, member);
    if (self->left == 0) {
        if (self->tell_unlocked) {
            lk_set_tell (proxy, self, LK_ANSWER_UNLOCKED,
                         self->late ? LK_LATE : LK_OK);
        }
        lk_set_destroy (proxy, self);
    }
}

/*  protocol 9.12 */
void
lk_lose_member (lk_proxy *proxy, lk_demand *member, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    const lk_err error = lk_stopping_error (proxy, member, reply);
    lk_set *set = member->set;
    if (member->state == LK_DEMAND_CLOSING) {
        if (!lk_stopping_asks_back (reply)) {
            given_back (proxy, member);
        }
        return;
    }
    if (member->ticket.token == 0 || reply->token != member->ticket.token) {
        return; /* an earlier grant of the same request */
    }
    if (set->state != LK_SET_ENDED) {
        lk_stopping_say_forced (proxy, member, reply);
    }
    if (set->state == LK_SET_WAITING) {
        lk_set_failed (proxy, set, error, reply->reason);
    } else if (!lk_stopping_asks_back (reply)) {
        lost (proxy, member, error, reply->reason);
    } else {
        lk_set_stop (proxy, set, error, reply->reason);
        lk_stopping_say (proxy, member, set->until_ms);
    }
}

/*  protocol 9.20: Sets */
void
lk_set_moved (lk_proxy *proxy, lk_demand *member)
{
    lk_set *self = member->set;
    if (self->state == LK_SET_WAITING) {
        lk_set_failed (proxy, self, LK_LOST, (lk_name) {0});
        return;
    }
    drop_member (proxy, member);
    if (self->left == 0) {
        lk_set_destroy (proxy, self);
    } else if (is_held (self)) {
        self->error = LK_LOST;
        self->state = LK_SET_ENDED;
        lk_set_until (proxy, self, 0);
    }
}

void
lk_lose_held_member (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (!news->reply->witnessed) {
        lk_lose_member (proxy, demand, news);
    }
}

/*  -------------------------------------------------------- time */

void
lk_set_fail_late (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    lk_set_failed (proxy, self, LK_TIMEDOUT, (lk_name) {0});
}

void
lk_set_lapse (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    if (self->far) {
        lk_set_failed (proxy, self, LK_DISCONNECTED, (lk_name) {0});
        return;
    }
    end (proxy, self, LK_DISCONNECTED, (lk_name) {0},
         lk_stopping_ms (proxy->core));
}

void
lk_set_expire (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    end (proxy, self, LK_TIMEDOUT, (lk_name) {0},
         lk_grace_ms (proxy->core, self->duration_ms));
}

void
lk_set_expire_ended (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    self->late = self->error == LK_TIMEDOUT;
    give_back (proxy, self);
}

/*  -------------------------------------------------------- sessions */

void
lk_set_tell_lost (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    lk_set_tell (proxy, self, LK_ANSWER_UNLOCKED, news->error);
}

void
lk_set_tell_lost_closing (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    if (self->tell_unlocked) {
        lk_set_tell_lost (proxy, self, news);
    }
}

/*  From its first name on, whatever it held of it: that is gone.
 *  Protocol 9.12. */
void
lk_set_wait_anew (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    self->held = 0;
    self->asked = 0;
    lk_set_forget_early (self);
    for (size_t i = 0; i < self->count; i++) {
        lk_demand *member = self->member[i];
        lk_demand_renumber (proxy, member);
        lk_demand_enter (proxy, member,
                         i == 0 ? LK_DEMAND_WAITING : LK_DEMAND_LATER);
    }
}

void
lk_set_forget (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i]) {
            lk_demand_remove (proxy, self->member[i]);
        }
    }
    lk_set_destroy (proxy, self);
}

/*  The service is to stop for good. */
void
lk_set_stop_held (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    end (proxy, self, LK_SHUTDOWN, (lk_name) {0}, 0);
}

void
lk_set_stop_waiting (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    lk_set_failed (proxy, self, LK_SHUTDOWN, (lk_name) {0});
}
