/*  checker.c - the judge: what applications were told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Rules 1, 2, 4 and 6, as far as applications see them.
 */

#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static sim_claim *
find_claim (sim_checker *self, sim_who who)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->who.serial == who.serial && claim->who.host == who.host
            && claim->who.app == who.app) {
            return claim;
        }
    }
    return NULL;
}

static void
drop_claim (sim_checker *self, sim_claim *claim)
{
    *claim = self->claim[--self->claim_count];
}

static uint8_t
find_object (sim_checker *self, lk_name name)
{
    size_t i;

    for (i = 0; i < self->object_count; i++) {
        if (self->object[i].size == name.size
            && memcmp (self->object[i].name, name.data, name.size) == 0) {
            return (uint8_t) i;
        }
    }
    if (i == SIM_OBJECTS_MAX || name.size > sizeof self->object[i].name) {
        sim_checker_fail (self, "an object that nobody asked for");
        return 0;
    }
    memcpy (self->object[i].name, name.data, name.size);
    self->object[i].size = name.size;
    self->object_count++;
    return (uint8_t) i;
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

bool
sim_claim_believed (const sim_checker *self, const sim_claim *claim)
{
    return claim->held && !claim->expired && self->now < claim->lease_until
           && self->now < claim->until;
}

void
sim_checker_asked (sim_checker *self, sim_who who, lk_name object,
                   int64_t grace_ms)
{
    sim_claim *claim = find_claim (self, who);

    if (!claim) {
        if (self->claim_count == SIM_CLAIMS_MAX) {
            sim_checker_fail (self, "more claims than the checker can hold");
            return;
        }
        claim = &self->claim[self->claim_count++];
    }
    *claim = (sim_claim) {.who = who,
                          .object = find_object (self, object),
                          .asked_at = self->now,
                          .wait_until = SIM_FOREVER,
                          .grace_ms = grace_ms};
}

void
sim_checker_persists (sim_checker *self, sim_who who)
{
    sim_claim *claim = find_claim (self, who);

    if (claim) {
        claim->persists = true;
    }
}

void
sim_checker_answered (sim_checker *self, sim_who who)
{
    sim_claim *claim = find_claim (self, who);

    if (claim) {
        claim->answered = true;
    }
}

/*  Those that wait on this host have lost their places. */
static void
unqueue (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        if (self->claim[i].who.host == host) {
            self->claim[i].queued_at = 0;
            self->claim[i].queued_by = 0;
        }
    }
}

/*  Whether somebody waits for the object and nobody has it, be it as one
 *  whose duration is over. */
