/*  listener.c - see listener.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/listener.h"

#include "net/clock.h"
#include "net/dial.h"
#include "net/endpoint.h"
#include "net/log.h"
#include "net/monitor.h"
#include "net/random.h"
#include "net/tcp.h"
#include "net/zap.h"
#include "net/zpart.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/map.h"

#include <errno.h>
#include <stdlib.h>

#define READS_MAX 1024       /* in one wake-up, of all who connected to us */
#define DIALLED_READS_MAX 64 /* of one that was dialled */
#define GONE_SOON_MS 5 /* the ROUTER knows an end later than its monitor */
#define GONE_LATE_MS 100
#define ANEW_MS 10           /* between tries to bind again, */
#define ANEW_TOLD 100        /* after how many that is told, */
#define ANEW_LATE_MS 1000    /* and between tries from then on */
#define CLOSED_LINGER_MS 200 /* for the last words to who is hung up on */

/*  Whom we dialled. Its identity is its place in the table alone, and nobody
 *  who connects to us can guess it. */
typedef struct connection {
    lk_listener *listener;
    lk_identity identity;
    lk_dial *dial;     /* until it is up, */
    lk_dealer *dealer; /* and from then on */
    lk_reader *reader, *monitor_reader;
    bool is_over;                  /* and what came before is read */
    bool is_told;                  /* what came is being told */
    bool is_closed;                /* meanwhile */
    char user[LK_CURVE_USER_SIZE]; /* who it is, by the key of that end */
    UT_hash_handle hh;
} connection;

struct lk_listener {
    lk_loop *loop;
    const lk_listener_calls *calls;
    void *user;
    lk_zsocket *socket; /* NULL: not bound */
    lk_reader *reader;
    lk_monitor *monitor; /* of tcp */
    lk_reader *monitor_reader;
    lk_timer gone; /* is told */
    bool gone_is_soon;
    char *endpoint; /* the first, */
    char *last;     /* and the last, which is bound anew */
    lk_timer anew;
    unsigned failures;  /* of that, in a row */
    lk_curve_pair pair; /* with that */
    ino_t file;         /* of ipc */
    connection *dialled;
    lk_part part;
    const lk_identity *told; /* whose part it is; NULL: nobody's */
};

/*  -------------------------------------------------------- who connected */

static void
tell (lk_listener *self, lk_io io, const lk_identity *from)
{
    self->told = from;
    if (io == LK_IO_BROKEN && self->calls->broken) {
        self->calls->broken (self->user, from);
    } else if (io == LK_IO_DONE) {
        self->calls->frame (self->user, from, &self->part);
    }
    self->told = NULL;
}

/*  False: there may be more. */
static bool
read_some (lk_listener *self)
{
    for (int i = 0; i < READS_MAX; i++) {
        lk_identity from;
        const lk_io io = lk_zsocket_receive (self->socket, &from, &self->part);
        if (io == LK_IO_WAIT) {
            return true;
        }
        tell (self, io, &from);
    }
    return false;
}

static void
read_socket (void *user)
{
    lk_listener *self = user;

    if (!read_some (self)) {
        lk_loop_touch (self->loop, self->reader);
    }
}

static bool
is_pending (void *user)
{
    const lk_listener *self = user;

    return lk_zsocket_is_pending (self->socket);
}

void
lk_listener_drain (lk_listener *self)
{
    while (self->socket && !read_some (self)) {
        continue;
    }
}

bool
lk_listener_is_there (lk_listener *self, const lk_identity *identity)
{
    lk_part nothing;

    lk_part_init (&nothing);
    const lk_io io = lk_zsocket_send (self->socket, identity, &nothing);
    lk_loop_touch (self->loop, self->reader);
    lk_part_clear (&nothing);
    return io != LK_IO_UNREACHABLE;
}

/*  "localhost:uid:gid:pid" */
static bool
read_peer (const char *text, lk_peer_cred *peer)
{
    const char *pid = text ? strrchr (text, ':') : NULL;
    const char *uid = text ? strchr (text, ':') : NULL;
    const char *gid = uid ? strchr (uid + 1, ':') : NULL;

    if (!gid || gid == pid) {
        return false;
    }
    *peer = (lk_peer_cred) {.pid = (pid_t) strtol (pid + 1, NULL, 10),
                            .uid = (uid_t) strtoul (uid + 1, NULL, 10),
                            .gid = (gid_t) strtoul (gid + 1, NULL, 10)};
    return true;
}

