/*  mesh.h - the links to the neighbours' routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: time comes in, what has to be done goes out; no sockets. A link has
 *  two halves. The outgoing one, a connection that we opened, is a table of
 *  [state][event]. The incoming one is who it is that opened a connection to
 *  us (`met`). It is live when both are there. Of a link with an arbiter, which
 *  dials nobody, one connection is both halves.
 *
 *      mesh_link.c   the life of one link
 *      mesh.c        all of them, and who they are
 *      mesh_learn.c  those that no configuration names
 *      mesh_reach.c  whom they are linked with, as they say
 */

#ifndef LK_MESH_H
#define LK_MESH_H

#include "bounds.h"
#include "channel.h"

#include "net/curve.h"
#include <lockkeeper/message.h>

typedef enum {
    LK_LINK_CLOSED,    /* no connection; dialled at the deadline */
    LK_LINK_DIALING,   /* being connected */
    LK_LINK_ASKING,    /* connected, CONNECT sent */
    LK_LINK_ACCEPTED,  /* they take us, but have not connected to us */
    LK_LINK_LIVE,      /* both ways */
    LK_LINK_REFUSED,   /* they do not take us; asked again at the deadline */
    LK_LINK_OURSELVES, /* it is our own address */
    LK_LINK_DOUBLE,    /* another link goes to the same host */
    LK_LINK_STATES
} lk_mesh_state;

typedef enum {
    LK_LINK_TIME,   /* the deadline has come */
    LK_LINK_UP,     /* the connection stands */
    LK_LINK_DOWN,   /* it broke, or nothing can be sent */
    LK_LINK_TAKEN,  /* ACCEPT, from a host that has not met us yet */
    LK_LINK_JOINED, /* ACCEPT, from one that has */
    LK_LINK_REFUSE, /* REFUSE */
    LK_LINK_OWN,    /* the answer came from ourselves */
    LK_LINK_TWIN,   /* ACCEPT, from a host that another link goes to */
    LK_LINK_MET,    /* we accepted their CONNECT */
    LK_LINK_SILENT, /* nothing was heard for dead_after */
    LK_LINK_LEFT,   /* they leave in good order */
    LK_LINK_EVENTS
} lk_mesh_event;

/*  The ends that open connections of a link. */
typedef enum {
    LK_WAY_BOTH, /* each of both */
    LK_WAY_OUT,  /* we alone: it goes to an arbiter that the settings name */
    LK_WAY_IN    /* the other alone: we are an arbiter's router */
} lk_mesh_way;

/*  Who named a link that no configuration names. */
typedef enum {
    LK_LEARNED_DIALLED,   /* itself, by its CONNECT */
    LK_LEARNED_TOLD,      /* a neighbour, by GOSSIP */
    LK_LEARNED_REMEMBERED /* this router, before its restart */
} lk_mesh_origin;

/*  What a step wants done, in this order. */
enum {
    LK_DO_CLOSE = 1,     /* close the connection */
    LK_DO_LOST = 2,      /* tell that the link was live and is no more */
    LK_DO_OPEN = 4,      /* open a new connection */
    LK_DO_ASK = 8,       /* send CONNECT */
    LK_DO_BEAT = 16,     /* send a heartbeat */
    LK_DO_LIVE = 32,     /* tell that the link is live now */
    LK_DO_INTRODUCE = 64 /* tell it our services */
};

/*  Where a router takes applications on other machines, and by which key. */
typedef struct {
    char address[LK_ADDRESS_LEN_MAX + 1]; /* HOST:PORT; "": it takes none */
    char key[LK_CURVE_TEXT_SIZE];
} lk_clients_port;

/*  A host that a neighbour is linked with, as it says. */
typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    uint64_t incarnation;
} lk_reached;