static bool
is_idle (const sim_checker *self, size_t object)
{
    bool wanted = false;

    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *claim = &self->claim[i];
        if (claim->object == object) {
            if (claim->held) {
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

static bool
same_app (sim_who a, sim_who b)
{
    return a.host == b.host && a.app == b.app;
}

void
sim_checker_works (sim_checker *self, sim_who who, lk_name object,
                   int64_t until)
{
    sim_work *place = NULL;

    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        sim_work *work = &self->work[i];
        if (same_app (work->who, who)) {
            place = work;
            break;
        }
        if (work->until <= self->now) {
            place = work;
        }
    }
    if (place) {
        *place = (sim_work) {
            .who = who, .object = find_object (self, object), .until = until};
    }
}

void
sim_checker_updated (sim_checker *self, lk_name name, uint64_t value)
{
    sim_object *object = &self->object[find_object (self, name)];

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

void
sim_checker_waits (sim_checker *self, sim_who who, int64_t until)
{
    sim_claim *claim = find_claim (self, who);

    if (claim) {
        claim->wait_until = until;
    }
}

/*  -------------------------------------------------------- LOCKED */

/*  Rule 1: nobody else may believe in it, nor have let his time go by so
 *  shortly before that he may not have seen it. */
static void
check_alone (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other == claim || other->object != claim->object || !other->held
            || self->now >= other->lease_until) {
            continue;
        }
        if (sim_claim_believed (self, other)) {
            sim_checker_fail (
                self,
                "TWO HOLDERS of %s: h%d request %llu token %llx, and now h%d "
                "request %llu token %llx",
                sim_checker_title (self, claim->object), other->who.host,
                (unsigned long long) other->who.serial,
                (unsigned long long) other->token, claim->who.host,
                (unsigned long long) claim->who.serial,
                (unsigned long long) claim->token);
        } else if (!other->key_used
                   && self->now - other->until < other->grace_ms) {
            sim_checker_fail (
                self,
                "NO GRACE: %s given to h%d, %lld ms after the duration "
                "of h%d",
                sim_checker_title (self, claim->object), claim->who.host,
                (long long) (self->now - other->until), other->who.host);
        }
    }
}

/*  Rule 5, as applications see it: who was in the tables of all leaders when
 *  this one asked goes first, through all failovers that one of the leaders
 *  survives. */
static void
check_not_passed (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        const sim_service *service = &self->service[other->who.host];
        if (other->object == claim->object && !other->held && !other->answered
            && other->queued_at > 0 && other->queued_at < claim->asked_at
            && other->queued_session == service->session
            && self->now < service->lease_until) {
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

/*  Rule 2, and the last part of rule 3: an operation begun after a later
 *  decree was in force is never told. */
static void
check_token (sim_checker *self, const sim_claim *claim)
{
    sim_object *object = &self->object[claim->object];

    if (claim->token <= object->last_token) {
        sim_checker_fail (self, "TOKEN of %s does not grow: %llx after %llx",
                          sim_checker_title (self, claim->object),
                          (unsigned long long) claim->token,
                          (unsigned long long) object->last_token);
    }
    object->last_token = claim->token;
    for (size_t i = self->known_count; i-- > 0;) {
        const sim_known_decree *known = &self->known[i];
        if (known->in_force && known->in_force_at < claim->asked_at
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

static void
check_no_work (sim_checker *self, const sim_claim *claim)
{
    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        const sim_work *work = &self->work[i];
        if (work->object == claim->object && self->now < work->until
            && !same_app (work->who, claim->who)) {
            sim_checker_fail (self,
                              "STILL WORKING: %s given to h%d, and a child on "
                              "h%d works under it for %lld ms more",
                              sim_checker_title (self, claim->object),
                              claim->who.host, work->who.host,
                              (long long) (work->until - self->now));
        }
    }
}

void
sim_checker_locked (sim_checker *self, sim_who who, uint64_t token,
                    uint64_t key, int64_t until)
{
    const sim_service *service = &self->service[who.host];

    sim_checker_granted (self, who,
                         &(sim_grant) {.token = token,
                                       .key = key,
                                       .until = until,
                                       .process = service->process,
                                       .session = service->session,
                                       .lease_until = service->lease_until});
}

void
sim_checker_granted (sim_checker *self, sim_who who, const sim_grant *grant)
{
    sim_claim *claim = find_claim (self, who);

    if (!claim) {
        sim_checker_fail (self,
                          "LOCKED for request %llu of h%d, which is "
                          "not open",
                          (unsigned long long) who.serial, who.host);
        return;
    }
    if (claim->held) {
        if (claim->token != grant->token || claim->key != grant->key) {
            sim_checker_fail (self,
                              "LOCKED twice for request %llu of h%d, "
                              "not with the same token and key",
                              (unsigned long long) who.serial, who.host);
        }
        return;
    }
    if (self->now >= grant->lease_until) {
        sim_checker_fail (self, "LOCKED on h%d, which has no lease", who.host);
    }
    if (self->now > claim->wait_until) {
        sim_checker_fail (self,
                          "LOCKED for request %llu of h%d, %lld ms "
                          "after it should have timed out",
                          (unsigned long long) who.serial, who.host,
                          (long long) (self->now - claim->wait_until));
    }
    claim->held = true;
    claim->process = grant->process;
    claim->session = grant->session;
    claim->lease_until = grant->lease_until;
    claim->token = grant->token;
    claim->key = grant->key;
    claim->until = grant->until;
    self->grants++;
    check_token (self, claim);
    check_alone (self, claim);
    check_no_work (self, claim);
    check_not_passed (self, claim);
    self->object[claim->object].idle_since = 0;
}

/*  -------------------------------------------------------- ends */

void
sim_checker_ended (sim_checker *self, sim_who who)
{
    sim_claim *claim = find_claim (self, who);

    if (claim) {
        drop_claim (self, claim);
    }
}

void
sim_checker_timed_out (sim_checker *self, sim_who who)
{
    sim_claim *claim = find_claim (self, who);

    if (claim && self->now + 2 < claim->wait_until) {
        sim_checker_fail (self,
                          "request %llu of h%d failed as timed out, "
                          "too early",
                          (unsigned long long) who.serial, who.host);
    }
    sim_checker_ended (self, who);
}

void
sim_checker_released (sim_checker *self, sim_who who)
{
    sim_claim *claim = find_claim (self, who);

    if (claim && !claim->key_used) {
        sim_checker_fail (self,
                          "WRONG KEY: request %llu of h%d was released,"
                          " but nobody used its key",
                          (unsigned long long) who.serial, who.host);
    }
    sim_checker_ended (self, who);
}

void
sim_checker_expired (sim_checker *self, sim_who who)
{
    sim_claim *claim = find_claim (self, who);

    if (!claim) {
        return;
    }
    if (self->now < claim->until) {
        sim_checker_fail (self,
                          "request %llu of h%d timed out %lld ms too "
                          "early",
                          (unsigned long long) who.serial, who.host,
                          (long long) (claim->until - self->now));
    }
    claim->expired = true;
}

void
sim_checker_returned (sim_checker *self, uint64_t key, uint64_t token)
{
    size_t place = self->returned_count++ % SIM_RETURNED_MAX;

    self->returned[place].key = key;
    self->returned[place].token = token;
}

void
sim_checker_key_used (sim_checker *self, uint64_t key)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        if (self->claim[i].held && self->claim[i].key == key) {
            self->claim[i].key_used = true;
        }
    }
}

void
sim_checker_key_done (sim_checker *self, uint64_t key)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        if (self->claim[i].held && self->claim[i].key == key) {
            self->claim[i].key_done_at = self->now;
        }
    }
}

void
sim_checker_releases (sim_checker *self, uint8_t host, int64_t ms)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *claim = &self->claim[i];
        if (claim->who.host == host && claim->key_done_at > 0
            && self->now - claim->key_done_at > ms && !claim->expired
            && claim->process == self->service[host].process) {
            sim_checker_fail (self,
                              "RELEASED with its key, but request %llu of "
                              "h%d was never told",
                              (unsigned long long) claim->who.serial, host);
        }
    }
}

