/*  link.h - what is under an attach: opened, packed into, thrown away
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For attach.c alone. Knows frames, but nothing of REGISTER and READY. When
 *  the router goes, attach closes the link and opens another: nothing that
 *  was meant for the old router ever reaches the new one.
 *
 *  Under it is a socket to the router's endpoint, which is that of this host
 *  or, with keys, of another one; or the pipe of a router that hosts the
 *  service in its own loop.
 */

#ifndef LK_LINK_H
#define LK_LINK_H

#include "net/dealer.h"
#include "net/loop.h"
#include "net/numbers.h"
#include "net/pipe.h"
#include "net/problem.h"
#include "util/bytes.h"

#include <lockkeeper/message.h>

#include <sys/types.h>

/*  What one wake-up sends leaves in frames up to this size. */
#define LK_LINK_FRAME_SIZE (256 * 1024)

typedef struct {
    char *endpoint; /* or several, tried in turn: */
    size_t used;    /* the place of the one in use */
    size_t first;   /* that of the one to begin with next time */
    int linger_ms;
    pid_t owner;       /* a child of it leaves all of this alone */
    lk_dealer *dealer; /* NULL: not open */
    lk_dealer_state state;
    bool has_news;       /* of it, which were not looked at */
    bool was_up;         /* it came up, and that was told */
    lk_numbers *numbers; /* of another host; else NULL */
    int lookup_fd;       /* watched while they are looked up; else -1 */
    lk_curve_call *call;
    int64_t began_ms; /* to connect */
    unsigned rounds;  /* how often all of its addresses were tried in vain */
    lk_problem why;   /* it could not be had, last; "" */
    lk_pipe *pipe;    /* instead of the dealer; its owner's */
    lk_bytes out;     /* the frame that is being packed */
    lk_part part;     /* that was received last, */
    size_t at;        /* of which so much was taken, of the pipe's */

    int epoll_fd; /* for who polls on their own: the dealer's, and */
    int kick_fd;  /* readable when something waits that they do not say: */
    bool is_kicked;
    lk_loop *loop; /* or that, and its readers */
    lk_reader *reader, *monitor_reader;
    lk_loop_fn *fn;
    void *user;
} lk_link;

/*  Not open yet. LK_SYSTEM and problem. */
lk_err lk_link_init (lk_link *self, const char *endpoint, int linger_ms,
                     lk_problem *problem);

/*  The same with a router of another host, tcp://HOST:PORT, whose addresses are
 *  tried in turn, one each time that it is opened. Not for lk_link_join. */
lk_err lk_link_init_far (lk_link *self, const char *endpoint,
                         const lk_curve_call *call, int linger_ms,
                         lk_problem *problem);

/*  The same with a pipe, for lk_link_join only. */
void lk_link_init_pipe (lk_link *self, lk_pipe *pipe);

/*  What was flushed leaves within the linger; blocks so long at most. */
void lk_link_clear (lk_link *self);

/*  From now on the loop calls fn when there is something to receive. */
void lk_link_join (lk_link *self, lk_loop *loop, lk_loop_fn *fn, void *user);

/*  LK_DISCONNECTED: nobody is there now, try again later; LK_SYSTEM: there
 *  are no descriptors, or the endpoint makes no sense. */
lk_err lk_link_open (lk_link *self, lk_problem *problem);

/*  Whether it is connected, or being so; a name that is looked up is not. */
bool lk_link_is_open (const lk_link *self);

/*  Whether there may be another way than that which is tried: one endpoint of
 *  several, or addresses of another host. */
bool lk_link_has_others (const lk_link *self);

/*  The one in use does not answer: if there are others, the next open begins
 *  behind it. */
void lk_link_pass_over (lk_link *self);

/*  Drops all that is not on its way yet. */
void lk_link_drop (lk_link *self);

/*  Whether this is the process that made it, or it is a pipe. In a child, which
 *  may destroy what it got by fork, the connection is over, and there is no
 *  other. */
bool lk_link_is_ours (const lk_link *self);

/*  -------------------------------------------------------- receiving */

/*  Waits for a sign of life (-1: for ever). */
void lk_link_wait (lk_link *self, int wait_ms);

/*  The next frame, borrowed until the next one. WAIT: there is none; BROKEN: it
 *  was of several parts, dropped; ERROR: the connection is over, and was read
 *  to its end. */
lk_io lk_link_next (lk_link *self, lk_slice *frame);

/*  There is more to be read than is read now: wakes up at once. */
void lk_link_go_on (lk_link *self);

/*  Whether it came up, since it was opened; true once. */
bool lk_link_came_up (lk_link *self);

/*  -------------------------------------------------------- sending */

/*  Packs a message whose sender is set. LK_OVERLOADED: not packed. */
lk_err lk_link_pack (lk_link *self, const lk_message *message);

/*  Sends what is packed; false if it has to wait for room. */
bool lk_link_flush (lk_link *self);

#endif
