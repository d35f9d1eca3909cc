/*  checked_step.c - what must be so between two steps is so behind each
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The linker puts this in front of the core's own function (--wrap, see the
 *  Makefile) in unit tests of whole nodes.
 */

#include "lib/checked_step.h"

#include "node.h"

#define ALL 100    /* of the first steps: all is looked at, ... */
#define SELDOM 997 /* ... then so seldom */

static bool spoilt;
static size_t steps;

void __real_lk_node_step (lk_node *node, const lk_event *event,
                          lk_effects *effects);
void __wrap_lk_node_step (lk_node *node, const lk_event *event,
                          lk_effects *effects);

void
lk_check_no_more (void)
{
    spoilt = true;
}

void
__wrap_lk_node_step (lk_node *node, const lk_event *event, lk_effects *effects)
{
    __real_lk_node_step (node, event, effects);
    if (!spoilt) {
        steps++;
        lk_node_check (node, steps <= ALL || steps % SELDOM == 0);
    }
}
