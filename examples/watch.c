/*  watch.c - an application with a loop of its own that works under a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      cc -o watch watch.c $(pkg-config --cflags --libs lockkeeper)
 *      lockkeeper sandbox -- ./watch my-lock
 *
 *  It reads lines from standard input and, while it holds the lock, says each
 *  with the fencing token in front. End it with Ctrl-D.
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/*  All that a loop has to do for the library: take its events. */
static void
take_events (lk_session *session)
{
    lk_lock_event event;
    while (lk_session_poll (session, 0, &event) != LK_EVENT_NONE) {
        if (event.kind == LK_EVENT_GRANTED) {
            fprintf (stderr, "granted\n");
        } else if (event.kind == LK_EVENT_FAILED
                   || event.kind == LK_EVENT_LOST) {
            fprintf (stderr, "not ours: %s\n", lk_err_text (event.error));
        } else if (event.kind == LK_EVENT_JEOPARDY) {
            fprintf (stderr, "may be lost soon\n");
        } else if (event.kind == LK_EVENT_SAFE) {
            fprintf (stderr, "safe again\n");
        }
    }
}

/*  False at the end of the input. */
static bool
take_line (const lk_lock *lock)
{
    char line[256];
    if (fgets (line, sizeof line, stdin) == NULL) {
        return false;
    }
    if (lk_lock_held (lock)) { /* ask as late as possible */
        printf ("%" PRIu64 " %s", lk_lock_token (lock), line);
        fflush (stdout);
    } else {
        fprintf (stderr, "not said, for want of the lock: %s", line);
    }
    return true;
}

static void
run_loop (lk_session *session, const lk_lock *lock)
{
    bool more = true;
    setvbuf (stdin, NULL, _IONBF, 0); /* poll sees what is not read yet */
    while (more) {
        take_events (session);
        struct pollfd fds[] = {{lk_session_fd (session), POLLIN, 0},
                               {0, POLLIN, 0}};
        (void) poll (fds, 2, lk_session_timeout (session));
        if (fds[1].revents != 0) {
            more = take_line (lock);
        }
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
    if (lk_lock_request (session, name, strlen (name), NULL, &lock) != LK_OK) {
        fprintf (stderr, "%s\n", lk_session_problem (session));
    } else {
        run_loop (session, lock);
        (void) lk_lock_release (&lock);
    }
    lk_session_destroy (&session);
    return 0;
}