typedef struct {
    char address[LK_ADDRESS_LEN_MAX + 1]; /* host:port, where to dial */
    char claim[LK_ADDRESS_LEN_MAX + 1]; /* where its host wants to be dialled */
    lk_mesh_way way;
    bool configured;                   /* else learned */
    lk_mesh_origin origin;             /* of one that is learned */
    char told_by[LK_HOST_LEN_MAX + 1]; /* by gossip; or empty */
    int64_t vouched_ms;                /* it dialled us, or was told of */
    bool known; /* counts as a host: configured, or was live once */
    lk_mesh_state state;
    int64_t deadline_ms;
    int64_t since_ms;               /* it is live, or not; for people */
    char host[LK_HOST_LEN_MAX + 1]; /* its last known name, or empty */
    char version[LK_VERSION_LEN_MAX + 1];
    uint64_t incarnation; /* its last known process */
    lk_clients_port clients;
    bool privileged;   /* it knows the flag of that name */
    int64_t sought_ms; /* its connections broke, and until then others are
                          sought; 0: not so */
    bool met;
    lk_identity met_by; /* its connection to us, while met, */
    bool is_left;       /* which is over */
    int64_t heard_ms;
    char reason[LK_REASON_LEN_MAX + 1]; /* why not linked, for people */
    lk_hop out;          /* our connection to it, for what is of the link */
    lk_channel channel;  /* what goes to its host */
    lk_reached *reached; /* by its host, as it said last */
    size_t reached_count;
    unsigned failures;   /* to connect, in a row */
    unsigned unanswered; /* CONNECTs, in a row */
} lk_mesh_link;

typedef struct {
    lk_mesh_link *link[LK_LINKS_MAX];
    size_t count;
    bool accepts_only; /* all links are of LK_WAY_IN */
    int64_t dead_after_ms;
    lk_budget budget;  /* of what waits for all of them */
    uint64_t channels; /* the number of the last that has begun */
} lk_mesh;

void lk_mesh_init (lk_mesh *self, int64_t dead_after_ms);
void lk_mesh_clear (lk_mesh *self);

/*  Adds a neighbour, to be dialled at once; finds it if it is there already.
 *  NULL if there are LK_LINKS_MAX. */
lk_mesh_link *lk_mesh_add (lk_mesh *self, const char *address, bool configured,
                           int64_t now_ms);

/*  Takes a link out and frees it; the caller has closed its connection. */
void lk_mesh_remove (lk_mesh *self, lk_mesh_link *link);

lk_mesh_link *lk_mesh_by_address (const lk_mesh *self, const char *address);

/*  The link whose own connection has this identity; whose peer's has. */
lk_mesh_link *lk_mesh_by_out (const lk_mesh *self, const lk_identity *identity);
lk_mesh_link *lk_mesh_by_met (const lk_mesh *self, const lk_identity *identity);

/*  The link that a hop is of; NULL: none. */
lk_mesh_link *lk_mesh_by_hop (const lk_mesh *self, const lk_hop *hop);

/*  The link to a host that is linked at least one way; NULL if none is. */
lk_mesh_link *lk_mesh_by_host (const lk_mesh *self, lk_slice host);

/*  The link to the arbiter of that name, linked or not; NULL. */
lk_mesh_link *lk_mesh_arbiter (const lk_mesh *self, const char *name);

/*  -------------------------------------------------------- one link */

/*  Carries out one event; returns what is to be done (LK_DO_...). */
unsigned lk_mesh_step (const lk_mesh *self, lk_mesh_link *link,
                       lk_mesh_event event, int64_t now_ms);

/*  Whether the peer has accepted us; whether that, or we have met it. */
bool lk_mesh_link_is_taken (const lk_mesh_link *self);
bool lk_mesh_link_is_linked (const lk_mesh_link *self);

/*  Whether messages may be sent to it: it met us, and our CONNECT went out
 *  ahead of them on the same connection. */
bool lk_mesh_link_is_open (const lk_mesh_link *self);
bool lk_mesh_link_is_live (const lk_mesh_link *self);

/*  The same by our connection to it. */
bool lk_mesh_link_is_direct_open (const lk_mesh_link *self);

/*  Whether it is live by connections of both routers to each other. */
bool lk_mesh_link_is_direct (const lk_mesh_link *self);
const char *lk_mesh_link_state_name (lk_mesh_state state);
const char *lk_mesh_link_event_name (lk_mesh_event event);

/*  -------------------------------------------------------- CONNECT */

