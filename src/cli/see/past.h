/*  past.h - what happened to locks, told by several hosts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_PAST_H
#define LK_PAST_H

#include <lockkeeper/message.h>

/*  Rows of LOCKHISTORY. Begins as {0}. */
typedef struct {
    lk_message **row;
    size_t count, room;
} lk_past_list;

/*  Adds all of an answer; NULL has none. */
void lk_past_take (lk_past_list *self, const lk_message *answer);

/*  The oldest first. */
void lk_past_sort (lk_past_list *self);
void lk_past_clear (lk_past_list *self);

/*  Drops what another list of the same lock service has, which was asked for
 *  that much earlier. */
void lk_past_drop_known (lk_past_list *self, const lk_past_list *known,
                         int64_t later_ms);

/*  Its client, for people: its address and process with `between` behind the
 *  address, or in a zone its user. */
void lk_past_print_who (const lk_message *row, const char *between);

/*  How it came to that, for people: "released, held 3.1 s, waited 0.0 s". */
void lk_past_print_what (const lk_message *row);

/*  How locks ended, one per line; returns how many lines. */
size_t lk_past_print_ends (const lk_past_list *self);

/*  All of them go into the list "events" of `all`, their tokens as numbers. */
void lk_past_add_rows (lk_past_list *self, lk_message *all);

/*  What programs are told of a row, its token as a number. */
void lk_past_print_json (lk_message *row);

#endif
