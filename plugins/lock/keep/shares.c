/*  shares.c - limits of zones, and what all hosts together use of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "shares.h"

#include "util/map.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  A zone with a limit. */
typedef struct {
    lk_zone limits; /* under its plain name */
    lk_zone_use others;
    int64_t servers; /* of the others, that had requests */
    int64_t second, requests, requests_before;
    UT_hash_handle hh;
} zone_entry;

typedef struct {
    char zone[LK_HOST_LEN_MAX + 1];
    lk_zone_use use;
} told_row;

/*  The use that another lock service told last. */
typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    size_t count;
    told_row *row;
    UT_hash_handle hh;
} told_host;

struct lk_shares {
    zone_entry *zones;
    told_host *hosts;
};

lk_shares *
lk_shares_new (void)
{
    return lk_alloc (sizeof (lk_shares));
}

static zone_entry *
find (const lk_shares *self, const char *zone)
{
    zone_entry *it = NULL;
    HASH_FIND_STR (self->zones, zone, it);
    return it;
}

/*  -------------------------------------------------------- sums */

static void
add (lk_shares *self, const told_host *host, int64_t sign)
{
    for (size_t i = 0; i < host->count; i++) {
        const lk_zone_use *use = &host->row[i].use;
        zone_entry *zone = find (self, host->row[i].zone);
        if (zone) {
            zone->others.locks += sign * use->locks;
            zone->others.bytes += sign * use->bytes;
            zone->others.sessions += sign * use->sessions;
            zone->others.requests += sign * use->requests;
            zone->servers += use->requests > 0 ? sign : 0;
        }
    }
}

