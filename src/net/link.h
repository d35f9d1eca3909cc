/*  link.h - what is under an attach: opened, packed into, thrown away
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For attach.c alone. Knows frames, but nothing of REGISTER and READY. When
 *  the router goes, attach closes the link and opens another: nothing that
 *  was meant for the old router ever reaches the new one.
 *
 *  Under it is a socket to the router's endpoint, or the pipe of a router
 *  that hosts the service in its own loop.
 */

#ifndef LK_LINK_H
#define LK_LINK_H

#include "net/loop.h"
#include "net/monitor.h"
#include "net/pipe.h"
#include "util/bytes.h"

#include <lockkeeper/message.h>

/*  What one wake-up sends leaves in frames up to this size. */
#define LK_LINK_FRAME_SIZE (256 * 1024)

typedef struct {
    char *endpoint;
    int linger_ms;
    lk_context *context;
    lk_socket *socket; /* both NULL: closed */
    lk_monitor *monitor;
    lk_pipe *pipe; /* instead of all that; its owner's */
    lk_bytes out;  /* the frame that is being packed */

    int epoll_fd;  /* of both sockets, for who polls on their own */
    lk_loop *loop; /* or that, and its readers */
    lk_reader *reader;
    lk_reader *monitor_reader;
    lk_loop_fn *on_messages;
    lk_loop_fn *on_monitor;
    void *user;
} lk_link;

/*  Not open yet. LK_SYSTEM and problem. */
lk_err lk_link_init (lk_link *self, const char *endpoint, int linger_ms,
                     lk_problem *problem);

/*  The same with a pipe, for lk_link_join only. */
void lk_link_init_pipe (lk_link *self, lk_pipe *pipe);

/*  What was flushed leaves within the linger; blocks so long at most. */
void lk_link_clear (lk_link *self);

/*  From now on the loop calls on_messages and on_monitor. */
void lk_link_join (lk_link *self, lk_loop *loop, lk_loop_fn *on_messages,
                   lk_loop_fn *on_monitor, void *user);

lk_err lk_link_open (lk_link *self, lk_problem *problem);

/*  Drops all that is not on its way yet. */
void lk_link_drop (lk_link *self);

/*  Takes the next part, as lk_socket_receive; LK_IO_WAIT if it is closed. */
lk_io lk_link_receive (lk_link *self, lk_part *part);

/*  The next event of the connection; false if there is none. */
bool lk_link_next_event (lk_link *self, lk_monitor_event *event);

/*  See lk_socket_turn. */
int lk_link_turn (lk_link *self);

/*  Waits for a sign of life (-1: for ever): bits of LK_LINK_... */
#define LK_LINK_MESSAGES 1
#define LK_LINK_MONITOR 2
int lk_link_wait (lk_link *self, int wait_ms);

/*  Until when one may sleep on epoll_fd as far as this is concerned. */
int64_t lk_link_deadline (lk_link *self);

/*  Packs a message whose sender is set. LK_OVERLOADED: not packed. */
lk_err lk_link_pack (lk_link *self, const lk_message *message);

/*  Sends what is packed; false if it has to wait for room. */
bool lk_link_flush (lk_link *self);

#endif
