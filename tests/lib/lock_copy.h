/*  lock_copy.h - messages between lock services that are on their way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LOCK_COPY_H
#define LK_LOCK_COPY_H

#include "wire/lock_message.h"

/*  Copies `source`, with all that it points to, into `copy`, which owns it:
 *  lk_lock_message_clear () frees that. Clear also fits a message of all
 *  zeroes. */
void lk_lock_message_copy (lk_lock_message *copy,
                           const lk_lock_message *source);
void lk_lock_message_clear (lk_lock_message *self);

/*  Deep copies of tickets, owned by the receiver. Each name of a single ticket
 *  is memory of its own. What lk_tickets_copy () made is one block with all its
 *  names: only lk_tickets_free () frees it, single tickets of it are never
 *  cleared or given away; likewise the arrays in a copied message. No tickets:
 *  NULL. */
void lk_ticket_copy (lk_ticket *copy, const lk_ticket *source);
void lk_ticket_clear (lk_ticket *self);
lk_ticket *lk_tickets_copy (const lk_ticket *tickets, size_t count);
void lk_tickets_free (lk_ticket *tickets);

#endif
