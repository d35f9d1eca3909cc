/*  servers_list.c - see servers_list.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/servers_list.h"

#include "net/endpoint.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

static bool
take_row (const lk_message *message, lk_known_server_row *row)
{
    lk_problem ignored;
    const char *address = lk_message_text (message, "address");
    const char *key = lk_message_text (message, "key");
    const char *domain = lk_message_text (message, "domain");
    if (address == NULL || key == NULL || !lk_curve_is_key (key)
        || strlen (address) > LK_ADDRESS_LEN_MAX) {
        return false;
    }
    snprintf (row->endpoint, sizeof row->endpoint, LK_TCP "%s", address);
    snprintf (row->key, sizeof row->key, "%s", key);
    snprintf (row->domain, sizeof row->domain, "%s",
              domain != NULL && lk_domain_is_valid (domain) ? domain : "");
    return lk_client_endpoint_check (row->endpoint, &ignored) == LK_OK;
}

bool
lk_servers_list_read (lk_known_servers *known, const lk_message *message,
                      const char *host, int64_t now_ms)
{
    char from[LK_ADDRESS_LEN_MAX + 1];
    snprintf (from, sizeof from, "router@%s", host);
    if (!lk_message_is (message, LK_SERVERS_LIST)
        || strcmp (lk_message_from (message), from) != 0) {
        return false;
    }
    lk_known_server_row *row =
        lk_alloc (LK_KNOWN_SERVERS_TOLD_MAX * sizeof *row);
    lk_message *it;
    size_t count = 0;
    for (size_t i = 0; count < LK_KNOWN_SERVERS_TOLD_MAX
                       && (it = lk_message_row (message, "servers", i)) != NULL;
         i++) {
        count += take_row (it, &row[count]);
        lk_message_destroy (&it);
    }
    if (lk_message_has (message, "servers")) {
        lk_known_servers_told (known, row, count, now_ms);
    }
    lk_free (row);
    return true;
}
