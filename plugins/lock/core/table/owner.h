/*  owner.h - an application that has tickets, as people see it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_OWNER_H
#define LK_OWNER_H

#include "table.h"

/*  Whose a ticket is; the owner may go with the last of them. */
lk_owner *lk_owner_join (lk_table *table, const lk_ticket *ticket);
void lk_owner_leave (lk_table *table, lk_owner *owner);

#endif
