/*  outcomes.c - what became of the latest UNLOCKs by key and by force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "outcomes.h"

void
lk_outcomes_note (lk_outcomes *self, const lk_answer *answer)
{
    self->end[self->next++ % LK_OUTCOMES_KEPT] =
        (lk_outcome) {.app = answer->app,
                      .serial = answer->serial,
                      .kind = answer->kind,
                      .error = answer->error};
}

const lk_outcome *
lk_outcomes_find (const lk_outcomes *self, uint32_t app, uint64_t serial)
{
    for (size_t i = 0; i < LK_OUTCOMES_KEPT; i++) {
        const lk_outcome *end = &self->end[i];
        if (end->app == app && end->serial == serial) {
            return end;
        }
    }
    return NULL;
}
