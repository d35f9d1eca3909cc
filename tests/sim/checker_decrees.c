/*  checker_decrees.c - the judge: decrees, promises and sessions
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  protocol 9.16.3, and that nothing is revealed before it is on disk.
 */

#include "checker.h"

#include <string.h>

int
sim_term_compare (lk_term a, lk_term b)
{
    if (a.number != b.number) {
        return a.number < b.number ? -1 : 1;
    }
    return a.proposer == b.proposer ? 0 : a.proposer < b.proposer ? -1 : 1;
}

static bool
same_decree (const lk_decree *a, const lk_decree *b)
{
    if (sim_term_compare (a->term, b->term) != 0 || a->members != b->members
        || a->leader_count != b->leader_count || a->reclaim != b->reclaim
        || !lk_settings_id_equal (a->settings, b->settings)) {
        return false;
    }
    return memcmp (a->leader, b->leader, a->leader_count) == 0;
}

/*  -------------------------------------------------------- decrees */

sim_known_decree *
sim_checker_find_decree (sim_checker *self, lk_term term)
{
    for (size_t i = self->known_count; i-- > 0;) {
        if (sim_term_compare (self->known[i].decree.term, term) == 0) {
            return &self->known[i];
        }
    }
    return NULL;
}

sim_known_decree *
sim_checker_learn (sim_checker *self, const lk_decree *decree)
{
    sim_known_decree *known;

    if (decree->term.number == 0) {
        return NULL;
    }
    known = sim_checker_find_decree (self, decree->term);
    if (known && !same_decree (&known->decree, decree)) {
        sim_checker_fail (self, "TWO DECREES of one term: number %llu",
                          (unsigned long long) decree->term.number);
        return NULL;
    }
    if (known) {
        return known;
    }
    if (self->known_count == SIM_DECREES_MAX) {
        sim_checker_fail (self, "more decrees than the checker can hold");
        return NULL;
    }
    known = &self->known[self->known_count++];
    *known = (sim_known_decree) {.decree = *decree};
    self->reclaims += decree->reclaim;
    sim_checker_names_leaders (self, decree);
    return known;
}

/*  In force means: on the disks of a quorum of its members. */
static void
check_quorum (sim_checker *self, const lk_decree *decree)
{
    int have = 0;
    int members = 0;

    for (size_t host = 0; host < SIM_HOSTS_MAX; host++) {
        if (decree->members & LK_HOST_BIT (host)) {
            members++;
            have += sim_term_compare (self->service[host].facts.active.term,
                                      decree->term)
                    >= 0;
        }
    }
    if (have < members / 2 + 1) {
        sim_checker_fail (self, "decree %llu in force, but on %d of %d disks",
                          (unsigned long long) decree->term.number, have,
                          members);
    }
}

/*  The tables are those of others now; after a reclaim, who waits may be in
 *  another order. */
static void
forget_queues (sim_checker *self, bool order)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        self->claim[i].queued_by = 0;
        if (order) {
            self->claim[i].queued_at = 0;
        }
    }
}

static bool
may_follow (const lk_decree *former, const lk_decree *later)
{
    return lk_settings_id_equal (former->settings, later->settings)
           || (later->settings.version == former->settings.version + 1
               && later->members == former->members);
}

/*  The first of a generation has what that begins with, or the next version. */
static bool
may_be_first (const sim_checker *self, const lk_decree *decree)
{
    return decree->term.number <= self->above
           || lk_settings_id_equal (decree->settings, self->begun_with)
           || decree->settings.version == self->begun_with.version + 1;
}

/*  Of one generation: another begins with what its founder has. */
static bool
go_together (const sim_checker *self, const lk_decree *one,
             const lk_decree *other)
{
    return (one->term.number > self->above)
           == (other->term.number > self->above);
}

/*  Whether it may follow one that is known: which may have come into force, and
 *  nobody was there to say so. */
