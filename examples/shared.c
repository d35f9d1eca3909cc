/*  shared.c - many read, one writes: a lock that changes its type
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      lockkeeper sandbox -- ./shared my-lock
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

static void
say (const char *what, const lk_lock *lock)
{
    printf ("%s, token %" PRIu64 "\n", what, lk_lock_token (lock));
}

/*  To write, the lock has to be exclusive. If another reader wants that, too,
 *  each would wait for the other's share: then ours is given up, and what was
 *  read under it is worth nothing any more. */
static lk_err
read_and_write (lk_session *session, const char *name)
{
    const lk_lock_options shared = {.wait_ms = 10000, .mode.type = LK_SHARED};
    lk_lock *lock = NULL;
    lk_err error;
    do {
        error = lk_lock_acquire (session, name, strlen (name), &shared, &lock);
        if (error != LK_OK) {
            return error;
        }
        say ("reading", lock);
        error = lk_lock_change (lock, LK_EXCLUSIVE, 10000);
        if (error == LK_OK) {
            say ("writing", lock);
            error = lk_lock_change (lock, LK_SHARED, 0);
            say ("reading", lock);
        }
        (void) lk_lock_release (&lock);
    } while (error == LK_DEADLOCK);
    return error;
}

int
main (int argc, char **argv)
{
    lk_session *session = lk_session_new (NULL);
    if (session == NULL) {
        fprintf (stderr, "no router: %s\n", strerror (errno));
        return 1;
    }
    lk_err error = read_and_write (session, argc > 1 ? argv[1] : "example");
    if (error != LK_OK) {
        fprintf (stderr, "%s\n", lk_session_problem (session));
    }
    lk_session_destroy (&session);
    return error != LK_OK;
}
