/*  client.c - loads on lockkeeper, by who knows the protocol page only
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  client ENDPOINT PREFIX HOME MS LOAD:COUNT...
 *
 *  Names are such that their home is the host HOME, or anywhere with "any".
 *  Each load takes MS, or twice that for one request or name, and a fourth of
 *  it before it counts:
 *
 *  exclusive:N   a name for each of N requests under way
 *  shared:N      one name, which somebody else holds shared, too
 *  semaphore:N   one name, with room for all and one that somebody else has
 *  try:N         one name that somebody else holds: all fail
 *  handover:N    one name, N requests for it of eight processes
 *  drain:N       the same, and who had it does not ask again
 *
 *  With N = 1 the figures are the times of single operations, else the
 *  operations per second and how many pairs of them were done.
 */

#include "lib/crowd.h"
#include "lib/lanes.h"
#include "util/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_SIZE 64

typedef struct {
    lk_raw *raw;
    const char *endpoint;
    const char *prefix;
    const char *home;
    char leaders[8][NAME_SIZE];
    uint64_t leader_count;
    int64_t ns;
    char name[LK_LANES_MAX][NAME_SIZE];
    const char *names[LK_LANES_MAX];
    unsigned number; /* of the last name */
} client;

/*  -------------------------------------------------------- names */

/*  In their order, from the lock service of this host. */
static void
find_leaders (client *self)
{
    char list[8 * NAME_SIZE], *rest = list, *word;
    lk_raw_ask (self->raw, "lock@.", "LOCKSTATUS", "leaders", list,
                sizeof list);
    while ((word = strtok_r (rest, "\",", &rest)) != NULL
           && self->leader_count < 8) {
        snprintf (self->leaders[self->leader_count++], NAME_SIZE, "%s", word);
    }
    if (self->leader_count == 0) {
        lk_raw_fail ("no leaders");
    }
}

/*  The home is the leader at the place that the hash of zone NUL context NUL
 *  object tells. */
static bool
is_home (const client *self, const char *name, int size)
{
    char key[NAME_SIZE + 2] = {0};
    memcpy (key + 2, name, (size_t) size);
    const uint64_t hash = lk_hash64 (key, (size_t) size + 2);
    return strcmp (self->home, "any") == 0
           || strcmp (self->home, self->leaders[hash % self->leader_count])
                  == 0;
}

static void
make_name (client *self, char *name)
{
    int size;
    do {
        if (++self->number > 1000 * LK_LANES_MAX) {
            lk_raw_fail ("'%s' is no leader", self->home);
        }
        size = snprintf (name, NAME_SIZE, "bench/%d-%u", (int) getpid (),
                         self->number);
    } while (!is_home (self, name, size));
}

/*  So many names, or so many times the same. */
static void
make_names (client *self, int count, bool same)
{
    for (int i = 0; i < count; i++) {
        if (i == 0 || !same) {
            make_name (self, self->name[i]);
        }
        self->names[i] = self->name[same ? 0 : i];
    }
}

/*  -------------------------------------------------------- somebody else */

static uint64_t
hold (client *self, const lk_lanes_options *options)
{
    char limit[32] = "";
    if (options->limit > 0) {
        snprintf (limit, sizeof limit, ",\"limit\":%d", options->limit);
    }
    return lk_raw_demand (self->raw, "LOCK",
                          "{\"object\":\"%s\",\"type\":\"%s\"%s}",
                          options->names[0], options->type, limit);
}

static void
let_go (client *self, uint64_t serial)
{
    (void) lk_raw_demand (self->raw, "UNLOCK", "{\"request\":%llu}",
                          (unsigned long long) serial);
}

/*  -------------------------------------------------------- loads */

