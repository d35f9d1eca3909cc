/*  chain.c - how fast the bare bus is, without any lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  chain PREFIX PARTS FOLLOWERS MS NEAR FAR[,FAR] SIZE SIZE SIZE SIZE
 *
 *  NEAR is the core of the application and the first host, FAR of the others,
 *  or of each of them.
 *
 *  Latency with one question under way, for twice so many ms, then answers per
 *  second with 8, 64 and 512 for so many; see tests/lib/forwarders.h.
 */

#include "lib/figures.h"
#include "lib/forwarders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP 200

static void
measure_latency (lk_forwarders *bus, const char *prefix, int64_t ns)
{
    lk_samples samples = {0};
    for (int i = 0; i < WARM_UP; i++) {
        lk_forwarders_send (bus);
        (void) lk_forwarders_receive (bus, true);
    }
    const int64_t start = lk_figures_now_ns ();
    int64_t now = start;
    while (now - start < ns) {
        const int64_t before = now;
        lk_forwarders_send (bus);
        (void) lk_forwarders_receive (bus, true);
        now = lk_figures_now_ns ();
        lk_samples_add (&samples, now - before);
    }
    lk_figure (prefix, (double) samples.count * 1e9 / (double) (now - start),
               "1/s", "inflight1.ops");
    lk_samples_tell (&samples, prefix, "latency");
    lk_samples_clear (&samples);
}

static void
measure_rate (lk_forwarders *bus, const char *prefix, int64_t ns, int in_flight)
{
    const int64_t start = lk_figures_now_ns ();
    int64_t now = start, count = 0;
    int waiting = 0;
    while (now - start < ns || waiting > 0) {
        for (; waiting < in_flight && now - start < ns; waiting++) {
            lk_forwarders_send (bus);
        }
        for (bool some = lk_forwarders_receive (bus, true); some;
             some = lk_forwarders_receive (bus, false)) {
            now = lk_figures_now_ns ();
            waiting--;
            count += now - start < ns;
        }
    }
    lk_figure (prefix, (double) count * 1e9 / (double) ns, "1/s",
               "inflight%d.ops", in_flight);
}

static long
number (const char *text)
{
    return strtol (text, NULL, 10);
}

int
main (int argc, char **argv)
{
    static const int in_flight[] = {8, 64, 512};
    if (argc != 11) {
        fprintf (stderr,
                 "usage: %s PREFIX PARTS FOLLOWERS MS NEAR FAR[,FAR] "
                 "SIZE SIZE SIZE SIZE\n",
                 argv[0]);
        return 2;
    }
    lk_forwarders_options options = {.parts = (int) number (argv[2]),
                                     .followers = (int) number (argv[3]),
                                     .near_core = (int) number (argv[5])};
    const char *other = strchr (argv[6], ',');
    options.far_core[0] = (int) number (argv[6]);
    options.far_core[1] = (int) number (other ? other + 1 : argv[6]);
    for (int i = 0; i < 4; i++) {
        options.size[i] = (size_t) number (argv[7 + i]);
    }
    const int64_t ns = number (argv[4]) * 1000000;
    lk_forwarders *bus = lk_forwarders_start (&options);
    measure_latency (bus, argv[1], 2 * ns);
    for (size_t i = 0; i < 3; i++) {
        measure_rate (bus, argv[1], ns, in_flight[i]);
    }
    lk_forwarders_stop (&bus);
    return 0;
}
