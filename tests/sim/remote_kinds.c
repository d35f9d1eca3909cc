/*  remote_kinds.c - applications on other machines: locks of every kind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Sets, static locks, durations, what lingers, and changes of type; and what
 *  the judge hears of all that.
 */

#include "world.h"

#define SUPERSEDES 300 /* changes in a thousand, of those that are open */

/*  -------------------------------------------------------- wishes */

static void
wish_special (sim_world *world, sim_want *want)
{
    switch (sim_between (world, 0, 4)) {
    case 0:
    case 1:
        want->count = (size_t) sim_between (world, 2, SIM_REMOTE_SET_MAX);
        break;
    case 2:
        want->is_static = true;
        break;
    case 3:
        want->duration_ms = sim_between (world, 500, 9000);
        break;
    default:
        want->linger_ms = sim_between (world, 100, 3000);
        break;
    }
}

void
sim_remote_wish (sim_world *world, const sim_remote *self, uint8_t object,
                 sim_want *want)
{
    const sim_remote_habits *habits = &world->remotes.habits;

    (void) self;
    *want = (sim_want) {
        .type = sim_chance (world, habits->shared) ? LK_SHARED : LK_EXCLUSIVE,
        .count = 1,
        .until = SIM_FOREVER};
    if (sim_chance (world, habits->special)) {
        wish_special (world, want);
    }
    for (size_t i = 0; i < want->count; i++) {
        want->object[i] = (uint8_t) ((object + i) % SIM_OBJECTS);
    }
}

/*  -------------------------------------------------------- changes of type */

/*  A change sometimes takes the place of another one. */
bool
sim_remote_changes (sim_world *world, sim_remote *self, sim_want *want)
{
    const sim_who who = sim_remote_who (world, self, want);
    uint32_t turn;

    if (want->count > 1
        || (want->lock->turn != 0 && !sim_chance (world, SUPERSEDES))
        || !sim_chance (world, world->remotes.habits.change)) {
        return false;
    }
    want->asked_type = want->type == LK_SHARED ? LK_EXCLUSIVE : LK_SHARED;
    want->turn_wait_ms =
        want->asked_type == LK_EXCLUSIVE && sim_chance (world, 400)
            ? sim_between (world, 0, 2000)
            : -1;
    turn = lk_roam_turn (self->roam, want->lock,
                         sim_remote_clock (world, world->remotes.acting));
    if (turn == 0) {
        return false;
    }
    world->totals.changes++;
    sim_tell (world, -1, "remote %u wants serial %llu %s, turn %u", self->life,
              (unsigned long long) want->serial,
              want->asked_type == LK_SHARED ? "shared" : "exclusive", turn);
    sim_checker_changes (&world->checker, who, want->asked_type, turn);
    if (want->asked_type == LK_SHARED) {
        want->type = LK_SHARED;
    }
    return true;
}

/*  -------------------------------------------------------- the judge */

sim_grant
sim_remote_grant (const sim_world *world, const sim_remote *self,
                  const sim_want *want, size_t place)
{
    const lk_roam_lock *lock = want->lock;
    const bool set = want->count > 1;

    (void) world;
    return (sim_grant) {.object = sim_object_name (want->object[place]),
                        .token = set ? want->held[place].token : lock->token,
                        .key = set ? want->held[place].key : lock->key,
                        .type = want->type,
                        .until = sim_remote_true_time (self, lock->ends_ms),
                        .session = lock->told_by,
                        .lease_until = SIM_FOREVER};
}

/*  In the order of its own, whatever that of the letter is. */
static void
note_held (const sim_world *world, sim_want *want)
{
    const sim_mail *heard = world->remotes.heard;

    for (size_t i = 0; i < want->count && want->count > 1; i++) {
        for (size_t j = 0; j < heard->want.count; j++) {
            if (heard->want.object[j] == want->object[i]) {
                want->held[i] = heard->want.held[j];
            }
        }
    }
}

void
sim_remote_tell_granted (sim_world *world, const sim_remote *self,
                         sim_want *want)
{
    sim_grant grants[SIM_REMOTE_SET_MAX];

    note_held (world, want);
    want->ends_ms = want->lock->ends_ms;
    for (size_t i = 0; i < want->count; i++) {
        grants[i] = sim_remote_grant (world, self, want, i);
    }
    if (want->count > 1) {
        world->totals.sets++;
    }
    sim_checker_granted_all (&world->checker,
                             sim_remote_who (world, self, want), grants,
                             want->count);
    if (want->is_static
        && world->remotes.heard->sent_at <= world->checker.reclaimed_at) {
        sim_checker_unkept (&world->checker,
                            sim_remote_who (world, self, want));
    }
}

void
sim_remote_tell_resumed (sim_world *world, const sim_remote *self,
                         sim_want *want)
{
    note_held (world, want);
    want->ends_ms = want->lock->ends_ms;
    for (size_t i = 0; i < want->count; i++) {
        const sim_grant grant = sim_remote_grant (world, self, want, i);
        sim_checker_resumed (&world->checker,
                             sim_remote_who (world, self, want), &grant);
    }
}

void
sim_remote_tell_turned (sim_world *world, const sim_remote *self,
                        sim_want *want, bool made)
{
    const sim_who who = sim_remote_who (world, self, want);
    const sim_mail *heard = world->remotes.heard;

    if (!want->told) {
        return;
    }
    if (!made) {
        sim_checker_unchanged (&world->checker, who, want->lock->turned,
                               heard ? heard->error : LK_SHUTDOWN);
        return;
    }
    want->type = want->asked_type;
    sim_grant grant = sim_remote_grant (world, self, want, 0);
    grant.turn = want->lock->turned;
    sim_checker_granted (&world->checker, who, &grant);
}

/*  By one who finds its key; or by an operator, when nobody owes it. */
void
sim_remote_leaves (sim_world *world, const sim_remote *self,
                   const sim_want *want)
{
    sim_apps *apps = &world->apps;

    if (!want->lock || !want->is_static || want->lock->state != LK_ROAM_HELD) {
        return;
    }
    if (apps->habits.kinds && apps->left_count < SIM_LEFT_MAX) {
        apps->left[apps->left_count++] =
            (sim_left) {want->object[0], want->lock->key};
    } else {
        sim_checker_ended (&world->checker, sim_remote_who (world, self, want));
    }
}