static void
tell (const client *self, const char *what, const lk_lanes_options *options,
      lk_lanes_result *result)
{
    char prefix[100], in_flight[32];
    const double seconds = (double) (result->end_ns - options->start_ns) / 1e9;
    snprintf (prefix, sizeof prefix, "%s%s%s", self->prefix, what ? "." : "",
              what ? what : "");
    if (options->count == 1) {
        lk_samples_tell (&result->lock, prefix, "latency");
        if (!options->is_try) {
            lk_samples_tell (&result->unlock, prefix, "unlock");
        }
    }
    snprintf (in_flight, sizeof in_flight, "inflight%d", options->count);
    lk_figure (prefix,
               (double) (result->granted + result->ended + result->failed)
                   / seconds,
               "1/s", "%s.ops", in_flight);
    if (!options->is_try) {
        lk_figure (prefix, (double) result->ended / seconds, "1/s", "%s.rate",
                   in_flight);
    }
}

static void
set_time (const client *self, lk_lanes_options *options, int64_t start)
{
    const int64_t ns = options->count == 1 ? 2 * self->ns : self->ns;
    options->start_ns = start + ns / 4;
    options->end_ns = options->start_ns + ns;
}

static void
run_load (client *self, const char *load, int count)
{
    const bool exclusive = strcmp (load, "exclusive") == 0;
    const bool is_try = strcmp (load, "try") == 0;
    lk_lanes_options options = {.type = is_try ? "exclusive" : load,
                                .is_try = is_try,
                                .names = self->names,
                                .count = count};
    lk_lanes_result result = {0};
    uint64_t held = 0;
    if (strcmp (load, "semaphore") == 0) {
        options.limit = count + 1;
    }
    make_names (self, count, !exclusive);
    if (!exclusive) {
        held = hold (self, &options);
    }
    set_time (self, &options, lk_figures_now_ns ());
    lk_lanes_run (self->raw, &options, &result);
    if (!exclusive) {
        let_go (self, held);
    }
    tell (self, exclusive ? NULL : load, &options, &result);
    lk_samples_clear (&result.lock);
    lk_samples_clear (&result.unlock);
}

/*  -------------------------------------------------------- crowds */

/*  A leader that is not the home. */
static const char *
follower (const client *self)
{
    for (uint64_t i = 0; i < self->leader_count; i++) {
        if (strcmp (self->leaders[i], self->home) != 0) {
            return self->leaders[i];
        }
    }
    lk_raw_fail ("one leader only");
}

static void
run_crowd (client *self, int count, void (*run) (const lk_crowd_options *))
{
    make_names (self, 1, true);
    run (&(lk_crowd_options) {.raw = self->raw,
                              .endpoint = self->endpoint,
                              .prefix = self->prefix,
                              .name = self->name[0],
                              .leader = follower (self),
                              .count = count,
                              .ns = 2 * self->ns});
}

/*  -------------------------------------------------------- all of it */

static void
run (client *self, const char *load)
{
    char kind[32];
    int count = 0;
    if (sscanf (load, "%31[a-z]:%d", kind, &count) != 2 || count < 1
        || count > LK_LANES_MAX) {
        lk_raw_fail ("what is the load '%s'?", load);
    }
    if (strcmp (kind, "handover") == 0) {
        run_crowd (self, count, lk_crowd_handover);
    } else if (strcmp (kind, "drain") == 0) {
        run_crowd (self, count, lk_crowd_drain);
    } else {
        run_load (self, kind, count);
    }
}

int
main (int argc, char **argv)
{
    static client self;
    if (argc < 6) {
        fprintf (stderr, "usage: %s ENDPOINT PREFIX HOME MS LOAD:COUNT...\n",
                 argv[0]);
        return 2;
    }
    self.endpoint = argv[1];
    self.prefix = argv[2];
    self.home = argv[3];
    self.ns = strtol (argv[4], NULL, 10) * 1000000;
    self.raw = lk_raw_open (self.endpoint, "bench");
    find_leaders (&self);
    for (int i = 5; i < argc; i++) {
        run (&self, argv[i]);
    }
    lk_raw_close (&self.raw);
    return 0;
}
