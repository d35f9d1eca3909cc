/*  faults.c - the names of faults, so that each can be left out
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIM_WORD(name, word) word,
static const char *const words[] = {SIM_CIRCUMSTANCES (SIM_WORD)};
#undef SIM_WORD

static bool
has_fault (const sim_fault_set *self, sim_fault fault)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->item[i] == fault) {
            return true;
        }
    }
    return false;
}

/*  No-op at the limit. */
static void
add_fault (sim_fault_set *self, sim_fault fault)
{
    if (self->count < SIM_FAULTS_MAX) {
        self->item[self->count++] = fault;
    }
}

bool
sim_fault_happens (sim_world *world, sim_fault fault)
{
    const sim_fault_set *only = world->options.faults;

    if (only && !has_fault (only, fault)) {
        return false;
    }
    add_fault (&world->faults, fault);
    return true;
}

/*  -------------------------------------------------------- names */

void
sim_fault_name (sim_fault fault, char *text)
{
    unsigned kind = (unsigned) (fault >> 40 & 0xff);

    switch (fault >> 56) {
    case 0:
        snprintf (text, SIM_FAULT_NAME_MAX, "%s", words[fault]);
        break;
    case 1:
        snprintf (text, SIM_FAULT_NAME_MAX, "%u", (unsigned) fault);
        break;
    default:
        snprintf (text, SIM_FAULT_NAME_MAX, "%s:%u:%u:%u",
                  sim_story_kind ((lk_lock_kind) kind),
                  (unsigned) (fault >> 36 & 15), (unsigned) (fault >> 32 & 15),
                  (unsigned) fault);
    }
}

/*  KIND:FROM:TO:NUMBER */
static bool
read_ambush (const char *text, sim_fault *fault)
{
    char name[SIM_FAULT_NAME_MAX];
    unsigned from, to, number;
    int end = 0;

    if (sscanf (text, "%40[A-Z]:%u:%u:%u%n", name, &from, &to, &number, &end)
            != 4
        || text[end] != '\0' || from >= SIM_HOSTS_MAX || to >= SIM_HOSTS_MAX) {
        return false;
    }
    for (unsigned kind = 0; kind < LK_MSG_COUNT; kind++) {
        if (strcmp (sim_story_kind ((lk_lock_kind) kind), name) == 0) {
            *fault =
                SIM_FAULT_AT ((sim_fault) kind << 40 | (sim_fault) from << 36
                              | (sim_fault) to << 32 | number);
            return true;
        }
    }
    return false;
}

static bool
read_one (const char *text, sim_fault *fault)
{
    char *end;

    for (unsigned i = 0; i < SIM_CIRCUMSTANCE_COUNT; i++) {
        if (strcmp (text, words[i]) == 0) {
            *fault = i;
            return true;
        }
    }
    *fault = SIM_FAULT_STRIKE (strtoul (text, &end, 10) & UINT32_MAX);
    return (end > text && *end == '\0') || read_ambush (text, fault);
}

bool
sim_fault_set_read (sim_fault_set *self, const char *text)
{
    char list[16384];
    char *rest = NULL;
    sim_fault fault;

    self->count = 0;
    if (strcmp (text, "none") == 0) {
        return true;
    }
    snprintf (list, sizeof list, "%s", text);
    for (char *word = strtok_r (list, ",", &rest); word;
         word = strtok_r (NULL, ",", &rest)) {
        if (!read_one (word, &fault)) {
            return false;
        }
        add_fault (self, fault);
    }
    return self->count > 0;
}
