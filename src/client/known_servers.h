/*  known_servers.h - servers that a session may use, and which comes first
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Those of the client file, and those that a server tells of. Time comes with
 *  the calls; servers.c connects. The order: what was tried least since one is
 *  sought; what stops or left the cluster's list last; then by location domain,
 *  from the own one up; then by how soon it answers, or as the file says.
 */

#ifndef LK_KNOWN_SERVERS_H
#define LK_KNOWN_SERVERS_H

#include "net/client_file.h"
#include "net/problem.h"

#include <lockkeeper/message.h>

#define LK_KNOWN_SERVERS_MAX 128
#define LK_KNOWN_SERVERS_TOLD_MAX 64 /* servers of one list */

#define LK_KNOWN_SERVER_NEVER (INT64_MIN / 2)

typedef struct {
    int number; /* from 0, and never another one's */
    char endpoint[LK_CLIENT_ENDPOINT_SIZE];
    char other[LK_CLIENT_ENDPOINT_SIZE]; /* of the same server, tried in turn
                                            with it; "": none */
    char key[LK_CURVE_TEXT_SIZE];
    char domain[LK_DOMAIN_LEN_MAX + 1]; /* "": not known */
    bool is_of_file;
    bool is_gone;      /* the last list lacks it, ... */
    int64_t gone_ms;   /* ... since then */
    int64_t moved_ms;  /* it said last that it stops */
    int64_t answer_ms; /* how soon it answers; -1: not known */
    unsigned tries;    /* since a server is sought */
    int64_t begun_ms;  /* it was tried last */
    bool is_tried;     /* it is being */
    bool is_used;      /* connected with: is not forgotten */
    uint32_t lot;      /* drawn, for a random order */
    lk_problem why;    /* it was no use; "" */
} lk_known_server;

/*  A row of a list. */
typedef struct {
    char endpoint[LK_CLIENT_ENDPOINT_SIZE];
    char key[LK_CURVE_TEXT_SIZE];
    char domain[LK_DOMAIN_LEN_MAX + 1];
} lk_known_server_row;

typedef struct lk_known_servers lk_known_servers;

/*  Those of the file, of which order, domain and limit are kept. The seed is
 *  for draws. */
lk_known_servers *lk_known_servers_new (const lk_client_file *file,
                                        uint64_t seed);

/*  NULL-safe, nulls the pointer. */
void lk_known_servers_destroy (lk_known_servers **self_p);

/*  All of them, places from 0: NULL behind the last. The caller writes what is
 *  about trying, and `why`. */
lk_known_server *lk_known_servers_at (const lk_known_servers *self,
                                      size_t place);

/*  NULL: it is forgotten. */
lk_known_server *lk_known_servers_find (const lk_known_servers *self,
                                        int number);

/*  -------------------------------------------------------- what is heard */

/*  The list of those that are there now. A server is known by its key, unless
 *  several have that: then by key and address. */
void lk_known_servers_told (lk_known_servers *self,
                            const lk_known_server_row *row, size_t count,
                            int64_t now_ms);

/*  One says that it is there: no list, and nobody vouches for it. */
void lk_known_servers_found (lk_known_servers *self,
                             const lk_known_server_row *row, int64_t now_ms);

/*  It took so long to answer. */
void lk_known_servers_answered (lk_known_server *server, int64_t took_ms);

/*  It stops, or has no room. */
void lk_known_servers_moved (lk_known_server *server, int64_t now_ms);

/*  A server is sought no more; all begin anew. */
void lk_known_servers_settle (lk_known_servers *self);

/*  -------------------------------------------------------- choosing */

/*  Which one to try now; NULL: none, those left were tried just now, or are
 *  outside of the limit. */
lk_known_server *lk_known_servers_next (lk_known_servers *self, int64_t now_ms);

/*  One that is nearer than that by its domain, and may well be had; NULL. */
lk_known_server *lk_known_servers_nearer (lk_known_servers *self,
                                          const lk_known_server *than,
                                          int64_t now_ms);

/*  At which step by domain it comes, see wire/domain.h. */
size_t lk_known_servers_step (const lk_known_servers *self,
                              const lk_known_server *server);

/*  Whether the first comes ahead of the other. */
bool lk_known_servers_precedes (const lk_known_servers *self,
                                const lk_known_server *one,
                                const lk_known_server *other);

/*  Whether the first of those that are as near is the one that answers
 *  soonest. */
bool lk_known_servers_race (const lk_known_servers *self);

/*  Whether the limit allows to use it; else why not. */
bool lk_known_servers_allow (const lk_known_servers *self,
                             const lk_known_server *server,
                             lk_problem *problem);

/*  Whether there are others behind the same address. */
bool lk_known_servers_share (const lk_known_servers *self,
                             const lk_known_server *server);

/*  Goes over to its other endpoint, if it has one. */
void lk_known_servers_turn (lk_known_server *server);

#endif
