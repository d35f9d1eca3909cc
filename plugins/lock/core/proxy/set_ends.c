/*  set_ends.c - how a set of locks ends: lost, given back, left behind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asker.h"
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
enter_all (lk_proxy *proxy, lk_set *self, lk_asked_state state)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i]) {
            lk_asked_enter (proxy, self->member[i], state);
        }
    }
}

static void
give_back (lk_proxy *proxy, lk_set *self)
{
    self->state = LK_SET_CLOSING;
    lk_set_until (proxy, self, 0);
    enter_all (proxy, self, LK_ASKED_CLOSING);
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i]) {
            lk_asked_send (proxy, self->member[i]);
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

/*  The application was told, and has some time to stop what it does. */
static void
end (lk_proxy *proxy, lk_set *self, lk_err error, lk_name reason,
     int64_t span_ms)
{
    lk_set_tell_why (proxy, self, LK_ANSWER_UNLOCKED, error, reason);
    self->error = error;
    self->state = LK_SET_ENDED;
    enter_all (proxy, self, LK_ASKED_ENDED);
    lk_set_until (proxy, self, span_ms);
}

/*  protocol 9.14 */
void
lk_set_stop (lk_proxy *proxy, lk_set *self, lk_err error, lk_name reason)
{
    const int64_t span_ms = lk_stopping_time (proxy, self->guarded);
    if (is_held (self)) {
        end (proxy, self, error, reason, span_ms);
    } else if (self->until_ms > proxy->core->now_ms + span_ms) {
        lk_set_until (proxy, self, span_ms); /* nobody waits for the grace */
    }
}

/*  Under the others what its application started may still be at work.
 *  Protocol 9.12. */
void
lk_set_lost (lk_proxy *proxy, lk_asked *member, lk_err error, lk_name reason)
{
    lk_set *self = member->set;
    if (is_held (self)) {
        end (proxy, self, error, reason,
             lk_stopping_time (proxy, self->guarded));
    }
    lk_asked_enter (proxy, member, LK_ASKED_CLOSING);
    lk_asked_send (proxy, member);
}

void
lk_set_unlock (lk_proxy *proxy, lk_set *self)
{
    proxy->unlocking += !self->tell_unlocked;
    self->tell_unlocked = true;
    if (self->state != LK_SET_CLOSING) {
        self->late = self->state == LK_SET_ENDED && self->error == LK_TIMEDOUT;
        give_back (proxy, self);
    }
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
static void
let_go (lk_proxy *proxy, lk_set *self)
{
    const int64_t left_ms = time_left (proxy, self);
    for (size_t i = 0; i < self->count; i++) {
        lk_asked *member = self->member[i];
        if (!member) {
            continue;
        }
        member->set = NULL;
        if (member->state == LK_ASKED_CLOSING) {
            continue; /* nobody works under it */
        }
        if (left_ms > 0) {
            lk_stopping_orphan (proxy, member, left_ms);
        } else {
            lk_asked_enter (proxy, member, LK_ASKED_CLOSING);
        }
    }
    lk_set_destroy (proxy, self);
}

void
lk_sets_app_gone (lk_proxy *proxy, uint32_t app)
{
    const lk_asker *asker = lk_asker_find (proxy, app);
    lk_set *set = asker ? asker->sets : NULL;
    while (set) {
        lk_set *next = set->next;
        let_go (proxy, set);
        set = next;
    }
}

void
lk_set_given_back (lk_proxy *proxy, lk_asked *member)
{
    lk_set *self = member->set;
    self->member[member->place] = NULL;
    lk_asked_remove (proxy, member);
    self->left--;
    if (self->left == 0) {
        if (self->tell_unlocked) {
            lk_set_tell (proxy, self, LK_ANSWER_UNLOCKED,
                         self->late ? LK_LATE : LK_OK);
        }
        lk_set_destroy (proxy, self);
    }
}

/*  -------------------------------------------------------- time */

static void
expire (lk_proxy *proxy, lk_set *self)
{
    switch (self->state) {
    case LK_SET_WAITING:
        lk_set_failed (proxy, self, LK_TIMEDOUT, (lk_name) {0});
        break;
    case LK_SET_RESUMING:
        end (proxy, self, LK_DISCONNECTED, (lk_name) {0},
             lk_stopping_ms (proxy->core));
        break;
    case LK_SET_HELD:
        end (proxy, self, LK_TIMEDOUT, (lk_name) {0},
             lk_grace_ms (proxy->core, self->duration_ms));
        break;
    case LK_SET_ENDED:
        self->late = self->error == LK_TIMEDOUT;
        give_back (proxy, self);
        break;
    case LK_SET_CLOSING:
        break;
    }
}

void
lk_sets_expire (lk_proxy *proxy)
{
    lk_set *set;
    while ((set = lk_heap_due (&proxy->set_ends, proxy->core->now_ms))) {
        expire (proxy, set);
    }
}

/*  -------------------------------------------------------- sessions */

void
lk_sets_tell_end (lk_proxy *proxy, lk_err error)
{
    for (lk_set *set = proxy->sets; set; set = set->hh.next) {
        if (is_held (set)
            || (set->state == LK_SET_CLOSING && set->tell_unlocked)) {
            lk_set_tell (proxy, set, LK_ANSWER_UNLOCKED, error);
        }
    }
}

/*  From its first name on, whatever it held of it: that is gone.
 *  Protocol 9.12. */
static void
begin_anew (lk_proxy *proxy, lk_set *self)
{
    self->held = 0;
    self->asked = 0;
    lk_set_forget_early (self);
    for (size_t i = 0; i < self->count; i++) {
        lk_asked *member = self->member[i];
        lk_asked_renumber (proxy, member);
        lk_asked_enter (proxy, member,
                        i == 0 ? LK_ASKED_WAITING : LK_ASKED_LATER);
    }
}

static void
forget (lk_proxy *proxy, lk_set *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i]) {
            lk_asked_remove (proxy, self->member[i]);
        }
    }
    lk_set_destroy (proxy, self);
}

void
lk_sets_carry_over (lk_proxy *proxy)
{
    lk_set *set;
    lk_set *next;
    for (set = proxy->sets; set; set = next) {
        next = set->hh.next;
        if (set->state == LK_SET_WAITING) {
            begin_anew (proxy, set);
        } else {
            forget (proxy, set);
        }
    }
}

void
lk_sets_in_danger (lk_proxy *proxy)
{
    for (lk_set *set = proxy->sets; set; set = set->hh.next) {
        lk_set_look_for_danger (proxy, set);
    }
}

void
lk_sets_leave (lk_proxy *proxy)
{
    for (lk_set *set = proxy->sets; set; set = set->hh.next) {
        if (is_held (set)) {
            end (proxy, set, LK_SHUTDOWN, (lk_name) {0}, 0);
        } else if (set->state == LK_SET_WAITING) {
            lk_set_failed (proxy, set, LK_SHUTDOWN, (lk_name) {0});
        }
    }
}
