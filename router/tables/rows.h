/*  rows.h - as many rows as a list of a message has lines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Most clusters have few zones and clients, or none, though there may be many.
 */

#ifndef LK_ROUTER_ROWS_H
#define LK_ROUTER_ROWS_H

#include <lockkeeper/message.h>

/*  Frees `former`. Returns room, zeroed, for rows of that size, one for each
 *  line of that list, `most` at most; NULL without any. */
void *lk_rows_renew (void *former, const lk_message *message, const char *field,
                     size_t most, size_t size);

#endif
