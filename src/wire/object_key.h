/*  object_key.h - zone, context and name of an object, as one key
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  By which the core knows it. Zone and context are texts, the name is 1 to
 *  LK_OBJECT_LEN_MAX bytes, any at all.
 */

#ifndef LK_OBJECT_KEY_H
#define LK_OBJECT_KEY_H

#include "wire/lock_message.h"

/*  Bytes of a zone or context at most. */
#define LK_OBJECT_PART_LEN_MAX 255

/*  The zone that is there without having been made; locks have it as "". */
#define LK_ZONE_DEFAULT "default"

/*  A zone as locks have it: "" for "default". */
const char *lk_zone_plain (const char *name);

/*  An object's key as the core has it, in `buffer`: zone NUL context NUL
 *  object; NULL for zone or context is "". Empty if the object is, or one of
 *  them is over its limit, or all of it over `size`. */
lk_name lk_object_key (const char *zone, const char *context, lk_name object,
                       char *buffer, size_t size);

/*  The parts of such a key; pointers into `key`. False if it is none. */
bool lk_object_parts (lk_name key, lk_name *zone, lk_name *context,
                      lk_name *object);

#endif
