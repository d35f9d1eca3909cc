/*  starving.c - how long daemons wait for a processor
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/starving.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 1024

typedef struct {
    long thread;
    int64_t waited_ns; /* since it began */
} waiter;

static waiter known[THREADS_MAX];
static size_t known_count;

static waiter *
find (long thread)
{
    for (size_t i = 0; i < known_count; i++) {
        if (known[i].thread == thread) {
            return &known[i];
        }
    }
    return NULL;
}

/*  How long it has waited since it was looked at last. */
static int64_t
look_at (long process, long thread)
{
    char path[96];
    int64_t waited_ns;
    snprintf (path, sizeof path, "/proc/%ld/task/%ld/schedstat", process,
              thread);
    FILE *file = fopen (path, "r");
    if (!file) {
        return 0;
    }
    const bool is_read = fscanf (file, "%*d %" SCNd64, &waited_ns) == 1;
    fclose (file);
    waiter *it = find (thread);
    if (!is_read || (!it && known_count == THREADS_MAX)) {
        return 0;
    }
    const int64_t before_ns = it ? it->waited_ns : waited_ns;
    it = it ? it : &known[known_count++];
    *it = (waiter) {thread, waited_ns};
    return waited_ns - before_ns;
}

static bool
is_daemon (long process, pid_t session)
{
    char path[64];
    char name[32] = "";
    snprintf (path, sizeof path, "/proc/%ld/comm", process);
    FILE *file = fopen (path, "r");
    if (!file) {
        return false;
    }
    const bool is_read = fgets (name, sizeof name, file) != NULL;
    fclose (file);
    return is_read && strncmp (name, "lockkeeper-", 11) == 0
           && getsid ((pid_t) process) == session;
}

static int64_t
look_at_threads (long process)
{
    char path[64];
    int64_t most_ns = 0;
    snprintf (path, sizeof path, "/proc/%ld/task", process);
    DIR *threads = opendir (path);
    for (struct dirent *it; threads && (it = readdir (threads));) {
        const long thread = strtol (it->d_name, NULL, 10);
        const int64_t ns = thread > 0 ? look_at (process, thread) : 0;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    if (threads) {
        closedir (threads);
    }
    return most_ns;
}

int64_t
lk_starving_ns (pid_t session)
{
    int64_t most_ns = 0;
    DIR *processes = opendir ("/proc");
    for (struct dirent *it; processes && (it = readdir (processes));) {
        const long process = strtol (it->d_name, NULL, 10);
        const int64_t ns = process > 0 && is_daemon (process, session)
                               ? look_at_threads (process)
                               : 0;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    if (processes) {
        closedir (processes);
    }
    return most_ns;
}
