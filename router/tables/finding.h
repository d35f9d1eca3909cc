/*  finding.h - who may know the servers, and where hosts are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: what the settings of the cluster say of it, as a service of this host
 *  tells it.
 */

#ifndef LK_FINDING_H
#define LK_FINDING_H

#include "settings/common.h"

typedef struct {
    lk_discovery discovery;
    lk_host_domain domain[LK_DOMAINS_MAX];
    size_t count;
    uint64_t told; /* a hash of what the subscribers know */
    bool draining; /* the lock service of this host has others serve */
} lk_finding;

/*  Takes `discovery`, a word, and `domains`, a list of "HOST DOMAIN". */
void lk_finding_take (lk_finding *self, const lk_message *message);

/*  "": not known. */
const char *lk_finding_domain (const lk_finding *self, const char *host);

#endif
