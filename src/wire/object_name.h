/*  object_name.h - the name of what is locked: keys of the core, fields
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A name is 1 to LK_OBJECT_LEN_MAX bytes, any at all. Zone and context are
 *  texts. To show a name to people: lk_escape () of util/escape.h.
 */

#ifndef LK_OBJECT_NAME_H
#define LK_OBJECT_NAME_H

#include "wire/lock_message.h"

#include <lockkeeper/message.h>

/*  Bytes of a zone or context at most. */
#define LK_OBJECT_PART_LEN_MAX 255

/*  An object's key as the core has it, in `buffer`: zone NUL context NUL
 *  object; NULL for zone or context is "". Empty if the object is, or one of
 *  them is over its limit, or all of it over `size`. */
lk_name lk_object_key (const char *zone, const char *context, lk_name object,
                       char *buffer, size_t size);

/*  The parts of such a key; pointers into `key`. False if it is none. */
bool lk_object_parts (lk_name key, lk_name *zone, lk_name *context,
                      lk_name *object);

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
