/*  checker_told.c - the judge: what applications were told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCKED, of a new lock, of a set, or of a held one that is of another type
 *  now; and that a change of type, or a try, has failed. Whether its holder may
 *  have it is asked in checker_holders.c.
 */

#include "checker.h"

#include "lib/grant_model.h"

#define RECENT_MS 2500 /* until what ended is free for others, in the calm */
#define RIVAL_MS 60000 /* ... at any time */

/*  -------------------------------------------------------- LOCKED */

/*  Whether that is its token: a change of type may have been granted though its
 *  application ended before it heard of that, or was told that it failed. */
static bool
fits_token (const sim_claim *former, uint64_t token)
{
    return token == former->token
           || (former->asked_turn > 0 && token > former->token);
}

/*  The lock that lingered, and is this one's now; NULL. */
static sim_claim *
find_heritage (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *other = &self->claim[i];
        if (other->object == claim->object && other->lingers_until > 0
            && other->key == claim->heir_of && other->key == claim->key
            && fits_token (other, claim->token)) {
            return other;
        }
    }
    return NULL;
}

static void
check_answer (sim_checker *self, const sim_claim *claim, const sim_grant *grant)
{
    if (self->now >= grant->lease_until && !claim->mode.is_static) {
        sim_checker_fail (self, "LOCKED on h%d, which has no lease",
                          claim->who.host);
    }
    if (self->now > claim->wait_until) {
        sim_checker_fail (self,
                          "LOCKED for request %llu of h%d, %lld ms "
                          "after it should have timed out",
                          (unsigned long long) claim->who.serial,
                          claim->who.host,
                          (long long) (self->now - claim->wait_until));
    }
    if (grant->type != claim->mode.type
        || (grant->type == LK_EXCLUSIVE && grant->ordinal > 1)
        || (grant->type == LK_SEMAPHORE && claim->mode.limit > 0
            && !claim->heir_of && grant->ordinal > claim->mode.limit)) {
        sim_checker_fail (self,
                          "LOCKED for request %llu of h%d as type %d, ordinal "
                          "%u, asked for as type %d, limit %u",
                          (unsigned long long) claim->who.serial,
                          claim->who.host, (int) grant->type, grant->ordinal,
                          (int) claim->mode.type, claim->mode.limit);
    }
}

/*  The soonest end that may be told. Its home counts from the grant on, by a
 *  clock that may be wrong as well, and tells it as of when it heard of the
 *  host: at most a host lease ago. */
static int64_t
soonest_end (const sim_checker *self, const sim_claim *claim)
{
    int64_t lease_ms = 5 * self->stopping_ms;

    return claim->asked_at + claim->duration_ms - lease_ms - 2;
}

static void
check_until (sim_checker *self, const sim_claim *claim, int64_t until)
{
    int64_t most_ms = claim->duration_ms + claim->duration_ms / 4 + 2;

    if (!claim->described || claim->mode.lenient || claim->heir_of) {
        return;
    }
    if (claim->duration_ms == 0 ? until != SIM_FOREVER
                                : until < soonest_end (self, claim)
                                      || until > self->now + most_ms) {
        sim_checker_fail (
            self,
            "LEFT: request %llu of h%d is told %lld ms, asked for "
            "%lld ms ago for %lld or a fifth more",
            (unsigned long long) claim->who.serial, claim->who.host,
            (long long) (until - self->now),
            (long long) (self->now - claim->asked_at),
            (long long) claim->duration_ms);
    }
}

/*  ... as the leaders' tables have it. */
static void
compare_told (sim_checker *self, const sim_claim *claim, const sim_grant *grant)
{
    sim_said_told (self, &(sim_telling) {.key = grant->key,
                                         .token = grant->token,
                                         .type = grant->type,
                                         .ordinal = grant->ordinal,
                                         .any_turn = true,
                                         .kept = claim->mode.is_static,
                                         .weaker = claim->asked_turn > 0});
}

