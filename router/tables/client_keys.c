/*  client_keys.c - machines whose applications may come, by their keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_keys.h"

#include "rows.h"
#include "util/alloc.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

void
lk_client_keys_clear (lk_client_keys *self)
{
    lk_free (self->key);
    self->key = NULL;
    self->count = 0;
}

const lk_client_key *
lk_client_keys_find (const lk_client_keys *self, const char *public_key)
{
    return lk_client_key_find (self->key, self->count, public_key);
}

void
lk_client_keys_take (lk_client_keys *self, const lk_message *message,
                     const char *field)
{
    const char *line;
    self->count = 0;
    self->key = lk_rows_renew (self->key, message, field, LK_CLIENT_KEYS_MAX,
                               sizeof *self->key);
    for (size_t i = 0; self->count < LK_CLIENT_KEYS_MAX
                       && (line = lk_message_item (message, field, i)) != NULL;
         i++) {
        self->count += lk_client_key_read (&self->key[self->count], line);
    }
}

bool
lk_client_keys_allow (const char *public_key, const char *service)
{
    char fingerprint[LK_FINGERPRINT_SIZE];
    char start[sizeof LK_ADDRESS_FAR + LK_FINGERPRINT_SIZE];
    lk_curve_fingerprint (public_key, fingerprint);
    const int size =
        snprintf (start, sizeof start, LK_ADDRESS_FAR "%s-", fingerprint);
    return fingerprint[0] != '\0'
           && strncmp (service, start, (size_t) size) == 0
           && service[size] != '\0';
}
