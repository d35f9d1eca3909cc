/*  address.h - service@host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ADDRESS_H
#define LK_ADDRESS_H

#include "util/bytes.h"

#include <lockkeeper/message.h>

/*  Both point into the text that was split. */
typedef struct {
    lk_slice service; /* a name, or "*" */
    lk_slice host;    /* a name, or "." "*" "?" */
} lk_address;

/*  Whether that may name a service or a host: 1..63 of A-Z a-z 0-9 . _ -,
 *  but not "." or "..". */
bool lk_address_is_name (lk_slice text);

/*  Whether that may be a command: 1..31 of the same. */
bool lk_address_is_command (lk_slice text);

/*  Names of applications on other machines begin so, and no others do. */
#define LK_ADDRESS_FAR "far-"
bool lk_address_is_far (lk_slice service);

/*  Whether such names may have that character. */
bool lk_address_allows (char c);

/*  Splits an address that was checked before; false if it is empty. */
bool lk_address_parts (lk_slice text, lk_address *address);

/*  Splits a receiver's address. False if it is none. */
bool lk_address_split (lk_slice text, lk_address *address);

/*  The same for a sender's: both are names, or the host is ".". */
bool lk_address_split_sender (lk_slice text, lk_address *address);

#endif
