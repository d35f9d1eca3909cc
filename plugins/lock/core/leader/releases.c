/*  releases.c - what a home remembers of requests that ended a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "home.h"
#include "leader_private.h"

bool
lk_request_same (lk_request_id a, lk_request_id b)
{
    return a.host == b.host && a.session == b.session && a.serial == b.serial;
}

static const lk_release *
find (const lk_release *kept, lk_request_id by)
{
    for (size_t i = 0; i < LK_RELEASES_KEPT; i++) {
        if (lk_request_same (kept[i].by, by)) {
            return &kept[i];
        }
    }
    return NULL;
}

const lk_release *
lk_home_find_release (const lk_home *self, lk_request_id by)
{
    return find (self->released, by);
}

bool
lk_home_has_refused (const lk_home *self, lk_request_id by)
{
    return find (self->refused, by) != NULL;
}

/*  protocol 9.11 */
const lk_release *
lk_home_note_release (lk_home *self, lk_request_id by, uint64_t up_to)
{
    lk_release *release =
        &self->released[self->released_next++ % LK_RELEASES_KEPT];
    *release = (lk_release) {.by = by, .up_to = up_to};
    return release;
}

void
lk_home_learn_release (lk_leader *lead, const lk_op *op)
{
    lk_home *self = &lead->home;
    const lk_entry *entry;
    if ((op->kind != LK_OP_DROP && op->kind != LK_OP_CONFIRM)
        || op->by.host == LK_NOBODY || lk_home_find_release (self, op->by)) {
        return;
    }
    entry = lk_table_find (&lead->table, op->ticket.request);
    (void) lk_home_note_release (self, op->by, entry ? entry->token : 0);
}

/*  Nobody holds it, says a table of which not all is acknowledged yet: what is
 *  told must not be undone by a takeover. The asker says it again. In a reclaim
 *  a home does not know yet who holds what. Protocol 9.11. */
bool
lk_home_is_certain (lk_leader *lead, lk_request_id by)
{
    lk_home *self = &lead->home;
    const lk_release *refused = find (self->refused, by);
    uint64_t committed =
        lead->table.decree.term.number << 32 | lead->stream.committed;
    if (lk_table_reclaims (&lead->table, lk_leader_place (lead))) {
        return false;
    }
    if (!refused) {
        lk_release *next =
            &self->refused[self->refused_next++ % LK_RELEASES_KEPT];
        *next =
            (lk_release) {.by = by, .up_to = committed + lead->stream.count};
        refused = next;
    }
    return refused->up_to <= committed;
}

/*  Serials follow each other: of one session's requests many have a place. */
static size_t
place_of (lk_request_id request)
{
    return (size_t) (request.serial + request.session * 31 + request.host * 97)
           % LK_ENDED_KEPT;
}

bool
lk_home_has_ended (const lk_home *self, lk_request_id request)
{
    return self->ended
           && lk_request_same (self->ended[place_of (request)], request);
}

/*  protocol 13 */
void
lk_home_note_end (lk_home *self, lk_request_id request)
{
    if (!self->ended) {
        self->ended = lk_alloc (LK_ENDED_KEPT * sizeof *self->ended);
    }
    self->ended[place_of (request)] = request;
}

/*  -------------------------------------------------------- takeovers */

size_t
lk_leader_releases (const lk_leader *lead, lk_release **releases)
{
    const lk_home *home = &lead->home;
    size_t count = 0;
    *releases = lk_arena_alloc (&lead->core->outlet.arena,
                                LK_RELEASES_KEPT * sizeof **releases);
    for (size_t i = 0; i < LK_RELEASES_KEPT; i++) {
        const lk_release *release =
            &home->released[(home->released_next + i) % LK_RELEASES_KEPT];
        if (release->by.host != LK_NOBODY) {
            (*releases)[count++] = *release;
        }
    }
    return count;
}

/*  protocol 9.6 */
void
lk_leader_learn_releases (lk_leader *lead, const lk_release *releases,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (releases[i].by.host < LK_HOSTS_MAX
            && !lk_home_find_release (&lead->home, releases[i].by)) {
            (void) lk_home_note_release (&lead->home, releases[i].by,
                                         releases[i].up_to);
        }
    }
}
