/*  message_frame.h - messages to frames and back; rows of a message
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What the library and the daemons need of a message beyond what services
 *  see of it in <lockkeeper/message.h>.
 */

#ifndef LK_MESSAGE_FRAME_H
#define LK_MESSAGE_FRAME_H

#include "wire/frame.h"

#include <lockkeeper/message.h>

/*  The sender's address, "lock@h1"; asserts that it is one. */
void lk_message_set_from (lk_message *self, const char *from);

/*  Adds the message to a frame. Its sender must be set. An empty body is left
 *  out. LK_OVERLOADED if body or frame would be over their limit: nothing is
 *  added then. */
lk_err lk_message_write (const lk_message *self, lk_bytes *frame);

/*  The message that `header` describes; the caller owns it. NULL if its body
 *  is neither packed nor a JSON object with texts without NUL: then why, in
 *  `problem`. */
lk_message *lk_message_read (const lk_frame_header *header, char *problem,
                             size_t problem_size);

/*  Whether an admin or a service of its host sent it, as that one's router
 *  says: the flag "privileged" of its frame. Of what was not read: false. */
bool lk_message_is_privileged (const lk_message *self);

/*  Whether its body is packed, which only lock services write and read; then
 *  the body, which belongs to the message. No field is found in it. */
bool lk_message_packed (const lk_message *self, lk_slice *body);

/*  Whether a field is there at all, of any type. */
bool lk_message_has (const lk_message *self, const char *name);

/*  Whether a field is there and is a flag. */
bool lk_message_is_flag (const lk_message *self, const char *name);

/*  Set a field unless it is 0, or false: what is taken for granted is not
 *  said. */
void lk_message_set_any (lk_message *self, const char *name, int64_t number);
void lk_message_set_true (lk_message *self, const char *name, bool flag);

/*  Whether it is UNKNOWN, INVALID or TRANSMISSIONREPORT, which are never
 *  answered: two who do not understand each other would go on like that for
 *  ever. */
bool lk_message_is_complaint (const lk_message *self);
bool lk_command_is_complaint (lk_slice command);

/*  How many items (or rows) a list has; 0 if it is none. */
size_t lk_message_item_count (const lk_message *self, const char *name);

/*  -------------------------------------------------------- rows

    A field may be a list of objects ("tickets" of LOCKLIST). A row is such an
    object, in the shape of a message without an envelope. */

/*  An empty row. The caller owns it. */
lk_message *lk_message_row_new (void);

/*  Adds the row to the end of the list, and destroys *row_p. */
void lk_message_add_row (lk_message *self, const char *name,
                         lk_message **row_p);

/*  A row of a list, owned by the caller; NULL behind its end. */
lk_message *lk_message_row (const lk_message *self, const char *name,
                            size_t position);

#endif
