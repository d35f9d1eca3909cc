/*  sole.h - a leader that is alone, and hosts that the test plays
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is the only leader of term 7, with the members 1 and 2; hosts 5 and
 *  6 have applications. Whatever it does, nobody else has to acknowledge it.
 *  For one test program each.
 */

#ifndef SOLE_H
#define SOLE_H

#include "core_fake.h"

#define MEMBERS 0x7

static lk_decree decree;

FAKE void
ping_from (lk_host from, uint64_t session, uint64_t closed)
{
    lk_lock_message message = ping_of (from, 0xff);
    message.as.ping.session = session;
    message.as.ping.closed = closed;
    give (from, &message);
}

/*  The members, so that it has its lease, and hosts 5 and 6 in session 3. */
FAKE void
pings (void)
{
    ping_from (1, 1, 0);
    ping_from (5, 3, 0);
    ping_from (6, 3, 0);
}

FAKE void
lead (bool reclaim)
{
    lk_decree genesis = {.members = MEMBERS};
    decree = (lk_decree) {.term = term_of (7, 1),
                          .members = MEMBERS,
                          .leader_count = 1,
                          .reclaim = reclaim};
    start_with ((lk_term) {0, 0}, &genesis);
    lk_lock_message fill = message_of (LK_MSG_FILL, decree.term);
    fill.as.chunk.decree = decree;
    fill.as.chunk.reclaim = reclaim;
    give (1, &fill);
    give_decree (1, LK_MSG_READY, &decree);
    pings ();
    ck_assert (lk_leader_is_serving (lk_node_leader (node))
               && lk_lease_holds (lk_node_leader (node)));
}

FAKE void
set_up (void)
{
    lead (false);
}

/*  -------------------------------------------------------- requests */

FAKE lk_lock_message
request_of (lk_lock_kind kind, lk_host host, uint64_t session, uint64_t serial,
            const char *object)
{
    lk_lock_message message = message_of (kind, decree.term);
    message.as.request.ticket =
        (lk_ticket) {.request = {host, session, serial},
                     .object = {object, (uint16_t) strlen (object)},
                     .owner = {"app@h5", 6}};
    message.as.request.queue = true;
    message.as.request.at = now_ms;
    return message;
}

FAKE const lk_lock_message *
lock (lk_host host, uint64_t serial, const char *object)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, host, 3, serial, object);
    give (host, &message);
    return sent (LK_MSG_LOCKED, host);
}

FAKE const lk_lock_message *
unlock (lk_host host, uint64_t serial, const char *object)
{
    lk_lock_message message =
        request_of (LK_MSG_UNLOCK, host, 3, serial, object);
    give (host, &message);
    return sent (LK_MSG_UNLOCKED, host);
}

/*  Both hosts and a member ping, till then. */
FAKE void
pass (int64_t ms)
{
    const int64_t end = now_ms + ms;
    while (now_ms < end) {
        now_ms += now_ms + 240 < end ? 240 : end - now_ms;
        pings ();
        wait_ms (0);
    }
}

#endif
