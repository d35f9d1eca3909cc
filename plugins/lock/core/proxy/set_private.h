/*  set_private.h - what the files of sets share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      set.c         names, asking for one member after the other
 *      set_resume.c  a set goes on in a later session
 *      set_ends.c    how it ends
 */

#ifndef LK_SET_PRIVATE_H
#define LK_SET_PRIVATE_H

#include "life.h"
#include "set.h"

/*  Frees it, but not its members. */
void lk_set_destroy (lk_proxy *proxy, lk_set *self);

/*  Time ends it so much later, in the state that it has now; 0: never. */
void lk_set_until (lk_proxy *proxy, lk_set *self, int64_t span_ms);

/*  A new one with a place for each name of the request, and no member yet; and
 *  its next member. */
lk_set *lk_set_new (lk_proxy *proxy, const lk_app_request *request);
lk_demand *lk_set_add (lk_proxy *proxy, lk_set *self, lk_name object,
                       const lk_app_request *request);

/*  Forgets what was told ahead of its turn. */
void lk_set_forget_early (lk_set *self);

#endif
