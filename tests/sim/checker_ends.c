/*  checker_ends.c - the judge: how locks and requests end
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  protocol 9.16.6, and that nothing is ended too early, or without a cause, or
 *  without its holder being told.
 */

#include "checker.h"

#include <string.h>

#define ALL_APPS UINT32_MAX
#define WANTED_MS 60000     /* an answer may be on its way for so long, ... */
#define WANTED_CALM_MS 3000 /* ... where nothing is amiss */

void
sim_checker_ended (sim_checker *self, sim_who who)
{
    sim_claim *claim;

    while ((claim = sim_checker_next_claim (self, who, NULL))) {
        sim_checker_drop (self, claim);
    }
}

/*  Whether it takes over that lock, whose service may not say so yet. One that
 *  asked before that lingered has another lock, or waits for one. */
static bool
is_heir_of (const sim_claim *heir, const sim_claim *claim)
{
    return heir->heir_of != 0 && !heir->mode.is_static && claim->held
           && claim->key == heir->heir_of && claim->lingers_until != 0
           && claim->lingers_until - claim->linger_ms <= heir->asked_at
           && claim->mode.type == heir->mode.type;
}

void
sim_checker_disowns (sim_checker *self, sim_who who)
{
    const sim_claim *asked = sim_checker_next_claim (self, who, NULL);
    const sim_claim heir = asked ? *asked : (sim_claim) {.heir_of = 0};

    for (size_t i = self->claim_count; i-- > 0;) {
        if (is_heir_of (&heir, &self->claim[i])) {
            sim_checker_drop (self, &self->claim[i]);
        }
    }
}

void
sim_checker_timed_out (sim_checker *self, sim_who who)
{
    const sim_claim *claim = sim_checker_next_claim (self, who, NULL);

    if (claim && self->now + 2 < claim->wait_until) {
        sim_checker_fail (self,
                          "request %llu of h%d failed as timed out, "
                          "too early",
                          (unsigned long long) who.serial, who.host);
    }
    sim_checker_ended (self, who);
}

/*  -------------------------------------------------------- by others */

/*  It may be kept from others for so long, by the slowest clock. */
static void
keep_until (sim_checker *self, const sim_claim *claim, int64_t until)
{
    sim_object *object = &self->object[claim->object];

    if (object->stopping_until < until) {
        object->stopping_until = until;
    }
}

/*  It ends, and its holder has a quarter of a host lease to stop: at most as
 *  long as that, by its host's clock. */
static void
stop (sim_checker *self, sim_who who)
{
    const sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        keep_until (self, claim, self->now + self->stopping_ms * 5 / 4);
    }
    sim_checker_ended (self, who);
}

void
sim_checker_released (sim_checker *self, sim_who who)
{
    const sim_claim *claim = NULL;
    bool used = false;
    bool any = false;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        any = true;
        used |= claim->key_used_at > 0;
    }
    if (any && !used) {
        sim_checker_fail (self,
                          "WRONG KEY: request %llu of h%d was released,"
                          " but nobody used its key",
                          (unsigned long long) who.serial, who.host);
    }
    stop (self, who);
}

void
sim_checker_forced (sim_checker *self, sim_who who)
{
    const sim_claim *claim = NULL;
    bool forced = false;
    bool any = false;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        any = true;
        forced |= self->object[claim->object].forced_at > 0;
    }
    if (any && !forced) {
        sim_checker_fail (self,
                          "FORCED: request %llu of h%d, but no operator asked "
                          "for it",
                          (unsigned long long) who.serial, who.host);
    }
    stop (self, who);
}

void
sim_checker_key_used (sim_checker *self, uint64_t key)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->held && claim->key == key && claim->key_used_at == 0) {
            claim->key_used_at = self->now;
        }
    }
}

void
sim_checker_key_ousts (sim_checker *self, uint64_t key)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->held && claim->key == key && claim->ousted_at == 0) {
            claim->ousted_at = self->now;
        }
    }
}

void
sim_checker_ousts (sim_checker *self, lk_name object)
{
    self->object[sim_checker_need_object (self, object)].ousted_at = self->now;
}

void
sim_checker_key_done (sim_checker *self, uint64_t key)
{
    for (size_t i = self->claim_count; i-- > 0;) {
        sim_claim *claim = &self->claim[i];
        if (claim->held && claim->key == key) {
            claim->key_done_at = self->now;
            if (claim->orphan) {
                sim_checker_drop (self, claim);
            }
        }
    }
}

