/*  storm_settings.c - changes of the cluster's settings in a storm
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "calm.h"
#include "world.h"

#include "lib/settings_text.h"

#include <stdio.h>
#include <string.h>

static lk_settings_id
known_by (const sim_world *world, uint8_t host)
{
    lk_node_status status;

    lk_node_get_status (world->base.node[host], &status);
    return status.decree.settings;
}

/*  What was edited is what the host that is asked, or another one, has. One
 *  that is asked twice at a time refuses the second. */
void
sim_storm_edit_settings (sim_world *world)
{
    uint8_t host = sim_any_host (world);
    uint8_t seen_by = sim_chance (world, 800) ? host : sim_any_host (world);
    char text[LK_WORLD_TEXT_MAX];
    lk_event event = {.type = LK_ON_CHANGE, .host = LK_NOBODY};

    if (!sim_host_is_up (world, host) || sim_host_is_paused (world, host)
        || !sim_host_is_up (world, seen_by) || world->host[host].changes != 0) {
        return;
    }
    event.base = known_by (world, seen_by);
    event.settings.data = text;
    event.settings.size =
        (uint16_t) snprintf (text, sizeof text, "text %u", ++world->edits);
    world->totals.edit++;
    world->host[host].changes++;
    world->host[host].edits =
        lk_test_settings_id (event.base.version + 1, event.settings);
    sim_tell (world, host, "is asked to change settings %llu to '%s'",
              (unsigned long long) event.base.version, text);
    sim_host_step (world, host, &event);
}

/*  Told that it is done, it is in force; told that others were faster, it is
 *  not, unless others went on from there. */
void
sim_settings_answered (sim_world *world, uint8_t host, lk_err error)
{
    const lk_settings_id id = world->host[host].edits;
    lk_node_status status;
    bool in_force = false;

    if (error == LK_OK) {
        lk_node_get_status (world->base.node[host], &status);
        sim_checker_in_force (&world->checker, &status.decree);
    }
    world->host[host].edits = (lk_settings_id) {0};
    for (size_t i = 0; i < world->checker.known_count; i++) {
        const sim_known_decree *known = &world->checker.known[i];
        in_force |= known->in_force
                    && lk_settings_id_equal (known->decree.settings, id);
    }
    world->totals.edited += error == LK_OK;
    world->totals.outdated += error == LK_OUTDATED;
    if (error == LK_OK && !in_force) {
        sim_checker_fail (&world->checker,
                          "SETTINGS: h%d says that version %llu is in force",
                          host, (unsigned long long) id.version);
    }
}

/*  -------------------------------------------------------- disks */

static bool
another_has (const sim_world *world, uint8_t host, lk_settings_id id)
{
    for (uint8_t other = 0; other < world->base.count; other++) {
        if (other != host && !world->host[other].gone_for_good
            && lk_settings_id_equal (
                world->base.host[other].disk.active.settings, id)
            && lk_world_find_text (&world->base, other, id)) {
            return true;
        }
    }
    return false;
}

bool
sim_settings_are_elsewhere (const sim_world *world, uint8_t host)
{
    const lk_settings_id id = world->base.host[host].disk.active.settings;

    return id.version == 0 || another_has (world, host, id);
}

/*  It shows when the service starts again. */
void
sim_storm_spoil_settings (sim_world *world)
{
    uint8_t host = sim_any_host (world);

    if (world->base.host[host].disk.active.settings.version == 0
        || !sim_settings_are_elsewhere (world, host)) {
        return;
    }
    world->totals.spoilt++;
    sim_tell (world, host, "its settings are damaged");
    for (size_t i = 0; i < LK_WORLD_TEXTS; i++) {
        world->base.host[host].text[i].damaged = true;
    }
    sim_host_crash (world, host, false, sim_between (world, 20, 2000));
}

/*  No decree becomes active ahead of its text. */
void
sim_settings_check_disk (sim_world *world, uint8_t host, const lk_facts *facts)
{
    const lk_facts *former = &world->base.host[host].disk;
    const lk_settings_id id = facts->active.settings;

    if (id.version != 0 && !lk_settings_id_equal (id, former->active.settings)
        && !lk_world_find_text (&world->base, host, id)) {
        sim_checker_fail (&world->checker,
                          "SETTINGS: h%d takes decree %llu without its text",
                          host, (unsigned long long) facts->active.term.number);
    }
}

/*  -------------------------------------------------------- calm */

void
sim_settings_check_calm (sim_world *world, uint8_t host)
{
    const lk_settings_id wanted =
        sim_checker_latest (&world->checker)->settings;
    lk_node_status status;

    lk_node_get_status (world->base.node[host], &status);
    if (!lk_settings_id_equal (status.settings, wanted)
        || (wanted.version != 0
            && (!status.settings_text.data
                || !lk_settings_id_equal (
                    wanted,
                    lk_test_settings_id (wanted.version, status.settings_text))
                || !lk_world_find_text (&world->base, host, wanted)))) {
        sim_checker_fail (
            &world->checker, "LIVENESS: h%d has settings %llu%s, not %llu",
            host, (unsigned long long) status.settings.version,
            status.settings_text.data ? "" : " without their text",
            (unsigned long long) wanted.version);
    }
}
