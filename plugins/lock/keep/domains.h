/*  domains.h - what is said of hosts, for the core, the router and people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The settings say where any host is; of one that they do not name counts what
 *  its own file says, which it tells in LOCKSTARTED. lockkeeper-protocol(7),
 *  9.5.4.
 */

#ifndef LK_LOCKD_DOMAINS_H
#define LK_LOCKD_DOMAINS_H

#include "keep.h"

#include "settings/common.h"

#define LK_LOCKD_DOMAINS (LK_DOMAINS_MAX + LK_HOSTS_MAX)

/*  Writes into a LOCKSTARTED where this host is, if its file says so, or reads
 *  what another one says, "" if nothing; false if it is malformed. */
void lk_domain_write (const lk_lockd *self, lk_message *message);
bool lk_domain_read (const lk_message *message, const char **domain);

/*  A host said that it is there; "": it does not say. */
void lk_lockd_note_domain (lk_lockd *self, lk_host host, const char *domain);

/*  Where hosts are, each once, those of the settings first: how many. `text`
 *  NULL: the settings are not known. */
size_t lk_lockd_domains (const lk_lockd *self, const char *text,
                         lk_host_domain domains[LK_LOCKD_DOMAINS]);

/*  What that comes to for the choice of leaders, and which hosts are
 *  arbiters. */
void lk_lockd_find_places (const lk_lockd *self, const lk_node_status *status,
                           lk_places *places);

#endif
