/*  known_servers.c - see known_servers.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/known_servers.h"

#include "util/alloc.h"
#include "util/rng.h"

#include <stdio.h>
#include <string.h>

#define AGAIN_MS 1000    /* until the same one is tried again */
#define QUICK_MS 100     /* ... of several behind one address, at first */
#define QUICK_TRIES 8    /* ... so often */
#define NEARER_MS 10000  /* ... for being nearer alone */
#define MOVED_MS 30000   /* who stops comes last for so long */
#define FORGET_MS 600000 /* what left the list is kept so long */

struct lk_known_servers {
    lk_known_server *one[LK_KNOWN_SERVERS_MAX];
    size_t count;
    int next_number;
    lk_client_order order;
    char domain[LK_DOMAIN_LEN_MAX + 1];
    char limit[LK_DOMAIN_LEN_MAX + 1];
    lk_rng rng;
};

/*  -------------------------------------------------------- one of them */

static lk_known_server *
add (lk_known_servers *self, const char *endpoint, const char *key,
     const char *domain)
{
    if (self->count == LK_KNOWN_SERVERS_MAX) {
        return NULL;
    }
    lk_known_server *it = lk_alloc (sizeof *it);
    it->number = self->next_number++;
    it->moved_ms = it->begun_ms = LK_KNOWN_SERVER_NEVER;
    it->answer_ms = -1;
    it->lot = (uint32_t) lk_rng_next (&self->rng);
    snprintf (it->endpoint, sizeof it->endpoint, "%s", endpoint);
    snprintf (it->key, sizeof it->key, "%s", key);
    snprintf (it->domain, sizeof it->domain, "%s", domain);
    self->one[self->count++] = it;
    return it;
}

lk_known_server *
lk_known_servers_at (const lk_known_servers *self, size_t place)
{
    return place < self->count ? self->one[place] : NULL;
}

lk_known_server *
lk_known_servers_find (const lk_known_servers *self, int number)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->one[i]->number == number) {
            return self->one[i];
        }
    }
    return NULL;
}

void
lk_known_servers_answered (lk_known_server *server, int64_t took_ms)
{
    server->is_gone = false;
    server->answer_ms =
        server->answer_ms < 0 ? took_ms : (server->answer_ms + took_ms) / 2;
}

void
lk_known_servers_moved (lk_known_server *server, int64_t now_ms)
{
    server->moved_ms = now_ms;
}

void
lk_known_servers_turn (lk_known_server *server)
{
    char former[LK_CLIENT_ENDPOINT_SIZE];
    if (server->other[0] != '\0') {
        memcpy (former, server->endpoint, sizeof former);
        memcpy (server->endpoint, server->other, sizeof former);
        memcpy (server->other, former, sizeof former);
    }
}

void
lk_known_servers_settle (lk_known_servers *self)
{
    for (size_t i = 0; i < self->count; i++) {
        self->one[i]->tries = 0;
    }
}

/*  -------------------------------------------------------- a list */

/*  Room for one more: without the one that has been gone longest. */
static void
forget (lk_known_servers *self, int64_t now_ms)
{
    size_t oldest = self->count;
    for (size_t i = 0; i < self->count; i++) {
        const lk_known_server *it = self->one[i];
        if (it->is_gone && !it->is_of_file && !it->is_used && !it->is_tried
            && (oldest == self->count
                || it->gone_ms < self->one[oldest]->gone_ms)) {
            oldest = i;
        }
    }
    if (oldest < self->count
        && (self->count == LK_KNOWN_SERVERS_MAX
            || now_ms - self->one[oldest]->gone_ms >= FORGET_MS)) {
        lk_free (self->one[oldest]);
        self->one[oldest] = self->one[--self->count];
    }
}

/*  Whether one row alone has that key. */
static bool
is_single_row (const lk_known_server_row *row, size_t count, const char *key)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += strcmp (row[i].key, key) == 0;
    }
    return found == 1;
}

/*  The only one with that key; NULL: there are none, or several. */
static lk_known_server *
find_single (const lk_known_servers *self, const char *key)
{
    lk_known_server *found = NULL;
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->one[i]->key, key) == 0) {
            if (found != NULL) {
                return NULL;
            }
            found = self->one[i];
        }
    }
    return found;
}

