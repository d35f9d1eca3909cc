/*  check.c - a resource that takes orders only from who holds the lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Reads lines of a token and an order, and says "done" or why not:
 *
 *      lockkeeper sandbox -- ./check my-lock
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

/*  The highest token that was seen here tells who comes late, even if nobody
 *  can be asked; the lock service knows of those who did not come yet. */
static lk_err
check (lk_session *session, const char *name, uint64_t token)
{
    static uint64_t highest;
    const lk_lock_name lock = {.object = name};
    uint64_t newest = 0;
    if (token < highest) {
        return LK_DENIED;
    }
    lk_err error = lk_session_check (session, &lock, token, 1000, &newest);
    if (error == LK_OK || newest > highest) {
        highest = error == LK_OK ? token : newest;
    }
    return error;
}

int
main (int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "example";
    char line[512], order[256];
    uint64_t token;
    lk_session *session = lk_session_new (NULL);
    if (session == NULL) {
        fprintf (stderr, "no router: %s\n", strerror (errno));
        return 1;
    }
    while (fgets (line, sizeof line, stdin) != NULL) {
        if (sscanf (line, "%" SCNu64 " %255[^\n]", &token, order) != 2) {
            printf ("TOKEN ORDER\n");
        } else {
            lk_err error = check (session, name, token);
            printf ("%s: %s\n", order,
                    error == LK_OK ? "done" : lk_err_word (error));
        }
        fflush (stdout);
    }
    lk_session_destroy (&session);
    return 0;
}
