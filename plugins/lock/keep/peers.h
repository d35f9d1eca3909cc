/*  peers.h - which other lock services are of this cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A service is known by its host's name and the random id of its state file.
 *  Nothing of it is heard before its LOCKSTARTED named the same protocol, and
 *  the same cluster with the same genesis and leases as ours. A service without
 *  a cluster joins the first one that it hears of, for good. Decides and
 *  remembers; sends and logs nothing.
 */

#ifndef LK_PEERS_H
#define LK_PEERS_H

#include "wire/lock_state.h"

#include <lockkeeper/message.h>

/*  What this one speaks: raised when messages between lock services change in
 *  form or meaning, so that one of another version is refused with a sentence
 *  and does not bring the cluster to a halt. */
#define LK_PEERS_PROTOCOL 7

#define LK_PEERS_MAX 256 /* the oldest makes room for one more */
#define LK_PEERS_PROBLEM_SIZE 512

/*  What all lock services of a cluster agree upon from the start, and say in
 *  LOCKSTARTED: the protocol that they speak, its name, the names of its first
 *  members in alphabetical order, and the leases that all its safety rests on.
 *  No name: a service without a cluster, so far. */
typedef struct {
    int64_t protocol; /* 0: from before it was said */
    int64_t leader_lease_ms;
    int64_t host_lease_ms;
    char name[LK_CLUSTER_LEN_MAX + 1];
    size_t count;
    char member[LK_HOSTS_MAX][LK_HOST_LEN_MAX + 1];
    lk_generation generation;
} lk_charter;

typedef enum {
    LK_OTHER_NEW,
    LK_OTHER_ACCEPTED,
    LK_OTHER_REFUSED
} lk_other_state;

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    uint64_t id;
    lk_other_state state;
    bool said;                       /* why it is refused is in the log */
    char why[LK_PEERS_PROBLEM_SIZE]; /* it is refused, or refuses us; or "" */
    bool asked;                      /* for its LOCKSTARTED, at asked_ms */
    int64_t asked_ms;
    uint64_t heard; /* when that was, in messages */
} lk_other;

typedef struct {
    char host[LK_HOST_LEN_MAX + 1]; /* ours */
    uint64_t id;                    /* ours */
    bool stands_still; /* takes nobody: our generation has a rival */
    lk_charter charter;
    lk_other other[LK_PEERS_MAX];
    size_t count;
    uint64_t heard; /* messages, of all of them */
} lk_peers;

/*  Starts with our own state, whose hosts are numbers of `hostmap`; the leases
 *  of self->charter are the caller's to set. */
void lk_peers_init (lk_peers *self, const char *host,
                    const lk_lock_state *state, const lk_hostmap *hostmap);

/*  The entry of that service, which is heard now; added if it is new, in place
 *  of the one that was heard before all others if there are too many: rather
 *  one that was not accepted. NULL if `host` is not a host's name, or the id
 *  is 0. */
lk_other *lk_peers_intern (lk_peers *self, const char *host, uint64_t id);

/*  It has to say again who it is. */
void lk_peers_forget (lk_peers *self, const char *host, uint64_t id);

/*  Why we and some other refuse each other; "" if all that are there agree. */
const char *lk_peers_refusal (const lk_peers *self);

/*  What ran on that host has ended. */
void lk_peers_gone (lk_peers *self, const char *host);

/*  Writes the charter into a LOCKSTARTED, or reads it; false if it is
 *  malformed. */
void lk_charter_write (const lk_charter *self, lk_message *message);
bool lk_charter_read (lk_charter *self, const lk_message *message);

/*  Writes into a LOCKSTARTED which level of packed bodies is read here, or
 *  reads which one its sender reads, 0: none. False: it is malformed. */
void lk_level_write (lk_message *message);
bool lk_level_read (const lk_message *message, uint8_t *level);

/*  News that a charter brings, beside its judgement. */
typedef enum {
    LK_NEWS_NONE,
    LK_NEWS_JOINED,  /* its cluster has become ours: that is to be kept and told
                        to all before anything else is said */
    LK_NEWS_EARLIER, /* it does not know of our generation */
    LK_NEWS_LATER,   /* its generation is to be entered ... */
    LK_NEWS_RIVAL    /* ... or is as late as ours: we are to stand still */
} lk_peer_news;

/*  Judges a peer by the charter in its LOCKSTARTED and sets its state. If it
 *  is refused, `problem` and its `why` name the difference. */
lk_other_state lk_peers_judge (lk_peers *self, lk_other *peer,
                               const lk_charter *theirs, lk_peer_news *news,
                               char problem[LK_PEERS_PROBLEM_SIZE]);

/*  The id of the service that was heard last under that name; 0: none was. */
uint64_t lk_peers_id_of (const lk_peers *self, const char *host);

#endif