/*  The part that is told, if it is that connection's; else NULL. */
static const zmq_msg_t *
told_of (const lk_listener *self, const lk_identity *identity)
{
    return self->told && lk_identity_equal (self->told, identity)
               ? (const zmq_msg_t *) self->part.message.bytes
               : NULL;
}

bool
lk_listener_peer (const lk_listener *self, const lk_identity *identity,
                  lk_peer_cred *peer)
{
    const zmq_msg_t *part = told_of (self, identity);

    return self->file != 0 && part
           && read_peer (zmq_msg_gets (part, "Peer-Address"), peer);
}

int
lk_listener_fd (const lk_listener *self, const lk_identity *identity)
{
    const zmq_msg_t *part = told_of (self, identity);

    return part ? zmq_msg_get (part, ZMQ_SRCFD) : -1;
}

/*  -------------------------------------------------------- who has gone */

/*  Soon, and once more in case the ROUTER did not know it yet. */
static void
tell_gone (void *user)
{
    lk_listener *self = user;

    if (self->gone_is_soon) {
        self->gone_is_soon = false;
        lk_timer_set (&self->gone, lk_clock_ms () + GONE_LATE_MS);
    }
    if (self->calls->gone) {
        self->calls->gone (self->user);
    }
}

static void
read_monitor (void *user)
{
    lk_listener *self = user;
    lk_monitor_event event;
    bool is_any = false;

    while ((event = lk_monitor_next (self->monitor)) != LK_MONITOR_NOTHING) {
        is_any |= event == LK_MONITOR_OVER;
        if ((event == LK_MONITOR_DENIED || event == LK_MONITOR_REFUSED)
            && self->calls->denied) {
            self->calls->denied (self->user);
        }
    }
    if (is_any) {
        self->gone_is_soon = true;
        lk_timer_set (&self->gone, lk_clock_ms () + GONE_SOON_MS);
    }
}

static bool
is_monitor_pending (void *user)
{
    const lk_listener *self = user;

    return lk_monitor_is_pending (self->monitor);
}

/*  -------------------------------------------------------- whom we dialled */

static connection *
find (const lk_listener *self, const lk_identity *identity)
{
    connection *found;

    HASH_FIND (hh, self->dialled, identity->bytes, identity->size, found);
    return found && !found->is_closed ? found : NULL;
}

static void
take_out (connection *self)
{
    lk_listener *listener = self->listener;

    HASH_DEL (listener->dialled, self);
    lk_loop_remove (listener->loop, &self->reader);
    lk_loop_remove (listener->loop, &self->monitor_reader);
    lk_dial_destroy (&self->dial);
}

static void
end (connection *self, const lk_problem *problem)
{
    lk_listener *listener = self->listener;

    take_out (self);
    lk_dealer_destroy (&self->dealer, 0);
    if (!self->is_closed) {
        listener->calls->over (listener->user, &self->identity, problem);
    }
    lk_free (self);
}

/*  False: there may be more. */
static bool
read_dialled (connection *self)
{
    lk_listener *listener = self->listener;

    for (int i = 0; i < DIALLED_READS_MAX && !self->is_closed; i++) {
        const lk_io io = lk_dealer_receive (self->dealer, &listener->part);
        if (io == LK_IO_WAIT) {
            return true;
        }
        tell (listener, io, &self->identity);
    }
    return self->is_closed;
}

static void
look (void *user)
{
    connection *self = user;

    self->is_told = true;
    const bool is_all = read_dialled (self);
    self->is_told = false;
    if (self->is_closed || (is_all && self->is_over)) {
        end (self, NULL);
    } else if (!is_all) {
        lk_loop_touch (self->listener->loop, self->reader);
    }
}

/*  A message that came ahead of its end is read before that is told. */
static void
look_at_news (void *user)
{
    connection *self = user;

    self->is_over = lk_dealer_look (self->dealer) != LK_DEALER_UP;
    if (self->is_over) {
        look (self);
    }
}

static bool
is_dialled_pending (void *user)
{
    const connection *self = user;

    return self->is_over || lk_dealer_is_pending (self->dealer);
}

static bool
has_news (void *user)
{
    const connection *self = user;

    return lk_dealer_has_news (self->dealer);
}

