/*  peers.c - which other lock services are of this cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "peers.h"

#include "wire/address.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
compare_names (const void *one, const void *other)
{
    return strcmp (one, other);
}

static bool
add_member (lk_charter *self, const char *name)
{
    if (self->count == LK_HOSTS_MAX
        || !lk_address_is_name (lk_slice_of (name))) {
        return false;
    }
    memcpy (self->member[self->count++], name, strlen (name) + 1);
    return true;
}

static void
sort_members (lk_charter *self)
{
    qsort (self->member, self->count, sizeof self->member[0], compare_names);
}

void
lk_peers_init (lk_peers *self, const char *host, const lk_lock_state *state,
               const lk_hostmap *hostmap)
{
    memset (self, 0, sizeof *self);
    snprintf (self->host, sizeof self->host, "%s", host);
    self->id = state->id;
    self->charter.protocol = LK_PEERS_PROTOCOL;
    memcpy (self->charter.name, state->cluster, sizeof state->cluster);
    for (size_t i = 0; i < hostmap->count; i++) {
        if (state->genesis & LK_HOST_BIT (i)) {
            (void) add_member (&self->charter,
                               lk_hostmap_name (hostmap, (lk_host) i));
        }
    }
    sort_members (&self->charter);
    self->charter.generation = state->generation;
    self->stands_still = state->has_rival;
}

static lk_other *
find (lk_peers *self, const char *host, uint64_t id)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_other *peer = &self->other[i];
        if (peer->id == id && strcmp (peer->host, host) == 0) {
            return peer;
        }
    }
    return NULL;
}

static bool
goes_before (const lk_other *one, const lk_other *other)
{
    const bool accepted = one->state == LK_OTHER_ACCEPTED;
    return accepted != (other->state == LK_OTHER_ACCEPTED)
               ? !accepted
               : one->heard < other->heard;
}

/*  A new place, or that of the one which can be done without. */
static lk_other *
make_place (lk_peers *self)
{
    lk_other *oldest = &self->other[0];
    if (self->count < LK_PEERS_MAX) {
        return &self->other[self->count++];
    }
    for (size_t i = 1; i < self->count; i++) {
        oldest =
            goes_before (&self->other[i], oldest) ? &self->other[i] : oldest;
    }
    return oldest;
}

lk_other *
lk_peers_intern (lk_peers *self, const char *host, uint64_t id)
{
    lk_other *peer = find (self, host, id);
    if (!peer && (id == 0 || !lk_address_is_name (lk_slice_of (host)))) {
        return NULL;
    }
    if (!peer) {
        peer = make_place (self);
        *peer = (lk_other) {.id = id};
        memcpy (peer->host, host, strlen (host) + 1);
    }
    peer->heard = ++self->heard;
    return peer;
}

void
lk_peers_forget (lk_peers *self, const char *host, uint64_t id)
{
    lk_other *peer = find (self, host, id);
    if (peer) {
        *peer = (lk_other) {.id = 0}; /* nobody's, and goes first */
    }
}

void
lk_charter_write (const lk_charter *self, lk_message *message)
{
    lk_message_set_number (message, "protocol", self->protocol);
    lk_message_set_text (message, "cluster", self->name);
    lk_message_set_number (message, "leader_lease", self->leader_lease_ms);
    lk_message_set_number (message, "host_lease", self->host_lease_ms);
    for (size_t i = 0; i < self->count; i++) {
        lk_message_add_item (message, "genesis", self->member[i]);
    }
    if (self->generation.number > 0) {
        char text[LK_GENERATION_TEXT_SIZE];
        lk_generation_write (&self->generation, text);
        lk_message_set_text (message, "generation", text);
    }
}

bool
lk_charter_read (lk_charter *self, const lk_message *message)
{
    memset (self, 0, sizeof *self);
    const char *name = lk_message_text (message, "cluster");
    if (!name || strlen (name) > LK_CLUSTER_LEN_MAX) {
        return false;
    }
    memcpy (self->name, name, strlen (name) + 1);
    self->protocol = lk_message_number (message, "protocol", -1);
    if (!lk_message_has (message, "protocol")) {
        self->protocol = 0;
    }
    self->leader_lease_ms = lk_message_number (message, "leader_lease", 0);
    self->host_lease_ms = lk_message_number (message, "host_lease", 0);
    if (self->protocol < 0 || self->leader_lease_ms <= 0
        || self->host_lease_ms <= 0) {
        return false;
    }
    const char *member;
    for (size_t i = 0;
         (member = lk_message_item (message, "genesis", i)) != NULL; i++) {
        if (!add_member (self, member)) {
            return false;
        }
    }
    sort_members (self);
    const char *generation = lk_message_text (message, "generation");
    return (self->name[0] != '\0') == (self->count > 0)
           && lk_generation_read (&self->generation,
                                  generation ? generation : "");
}