static void
note_grant (sim_checker *self, sim_claim *claim, const sim_grant *grant)
{
    sim_claim *former;

    check_answer (self, claim, grant);
    check_until (self, claim, grant->until);
    compare_told (self, claim, grant);
    claim->held = true;
    claim->held_at = self->now;
    claim->kept = claim->mode.is_static;
    claim->process = grant->process;
    claim->session = grant->session;
    claim->lease_until = grant->lease_until;
    claim->token = grant->token;
    claim->key = grant->key;
    claim->until = grant->until;
    claim->ordinal = grant->ordinal;
    claim->told_type = grant->type;
    self->grants++;
    self->service[claim->who.host].grants++;
    former = claim->heir_of ? find_heritage (self, claim) : NULL;
    if (former) {
        if (claim->token != former->token) {
            sim_claim_check_token (self, claim);
        }
        claim->mode = former->mode; /* it is the same ticket */
        claim->held_at = former->held_at;
        claim->key_used_at = former->key_used_at; /* somebody may be asking */
        claim->duration_ms =
            former->duration_ms == 0
                ? 0
                : former->asked_at + former->duration_ms - claim->asked_at;
        *former = *claim;
        *claim = self->claim[--self->claim_count];
        return;
    }
    sim_claim_check_token (self, claim);
    sim_claim_check_term (self, claim, claim->asked_at);
    sim_claim_check_alone (self, claim);
    sim_claim_check_turn (self, claim);
    self->object[claim->object].idle_since = 0;
}

/*  It was given up for a while, and its home has not heard of that: nothing was
 *  granted meanwhile, and the token is that of the grant that still stands, of
 *  a former term maybe. */
static bool
is_still_exclusive (const sim_object *object, const sim_claim *claim,
                    const sim_grant *grant)
{
    return grant->token == claim->token
           && object->last_token[LK_EXCLUSIVE] == grant->token
           && object->last_token[LK_SHARED] < grant->token
           && object->last_token[LK_SEMAPHORE] < grant->token;
}

/*  It waited for the others that hold the object until now. */
static void
note_turn (sim_checker *self, sim_claim *claim, uint32_t turn)
{
    claim->turn = turn;
    self->object[claim->object].wanted_at = self->now;
}

/*  LOCKED of what is held: the same once more, or the change of type that was
 *  asked for last. An older one may still be under way. */
static void
note_again (sim_checker *self, sim_claim *claim, const sim_grant *grant)
{
    bool changes =
        claim->asked_turn != claim->turn && grant->turn == claim->asked_turn;

    compare_told (self, claim, grant);
    if (grant->key != claim->key
        || (!changes && grant->turn == claim->turn
            && grant->token != claim->token)) {
        sim_checker_fail (self,
                          "LOCKED twice for request %llu of h%d, "
                          "not with the same token and key",
                          (unsigned long long) claim->who.serial,
                          claim->who.host);
    }
    if (!changes) {
        return;
    }
    if (grant->type != claim->asked_type || grant->token < claim->token) {
        sim_checker_fail (
            self,
            "CHANGED: request %llu of h%d is type %d, token "
            "%llx, was to be type %d, had token %llx",
            (unsigned long long) claim->who.serial, claim->who.host,
            (int) grant->type, (unsigned long long) grant->token,
            (int) claim->asked_type, (unsigned long long) claim->token);
    }
    sim_checker_note_past (self, claim, claim->told_type);
    note_turn (self, claim, grant->turn);
    claim->ordinal = grant->ordinal;
    claim->told_type = grant->type;
    if (grant->type == LK_SHARED) {
        claim->upgrades_at = 0;
    }
    if (grant->type == LK_EXCLUSIVE && claim->mode.type != LK_EXCLUSIVE) {
        sim_object *object = &self->object[claim->object];
        if (object->shared_at < claim->upgrades_at) {
            object->shared_at = claim->upgrades_at;
        }
        claim->mode.type = LK_EXCLUSIVE;
        if (!is_still_exclusive (object, claim, grant)) {
            claim->token = grant->token;
            sim_claim_check_token (self, claim);
            sim_claim_check_term (self, claim, claim->upgrades_at);
        }
        sim_claim_check_alone (self, claim);
    }
    claim->token = grant->token;
}

void
sim_checker_granted_all (sim_checker *self, sim_who who,
                         const sim_grant *grants, size_t count)
{
    sim_claim *claim = NULL;
    size_t open = 0;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        open++;
    }
    /*  protocol 9.16.8 */
    if (open != count) {
        sim_checker_fail (self,
                          "LOCKED for request %llu of h%d: %zu locks, open "
                          "are %zu",
                          (unsigned long long) who.serial, who.host, count,
                          open);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t object = SIM_ANY_OBJECT;
        if (grants[i].object.size > 0) {
            object = sim_checker_object (self, grants[i].object);
        }
        claim = sim_checker_claim (self, who, object);
        if (!claim || (count > 1 && object == SIM_ANY_OBJECT)) {
            sim_checker_fail (self, "LOCKED of a set names another object");
        } else if (claim->held) {
            note_again (self, claim, &grants[i]);
        } else {
            note_grant (self, claim, &grants[i]);
        }
    }
}

