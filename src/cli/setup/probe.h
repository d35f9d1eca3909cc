/*  probe.h - who is at an address that is said to be a router's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For `init --join`: asked over the network, as one router asks another, and
 *  without becoming its neighbour.
 */

#ifndef LK_PROBE_H
#define LK_PROBE_H

#include "net/curve.h"
#include "net/problem.h"

#include <lockkeeper/message.h>
#include <stdbool.h>

/*  Asks for its GOSSIP, without keys. The answer is the caller's, or what else
 *  it says if it is an older one. NULL: `problem` says why there is none, as
 *  far as that is known. */
lk_message *lk_probe (const char *address, lk_problem *problem);

/*  The same with a question to it, which is destroyed, and by that way. */
lk_message *lk_probe_ask (const char *address, const lk_curve_calls *ways,
                          lk_message **question_p, lk_problem *problem);

/*  Whether a host of that name is there by the answer, and at another address
 *  than `address`: writes where. */
bool lk_probe_has_host (const lk_message *answer, const char *host,
                        const char *address,
                        char where[LK_ADDRESS_LEN_MAX + 1]);

#endif
