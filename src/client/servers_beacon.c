/*  servers_beacon.c - see servers_beacon.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/servers_beacon.h"

#include <string.h>

void
lk_servers_beacon_work (lk_beacon *beacon, const lk_client_file *file,
                        lk_known_servers *known, int64_t now_ms)
{
    char line[LK_BEACON_SIZE];
    size_t size;
    while ((size = lk_beacon_next (beacon, line)) > 0) {
        lk_client_server server;
        if (lk_client_file_hears (file, line, size, &server)) {
            lk_known_server_row row = {.domain = ""};
            memcpy (row.endpoint, server.endpoint, sizeof row.endpoint);
            memcpy (row.key, server.key, sizeof row.key);
            lk_known_servers_found (known, &row, now_ms);
        }
    }
}