static void
join (connection *self, lk_dealer *dealer)
{
    lk_loop *loop = self->listener->loop;

    self->dealer = dealer;
    self->reader = lk_loop_add_queue (loop, lk_dealer_fd (dealer),
                                      is_dialled_pending, look, self);
    self->monitor_reader = lk_loop_add_queue (
        loop, lk_dealer_monitor_fd (dealer), has_news, look_at_news, self);
    lk_loop_touch (loop, self->reader);
    lk_loop_touch (loop, self->monitor_reader);
}

static void
dialled (void *user, lk_dealer *dealer, const lk_problem *problem)
{
    connection *self = user;
    lk_listener *listener = self->listener;

    if (!dealer) {
        end (self, problem);
        return;
    }
    const lk_curve_call *call = lk_dial_call (self->dial);
    snprintf (self->user, sizeof self->user, "%s", call ? call->user : "");
    lk_dial_destroy (&self->dial);
    join (self, dealer);
    const lk_identity identity = self->identity;
    listener->calls->up (listener->user, &identity);
}

const char *
lk_listener_user (const lk_listener *self, const lk_identity *identity)
{
    const zmq_msg_t *part = told_of (self, identity);
    const connection *it = find (self, identity);

    return it ? it->user : part ? zmq_msg_gets (part, "User-Id") : NULL;
}

void
lk_listener_dial (lk_listener *self, const char *address,
                  const lk_curve_calls *ways, lk_identity *identity)
{
    connection *it = lk_alloc (sizeof *it);
    char name[1 + 2 * sizeof (uint64_t)] = {0};

    it->listener = self;
    lk_bytes_put64 (name + 1, lk_random_id ());
    lk_bytes_put64 (name + 9, lk_random_id ());
    lk_identity_set (&it->identity, name, sizeof name);
    HASH_ADD (hh, self->dialled, identity.bytes, sizeof name, it);
    it->dial = lk_dial_new (self->loop, address, ways, dialled, it);
    *identity = it->identity;
}

void
lk_listener_close (lk_listener *self, const lk_identity *identity)
{
    connection *it = find (self, identity);

    if (it && it->is_told) {
        it->is_closed = true;
    } else if (it) {
        take_out (it);
        lk_dealer_destroy (&it->dealer, CLOSED_LINGER_MS);
        lk_free (it);
    }
}

/*  -------------------------------------------------------- sending */

lk_io
lk_listener_send (lk_listener *self, const lk_identity *to, lk_part *frame)
{
    connection *it = find (self, to);

    if (it && it->dealer) {
        lk_loop_touch (self->loop, it->reader);
        return lk_dealer_send (it->dealer, frame);
    }
    if (it) {
        return LK_IO_WAIT;
    }
    if (!self->socket) {
        return LK_IO_UNREACHABLE;
    }
    lk_loop_touch (self->loop, self->reader);
    return lk_zsocket_send (self->socket, to, frame);
}

/*  -------------------------------------------------------- binding */

static const char *
domain_of (const lk_listener *self)
{
    return self->calls->domain ? self->calls->domain : LK_ZAP_ROUTERS;
}

/*  libzmq's own thread closes the former one. */
static void
bind_anew (void *user)
{
    lk_listener *self = user;
    lk_problem problem;

    lk_zsocket_serve (self->socket, &self->pair, domain_of (self));
    errno = lk_zsocket_bind (self->socket, self->last);
    if (errno == 0) {
        self->failures = 0;
        return;
    }
    if (++self->failures == ANEW_TOLD) {
        (void) lk_problem_errno (&problem, "cannot bind '%s' anew", self->last);
        lk_log_error ("keys: %s", problem.text);
    }
    lk_timer_set (&self->anew,
                  lk_clock_ms ()
                      + (self->failures < ANEW_TOLD ? ANEW_MS : ANEW_LATE_MS));
}

lk_listener *
lk_listener_new (lk_loop *loop, const lk_listener_calls *calls, void *user)
{
    lk_listener *self = lk_alloc (sizeof *self);

    self->loop = loop;
    self->calls = calls;
    self->user = user;
    lk_part_init (&self->part);
    lk_timer_init (&self->gone, loop, tell_gone, self);
    lk_timer_init (&self->anew, loop, bind_anew, self);
    return self;
}

static lk_err
open_socket (lk_listener *self, lk_problem *problem)
{
    self->socket = lk_zsocket_new (LK_ZSOCKET_ROUTER, problem);
    if (!self->socket) {
        return LK_SYSTEM;
    }
    self->reader = lk_loop_add_queue (self->loop, lk_zsocket_fd (self->socket),
                                      is_pending, read_socket, self);
    lk_loop_touch (self->loop, self->reader);
    return LK_OK;
}

