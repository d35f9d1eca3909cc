/*  checker_told.c - the judge: what applications were told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Rules 1, 2 and 5, as far as applications see them: LOCKED, of a new lock,
 *  of a set, or of a held one that is of another type now.
 */

#include "checker.h"

#include <string.h>

#define RECENT_MS 2500 /* until what ended is free for others, in the calm */
#define RIVAL_MS 60000 /* ... at any time */

/*  -------------------------------------------------------- together */

bool
sim_types_agree (lk_lock_type a, lk_lock_type b)
{
    return a == b && a != LK_EXCLUSIVE;
}

/*  Whether its end is so recent that its holder may not have seen it. That of
 *  a lenient one is told, and nobody sees it himself. */
static bool
is_in_grace (const sim_checker *self, const sim_claim *claim)
{
    return claim->held && !claim->mode.lenient && claim->until != SIM_FOREVER
           && claim->lingers_until == 0 && !sim_claim_taken (self, claim)
           && (claim->kept || self->now < claim->lease_until)
           && self->now - claim->until < claim->grace_ms;
}

/*  Rule 1: nobody else may have it who does not go together with this one,
 *  nor have let his time go by so shortly before that he may not have seen
 *  it. */
static void
check_together (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other == claim || other->object != claim->object || !other->held
            || sim_types_agree (claim->mode.type, other->mode.type)) {
            continue;
        }
        if (sim_claim_owed (self, other)) {
            sim_checker_fail (
                self,
                "TWO HOLDERS of %s: h%d request %llu token %llx, and now h%d "
                "request %llu token %llx",
                sim_checker_title (self, claim->object), other->who.host,
                (unsigned long long) other->who.serial,
                (unsigned long long) other->token, claim->who.host,
                (unsigned long long) claim->who.serial,
                (unsigned long long) claim->token);
        } else if (is_in_grace (self, other)) {
            sim_checker_fail (
                self,
                "NO GRACE: %s given to h%d, %lld ms after the duration "
                "of h%d",
                sim_checker_title (self, claim->object), claim->who.host,
                (long long) (self->now - other->until), other->who.host);
        }
    }
}

/*  -------------------------------------------------------- units */

/*  As far as it is known: the members of a set are told without ordinals. */
static bool
is_before (const sim_claim *a, const sim_claim *b)
{
    if (a->token != b->token) {
        return a->token < b->token;
    }
    return a->ordinal != 0 && a->ordinal < b->ordinal;
}

/*  Units that were held already when this one was granted, and still are. Its
 *  own bound may be not the one that is stored: the tables show that. */
static void
check_units_before (sim_checker *self, const sim_claim *claim)
{
    uint32_t limit = claim->mode.limit ? claim->mode.limit : UINT32_MAX;
    uint32_t rank = 1;

    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other == claim || other->object != claim->object
            || other->mode.type != claim->mode.type || !other->held
            || !(sim_claim_owed (self, other) || is_in_grace (self, other))) {
            continue;
        }
        rank += is_before (other, claim);
        if (other->token == claim->token && other->ordinal == claim->ordinal
            && claim->ordinal != 0) {
            sim_checker_fail (self, "ORDINAL %u of %s told twice, token %llx",
                              claim->ordinal,
                              sim_checker_title (self, claim->object),
                              (unsigned long long) claim->token);
        }
    }
    if (claim->mode.type == LK_SEMAPHORE && rank > limit) {
        sim_checker_fail (
            self,
            "TOO MANY hold %s: h%d request %llu, limit %u, was "
            "granted when %u others held it",
            sim_checker_title (self, claim->object), claim->who.host,
            (unsigned long long) claim->who.serial, limit, rank - 1);
    }
    if (claim->ordinal != 0 && claim->ordinal < rank) {
        sim_checker_fail (self, "ORDINAL of %s told as %u, but is %u or more",
                          sim_checker_title (self, claim->object),
                          claim->ordinal, rank);
    }
}

/*  Rule 1 for units. Who is told first may have been granted last. */
static void
check_units (sim_checker *self, uint8_t object)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *claim = &self->claim[i];
        if (claim->object == object && sim_claim_believed (self, claim)) {
            check_units_before (self, claim);
        }
    }
}

/*  -------------------------------------------------------- order */

/*  Rule 5, as applications see it: who was in the tables of all leaders when
 *  this one asked goes first, through all failovers that one of the leaders
 *  survives. Of two that go together either may be told first. */
static void
check_not_passed (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        const sim_service *service = &self->service[other->who.host];
        if (other->object == claim->object && !other->held && !other->answered
            && other->queued_at > 0 && other->queued_at < claim->asked_at
            && other->queued_session == service->session
            && self->now < service->lease_until
            && !sim_modes_may_pass (&claim->mode, &other->mode)
            && !sim_types_agree (claim->mode.type, other->mode.type)) {
            sim_checker_fail (
                self,
                "PASSED: %s given to request %llu of h%d, asked "
                "for after request %llu of h%d was in the queue",
                sim_checker_title (self, claim->object),
                (unsigned long long) claim->who.serial, claim->who.host,
                (unsigned long long) other->who.serial, other->who.host);
        }
    }
}

/*  A quiet time by the home's clock, which may be a tenth faster. */
static void
check_quiet (sim_checker *self, const sim_claim *claim)
{
    int64_t since = self->object[claim->object].shared_at;
    int64_t quiet_ms = (int64_t) claim->mode.quiet_ms * 9 / 10;

    if (since < claim->asked_at) {
        since = claim->asked_at;
    }
    if (claim->mode.quiet_ms > 0 && self->now - since < quiet_ms) {
        sim_checker_fail (self,
                          "NOT QUIET: %s given to request %llu of h%d %lld ms "
                          "after it was held shared or asked for",
                          sim_checker_title (self, claim->object),
                          (unsigned long long) claim->who.serial,
                          claim->who.host, (long long) (self->now - since));
    }
}

