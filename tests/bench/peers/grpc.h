/*  grpc.h - calls by gRPC: HTTP/2 requests with one message each way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Knows nothing of what is in a message. Short messages, no TLS, and no more
 *  under way than a server takes without being asked: 64 KiB.
 */

#ifndef GRPC_H
#define GRPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRPC_HEAD 5 /* bytes before a message: not packed, its size */

typedef struct {
    void *user;
    uint8_t request[512]; /* a message behind GRPC_HEAD bytes */
    size_t request_size;  /* with these */
    uint8_t reply[512];
    size_t reply_size; /* 0: it failed */
    uint32_t stream;
    bool open;
    int64_t started_ns;
} grpc_call;

typedef struct grpc grpc;

/*  Has got its answer: not open any more. */
typedef void grpc_done (void *owner, grpc_call *call);

/*  To this machine. NULL if nobody listens there. */
grpc *grpc_new (int port, grpc_done *done, void *owner);

/*  Calls that are open stay so: nobody will answer them. */
void grpc_destroy (grpc **self);

int grpc_socket (const grpc *self);

/*  Starts a call of "/package.Service/Method". */
void grpc_start (grpc *self, const char *path, grpc_call *call);

/*  Sends what was started. False: the connection is lost. */
bool grpc_send (grpc *self);

/*  Waits for something and takes it. */
bool grpc_read (grpc *self);

#endif