void
sim_checker_granted (sim_checker *self, sim_who who, const sim_grant *grant)
{
    sim_checker_granted_all (self, who, grant, 1);
}

void
sim_checker_resumed (sim_checker *self, sim_who who, const sim_grant *grant)
{
    const uint8_t object = grant->object.size > 0
                               ? sim_checker_object (self, grant->object)
                               : SIM_ANY_OBJECT;
    sim_claim *claim = sim_checker_claim (self, who, object);

    if (!claim || !claim->held || grant->key != claim->key
        || (grant->token != claim->token && claim->asked_turn == 0)
        || grant->token < claim->token || grant->type != claim->mode.type) {
        sim_checker_fail (self,
                          "RESUMED: request %llu of h%d, token %llx, which is "
                          "not what it held",
                          (unsigned long long) who.serial, who.host,
                          (unsigned long long) grant->token);
        return;
    }
    if (!sim_claim_acts (self, claim) || self->now >= grant->lease_until) {
        sim_checker_fail (self, "RESUMED: request %llu of h%d, which was over",
                          (unsigned long long) who.serial, who.host);
    }
    check_until (self, claim, grant->until);
    compare_told (self, claim, grant);
    claim->process = grant->process;
    claim->resumed = true;
    claim->session = grant->session;
    claim->lease_until = grant->lease_until;
    claim->token = grant->token;
    claim->until = grant->until;
    claim->told_type = grant->type;
    sim_claim_check_alone (self, claim);
}

/*  LOCKED might have said so of any end that is not too soon. The time of a set
 *  no home counts. */
void
sim_checker_resumed_late (sim_checker *self, sim_who who)
{
    sim_claim *claim = sim_checker_next_claim (self, who, NULL);
    int64_t end;

    if (!claim || sim_checker_next_claim (self, who, claim)
        || claim->duration_ms == 0 || claim->mode.lenient) {
        return;
    }
    end = claim->heir_of ? self->now : soonest_end (self, claim);
    if (end < self->now) {
        end = self->now;
    }
    if (claim->until > end) {
        claim->until = end;
    }
}

/*  A reclaim knows nothing of what was not resumed yet. */
void
sim_checker_not_resumed (sim_checker *self, sim_who who)
{
    const sim_claim *claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);

    if (claim && sim_claim_believed (self, claim)
        && !sim_claim_taken (self, claim)
        && self->reclaimed_at < claim->held_at) {
        sim_checker_fail (self,
                          "NOT RESUMED: request %llu of h%d, token %llx, "
                          "though it is held",
                          (unsigned long long) who.serial, who.host,
                          (unsigned long long) claim->token);
    }
}

void
sim_checker_locked (sim_checker *self, sim_who who, uint64_t token,
                    uint64_t key, int64_t until)
{
    const sim_service *service = &self->service[who.host];
    const sim_claim *claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);

    sim_checker_granted (
        self, who,
        &(sim_grant) {.token = token,
                      .key = key,
                      .type = claim ? claim->mode.type : LK_EXCLUSIVE,
                      .turn = claim ? claim->turn : 0,
                      .until = until,
                      .process = service->process,
                      .session = service->session,
                      .lease_until = service->lease_until});
}

/*  -------------------------------------------------------- types */

void
sim_checker_changes (sim_checker *self, sim_who who, lk_lock_type type,
                     uint32_t turn)
{
    sim_claim *claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);

    if (claim) {
        claim->asked_type = type;
        claim->asked_turn = turn;
        claim->changes_at = self->now;
        if (type == LK_SHARED) {
            claim->mode.type = type;
        } else if (claim->upgrades_at == 0) {
            claim->upgrades_at = self->now;
        }
    }
}

/*  Whether another ticket of the object waits to be exclusive in some leader's
 *  table, or did not long ago. Its application may be gone since long. */
static bool
has_rival_in_tables (const sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < 2; i++) {
        const sim_rival *rival = &self->object[claim->object].rival[i];
        if (rival->seen_at > 0 && rival->key != claim->key
            && self->now - rival->seen_at < RIVAL_MS) {
            return true;
        }
    }
    return false;
}

