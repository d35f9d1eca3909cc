/*  errands.c - what became of the latest UNLOCKs by key and by force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "errands.h"

void
lk_errands_note (lk_errands *self, const lk_answer *answer)
{
    self->end[self->next++ % LK_ERRANDS_KEPT] =
        (lk_errand_end) {.app = answer->app,
                         .serial = answer->serial,
                         .kind = answer->kind,
                         .error = answer->error};
}

const lk_errand_end *
lk_errands_find (const lk_errands *self, uint32_t app, uint64_t serial)
{
    for (size_t i = 0; i < LK_ERRANDS_KEPT; i++) {
        const lk_errand_end *end = &self->end[i];
        if (end->app == app && end->serial == serial) {
            return end;
        }
    }
    return NULL;
}
