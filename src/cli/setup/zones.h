/*  zones.h - the zones that the cluster's settings have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CLI_ZONES_H
#define LK_CLI_ZONES_H

#include "cli/ask.h"
#include "settings/zones.h"

#include <stdbool.h>

typedef struct {
    lk_message *base;                          /* the settings */
    lk_zone zone[LK_ZONES_MAX + 1];            /* and one more */
    lk_zone_issuer issuer[2 * LK_ISSUERS_MAX]; /* likewise some */
    size_t count, issuer_count;
} lk_zone_list;

/*  As the settings in force have them. NULL: said why, and *code is how to
 *  exit. */
lk_zone_list *lk_zone_list_new (lk_requester *asker, int *code);
void lk_zone_list_destroy (lk_zone_list **self_p);

/*  Prints them, and their use as this host's lock service tells it, as a table
 *  or an object for each. */
void lk_zone_list_print (const lk_zone_list *self, lk_requester *asker,
                         bool json);

#endif
