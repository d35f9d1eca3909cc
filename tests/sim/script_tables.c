/*  script_tables.c - the script about leaders whose tables go wrong
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Again and again one leader's table is made wrong while the others are
 *  sound, in every way of tests/lib/corrupt.h. Every host has to hear of it
 *  once, and of the right leader; whatever else the judge asks for holds. No
 *  other fault comes before they have: a table that differs by an operation,
 *  not by its memory, is found by comparing alone.
 */

#include "world.h"

#include "decree.h"

#include "lib/corrupt.h"

#define FIRST_MS 3000
#define HEARD_MS 12000 /* the longest interval of digests, and a second */
#define AGAIN_MS 2000

/*  All leaders of that decree serve it. */
static bool
all_serve (const sim_world *world, const lk_decree *decree)
{
    for (size_t i = 0; i < decree->leader_count; i++) {
        lk_node *node = world->base.node[decree->leader[i]];
        lk_node_status status;
        if (!node || !lk_node_serves (node)) {
            return false;
        }
        lk_node_get_status (node, &status);
        if (sim_term_compare (status.decree.term, decree->term) != 0) {
            return false;
        }
    }
    return decree->leader_count == world->options.script->leaders_max;
}

static void
corrupt_one (sim_world *world)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;

    sim_leaders (world, &decree);
    if (!all_serve (world, &decree)) {
        return;
    }
    int place = (int) sim_between (world, 0, decree.leader_count - 1);
    int home = (int) sim_between (world, 0, decree.leader_count - 1);
    int kind = (int) sim_between (world, 0, LK_CORRUPT_COUNT - 1);
    lk_host host = decree.leader[place];
    if (lk_corrupt (world->base.node[host], (lk_corrupt_kind) kind,
                    (uint8_t) home, (uint64_t) sim_between (world, 0, 63))) {
        plot->who = host;
        plot->term = decree.term;
        plot->count = 0;
        plot->heard = 0;
        sim_checker_spoils (&world->checker, host, decree.term);
        sim_tell (world, host, "table made wrong: kind %d, home %d", kind,
                  home);
        world->totals.wrong_table++;
        sim_begin_act (world, 1);
    }
}

bool
sim_wrong_table (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    if (plot->act == 0 && world->now + HEARD_MS < world->storm_end
        && world->now > (plot->since ? plot->since + AGAIN_MS : FIRST_MS)) {
        corrupt_one (world);
    } else if (plot->act == 1 && plot->count == (int) world->base.count) {
        sim_begin_act (world, 0);
    } else if (plot->act == 1 && sim_act_age (world) > HEARD_MS) {
        sim_checker_fail (&world->checker,
                          "h%d's table is wrong, %d of %zu hosts know",
                          plot->who, plot->count, world->base.count);
    }
    return false;
}

void
sim_plot_alerted (sim_world *world, uint8_t place,
                  const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    const lk_msg_alert *alert = &message->as.alert;

    if (plot->act != 1 || alert->host != plot->who
        || sim_term_compare (message->term, plot->term) != 0
        || lk_hosts_has (plot->heard, place)) {
        sim_checker_fail (&world->checker,
                          "ALERT: h%d hears that the table of h%d is wrong",
                          place, alert->host);
        return;
    }
    plot->heard |= LK_HOST_BIT (place);
    plot->count++;
}
