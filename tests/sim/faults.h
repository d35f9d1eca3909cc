/*  faults.h - the names of faults, so that each can be left out
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A fault is a strike of the storm (by its number: 17), an ambush (by the
 *  message that sets it off: VOTED:2:0:17 is the 18th of that kind from h2 to
 *  h0), or a circumstance of the whole run (by its word). A run notes those
 *  that happen; its options may say which are allowed, so that the same run
 *  without some of them can be had.
 */

#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_world;

#define SIM_FAULTS_MAX 2048
#define SIM_FAULT_NAME_MAX 48

/*  What is so, or not, from beginning to end. */
#define SIM_CIRCUMSTANCES(X)                                                   \
    X (WEATHER, "weather")         /* loss, repetition, delay */               \
    X (CLOCKS, "clocks")           /* that go wrong */                         \
    X (LATE_TICKS, "late-ticks")   /* services woken late */                   \
    X (DISK, "disk")               /* writes that fail */                      \
    X (POWER, "power")             /* hosts that end while they write */       \
    X (LOST_KIND, "lost-kind")     /* a kind of message mostly lost ... */     \
    X (LATE_KIND, "late-kind")     /* ... late ... */                          \
    X (TWIN_KIND, "twin-kind")     /* ... repeated */                          \
    X (BALLAST, "ballast")         /* very many locks */                       \
    X (DINERS, "diners")           /* who want several locks at once */        \
    X (DROUGHT, "drought")         /* no quorum for a while after the storm */ \
    X (AFTERMATH, "aftermath")     /* what is not mended after the storm */    \
    X (FORGETFUL, "forgetful")     /* hosts are forgotten */                   \
    X (JOURNAL, "journal")         /* leaders have one */                      \
    X (DRAIN, "drain")             /* services drain ahead of a stop */        \
    X (ARBITERS, "arbiters")       /* some hosts are such ... */               \
    X (FAR_ARBITER, "far-arbiter") /* ... far away */                          \
    X (PLACES, "places")           /* where hosts are is known */

#define SIM_CIRCUMSTANCE(name, word) SIM_FAULT_##name,
typedef enum {
    SIM_CIRCUMSTANCES (SIM_CIRCUMSTANCE) SIM_CIRCUMSTANCE_COUNT
} sim_circumstance;
#undef SIM_CIRCUMSTANCE

/*  The class in the top byte, the name below. */
typedef uint64_t sim_fault;
#define SIM_FAULT_AT(letter) ((sim_fault) 2 << 56 | (letter))
#define SIM_FAULT_STRIKE(number) ((sim_fault) 1 << 56 | (number))

typedef struct {
    sim_fault item[SIM_FAULTS_MAX];
    size_t count;
} sim_fault_set;

/*  Notes the fault; false if it is to be left out. */
bool sim_fault_happens (struct sim_world *world, sim_fault fault);

/*  Writes the name, at most SIM_FAULT_NAME_MAX bytes with its end. */
void sim_fault_name (sim_fault fault, char *text);

/*  Reads "17,weather,VOTED:2:0:17" or "none"; false if that is no list. */
bool sim_fault_set_read (sim_fault_set *self, const char *text);

#endif
