/*  garbage.c - throws garbage, half messages and lies at routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for garbage_sockets.sh, which sees to what became of it.
 *
 *      garbage SEED SECONDS ENDPOINT...   ipc://PATH and tcp://127.0.0.1:PORT
 *
 *  For so long, and 30 times at least.
 */

#include "lib/router_fixture.h"
#include "lib/vector.h"
#include "util/rng.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BURST = 40, KEPT = 16, TIMES_MIN = 30 };

typedef struct {
    lk_rng rng;
    const char *const *endpoint;
    int count;
    const lk_vector *example;
    size_t examples;
    int kept[KEPT]; /* connections that were begun, and no more */
    size_t turn;
    size_t thrown;
} thrower;

static int
below (thrower *self, int end)
{
    return (int) lk_rng_between (&self->rng, 0, end - 1);
}

static const char *
choose_endpoint (thrower *self)
{
    return self->endpoint[below (self, self->count)];
}

static const lk_vector *
choose_example (thrower *self)
{
    return &self->example[below (self, (int) self->examples)];
}

/*  -------------------------------------------------------- bare bytes */

static int
connect_bare (const char *endpoint)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in mesh = {.sin_family = AF_INET};
    const bool is_local = strncmp (endpoint, "ipc://", 6) == 0;
    snprintf (local.sun_path, sizeof local.sun_path, "%.107s", endpoint + 6);
    mesh.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    mesh.sin_port =
        htons ((uint16_t) strtol (strrchr (endpoint, ':') + 1, NULL, 10));
    const int fd =
        socket (is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int error =
        is_local ? connect (fd, (struct sockaddr *) &local, sizeof local)
                 : connect (fd, (struct sockaddr *) &mesh, sizeof mesh);
    if (error != 0) {
        close (fd);
        return -1;
    }
    return fd;
}

/*  As ZeroMQ begins, or not; the end comes at once or much later. */
static void
throw_bytes (thrower *self)
{
    static const char greeting[] =
        "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\4\x19\5READY\x0bSocket-Type\0\0\0\6DEALER";
    char bytes[600];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char) lk_rng_next (&self->rng);
    }
    const int begun = below (self, 3);
    if (begun > 0) {
        memcpy (bytes, greeting, begun == 1 ? 32 : sizeof greeting - 1);
    }
    const int fd = connect_bare (choose_endpoint (self));
    if (fd < 0) {
        return;
    }
    (void) !send (fd, bytes, (size_t) below (self, sizeof bytes), MSG_NOSIGNAL);
    const size_t place = self->turn++ % KEPT;
    if (self->kept[place] > 0) {
        close (self->kept[place]);
    }
    self->kept[place] = fd;
}

/*  -------------------------------------------------------- frames */

/*  A right message that is cut, or of which some bytes are others. */
static void
throw_spoilt (thrower *self)
{
    lk_client *bad = lk_client_new (choose_endpoint (self), "bad");
    for (int i = 0; i < BURST; i++) {
        const lk_vector *example = choose_example (self);
        char *frame = malloc (example->frame.size);
        memcpy (frame, example->frame.data, example->frame.size);
        for (int flips = below (self, 4); flips > 0; flips--) {
            frame[below (self, (int) example->frame.size)] =
                (char) lk_rng_next (&self->rng);
        }
        const size_t size =
            below (self, 2) == 0
                ? example->frame.size
                : (size_t) below (self, (int) example->frame.size) + 1;
        (void) lk_client_throw (bad, frame, size);
        free (frame);
    }
    usleep (10000);
    lk_client_destroy (&bad);
}

/*  -------------------------------------------------------- lies */

/*  A sender's, or a receiver's, which may be more. */
static const char *
choose_host (thrower *self, bool sender)
{
    static const char *const hosts[] = {"h1", "h2", "h3", "h9", "*", ".", "?"};
    return hosts[below (self, sender ? 4 : 7)];
}

/*  What lock services tell each other, as somebody who is none, or who says
 *  that it is one. */
