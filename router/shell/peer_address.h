/*  peer_address.h - from where a connection comes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  As the kernel has it, also ahead of the first byte.
 */

#ifndef LK_PEER_ADDRESS_H
#define LK_PEER_ADDRESS_H

#define LK_PEER_ADDRESS_SIZE 48

/*  Of the other end of a connection, as the kernel has it. */
typedef struct {
    unsigned char bytes[16];
    unsigned char size; /* 4, 16; 0: none */
} lk_peer_address;

void lk_peer_address_of (lk_peer_address *self, int fd);

/*  In numbers; "" for none. */
void lk_peer_address_text (const lk_peer_address *self,
                           char text[LK_PEER_ADDRESS_SIZE]);

#endif