static lk_known_server *
find_same (const lk_known_servers *self, const lk_known_server_row *row)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_known_server *it = self->one[i];
        if (strcmp (it->key, row->key) == 0
            && (strcmp (it->endpoint, row->endpoint) == 0
                || strcmp (it->other, row->endpoint) == 0)) {
            return it;
        }
    }
    return NULL;
}

/*  Of a server that is known already: where it is now. */
static void
update (lk_known_server *it, const lk_known_server_row *row)
{
    char *place = it->is_of_file ? it->other : it->endpoint;
    if (strcmp (it->endpoint, row->endpoint) != 0
        && strcmp (it->other, row->endpoint) != 0) {
        memcpy (place, row->endpoint, sizeof it->endpoint);
    }
    if (row->domain[0] != '\0' || !it->is_of_file) {
        memcpy (it->domain, row->domain, sizeof it->domain);
    }
    if (it->is_gone) {
        it->is_gone = false;
        it->begun_ms = it->moved_ms = LK_KNOWN_SERVER_NEVER;
    }
}

static const lk_known_server *
take_row (lk_known_servers *self, const lk_known_server_row *row,
          bool is_single, int64_t now_ms)
{
    lk_known_server *it = find_same (self, row);
    if (it == NULL && is_single) {
        it = find_single (self, row->key);
    }
    if (it != NULL) {
        update (it, row);
        return it;
    }
    forget (self, now_ms);
    return add (self, row->endpoint, row->key, row->domain);
}

void
lk_known_servers_told (lk_known_servers *self, const lk_known_server_row *row,
                       size_t count, int64_t now_ms)
{
    bool is_there[LK_KNOWN_SERVERS_MAX] = {false};
    const lk_known_server *found[LK_KNOWN_SERVERS_TOLD_MAX];
    count =
        count < LK_KNOWN_SERVERS_TOLD_MAX ? count : LK_KNOWN_SERVERS_TOLD_MAX;
    for (size_t i = 0; i < count; i++) {
        found[i] = take_row (self, &row[i],
                             is_single_row (row, count, row[i].key), now_ms);
    }
    for (size_t i = 0; i < self->count; i++) {
        for (size_t j = 0; j < count; j++) {
            is_there[i] |= found[j] == self->one[i];
        }
        if (!is_there[i] && !self->one[i]->is_gone) {
            self->one[i]->is_gone = true;
            self->one[i]->gone_ms = now_ms;
        }
    }
}

/*  Where it is else is not forgotten for that. */
void
lk_known_servers_found (lk_known_servers *self, const lk_known_server_row *row,
                        int64_t now_ms)
{
    lk_known_server *it = find_same (self, row);
    if (it == NULL) {
        it = find_single (self, row->key);
    }
    if (it == NULL) {
        forget (self, now_ms);
        (void) add (self, row->endpoint, row->key, row->domain);
    } else if (strcmp (it->endpoint, row->endpoint) != 0) {
        memcpy (it->other, row->endpoint, sizeof it->other);
    }
}

/*  -------------------------------------------------------- the order */

size_t
lk_known_servers_step (const lk_known_servers *self,
                       const lk_known_server *server)
{
    return lk_domain_step (self->domain, server->domain);
}

bool
lk_known_servers_race (const lk_known_servers *self)
{
    return self->order == LK_CLIENT_NEAREST;
}

/*  Less: it comes earlier, of those that are as near. */
static uint64_t
turn_of (const lk_known_servers *self, const lk_known_server *it)
{
    switch (self->order) {
    case LK_CLIENT_NEAREST:
        return (uint64_t) it->answer_ms; /* none: the greatest */
    case LK_CLIENT_RANDOM:
        return it->lot;
    case LK_CLIENT_LISTED:
        break;
    }
    return 0;
}

/*  It stops, or left the list. */
static bool
is_last (const lk_known_server *it, int64_t now_ms)
{
    return it->is_gone || now_ms - it->moved_ms < MOVED_MS;
}

bool
lk_known_servers_precedes (const lk_known_servers *self,
                           const lk_known_server *one,
                           const lk_known_server *other)
{
    const size_t step = lk_known_servers_step (self, one);
    const size_t other_step = lk_known_servers_step (self, other);
    const uint64_t turn = turn_of (self, one);
    const uint64_t other_turn = turn_of (self, other);
    if (step != other_step) {
        return step < other_step;
    }
    return turn != other_turn ? turn < other_turn : one->number < other->number;
}

