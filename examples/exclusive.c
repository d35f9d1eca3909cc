/*  exclusive.c - work that only one process of the cluster does at a time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      lockkeeper sandbox -- ./exclusive my-lock
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/*  Goes on while the lock is ours. What it changes should be told the token,
 *  so that it can refuse who comes late: see check.c. */
static void
work (const lk_lock *lock)
{
    for (int step = 1; step <= 3 && lk_lock_held (lock); step++) {
        printf ("step %d, token %" PRIu64 "\n", step, lk_lock_token (lock));
        (void) poll (NULL, 0, 100);
    }
}

int
main (int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "example";
    lk_session *session = lk_session_new (NULL);
    if (session == NULL) {
        fprintf (stderr, "no router: %s\n", strerror (errno));
        return 1;
    }
    lk_lock *lock = NULL;
    lk_err error = lk_lock_wait (session, name, 10000, &lock);
    if (error == LK_OK) {
        work (lock);
        error = lk_lock_release (&lock);
    }
    if (error != LK_OK) {
        fprintf (stderr, "%s\n", lk_session_problem (session));
    }
    lk_session_destroy (&session);
    return error != LK_OK;
}
