/*  announcement.h - what a server says of itself on the network
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One line, "lockkeeper 1 CLUSTER HOST ADDRESS FINGERPRINT", that anybody may
 *  send: it proves nothing. CLUSTER is "-" while it is not known.
 */

#ifndef LK_ANNOUNCEMENT_H
#define LK_ANNOUNCEMENT_H

#include <lockkeeper/message.h>

#include <stdbool.h>
#include <stddef.h>

#define LK_ANNOUNCEMENT_SIZE 256
#define LK_ANNOUNCEMENT_BEGIN "lockkeeper 1 "
#define LK_FINGERPRINT_SIZE 17

typedef struct {
    char cluster[LK_HOST_LEN_MAX + 1];
    char host[LK_HOST_LEN_MAX + 1];
    char address[LK_ADDRESS_LEN_MAX + 1];  /* HOST:PORT */
    char fingerprint[LK_FINGERPRINT_SIZE]; /* of its key, see net/curve.h */
} lk_announcement;

/*  False: it has no room. */
bool lk_announcement_write (const lk_announcement *self,
                            char text[LK_ANNOUNCEMENT_SIZE]);

/*  False: that is none. */
bool lk_announcement_read (lk_announcement *self, const char *data,
                           size_t size);

#endif
