/*  checker_closing.c - the judge: when a session is called closed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Homes give away at once what a closed session had. So none is called so
 *  before each holder in it, and in those before it, could stop: a quarter of a
 *  host lease after its lease was over, or after its service ended it itself,
 *  unless nobody holds anything of it any more. lockkeeper-protocol(7), 9.14.
 */

#include "checker.h"

#include <string.h>

/*  The latest of them. */
static sim_session *
find (sim_service *service, uint64_t session)
{
    sim_session *oldest = &service->sessions[0];

    for (size_t i = 0; i < SIM_SESSIONS_MAX; i++) {
        sim_session *it = &service->sessions[i];
        if (it->number == session) {
            return it;
        }
        if (it->number < oldest->number) {
            oldest = it;
        }
    }
    *oldest = (sim_session) {.number = session};
    return oldest;
}

void
sim_checker_note_lease (sim_checker *self, uint8_t host, uint64_t session,
                        int64_t until)
{
    sim_session *it = find (&self->service[host], session);

    if (until > self->now) {
        it->ends_at = until;
    } else if (it->ends_at > self->now) {
        it->ends_at = self->now;
        it->ended = true;
    }
}

void
sim_checker_forget_sessions (sim_checker *self, uint8_t host)
{
    memset (self->service[host].sessions, 0,
            sizeof self->service[host].sessions);
}

static bool
is_at_work (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        const sim_work *work = &self->work[i];
        if (work->who.host == host && self->now < work->until
            && !sim_work_ousted (self, work)) {
            return true;
        }
    }
    return false;
}

void
sim_checker_closes (sim_checker *self, uint8_t host, uint64_t closed)
{
    const sim_service *service = &self->service[host];

    for (size_t i = 0; i < SIM_SESSIONS_MAX; i++) {
        const sim_session *it = &service->sessions[i];
        if (it->ends_at != 0 && it->number <= closed
            && self->now < it->ends_at + self->stopping_ms
            && (!it->ended || is_at_work (self, host))) {
            sim_checker_fail (
                self,
                "CLOSED: h%d calls session %llu closed, whose holders "
                "have %lld ms more to stop",
                host, (unsigned long long) it->number,
                (long long) (it->ends_at + self->stopping_ms - self->now));
        }
    }
}