void
lk_level_write (lk_message *message)
{
    lk_message_set_number (message, "packed", LK_PACKED_LEVEL);
}

bool
lk_level_read (const lk_message *message, uint8_t *level)
{
    const int64_t said = lk_message_number (message, "packed", -1);
    *level = (uint8_t) (said < 0 ? 0 : said < UINT8_MAX ? said : UINT8_MAX);
    return said >= 0 || !lk_message_has (message, "packed");
}

/*  The members in a line; what does not fit is left off. */
static void
list_members (const lk_charter *charter, char *line, size_t size)
{
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < charter->count; i++) {
        int more = snprintf (line + used, size - used, "%s%s", i ? "," : "",
                             charter->member[i]);
        if (more < 0 || (size_t) more >= size - used) {
            return;
        }
        used += (size_t) more;
    }
}

static bool
same_members (const lk_charter *one, const lk_charter *other)
{
    return one->count == other->count
           && memcmp (one->member, other->member,
                      one->count * sizeof one->member[0])
                  == 0;
}

static bool
protocols_differ (const lk_peers *self, const lk_other *peer,
                  const lk_charter *theirs, char problem[LK_PEERS_PROBLEM_SIZE])
{
    const lk_charter *ours = &self->charter;
    if (ours->protocol == theirs->protocol) {
        return false;
    }
    snprintf (problem, LK_PEERS_PROBLEM_SIZE,
              "host '%s' speaks version %" PRId64 " of the protocol of lock "
              "services, host '%s' version %" PRId64
              ": run one version of lockkeeper on all hosts",
              self->host, ours->protocol, peer->host, theirs->protocol);
    return true;
}

static bool
names_differ (const lk_peers *self, const lk_other *peer,
              const lk_charter *theirs, char problem[LK_PEERS_PROBLEM_SIZE])
{
    const lk_charter *ours = &self->charter;
    if (strcmp (ours->name, theirs->name) == 0) {
        return false;
    }
    snprintf (problem, LK_PEERS_PROBLEM_SIZE,
              "host '%s' is of cluster '%s', host '%s' of cluster '%s'",
              self->host, ours->name, peer->host, theirs->name);
    return true;
}

/*  Protocol 9.19.4 to 9.19.6. */
static bool
generations_differ (const lk_peers *self, const lk_other *peer,
                    const lk_charter *theirs, lk_peer_news *news,
                    char problem[LK_PEERS_PROBLEM_SIZE])
{
    static const lk_peer_news known[] = {
        [LK_GENERATION_SAME] = LK_NEWS_NONE,
        [LK_GENERATION_EARLIER] = LK_NEWS_EARLIER,
        [LK_GENERATION_FOLLOW] = LK_NEWS_LATER,
        [LK_GENERATION_RETIRE] = LK_NEWS_LATER,
        [LK_GENERATION_RIVAL] = LK_NEWS_RIVAL,
    };
    const lk_generation *ours = &self->charter.generation;
    *news = known[lk_generation_relate (ours, self->host, self->id,
                                        &theirs->generation)];
    if (*news == LK_NEWS_RIVAL) {
        snprintf (
            problem, LK_PEERS_PROBLEM_SIZE,
            "hosts '%s' and '%s' are of two generations of number %" PRIu64
            ", begun apart: `lockkeeper cluster recover` begins a later one",
            self->host, peer->host, ours->number);
    } else {
        snprintf (problem, LK_PEERS_PROBLEM_SIZE,
                  "host '%s' is of generation %" PRIu64
                  " of the cluster, host '%s' of %" PRIu64,
                  self->host, ours->number, peer->host,
                  theirs->generation.number);
    }
    return *news != LK_NEWS_NONE;
}

/*  Whom we may not lead, serve or believe, whatever he says. */
static bool
stands_still (const lk_peers *self, char problem[LK_PEERS_PROBLEM_SIZE])
{
    if (self->stands_still) {
        snprintf (problem, LK_PEERS_PROBLEM_SIZE,
                  "host '%s' stands still: there are two generations of number "
                  "%" PRIu64,
                  self->host, self->charter.generation.number);
    }
    return self->stands_still;
}

static bool
members_differ (const lk_peers *self, const lk_other *peer,
                const lk_charter *theirs, char problem[LK_PEERS_PROBLEM_SIZE])
{
    const lk_charter *ours = &self->charter;
    char our_line[150];
    char their_line[150];
    if (same_members (ours, theirs)) {
        return false;
    }
    list_members (ours, our_line, sizeof our_line);
    list_members (theirs, their_line, sizeof their_line);
    snprintf (problem, LK_PEERS_PROBLEM_SIZE,
              "the first members of a cluster differ: '%s' on host '%s', "
              "'%s' on host '%s'",
              our_line, self->host, their_line, peer->host);
    return true;
}