static void
lie (thrower *self, lk_client *liar)
{
    char to[LK_ADDRESS_LEN_MAX + 1], from[LK_ADDRESS_LEN_MAX + 1];
    const lk_vector *example = choose_example (self);
    char *body = json_dumps (example->body, JSON_COMPACT);
    snprintf (to, sizeof to, "%s@%s", below (self, 4) == 0 ? "router" : "lock",
              choose_host (self, false));
    snprintf (from, sizeof from, "%s@%s",
              below (self, 3) == 0 ? "router" : "lock",
              choose_host (self, true));
    const bool honest = below (self, 2) == 0 && liar->address[0] != '\0';
    /*  Who has the right to may end a router or remove a member: not here. */
    if (strcmp (example->command, "STOP") != 0
        && strcmp (example->command, "SHUTDOWN") != 0
        && strcmp (example->command, "LOCKMEMBERS") != 0) {
        lk_client_say (liar, honest ? liar->address : from, to,
                       example->command, lk_rng_next (&self->rng), body);
    }
    free (body);
}

/*  Gives back what others hold, by their numbers and by made up keys. */
static void
unlock_others (thrower *self, lk_client *liar)
{
    char body[200];
    snprintf (body, sizeof body,
              "{\"object\":\"o%d\",\"request\":%d,\"key\":\"%016llx\","
              "\"pid\":%d}",
              below (self, 5), 2 * below (self, 200),
              (unsigned long long) lk_rng_next (&self->rng), 1);
    lk_client_say (liar, liar->address, "lock@.", "UNLOCK",
                   2 * (uint64_t) below (self, 1000) + 1, body);
}

/*  Asks for what makes no sense, of names of its own. */
static void
ask_nonsense (thrower *self, lk_client *liar)
{
    static const char *const bodies[] = {
        "{}",
        "{\"object\":\"\"}",
        "{\"object\":17}",
        "{\"object\":\"nonsense\",\"wait\":-7}",
        "{\"object\":\"nonsense\",\"wait\":0,\"duration\":-1}",
        "{\"object\":\"nonsense\",\"wait\":9e99,\"type\":\"exclusive\"}",
        "{\"object\":\"nonsense\",\"wait\":0,\"type\":\"mine\"}",
        "{\"object\":\"non\\u0000sense\",\"wait\":0}",
        "{\"object\":\"nonsense\",\"wait\":0,\"type\":\"exclusive\",\"pid\":1,"
        "\"zone\":\"\",\"context\":\"\",\"duration\":10}",
        "[1,2,3]",
        "{\"object\":{\"object\":{\"object\":[[[[[[[[]]]]]]]]}}}",
        "\xff\xfe",
        "{\"cursor\":\"nonsense\"}",
    };
    static const char *const commands[] = {
        "LOCK",     "UNLOCK",    "LOCKLIST",     "LOCKSTATUS",
        "REGISTER", "SUBSCRIBE", "SERVICESTATUS"};
    lk_client_say (liar, liar->address,
                   below (self, 4) == 0 ? "router@." : "lock@.",
                   commands[below (self, 7)], lk_rng_next (&self->rng),
                   bodies[below (self, 13)]);
}

/*  With a name of its own, where that is asked for. */
static void
throw_lies (thrower *self)
{
    char name[32];
    const char *endpoint = choose_endpoint (self);
    const bool local = strncmp (endpoint, "ipc://", 6) == 0;
    snprintf (name, sizeof name, "liar-%d-%zu", (int) getpid (), self->thrown);
    lk_client *liar = local ? lk_client_enter (endpoint, name, "STATUS")
                            : lk_client_new (endpoint, name);
    for (int i = 0; i < BURST; i++) {
        const int what = local ? below (self, 3) : 0;
        if (what == 0) {
            lie (self, liar);
        } else if (what == 1) {
            unlock_others (self, liar);
        } else {
            ask_nonsense (self, liar);
        }
        if (i % 8 == 0) {
            lk_client_drain (liar);
        }
    }
    usleep (10000);
    lk_client_destroy (&liar);
}

int
main (int argc, char **argv)
{
    if (argc < 4) {
        fprintf (stderr, "usage: garbage SEED SECONDS ENDPOINT...\n");
        return 2;
    }
    thrower self = {.endpoint = (const char *const *) argv + 3,
                    .count = argc - 3};
    self.example = lk_vectors (&self.examples);
    lk_rng_init (&self.rng, strtoull (argv[1], NULL, 10));
    const int64_t until =
        lk_fixture_now_us () + strtoll (argv[2], NULL, 10) * 1000000;
    while (self.thrown < TIMES_MIN || lk_fixture_now_us () < until) {
        switch (self.thrown++ % 3) {
        case 0:
            throw_bytes (&self);
            break;
        case 1:
            throw_spoilt (&self);
            break;
        default:
            throw_lies (&self);
        }
    }
    printf ("%zu times\n", self.thrown);
    return 0;
}
