/*  storm.h - faults at random times
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A seed has its own mix: in most of them some kinds of fault are frequent
 *  and others absent, which reaches more than an even mix of all.
 */

#ifndef SIM_STORM_H
#define SIM_STORM_H

#include "node.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_STORM_KINDS 22

struct sim_world;

typedef struct {
    int64_t mean_ms; /* between two faults */
    uint32_t strikes;
    bool forgiving; /* each fault ends the ones before */
    int weight[SIM_STORM_KINDS];
    int disk_fails;  /* per mille of writes */
    int power_fails; /* per mille of writes, in the midst of them */
    int gone_told;   /* per mille of ended services that routers report */
} sim_storm;

/*  Draws the mix and posts the first fault. */
void sim_storm_begin (struct sim_world *world);

/*  One fault; posts the next. */
void sim_storm_strike (struct sim_world *world);

/*  At times too few members are left for a while when the storm ends; false if
 *  not. Checks that nothing is granted then and that who had locks knows. */
bool sim_drought_begin (struct sim_world *world);
void sim_drought_check (struct sim_world *world);

/*  Mends all but, at times, one link or a minority that stay away for good. */
void sim_storm_end (struct sim_world *world);

/*  Some or all of the other hosts' services are told that this one ended. */
void sim_storm_report_gone (struct sim_world *world, uint8_t host);

/*  Faults of services, hosts and disks: storm_hosts.c. */
void sim_storm_crash (struct sim_world *world);
void sim_storm_crash_leaders (struct sim_world *world);
void sim_storm_crash_most (struct sim_world *world);
void sim_storm_pause (struct sim_world *world);
void sim_storm_pause_client (struct sim_world *world);
void sim_storm_stop (struct sim_world *world);
void sim_storm_restart (struct sim_world *world);
void sim_storm_lose_disk (struct sim_world *world);

/*  Some of the members that the others can do without end for good. */
void sim_storm_lose_minority (struct sim_world *world);

/*  Changes of membership: storm_members.c. Somebody is asked for one; two
 *  are asked at once. */
void sim_ask_change (struct sim_world *world, uint8_t host, uint8_t whom,
                     bool add);
void sim_storm_change_members (struct sim_world *world);
void sim_storm_duel (struct sim_world *world);

/*  Settings: storm_settings.c. Somebody is asked to change them; their text is
 *  damaged on a disk. */
void sim_storm_edit_settings (struct sim_world *world);
void sim_storm_spoil_settings (struct sim_world *world);

/*  Whether another host has the text, so that this one's is not the last. */
bool sim_settings_are_elsewhere (const struct sim_world *world, uint8_t host);

/*  What a host asked for settings answers. */
void sim_settings_answered (struct sim_world *world, uint8_t host,
                            lk_err error);

/*  Its disk is about to have these facts. */
void sim_settings_check_disk (struct sim_world *world, uint8_t host,
                              const lk_facts *facts);

/*  It has the settings in force. */
void sim_settings_check_calm (struct sim_world *world, uint8_t host);

/*  The members, or 0 if they may be others in a moment. */
lk_hosts sim_storm_members (const struct sim_world *world);

#endif
