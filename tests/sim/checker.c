/*  checker.c - the judge: what applications ask for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Claims, from the request on, and who waits in vain. What they were told is
 *  in checker_told.c, whether they may have it in checker_holders.c, how they
 *  ended in checker_ends.c.
 */

#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINGERED_MS 60000 /* as long as it may matter that it did */
#define FORCE_MS 60000

void
sim_checker_init (sim_checker *self)
{
    memset (self, 0, sizeof *self);
}

void
sim_checker_fail (sim_checker *self, const char *format, ...)
{
    va_list arguments;

    if (self->failure[0]) {
        return;
    }
    va_start (arguments, format);
    vsnprintf (self->failure, sizeof self->failure, format, arguments);
    va_end (arguments);
}

bool
sim_checker_failed (const sim_checker *self)
{
    return self->failure[0] != '\0';
}

/*  -------------------------------------------------------- claims */

sim_claim *
sim_checker_next_claim (sim_checker *self, sim_who who, const sim_claim *claim)
{
    size_t i = claim ? (size_t) (claim - self->claim) + 1 : 0;

    for (; i < self->claim_count; i++) {
        const sim_who *other = &self->claim[i].who;
        if (other->serial == who.serial && other->host == who.host
            && other->app == who.app) {
            return &self->claim[i];
        }
    }
    return NULL;
}

sim_claim *
sim_checker_claim (sim_checker *self, sim_who who, uint8_t object)
{
    sim_claim *claim = NULL;

    do {
        claim = sim_checker_next_claim (self, who, claim);
    } while (claim && claim->object != object && object != SIM_ANY_OBJECT);
    return claim;
}

/*  Until when what lingers is owed to its application; long ago if it does not
 *  linger. What is lenient or taken away may be gone when its application is,
 *  and what has a duration at its end. */
static int64_t
linger_owed_until (const sim_checker *self, const sim_claim *claim)
{
    if (claim->mode.lenient || sim_claim_taken (self, claim)) {
        return claim->lingers_until - claim->linger_ms;
    }
    return claim->lingers_until < claim->until ? claim->lingers_until
                                               : claim->until;
}

/*  Until when its home had it as a shared one, at least. Nobody is told of the
 *  end of what lingers. */
static int64_t
shared_until (const sim_checker *self, const sim_claim *claim)
{
    int64_t end =
        self->now < claim->lease_until ? self->now : claim->lease_until;

    if (claim->until < end && claim->until + claim->grace_ms < end) {
        end = claim->until + claim->grace_ms;
    }
    if (claim->expired && claim->expired_at < end) {
        end = claim->expired_at;
    }
    if (claim->orphan && claim->key_used_at > 0 && claim->key_used_at < end) {
        end = claim->key_used_at; /* who used it is told later */
    }
    if (claim->upgrades_at > 0 && claim->upgrades_at < end) {
        end = claim->upgrades_at;
    }
    if (claim->lingers_until > 0 && linger_owed_until (self, claim) < end) {
        end = linger_owed_until (self, claim);
    }
    return end;
}

void
sim_checker_note_past (sim_checker *self, const sim_claim *claim,
                       lk_lock_type type)
{
    sim_object *object = &self->object[claim->object];

    object->past[object->past_count++ % SIM_PAST_MAX] =
        (sim_past) {.at = self->now,
                    .type = type,
                    .bound = claim->mode.bound,
                    .held = claim->held,
                    .changed = claim->asked_turn > 0};
}

/*  Remembers for a while how it was. What is told of an end may come later
 *  than the end, but not than that of the lease. */
void
sim_checker_drop (sim_checker *self, sim_claim *claim)
{
    sim_object *object = &self->object[claim->object];
    int64_t end = self->now;

    sim_checker_note_past (self, claim, claim->mode.type);
    if (!claim->held || claim->asked_turn != claim->turn) {
        object->wanted_at = end;
    }
    if (claim->held && claim->told_type == LK_SHARED
        && !sim_claim_ousted (self, claim)) {
        end = shared_until (self, claim);
        object->shared_at = end > object->shared_at ? end : object->shared_at;
    }
    *claim = self->claim[--self->claim_count];
}

uint8_t
sim_checker_object (const sim_checker *self, lk_name name)
{
    for (size_t i = 0; i < self->object_count; i++) {
        if (self->object[i].size == name.size
            && memcmp (self->object[i].name, name.data, name.size) == 0) {
            return (uint8_t) i;
        }
    }
    return SIM_ANY_OBJECT;
}

