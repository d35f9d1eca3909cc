/*  lease_page.c - fuzz target: any bytes as the page of a lock service's lease
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An application maps what its lock service names. What is in there is
 *  believed for the session asked for and no other.
 */

#include "net/lease_page.h"
#include "client/lease.h"
#include "lib/memory_file.h"
#include "util/assert.h"

#include <string.h>

#define UNTIL_MS 4711

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static lk_memory_file file;

static void
check_view (const uint8_t *data, size_t size)
{
    lk_problem problem = {0};
    lk_lease_view *view = lk_lease_view_new (file.path, &problem);
    LK_ASSERT ((view == NULL) == (problem.text[0] != '\0'));
    LK_ASSERT ((view != NULL)
               == (size >= 24 && memcmp (data, "LKLEASE1", 8) == 0));
    if (view != NULL) {
        uint64_t session;
        int64_t until_ms;
        memcpy (&session, data + 8, sizeof session);
        memcpy (&until_ms, data + 16, sizeof until_ms);
        LK_ASSERT (lk_lease_view_until (view, session) == until_ms);
        LK_ASSERT (lk_lease_view_until (view, session + 1) == 0);
    }
    lk_lease_view_destroy (&view);
}

static void
check_lease (void)
{
    lk_lease *first = lk_lease_take (NULL, file.path, 1, UNTIL_MS);
    lk_lease *again =
        lk_lease_take (first, file.path, 1, lk_lease_until (first));
    lk_lease *other = lk_lease_take (first, file.path, 2, UNTIL_MS);
    LK_ASSERT (first == again && first != other);
    LK_ASSERT (lk_lease_lives (first) || lk_lease_until (first) == UNTIL_MS);
    lk_lease_drop (&first);
    (void) lk_lease_until (again);
    (void) lk_lease_until (other);
    lk_lease_drop (&again);
    lk_lease_drop (&other);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (file.path[0] == '\0') {
        lk_memory_file_open (&file);
    }
    lk_memory_file_set (&file, data, size);
    check_view (data, size);
    check_lease ();
    return 0;
}
