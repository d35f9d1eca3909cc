/*  checker_holders.c - the judge: who may have what he was told that he has
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  protocol 9.16.1, 9.16.2, 9.16.5, and the end of 9.16.3, as far as
 *  applications see them: a claim that was just told LOCKED, or that it is of a
 *  stronger type now, next to all others.
 */

#include "checker.h"

#include "lib/grant_model.h"

#define OUST_MS 60000 /* an operator's word may take as long to be heard */

/*  -------------------------------------------------------- together */

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

/*  protocol 9.16.1: nobody else may have it who does not go together with this
 *  one, nor have let his time go by so shortly before that he may not have seen
 *  it. */
static void
check_together (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other == claim || other->object != claim->object || !other->held
            || lk_model_agree (claim->mode.type, other->mode.type)) {
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

/*  protocol 9.16.1, for units. Who is told first may have been granted last. */
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

bool
sim_claim_may_be_over (const sim_checker *self, const sim_claim *claim)
{
    return self->looks_seldom && claim->duration_ms > 0
           && self->now - claim->queued_seen >= claim->duration_ms;
}

/*  That of a remote one is that of a host which carries it. */
static bool
has_session (const sim_checker *self, const sim_claim *claim)
{
    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        if ((claim->carriers >> host & 1)
            && self->now >= self->service[host].lease_until) {
            return false;
        }
    }
    return claim->queued_session == self->service[claim->who.host].session
           && self->now < self->service[claim->who.host].lease_until;
}

/*  protocol 9.16.5, as applications see it: who was in the tables of all
 *  leaders when this one asked goes first, through all failovers that one of
 *  the leaders survives. Of two that go together either may be told first; who
 *  had it taken away at once before it was told queues again. */
static void
check_not_passed (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other->object == claim->object && !other->held && !other->answered
            && other->queued_at > 0 && other->queued_at < claim->waits_since
            && has_session (self, other) && !sim_claim_may_be_over (self, other)
            && !sim_claim_ousted (self, other)
            && !lk_model_may_pass (&claim->mode, &other->mode)
            && !lk_model_agree (claim->mode.type, other->mode.type)) {
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

    if (since < claim->waits_since) {
        since = claim->waits_since;
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

/*  protocol 9.16.2: of those that exclude each other, who is told later was
 *  granted later; but for one that was taken away at once. */
void
sim_claim_check_token (sim_checker *self, const sim_claim *claim)
{
    sim_object *object = &self->object[claim->object];

    for (int type = 0; type < LK_LOCK_TYPE_COUNT; type++) {
        if (!lk_model_agree (claim->mode.type, (lk_lock_type) type)
            && !sim_claim_ousted (self, claim)
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

/*  The end of protocol 9.16.3: an operation begun after a later decree was in
 *  force is never told. */
void
sim_claim_check_term (sim_checker *self, const sim_claim *claim,
                      int64_t asked_at)
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

bool
sim_work_ousted (sim_checker *self, const sim_work *work)
{
    const sim_claim *claim = sim_checker_claim (self, work->who, work->object);
    const int64_t at = self->object[work->object].ousted_at;

    return (claim && claim->ousted_at > 0)
           || (at > 0 && at + OUST_MS > self->now);
}

static void
check_no_work (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        const sim_work *work = &self->work[i];
        if (work->object == claim->object && self->now < work->until
            && !lk_model_agree (work->type, claim->mode.type)
            && !same_app (work->who, claim->who)
            && !sim_work_ousted (self, work)) {
            sim_checker_fail (self,
                              "STILL WORKING: %s given to h%d, and a child on "
                              "h%d works under it for %lld ms more",
                              sim_checker_title (self, claim->object),
                              claim->who.host, work->who.host,
                              (long long) (work->until - self->now));
        }
    }
}

/*  -------------------------------------------------------- all */

void
sim_claim_check_alone (sim_checker *self, const sim_claim *claim)
{
    check_together (self, claim);
    check_no_work (self, claim);
}

void
sim_claim_check_turn (sim_checker *self, const sim_claim *claim)
{
    check_units (self, claim->object);
    check_not_passed (self, claim);
    check_quiet (self, claim);
}
