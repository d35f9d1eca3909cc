/*  offenders.h - other machines that are shut out
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  By their keys and addresses, see router/tables/shut_out.h; each time is
 *  logged, as seldom as refusals are.
 */

#ifndef LK_OFFENDERS_H
#define LK_OFFENDERS_H

#include "router.h"

/*  Whether who has that key, or comes from there, may not connect now. */
bool lk_offenders_is_out (const lk_router *self, const char *public_key,
                          const char *address);

/*  A key that counts was let in from there. */
void lk_offenders_admitted (lk_router *self, const char *address);

/*  Such a one, or another, has begun a session. */
void lk_offenders_began (lk_router *self, const char *address);

/*  A connection from there has ended that had no session. */
void lk_offenders_ended (lk_router *self, const char *address);

/*  Notes an offence of a key or a place, by what came from `source`, `at_once`:
 *  which is enough by itself. Whether it is shut out, now or already. */
bool lk_offenders_note (lk_router *self, const lk_source *source,
                        const char *name, bool is_place, bool at_once,
                        const char *reason);

#endif
