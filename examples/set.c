/*  set.c - several locks, all or none of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      lockkeeper sandbox -- ./set left-fork right-fork
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

static lk_err
eat (lk_session *session, const lk_object_name *forks, size_t count)
{
    const lk_lock_options options = {.wait_ms = 10000};
    lk_lock *set = NULL;
    lk_err error = lk_lock_acquire_all (session, forks, count, &options, &set);
    for (size_t i = 0; error == LK_OK && i < count; i++) {
        printf ("%s, token %" PRIu64 "\n", lk_lock_object_at (set, i, NULL),
                lk_lock_token_at (set, i));
    }
    return error == LK_OK ? lk_lock_release (&set) : error;
}

int
main (int argc, char **argv)
{
    lk_object_name forks[LK_SET_MAX] = {{"left", 0}, {"right", 0}};
    size_t count = 2;
    for (int i = 1; i < argc && i <= LK_SET_MAX; i++) {
        forks[i - 1] = (lk_object_name) {argv[i], 0};
        count = (size_t) i;
    }
    lk_session *session = lk_session_new (NULL);
    if (session == NULL) {
        fprintf (stderr, "no router: %s\n", strerror (errno));
        return 1;
    }
    lk_err error = eat (session, forks, count);
    if (error != LK_OK) {
        fprintf (stderr, "%s\n", lk_session_problem (session));
    }
    lk_session_destroy (&session);
    return error != LK_OK;
}