static bool
follows_any (const sim_checker *self, const lk_decree *decree)
{
    bool any = false;

    for (size_t i = 0; i < self->known_count; i++) {
        const lk_decree *other = &self->known[i].decree;
        if (go_together (self, other, decree)
            && sim_term_compare (other->term, decree->term) < 0) {
            any = true;
            if (may_follow (other, decree)) {
                return true;
            }
        }
    }
    return !any && may_be_first (self, decree);
}

/*  Settings change by one version, never back, and not along with members. */
static void
check_settings (sim_checker *self, const lk_decree *decree)
{
    bool fine = follows_any (self, decree);

    for (size_t i = 0; i < self->known_count; i++) {
        const lk_decree *other = &self->known[i].decree;
        const bool is_later = sim_term_compare (other->term, decree->term) > 0;
        if (self->known[i].in_force && go_together (self, other, decree)
            && (is_later
                    ? other->settings.version < decree->settings.version
                    : other->settings.version > decree->settings.version)) {
            fine = false;
        }
    }
    if (!fine) {
        sim_checker_fail (self, "SETTINGS: decree %llu has version %llu",
                          (unsigned long long) decree->term.number,
                          (unsigned long long) decree->settings.version);
    }
}

void
sim_checker_in_force (sim_checker *self, const lk_decree *decree)
{
    sim_known_decree *known = sim_checker_learn (self, decree);

    if (!known || known->in_force) {
        return;
    }
    for (size_t i = 0; i < self->known_count; i++) {
        if (self->known[i].in_force
            && self->known[i].decree.term.number == decree->term.number) {
            sim_checker_fail (self, "TWO DECREES in force of number %llu",
                              (unsigned long long) decree->term.number);
        }
    }
    check_quorum (self, decree);
    check_settings (self, decree);
    sim_checker_appoints (self, decree);
    known->in_force = true;
    known->in_force_at = self->now;
    forget_queues (self, decree->reclaim || known->from_disk);
    if (decree->reclaim) {
        sim_checker_reclaim (self, known->from_journal);
    }
    self->takeovers++;
    if (!self->any_in_force
        || sim_term_compare (self->known[self->latest].decree.term,
                             decree->term)
               < 0) {
        self->latest = (size_t) (known - self->known);
        self->any_in_force = true;
    }
}

const lk_decree *
sim_checker_latest (const sim_checker *self)
{
    return self->any_in_force ? &self->known[self->latest].decree : NULL;
}

/*  -------------------------------------------------------- facts */

void
sim_checker_facts (sim_checker *self, uint8_t host, const lk_facts *facts,
                   bool first)
{
    lk_facts *old = &self->service[host].facts;
    bool new_promise = sim_term_compare (facts->promised, old->promised) != 0;

    sim_checker_learn (self, &facts->active);
    if (!first) {
        if (new_promise && facts->promised.number <= old->promised.number) {
            sim_checker_fail (self, "h%d promises %llu after %llu", host,
                              (unsigned long long) facts->promised.number,
                              (unsigned long long) old->promised.number);
        }
        if (sim_term_compare (facts->active.term, old->active.term) < 0) {
            sim_checker_fail (self, "ACTIVE of h%d goes back", host);
        }
        if (facts->active.term.number > facts->promised.number) {
            sim_checker_fail (self,
                              "h%d has an active decree beyond its "
                              "promise",
                              host);
        }
        if (facts->session < old->session) {
            sim_checker_fail (self, "SESSION of h%d goes back", host);
        }
    }
    *old = *facts;
}

/*  -------------------------------------------------------- messages */

static void
check_ping (sim_checker *self, uint8_t host, const lk_msg_ping *ping)
{
    sim_service *service = &self->service[host];
    const lk_facts *facts = &service->facts;

    if (sim_term_compare (ping->promised, facts->promised) != 0
        || sim_term_compare (ping->active.term, facts->active.term) != 0
        || ping->session > facts->session
        || !lk_settings_id_equal (ping->active.settings,
                                  facts->active.settings)) {
        sim_checker_fail (self, "h%d pings what is not on its disk", host);
    }
    sim_checker_learn (self, &ping->active);
    sim_checker_learn (self, &ping->table);
    if (ping->ready) {
        sim_checker_in_force (self, &ping->table);
    }
    service->table = ping->table.term;
}

