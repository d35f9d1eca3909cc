/*  peer.c - the loads on another lock service, and their figures
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      PROGRAM NAME WHERE LOAD SECONDS [PID SIGNAL]
 *
 *  NAME is what its figures begin with, WHERE the ports, the leader's first.
 *  LOAD: latency (one lock, one client), inflightN (N names, one connection),
 *  clientsN (N clients with a name each), handoverN (N clients, one name), gap
 *  (like latency; signals PID and tells the longest time without a LOCK).
 *  A fourth of the seconds go by before it counts.
 *
 *  That no two have the one name at a time is checked as it goes; before it
 *  counts each keeps it for a while, so that another one would be seen.
 */

#include "peer.h"

#include "lib/figures.h"
#include "util/alloc.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 10000000
#define DRAIN_NS 10000000000 /* in the end all is released, in this time */
#define HOLD_US 1000         /* one name, ahead of the count */
#define GAP_AFTER_NS 500000000
#define GAP_LOCKS 300 /* so many after the signal: it goes on again */

static peer_client **clients;
static peer_lock *locks;
static struct pollfd *sockets;
static bool *touched; /* these clients have something to prepare */
static int client_count;
static int lock_count; /* of each client */

static int64_t start_ns; /* when it begins to count */
static int64_t end_ns;
static bool counting;
static bool ending;
static lk_samples lock_times;
static lk_samples unlock_times;
static int64_t pairs;

static const peer_lock *holder; /* of the one name, if all ask for that */
static const peer_lock *last_holder;
static bool one_name;
static int64_t handovers;

static bool gap_wanted;
static pid_t victim;
static int victim_signal;
static int64_t locked_ns; /* the last time */
static int64_t gap_ns;    /* the longest since the signal */
static int gap_locks;     /* since the signal; -1 before */

void
peer_die (const char *format, ...)
{
    va_list args;
    va_start (args, format);
    fputs ("peer: ", stderr);
    vfprintf (stderr, format, args);
    fputs ("\n", stderr);
    va_end (args);
    exit (1);
}

static long
number (const char *text)
{
    return strtol (text, NULL, 10);
}

int
peer_port (const char *where, int index)
{
    for (; index > 0 && where; index--) {
        where = strchr (where, ',');
        where = where ? where + 1 : NULL;
    }
    return where ? (int) number (where) : 0;
}

/*  ------------------------------------------------------------ figures */

static void
print_figures (const char *name, const char *load, double seconds)
{
    if (gap_wanted) {
        lk_figure (name, (double) gap_ns / 1e6, "ms", "gap");
        return;
    }
    if (one_name) {
        lk_figure (name, (double) handovers / seconds, "1/s", "%s.rate", load);
        return;
    }
    if (strcmp (load, "latency") == 0) {
        lk_samples_tell (&lock_times, name, "latency");
        lk_samples_tell (&unlock_times, name, "unlock");
        load = "inflight1";
    }
    lk_figure (name, 2 * (double) pairs / seconds, "1/s", "%s.ops", load);
    lk_figure (name, (double) pairs / seconds, "1/s", "%s.rate", load);
}

/*  ------------------------------------------------------------ one lock */

static void
start (peer_lock *lock)
{
    if (lock->held) {
        holder = NULL;
        client_unlock (lock->client, lock);
    } else {
        client_lock (lock->client, lock);
    }
}

static void
ask (peer_lock *lock)
{
    lock->asked_ns = lk_figures_now_ns ();
    lock->step = 0;
    start (lock);
}

static void
see_gap (int64_t now_ns)
{
    if (gap_locks >= 0 && locked_ns > 0) {
        gap_locks++;
        if (now_ns - locked_ns > gap_ns) {
            gap_ns = now_ns - locked_ns;
        }
    }
    locked_ns = now_ns;
}

void
peer_locked (peer_lock *lock)
{
    int64_t now_ns = lk_figures_now_ns ();
    if (lock->held || (one_name && holder)) {
        peer_die ("'%s' is held twice", lock->name);
    }
    if (counting) {
        lk_samples_add (&lock_times, now_ns - lock->asked_ns);
        handovers += lock != last_holder;
    }
    holder = last_holder = lock;
    see_gap (now_ns);
    lock->held = true;
    if (one_name && !counting) {
        peer_again (lock, HOLD_US);
    } else {
        ask (lock);
    }
}

void
peer_unlocked (peer_lock *lock)
{
    if (!lock->held) {
        peer_die ("'%s' is not held", lock->name);
    }
    lock->held = false;
    if (counting) {
        lk_samples_add (&unlock_times, lk_figures_now_ns () - lock->asked_ns);
        pairs++;
    }
    if (ending) {
        lock->asked_ns = 0;
    } else {
        ask (lock);
    }
}

void
peer_again (peer_lock *lock, int64_t pause_us)
{
    lock->again_ns = lk_figures_now_ns () + pause_us * 1000;
}

void
peer_lost (const char *what)
{
    if (!gap_wanted) {
        peer_die ("lost: %s", what);
    }
}

/*  Repeats what is due. Returns how long to wait. */
static struct timespec
repeat (void)
{
    int64_t now_ns = lk_figures_now_ns (), wait_ns = TICK_NS;
    for (int i = 0; i < client_count * lock_count; i++) {
        peer_lock *lock = &locks[i];
        int64_t left_ns = lock->again_ns - now_ns;
        if (lock->again_ns == 0) {
            continue;
        }
        if (left_ns > 0) {
            wait_ns = left_ns < wait_ns ? left_ns : wait_ns;
            continue;
        }
        lock->again_ns = 0;
        if (ending && !lock->held) {
            lock->asked_ns = 0;
            continue;
        }
        touched[i / lock_count] = true;
        start (lock);
    }
    return (struct timespec) {.tv_nsec = wait_ns};
}

