/*  checker_doorway.c - the judge: no decree before its leaders have its table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Told by the messages alone: whoever was sent the last part of a table and
 *  acknowledged it has it. That it forgot it since, by a restart, is no
 *  mistake; nor is the table of the first leader, who gets none from others.
 */

#include "checker.h"

static void
note_fill (sim_checker *self, const lk_lock_message *message)
{
    sim_service *service = &self->service[message->to];

    /*  One who was left behind may still fill for a lower term. */
    if (!message->as.chunk.more
        && sim_term_compare (message->term, service->filling) >= 0) {
        service->filling = message->term;
        service->last_part = message->as.chunk.chunk;
    }
}

static void
note_filled (sim_checker *self, uint8_t host, const lk_lock_message *message)
{
    sim_service *service = &self->service[host];

    if (sim_term_compare (service->filling, message->term) == 0
        && service->last_part == message->as.filled.chunk) {
        service->filled = message->term;
    }
}

static void
check_active (sim_checker *self, const lk_decree *decree)
{
    for (size_t place = 1; place < decree->leader_count; place++) {
        uint8_t host = decree->leader[place];
        if (sim_term_compare (self->service[host].filled, decree->term) != 0) {
            sim_checker_fail (self,
                              "UNFILLED: decree %llu is brought into force, "
                              "its leader h%d never said that it has the table",
                              (unsigned long long) decree->term.number, host);
        }
    }
}

void
sim_checker_doorway (sim_checker *self, uint8_t host,
                     const lk_lock_message *message)
{
    switch (message->kind) {
    case LK_MSG_FILL:
        note_fill (self, message);
        break;
    case LK_MSG_FILLED:
        note_filled (self, host, message);
        break;
    case LK_MSG_ACTIVE:
        check_active (self, &message->as.decree.decree);
        break;
    default:
        break;
    }
}
