/*  forwarders.c - the bare bus: dumb forwarders in the place of lockkeeper
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/forwarders.h"

#include "util/alloc.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#define HOSTS_MAX 3
#define SMALL_PART 8
#define PATIENCE_MS 10000

enum { TO_SERVICE, TO_APP };

/*  The first bytes of a message's first part. */
typedef struct {
    uint8_t host; /* whom it is for */
    uint8_t to;
    uint8_t from; /* host */
    uint8_t is_answer;
} header;

/*  Of all processes: what the routers are dialled by, when all have bound. */
typedef struct {
    char mesh[HOSTS_MAX][64];
    atomic_int bound;
} board;

struct lk_forwarders {
    lk_forwarders_options options;
    int hosts;
    board *board;
    pid_t child[2 * HOSTS_MAX];
    void *context;
    void *app;
};

static void
need (bool good, const char *what)
{
    if (!good) {
        fprintf (stderr, "bench: the bare bus cannot %s: %s\n", what,
                 zmq_strerror (errno));
        exit (1);
    }
}

static void
pin (int core)
{
    cpu_set_t set;
    CPU_ZERO (&set);
    CPU_SET (core, &set);
    need (sched_setaffinity (0, sizeof set, &set) == 0, "be pinned");
}

/*  -------------------------------------------------------- sockets */

static void
set (void *socket, int option, int value)
{
    need (zmq_setsockopt (socket, option, &value, sizeof value) == 0,
          "set an option");
}

static void *
open_socket (void *context, int type, const char *identity)
{
    void *socket = zmq_socket (context, type);
    need (socket != NULL, "open a socket");
    set (socket, ZMQ_LINGER, 0);
    set (socket, ZMQ_SNDHWM, 0);
    set (socket, ZMQ_RCVHWM, 0);
    if (type == ZMQ_ROUTER) {
        set (socket, ZMQ_ROUTER_MANDATORY, 1);
    }
    need (zmq_setsockopt (socket, ZMQ_ROUTING_ID, identity, strlen (identity))
              == 0,
          "name a socket");
    return socket;
}

/*  A name that the kernel forgets with the last socket: no file. */
static void
name_local (char *text, size_t size, pid_t parent, int host)
{
    snprintf (text, size, "ipc://@lockkeeper-bench-%d-%d", (int) parent, host);
}

/*  -------------------------------------------------------- messages */

/*  The receiver's name ahead of a message. It may still be on its way, in the
 *  beginning. */
static void
address (void *socket, const char *name)
{
    while (zmq_send (socket, name, strlen (name), ZMQ_SNDMORE) == -1) {
        need (errno == EHOSTUNREACH || errno == EINTR, "address a message");
        usleep (1000);
    }
}

/*  A new message, of so many bytes in all. */
static void
say (void *socket, const lk_forwarders_options *options, header head,
     size_t size)
{
    for (int i = 1; i <= options->parts; i++) {
        const bool last = i == options->parts;
        const size_t part = last ? size : SMALL_PART;
        zmq_msg_t message;
        need (zmq_msg_init_size (&message, part) == 0, "make a message");
        memset (zmq_msg_data (&message), 0, part);
        if (i == 1) {
            memcpy (zmq_msg_data (&message), &head, sizeof head);
        }
        need (zmq_msg_send (&message, socket, last ? 0 : ZMQ_SNDMORE) != -1,
              "send a message");
        size -= part;
    }
}

static bool
hear (void *socket, zmq_msg_t *message, int flags)
{
    zmq_msg_init (message);
    while (zmq_msg_recv (message, socket, flags) == -1) {
        if (errno != EINTR) {
            need (errno == EAGAIN && flags == ZMQ_DONTWAIT, "hear");
            return false;
        }
    }
    return true;
}

/*  Takes the whole of a message and returns what it begins with. */
static bool
take (void *socket, header *head, int flags)
{
    zmq_msg_t message;
    if (!hear (socket, &message, flags)) {
        return false;
    }
    memcpy (head, zmq_msg_data (&message), sizeof *head);
    while (zmq_msg_more (&message)) {
        zmq_msg_close (&message);
        (void) hear (socket, &message, 0);
    }
    zmq_msg_close (&message);
    return true;
}

/*  -------------------------------------------------------- processes */

static const char *const neighbour[HOSTS_MAX] = {"r0", "r1", "r2"};

typedef struct {
    uint8_t host;
    void *local;
    void *mesh;
} router;

/*  Moves on all that has come: parts are not copied. */
static void
forward (const router *self, void *from)
{
    zmq_msg_t message;
    while (hear (from, &message, ZMQ_DONTWAIT)) {
        zmq_msg_close (&message); /* who sent it */
        (void) hear (from, &message, 0);
        const header *head = zmq_msg_data (&message);
        void *to = head->host == self->host ? self->local : self->mesh;
        address (to, to == self->mesh     ? neighbour[head->host]
                     : head->to == TO_APP ? "app"
                                          : "service");
        for (int more = 1; more != 0;) {
            more = zmq_msg_more (&message);
            need (zmq_msg_send (&message, to, more ? ZMQ_SNDMORE : 0) != -1,
                  "forward");
            if (more) {
                (void) hear (from, &message, 0);
            }
        }
    }
}

