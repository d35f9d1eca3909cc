/*  request_fields.h - the fields of what applications ask
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Reads and checks; it knows nothing of applications and sends nothing.
 *  lockkeeper-protocol(7), 7.1, has all the sentences.
 */

#ifndef LK_REQUEST_FIELDS_H
#define LK_REQUEST_FIELDS_H

#include "node.h"

#include <lockkeeper/message.h>

typedef struct {
    const char *zone; /* of its sender: names are in it unless it says another;
                         set it ahead of reading */
    const lk_message *message;
    lk_app_request core; /* but for app and owner */
    bool far;            /* its sender is on another machine */
    uint64_t secret[2];  /* LOCKREGISTER: of its process */
    bool has_key;        /* UNLOCK */
    bool force;          /* UNLOCK */
    size_t claimed;      /* LOCK of a list: names that it says to hold */
    uint64_t named;      /* UNLOCK: the serial of a LOCK; 0 */
    char problem[160];   /* the first thing that is wrong, as a sentence */
    char key[LK_NAME_SIZE_MAX];  /* core.object */
    lk_name rest[LK_SET_MAX];    /* core.rest, owned */
    lk_claim claims[LK_SET_MAX]; /* core.claims */
} lk_ask;

/*  Fill `self` from a message of that command, which must outlive it. False:
 *  why, in `problem`. Cleared by lk_ask_clear in either case. */
bool lk_ask_lock (lk_ask *self, const lk_message *message);
bool lk_ask_unlock (lk_ask *self, const lk_message *message);
bool lk_ask_check (lk_ask *self, const lk_message *message);
bool lk_ask_register (lk_ask *self, const lk_message *message);
bool lk_ask_lease (lk_ask *self, const lk_message *message);
bool lk_ask_goodbye (lk_ask *self, const lk_message *message);
void lk_ask_clear (lk_ask *self);

#endif