void
sim_checker_app_gone (sim_checker *self, uint8_t host, uint32_t app)
{
    for (size_t i = self->claim_count; i-- > 0;) {
        const sim_who *who = &self->claim[i].who;
        if (who->host == host && who->app == app) {
            drop_claim (self, &self->claim[i]);
        }
    }
    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        if (same_app (self->work[i].who, (sim_who) {host, app, 0})) {
            self->work[i].until = 0;
        }
    }
}

void
sim_checker_service_gone (sim_checker *self, uint8_t host, bool reboot)
{
    sim_service *service = &self->service[host];

    for (size_t i = self->claim_count; i-- > 0;) {
        sim_claim *claim = &self->claim[i];
        if (claim->who.host == host
            && (reboot || (!claim->held && !claim->persists))) {
            drop_claim (self, claim);
        }
    }
    for (size_t i = 0; reboot && i < SIM_WORKS_MAX; i++) {
        if (self->work[i].who.host == host) {
            self->work[i].until = 0;
        }
    }
    unqueue (self, host);
    service->process++;
    service->session = 0;
    service->lease_until = 0;
    service->table = (lk_term) {0, 0};
}

void
sim_checker_lease (sim_checker *self, uint8_t host, uint64_t session,
                   int64_t until)
{
    sim_service *service = &self->service[host];

    if (session > service->facts.session) {
        sim_checker_fail (self,
                          "h%d uses session %llu, which is not on its "
                          "disk",
                          host, (unsigned long long) session);
    }
    if (until == 0 || session != service->session) {
        unqueue (self, host);
    }
    service->session = session;
    service->lease_until = until;
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->held && claim->who.host == host
            && claim->process == service->process) {
            claim->lease_until = claim->session == session ? until : 0;
        }
    }
}
