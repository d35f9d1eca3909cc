/*  small.c - a small cluster: whole cores in one process, one seed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/small.h"

#include "lib/core_checks.h"
#include "table.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

#define START_MS 10000000
#define SOON_MS 3     /* operations are gathered for less */
#define SPINS_MAX 100 /* ticks in one place of time */
#define READY_MS 30000

/*  -------------------------------------------------------- told */

static lk_name
copy_name (lk_name name)
{
    return (lk_name) {.data = lk_memdup (name.data, name.size),
                      .size = name.size};
}

static void
hear (lk_small *self, lk_host host, const lk_answer *answer)
{
    if (self->told_count == self->told_room) {
        self->told_room = self->told_room ? self->told_room * 2 : 64;
        self->told =
            lk_realloc (self->told, self->told_room * sizeof *self->told);
    }
    lk_small_told *told = &self->told[self->told_count++];
    *told = (lk_small_told) {
        .host = host, .at_ms = self->now_ms, .answer = *answer};
    told->answer.reason = copy_name (answer->reason);
    if (answer->set_count > 0) {
        lk_granted *set = lk_alloc (answer->set_count * sizeof *set);
        for (size_t i = 0; i < answer->set_count; i++) {
            set[i] = answer->set[i];
            set[i].object = copy_name (answer->set[i].object);
        }
        told->answer.set = set;
    }
}

void
lk_small_forget (lk_small *self)
{
    for (size_t i = 0; i < self->told_count; i++) {
        lk_answer *answer = &self->told[i].answer;
        for (size_t k = 0; k < answer->set_count; k++) {
            lk_free ((void *) answer->set[k].object.data);
        }
        lk_free ((void *) answer->set);
        lk_free ((void *) answer->reason.data);
    }
    self->told_count = 0;
}

const lk_answer *
lk_small_last (const lk_small *self, lk_host host, uint32_t app,
               uint64_t serial)
{
    for (size_t i = self->told_count; i-- > 0;) {
        const lk_small_told *told = &self->told[i];
        if (told->host == host && told->answer.app == app
            && told->answer.serial == serial) {
            return &told->answer;
        }
    }
    return NULL;
}

/*  -------------------------------------------------------- messages */

static void
launch (lk_world *base, lk_host place, const lk_lock_message *message)
{
    lk_small *self = (lk_small *) base;
    const lk_host from = message->from, to = message->to;
    LK_ASSERT (from == place && to < base->count);
    self->sent[message->kind]++;
    if (self->cut[from][to]) {
        return;
    }
    if (self->flights == self->flight_room) {
        self->flight_room = self->flight_room ? self->flight_room * 2 : 64;
        self->flight =
            lk_realloc (self->flight, self->flight_room * sizeof *self->flight);
    }
    int64_t at_ms = self->now_ms;
    if (self->delay_ms > 0) {
        at_ms += lk_rng_between (&self->rng, 0, self->delay_ms);
    }
    if (at_ms < self->last_ms[from][to]) {
        at_ms = self->last_ms[from][to];
    }
    self->last_ms[from][to] = at_ms;
    self->flight[self->flights++] = (lk_small_flight) {
        .letter = lk_world_keep (base, message), .at_ms = at_ms};
}

static bool
writes (lk_world *base, lk_host place, const lk_facts *facts)
{
    lk_core_check_facts (&base->host[place].disk, facts);
    return true;
}

static void
note (lk_world *base, lk_host place, const lk_effect *effect)
{
    lk_small *self = (lk_small *) base;
    if (effect->type == LK_DO_TELL) {
        hear (self, place, &effect->answer);
    } else if (effect->type == LK_DO_ALERT) {
        self->alerts[place]++;
        self->alert[place] = effect->message->as.alert;
    }
}

static void
count_record (lk_world *base, lk_host place)
{
    ((lk_small *) base)->records[place]++;
}

void
lk_small_step (lk_small *self, lk_host host, lk_event *event)
{
    lk_effects effects;
    event->now_ms = self->now_ms;
    if (self->base.node[host]) {
        lk_world_step (&self->base, host, event, &effects);
    }
}

void
lk_small_flush (lk_small *self, lk_host host)
{
    lk_event event = {.type = LK_ON_FLUSH};
    lk_small_step (self, host, &event);
}

static const lk_lock_message *
message_of (const lk_small *self, const lk_small_flight *flight)
{
    return lk_world_message (&self->base, flight->letter);
}