void
sim_checker_forces (sim_checker *self, lk_name object)
{
    uint8_t place = sim_checker_need_object (self, object);

    self->object[place].forced_at = self->now;
}

void
sim_checker_forces_done (sim_checker *self, lk_name object, uint64_t token,
                         int64_t asked_at)
{
    uint8_t place = sim_checker_object (self, object);

    for (size_t i = self->claim_count; i-- > 0;) {
        sim_claim *claim = &self->claim[i];
        if (claim->object != place || !claim->held || claim->held_at >= asked_at
            || claim->asked_turn > 0 || (token != 0 && claim->token != token)) {
            continue;
        }
        if (sim_claim_believed (self, claim) && !claim->answered) {
            sim_checker_fail (self,
                              "FORCED is done, but request %llu of h%d was "
                              "not told",
                              (unsigned long long) claim->who.serial,
                              claim->who.host);
        } else if (claim->orphan) {
            sim_checker_drop (self, claim);
        }
    }
}

/*  A home remembers whom it told nothing yet, and one that takes over does not:
 *  that one may have the ticket dropped already. Protocol 9.11, UNLOCK with
 *  `now`. */
static bool
is_forgotten (const sim_checker *self, const sim_claim *claim)
{
    return claim->ousted_at > 0 && self->any_in_force
           && self->known[self->latest].in_force_at >= claim->ousted_at;
}

void
sim_checker_releases (sim_checker *self, uint8_t host, int64_t ms)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *claim = &self->claim[i];
        if (claim->who.host == host && claim->key_done_at > 0
            && self->now - claim->key_done_at > ms && !claim->expired
            && claim->lingers_until == 0 && !claim->kept
            && !is_forgotten (self, claim)
            && claim->process == self->service[host].process) {
            sim_checker_fail (self,
                              "RELEASED with its key, but request %llu of "
                              "h%d was never told",
                              (unsigned long long) claim->who.serial, host);
        }
    }
}

void
sim_checker_returned (sim_checker *self, uint64_t key, uint64_t token)
{
    size_t place = self->returned_count++ % SIM_RETURNED_MAX;

    self->returned[place].key = key;
    self->returned[place].token = token;
}

/*  -------------------------------------------------------- by time */

/*  Whether somebody else waited for the object, since then. */
static bool
was_wanted (const sim_checker *self, const sim_claim *claim, int64_t since)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *other = &self->claim[i];
        if (other != claim && other->object == claim->object
            && (!other->held || other->asked_turn != other->turn
                || (other->queued_seen > 0 && other->queued_seen >= since))) {
            return true;
        }
    }
    return self->object[claim->object].wanted_at >= since;
}

void
sim_checker_expired (sim_checker *self, sim_who who)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        int64_t until = claim->mode.lenient
                            ? claim->asked_at + claim->duration_ms
                            : claim->until;
        if (self->now < until
            && !(claim->kept && sim_claim_taken (self, claim))) {
            sim_checker_fail (self,
                              "request %llu of h%d timed out %lld ms too "
                              "early",
                              (unsigned long long) who.serial, who.host,
                              (long long) (until - self->now));
        }
        if (claim->mode.lenient
            && !was_wanted (
                self, claim,
                self->now
                    - (self->settled_at > 0 ? WANTED_CALM_MS : WANTED_MS))) {
            sim_checker_fail (self,
                              "LENIENT: request %llu of h%d is asked back, "
                              "though nobody waits",
                              (unsigned long long) who.serial, who.host);
        }
        claim->expired = true;
        claim->expired_at = self->now;
        claim->until = until;
    }
}

/*  -------------------------------------------------------- with others */

static void
lingers_till (sim_object *self, int64_t until)
{
    if (self->lingers_until < until) {
        self->lingers_until = until;
    }
}

/*  It may have been granted just now, which nobody can tell its application
 *  any more: then it lingers. */
static void
note_unread (sim_checker *self, const sim_claim *claim)
{
    if (!claim->held && claim->linger_ms > 0) {
        lingers_till (&self->object[claim->object],
                      self->now + claim->linger_ms);
    }
}

void
sim_checker_kept_back (sim_checker *self, lk_name object, int64_t until)
{
    lingers_till (&self->object[sim_checker_need_object (self, object)], until);
}

/*  What it takes over lingers behind its own application now, for as long as
 *  that one said, though it was not told yet that it has it. */
static void
leave_heritage (sim_checker *self, const sim_claim *heir)
{
    const int64_t until = self->now + heir->linger_ms;

    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (is_heir_of (heir, claim) && until < claim->lingers_until) {
            claim->linger_ms -= claim->lingers_until - until;
            claim->lingers_until = until;
        }
    }
}

