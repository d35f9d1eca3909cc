/*  semaphore.c - not more than three at a time, in the whole cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      lockkeeper sandbox -- ./semaphore my-lock
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/*  The bound stays as it is while anybody has a unit or waits for one,
 *  whatever others say meanwhile. */
static lk_err
work (lk_session *session, const char *name)
{
    const lk_lock_options options = {
        .wait_ms = LK_FOREVER, .mode = {.type = LK_SEMAPHORE, .bound = 3}};
    lk_lock *unit = NULL;
    lk_err error =
        lk_lock_acquire (session, name, strlen (name), &options, &unit);
    if (error == LK_OK) {
        printf ("at work, %" PRIu32 " of 3\n", lk_lock_ordinal (unit));
        (void) poll (NULL, 0, 300);
        error = lk_lock_release (&unit);
    }
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
    lk_err error = work (session, argc > 1 ? argv[1] : "example");
    if (error != LK_OK) {
        fprintf (stderr, "%s\n", lk_session_problem (session));
    }
    lk_session_destroy (&session);
    return error != LK_OK;
}