static int64_t
more (int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/*  Each leader tells of the same ones. */
static void
find_most_kept (lk_shares *self)
{
    for (zone_entry *zone = self->zones; zone; zone = zone->hh.next) {
        zone->others.kept = 0;
        zone->others.kept_bytes = 0;
    }
    for (const told_host *host = self->hosts; host; host = host->hh.next) {
        for (size_t i = 0; i < host->count; i++) {
            const lk_zone_use *use = &host->row[i].use;
            zone_entry *zone =
                use->kept > 0 ? find (self, host->row[i].zone) : NULL;
            if (zone) {
                lk_zone_use *most = &zone->others;
                most->kept = more (most->kept, use->kept);
                most->kept_bytes = more (most->kept_bytes, use->kept_bytes);
            }
        }
    }
}

static void
drop_host (lk_shares *self, told_host *host)
{
    add (self, host, -1);
    HASH_DEL (self->hosts, host);
    lk_free (host->row);
    lk_free (host);
}

void
lk_shares_gone (lk_shares *self, const char *host)
{
    told_host *it = NULL;
    HASH_FIND_STR (self->hosts, host, it);
    if (it) {
        drop_host (self, it);
        find_most_kept (self);
    }
}

/*  -------------------------------------------------------- what is told */

/*  A number that none of ours would tell counts as the nearest one. */
static int64_t
read_count (const lk_message *row, const char *field)
{
    const int64_t max = INT64_C (1) << 40;
    const int64_t count = lk_message_number (row, field, 0);
    return count < 0 ? 0 : count > max ? max : count;
}

static void
read_row (told_row *self, const lk_message *row)
{
    const char *zone = lk_message_text (row, "zone");
    snprintf (self->zone, sizeof self->zone, "%s",
              zone ? lk_zone_plain (zone) : "");
    self->use = (lk_zone_use) {.locks = read_count (row, "locks"),
                               .bytes = read_count (row, "bytes"),
                               .sessions = read_count (row, "sessions"),
                               .requests = read_count (row, "requests"),
                               .kept = read_count (row, "kept"),
                               .kept_bytes = read_count (row, "kept_bytes")};
}

void
lk_shares_take (lk_shares *self, const char *host, const lk_message *told)
{
    const size_t count = lk_message_item_count (told, "zones");
    lk_shares_gone (self, host);
    told_host *it = lk_alloc (sizeof *it);
    snprintf (it->host, sizeof it->host, "%s", host);
    it->row = lk_alloc ((LK_ZONES_MAX + 1) * sizeof *it->row);
    for (size_t i = 0; i < count && it->count < LK_ZONES_MAX; i++) {
        lk_message *row = lk_message_row (told, "zones", i);
        if (row) {
            read_row (&it->row[it->count++], row);
        }
        lk_message_destroy (&row);
    }
    HASH_ADD_STR (self->hosts, host, it);
    add (self, it, 1);
    find_most_kept (self);
}

/*  -------------------------------------------------------- limits */

static void
drop_zones (lk_shares *self)
{
    zone_entry *zone, *next;
    HASH_ITER (hh, self->zones, zone, next) {
        HASH_DEL (self->zones, zone);
        lk_free (zone);
    }
}

void
lk_shares_set (lk_shares *self, const char *settings)
{
    lk_zone *all = lk_alloc (LK_ZONES_MAX * sizeof *all);
    const size_t count = lk_common_settings_zones (settings, all);
    drop_zones (self);
    for (size_t i = 0; i < count; i++) {
        const char *name = lk_zone_plain (all[i].name);
        if (!find (self, name)) {
            zone_entry *zone = lk_alloc (sizeof *zone);
            zone->limits = all[i];
            snprintf (zone->limits.name, sizeof zone->limits.name, "%s", name);
            HASH_ADD_STR (self->zones, limits.name, zone);
        }
    }
    lk_free (all);
    for (told_host *host = self->hosts; host; host = host->hh.next) {
        add (self, host, 1);
    }
    find_most_kept (self);
}

void
lk_shares_destroy (lk_shares **self_p)
{
    lk_shares *self = *self_p;
    if (self) {
        while (self->hosts) {
            drop_host (self, self->hosts);
        }
        drop_zones (self);
        lk_free (self);
        *self_p = NULL;
    }
}

bool
lk_shares_are_told (const lk_shares *self)
{
    return self->zones != NULL;
}

const lk_zone *
lk_shares_limits (const lk_shares *self, const char *zone)
{
    const zone_entry *it = find (self, zone);
    return it ? &it->limits : NULL;
}

const lk_zone *
lk_shares_next (const lk_shares *self, const lk_zone *zone)
{
    const zone_entry *it = self->zones;
    if (zone) {
        it = find (self, zone->name)->hh.next;
    }
    return it ? &it->limits : NULL;
}

lk_zone_use
lk_shares_others (const lk_shares *self, const char *zone)
{
    const zone_entry *it = find (self, zone);
    return it ? it->others : (lk_zone_use) {0};
}

lk_zone_use
lk_shares_all (const lk_shares *self, const char *zone, lk_node_use own)
{
    lk_zone_use use = lk_shares_others (self, zone);
    use.kept = more (use.kept, (int64_t) own.kept);
    use.kept_bytes = more (use.kept_bytes, (int64_t) own.kept_bytes);
    use.locks += (int64_t) own.locks + use.kept;
    use.bytes += (int64_t) own.bytes + use.kept_bytes;
    return use;
}

/*  -------------------------------------------------------- requests */

/*  Hosts that are asked for it share the limit; each has 1 at least. */
static int64_t
part_of (const zone_entry *zone)
{
    const int64_t part = zone->limits.requests / (zone->servers + 1);
    return part > 0 ? part : 1;
}

static void
begin_second (zone_entry *zone, int64_t now_ms)
{
    const int64_t second = now_ms / 1000;
    if (second != zone->second) {
        zone->requests_before = second == zone->second + 1 ? zone->requests : 0;
        zone->requests = 0;
        zone->second = second;
    }
}

bool
lk_shares_count (lk_shares *self, const char *zone, int64_t now_ms)
{
    zone_entry *it = find (self, zone);
    if (!it) {
        return true;
    }
    begin_second (it, now_ms);
    it->requests++;
    return it->limits.requests == 0 || it->requests <= part_of (it);
}

bool
lk_shares_is_over (const lk_shares *self, const char *zone, int64_t now_ms)
{
    const zone_entry *it = find (self, zone);
    return it && it->limits.requests > 0 && it->second == now_ms / 1000
           && it->requests > part_of (it);
}

int64_t
lk_shares_rate (const lk_shares *self, const char *zone, int64_t now_ms)
{
    const zone_entry *it = find (self, zone);
    const int64_t second = now_ms / 1000;
    return !it                        ? 0
           : it->second == second     ? it->requests_before
           : it->second + 1 == second ? it->requests
                                      : 0;
}