/*  Who says that it wants to be linked, or is. */
typedef struct {
    const char *host;
    const char *address;
    const char *version;
    uint64_t incarnation;
    lk_clients_port clients;
    bool privileged; /* it knows the flag of that name */
    bool one_way;    /* it dials nobody */
    bool ways;       /* ... and numbers of frames */
} lk_party;

typedef enum {
    LK_MEET_WELCOME,   /* link it: *link_p, NULL if it is new here */
    LK_MEET_RESTARTED, /* the same, after *link_p went DOWN */
    LK_MEET_OURSELVES, /* we reached ourselves */
    LK_MEET_NAMESAKE   /* another live host has that name */
} lk_meeting;

/*  Judges a CONNECT. `own` is this host. */
lk_meeting lk_mesh_judge (const lk_mesh *self, const lk_party *own,
                          const lk_party *peer, lk_mesh_link **link_p);

/*  Notes that we took the peer's CONNECT; then step with LK_LINK_MET. */
void lk_mesh_link_meet (lk_mesh_link *self, const lk_party *peer,
                        const lk_identity *identity, int64_t now_ms);

/*  Notes that the connection which met us is over: so is that half of the link,
 *  unless it is live, and its peer may connect anew. */
void lk_mesh_link_leave (lk_mesh_link *self);

/*  Notes the peer of an ACCEPT and says which event that is: TAKEN, JOINED,
 *  OWN, TWIN, or REFUSE if another live process has that name. */
lk_mesh_event lk_mesh_accepted (lk_mesh *self, lk_mesh_link *link,
                                const lk_party *own, const lk_party *peer,
                                int64_t now_ms);

/*  -------------------------------------------------------- learned

    Whom no configuration names is a neighbour, too: who dialled us, whom a
    neighbour told of, whom we were linked with before a restart. None of them
    ever changes what is configured. */

/*  Takes what `teller` said of where a host is: a link that is to be dialled,
 *  or NULL if that is nothing new, nonsense, or too much. */
lk_mesh_link *lk_mesh_told (lk_mesh *self, const lk_party *own,
                            const char *teller, const char *host,
                            const char *address, int64_t now_ms);

/*  Takes one that was remembered; NULL as above. */
lk_mesh_link *lk_mesh_remembered (lk_mesh *self, const lk_party *own,
                                  const char *host, const char *address,
                                  int64_t now_ms);

/*  Whether it is to be remembered: learned, and linked once. */
bool lk_mesh_link_is_memorable (const lk_mesh_link *self);

/*  A learned link that is of no use any more, to be dropped: never linked, or
 *  another address of a host that is, and nobody speaks of it; NULL: none. */
lk_mesh_link *lk_mesh_stale (const lk_mesh *self, int64_t now_ms);

/*  The learned link that is missed least, which may make room; or NULL. */
lk_mesh_link *lk_mesh_spare (const lk_mesh *self);

/*  In a word or three: "configuration", "told by h3". */
const char *lk_mesh_link_origin (const lk_mesh_link *self, char *text,
                                 size_t size);

/*  -------------------------------------------------------- reached */

/*  A neighbour says anew whom it is linked with: nobody, and then each. More
 *  than LK_LINKS_MAX are passed over, and those of no known process. */
void lk_mesh_link_reaches_nobody (lk_mesh_link *self);
void lk_mesh_link_reaches (lk_mesh_link *self, const char *host,
                           uint64_t incarnation);

/*  Fills in the links to those neighbours that say they are linked with the
 *  process at the other end of `link`, too; returns how many. Both ends have
 *  the same ones in the same order, which is another one for others. */
size_t lk_mesh_reached_by (const lk_mesh *self, const char *own,
                           const lk_mesh_link *link,
                           const lk_mesh_link *by[LK_LINKS_MAX]);

/*  -------------------------------------------------------- all links */

/*  The next link that has something to do at now_ms, and which event; NULL
 *  if there is none. */
lk_mesh_link *lk_mesh_due (const lk_mesh *self, int64_t now_ms,
                           lk_mesh_event *event);

/*  When lk_mesh_due has something again; INT64_MAX: never. */
int64_t lk_mesh_deadline (const lk_mesh *self);

/*  Hosts known and hosts live, this one included; arbiters are none. */
void lk_mesh_count (const lk_mesh *self, size_t *total, size_t *live);

#endif
