/*  client_keys.h - machines whose applications may come, by their keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure. The settings of the cluster say which ones; a service of this host,
 *  which knows the settings, tells them. Until then nobody comes.
 */

#ifndef LK_CLIENT_KEYS_H
#define LK_CLIENT_KEYS_H

#include "bounds.h"
#include "refusals.h"

#include "net/curve.h"
#include "settings/common.h"

typedef struct {
    lk_client_key *key; /* LK_CLIENT_KEYS_MAX at most; NULL: none */
    size_t count;
    char keeper[LK_SERVICE_LEN_MAX + 1]; /* the service that told them; "" */
    lk_refusals refusals;                /* for the log */
    size_t denied; /* connections refused, whose end is not told yet */
} lk_client_keys;

void lk_client_keys_clear (lk_client_keys *self);

/*  The one that has that public key; NULL: none may come by it. */
const lk_client_key *lk_client_keys_find (const lk_client_keys *self,
                                          const char *public_key);

/*  Takes those of a list of "NAME KEY [ROLE]"; what is none is left out. */
void lk_client_keys_take (lk_client_keys *self, const lk_message *message,
                          const char *field);

/*  Whether who has that key may have that name: `far-`, the first 8 bytes of
 *  the key in hexadecimal digits, `-`, and anything. */
bool lk_client_keys_allow (const char *public_key, const char *service);

#endif
