/*  checker_said.c - the judge: what is told of a lock, and the tables say of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCKED tells one operation that all leaders have: what that made of the
 *  lock, not what became of it later. So each look into a table notes as what
 *  it has a lock, and since which operation at the earliest. A lock that no
 *  look has found is not judged here.
 */

#include "checker.h"
#include "node_view.h"

/*  -------------------------------------------------------- operations */

void
sim_checker_count (sim_checker *self, uint8_t host, const lk_node *node)
{
    const lk_table *table = lk_node_table (node);
    sim_service *service = &self->service[host];
    uint64_t count = lk_table_length (table);
    int place =
        lk_decree_place (&table->decree, lk_node_core (node)->config.self);
    sim_known_decree *known;

    if (place < 0
        || (count == service->count
            && sim_term_compare (table->decree.term, service->counted) == 0)) {
        return;
    }
    service->count = count;
    service->counted = table->decree.term;
    known = sim_checker_find_decree (self, table->decree.term);
    for (size_t home = 0; known && home < table->decree.leader_count; home++) {
        if (known->has[home][place] < table->sequence[home]) {
            known->has[home][place] = table->sequence[home];
        }
    }
}

/*  Whether all leaders have what an operation of that lock's home has made, if
 *  any has. */
static bool
all_have (const sim_checker *self, const sim_said *said, uint64_t since)
{
    const sim_known_decree *known = &self->known[said->decree];

    for (size_t place = 0; place < known->decree.leader_count; place++) {
        if (known->has[said->home][place] + 1 < since) {
            return false;
        }
    }
    return since > 0;
}

/*  -------------------------------------------------------- looks */

/*  The latest look of some leader has found it. */
static bool
is_held (const sim_checker *self, const sim_said *said)
{
    const lk_decree *latest = sim_checker_latest (self);

    if (said->key == 0 || !latest || said->decree != self->latest) {
        return false;
    }
    for (size_t place = 0; place < latest->leader_count; place++) {
        const sim_service *service = &self->service[latest->leader[place]];
        if (service->seen_in == self->latest + 1
            && said->look[place] == service->look) {
            return true;
        }
    }
    return false;
}

static uint64_t
last_look (const sim_said *said)
{
    uint64_t look = 0;

    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        look = said->look[place] > look ? said->look[place] : look;
    }
    return look;
}

static sim_said *
bucket_of (sim_checker *self, uint64_t key)
{
    return &self->said[key % (SIM_SAID_MAX / SIM_SAID_WAYS) * SIM_SAID_WAYS];
}

/*  The entry of that lock as of that turn; NULL: there is none. */
static sim_said *
find (sim_checker *self, uint64_t key, uint64_t token, uint32_t turn)
{
    sim_said *bucket = bucket_of (self, key);

    for (size_t i = 0; i < SIM_SAID_WAYS; i++) {
        if (bucket[i].key == key && bucket[i].token == token
            && bucket[i].turn == turn) {
            return &bucket[i];
        }
    }
    return NULL;
}

/*  In the place of what was not found for the longest time. */
static sim_said *
add (sim_checker *self, const lk_ticket *ticket)
{
    sim_said *bucket = bucket_of (self, ticket->key);
    sim_said *oldest = bucket;

    for (size_t i = 1; i < SIM_SAID_WAYS; i++) {
        if (last_look (&bucket[i]) < last_look (oldest)) {
            oldest = &bucket[i];
        }
    }
    self->said_lost |= is_held (self, oldest);
    *oldest = (sim_said) {
        .key = ticket->key,
        .token = ticket->token,
        .turn = ticket->turn,
        .ordinal = ticket->ordinal,
        .decree = self->latest,
        .home = lk_home_of (sim_checker_latest (self), ticket->object)};
    return oldest;
}

/*  A later decree's tables have it: from their beginning, and so they have what
 *  the leaders before all had. A claim in doubt does not know its ordinal.
 *  Protocol 9.20: Reclaim. */
static void
carry_over (sim_checker *self, sim_said *said, const lk_ticket *ticket)
{
    for (size_t type = 0; type < LK_LOCK_TYPE_COUNT; type++) {
        said->typed[type] = all_have (self, said, said->typed[type]);
    }
    said->kept = all_have (self, said, said->kept);
    if (ticket->remote.number != 0) {
        said->ordinal = ticket->ordinal;
    }
    said->decree = self->latest;
    said->home = lk_home_of (sim_checker_latest (self), ticket->object);
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        said->look[place] = 0;
    }
}

/*  Whether that grant was found as something else before. */
static bool
has_changed (sim_checker *self, const sim_said *said)
{
    const sim_said *bucket = bucket_of (self, said->key);
    bool found = false;

    for (size_t i = 0; i < SIM_SAID_WAYS; i++) {
        found |= bucket[i].key == said->key && bucket[i].token == said->token
                 && (bucket[i].turn < said->turn
                     || (&bucket[i] == said && last_look (said) > 0));
    }
    return found;
}

