/*  client_servers.h - the servers of a client file, and others in their place
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The calls of client_file.h about servers, and this one for it alone.
 */

#ifndef LK_CLIENT_SERVERS_H
#define LK_CLIENT_SERVERS_H

#include "net/client_file.h"

/*  The default endpoint, once by each key of no certain server. */
void lk_client_file_default (lk_client_file *self);

#endif
