/*  told.c - lets the simulator's checker judge what real applications saw
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/told.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000

void
lk_told_add (lk_told *self, const lk_told_moment *moment)
{
    if (self->count == self->size) {
        self->size = self->size * 2 + 1024;
        self->moment =
            lk_realloc (self->moment, self->size * sizeof *self->moment);
    }
    self->moment[self->count++] = *moment;
}

void
lk_told_clear (lk_told *self)
{
    lk_free (self->moment);
    *self = (lk_told) {.count = 0};
}

/*  By object, then by time; what ends comes first. */
static int
by_object (const void *left, const void *right)
{
    const lk_told_moment *a = left, *b = right;
    const int order = strcmp (a->object, b->object);
    if (order != 0) {
        return order;
    }
    if (a->ns != b->ns) {
        return a->ns < b->ns ? -1 : 1;
    }
    return (b->kind > a->kind) - (b->kind < a->kind);
}

void
lk_told_begin (sim_checker *checker)
{
    const lk_facts facts = {.session = 1};
    sim_checker_init (checker);
    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        sim_checker_facts (checker, host, &facts, true);
        sim_checker_lease (checker, host, 1, SIM_FOREVER);
    }
}

static void
play_one (sim_checker *checker, const lk_told_moment *it)
{
    static const lk_name object = {.data = "object", .size = 6};
    checker->now = it->ns / NS_PER_MS;
    switch (it->kind) {
    case LK_TOLD_ASKED:
        sim_checker_asked (checker, it->who, object, it->grace_ms);
        sim_checker_waits (checker, it->who, it->until_ms);
        break;
    case LK_TOLD_LOCKED:
        sim_checker_locked (checker, it->who, it->token, it->token,
                            it->until_ms);
        break;
    case LK_TOLD_EXPIRED:
        sim_checker_expired (checker, it->who);
        break;
    case LK_TOLD_FAILED:
        sim_checker_waits (checker, it->who, it->until_ms);
        sim_checker_timed_out (checker, it->who);
        break;
    case LK_TOLD_ENDED:
        sim_checker_ended (checker, it->who);
        break;
    }
}

void
lk_told_play (lk_told *self, lk_told_complain *complain, void *data)
{
    sim_checker *checker = lk_alloc (sizeof *checker);
    if (self->count > 0) {
        qsort (self->moment, self->count, sizeof *self->moment, by_object);
    }
    for (size_t i = 0; i < self->count; i++) {
        const lk_told_moment *it = &self->moment[i];
        if (i == 0 || strcmp (it[-1].object, it->object) != 0) {
            lk_told_begin (checker);
        } else if (sim_checker_failed (checker)) {
            continue;
        }
        play_one (checker, it);
        if (sim_checker_failed (checker)) {
            complain (data, it, checker->failure);
        }
    }
    lk_free (checker);
}