/*  ------------------------------------------------------------ the loop */

static void
wait_and_read (void)
{
    static int64_t tick_ns;
    int64_t now_ns = lk_figures_now_ns ();
    struct timespec wait = repeat ();
    bool all = now_ns - tick_ns > TICK_NS;
    tick_ns = all ? now_ns : tick_ns;
    for (int i = 0; i < client_count; i++) {
        if (all || touched[i]) {
            touched[i] = false;
            client_prepare (clients[i], sockets + i * PEER_SOCKETS);
        }
    }
    if (ppoll (sockets, (nfds_t) client_count * PEER_SOCKETS, &wait, NULL)
        <= 0) {
        return;
    }
    for (int i = 0; i < client_count; i++) {
        const struct pollfd *own = sockets + i * PEER_SOCKETS;
        if (own[0].revents || own[1].revents || own[2].revents) {
            touched[i] = true;
            client_read (clients[i], own);
        }
    }
}

static bool
all_released (void)
{
    for (int i = 0; i < client_count * lock_count; i++) {
        if (locks[i].asked_ns != 0) {
            return false;
        }
    }
    return true;
}

static bool
done (int64_t now_ns)
{
    if (gap_wanted && now_ns > start_ns && gap_locks < 0) {
        gap_locks = 0;
        if (kill (victim, victim_signal) < 0) {
            peer_die ("cannot signal %d", (int) victim);
        }
    }
    if (gap_wanted) {
        return gap_locks >= GAP_LOCKS;
    }
    counting = now_ns >= start_ns && now_ns < end_ns;
    return now_ns >= end_ns;
}

static void
run (double seconds)
{
    int64_t now_ns = lk_figures_now_ns ();
    start_ns =
        now_ns + (gap_wanted ? GAP_AFTER_NS : (int64_t) (seconds * 250e6));
    end_ns = now_ns + (int64_t) (seconds * 1e9);
    for (int i = 0; i < client_count * lock_count; i++) {
        ask (&locks[i]);
        touched[i / lock_count] = true;
    }
    while (!done (lk_figures_now_ns ())) {
        wait_and_read ();
        if (gap_wanted && lk_figures_now_ns () > end_ns) {
            peer_die ("it does not go on");
        }
    }
    counting = false;
    ending = true;
    now_ns = lk_figures_now_ns ();
    while (!all_released ()) {
        wait_and_read ();
        if (lk_figures_now_ns () - now_ns > DRAIN_NS) {
            peer_die ("not all is released in the end");
        }
    }
}

static void
prepare (const char *where)
{
    int count = client_count * lock_count;
    clients = lk_alloc ((size_t) client_count * sizeof *clients);
    locks = lk_alloc ((size_t) count * sizeof *locks);
    touched = lk_alloc ((size_t) client_count * sizeof *touched);
    sockets = lk_alloc ((size_t) client_count * PEER_SOCKETS * sizeof *sockets);
    for (int i = 0; i < client_count * PEER_SOCKETS; i++) {
        sockets[i].fd = -1;
    }
    for (int i = 0; i < client_count; i++) {
        clients[i] = client_new (where, lock_count);
    }
    for (int i = 0; i < count; i++) {
        locks[i].client = clients[i / lock_count];
        locks[i].index = i % lock_count;
        snprintf (locks[i].name, sizeof locks[i].name, "bench-%d-%d",
                  (int) getpid (), one_name ? 0 : i);
    }
}

/*  N of PREFIXN, if `load` is that; else 0. */
static int
count_of (const char *load, const char *prefix)
{
    size_t size = strlen (prefix);
    return strncmp (load, prefix, size) == 0 ? (int) number (load + size) : 0;
}

static bool
parse (int argc, char **argv)
{
    if (argc != 5 && argc != 7) {
        return false;
    }
    const char *load = argv[3];
    gap_wanted = argc == 7 && strcmp (load, "gap") == 0;
    if (gap_wanted) {
        victim = (pid_t) number (argv[5]);
        victim_signal = (int) number (argv[6]);
        gap_locks = -1;
    }
    client_count = lock_count = 1;
    if (count_of (load, "handover") > 0) {
        one_name = true;
        client_count = count_of (load, "handover");
    } else if (count_of (load, "clients") > 0) {
        client_count = count_of (load, "clients");
    } else if (count_of (load, "inflight") > 0) {
        lock_count = count_of (load, "inflight");
    } else {
        return gap_wanted || strcmp (load, "latency") == 0;
    }
    return true;
}

int
main (int argc, char **argv)
{
    if (!parse (argc, argv)) {
        fprintf (stderr, "usage: %s NAME WHERE LOAD SECONDS [PID SIGNAL]\n",
                 argv[0]);
        return 2;
    }
    double seconds = strtod (argv[4], NULL);
    prepare (argv[2]);
    run (seconds);
    print_figures (argv[1], argv[3], seconds * 0.75);
    for (int i = 0; i < client_count; i++) {
        client_destroy (&clients[i]);
    }
    lk_free (clients);
    lk_free (locks);
    lk_free (touched);
    lk_free (sockets);
    lk_samples_clear (&lock_times);
    lk_samples_clear (&unlock_times);
    return 0;
}
