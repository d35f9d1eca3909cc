/*  router.h - the router without its sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Frames come in with the identity of their connection, what leaves is put
 *  into the outboxes of hops, and what only the outside can do is asked of it
 *  through lk_router_calls. shell.c is that outside; unit tests are another.
 */

#ifndef LK_ROUTER_H
#define LK_ROUTER_H

#include "cache.h"
#include "client_keys.h"
#include "cluster.h"
#include "directory.h"
#include "finding.h"
#include "hop.h"
#include "keyring.h"
#include "logins.h"
#include "mesh.h"
#include "refusals.h"
#include "route.h"
#include "shut_out.h"
#include "source.h"
#include "zones.h"

#include "net/listener.h"
#include "net/zone_file.h"

typedef struct lk_router lk_router;

/*  What the router asks of the outside. */
typedef struct {
    /*  Opens a connection to a link's address, and sets the identity of its
     *  hop; closes it. */
    void (*open) (void *shell, lk_mesh_link *link);
    void (*close) (void *shell, lk_mesh_link *link);

    /*  Begins to watch the process of a session; LK_UNKNOWN if there is no
     *  such process. `pid` may be 0: then nothing is watched. */
    lk_err (*watch) (void *shell, lk_local *local);
    void (*unwatch) (void *shell, lk_local *local);

    /*  Who is at the other end of a connection of another local process, by
     *  the kernel's word; false: it is over. */
    bool (*peer) (void *shell, const lk_identity *identity, lk_peer_cred *peer);

    /*  All groups of that process, the primary one first: how many. */
    size_t (*groups) (void *shell, const lk_peer_cred *peer,
                      gid_t groups[LK_GROUPS_MAX]);

    /*  As whom a connection of another host was let in, or dialled, while what
     *  came over it is told; NULL: without keys. */
    const char *(*user) (void *shell, const lk_identity *identity);

    /*  The public key of a connection of another machine, while what came over
     *  it is told; NULL: it is over. */
    const char *(*client) (void *shell, const lk_identity *identity);

    /*  From where that comes, in numbers, likewise. */
    const char *(*address) (void *shell, const lk_identity *identity);

    /*  Closes the connection of such a session; of one that has none, while
     *  what came over it is told. */
    void (*hang_up) (void *shell, lk_local *local);
    void (*cut) (void *shell, const lk_identity *identity);

    /*  It has said something that makes sense, likewise. */
    void (*heard) (void *shell, const lk_identity *identity);

    /*  It is known whose connection that of another host is, while what came
     *  over it is told: it stays. */
    void (*met) (void *shell, const lk_identity *identity);

    /*  Writes the keys of the keyring. Those that are merely `is_old` are
     *  written and used by itself. */
    lk_err (*save_keys) (void *shell, lk_problem *problem);

    /*  Sends what waits for a hop now, and says whether there is a
     *  connection at all. */
    bool (*reach) (void *shell, lk_hop *hop);

    void (*stop) (void *shell);
    void (*reload) (void *shell);
} lk_router_calls;

/*  What was counted since the start; ROUTERSTATUS tells them by name. */
#define LK_ROUTER_COUNTERS(X)                                                  \
    X (frames)     /* taken in */                                              \
    X (messages)   /* in them, that could be read */                           \
    X (forwarded)  /* given to a next hop */                                   \
    X (broken)     /* could not be read, or made no sense */                   \
    X (lies)       /* from another than the sender */                          \
    X (unknown)    /* no receiver, or an unknown command for the router */     \
    X (cached)     /* kept for a receiver that is not there */                 \
    X (expired)    /* of these, reported back when their time was over */      \
    X (overloaded) /* over the bound of their receiver's queue */              \
    X (repeated)   /* frames of a neighbour that had come, or out of turn */   \
    X (lost)       /* neither delivered nor answered */                        \
    X (refused)    /* REGISTER and CONNECT */

#define LK_ROUTER_COUNTER(name) uint64_t name;
typedef struct {
    LK_ROUTER_COUNTERS (LK_ROUTER_COUNTER)
} lk_router_counters;
#undef LK_ROUTER_COUNTER

