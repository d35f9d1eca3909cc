/*  lock_shape.h - which fields each kind of lock message has
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For src/wire only.
 */

#ifndef LK_LOCK_SHAPE_H
#define LK_LOCK_SHAPE_H

#include "wire/lock_fields.h"

/*  Writes or reads all fields of message->kind but stage and id, which
 *  lock_codec.c sees to. Reading, `message` is zeroed but for kind, from, to;
 *  it then points into `fields`. */
void lk_lock_shape (lk_fields *fields, lk_lock_message *message);

/*  -------------------------------------------------------- parts */

void lk_shape_candidate (lk_fields *fields, lk_candidate *candidate);
void lk_shape_holds (lk_fields *fields, lk_holds *holds);
void lk_shape_home (lk_fields *fields, uint8_t *home);

/*  Whose a ticket is, and how and how long it may be held. What is not there
 *  is 0, false, exclusive. */
void lk_shape_owner (lk_fields *fields, lk_ticket *ticket);
void lk_shape_type (lk_fields *fields, lk_lock_type *type);
void lk_shape_turn (lk_fields *fields, uint32_t *turn);
void lk_shape_tickets (lk_fields *fields, lk_ticket **tickets, size_t *count,
                       size_t count_max);
void lk_shape_remote (lk_fields *fields, lk_far_id *remote);
void lk_shape_ticket (lk_fields *fields, lk_ticket *ticket);
void lk_shape_op (lk_fields *fields, void *op);

/*  By host, the last of its sessions that is over; and requests that ended a
 *  lock, absent if there are none. */
void lk_shape_gone (lk_fields *fields, uint64_t gone[LK_HOSTS_MAX]);
void lk_shape_releases (lk_fields *fields, lk_release **releases,
                        size_t *count);

#endif
