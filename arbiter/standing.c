/*  standing.c - see standing.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Its own socket would be one more that somebody can reach.
 */

#include "standing.h"
#include "ballot.h"

#include "net/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void
tell_seat (FILE *file, const lk_seat *seat)
{
    const void *vote = lk_hosting_service (&seat->hosting, seat->cluster);
    uint64_t number = 0;
    unsigned members = 0;
    size_t total, live;
    lk_mesh_count (&seat->router.mesh, &total, &live);
    if (vote != NULL) {
        lk_ballot_status (vote, &number, &members);
    }
    (void) fprintf (file,
                    "cluster=%s votes=%s hosts=%zu members=%u decree=%llu "
                    "frames=%llu dropped=%llu\n",
                    seat->cluster, lk_seat_runs (seat) ? "yes" : "no", live - 1,
                    members, (unsigned long long) number,
                    (unsigned long long) seat->router.count.frames,
                    (unsigned long long) seat->dropped);
}

static bool
write_all (FILE *file, const lk_seats *seats, const char *key)
{
    const lk_seat *seat;
    (void) fprintf (file, "arbiter=%s address=%s key=%s clusters=%zu\n",
                    seats->place.host, seats->place.address, key,
                    lk_seats_count (seats));
    for (seat = seats->first; seat != NULL; seat = seat->next) {
        tell_seat (file, seat);
    }
    const bool is_written = ferror (file) == 0;
    return fclose (file) == 0 && is_written;
}

void
lk_standing_write (const char *dir, const lk_seats *seats, const char *key)
{
    char path[PATH_MAX + sizeof "/status"], new[sizeof path + sizeof ".new"];
    snprintf (path, sizeof path, "%s/status", dir);
    snprintf (new, sizeof new, "%s.new", path);
    FILE *file = fopen (new, "we");
    if (file == NULL || !write_all (file, seats, key)
        || rename (new, path) != 0) {
        lk_log_warning ("arbiter: cannot write '%s': %s", path,
                        strerror (errno));
    }
}
