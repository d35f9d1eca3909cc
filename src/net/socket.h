/*  socket.h - libzmq's ROUTER and DEALER sockets without libzmq's header
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Every option that matters is explicit. Nothing here blocks and nothing
 *  aborts: what fails says so. Knows nothing of what is in a part.
 */

#ifndef LK_SOCKET_H
#define LK_SOCKET_H

#include "net/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*  -------------------------------------------------------- parts

    One part of a ZeroMQ message: a frame in the hands of libzmq (its very
    zmq_msg_t, so that what came in goes out without a copy). Embedded; begin
    with lk_part_init, end with lk_part_clear. Never copy the struct. */

typedef struct {
    _Alignas(void *) unsigned char storage[64];
} lk_part;

void lk_part_init (lk_part *self);  /* empty */
void lk_part_clear (lk_part *self); /* frees; empty again */
void lk_part_fill (lk_part *self, const void *data, size_t size); /* copies */

/*  The contents; may be written to unless the part was shared. */
void *lk_part_data (lk_part *self);
size_t lk_part_size (const lk_part *self);

/*  Moves `from` here, which is empty then. */
void lk_part_move (lk_part *self, lk_part *from);

/*  Makes this another reference to the contents of `from`: for sending the
 *  same bytes to many. From then on neither may be written to. */
void lk_part_share (lk_part *self, lk_part *from);

/*  The descriptor number of the connection that a received part came
 *  through, -1 if unknown. Only for comparing with lk_monitor_event.fd: it
 *  may be closed and used again already. */
int lk_part_fd (lk_part *self);

/*  -------------------------------------------------------- sockets */

/*  A ROUTER's name for a connection: any bytes; one that we did not choose
 *  begins with a zero byte. */
#define LK_IDENTITY_SIZE_MAX 255

typedef struct {
    uint8_t size;
    uint8_t bytes[LK_IDENTITY_SIZE_MAX];
} lk_identity;

void lk_identity_set (lk_identity *self, const void *bytes, size_t size);
bool lk_identity_equal (const lk_identity *self, const lk_identity *other);

/*  Owns libzmq's I/O thread. One per program, or per session of a library
 *  that cannot know of others. NULL and errno if there is none to be had. */
typedef struct lk_context lk_context;
lk_context *lk_context_new (void);

/*  Waits until the linger of the sockets is over; all must be destroyed. */
void lk_context_destroy (lk_context **self_p);

typedef struct lk_socket lk_socket;

typedef struct {
    int send_max;     /* parts that wait for a slow peer; 0: 1000 */
    int receive_max;  /* parts that wait for us, per peer; 0: 1000 */
    int64_t part_max; /* bytes; a peer that sends more is cut off.
                        0: LK_FRAME_SIZE_MAX */
    int linger_ms;    /* how long what was sent may take after destroy */
} lk_socket_options;

/*  ROUTER with ROUTER_MANDATORY; may bind and connect. A peer that comes
 *  with the routing id of a live one is refused. NULL and problem. */
lk_socket *lk_socket_router_new (lk_context *context,
                                 const lk_socket_options *options,
                                 lk_problem *problem);
lk_socket *lk_socket_dealer_new (lk_context *context,
                                 const lk_socket_options *options,
                                 lk_problem *problem);

/*  Another time than the options said, before destroy. */
void lk_socket_set_linger (lk_socket *self, int linger_ms);

/*  What was sent leaves within linger_ms. NULL-safe, nulls the pointer. */
void lk_socket_destroy (lk_socket **self_p);

/*  Binds ipc://PATH. A socket file of a dead process is removed, that of a
 *  live one is left alone (LK_REFUSED). `mode`: of the file, such as 0660;
 *  `group`: name or number of its group, NULL or "" for the process's.
 *  A failure may come after the bind: then the socket is to be destroyed,
 *  which removes the file. */
lk_err lk_socket_bind_ipc (lk_socket *self, const char *endpoint, mode_t mode,
                           const char *group, lk_problem *problem);

/*  Binds tcp://ADDRESS:PORT; PORT may be `*`, ADDRESS too. */
lk_err lk_socket_bind_tcp (lk_socket *self, const char *endpoint,
                           lk_problem *problem);

/*  The endpoint that was bound last, with its real port; "" if none. */
const char *lk_socket_endpoint (const lk_socket *self);

/*  Connects; libzmq keeps trying every 100 ms, later every second. Success
 *  says only that the endpoint makes sense. */
lk_err lk_socket_connect (lk_socket *self, const char *endpoint,
                          lk_problem *problem);

/*  The same for a ROUTER, and tells the identity of the new connection: send
 *  to it from now on (it waits for the connection, up to send_max), and what
 *  the peer sends back on it comes from that identity. It is a new one each
 *  time, and nobody can guess it: libzmq aborts on one that is in use. */
lk_err lk_socket_dial (lk_socket *self, const char *endpoint,
                       lk_identity *identity, lk_problem *problem);

/*  Ends what connect or dial began and drops what waits for that peer. To
 *  redial: this, then lk_socket_dial. Unknown endpoint: nothing. */
void lk_socket_disconnect (lk_socket *self, const char *endpoint);

/*  -------------------------------------------------------- sending */

typedef enum {
    LK_IO_DONE,
    LK_IO_WAIT,        /* would block: nothing there, or queue full */
    LK_IO_UNREACHABLE, /* send: no such peer */
    LK_IO_BROKEN,      /* receive: more or fewer parts than one; dropped */
    LK_IO_ERROR        /* the socket is of no use any more; errno */
} lk_io;

/*  Takes the next part (what `part` had is freed). ROUTER: `from` gets the
 *  peer's identity; DEALER: give NULL. */
lk_io lk_socket_receive (lk_socket *self, lk_identity *from, lk_part *part);

/*  Parts to take in one go before others get their turn, and bytes: a part may
 *  have as many messages as fit into 4 MiB. */
#define LK_DRAIN_MAX 4096
#define LK_DRAIN_SIZE_MAX ((size_t) 1024 * 1024)

/*  How many parts a reader should take in the turn that begins: one, so that
 *  what it causes leaves ahead of the look whether there is more, if no turn
 *  of the last few brought or left more than that; else LK_DRAIN_MAX, so that
 *  much travels together. */
int lk_socket_turn (lk_socket *self);

/*  Sends the part; DONE leaves it empty, anything else as it was. DEALER:
 *  `to` is NULL. After WAIT the loop wakes up when there is room again (the
 *  reader is called, hooks run): try again then. */
lk_io lk_socket_send (lk_socket *self, const lk_identity *to, lk_part *part);

/*  -------------------------------------------------------- polling

    For loop.c and attach.c; others use lk_loop_add_socket. */

/*  A descriptor that is readable when something may have changed. Any send
 *  or receive may use that signal up, so before sleeping on it ask pending. */
int lk_socket_fd (const lk_socket *self);

/*  Whether there is something to receive. Cheap if nothing was sent or
 *  received since it last said no. */
bool lk_socket_pending (lk_socket *self);

/*  Whether a send had to wait since this was asked last. libzmq's signal that
 *  there is room again may be used up too: then ask within LK_RETRY_MS. */
#define LK_RETRY_MS 10
bool lk_socket_was_blocked (lk_socket *self);

/*  For monitor.c: libzmq's own, and a socket of any of libzmq's types. */
void *lk_socket_handle (lk_socket *self);
void lk_socket_touch (lk_socket *self); /* after using the handle */
lk_context *lk_socket_context (lk_socket *self);
lk_socket *lk_socket_new (lk_context *context, int type,
                          const lk_socket_options *options,
                          lk_problem *problem);

#endif
