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
 *          server = "tcp://h2:7412 KEY"
 *          order = listed
 *
 *  Keys may have a `#`, so values that have one are in quotes. Mode 0600.
 */

#ifndef LK_CLIENT_FILE_H
#define LK_CLIENT_FILE_H

#include "net/curve.h"
#include "net/problem.h"

#include <stdbool.h>
#include <stddef.h>

#define LK_CLIENT_SERVERS_MAX 32
#define LK_CLIENT_ENDPOINT_SIZE 272 /* "tcp://HOST:PORT" */

typedef struct {
    char endpoint[LK_CLIENT_ENDPOINT_SIZE];
    char key[LK_CURVE_TEXT_SIZE];
} lk_client_server;

typedef struct {
    lk_curve_pair pair;
    lk_client_server server[LK_CLIENT_SERVERS_MAX];
    size_t count;
    bool is_random; /* begin with any of them */
} lk_client_file;

/*  Reads it. LK_SYSTEM, LK_INVALID and problem, whose number is that of errno,
 *  EINVAL if the file makes no sense or others may read it. */
lk_err lk_client_file_read (lk_client_file *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Has it connect with those of `list` instead, "tcp://HOST:PORT" with commas
 *  or blanks between: each by the key that the file has for that endpoint, else
 *  for the server in the same place if there are as many, else by the only key
 *  that the file has. LK_INVALID and problem; nothing is changed then. */
lk_err lk_client_file_redirect (lk_client_file *self, const char *list,
                                lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Makes a file with a fresh pair and no server, which is `self` then.
 *  LK_SYSTEM and problem; number EEXIST: something of that name is there. */
lk_err lk_client_file_make (lk_client_file *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  How the name begins by which it is known there: "far-0123456789abcdef-", of
 *  its public key. */
#define LK_CLIENT_HEAD_SIZE 32
void lk_client_file_head (const lk_client_file *self,
                          char head[LK_CLIENT_HEAD_SIZE]);

/*  How to connect with the server in that place. */
void lk_client_file_call (const lk_client_file *self, size_t place,
                          lk_curve_call *call);

/*  Forgets the secret key. */
void lk_client_file_clear (lk_client_file *self);

#endif
