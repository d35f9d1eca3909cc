/*  servers_beacon.h - servers that announce themselves on the network
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SERVERS_BEACON_H
#define LK_SERVERS_BEACON_H

#include "client/known_servers.h"
#include "net/beacon.h"

/*  Takes all announcements that came. One counts if the file has the key whose
 *  fingerprint it says: who is there has to prove that it has that. */
void lk_servers_beacon_work (lk_beacon *beacon, const lk_client_file *file,
                             lk_known_servers *known, int64_t now_ms);

#endif