static void
dial_others (const lk_forwarders *bus, const router *self)
{
    bus->board->bound++;
    while (bus->board->bound < bus->hosts) {
        usleep (1000);
    }
    for (int host = 0; host < bus->hosts; host++) {
        if (host != self->host) {
            const char *name = neighbour[host];
            need (zmq_setsockopt (self->mesh, ZMQ_CONNECT_ROUTING_ID, name,
                                  strlen (name))
                          == 0
                      && zmq_connect (self->mesh, bus->board->mesh[host]) == 0,
                  "dial");
        }
    }
}

static void
run_router (const lk_forwarders *bus, uint8_t host, const char *endpoint)
{
    char *mesh = bus->board->mesh[host];
    size_t size = sizeof bus->board->mesh[host];
    char identity[16];
    void *context = zmq_ctx_new ();
    router self = {.host = host};
    snprintf (identity, sizeof identity, "from-%d", host);
    self.local = open_socket (context, ZMQ_ROUTER, identity);
    self.mesh = open_socket (context, ZMQ_ROUTER, identity);
    need (zmq_bind (self.local, endpoint) == 0
              && zmq_bind (self.mesh, "tcp://127.0.0.1:*") == 0
              && zmq_getsockopt (self.mesh, ZMQ_LAST_ENDPOINT, mesh, &size)
                     == 0,
          "bind");
    dial_others (bus, &self);
    for (;;) {
        zmq_pollitem_t item[] = {{self.local, 0, ZMQ_POLLIN, 0},
                                 {self.mesh, 0, ZMQ_POLLIN, 0}};
        (void) zmq_poll (item, 2, -1);
        for (int i = 0; i < 2; i++) {
            if (item[i].revents != 0) {
                forward (&self, item[i].socket);
            }
        }
    }
}

/*  The first host's: asks all others, and answers what all have. */
static void
lead (const lk_forwarders *bus, void *socket, const header *head,
      uint64_t answers[HOSTS_MAX])
{
    const lk_forwarders_options *options = &bus->options;
    static uint64_t answered;
    if (!head->is_answer) {
        for (uint8_t host = 1; host < bus->hosts; host++) {
            say (socket, options, (header) {host, TO_SERVICE, 0, 0},
                 options->size[1]);
        }
        return;
    }
    answers[head->from]++;
    for (int host = 1; host < bus->hosts; host++) {
        if (answers[host] <= answered) {
            return;
        }
    }
    answered++;
    say (socket, options, (header) {0, TO_APP, 0, 1}, options->size[3]);
}

static void
run_service (const lk_forwarders *bus, uint8_t host, const char *endpoint)
{
    void *socket = open_socket (zmq_ctx_new (), ZMQ_DEALER, "service");
    uint64_t answers[HOSTS_MAX] = {0};
    header head;
    need (zmq_connect (socket, endpoint) == 0, "connect");
    for (;;) {
        zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
        (void) zmq_poll (&item, 1, -1);
        while (take (socket, &head, ZMQ_DONTWAIT)) {
            if (host == 0) {
                lead (bus, socket, &head, answers);
            } else {
                say (socket, &bus->options,
                     (header) {head.from, TO_SERVICE, host, 1},
                     bus->options.size[2]);
            }
        }
    }
}

/*  Two of them for each host. */
static void
start_child (lk_forwarders *self, int number, pid_t parent)
{
    char endpoint[64];
    const uint8_t host = (uint8_t) (number / 2);
    self->child[number] = fork ();
    need (self->child[number] != -1, "fork");
    if (self->child[number] != 0) {
        return;
    }
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (getppid () != parent) {
        _exit (1);
    }
    pin (host == 0 ? self->options.near_core
                   : self->options.far_core[host - 1]);
    name_local (endpoint, sizeof endpoint, parent, host);
    if (number % 2 == 0) {
        run_router (self, host, endpoint);
    }
    run_service (self, host, endpoint);
}

/*  -------------------------------------------------------- application */

lk_forwarders *
lk_forwarders_start (const lk_forwarders_options *options)
{
    lk_forwarders *self = lk_alloc (sizeof *self);
    char endpoint[64];
    self->options = *options;
    self->hosts = 1 + options->followers;
    self->board = mmap (NULL, sizeof *self->board, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need (self->board != MAP_FAILED, "share memory");
    fflush (NULL);
    for (int i = 0; i < 2 * self->hosts; i++) {
        start_child (self, i, getpid ());
    }
    pin (options->near_core);
    self->context = zmq_ctx_new ();
    self->app = open_socket (self->context, ZMQ_DEALER, "app");
    set (self->app, ZMQ_RCVTIMEO, PATIENCE_MS);
    name_local (endpoint, sizeof endpoint, getpid (), 0);
    need (zmq_connect (self->app, endpoint) == 0, "connect");
    return self;
}

void
lk_forwarders_stop (lk_forwarders **self_p)
{
    lk_forwarders *self = *self_p;
    for (int i = 0; i < 2 * self->hosts; i++) {
        kill (self->child[i], SIGKILL);
        waitpid (self->child[i], NULL, 0);
    }
    zmq_close (self->app);
    zmq_ctx_term (self->context);
    munmap (self->board, sizeof *self->board);
    lk_free (self);
    *self_p = NULL;
}

void
lk_forwarders_send (lk_forwarders *self)
{
    say (self->app, &self->options, (header) {0, TO_SERVICE, 0, 0},
         self->options.size[0]);
}

bool
lk_forwarders_receive (lk_forwarders *self, bool wait)
{
    header head;
    return take (self->app, &head, wait ? 0 : ZMQ_DONTWAIT);
}
