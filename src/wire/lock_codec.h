/*  lock_codec.h - lock_message.h's structs <-> messages of the bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In one of two notations. JSON bodies carry hosts as "name:id" ("name"
 *  while the id is unknown), terms as "number:proposer", requests as
 *  "name:id/session/serial"; 64-bit ids, keys, hashes, tokens and ticket
 *  numbers as hexadecimal texts. Each has "stage", the kind's name, "id", the
 *  sender's own, so that a message of a host whose state file was lost is not
 *  taken for its predecessor's, and "to_id", the receiver's, likewise (absent
 *  while it is unknown). Packed bodies say the same in fewer bytes, see
 *  lockkeeper-protocol(7).
 */

#ifndef LK_LOCK_CODEC_H
#define LK_LOCK_CODEC_H

#include "util/arena.h"
#include "util/bytes.h"
#include "wire/hostmap.h"
#include "wire/lock_message.h"

/*  The newest level of packed bodies: fields that came with a later one are
 *  absent in an earlier one. All up to it are read and written. */
#define LK_PACKED_LEVEL 2

/*  The bus message that says `message` to lock@<name of message->to>, as JSON
 *  or packed; `self` is the sender's own number. Never NULL. */
lk_message *lk_lock_encode (const lk_lock_message *message,
                            const lk_hostmap *hostmap, lk_host self);
lk_message *lk_lock_pack (const lk_lock_message *message,
                          const lk_hostmap *hostmap, lk_host self);

/*  The same for a host that reads packed bodies of that level, 0 for JSON
 *  only. */
lk_message *lk_lock_write (const lk_lock_message *message,
                           const lk_hostmap *hostmap, lk_host self,
                           uint8_t level);

/*  Reads a bus message of either notation that came from another lock
 *  service. On LK_OK `out` points into `message` and `arena`. `from` is
 *  the sender's host, interned by name and id. LK_REFUSED for a message to a
 *  host of our name with another state file: it is to be dropped, but nothing
 *  is broken. LK_INVALID for anything that is not exactly a message of
 *  lockkeeper-protocol(7), LK_FULL if it names a host for which the hostmap has
 *  no number. Then the hostmap is as it was. The hosts
 *  that the sender hears are read if the hostmap has them, those whose sessions
 *  are over if it takes them; others are left out. */
lk_err lk_lock_read (const lk_message *message, lk_hostmap *hostmap,
                     lk_host self, lk_arena *arena, lk_lock_message *out);

/*  Adds the body of a packed message as JSON text, for printing: "{}" if it
 *  cannot be read. */
void lk_lock_unpack (const lk_message *message, lk_bytes *text);

/*  The id of its sender. False if it has none. */
bool lk_lock_sender (const lk_message *message, uint64_t *id);

#endif
