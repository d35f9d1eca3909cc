/*  seats.c - see seats.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "seats.h"

#include "net/log.h"
#include "util/alloc.h"
#include "util/map.h"
#include "wire/address.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

struct lk_seat_key {
    char public_key[LK_CURVE_TEXT_SIZE];
    lk_seat *seat;
    UT_hash_handle hh;
};

/*  -------------------------------------------------------- keys */

static lk_seat_key *
find (const lk_seats *self, const char *public_key)
{
    lk_seat_key *key = NULL;
    HASH_FIND_STR (self->by_key, public_key, key);
    return key;
}

lk_seat *
lk_seats_find (const lk_seats *self, const char *public_key)
{
    const lk_seat_key *key = find (self, public_key);
    return key != NULL ? key->seat : NULL;
}

static void
forget (lk_seats *self, lk_seat_key *key)
{
    HASH_DEL (self->by_key, key);
    lk_free (key);
}

/*  Those that the cluster has withdrawn. */
static void
release (lk_seats *self, const lk_seat *seat, lk_curve_ring *ring)
{
    lk_seat_key *key, *next;
    HASH_ITER (hh, self->by_key, key, next) {
        if (key->seat == seat
            && (ring == NULL
                || lk_curve_ring_find (ring, key->public_key) == NULL)) {
            forget (self, key);
        }
    }
}

static void
note (lk_seats *self, lk_seat *seat, const char *public_key)
{
    lk_seat_key *key = lk_alloc (sizeof *key);
    snprintf (key->public_key, sizeof key->public_key, "%s", public_key);
    key->seat = seat;
    HASH_ADD_STR (self->by_key, public_key, key);
}

/*  A key that is another cluster's leaves the ring: by it the hosts of that one
 *  would come here. */
static void
claim (lk_seats *self, lk_seat *seat)
{
    lk_curve_ring *ring = &seat->router.keyring.ring;
    release (self, seat, ring);
    for (size_t i = ring->count; i > 0; i--) {
        lk_curve_key *key = &ring->key[i - 1];
        const lk_seat_key *owner = find (self, key->pair.public_key);
        if (owner == NULL) {
            note (self, seat, key->pair.public_key);
        } else if (owner->seat != seat) {
            lk_log_warning ("keys: not taken: the key of host '%s' is another "
                            "cluster's cluster=%s other=%s",
                            key->host, seat->cluster, owner->seat->cluster);
            lk_curve_ring_remove (ring, key);
        }
    }
}

void
lk_seats_flush (lk_seats *self)
{
    lk_seat *next;
    for (lk_seat *seat = self->awake; seat != NULL; seat = next) {
        lk_seat_flush (seat);
        next = seat->next_awake; /* it may have come meanwhile */
        if (seat->router.keyring.is_old) {
            claim (self, seat);
            lk_seat_keep (seat);
        }
    }
}

/*  -------------------------------------------------------- the folder */

static lk_seat *
seat_of (const lk_seats *self, const char *cluster)
{
    lk_seat *seat;
    DL_FOREACH (self->first, seat) {
        if (strcmp (seat->cluster, cluster) == 0) {
            return seat;
        }
    }
    return NULL;
}

static bool
has_keys (const lk_seats *self, const char *cluster)
{
    char path[PATH_MAX];
    const int size =
        snprintf (path, sizeof path, "%s/%s/keys", self->place.state, cluster);
    return size < (int) sizeof path && access (path, F_OK) == 0;
}

/*  One that is new. Its keys are claimed ahead of what its cluster may say. */
static void
add (lk_seats *self, const char *cluster)
{
    lk_problem problem;
    lk_seat *seat = lk_seat_new (&self->place, cluster, &problem);
    if (seat == NULL) {
        lk_log_error ("arbiter: not begun: %s cluster=%s", problem.text,
                      cluster);
        return;
    }
    DL_APPEND (self->first, seat);
    claim (self, seat);
    seat->is_kept = true;
}

static void
drop (lk_seats *self, lk_seat *seat)
{
    lk_log_notice ("arbiter: its folder is gone cluster=%s", seat->cluster);
    lk_seat_say_good_bye (seat);
    release (self, seat, NULL);
    DL_DELETE (self->first, seat);
    lk_seat_destroy (&seat);
}

lk_err
lk_seats_read (lk_seats *self, lk_problem *problem)
{
    lk_seat *seat, *next;
    struct dirent *entry;
    DIR *folder = opendir (self->place.state);
    if (folder == NULL) {
        return lk_problem_errno (problem, "cannot read the folder '%s'",
                                 self->place.state);
    }
    DL_FOREACH (self->first, seat) {
        seat->is_kept = false;
    }
    while ((entry = readdir (folder)) != NULL) {
        const char *name = entry->d_name;
        if (!lk_address_is_name (lk_slice_of (name))
            || !has_keys (self, name)) {
            continue;
        }
        seat = seat_of (self, name);
        if (seat == NULL) {
            add (self, name);
        } else {
            seat->is_kept = true;
        }
    }
    (void) closedir (folder);
    DL_FOREACH_SAFE (self->first, seat, next) {
        if (!seat->is_kept) {
            drop (self, seat);
        } else if (seat->hosting.first == NULL) {
            lk_seat_begin (seat);
            lk_seat_flush (seat); /* there may be many more to begin */
            lk_log_notice ("arbiter: votes cluster=%s", seat->cluster);
        }
    }
    return LK_OK;
}

/*  -------------------------------------------------------- all */

void
lk_seats_init (lk_seats *self, const lk_seat_place *place)
{
    *self = (lk_seats) {.place = *place};
    self->place.awake = &self->awake;
}

void
lk_seats_clear (lk_seats *self)
{
    while (self->first != NULL) {
        lk_seat *seat = self->first;
        release (self, seat, NULL);
        DL_DELETE (self->first, seat);
        lk_seat_destroy (&seat);
    }
}

size_t
lk_seats_count (const lk_seats *self)
{
    const lk_seat *seat;
    size_t count;
    DL_COUNT (self->first, seat, count);
    return count;
}

size_t
lk_seats_running (const lk_seats *self)
{
    const lk_seat *seat;
    size_t count = 0;
    DL_FOREACH (self->first, seat) {
        count += lk_seat_runs (seat);
    }
    return count;
}
