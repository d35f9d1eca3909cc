/*  rows.h - names of locks in what people are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ROWS_H
#define LK_ROWS_H

#include "keep.h"

void lk_lockd_set_name (lk_message *row, const char *field, lk_name name);

/*  Writes the name of what is locked, and its zone and context, into a row;
 *  false: the key is none. */
bool lk_lockd_set_key (lk_message *row, lk_name key);

/*  Reads it, of the zone of `view`; false after having answered that it makes
 *  no sense. `key` is empty if there is none. */
bool lk_lockd_get_key (lk_lockd *self, const lk_message *request,
                       const lk_view *view, char *room, lk_name *key);

/*  The answer to a question that lists something: who tells it, and to another
 *  lock service the id of this one. */
lk_message *lk_lockd_new_list (const lk_lockd *self, const lk_message *request);

/*  Whether what is locked is of a zone that `view` shows. */
bool lk_lockd_shows (const lk_view *view, lk_name key);

/*  The other services that are heard. */
lk_hosts lk_lockd_others (const lk_lockd *self, const lk_node_status *status);

#endif
