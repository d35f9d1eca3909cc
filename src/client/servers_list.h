/*  servers_list.h - SERVERS, by which a host tells where applications can go
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SERVERS_LIST_H
#define LK_SERVERS_LIST_H

#include "client/known_servers.h"

/*  The command that is subscribed to. */
#define LK_SERVERS_LIST "SERVERS"

/*  Takes the list of that host's router. False: the message is something else.
 *  Rows that make no sense are left out; who tells nobody tells nothing. */
bool lk_servers_list_read (lk_known_servers *known, const lk_message *message,
                           const char *host, int64_t now_ms);

#endif
