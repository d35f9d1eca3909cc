/*  zap.c - see zap.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/zap.h"

#include "net/zprocess.h"
#include "util/alloc.h"

#include <czmq.h>
#include <errno.h>

#define ENDPOINT "inproc://zeromq.zap.01"
#define VERSION "1.0"
#define KEY_SIZE 32

/*  Frames of a request. */
enum {
    AT_VERSION,
    AT_SEQUENCE,
    AT_DOMAIN,
    AT_ADDRESS,
    AT_IDENTITY,
    AT_MECHANISM,
    AT_CREDENTIALS,
    FRAMES
};

struct lk_zap {
    lk_loop *loop;
    lk_zap_fn *fn;
    void *asked;
    zsock_t *socket;
    lk_reader *reader;
};

/*  -------------------------------------------------------- one request */

static bool
may_come (lk_zap *self, zframe_t *const frame[FRAMES],
          char user[LK_CURVE_USER_SIZE])
{
    char key[LK_CURVE_TEXT_SIZE], address[64];
    const bool is_client = zframe_streq (frame[AT_DOMAIN], LK_ZAP_CLIENTS);

    if (!zframe_streq (frame[AT_MECHANISM], "CURVE")
        || (!is_client && !zframe_streq (frame[AT_DOMAIN], LK_ZAP_ROUTERS))
        || zframe_size (frame[AT_CREDENTIALS]) != KEY_SIZE) {
        return false;
    }
    snprintf (address, sizeof address, "%.*s",
              (int) zframe_size (frame[AT_ADDRESS]),
              (const char *) zframe_data (frame[AT_ADDRESS]));
    (void) zmq_z85_encode (key, zframe_data (frame[AT_CREDENTIALS]), KEY_SIZE);
    const lk_zap_caller caller = {
        .is_client = is_client, .public_key = key, .address = address};
    return self->fn (self->asked, &caller, user);
}

static void
answer (lk_zap *self, zframe_t *const frame[FRAMES])
{
    char user[LK_CURVE_USER_SIZE] = "";
    const bool may = may_come (self, frame, user);

    zframe_t *sequence = frame[AT_SEQUENCE];
    (void) zsock_send (self->socket, "sfsssz", VERSION, sequence,
                       may ? "200" : "400", may ? "OK" : "unknown key", user);
}

/*  Nobody but libzmq asks. */
static void
take (lk_zap *self, zmsg_t *request)
{
    zframe_t *frame[FRAMES];
    size_t count = 0;

    while (count < FRAMES && (frame[count] = zmsg_pop (request)) != NULL) {
        count++;
    }
    if (count == FRAMES && zframe_streq (frame[AT_VERSION], VERSION)) {
        answer (self, frame);
    }
    while (count > 0) {
        zframe_destroy (&frame[--count]);
    }
}

/*  -------------------------------------------------------- the loop */

static bool
is_pending (void *user)
{
    const lk_zap *self = user;

    return (zsock_events (self->socket) & ZMQ_POLLIN) != 0;
}

static void
look (void *user)
{
    lk_zap *self = user;

    while (is_pending (self)) {
        zmsg_t *request = zmsg_recv (self->socket);
        take (self, request);
        zmsg_destroy (&request);
    }
    lk_loop_touch (self->loop, self->reader);
}

/*  -------------------------------------------------------- life */

lk_zap *
lk_zap_new (lk_loop *loop, lk_zap_fn *fn, void *asked, lk_problem *problem)
{
    if (lk_zprocess_prepare (problem) != LK_OK) {
        return NULL;
    }
    lk_zap *self = lk_alloc (sizeof *self);
    *self = (lk_zap) {.loop = loop, .fn = fn, .asked = asked};
    self->socket = zsock_new (ZMQ_REP);
    if (zsock_bind (self->socket, "%s", ENDPOINT) == -1) {
        (void) lk_problem_errno (problem, "cannot say who may connect");
        lk_zap_destroy (&self);
        return NULL;
    }
    self->reader = lk_loop_add_queue (loop, (int) zsock_fd (self->socket),
                                      is_pending, look, self);
    lk_loop_touch (loop, self->reader);
    return self;
}

void
lk_zap_destroy (lk_zap **self_p)
{
    lk_zap *self = *self_p;

    if (!self) {
        return;
    }
    lk_loop_remove (self->loop, &self->reader);
    zsock_destroy (&self->socket);
    lk_free (self);
    *self_p = NULL;
}
