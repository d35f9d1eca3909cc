/*  ways.h - a few whole routers, and a network between them that fails
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Routers are the real ones, without sockets. Each has a service and an
 *  application, which send numbered messages to those of all other hosts. All
 *  that happens comes from a seed.
 *
 *      world.c    hosts, time, and what is to happen when
 *      shell.c    the outside of one router: what it asks for, and its turn
 *      network.c  connections of TCP, cuts, and what is on its way
 *      talk.c     what is said, by whom to whom
 *      judge.c    whether what is heard is what was said, and ends were told
 *      faults.c   what goes wrong, and the calm after it
 */

#ifndef LK_SIM_WAYS_H
#define LK_SIM_WAYS_H

#include "flush.h"
#include "router.h"

#include "util/rng.h"

#include <stdio.h>

#define HOSTS_MAX 6
#define MS INT64_C (1000) /* time is in us, unless it is a router's */
#define DEAD_AFTER_MS 1000
#define MARKER "a word that is nobody else's"

typedef struct world world;
typedef struct host host;
typedef struct connection connection;
typedef struct packet packet;

/*  -------------------------------------------------------- the network */

/*  One direction of a connection: 0 from who dialled, 1 to it. */
typedef struct {
    packet *first;     /* on its way, in order; a list of utlist's */
    size_t size;       /* of these */
    size_t unanswered; /* of what came since the other direction is cut */
    int64_t last_due_us;
} direction;

struct connection {
    unsigned number;
    host *end[2];     /* who dialled, and whom */
    unsigned boot[2]; /* which process of it; that of [1] once it is up */
    bool is_up;       /* for who dialled */
    bool is_over[2];  /* told to, or closed by, that end */
    int64_t dialled_us;
    direction way[2];
    connection *next, *prev;
};

/*  Takes what the router of `from` sends on its connection of that name. */
lk_io network_send (host *from, const lk_identity *identity, lk_part *part);

/*  Opens one to an address; closes it. */
void network_dial (host *from, const char *address, lk_identity *identity);
void network_close (host *from, const lk_identity *identity);

/*  The host at the other end of that connection; NULL: it is over. */
host *network_other_end (host *here, const lk_identity *identity);

/*  All that can arrive at that host now does; when the next thing can. */
void network_deliver (world *self);
int64_t network_deadline (const world *self);

/*  Packets from one to the other are lost from now on, or are not any more. */
void network_cut (world *self, int from, int to, bool is_cut);

/*  Both directions of all that is open between them end at once. */
void network_reset (world *self, int one, int other);

/*  All of a process ends. `silently`: no packet says so. */
void network_end (host *self, bool silently);
void network_clear (world *self);

/*  -------------------------------------------------------- hosts */

enum { SERVICE, APPLICATION, SPEAKERS };

/*  The words of one process of a host to the others: see judge.c. */
typedef struct stream stream;

struct host {
    world *world;
    int index;
    char name[4];
    char address[16];
    unsigned boot; /* which process, from 1 */
    bool is_up;
    bool is_off;       /* nor does its machine say so */
    int64_t paused_us; /* until then it does nothing */
    double rate;       /* of its clock */
    int64_t offset_ms;
    int64_t wake_us; /* of its router */
    lk_router router;
    lk_flusher flusher;
    lk_curve_pair pair;
    bool is_leaving;
    bool is_heard[SPEAKERS];     /* registered */
    bool lives[HOSTS_MAX];       /* as its service was told */
    int64_t lives_us[HOSTS_MAX]; /* since when, or not */
    unsigned ends[HOSTS_MAX];    /* that its service was told of each */
    stream *streams;
};

struct world {
    uint64_t seed;
    lk_rng rng;
    int64_t now_us;
    int64_t end_us; /* of faults; then it is calm */
    bool is_calm;
    bool is_traced;
    bool shows_frames; /* ... and what is in each */
    host host[HOSTS_MAX];
    int count;
    bool cut[HOSTS_MAX][HOSTS_MAX];
    int64_t whole_us[HOSTS_MAX][HOSTS_MAX]; /* since when nothing was wrong
                                               between these two */
    int64_t reset_us[HOSTS_MAX]
                    [HOSTS_MAX]; /* the last but one reset of these */
    int64_t last_reset_us[HOSTS_MAX][HOSTS_MAX];
    int64_t lost_us[HOSTS_MAX][HOSTS_MAX]; /* when the first saw the other
                                              last, or was itself not there */
    int64_t talk_us;  /* when somebody says something next */
    int64_t fault_us; /* when the next thing goes wrong */
    connection *connections;
    unsigned connection_count;
    char wrong[512]; /* what the judge found first; or "" */
    uint64_t said, heard, reported, hung_up, faults;
};

/*  Runs one seed; false: `wrong` says what. */
bool world_run (world *self, uint64_t seed);

/*  From low to high, in us of ms. */
int64_t world_draw_ms (world *self, int64_t low, int64_t high);
bool world_chance (world *self, int percent);

void world_trace (world *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/*  Notes that something is wrong between two hosts until then. */
void world_disturb (world *self, int one, int other, int64_t until_us);
void world_reset (world *self, int one, int other);

bool host_is_awake (const host *self);
int64_t host_clock_ms (const host *self);
void host_start (host *self);
void host_end (host *self, bool silently);
host *host_find (world *self, const char *name);

/*  The router does what is due, and all that it has to say leaves. */
void host_wake (host *self);
lk_router *host_now (host *self);
void host_flush (host *self);
void host_frame (host *self, lk_side side, const lk_identity *identity,
                 const void *data, size_t size);

/*  -------------------------------------------------------- talk and judge */

/*  The processes of a host register; somebody says something to somebody. */
void talk_begin (host *self);
void talk_some (world *self);
void talk_all (world *self); /* everybody to everybody */

/*  A frame that the router gives to one of them. */
void talk_hear (host *self, int speaker, lk_part *part);

void judge_wrong (world *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/*  The number of a new message. */
uint64_t judge_said (host *from, int speaker, host *to);
void judge_heard (host *at, int speaker, const lk_frame_header *header);
void judge_reported (host *at, int speaker, uint64_t number, host *to);

/*  A service was told of another host. */
void judge_event (host *at, const char *command, host *other);

/*  Judge what must be so at any time; at the end of the calm. */
void judge_look (world *self);
void judge_calm (world *self);
void judge_clear (host *self); /* that process is over */
void judge_end (host *self);   /* frees all that is known of it */

/*  -------------------------------------------------------- faults */

void faults_begin (world *self);
void faults_some (world *self);
void faults_end (world *self);

#endif
