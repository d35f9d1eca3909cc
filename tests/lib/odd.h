/*  odd.h - names, commands and bodies of every sort, as a fuzzer wants them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  All fields that anybody reads, with values that make sense and with values
 *  that do not: blanks, '@', '*', nothing, 300 bytes, other hosts' names,
 *  numbers at the ends of what fits.
 */

#ifndef LK_ODD_H
#define LK_ODD_H

#include "lib/fuel.h"

#include "util/bytes.h"

/*  A command of routers, lock services or nobody. */
typedef struct {
    const char *name;
    const char *fields; /* that it has, a blank between them; NULL: many */
} lk_odd_command;

/*  Static. */
const lk_odd_command *lk_odd_draw (lk_fuel *fuel);

/*  service@host, mostly a good one, up to 80 bytes. */
void lk_odd_address (lk_fuel *fuel, char address[96]);

/*  Adds a JSON object with the fields of that command or with others, or bytes
 *  that are none. */
void lk_odd_body (lk_fuel *fuel, const lk_odd_command *command, lk_bytes *body);

#endif