/*  A grant's own operation is in its token; what has changed it since is one of
 *  those behind the last look. */
static uint64_t
since_when (sim_checker *self, const sim_service *service, const sim_said *said,
            bool again)
{
    uint64_t term = sim_checker_latest (self)->term.number;

    if (!again || self->said_lost) {
        return 1;
    }
    if (has_changed (self, said)) {
        return service->read[said->home] + 2;
    }
    return said->token >> 32 == term ? (said->token & UINT32_MAX) + 1 : 1;
}

void
sim_said_note (sim_checker *self, size_t place, const lk_ticket *ticket,
               bool again)
{
    const sim_service *service =
        &self->service[sim_checker_latest (self)->leader[place]];
    sim_said *said = find (self, ticket->key, ticket->token, ticket->turn);

    if (!said) {
        said = add (self, ticket);
    } else if (said->decree != self->latest) {
        carry_over (self, said, ticket);
        again = false;
    }
    if (said->typed[ticket->mode.type] == 0) {
        said->typed[ticket->mode.type] =
            since_when (self, service, said, again);
    }
    if (ticket->kept && said->kept == 0) {
        said->kept = again ? service->read[said->home] + 2 : 1;
    }
    said->look[place] = self->look;
}

/*  A table in a reclaim is not looked into, though some homes may serve. */
static bool
is_looked_into (const sim_checker *self, const lk_decree *latest)
{
    for (size_t place = 0; place < latest->leader_count; place++) {
        if (self->service[latest->leader[place]].seen_in == self->latest + 1) {
            return true;
        }
    }
    return false;
}

bool
sim_said_held (const sim_checker *self, uint8_t object, uint64_t token,
               int64_t since)
{
    const sim_known_decree *known = &self->known[self->latest];

    if (self->object[object].vanished_at >= since || !self->any_in_force
        || known->in_force_at >= since
        || !is_looked_into (self, &known->decree)) {
        return true; /* it may have been held at that time */
    }
    for (size_t i = 0; i < SIM_SAID_MAX; i++) {
        if (self->said[i].token == token && is_held (self, &self->said[i])) {
            return true;
        }
    }
    return false;
}

/*  -------------------------------------------------------- telling */

void
sim_said_told (sim_checker *self, const sim_telling *told)
{
    if (self->told_count < SIM_TOLD_MAX && !self->looks_seldom) {
        self->told[self->told_count++] = *told;
    }
}

void
sim_said_forget (sim_checker *self)
{
    self->told_count = 0;
}

void
sim_said_moved (sim_checker *self, lk_request_id request)
{
    for (size_t i = self->told_count; i-- > 0;) {
        const lk_request_id *told = &self->told[i].request;
        if (told->session != 0 && told->host == request.host
            && told->session == request.session
            && told->serial == request.serial) {
            self->told[i] = self->told[--self->told_count];
        }
    }
}

static bool
fits_type (const sim_checker *self, const sim_said *said,
           const sim_telling *told)
{
    return all_have (self, said, said->typed[told->type])
           || (told->weaker && told->type == LK_SHARED
               && all_have (self, said, said->typed[LK_EXCLUSIVE]));
}

static bool
fits (const sim_checker *self, const sim_said *said, const sim_telling *told)
{
    return fits_type (self, said, told)
           && (told->ordinal == 0 || told->ordinal == said->ordinal)
           && (!told->kept || all_have (self, said, said->kept));
}

/*  One of the turns of that grant has to be what was told. Of what changed
 *  since the latest decree, in its reclaim, no look was taken yet. */
static void
compare (sim_checker *self, const sim_telling *told)
{
    const sim_said *bucket = bucket_of (self, told->key);
    bool any = false;

    for (size_t i = 0; i < SIM_SAID_WAYS; i++) {
        const sim_said *said = &bucket[i];
        if (said->key != told->key || said->token != told->token
            || (!told->any_turn && said->turn != told->turn)) {
            continue;
        }
        if (fits (self, said, told)) {
            return;
        }
        any |= said->decree == self->latest;
    }
    if (any) {
        sim_checker_fail (self,
                          "TOLD: token %llx as type %d, ordinal %u, turn %u%s, "
                          "which not all leaders' tables had",
                          (unsigned long long) told->token, (int) told->type,
                          told->ordinal, told->turn,
                          told->kept ? ", kept" : "");
    }
}

void
sim_said_compare (sim_checker *self)
{
    for (size_t i = 0; i < self->told_count; i++) {
        compare (self, &self->told[i]);
    }
    self->told_count = 0;
}