struct lk_router {
    char host[LK_HOST_LEN_MAX + 1];
    char address[LK_ADDRESS_LEN_MAX + 1];   /* where others dial us */
    char name[LK_ADDRESS_LEN_MAX + 1];      /* router@HOST */
    char cluster_name[LK_HOST_LEN_MAX + 1]; /* as a service said it, or empty */
    uint64_t incarnation;
    uid_t user;     /* as which it runs: services are his, or root's */
    int64_t now_ms; /* of this wake-up; the shell sets it, */
    int64_t now_s;  /* and that by the wall clock, since 1970 */
    bool leaving;   /* no new links any more */
    lk_route route;
    lk_directory directory;
    lk_mesh mesh;
    lk_cluster cluster;
    lk_cache cache;
    lk_keyring keyring;
    lk_client_keys clients;
    lk_zones zones;
    lk_logins logins;
    lk_shut_out shut_out;
    bool must_cut; /* who sent what is being told */
    char clients_address[LK_ADDRESS_LEN_MAX + 1]; /* where those find us; "" */
    char clients_key[LK_CURVE_TEXT_SIZE];         /* ... and by which key */
    lk_finding finding;
    lk_hops hops;
    lk_router_counters count;
    lk_bytes scratch;
    lk_refusals refusals;
    lk_zone_file zone_file; /* what zones are told of their people */
    bool is_memory_old;     /* learned neighbours have come or gone */
    int64_t gossip_ms;      /* when neighbours are told of each other again */
    const lk_router_calls *calls;
    void *shell;
};

typedef struct {
    const char *host;
    const char *address;
    uint64_t incarnation; /* random, not 0 */
    int64_t dead_after_ms;
    lk_cache_limits cache;
    uid_t user;
} lk_router_identity;

void lk_router_init (lk_router *self, const lk_router_identity *identity,
                     const lk_router_calls *calls, void *shell);
void lk_router_clear (lk_router *self);

/*  It is an arbiter's: it dials nobody, knows few commands, and nobody of its
 *  cluster can stop it. Ahead of all else behind lk_router_init. */
void lk_router_only_accept (lk_router *self);

/*  Which processes of this host are of a zone, and the folder of logs of zones;
 *  "": there are none. */
void lk_router_set_zones (lk_router *self, const lk_local_zone *zones,
                          size_t count, const char *logs);

/*  When something is to be done at the latest: INT64_MAX: never. */
int64_t lk_router_deadline (const lk_router *self);

/*  This router as CONNECT and ACCEPT introduce it; borrowed from it. */
lk_party lk_router_party (const lk_router *self);

/*  Whether the host of an address is this one, by its name or as ".". */
bool lk_router_is_host (const lk_router *self, lk_slice host);

/*  A moment, so that what comes together is told together. */
#define LK_GOSSIP_SOON_MS 250

/*  All live neighbours are told of the others so long from now, if not before:
 *  see gossip.h. */
void lk_router_gossip_by (lk_router *self, int64_t ms);

/*  -------------------------------------------------------- sending

    All of these put into outboxes. What cannot be put there is counted. */

/*  A message to the router of a neighbour that goes to its host as those of
 *  services do, by its channel; what is of the link itself is to `router@.`. */
lk_message *lk_router_word (const lk_mesh_link *link, const char *command);

/*  Sends and destroys a message of the router's own to a hop. */
void lk_router_send (lk_router *self, lk_hop *hop, lk_message **message_p);

/*  The same, of what the receiver has to know though it did not ask: see
 *  lk_hops_tell. */
void lk_router_tell (lk_router *self, lk_hop *hop, lk_message **message_p);

/*  The same, to wherever its address leads: a local service, a neighbour. */
void lk_router_post (lk_router *self, lk_message **message_p);

/*  The same, of a message with a field that is left in no memory of ours. */
void lk_router_post_secret (lk_router *self, lk_message **message_p,
                            const char *field);

/*  The same, on the connection that something came through. */
void lk_router_answer (lk_router *self, const lk_source *source,
                       lk_message **message_p);

#endif