/*  What a message says of its sender's promise has to be on its disk. */
static void
check_promised (sim_checker *self, uint8_t host, const lk_lock_message *message)
{
    const lk_facts *facts = &self->service[host].facts;

    if (sim_term_compare (facts->promised, message->term) < 0) {
        sim_checker_fail (self, "h%d sends %s before its promise is on disk",
                          host, lk_lock_kind_name (message->kind));
    }
}

/*  A remote one may have moved to a later registration, whose number is that of
 *  its session. */
static bool
is_of_before (const sim_claim *claim, const lk_far_id *remote)
{
    return remote->number != 0 && remote->number < claim->session;
}

/*  What gives a lock away comes behind what ends it. Who only says that he held
 *  it may name anybody's key. */
static void
check_ended (sim_checker *self, uint8_t host, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;

    for (size_t i = 0; i < self->claim_count && ticket->key != 0; i++) {
        const sim_claim *claim = &self->claim[i];
        bool is_its_own =
            !request->resume || ticket->pid == (uint32_t) claim->who.serial;
        if (claim->key == ticket->key && is_its_own
            && !is_of_before (claim, &ticket->remote)
            && sim_claim_owed (self, claim)) {
            sim_checker_fail (self,
                              "h%d sends UNLOCK of request %llu, which its "
                              "application still believes in",
                              host, (unsigned long long) claim->who.serial);
        }
    }
}

static void
compare_told (sim_checker *self, const lk_msg_reply *reply)
{
    sim_said_told (self, &(sim_telling) {.key = reply->key,
                                         .token = reply->token,
                                         .type = reply->type,
                                         .ordinal = reply->ordinal,
                                         .turn = reply->turn,
                                         .kept = reply->kept,
                                         .request = reply->request});
}

void
sim_checker_sent (sim_checker *self, uint8_t host,
                  const lk_lock_message *message)
{
    const lk_facts *facts = &self->service[host].facts;

    if (message->kind == LK_MSG_UNLOCKED && message->as.reply.moved) {
        sim_said_moved (self, message->as.reply.request);
    }
    sim_checker_spares_arbiters (self, host, message);
    sim_checker_doorway (self, host, message);
    sim_checker_takings (self, host, message);
    switch (message->kind) {
    case LK_MSG_PING:
        check_ping (self, host, &message->as.ping);
        sim_checker_closes (self, host, message->as.ping.closed);
        break;
    case LK_MSG_VOTED:
        if (sim_term_compare (facts->promised, message->term) != 0) {
            sim_checker_fail (self, "h%d votes for what it did not promise",
                              host);
        }
        sim_checker_learn (self, &message->as.voted.active);
        break;
    case LK_MSG_VOTE:
    case LK_MSG_ENTERING:
    case LK_MSG_ENTERED:
    case LK_MSG_FILLED:
    case LK_MSG_EXITING:
        check_promised (self, host, message);
        break;
    case LK_MSG_ACTIVATED:
        if (sim_term_compare (facts->active.term, message->term) < 0) {
            sim_checker_fail (self,
                              "h%d acknowledges a decree that is not "
                              "on its disk",
                              host);
        }
        break;
    case LK_MSG_ELECTED:
        sim_checker_elects (self, &message->as.decree.decree,
                            message->as.decree.holder);
        sim_checker_learn (self, &message->as.decree.decree);
        break;
    case LK_MSG_SITTING:
    case LK_MSG_ACTIVE:
        sim_checker_learn (self, &message->as.decree.decree);
        break;
    case LK_MSG_UNLOCK:
        if (!message->as.request.by_key) {
            check_ended (self, host, &message->as.request);
        }
        break;
    case LK_MSG_LOCKED:
        compare_told (self, &message->as.reply);
        break;
    case LK_MSG_READY:
        sim_checker_in_force (self, &message->as.decree.decree);
        break;
    default:
        break;
    }
}
