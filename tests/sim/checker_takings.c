/*  checker_takings.c - the judge: what an UNLOCK by key or by force was told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A home that says UNLOCKED to one has ended the lock for it. Its proxy may
 *  not hear that, and asks again, maybe another home: which confirms it, and
 *  says neither that nobody holds the lock, nor that the key is another's; but
 *  after a reclaim, when no leader is left who knew, and after a leader forgot
 *  the asker's host. lockkeeper-protocol(7), 9.11.
 */

#include "checker.h"

static sim_taking *
find (sim_checker *self, lk_request_id by)
{
    for (size_t i = 0; i < SIM_TAKINGS_MAX; i++) {
        sim_taking *it = &self->taking[i];
        if (it->by.serial == by.serial && it->by.session == by.session
            && it->by.host == by.host) {
            return it;
        }
    }
    return NULL;
}

static void
note_asked (sim_checker *self, const lk_msg_request *request)
{
    const lk_request_id by = request->ticket.request;

    if ((request->by_key || request->force) && !find (self, by)) {
        self->taking[self->taking_count++ % SIM_TAKINGS_MAX] =
            (sim_taking) {.by = by};
    }
}

static void
note_told (sim_checker *self, uint8_t host, const lk_lock_message *message)
{
    const lk_msg_reply *reply = &message->as.reply;
    sim_taking *taking = find (self, reply->request);

    if (!taking) {
        return;
    }
    if (message->kind == LK_MSG_UNLOCKED) {
        taking->done |= reply->error == LK_OK;
    } else if (taking->done
               && (reply->error == LK_UNKNOWN || reply->error == LK_DENIED)) {
        sim_checker_fail (self,
                          "UNDONE: h%d tells request %llu of h%d %s, which "
                          "was told UNLOCKED",
                          host, (unsigned long long) reply->request.serial,
                          reply->request.host, lk_err_word (reply->error));
    }
}

void
sim_checker_takings (sim_checker *self, uint8_t host,
                     const lk_lock_message *message)
{
    if (message->kind == LK_MSG_UNLOCK) {
        note_asked (self, &message->as.request);
    } else if (message->kind == LK_MSG_UNLOCKED
               || message->kind == LK_MSG_LOCKFAILED) {
        note_told (self, host, message);
    }
}

void
sim_checker_forget_takings (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < SIM_TAKINGS_MAX; i++) {
        if (self->taking[i].by.host == host) {
            self->taking[i] = (sim_taking) {.done = false};
        }
    }
}

void
sim_checker_reclaim_takings (sim_checker *self)
{
    for (size_t i = 0; i < SIM_TAKINGS_MAX; i++) {
        self->taking[i].done = false;
    }
}
