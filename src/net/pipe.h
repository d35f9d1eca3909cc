/*  pipe.h - a connection within one loop: frames, each way in a queue
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Between a service (a link.h) and the router that hosts it. Nothing is
 *  copied, and no system call is made. What is put in at one end waits until
 *  the router's turn (lk_pipe_deliver, lk_pipe_take): neither is ever called
 *  while it is at work for the other.
 */

#ifndef LK_PIPE_H
#define LK_PIPE_H

#include "net/loop.h"
#include "net/part.h"

/*  Of what waits the service reads so much, or one message, until the router
 *  has its turn: who says much to it does not hold up others. */
#define LK_PIPE_TURN_SIZE ((size_t) 64 * 1024)

/*  And so much may wait for it here. */
#define LK_PIPE_SIZE_MAX ((size_t) 1024 * 1024)

typedef struct lk_crate lk_crate;

/*  Frames in their order. */
typedef struct {
    lk_crate *first;
    size_t count;
    size_t size; /* of all their bytes */
} lk_frames;

typedef struct {
    lk_frames to_service;
    lk_frames to_router;
    bool is_open;
    bool is_new;      /* opened, and the service was not told yet */
    bool is_cut;      /* by the router, and the service did not notice yet */
    bool has_rest;    /* the service is amid a frame, */
    size_t turn_left; /* and may read so many bytes more; both are its own */
    lk_loop_fn *fn;   /* the service's, when it was opened or has frames */
    void *user;
} lk_pipe;

void lk_pipe_init (lk_pipe *self);

/*  Drops what is in it. */
void lk_pipe_clear (lk_pipe *self);

/*  ---------------------------------------------------- the service's end */

void lk_pipe_open (lk_pipe *self);

/*  What the service has sent is still the router's to take. */
void lk_pipe_close (lk_pipe *self);

/*  False: too much waits for the router. */
bool lk_pipe_send (lk_pipe *self, lk_part *frame);
bool lk_pipe_receive (lk_pipe *self, lk_part *frame);

/*  Whether it was opened since this was asked last. */
bool lk_pipe_was_opened (lk_pipe *self);

/*  ---------------------------------------------------- the router's end */

/*  Takes a frame for the service; it is empty then. False: so much waits that
 *  the service does not keep up. */
bool lk_pipe_give (lk_pipe *self, lk_part *frame);

/*  Ends the connection for a service that does not keep up: drops what it has
 *  not read, and takes no more. It has to open it anew. */
void lk_pipe_cut (lk_pipe *self);

/*  Has the service read what is there; false: there was nothing. */
bool lk_pipe_deliver (lk_pipe *self);

/*  The next frame of the service; false if there is none. */
bool lk_pipe_take (lk_pipe *self, lk_part *frame);

#endif
