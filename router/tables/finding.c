/*  finding.c - who may know the servers, and where hosts are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "finding.h"

void
lk_finding_take (lk_finding *self, const lk_message *message)
{
    const char *word = lk_message_text (message, "discovery");
    const char *line;
    const lk_discovery discovery =
        word != NULL ? lk_discovery_from_word (word) : LK_DISCOVERIES;
    self->discovery =
        discovery < LK_DISCOVERIES ? discovery : LK_DISCOVERY_AUTHENTICATED;
    self->count = 0;
    for (size_t i = 0;
         self->count < LK_DOMAINS_MAX
         && (line = lk_message_item (message, "domains", i)) != NULL;
         i++) {
        self->count += lk_host_domain_read (&self->domain[self->count], line);
    }
}

const char *
lk_finding_domain (const lk_finding *self, const char *host)
{
    const lk_host_domain *found =
        lk_host_domain_of (self->domain, self->count, host);
    return found != NULL ? found->domain : "";
}
