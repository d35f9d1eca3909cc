/*  halt.c - a lock service ends, and the next one goes on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What its applications hold stays theirs as long as the lease lasts: they say
 *  to the next one what it is. What nobody could say to that one is given back,
 *  as far as a last word can do so.
 */

#include "asked.h"
#include "proxy_private.h"
#include "set.h"

/*  What is asked for is asked for anew, and one that was not told yet would be
 *  in its own way. Protocol 9.13. */
static bool
is_unknown_to_all (const lk_asked *asked)
{
    if (asked->set) {
        return asked->set->state == LK_SET_WAITING
               || asked->set->state == LK_SET_CLOSING;
    }
    return asked->state == LK_ASKED_WAITING || asked->state == LK_ASKED_CLOSING
           || asked->state == LK_ASKED_KEEPING
           || (asked->state == LK_ASKED_ERRAND
               && asked->errand == LK_ERRAND_BY_KEY);
}

void
lk_proxy_halt (lk_proxy *proxy)
{
    lk_asked *asked;
    proxy->halted = true;
    for (asked = lk_asked_first (proxy); asked;
         asked = lk_asked_next (proxy, asked)) {
        if (!is_unknown_to_all (asked)) {
            continue;
        }
        if (asked->state == LK_ASKED_KEEPING) {
            lk_asked_enter (proxy, asked, LK_ASKED_CLOSING);
        }
        lk_asked_send_unlock (proxy, asked);
    }
}