/*  Until when others do not get it after its end, at most. The home counts that
 *  of one that is not lenient, from a grant that was told as of a host lease
 *  before at most. */
static int64_t
grace_until (const sim_checker *self, const sim_claim *claim)
{
    int64_t ms = claim->grace_ms * 10 / 6; /* see sim_checker_asked */

    if (ms < self->stopping_ms) {
        ms = self->stopping_ms;
    }
    if (!claim->mode.lenient) {
        ms += 5 * self->stopping_ms;
    }
    return claim->expired_at + ms * 5 / 4;
}

/*  It was told that its duration is over, and had not stopped: what it started
 *  has the linger for that, but not longer than it had itself. */
static void
note_stopping (sim_checker *self, const sim_claim *claim)
{
    int64_t until = self->now + claim->linger_ms * 5 / 4;
    int64_t end = grace_until (self, claim);

    if (claim->expired) {
        keep_until (self, claim, until < end ? until : end);
    }
}

/*  Its duration is over as it was told first, which is the end that its
 *  application goes by. One that says to another lock service what it holds
 *  does not say that end: the service goes by what the home counts, which may
 *  be more, since one of a later term counts from H/4 behind the grant, and
 *  durations go on from where a journal has them. So it may linger, and an heir
 *  get it; nobody is owed that. Protocol 9.11; 9.13: A restart; 9.18. */
static bool
may_last_longer (const sim_checker *self, const sim_claim *claim)
{
    const bool restarted =
        claim->resumed
        || claim->process != self->service[claim->who.host].process;

    return restarted && claim->held && !claim->expired
           && claim->until <= self->now && self->now < claim->lease_until;
}

/*  What becomes of a claim whose application is gone. */
static void
leave (sim_checker *self, sim_claim *claim)
{
    note_unread (self, claim);
    note_stopping (self, claim);
    if (!claim->held) {
        leave_heritage (self, claim);
    }
    if (claim->kept) {
        claim->orphan = true;
    } else if (claim->linger_ms > 0
               && (sim_claim_acts (self, claim)
                   || may_last_longer (self, claim))) {
        claim->lingers_until = self->now + claim->linger_ms;
        claim->left_to = self->service[claim->who.host].process;
    } else {
        sim_checker_drop (self, claim);
    }
}

void
sim_checker_leaves (sim_checker *self, sim_who who)
{
    sim_claim *claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);

    if (claim) {
        leave (self, claim);
    }
}

static void
end_works (sim_checker *self, uint8_t host, uint32_t app)
{
    for (size_t i = 0; i < SIM_WORKS_MAX; i++) {
        sim_work *work = &self->work[i];
        if (work->who.host == host
            && (app == ALL_APPS || work->who.app == app)) {
            work->until = 0;
        }
    }
}

void
sim_checker_app_gone (sim_checker *self, uint8_t host, uint32_t app)
{
    for (size_t i = self->claim_count; i-- > 0;) {
        const sim_who *who = &self->claim[i].who;
        if (who->host == host && who->app == app
            && self->claim[i].lingers_until == 0) {
            leave (self, &self->claim[i]);
        }
    }
    end_works (self, host, app);
}

/*  Those that wait on this host have lost their places, and in a reclaim
 *  nobody claims what was static there. */
static void
end_session (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->who.host == host || (claim->carriers >> host & 1)) {
            claim->queued_at = 0;
            claim->queued_by = 0;
            claim->kept &= !claim->fragile;
        }
    }
}

void
sim_checker_service_gone (sim_checker *self, uint8_t host, bool reboot)
{
    sim_service *service = &self->service[host];

    end_session (self, host);
    for (size_t i = self->claim_count; i-- > 0;) {
        sim_claim *claim = &self->claim[i];
        if (claim->who.host != host) {
            continue;
        }
        if (reboot && claim->kept) {
            claim->orphan = true;
        } else if (reboot || (!claim->held && !claim->persists)) {
            sim_checker_drop (self, claim);
        }
    }
    if (reboot) {
        end_works (self, host, ALL_APPS);
        sim_checker_forget_sessions (self, host);
        sim_checker_forget_takings (self, host);
    }
    sim_said_forget (self);
    service->process++;
    service->session = 0;
    service->lease_until = 0;
    service->table = (lk_term) {0, 0};
    service->leads_until = 0;
    service->drained = false;
}

/*  A service ends its session: what lingers with it stays no longer. A lock of
 *  the session before may have gone on in this one when its application was
 *  gone and could not be told that any more. Protocol 9.11. */
