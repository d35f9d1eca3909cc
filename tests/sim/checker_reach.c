/*  checker_reach.c - the judge: who hears whom
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A lenient static lock whose time is over is its holder's as long as some
 *  leader hears that one's host: lockkeeper-protocol(7), Granting. What counts
 *  is what the lock's home knows of that.
 */

#include "checker.h"

#include "util/hash.h"

void
sim_checker_heard (sim_checker *self, uint8_t host,
                   const lk_lock_message *message)
{
    sim_hearing *hearing = &self->service[host].hears[message->from];

    if (message->kind == LK_MSG_PING
        && (message->as.ping.incarnation != hearing->incarnation
            || message->as.ping.at > hearing->at)) {
        hearing->incarnation = message->as.ping.incarnation;
        hearing->at = message->as.ping.at;
        hearing->sees = message->as.ping.sees;
    }
    hearing->last = self->now;
}

void
sim_checker_forgotten (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < SIM_HOSTS_MAX; i++) {
        self->service[i].hears[host] = (sim_hearing) {.last = 0};
    }
}

uint8_t
sim_checker_home (const sim_checker *self, lk_name object)
{
    const lk_decree *decree = sim_checker_latest (self);

    return decree
        ->leader[lk_hash64 (object.data, object.size) % decree->leader_count];
}

static bool
hears (const sim_checker *self, uint8_t host, uint8_t other)
{
    return host == other
           || self->now - self->service[host].hears[other].last
                  < self->silent_ms;
}

bool
sim_checker_is_silent (const sim_checker *self, uint8_t object, uint8_t host)
{
    const lk_decree *decree = sim_checker_latest (self);
    const sim_object *named = &self->object[object];
    uint8_t home;

    if (self->silent_ms == 0 || !decree) {
        return false;
    }
    home = sim_checker_home (
        self, (lk_name) {.data = named->name, .size = named->size});
    for (size_t place = 0; place < decree->leader_count; place++) {
        uint8_t leader = decree->leader[place];
        if (leader != home && hears (self, home, leader)
            && self->service[home].hears[leader].sees >> host & 1) {
            return false;
        }
    }
    return !hears (self, home, host);
}
