/*  attach.h - a process's connection with the router of its host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Connects, registers, and hands over messages; when the router goes and
 *  comes back, does it again. What services (service.c) and applications
 *  (src/client) have in common. Nothing blocks but lk_attach_wait. Driven in
 *  one of two ways:
 *
 *  - by an lk_loop: lk_attach_join, and that is all (with a pipe: the router
 *    says when, lk_pipe_deliver);
 *  - by the caller's own poll: when lk_attach_fd is readable or
 *    lk_attach_deadline is over, call lk_attach_work. lk_attach_wait does just
 *    that.
 *
 *  Life: SEEKING (no connection) -> REGISTERING -> READY; back to SEEKING
 *  when the connection ends; REFUSED is final.
 */

#ifndef LK_ATTACH_H
#define LK_ATTACH_H

#include "net/credential_file.h"
#include "net/curve.h"
#include "net/loop.h"
#include "net/pipe.h"
#include "net/problem.h"

#include <lockkeeper/message.h>

typedef struct lk_attach lk_attach;

typedef enum {
    LK_ATTACH_SEEKING,
    LK_ATTACH_REGISTERING,
    LK_ATTACH_READY,
    LK_ATTACH_REFUSED
} lk_attach_state;

/*  A refusal because the name is taken is tried again for so long, since the
 *  end of a former process of ours may not have been noticed yet. */
#define LK_ATTACH_TAKEN_MS 5000

/*  A router that is not there is sought again so soon, as most are back soon,
 *  then half as often each time, and that often in the end, give or take a
 *  quarter; that of another host less often. */
#define LK_ATTACH_SEEK_SOON_MS 5
#define LK_ATTACH_SEEK_MS 100
#define LK_ATTACH_SEEK_FAR_MS 500

/*  If there are several endpoints, the next one is tried when one that takes
 *  the connection does not answer for so long. */
#define LK_ATTACH_PATIENCE_MS 3000

/*  REGISTER is repeated that often until it is answered. */
#define LK_ATTACH_REGISTER_MS 500

/*  Called from lk_attach_work and lk_attach_wait (or the loop), and from
 *  nothing else. They may send and subscribe, but not destroy. NULL is
 *  fine for each. */
typedef struct {
    /*  READY came: lk_attach_host is known, send away. */
    void (*ready) (void *user);

    /*  The router is gone after READY; what was sent and is unanswered may
     *  or may not have arrived. ready follows when it is back. */
    void (*lost) (void *user);

    /*  The router does not want us, and that is final. */
    void (*refused) (void *user, const char *reason);

    /*  A message for us, the router's own included (borrowed). */
    void (*message) (void *user, const lk_message *message);
} lk_attach_calls;

typedef struct {
    const char *endpoint;      /* ipc://PATH, or several, see net/endpoint.h */
    const lk_curve_call *call; /* not NULL: it is tcp://HOST:PORT, of another
                                  host, by these keys; not for lk_attach_join */
    lk_pipe *pipe;    /* instead of it: the router's, in the same loop */
    const char *name; /* of the service: 1..63 of A-Z a-z 0-9 . _ - */
    const char *version;
    bool application;
    bool is_visitor; /* it does not register: it may be READY, knows no host,
                        and hears only answers */
    lk_credential_file *credential;   /* borrowed: who we are; NULL: nothing */
    const char *const *subscriptions; /* NULL at the end; or NULL */
    int linger_ms; /* how long the last messages may take at the end */
    int taken_ms;  /* 0: LK_ATTACH_TAKEN_MS */
} lk_attach_options;

/*  Begins to seek the router. The options are copied. NULL and problem if
 *  endpoint or name make no sense (LK_INVALID) or there are no descriptors. */
lk_attach *lk_attach_new (const lk_attach_options *options,
                          const lk_attach_calls *calls, void *user,
                          lk_problem *problem);

/*  Sends what is still to send, and UNREGISTER if READY; frees it within
 *  linger_ms. NULL-safe, nulls the pointer. */
void lk_attach_destroy (lk_attach **self_p);

lk_attach_state lk_attach_get_state (const lk_attach *self);

/*  Whether it is this process's: in a child it says and hears nothing. */
bool lk_attach_is_ours (const lk_attach *self);

/*  The host's name from the last READY, "" before. */
const char *lk_attach_host (const lk_attach *self);

/*  How other routers reach this host's, "10.0.0.1:4040", from the last READY;
 *  "" if it did not say. */
const char *lk_attach_router_address (const lk_attach *self);

/*  The zone that the router finds us in, from the last READY; "": the default
 *  one. */
const char *lk_attach_zone (const lk_attach *self);

/*  ... and by which name and role; "" if it does not say. */
const char *lk_attach_user (const lk_attach *self);
const char *lk_attach_role (const lk_attach *self);

/*  When the credential that the router knows ends (boot clock, ms), from the
 *  last READY; INT64_MAX: never. */
int64_t lk_attach_credential_ends_ms (const lk_attach *self);

/*  Why we are not READY, in a sentence ("no router at 'ipc://...': no such
 *  file or directory; none at ...", "the router at '...' does not answer",
 *  "the router refused: ..."), and errno-like: ENOENT, ECONNREFUSED, EACCES,
 *  ETIMEDOUT, EKEYREJECTED: the credential does not count. */
void lk_attach_problem (const lk_attach *self, lk_problem *problem);

/*  Of another host: how often all of its addresses were tried in vain. */
unsigned lk_attach_rounds (const lk_attach *self);

/*  How long the router took to answer the last REGISTER, in milliseconds; -1:
 *  it did not yet. */
int64_t lk_attach_answer_ms (const lk_attach *self);

/*  -------------------------------------------------------- sending */

/*  Sends *message_p, the sender's address filled in: with all else of this
 *  wake-up, at the end of lk_attach_work, at lk_attach_flush, or when a frame
 *  is full. LK_DISCONNECTED if not READY, LK_OVERLOADED if the queue is full
 *  or the message over its limit: nothing was sent then. Destroys *message_p
 *  and nulls the pointer, whatever it returns. */
lk_err lk_attach_send (lk_attach *self, lk_message **message_p);

/*  What was sent leaves now. Who drives it with an own poll calls this after
 *  sending outside of the callbacks. */
void lk_attach_flush (lk_attach *self);

/*  Says REGISTER once more, if READY, with the credential that there is now:
 *  the same registration goes on. READY is no call of `ready` then. */
void lk_attach_show_credential (lk_attach *self);

/*  Subscribes to one more broadcast command, now and after each READY. */
void lk_attach_subscribe (lk_attach *self, const char *command);

/*  -------------------------------------------------------- driving */

/*  Joins the loop for good: readers, timer and flush hook. Leave by
 *  lk_attach_destroy, before the loop is destroyed. */
void lk_attach_join (lk_attach *self, lk_loop *loop);

/*  Stays the same until destroy. Only ever readable. */
int lk_attach_fd (const lk_attach *self);

/*  When lk_attach_work has to be called at the latest (boot clock, ms);
 *  INT64_MAX: never. */
int64_t lk_attach_deadline (const lk_attach *self);

/*  Does all that is to do now: receives, calls back, registers, flushes. */
void lk_attach_work (lk_attach *self);

/*  Waits until something is to do, a signal comes or until_ms (boot clock;
 *  INT64_MAX: for ever), and does it. May return early: look at the clock. */
void lk_attach_wait (lk_attach *self, int64_t until_ms);

#endif
