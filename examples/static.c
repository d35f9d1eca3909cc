/*  static.c - a lock that outlives the process that asked for it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      key=$(./static my-lock)     takes it and ends; it stays held
 *      ./static my-lock "$key"     gives it back, from any host
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  The key is all that is left of it here. */
static lk_err
take (lk_session *session, const char *name)
{
    const lk_lock_options options = {.wait_ms = 10000, .mode.is_static = true};
    lk_lock *lock = NULL;
    lk_err error =
        lk_lock_acquire (session, name, strlen (name), &options, &lock);
    if (error == LK_OK) {
        printf ("%016" PRIx64 "\n", lk_lock_key (lock));
        error = lk_lock_leave (&lock);
    }
    return error;
}

static lk_err
give (lk_session *session, const char *name, const char *key)
{
    const lk_lock_name lock = {.object = name};
    return lk_session_unlock (session, &lock, strtoull (key, NULL, 16), NULL,
                              10000);
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
    lk_err error =
        argc > 2 ? give (session, name, argv[2]) : take (session, name);
    if (error != LK_OK) {
        fprintf (stderr, "%s\n", lk_session_problem (session));
    }
    lk_session_destroy (&session);
    return error != LK_OK;
}
