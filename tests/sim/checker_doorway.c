/*  checker_doorway.c - the judge: no decree before its leaders have its table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Told by the messages alone: whoever was sent the last part of a table and
 *  acknowledged it has it, and so has who says of an offer that it is its own.
 *  That it forgot it since, by a restart, is no mistake; nor is the table of
 *  the first leader, who gets none from others.
 */

#include "checker.h"
#include "decree.h"

static void
note_fill (sim_checker *self, const lk_lock_message *message)
{
    const lk_msg_chunk *chunk = &message->as.chunk;
    sim_known_decree *known = sim_checker_learn (self, &chunk->decree);

    const int place = lk_decree_place (&chunk->decree, message->to);

    if (known && place >= 0 && !chunk->more && chunk->offer == 0) {
        known->parted[place] = true;
        known->last_part[place] = chunk->chunk;
    }
}

static bool
is_whole (const sim_known_decree *known, uint8_t host,
          const lk_msg_filled *filled)
{
    const int place = lk_decree_place (&known->decree, host);
    if (filled->offer != 0) {
        return filled->hash == filled->offer;
    }
    return place >= 0 && known->parted[place]
           && known->last_part[place] == filled->chunk;
}

static void
note_filled (sim_checker *self, uint8_t host, const lk_lock_message *message)
{
    for (size_t i = self->known_count; i-- > 0;) {
        sim_known_decree *known = &self->known[i];
        if (sim_term_compare (known->decree.term, message->term) == 0
            && is_whole (known, host, &message->as.filled)) {
            known->filled |= LK_HOST_BIT (host);
        }
    }
}

static void
check_active (sim_checker *self, const lk_decree *decree)
{
    const sim_known_decree *known = sim_checker_learn (self, decree);

    for (size_t place = 1; known && place < decree->leader_count; place++) {
        uint8_t host = decree->leader[place];
        if (!(known->filled >> host & 1)) {
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