static void
end_lingering (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->who.host == host && claim->lingers_until != 0
            && claim->left_to == self->service[host].process) {
            claim->lease_until = 0;
        }
    }
}

/*  What was over is so for good: somebody else may have it. */
static void
check_not_back (sim_checker *self, uint8_t host, uint64_t session,
                int64_t until)
{
    const sim_service *service = &self->service[host];

    if (session == service->session && self->now >= service->lease_until
        && self->now < until) {
        sim_checker_fail (self,
                          "BACK: the lease of h%d's session %llu is prolonged "
                          "when it is over",
                          host, (unsigned long long) session);
    }
}

void
sim_checker_lease (sim_checker *self, uint8_t host, uint64_t session,
                   int64_t until)
{
    sim_service *service = &self->service[host];

    check_not_back (self, host, session, until);
    if (session > service->facts.session) {
        sim_checker_fail (self,
                          "h%d uses session %llu, which is not on its "
                          "disk",
                          host, (unsigned long long) session);
    }
    sim_checker_note_lease (self, host, session, until);
    if (until == 0 || session != service->session) {
        end_session (self, host);
    }
    if (until == 0) {
        end_lingering (self, host);
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

void
sim_checker_believes (sim_checker *self, sim_who who, int64_t until,
                      bool paused)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        if (claim->held && claim->reckons && !paused
            && self->now >= claim->own_until && self->now < until) {
            sim_checker_fail (self,
                              "BACK: request %llu of h%d is believed in again",
                              (unsigned long long) who.serial, who.host);
        }
        if (claim->held && until - 1 > claim->lease_until) {
            sim_checker_fail (self,
                              "LONGER: request %llu of h%d is believed in for "
                              "%lld ms more than its lease lasts",
                              (unsigned long long) who.serial, who.host,
                              (long long) (until - claim->lease_until));
        }
        claim->reckons = true;
        claim->own_until = until;
    }
}

/*  In a reclaim only what services still know of is claimed. */
void
sim_checker_reclaim (sim_checker *self, bool from_journal)
{
    self->reclaimed_at = self->now;
    sim_checker_reclaim_takings (self);
    for (size_t i = self->claim_count; i-- > 0;) {
        sim_claim *claim = &self->claim[i];
        if (!claim->kept || from_journal) {
            continue;
        }
        const bool remote = claim->who.host >= SIM_HOSTS_MAX;
        if (remote) {
            claim->lease_until = self->now; /* its server may be left */
        }
        if (remote || sim_claim_unknown (self, claim)) {
            claim->kept = false;
            if (claim->orphan) {
                sim_checker_drop (self, claim);
            }
        } else {
            claim->fragile = true;
        }
    }
}

/*  Protocol 9.19.8. */
void
sim_checker_begin_anew (sim_checker *self, uint64_t above,
                        lk_settings_id settings)
{
    self->above = above;
    self->begun_with = settings;
    for (size_t i = self->claim_count; i-- > 0;) {
        sim_claim *claim = &self->claim[i];
        if (claim->who.host >= SIM_HOSTS_MAX) {
            claim->queued_at = 0;
            claim->queued_by = 0;
            claim->lease_until = claim->kept ? self->now : claim->lease_until;
        }
        if (claim->kept) {
            claim->kept = false;
            if (claim->orphan) {
                sim_checker_drop (self, claim);
            }
        }
    }
}

/*  -------------------------------------------------------- checks */

void
sim_checker_checked (sim_checker *self, lk_name object, uint64_t token,
                     bool held, uint64_t newest, int64_t asked_at)
{
    uint8_t place = sim_checker_need_object (self, object);

    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *claim = &self->claim[i];
        if (claim->object != place || claim->held_at >= asked_at
            || claim->asked_turn > 0 || !sim_claim_believed (self, claim)) {
            continue;
        }
        if ((claim->token == token && !held) || newest < claim->token) {
            sim_checker_fail (
                self,
                "CHECK: token %llx of %s is %s, the newest is "
                "%llx, but h%d holds it with %llx",
                (unsigned long long) token, sim_checker_title (self, place),
                held ? "held" : "not held", (unsigned long long) newest,
                claim->who.host, (unsigned long long) claim->token);
        }
    }
    if (held
        && (newest < token
            || !(self->looks_seldom
                 || sim_said_held (self, place, token, asked_at)))) {
        sim_checker_fail (
            self, "CHECK: token %llx of %s is held, the newest is %llx",
            (unsigned long long) token, sim_checker_title (self, place),
            (unsigned long long) newest);
    }
}
