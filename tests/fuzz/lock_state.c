/*  lock_state.c - fuzz target: any bytes as a lock service's state
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is taken is written and taken again as the same; what is not leaves
 *  the hostmap alone and says why.
 */

#include "wire/lock_state.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_again (const lk_lock_state *state, const lk_hostmap *hostmap)
{
    lk_hostmap other;
    lk_lock_state again;
    char problem[128];
    char *once = lk_lock_state_encode (state, hostmap);
    lk_hostmap_init (&other);
    const lk_err error = lk_lock_state_decode (once, strlen (once), &other,
                                               &again, problem, sizeof problem);
    LK_ASSERT (error == LK_OK);
    LK_ASSERT (again.id == state->id);
    LK_ASSERT (again.facts.session == state->facts.session);
    char *twice = lk_lock_state_encode (&again, &other);
    LK_ASSERT (strlen (once) == strlen (twice));
    lk_free (once);
    lk_free (twice);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    lk_hostmap hostmap;
    lk_lock_state state;
    char problem[128] = "";
    lk_hostmap_init (&hostmap);
    if (lk_lock_state_decode ((const char *) data, size, &hostmap, &state,
                              problem, sizeof problem)
        == LK_OK) {
        check_again (&state, &hostmap);
    } else {
        LK_ASSERT (problem[0] && !hostmap.count);
    }
    return 0;
}
