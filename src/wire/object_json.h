/*  object_json.h - the name of what is locked, in a JSON object
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For src/wire only; others have it by the message, in object_name.h.
 */

#ifndef LK_OBJECT_JSON_H
#define LK_OBJECT_JSON_H

#include "wire/json.h"
#include "wire/object_name.h"

/*  As lk_object_set and lk_object_get. */
void lk_json_set_name (json_t *json, lk_name object);
bool lk_json_get_name (const json_t *json, char *room, lk_name *object,
                       lk_flaw *flaw);

#endif