/*  Rule 2: of those that exclude each other, who is told later was granted
 *  later. */
static void
check_token_grows (sim_checker *self, const sim_claim *claim)
{
    sim_object *object = &self->object[claim->object];

    for (int type = 0; type < LK_LOCK_TYPE_COUNT; type++) {
        if (!sim_types_agree (claim->mode.type, (lk_lock_type) type)
            && claim->token <= object->last_token[type]) {
            sim_checker_fail (self,
                              "TOKEN of %s does not grow: %llx after %llx",
                              sim_checker_title (self, claim->object),
                              (unsigned long long) claim->token,
                              (unsigned long long) object->last_token[type]);
        }
    }
    if (object->last_token[claim->mode.type] < claim->token) {
        object->last_token[claim->mode.type] = claim->token;
    }
}

/*  The last part of rule 3: an operation begun after a later decree was in
 *  force is never told. */
static void
check_term (sim_checker *self, const sim_claim *claim, int64_t asked_at)
{
    for (size_t i = self->known_count; i-- > 0;) {
        const sim_known_decree *known = &self->known[i];
        if (known->in_force && known->in_force_at < asked_at
            && known->decree.term.number > claim->token >> 32) {
            sim_checker_fail (
                self,
                "OLD TERM: %s asked for when decree %llu was in force, "
                "got with token %llx",
                sim_checker_title (self, claim->object),
                (unsigned long long) known->decree.term.number,
                (unsigned long long) claim->token);
            return;
        }
    }
}

static bool
same_app (sim_who a, sim_who b)
{
    return a.host == b.host && a.app == b.app;
}

/*  Whether its lock was taken away, for which nobody waits: also after its
 *  application was told that its time is over. */
static bool
is_taken_from (sim_checker *self, const sim_work *work)
{
    const sim_claim *claim = sim_checker_claim (self, work->who, work->object);

    return claim && sim_claim_taken (self, claim);
}

static void
check_no_work (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        const sim_work *work = &self->work[i];
        if (work->object == claim->object && self->now < work->until
            && !sim_types_agree (work->type, claim->mode.type)
            && !same_app (work->who, claim->who)
            && !is_taken_from (self, work)) {
            sim_checker_fail (self,
                              "STILL WORKING: %s given to h%d, and a child on "
                              "h%d works under it for %lld ms more",
                              sim_checker_title (self, claim->object),
                              claim->who.host, work->who.host,
                              (long long) (work->until - self->now));
        }
    }
}

/*  -------------------------------------------------------- LOCKED */

/*  Whether that is its token: a change of type that was under way when its
 *  application ended may have been granted. */
static bool
fits_token (const sim_claim *former, uint64_t token)
{
    return token == former->token
           || (former->asked_turn != former->turn && token > former->token);
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

static void
note_grant (sim_checker *self, sim_claim *claim, const sim_grant *grant)
{
    sim_claim *former;

    check_answer (self, claim, grant);
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
    former = claim->heir_of ? find_heritage (self, claim) : NULL;
    if (former) {
        if (claim->token != former->token) {
            check_token_grows (self, claim);
        }
        claim->mode = former->mode; /* it is the same ticket */
        claim->held_at = former->held_at;
        claim->key_used = former->key_used; /* somebody may be asking */
        claim->duration_ms =
            former->asked_at + former->duration_ms - claim->asked_at;
        *former = *claim;
        *claim = self->claim[--self->claim_count];
        return;
    }
    check_token_grows (self, claim);
    check_term (self, claim, claim->asked_at);
    check_together (self, claim);
    check_units (self, claim->object);
    check_no_work (self, claim);
    check_not_passed (self, claim);
    check_quiet (self, claim);
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

/*  LOCKED of what is held: the same once more, or the change of type that was
 *  asked for last. An older one may still be under way. */
static void
note_again (sim_checker *self, sim_claim *claim, const sim_grant *grant)
{
    bool changes =
        claim->asked_turn != claim->turn && grant->turn == claim->asked_turn;

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
    claim->turn = grant->turn;
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
            check_token_grows (self, claim);
            check_term (self, claim, claim->upgrades_at);
        }
        check_together (self, claim);
        check_no_work (self, claim);
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
    claim->turn = turn;
}

/*  -------------------------------------------------------- full */

static bool
is_recent (const sim_checker *self, const sim_past *past)
{
    return past->at > 0 && self->now - past->at < RECENT_MS;
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
        if (!other->held
            || !sim_types_agree (other->mode.type, claim->mode.type)
            || other->asked_turn != other->turn) {
            return SIZE_MAX;
        }
        count++;
    }
    for (size_t i = 0; i < SIM_PAST_MAX; i++) {
        const sim_past *past = &object->past[i];
        if (!is_recent (self, past)) {
            continue;
        }
        if (!past->held || !sim_types_agree (past->type, claim->mode.type)) {
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

/*  The least that may count, be it the bound of somebody else. */
static uint32_t
least_limit (const sim_checker *self, const sim_claim *claim)
{
    const sim_object *object = &self->object[claim->object];
    uint32_t limit = at_most (UINT32_MAX, claim->mode.limit);

    for (size_t i = 0; i < self->claim_count; i++) {
        if (self->claim[i].object == claim->object) {
            limit = at_most (limit, self->claim[i].mode.bound);
            limit = at_most (limit, self->claim[i].stored_bound);
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
