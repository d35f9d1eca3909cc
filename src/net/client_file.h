/*  client_file.h - the file of an application on a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Its pair of keys, and the servers that it may connect with, in ZPL:
 *
 *      client
 *          public-key = "..."
 *          secret-key = "..."
 *          server = "tcp://h1:7412 KEY"
 *          server = "tcp://h2:7412 KEY au.perth.dh4"
 *          server-key = "KEY"
 *          order = nearest
 *          domain = au.perth.dh4.rack3
 *          domain-limit = au.perth
 *          discovery = yes
 *          beacon = 7412
 *          credential = PATH
 *
 *  Keys may have a `#`, so values that have one are in quotes. Mode 0600.
 */

#ifndef LK_CLIENT_FILE_H
#define LK_CLIENT_FILE_H

#include "net/curve.h"
#include "net/problem.h"
#include "wire/domain.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define LK_CLIENT_SERVERS_MAX 32
#define LK_CLIENT_ENDPOINT_SIZE 272 /* "tcp://HOST:PORT" */

/*  A file that names no server means that name, of the domain that resolvers
 *  search, and that port. */
#define LK_CLIENT_DEFAULT_ENDPOINT "tcp://lockkeeper:7412"

typedef struct {
    char endpoint[LK_CLIENT_ENDPOINT_SIZE];
    char key[LK_CURVE_TEXT_SIZE];
    char domain[LK_DOMAIN_LEN_MAX + 1]; /* "": not known */
} lk_client_server;

/*  Which one of several that are equally near comes first. */
typedef enum {
    LK_CLIENT_NEAREST, /* that which answers soonest */
    LK_CLIENT_LISTED,  /* the first of the file */
    LK_CLIENT_RANDOM   /* any */
} lk_client_order;

typedef struct {
    lk_curve_pair pair;
    lk_client_server server[LK_CLIENT_SERVERS_MAX];
    size_t count;
    char key[LK_CLIENT_SERVERS_MAX][LK_CURVE_TEXT_SIZE]; /* of servers that are
                                                            found otherwise */
    size_t key_count;
    lk_client_order order;
    int beacon;     /* UDP port on which servers are heard of; 0: not */
    bool is_closed; /* other servers than those are not asked for */
    char domain[LK_DOMAIN_LEN_MAX + 1]; /* where this machine is; "" */
    char limit[LK_DOMAIN_LEN_MAX + 1];  /* only servers in there; "" */
    char credential[PATH_MAX];          /* file that has one, or not */
} lk_client_file;

/*  Reads it; one that has keys of servers, and no server and no beacon, has the
 *  default endpoint then. LK_SYSTEM, LK_INVALID and problem, whose number is
 *  that of errno, EINVAL if the file makes no sense or others may read it. */
lk_err lk_client_file_read (lk_client_file *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Whether there is a way to a server: LK_INVALID and problem. */
lk_err lk_client_file_check_servers (const lk_client_file *self,
                                     lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Whether a server of that location domain ("": not known) is within a limit
 *  ("": there is none); false, and problem. */
bool lk_client_limit_allows (const char *limit, const char *domain,
                             lk_problem *problem);

/*  Has it connect with those of `list` instead, "tcp://HOST:PORT" with commas
 *  or blanks between: each by the keys that the file has for that endpoint,
 *  else by those of no certain server, else by that of the server in the same
 *  place if there are as many, else by the only key that the file has.
 *  LK_INVALID and problem; nothing is changed then. */
lk_err lk_client_file_redirect (lk_client_file *self, const char *list,
                                lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  A line of a beacon: the server that it announces, if the file has the key
 *  whose fingerprint it says; who is there has to prove that it has that. */
bool lk_client_file_hears (const lk_client_file *self, const char *line,
                           size_t size, lk_client_server *server);

/*  Adds one more server; false: there is no room. */
bool lk_client_file_add (lk_client_file *self, const lk_client_server *server)
    __attribute__ ((warn_unused_result));

/*  Makes a file with a fresh pair and no server, which is `self` then; its
 *  public key does not begin as an option does.
 *  LK_SYSTEM and problem; number EEXIST: something of that name is there. */
lk_err lk_client_file_make (lk_client_file *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Whether it is tcp://HOST:PORT. */
lk_err lk_client_endpoint_check (const char *endpoint, lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  How the name begins by which it is known there: "far-0123456789abcdef-", of
 *  its public key. */
#define LK_CLIENT_HEAD_SIZE 32
void lk_client_file_head (const lk_client_file *self,
                          char head[LK_CLIENT_HEAD_SIZE]);

/*  How to connect with the server that has that key. */
void lk_client_file_call (const lk_client_file *self, const char *server_key,
                          lk_curve_call *call);

/*  Forgets the secret key. */
void lk_client_file_clear (lk_client_file *self);

#endif