/*  Whoever waits for the end of another's lease counts with its own. */
static bool
leases_differ (const lk_peers *self, const lk_other *peer,
               const lk_charter *theirs, char problem[LK_PEERS_PROBLEM_SIZE])
{
    const lk_charter *ours = &self->charter;
    if (ours->leader_lease_ms == theirs->leader_lease_ms
        && ours->host_lease_ms == theirs->host_lease_ms) {
        return false;
    }
    snprintf (problem, LK_PEERS_PROBLEM_SIZE,
              "leader-lease and host-lease differ: %" PRId64 ", %" PRId64
              " on host '%s', %" PRId64 ", %" PRId64 " on host '%s'",
              ours->leader_lease_ms, ours->host_lease_ms, self->host,
              theirs->leader_lease_ms, theirs->host_lease_ms, peer->host);
    return true;
}

/*  Whether `problem` was filled: they cannot be of one cluster. A service
 *  without a cluster fits any that has its leases. */
static bool
charters_differ (const lk_peers *self, const lk_other *peer,
                 const lk_charter *theirs, lk_peer_news *news,
                 char problem[LK_PEERS_PROBLEM_SIZE])
{
    const bool both = self->charter.name[0] && theirs->name[0];
    return protocols_differ (self, peer, theirs, problem)
           || (both && names_differ (self, peer, theirs, problem))
           || (both && generations_differ (self, peer, theirs, news, problem))
           || stands_still (self, problem)
           || (both && members_differ (self, peer, theirs, problem))
           || leases_differ (self, peer, theirs, problem);
}

/*  The host that has the same id under another name, or NULL. */
static const char *
find_twin (const lk_peers *self, const lk_other *peer)
{
    if (peer->id == self->id) {
        return self->host;
    }
    for (size_t i = 0; i < self->count; i++) {
        const lk_other *other = &self->other[i];
        if (other != peer && other->id == peer->id
            && other->state == LK_OTHER_ACCEPTED) {
            return other->host;
        }
    }
    return NULL;
}

/*  Whether `problem` was filled: a copied state file would vote twice. */
static bool
is_copy (const lk_peers *self, const lk_other *peer,
         char problem[LK_PEERS_PROBLEM_SIZE])
{
    const char *twin = find_twin (self, peer);
    if (!twin) {
        return false;
    }
    snprintf (problem, LK_PEERS_PROBLEM_SIZE,
              "hosts '%s' and '%s' have copies of one state file (id %016llx)",
              twin, peer->host, (unsigned long long) peer->id);
    return true;
}

/*  The others that we took before had no cluster either, and may have another
 *  by now. */
static void
join (lk_peers *self, const lk_charter *theirs)
{
    self->charter = *theirs;
    for (size_t i = 0; i < self->count; i++) {
        if (self->other[i].state == LK_OTHER_ACCEPTED) {
            self->other[i].state = LK_OTHER_NEW;
        }
    }
}

lk_other_state
lk_peers_judge (lk_peers *self, lk_other *peer, const lk_charter *theirs,
                lk_peer_news *news, char problem[LK_PEERS_PROBLEM_SIZE])
{
    *news = LK_NEWS_NONE;
    if (is_copy (self, peer, problem)
        || charters_differ (self, peer, theirs, news, problem)) {
        peer->state = LK_OTHER_REFUSED;
        snprintf (peer->why, sizeof peer->why, "%s", problem);
        return peer->state;
    }
    if (!self->charter.name[0] && theirs->name[0]) {
        join (self, theirs);
        *news = LK_NEWS_JOINED;
    }
    peer->state = LK_OTHER_ACCEPTED;
    peer->said = false;
    peer->why[0] = '\0';
    return peer->state;
}

uint64_t
lk_peers_id_of (const lk_peers *self, const char *host)
{
    const lk_other *latest = NULL;
    for (size_t i = 0; i < self->count; i++) {
        const lk_other *other = &self->other[i];
        if (strcmp (other->host, host) == 0
            && (!latest || other->heard > latest->heard)) {
            latest = other;
        }
    }
    return latest ? latest->id : 0;
}

const char *
lk_peers_refusal (const lk_peers *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->other[i].why[0] != '\0') {
            return self->other[i].why;
        }
    }
    return "";
}

void
lk_peers_gone (lk_peers *self, const char *host)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->other[i].host, host) == 0) {
            self->other[i].why[0] = '\0';
        }
    }
}