uint8_t
sim_checker_need_object (sim_checker *self, lk_name name)
{
    uint8_t place = sim_checker_object (self, name);
    sim_object *object = &self->object[self->object_count];

    if (place != SIM_ANY_OBJECT) {
        return place;
    }
    if (self->object_count == SIM_OBJECTS_MAX
        || name.size > sizeof object->name) {
        sim_checker_fail (self, "an object that nobody asked for");
        return 0;
    }
    memcpy (object->name, name.data, name.size);
    object->size = name.size;
    return (uint8_t) self->object_count++;
}

const char *
sim_checker_title (const sim_checker *self, uint8_t object)
{
    static char text[sizeof self->object[0].name + 1];
    const sim_object *named = &self->object[object];
    size_t begin = named->size;

    while (begin > 0 && named->name[begin - 1] != '\0') {
        begin--;
    }
    memcpy (text, named->name + begin, named->size - begin);
    text[named->size - begin] = '\0';
    return text;
}

static bool
same_request (const sim_who *a, const sim_who *b)
{
    return a->serial == b->serial && a->host == b->host && a->app == b->app;
}

/*  An operator's word may take as long as that to be heard. */
static bool
was_forced (const sim_checker *self, const sim_claim *claim)
{
    int64_t at = self->object[claim->object].forced_at;

    return at > 0 && at + FORCE_MS > claim->asked_at;
}

/*  Of a set all is gone when one of it is. */
static bool
was_taken (const sim_checker *self, const sim_claim *claim, bool by_force_too)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other != claim
            && !(claim->in_set && same_request (&other->who, &claim->who))) {
            continue;
        }
        if (other->key_used_at > 0
            || (by_force_too && was_forced (self, other))) {
            return true;
        }
    }
    return false;
}

bool
sim_claim_taken (const sim_checker *self, const sim_claim *claim)
{
    return was_taken (self, claim, true);
}

bool
sim_claim_unknown (const sim_checker *self, const sim_claim *claim)
{
    const sim_service *service = &self->service[claim->who.host];

    return claim->orphan || claim->process != service->process
           || claim->session != service->session
           || self->now >= service->lease_until;
}

/*  No lease ends what is static, but somebody may of whom its service cannot
 *  tell it: whoever takes it away where its host is silent does not wait. So
 *  may a reclaim, in which a service that is paused claims nothing before its
 *  lease is over. What an application left behind ends by its key, though the
 *  service of whoever used that ends, and tells nobody. */
static bool
is_in_force (const sim_checker *self, const sim_claim *claim)
{
    if (!claim->kept) {
        return self->now < claim->lease_until
               && !(claim->orphan && was_taken (self, claim, false));
    }
    return !sim_claim_taken (self, claim)
           && !(claim->fragile && sim_claim_unknown (self, claim));
}

/*  Its lock was taken away at once, or that of its set. */
bool
sim_claim_ousted (const sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        const int64_t at = self->object[other->object].ousted_at;
        if ((other == claim
             || (claim->in_set && same_request (&other->who, &claim->who)))
            && (other->ousted_at > 0
                || (at > 0 && at + FORCE_MS > self->now))) {
            return true;
        }
    }
    return false;
}

bool
sim_claim_acts (const sim_checker *self, const sim_claim *claim)
{
    if (!claim->held || claim->expired || claim->lingers_until != 0) {
        return false;
    }
    return claim->reckons
               ? self->now < claim->own_until
               : self->now < claim->until && is_in_force (self, claim);
}

bool
sim_claim_believed (const sim_checker *self, const sim_claim *claim)
{
    return sim_claim_acts (self, claim) && !sim_claim_ousted (self, claim);
}

bool
sim_claim_owed (const sim_checker *self, const sim_claim *claim)
{
    return sim_claim_believed (self, claim)
           || (self->now < linger_owed_until (self, claim)
               && self->now < claim->lease_until);
}

/*  What is static is nobody's to tell of once its session is over: its service
 *  forgets it then, and if a reclaim loses it nobody knows of that. */
bool
sim_claim_untold (const sim_checker *self, const sim_claim *claim)
{
    const sim_service *service = &self->service[claim->who.host];
    bool forgotten = claim->mode.is_static && sim_claim_unknown (self, claim);

    return claim->held && !claim->expired && claim->lingers_until == 0
           && !claim->kept && !forgotten && !sim_claim_believed (self, claim)
           && claim->process == service->process;
}

/*  Forgets what lingered long ago. */
static void
sweep (sim_checker *self)
{
    for (size_t i = self->claim_count; i-- > 0;) {
        const sim_claim *claim = &self->claim[i];
        if (claim->lingers_until > 0
            && self->now > claim->lingers_until + LINGERED_MS) {
            sim_checker_drop (self, &self->claim[i]);
        }
    }
}

/*  Several claims of one request are a set. */
static void
note_set (sim_checker *self, sim_who who)
{
    sim_claim *first = sim_checker_next_claim (self, who, NULL);
    sim_claim *claim = first;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->in_set = first->in_set = true;
    }
}

