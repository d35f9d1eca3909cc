/*  ask.c - takes a lock so many times, and opens a gate while it waits for it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      ask NAME TIMES
 *
 *  WALK_DIR/gate has the number of the walk from the call that asks to its
 *  return, else 0; see trace.c. Between two walks everything comes to rest.
 */

#include <fcntl.h>
#include <limits.h>
#include <lockkeeper/lockkeeper.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define REST_MS 190 /* pings come every 250 ms: walks meet each part of that */

static volatile uint32_t *
open_gate (void)
{
    char path[PATH_MAX];
    snprintf (path, sizeof path, "%s/gate", getenv ("WALK_DIR"));
    const int fd = open (path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED
                      : mmap (NULL, sizeof (uint32_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED, fd, 0);
    return at != MAP_FAILED ? at : NULL;
}

static lk_err
walk (lk_session *session, const char *name, volatile uint32_t *gate,
      uint32_t number)
{
    lk_lock *lock = NULL;
    (void) poll (NULL, 0, REST_MS);
    *gate = number;
    lk_err error = lk_lock_wait (session, name, 10000, &lock);
    *gate = 0;
    return error != LK_OK ? error : lk_lock_release (&lock);
}

int
main (int argc, char **argv)
{
    volatile uint32_t *gate = getenv ("WALK_DIR") != NULL ? open_gate () : NULL;
    lk_session *session = lk_session_new (NULL);
    if (argc != 3 || gate == NULL || session == NULL) {
        fprintf (stderr, "usage: WALK_DIR=DIR ask NAME TIMES\n");
        return 2;
    }
    lk_err error = LK_OK;
    const long times = strtol (argv[2], NULL, 10);
    /*  The first ones make what lasts: memory, tables, connections. */
    for (long i = -2; i <= times && error == LK_OK; i++) {
        error = walk (session, argv[1], gate, i > 0 ? (uint32_t) i : 0);
    }
    if (error != LK_OK) {
        fprintf (stderr, "%s\n", lk_session_problem (session));
    }
    lk_session_destroy (&session);
    return error != LK_OK;
}
