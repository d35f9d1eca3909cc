/*  forwarders.h - the bare bus: dumb forwarders in the place of lockkeeper
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A router and a service for each of two or three hosts, processes of their
 *  own, with libzmq's sockets as lockkeeper's are: ROUTER to ROUTER by tcp, a
 *  connection in each direction, and ROUTER to DEALER by ipc. A question of
 *  the application takes ten hops:
 *
 *      application, router, service, router, router, service and back
 *
 *  With two followers the service asks both others and answers when both
 *  have. It reads one byte where lockkeeper reads a header and a body, and
 *  knows nothing of locks. This shows what the bus alone costs.
 */

#ifndef LK_FORWARDERS_H
#define LK_FORWARDERS_H

#include <stdbool.h>
#include <stddef.h>

#define LK_FORWARDERS_PARTS_MAX 5

typedef struct {
    int parts;       /* of a message: 1 to 5 */
    int followers;   /* 1 or 2 */
    int near_core;   /* of the application and the first host */
    int far_core[2]; /* of each follower */

    /*  Bytes of: the question, what a follower is asked, its answer, the
     *  answer to the question. */
    size_t size[4];
} lk_forwarders_options;

typedef struct lk_forwarders lk_forwarders;

/*  Pins this process, which is the application, too. What fails ends the
 *  program; whatever ends the program ends the others. */
lk_forwarders *lk_forwarders_start (const lk_forwarders_options *options);
void lk_forwarders_stop (lk_forwarders **self_p);

/*  Asks. */
void lk_forwarders_send (lk_forwarders *self);

/*  Takes an answer. Waits for one if there is none, unless told not to: then
 *  false says that there is none. */
bool lk_forwarders_receive (lk_forwarders *self, bool wait);

#endif