/*  What is due on a link of chance, the first there; false: nothing is due. */
static bool
take_flight (lk_small *self, lk_small_flight *flight)
{
    size_t due = 0, at = 0;
    for (size_t i = 0; i < self->flights; i++) {
        due += self->flight[i].at_ms <= self->now_ms;
    }
    if (due == 0) {
        return false;
    }
    size_t nth = (size_t) lk_rng_between (&self->rng, 0, (int64_t) due - 1);
    while (self->flight[at].at_ms > self->now_ms || nth-- > 0) {
        at++;
    }
    const lk_lock_message *chosen = message_of (self, &self->flight[at]);
    for (size_t i = 0; i < at; i++) {
        const lk_lock_message *message = message_of (self, &self->flight[i]);
        if (message->from == chosen->from && message->to == chosen->to) {
            at = i;
        }
    }
    *flight = self->flight[at];
    self->flights--;
    memmove (self->flight + at, self->flight + at + 1,
             (self->flights - at) * sizeof *self->flight);
    return true;
}

static bool
deliver (lk_small *self)
{
    lk_small_flight flight;
    if (!take_flight (self, &flight)) {
        return false;
    }
    const lk_lock_message *message = message_of (self, &flight);
    lk_event event = {.type = LK_ON_MESSAGE, .message = message};
    if (!self->cut[message->from][message->to]) {
        lk_small_step (self, message->to, &event);
    }
    lk_world_drop (&self->base, flight.letter);
    return true;
}

/*  What has arrived for one host. */
static void
wake (lk_small *self, lk_host host, const lk_small_flight *flight,
      size_t flights)
{
    bool any = false;
    for (size_t i = 0; i < flights; i++) {
        const lk_lock_message *message = message_of (self, &flight[i]);
        lk_event event = {
            .type = LK_ON_MESSAGE, .message = message, .more = true};
        if (message->to == host && !self->cut[message->from][host]) {
            lk_small_step (self, host, &event);
            any = true;
        }
    }
    if (any) {
        lk_small_flush (self, host);
    }
}

size_t
lk_small_wave (lk_small *self)
{
    lk_small_flight *flight = self->flight;
    const size_t flights = self->flights;
    self->flight = NULL;
    self->flights = self->flight_room = 0;
    for (lk_host host = 0; host < self->base.count; host++) {
        wake (self, host, flight, flights);
    }
    for (size_t i = 0; i < flights; i++) {
        lk_world_drop (&self->base, flight[i].letter);
    }
    lk_free (flight);
    return flights;
}

/*  -------------------------------------------------------- time */

/*  The records that wait for a disk are written. */
static bool
record (lk_small *self)
{
    bool recorded = false;
    for (lk_host host = 0; host < self->base.count; host++) {
        lk_world_journal *journal = self->base.host[host].journal;
        const size_t waiting = journal ? lk_world_journal_waiting (journal) : 0;
        if (waiting > 0 && self->base.node[host] && !self->stuck[host]) {
            lk_event event = {.type = LK_ON_RECORDED};
            event.record = lk_world_journal_write (journal, waiting);
            lk_small_step (self, host, &event);
            recorded = true;
        }
    }
    return recorded;
}

static bool
tick (lk_small *self)
{
    bool ticked = false;
    for (lk_host host = 0; host < self->base.count; host++) {
        const lk_node *node = self->base.node[host];
        if (node && lk_node_deadline (node) <= self->now_ms) {
            lk_event event = {.type = LK_ON_TICK};
            lk_small_step (self, host, &event);
            ticked = true;
        }
    }
    return ticked;
}

void
lk_small_settle (lk_small *self)
{
    for (size_t spins = 0;; spins++) {
        while (deliver (self) || record (self)) {
        }
        if (!tick (self)) {
            return;
        }
        LK_ASSERT (spins < SPINS_MAX);
    }
}

/*  When something happens next, `end_ms` at the latest. */
static int64_t
next_ms (const lk_small *self, int64_t end_ms)
{
    for (size_t i = 0; i < self->flights; i++) {
        if (self->flight[i].at_ms < end_ms) {
            end_ms = self->flight[i].at_ms;
        }
    }
    for (size_t host = 0; host < self->base.count; host++) {
        const lk_node *node = self->base.node[host];
        if (node && lk_node_deadline (node) < end_ms) {
            end_ms = lk_node_deadline (node);
        }
    }
    return end_ms > self->now_ms ? end_ms : self->now_ms + 1;
}