static bool
is_better (const lk_known_servers *self, const lk_known_server *one,
           const lk_known_server *other, int64_t now_ms)
{
    const bool one_last = is_last (one, now_ms);
    if (other == NULL || one->tries != other->tries) {
        return other == NULL || one->tries < other->tries;
    }
    return one_last != is_last (other, now_ms)
               ? !one_last
               : lk_known_servers_precedes (self, one, other);
}

/*  -------------------------------------------------------- choosing */

/*  A server that is not known to be outside may be asked where it is. */
static bool
is_outside (const lk_known_servers *self, const lk_known_server *it)
{
    return it->domain[0] != '\0'
           && !lk_domain_is_within (self->limit, it->domain);
}

bool
lk_known_servers_allow (const lk_known_servers *self,
                        const lk_known_server *server, lk_problem *problem)
{
    return lk_client_limit_allows (self->limit, server->domain, problem);
}

bool
lk_known_servers_share (const lk_known_servers *self,
                        const lk_known_server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        count += strcmp (self->one[i]->endpoint, server->endpoint) == 0;
    }
    return count > 1;
}

static bool
is_ripe (const lk_known_servers *self, const lk_known_server *it,
         int64_t now_ms)
{
    const bool is_quick =
        it->tries < QUICK_TRIES && lk_known_servers_share (self, it);
    const int64_t again_ms = is_quick ? QUICK_MS : AGAIN_MS;
    return !it->is_tried && now_ms - it->begun_ms >= again_ms
           && !is_outside (self, it);
}

/*  Any of those behind that address: what shares connections out goes round as
 *  we would, and might never meet the key that is tried. */
static lk_known_server *
draw_there (lk_known_servers *self, lk_known_server *best, int64_t now_ms)
{
    lk_known_server *drawn = best;
    int64_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        lk_known_server *it = self->one[i];
        if (strcmp (it->endpoint, best->endpoint) == 0
            && is_ripe (self, it, now_ms)
            && lk_rng_between (&self->rng, 0, count++) == 0) {
            drawn = it;
        }
    }
    return drawn;
}

lk_known_server *
lk_known_servers_next (lk_known_servers *self, int64_t now_ms)
{
    lk_known_server *best = NULL;
    for (size_t i = 0; i < self->count; i++) {
        lk_known_server *it = self->one[i];
        if (is_ripe (self, it, now_ms) && is_better (self, it, best, now_ms)) {
            best = it;
        }
    }
    return best != NULL ? draw_there (self, best, now_ms) : NULL;
}

lk_known_server *
lk_known_servers_nearer (lk_known_servers *self, const lk_known_server *than,
                         int64_t now_ms)
{
    const size_t step = lk_known_servers_step (self, than);
    lk_known_server *best = NULL;
    for (size_t i = 0; i < self->count; i++) {
        lk_known_server *it = self->one[i];
        if (lk_known_servers_step (self, it) < step && !is_last (it, now_ms)
            && now_ms - it->begun_ms >= NEARER_MS && is_ripe (self, it, now_ms)
            && is_better (self, it, best, now_ms)) {
            best = it;
        }
    }
    return best;
}

/*  -------------------------------------------------------- life */

lk_known_servers *
lk_known_servers_new (const lk_client_file *file, uint64_t seed)
{
    lk_known_servers *self = lk_alloc (sizeof *self);
    self->order = file->order;
    memcpy (self->domain, file->domain, sizeof self->domain);
    memcpy (self->limit, file->limit, sizeof self->limit);
    lk_rng_init (&self->rng, seed);
    for (size_t i = 0; i < file->count; i++) {
        const lk_client_server *server = &file->server[i];
        add (self, server->endpoint, server->key, server->domain)->is_of_file =
            true;
    }
    return self;
}

void
lk_known_servers_destroy (lk_known_servers **self_p)
{
    lk_known_servers *self = *self_p;
    if (self != NULL) {
        for (size_t i = 0; i < self->count; i++) {
            lk_free (self->one[i]);
        }
        lk_free (self);
        *self_p = NULL;
    }
}
