/*  beats.c - a command that writes all the time, and who judges what it wrote
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for the tests beside it, not a test. Each write adds a line with
 *  the boot clock, the fencing token, the host and the number of the process
 *  to a file that all commands share: its order is the order of writing. A
 *  line behind one with a higher token is of a command that worked beside its
 *  successor.
 */

#include "lib/history.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 1000000
#define NS_PER_MS INT64_C (1000000)

static const char usage[] =
    "usage: beats write FILE HOST HOW [MS]    under a lock, for ever or MS;\n"
    "           HOW: plain; deaf: to TERM; child: of the command; daemon: in "
    "a\n"
    "           session of its own, with no parent\n"
    "       beats last FILE                   the last line\n"
    "       beats judge FILE                  what went wrong\n";

/*  -------------------------------------------------------- writing */

static _Noreturn void
write_on (const char *path, const char *host, int64_t life_ms)
{
    const char *token = getenv ("LOCKKEEPER_TOKEN");
    const struct timespec pause = {0, PAUSE_NS};
    const int fd = open (path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const int64_t until = lk_history_now () + life_ms * NS_PER_MS;
    char line[128];
    if (fd < 0 || token == NULL) {
        exit (2);
    }
    while (life_ms == 0 || lk_history_now () < until) {
        const int size =
            snprintf (line, sizeof line, "%" PRId64 " %s %s %d\n",
                      lk_history_now (), token, host, (int) getpid ());
        if (write (fd, line, (size_t) size) != size) {
            exit (2);
        }
        nanosleep (&pause, NULL);
    }
    exit (0);
}

/*  In the child; the parent waits for it, or for ever. */
static void
become (const char *how)
{
    const bool daemon = strcmp (how, "daemon") == 0;
    if (strcmp (how, "deaf") == 0) {
        signal (SIGTERM, SIG_IGN);
    }
    if (!daemon && strcmp (how, "child") != 0) {
        return;
    }
    if (fork () != 0) {
        while (wait (NULL) > 0 || errno == EINTR) {
        }
        for (;;) {
            pause ();
        }
    }
    signal (SIGTERM, SIG_IGN);
    if (daemon) {
        setsid ();
        if (fork () != 0) {
            _exit (0);
        }
    }
}

/*  -------------------------------------------------------- judging */

typedef struct {
    int64_t ns;
    uint64_t token;
    char host[16];
} beat;

typedef struct {
    size_t writes, handovers, overlaps;
    int64_t shortest, longest; /* from the last of one to the first of the next;
                                  ns */
    beat last;                 /* with the highest token */
} verdict;

static void
judge_beat (verdict *it, const beat *now)
{
    it->writes++;
    if (now->token < it->last.token) {
        it->overlaps++;
        printf ("overlap: %s wrote with %" PRIu64 " after %s with %" PRIu64
                ", %" PRId64 " us later\n",
                now->host, now->token, it->last.host, it->last.token,
                (now->ns - it->last.ns) / 1000);
        return;
    }
    if (it->last.token != 0 && now->token > it->last.token) {
        const int64_t took = now->ns - it->last.ns;
        it->shortest =
            it->handovers == 0 || took < it->shortest ? took : it->shortest;
        it->longest = took > it->longest ? took : it->longest;
        it->handovers++;
    }
    it->last = *now;
}

static int
judge (const char *path)
{
    verdict it = {.writes = 0};
    beat now;
    char line[128];
    FILE *file = fopen (path, "re");
    while (file != NULL && fgets (line, sizeof line, file) != NULL) {
        if (sscanf (line, "%" SCNd64 " %" SCNu64 " %15s", &now.ns, &now.token,
                    now.host)
            != 3) {
            printf ("what is this: %s", line);
            it.overlaps++;
        } else {
            judge_beat (&it, &now);
        }
    }
    if (file != NULL) {
        fclose (file);
    }
    printf ("%zu writes, %zu handovers of %" PRId64 " to %" PRId64
            " ms, %zu overlaps\n",
            it.writes, it.handovers, it.shortest / NS_PER_MS,
            it.longest / NS_PER_MS, it.overlaps);
    return it.overlaps != 0 || it.writes == 0;
}

static int
print_last (const char *path)
{
    char text[256];
    const int fd = open (path, O_RDONLY | O_CLOEXEC);
    const off_t end = fd < 0 ? 0 : lseek (fd, 0, SEEK_END);
    const off_t from = end > (off_t) sizeof text - 1 ? end - 255 : 0;
    const ssize_t size = fd < 0 ? 0 : pread (fd, text, sizeof text - 1, from);
    if (size < 2) {
        return 1;
    }
    text[size - 1] = '\0';
    const char *line = strrchr (text, '\n');
    puts (line != NULL ? line + 1 : text);
    return 0;
}

int
main (int argc, char **argv)
{
    if (argc >= 5 && strcmp (argv[1], "write") == 0) {
        become (argv[4]);
        write_on (argv[2], argv[3], argc > 5 ? strtoll (argv[5], NULL, 10) : 0);
    }
    if (argc == 3 && strcmp (argv[1], "last") == 0) {
        return print_last (argv[2]);
    }
    if (argc == 3 && strcmp (argv[1], "judge") == 0) {
        return judge (argv[2]);
    }
    fputs (usage, stderr);
    return 2;
}