static lk_err
bind_socket (lk_listener *self, const char *endpoint, const lk_curve_pair *pair,
             lk_problem *problem)
{
    if (!self->socket && open_socket (self, problem) != LK_OK) {
        return LK_SYSTEM;
    }
    if (pair) {
        lk_zsocket_serve (self->socket, pair, domain_of (self));
    }
    errno = lk_zsocket_bind (self->socket, endpoint);
    if (errno != 0) {
        return lk_problem_errno (problem, "cannot bind '%s'", endpoint);
    }
    lk_free (self->last);
    self->last = lk_strdup (lk_zsocket_bound (self->socket));
    if (!self->endpoint) {
        self->endpoint = lk_strdup (self->last);
    }
    return LK_OK;
}

lk_err
lk_listener_bind (lk_listener *self, const char *endpoint, mode_t mode,
                  const char *group, lk_problem *problem)
{
    gid_t gid;
    lk_err error = lk_endpoint_find_group (group, &gid, problem);

    if (error == LK_OK) {
        error = lk_endpoint_clear_way (endpoint, problem);
    }
    if (error != LK_OK) {
        return error;
    }
    const mode_t old = lk_endpoint_mask (mode);
    error = bind_socket (self, endpoint, NULL, problem);
    lk_endpoint_unmask (old);
    if (error == LK_OK) {
        self->file = lk_endpoint_file (endpoint);
        error = lk_endpoint_set_owner (endpoint, mode, gid, problem);
    }
    return error;
}

static lk_err
open_monitor (lk_listener *self, lk_problem *problem)
{
    self->monitor = lk_monitor_new (self->socket, problem);
    if (!self->monitor) {
        return LK_SYSTEM;
    }
    self->monitor_reader =
        lk_loop_add_queue (self->loop, lk_monitor_fd (self->monitor),
                           is_monitor_pending, read_monitor, self);
    lk_loop_touch (self->loop, self->monitor_reader);
    return LK_OK;
}

lk_err
lk_listener_bind_tcp (lk_listener *self, const char *endpoint,
                      const lk_curve_pair *pair, lk_problem *problem)
{
    lk_tcp_address address;
    lk_err error = lk_endpoint_check (endpoint, LK_TCP, problem);

    if (error == LK_OK) {
        error = lk_tcp_split (endpoint + strlen (LK_TCP), &address, problem);
    }
    if (error == LK_OK) {
        error = bind_socket (self, endpoint, pair, problem);
    }
    if (error == LK_SYSTEM
        && (problem->number == ENODEV || problem->number == EINVAL)) {
        return lk_problem_set (problem, LK_SYSTEM,
                               "cannot bind '%s': '%s' is neither an address "
                               "in numbers nor a network interface",
                               endpoint, address.host);
    }
    return error == LK_OK && !self->monitor ? open_monitor (self, problem)
                                            : error;
}

void
lk_listener_rekey (lk_listener *self, const lk_curve_pair *pair)
{
    self->pair = *pair;
    lk_zsocket_unbind (self->socket, self->last);
    bind_anew (self);
}

const char *
lk_listener_endpoint (const lk_listener *self)
{
    return self->endpoint;
}

/*  -------------------------------------------------------- the end */

static void
unbind (lk_listener *self, int linger_ms)
{
    lk_loop_remove (self->loop, &self->reader);
    lk_loop_remove (self->loop, &self->monitor_reader);
    lk_monitor_destroy (&self->monitor);
    if (self->file != 0) {
        lk_endpoint_remove (self->endpoint, self->file);
    }
    lk_zsocket_destroy (&self->socket, linger_ms);
}

void
lk_listener_destroy (lk_listener **self_p, int linger_ms)
{
    lk_listener *self = *self_p;
    connection *it, *next;

    if (!self) {
        return;
    }
    unbind (self, linger_ms);
    HASH_ITER (hh, self->dialled, it, next) {
        take_out (it);
        lk_dealer_destroy (&it->dealer, linger_ms);
        lk_free (it);
    }
    lk_timer_clear (&self->gone);
    lk_timer_clear (&self->anew);
    explicit_bzero (&self->pair, sizeof self->pair);
    lk_part_clear (&self->part);
    lk_free (self->endpoint);
    lk_free (self->last);
    lk_free (self);
    *self_p = NULL;
}
