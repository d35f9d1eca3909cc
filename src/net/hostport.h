/*  hostport.h - HOST:PORT, where a router can be dialled
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  HOST is a name, numbers with dots, or numbers in brackets (IPv6).
 */

#ifndef LK_HOSTPORT_H
#define LK_HOSTPORT_H

#include <stdbool.h>

/*  Whether the text is one, of at most LK_ADDRESS_LEN_MAX bytes; has_name and
 *  is_wildcard take such texts only. */
bool lk_hostport_is_valid (const char *text);

/*  The same, but that HOST may be `*`, for all, and PORT, for any. */
bool lk_hostport_is_open (const char *text);

/*  Whether its HOST is a name, which resolves to who knows what numbers. */
bool lk_hostport_has_name (const char *text);

/*  Whether its HOST is all of a host's addresses: to be bound, not dialled. */
bool lk_hostport_is_wildcard (const char *text);

#endif