void
sim_checker_asked (sim_checker *self, sim_who who, lk_name object,
                   int64_t grace_ms)
{
    uint8_t place = sim_checker_need_object (self, object);
    sim_claim *claim = sim_checker_claim (self, who, place);

    sweep (self);
    if (!claim) {
        if (self->claim_count == SIM_CLAIMS_MAX) {
            sim_checker_fail (self, "more claims than the checker can hold");
            return;
        }
        claim = &self->claim[self->claim_count++];
    }
    *claim = (sim_claim) {.who = who,
                          .object = place,
                          .asked_at = self->now,
                          .waits_since = self->now,
                          .wait_until = SIM_FOREVER,
                          .grace_ms = grace_ms};
    note_set (self, who);
}

void
sim_checker_kind (sim_checker *self, sim_who who, const sim_kind *kind)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->described = true;
        claim->mode = kind->mode;
        claim->duration_ms = kind->duration_ms;
        claim->linger_ms = kind->linger_ms;
    }
}

void
sim_checker_waits_since (sim_checker *self, sim_who who, int64_t since)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->waits_since = since;
    }
}

void
sim_checker_inherits (sim_checker *self, sim_who who, uint64_t key)
{
    sim_claim *claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);

    if (claim) {
        claim->heir_of = key;
    }
}

void
sim_checker_persists (sim_checker *self, sim_who who)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->persists = true;
    }
}

void
sim_checker_answered (sim_checker *self, sim_who who)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->answered = true;
    }
}

void
sim_checker_ending (sim_checker *self, sim_who who)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->expired = claim->held;
        claim->expired_at = self->now;
    }
}

void
sim_checker_waits (sim_checker *self, sim_who who, int64_t until)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->wait_until = until;
    }
}

/*  -------------------------------------------------------- waiting */

/*  Whether it is still kept for one who was told that it is taken away or over,
 *  and whose time to stop is not. A quiet time begins when it is free. */
static bool
is_stopping (const sim_checker *self, size_t object)
{
    for (size_t i = 0; i < SIM_HOSTS_MAX; i++) {
        const sim_service *service = &self->service[i];
        if (service->seen_in == self->latest + 1
            && service->of[object].active > 0) {
            return self->now < self->object[object].stopping_until;
        }
    }
    return false;
}

/*  Whether somebody waits for the object and nobody has it, be it as one
 *  whose duration is over, or as a part of a set that waits for another. */
static bool
is_idle (const sim_checker *self, size_t object)
{
    bool wanted = false;

    if (self->now < self->object[object].lingers_until
        || is_stopping (self, object)) {
        return false;
    }

    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *claim = &self->claim[i];
        if (claim->object == object) {
            if (claim->held || claim->in_set) {
                return false;
            }
            wanted |= claim->queued_at > 0 && !claim->answered;
        }
    }
    return wanted;
}

void
sim_checker_idle (sim_checker *self, lk_hosts alive, int64_t ms)
{
    for (size_t i = 0; i < self->object_count; i++) {
        sim_object *object = &self->object[i];
        if (!is_idle (self, i) || !(alive >> object->holder & 1)) {
            object->idle_since = 0;
        } else if (object->idle_since == 0) {
            object->idle_since = self->now;
        } else if (self->now - object->idle_since > ms) {
            sim_checker_fail (self,
                              "IDLE: nobody has %s for %lld ms, though "
                              "somebody waits",
                              sim_checker_title (self, (uint8_t) i),
                              (long long) (self->now - object->idle_since));
        }
    }
}

/*  -------------------------------------------------------- work */

static bool
same_app (sim_who a, sim_who b)
{
    return a.host == b.host && a.app == b.app;
}

void
sim_checker_works (sim_checker *self, sim_who who, lk_name object,
                   lk_lock_type type, int64_t until)
{
    const uint8_t named = sim_checker_need_object (self, object);
    sim_work *place = NULL;

    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        sim_work *work = &self->work[i];
        if (same_app (work->who, who) && work->object == named) {
            place = work;
            break;
        }
        if (work->until <= self->now) {
            place = work;
        }
    }
    if (place) {
        *place = (sim_work) {
            .who = who, .object = named, .type = type, .until = until};
    }
}

void
sim_checker_updated (sim_checker *self, lk_name name, uint64_t value)
{
    sim_object *object = &self->object[sim_checker_need_object (self, name)];

    if (value != object->value + 1) {
        sim_checker_fail (
            self,
            "LOST UPDATE: the register of %s was at %llu, a "
            "writer makes it %llu",
            sim_checker_title (self, (uint8_t) (object - self->object)),
            (unsigned long long) object->value, (unsigned long long) value);
    }
    object->value = value;
}
