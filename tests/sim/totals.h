/*  totals.h - what runs added up to
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Counters only, so that totals of several processes are a sum of arrays.
 */

#ifndef SIM_TOTALS_H
#define SIM_TOTALS_H

#include <stdint.h>

#define SIM_TOTALS(X)                                                          \
    X (seeds, "seeds")                                                         \
    X (failures, "failures")                                                   \
    X (simulated_ms, "simulated ms")                                           \
    X (steps, "steps")                                                         \
    X (messages, "messages")                                                   \
    X (requests, "requests")                                                   \
    X (grants, "grants")                                                       \
    X (elections, "elections")                                                 \
    X (takeovers, "takeovers")                                                 \
    X (reclaims, "reclaims")                                                   \
    X (resumed, "locks that went on")                                          \
    X (lost, "locks told lost")                                                \
    X (keys, "unlocks by key")                                                 \
    X (shared, "shared grants")                                                \
    X (units, "units granted")                                                 \
    X (sets, "sets granted")                                                   \
    X (kept, "static grants")                                                  \
    X (heirs, "locks handed on")                                               \
    X (changes, "changes of type asked for")                                   \
    X (changed_types, "... made")                                              \
    X (forces, "forced ends asked for")                                        \
    X (forced, "... told")                                                     \
    X (checks, "tokens checked")                                               \
    X (dangers, "jeopardies")                                                  \
    X (dinners, "sets served to diners")                                       \
    X (updates, "register updates")                                            \
    X (refused, "older tokens refused")                                        \
    X (remote_grants, "remote grants")                                         \
    X (remote_moves, "... that moved")                                         \
    X (remote_lost, "... lost")                                                \
    X (renewed, "credentials renewed")                                         \
    X (expired, "... not renewed")                                             \
    X (expired_checks, "... looked whether all is free")                       \
    X (expired_told, "told of their end")                                      \
    X (batches, "wake-ups of several events")                                  \
    X (forgotten, "hosts forgotten")                                           \
    X (reused, "... by all, and the number used again")

#define SIM_FAULTS(X)                                                          \
    X (split, "split")                                                         \
    X (one_way, "one-way cut")                                                 \
    X (part, "pair parted")                                                    \
    X (isolated, "host isolated")                                              \
    X (leaders_cut, "leaders cut off")                                         \
    X (hosts_cut, "host with leaders cut off")                                 \
    X (crash, "crash")                                                         \
    X (leader_crash, "leader crash")                                           \
    X (mass_crash, "mass crash")                                               \
    X (pause, "pause")                                                         \
    X (stop, "stop in good order")                                             \
    X (drain, "drain ahead of a stop")                                         \
    X (drained, "... that came to its end")                                    \
    X (moved, "host that is elsewhere")                                        \
    X (restart, "restart of a service")                                        \
    X (client_pause, "pause of a client")                                      \
    X (freeze, "pause of a whole host")                                        \
    X (disk, "disk failure")                                                   \
    X (power, "power failure at a write")                                      \
    X (drought, "drought: no quorum for long")                                 \
    X (disk_lost, "state file lost")                                           \
    X (clog, "links clogged")                                                  \
    X (weather, "weather change")                                              \
    X (change, "change of members asked for")                                  \
    X (changed, "change of members made")                                      \
    X (edit, "change of settings asked for")                                   \
    X (edited, "change of settings made")                                      \
    X (outdated, "change of settings that came too late")                      \
    X (spoilt, "settings damaged on a disk")                                   \
    X (begun, "generation begun")                                              \
    X (entered, "... and entered")                                             \
    X (loaded, "table from a journal")                                         \
    X (lost_records, "records lost")                                           \
    X (damaged, "journal damaged")                                             \
    X (late_reclaims, "reclaim with a journal")                                \
    X (wrong_table, "table made wrong")                                        \
    X (false_gone, "false end reported")                                       \
    X (at_split, "split at a message")                                         \
    X (at_isolated, "isolated at a message")                                   \
    X (at_pause, "pause at a message")                                         \
    X (at_crash, "crash at a message")                                         \
    X (at_mute, "kind muted at a message")                                     \
    X (at_delay, "message delayed")                                            \
    X (at_twin, "message repeated")                                            \
    X (at_pair, "pair cut at a message")                                       \
    X (unlucky, "unlucky kind lost or late")

#define SIM_COUNTER(name, text) uint64_t name;
typedef struct {
    SIM_TOTALS (SIM_COUNTER)
    SIM_FAULTS (SIM_COUNTER)
} sim_totals;
#undef SIM_COUNTER

#endif
