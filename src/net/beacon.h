/*  beacon.h - datagrams to all that are on the same network
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  CZMQ's zbeacon: a thread that sends one line every second, or hears those of
 *  others. The interface is $ZSYS_INTERFACE, else the first that can broadcast;
 *  the loopback cannot.
 */

#ifndef LK_BEACON_H
#define LK_BEACON_H

#include "net/problem.h"

#include <stdbool.h>
#include <stddef.h>

#define LK_BEACON_MS 1000 /* between two lines */
#define LK_BEACON_SIZE 256

typedef struct lk_beacon lk_beacon;

/*  On that UDP port. NULL and problem: there is no such interface, or no
 *  descriptor. */
lk_beacon *lk_beacon_new (int port, lk_problem *problem);

/*  NULL-safe, nulls the pointer. Not in a child of its process. */
void lk_beacon_destroy (lk_beacon **self_p);

/*  Says that line from now on instead of what it said. */
void lk_beacon_say (lk_beacon *self, const char *line);

/*  Hears lines that begin so. */
void lk_beacon_listen (lk_beacon *self, const char *begin);

/*  Readable when a line may be there: then all are to be taken. */
int lk_beacon_fd (lk_beacon *self);

/*  The next line; 0: there is none. */
size_t lk_beacon_next (lk_beacon *self, char line[LK_BEACON_SIZE]);

#endif
