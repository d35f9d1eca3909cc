/*  script_numbers.c - a script about hosts that have the number of another one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#define STAY_MS 1800
#define LAST_MS 28000 /* who comes then stays */

/*  The only host that is no member goes for good, over and over; the next one
 *  has its number as soon as nobody needs what it knows of the former. Nothing
 *  else happens: each is served, though it begins with the same session and
 *  serials. */
bool
sim_same_number (sim_world *world, const lk_lock_message *message)
{
    const uint8_t host = (uint8_t) world->member_count;

    (void) message;
    world->apps.habits.lose_patience = 0;
    if (sim_act_age (world) < STAY_MS) {
        return false;
    }
    if (!world->host[host].gone_for_good && world->now < LAST_MS) {
        sim_begin_act (world, 0);
        sim_host_lose (world, host);
    } else if (sim_forget_take_number (world, host)) {
        sim_begin_act (world, 1);
        sim_host_arrive (world, host, LK_NOBODY, 20);
    }
    return false;
}
