/*  object_name.h - the name of what is locked, as a field
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A name is 1 to LK_OBJECT_LEN_MAX bytes, any at all. To show it to people:
 *  lk_escape () of util/escape.h.
 */

#ifndef LK_OBJECT_NAME_H
#define LK_OBJECT_NAME_H

#include "wire/lock_message.h"

#include <lockkeeper/message.h>

/*  What is wrong with which field: "is too long". Static. */
typedef struct {
    const char *field;
    const char *what;
} lk_flaw;

/*  The name in a message: the field "object", or "object_hex" with two
 *  hexadecimal digits for each byte if the name is no text. */
void lk_object_set (lk_message *message, lk_name object);

/*  Reads it; either field will do, but not both. `object` points into the
 *  message, or to `room` of LK_OBJECT_LEN_MAX bytes. False: why, in `flaw`. */
bool lk_object_get (const lk_message *message, char *room, lk_name *object,
                    lk_flaw *flaw);

#endif
