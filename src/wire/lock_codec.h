/*  lock_codec.h - lock_message.h's structs <-> messages of the bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Bodies carry hosts as "name:id" ("name" while the id is unknown), terms as
 *  "number:proposer", requests as "name:id/session/serial"; 64-bit ids, keys,
 *  hashes, tokens and ticket numbers as hexadecimal texts. Every body has
 *  "stage", the kind's name, "id", the sender's own, so that a message of a
 *  host whose state file was lost is not taken for its predecessor's, and
 *  "to_id", the receiver's, likewise (absent while it is unknown).
 */

#ifndef LK_LOCK_CODEC_H
#define LK_LOCK_CODEC_H

#include "wire/lock_message.h"
#include "wire/roster.h"

/*  The bus message that says `message` to lock@<name of message->to>; `self`
 *  is the sender's own number. Never NULL. */
lk_message *lk_lock_encode (const lk_lock_message *message,
                            const lk_roster *roster, lk_host self);

/*  Reads a bus message that came from another lock service. On LK_OK `out`
 *  owns memory (lk_lock_message_clear), as a copied message does. `from` is
 *  the sender's host, interned by name and id. LK_REFUSED for a message to a
 *  host of our name with another state file: it is to be dropped, but nothing
 *  is broken. LK_INVALID for anything that is not exactly a message of
 *  lockkeeper-protocol(7) or names more hosts than the roster takes. Then
 *  `out` needs no clearing and the roster is as it was. */
lk_err lk_lock_decode (const lk_message *message, lk_roster *roster,
                       lk_host self, lk_lock_message *out);

#endif