void
lk_small_run (lk_small *self, int64_t ms)
{
    const int64_t end_ms = self->now_ms + ms;
    lk_small_settle (self);
    while (self->now_ms < end_ms) {
        self->now_ms = next_ms (self, end_ms);
        lk_small_settle (self);
    }
}

static bool
is_under_way (const lk_small *self)
{
    for (size_t i = 0; i < self->flights; i++) {
        if (message_of (self, &self->flight[i])->kind != LK_MSG_PING) {
            return true;
        }
    }
    return next_ms (self, self->now_ms + SOON_MS) < self->now_ms + SOON_MS;
}

void
lk_small_rest (lk_small *self, int64_t ms)
{
    const int64_t end_ms = self->now_ms + ms;
    lk_small_settle (self);
    while (self->now_ms < end_ms && is_under_way (self)) {
        self->now_ms = next_ms (self, end_ms);
        lk_small_settle (self);
    }
}

/*  -------------------------------------------------------- life */

static void
introduce (lk_small *self, lk_host from)
{
    lk_world_introduce (&self->base, from, self->base.host[from].disk.session);
}

static void
start (lk_small *self, lk_host place)
{
    lk_event event = {.type = LK_ON_TICK};
    self->base.host[place].config.seed[1]++;
    lk_world_start (&self->base, place, self->now_ms);
    lk_small_step (self, place, &event);
    introduce (self, place);
}

static void
set_up (lk_small *self, lk_host place, const lk_small_plan *plan)
{
    lk_world_host *host = &self->base.host[place];
    lk_node_config *config = &host->config;
    lk_node_config_init (config);
    config->self = place;
    config->id = 0xa0u + place;
    config->member = true;
    config->candidate.random = (uint32_t) place;
    config->candidate.address[15] = place;
    config->leaders_max = plan->leaders ? plan->leaders : 3;
    config->seed[0] = plan->seed + place;
    if (plan->host_lease_ms > 0) {
        config->host_lease_ms = plan->host_lease_ms;
    }
    if (plan->grace_ms > 0) {
        config->grace_ms = plan->grace_ms;
    }
    config->journal = plan->journal;
    if (plan->digest_ms != 0) {
        config->digest_ms = plan->digest_ms > 0 ? plan->digest_ms : 0;
    }
    host->disk.active.members = LK_HOST_BIT (plan->hosts) - 1;
}

void
lk_small_init (lk_small *self, const lk_small_plan *plan)
{
    static const lk_world_layer layer = {.writes = writes,
                                         .records = count_record,
                                         .send = launch,
                                         .note = note};
    memset (self, 0, sizeof *self);
    self->base.layer = &layer;
    LK_ASSERT (plan->hosts > 0 && plan->hosts <= LK_SMALL_HOSTS_MAX);
    self->base.count = plan->hosts;
    self->now_ms = START_MS;
    lk_rng_init (&self->rng, plan->seed);
    for (lk_host host = 0; host < self->base.count; host++) {
        set_up (self, host, plan);
    }
    for (lk_host host = 0; host < self->base.count; host++) {
        start (self, host);
    }
    LK_ASSERT (lk_small_wait_ready (self, READY_MS));
    self->delay_ms = plan->delay_ms;
}

void
lk_small_clear (lk_small *self)
{
    lk_small_forget (self);
    lk_free (self->told);
    lk_free (self->flight);
    lk_world_clear (&self->base);
    memset (self, 0, sizeof *self);
}

/*  -------------------------------------------------------- faults */

void
lk_small_kill (lk_small *self, lk_host host, bool seen)
{
    size_t left = 0;
    lk_node_destroy (&self->base.node[host]);
    if (self->base.host[host].journal) {
        lk_world_journal_lose (self->base.host[host].journal);
    }
    for (size_t i = 0; i < self->flights; i++) {
        const lk_lock_message *message = message_of (self, &self->flight[i]);
        if (message->from == host || message->to == host) {
            lk_world_drop (&self->base, self->flight[i].letter);
        } else {
            self->flight[left++] = self->flight[i];
        }
    }
    self->flights = left;
    for (lk_host other = 0; other < self->base.count && seen; other++) {
        lk_event event = {.type = LK_ON_HOST_GONE, .host = host};
        lk_small_step (self, other, &event);
    }
}

