/*  rows.c - as many rows as a list of a message has lines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "rows.h"

#include "util/alloc.h"
#include "wire/message_frame.h"

void *
lk_rows_renew (void *former, const lk_message *message, const char *field,
               size_t most, size_t size)
{
    const size_t lines = lk_message_item_count (message, field);
    const size_t count = lines < most ? lines : most;
    lk_free (former);
    return count > 0 ? lk_alloc (count * size) : NULL;
}