/*  Whether another holder of the object waited to be exclusive, or may have,
 *  since then. */
static bool
has_rival (const sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other != claim && other->object == claim->object
            && other->asked_turn > 0) {
            return true;
        }
    }
    for (size_t i = 0; i < SIM_PAST_MAX; i++) {
        const sim_past *past = &self->object[claim->object].past[i];
        if (past->changed && self->now - past->at < RIVAL_MS) {
            return true;
        }
    }
    return has_rival_in_tables (self, claim);
}

void
sim_checker_unchanged (sim_checker *self, sim_who who, uint32_t turn,
                       lk_err error)
{
    sim_claim *claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);

    if (!claim || claim->asked_turn != turn) {
        return;
    }
    if (error == LK_DEADLOCK && !has_rival (self, claim)) {
        sim_checker_fail (self,
                          "DEADLOCK told to request %llu of h%d, which is the "
                          "only one that is to be exclusive",
                          (unsigned long long) who.serial, who.host);
    }
    note_turn (self, claim, turn);
}

/*  -------------------------------------------------------- full */

static bool
is_recent (const sim_checker *self, const sim_past *past)
{
    return past->at > 0 && self->now - past->at < RECENT_MS;
}

/*  Whether it waited at some time since the claim was asked for: nobody passes
 *  it then. */
static bool
has_waited (const sim_claim *self, const sim_claim *claim)
{
    return !self->held || self->asked_turn != self->turn
           || self->held_at >= claim->asked_at;
}

/*  Others that may be in the way of a claim, at most; SIZE_MAX if somebody
 *  waits, which says nothing. */
static size_t
count_others (const sim_checker *self, const sim_claim *claim)
{
    const sim_object *object = &self->object[claim->object];
    size_t count = 0;

    if (self->now < object->lingers_until) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other->object != claim->object || other == claim) {
            continue;
        }
        if (has_waited (other, claim)
            || !lk_model_agree (other->mode.type, claim->mode.type)) {
            return SIZE_MAX;
        }
        count++;
    }
    for (size_t i = 0; i < SIM_PAST_MAX; i++) {
        const sim_past *past = &object->past[i];
        if (!is_recent (self, past)) {
            continue;
        }
        if (!past->held || past->changed /* and may have waited for it */
            || !lk_model_agree (past->type, claim->mode.type)) {
            return SIZE_MAX;
        }
        count++;
    }
    return count;
}

static uint32_t
at_most (uint32_t limit, uint32_t other)
{
    return other > 0 && other < limit ? other : limit;
}

/*  The least that may count, be it the bound of somebody else; 0: that is not
 *  known, since a holder's ticket was not seen in a table yet, and may have a
 *  bound of one that is gone. Protocol 9.10: Bound. */
static uint32_t
least_limit (const sim_checker *self, const sim_claim *claim)
{
    const sim_object *object = &self->object[claim->object];
    uint32_t limit = at_most (UINT32_MAX, claim->mode.limit);

    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other->object == claim->object && other->held
            && other->found == 0) {
            return 0;
        }
        if (other->object == claim->object) {
            limit = at_most (limit, other->mode.bound);
            limit = at_most (limit, other->stored_bound);
        }
    }
    for (size_t i = 0; i < SIM_PAST_MAX; i++) {
        if (is_recent (self, &object->past[i])) {
            limit = at_most (limit, object->past[i].bound);
        }
    }
    return limit;
}

/*  What is free for all is not refused: no unit is ever lost. */
void
sim_checker_full (sim_checker *self, sim_who who)
{
    const sim_claim *claim = NULL;

    while (self->settled_at > 0
           && (claim = sim_checker_next_claim (self, who, claim))) {
        size_t others = count_others (self, claim);
        if (others == SIZE_MAX || claim->mode.quiet_ms > 0) {
            return;
        }
        if (claim->mode.type == LK_SEMAPHORE
            && others >= least_limit (self, claim)) {
            return;
        }
        if (self->now - claim->asked_at > RECENT_MS) {
            return;
        }
    }
    claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);
    if (self->settled_at > 0 && claim) {
        sim_checker_fail (self,
                          "FULL: request %llu of h%d for %s was refused, "
                          "though nobody is in its way",
                          (unsigned long long) who.serial, who.host,
                          sim_checker_title (self, claim->object));
    }
}