void
lk_small_start (lk_small *self, lk_host host)
{
    if (!self->base.node[host]) {
        start (self, host);
    }
}

void
lk_small_isolate (lk_small *self, lk_host host, bool cut)
{
    for (size_t other = 0; other < self->base.count; other++) {
        self->cut[host][other] = self->cut[other][host] = cut;
    }
    for (lk_host other = 0; other < self->base.count && !cut; other++) {
        if (self->base.node[other]) {
            introduce (self, other);
        }
    }
}

static bool
is_ready (lk_small *self)
{
    const lk_decree *decree = lk_small_leaders (self);
    size_t running = 0, odd;
    for (size_t host = 0; host < self->base.count; host++) {
        lk_node_status status;
        if (!self->base.node[host]) {
            continue;
        }
        running++;
        lk_node_get_status (self->base.node[host], &status);
        if (!status.ready || status.decree.term.number != decree->term.number) {
            return false;
        }
    }
    for (size_t i = 0; i < decree->leader_count; i++) {
        if (!self->base.node[decree->leader[i]]) {
            return false;
        }
    }
    odd = self->base.host[0].config.leaders_max;
    while (odd > running) {
        odd--;
    }
    return decree->leader_count >= odd;
}

bool
lk_small_wait_ready (lk_small *self, int64_t ms)
{
    for (int64_t end_ms = self->now_ms + ms; !is_ready (self);) {
        if (self->now_ms >= end_ms) {
            return false;
        }
        lk_small_run (self, 20);
    }
    return true;
}

/*  -------------------------------------------------------- applications */

lk_app_request
lk_small_request (uint32_t app, uint64_t serial, const char *object)
{
    return (lk_app_request) {.app = app,
                             .serial = serial,
                             .object = {object, (uint16_t) strlen (object)},
                             .owner = {"app@host", 8},
                             .wait_ms = -1};
}

void
lk_small_ask (lk_small *self, lk_host host, lk_event_type type,
              const lk_app_request *request)
{
    lk_event event = {.type = type, .request = *request};
    lk_small_step (self, host, &event);
}

/*  -------------------------------------------------------- questions */

const lk_decree *
lk_small_leaders (const lk_small *self)
{
    return lk_world_decree (&self->base);
}

lk_host
lk_small_home (const lk_small *self, lk_name object)
{
    const lk_decree *decree = lk_small_leaders (self);
    return decree->leader[lk_home_of (decree, object)];
}

size_t
lk_small_tickets (const lk_small *self, lk_name object, lk_ticket *tickets,
                  size_t room)
{
    lk_node *home = self->base.node[lk_small_home (self, object)];
    size_t cursor = 0, count = 0;
    lk_ticket ticket;
    while (home && lk_node_next_ticket (home, &cursor, &ticket)) {
        if (ticket.object.size != object.size
            || memcmp (ticket.object.data, object.data, object.size) != 0) {
            continue;
        }
        if (count < room) {
            tickets[count] = ticket;
        }
        count++;
    }
    return count;
}

long
lk_small_count (const lk_small *self)
{
    const lk_decree *decree = lk_small_leaders (self);
    long count = -1;
    for (size_t i = 0; i < decree->leader_count; i++) {
        lk_node_status status;
        lk_node *node = self->base.node[decree->leader[i]];
        if (!node) {
            continue;
        }
        lk_node_get_status (node, &status);
        if (count >= 0 && count != (long) status.tickets) {
            return -1;
        }
        count = (long) status.tickets;
    }
    return count;
}

bool
lk_small_wait_gone (lk_small *self, lk_host host, int64_t ms)
{
    const uint64_t session = self->base.host[host].disk.session;
    const bool runs = self->base.node[host] != NULL;
    for (int64_t end_ms = self->now_ms + ms;; lk_small_run (self, 100)) {
        const lk_decree *decree = lk_small_leaders (self);
        bool gone = true;
        for (size_t i = 0; i < decree->leader_count; i++) {
            lk_node *node = self->base.node[decree->leader[i]];
            size_t cursor = 0;
            lk_ticket ticket;
            while (node && lk_node_next_ticket (node, &cursor, &ticket)) {
                gone = gone
                       && (ticket.kept || ticket.request.host != host
                           || (runs && ticket.request.session == session));
            }
        }
        if (gone || self->now_ms >= end_ms) {
            return gone;
        }
    }
}
