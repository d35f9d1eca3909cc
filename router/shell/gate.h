/*  gate.h - which connections of other machines are not taken at all
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The router shuts out places (router/tables/shut_out.h); libzmq's thread asks
 *  here when it accepts a connection, ahead of any handshake.
 */

#ifndef LK_GATE_H
#define LK_GATE_H

#include "router.h"

#define LK_GATE_TEXT_SIZE 48

/*  Of the other end of a connection, as the kernel has it. */
typedef struct {
    unsigned char bytes[16];
    unsigned char size; /* 4, 16; 0: none */
} lk_gate_address;

void lk_gate_address_of (lk_gate_address *self, int fd);

/*  In numbers; "" for none. */
void lk_gate_address_text (const lk_gate_address *self,
                           char text[LK_GATE_TEXT_SIZE]);

/*  Whether that descriptor's other end is shut out. In any thread. */
bool lk_gate_is_shut (int fd);

/*  Counts the connections that have ended without a name, and takes from the
 *  router who is shut out. */
void lk_gate_keep (lk_router *router);

#endif
