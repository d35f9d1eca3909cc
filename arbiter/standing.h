/*  standing.h - how an arbiter is, in a file for people and scripts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_STANDING_H
#define LK_STANDING_H

#include "seats.h"

/*  Writes DIR/status anew; "": nowhere. That it cannot is told in the log. */
void lk_standing_write (const char *dir, const lk_seats *seats,
                        const char *key);

#endif
