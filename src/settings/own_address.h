/*  own_address.h - which of all hosts' addresses are this one's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SETTINGS_OWN_ADDRESS_H
#define LK_SETTINGS_OWN_ADDRESS_H

#include "net/problem.h"
#include <lockkeeper/message.h>

#include <stdbool.h>
#include <stddef.h>

#define LK_OWN_ADDRESS_SIZE 48

/*  Of the interfaces that are up, numeric, those that others can reach first;
 *  returns how many there are, `max` at most. */
size_t lk_own_addresses (char text[][LK_OWN_ADDRESS_SIZE], size_t max);

/*  Whether HOST of a HOST:PORT is an address of this host, or a name that has
 *  one: written to `numeric`, HOST:PORT with numbers. */
bool lk_own_address_is (const char *hostport,
                        char numeric[LK_ADDRESS_LEN_MAX + 1]);

/*  The address of this host, numeric, by which it would reach that HOST:PORT;
 *  false if there is no way, or only one inside of this host. Sends nothing. */
bool lk_own_address_towards (const char *hostport,
                             char text[LK_OWN_ADDRESS_SIZE]);

/*  Where a router listens by default, tcp://ADDRESS:PORT: at the one neighbour
 *  that is this host itself; only for this host if there are no neighbours.
 *  LK_SYSTEM and problem if there is none, or more than one. */
lk_err lk_own_address_find (const char *const *neighbour,
                            char listen[LK_ADDRESS_LEN_MAX + 1],
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
