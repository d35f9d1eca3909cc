/*  router_fixture.h - routers as real processes, and clients that may lie
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For tests in tests/cluster. A client here is a bare socket that sends what
 *  it is told to, honest or not. Mistakes of the test itself end it; what it
 *  is about is counted by EXPECT and summed up by lk_fixture_end.
 */

#ifndef LK_ROUTER_FIXTURE_H
#define LK_ROUTER_FIXTURE_H

#include "lib/foreign.h"
#include "wire/frame.h"

#include <lockkeeper/message.h>

#include <sys/types.h>

#define LK_FIXTURE_ROUTERS_MAX 8

typedef struct {
    char host[16];
    char address[32];  /* 127.0.0.1:PORT */
    char endpoint[96]; /* ipc://... */
    char log[96];
    pid_t pid; /* 0: not running */
} lk_fixture_router;

typedef struct {
    char dir[64];
    size_t count;
    unsigned long descriptors; /* limit of each router; 0: ours */
    lk_fixture_router router[LK_FIXTURE_ROUTERS_MAX];
} lk_fixture;

/*  A case: counted, and told in a line. */
#define EXPECT(condition, ...)                                                 \
    lk_fixture_case ((condition), __FILE__, __LINE__, __VA_ARGS__)
bool lk_fixture_case (bool holds, const char *file, int line,
                      const char *format, ...)
    __attribute__ ((format (printf, 4, 5)));

/*  A folder and names, ports and endpoints for `count` routers h1, h2, ... */
void lk_fixture_begin (lk_fixture *self, size_t count);

/*  Ends all routers, removes the folder unless a case failed, prints the sum;
 *  returns the exit code. */
int lk_fixture_end (lk_fixture *self);

/*  Starts router `which` with all others as neighbours, and up to four more
 *  arguments (NULL behind them). */
void lk_fixture_start (lk_fixture *self, size_t which, const char *const *more);

/*  Sends a signal; waits for the end and returns the wait status, -1 if it
 *  did not end within the time. */
void lk_fixture_signal (lk_fixture *self, size_t which, int number);
int lk_fixture_wait (lk_fixture *self, size_t which, int wait_ms);

/*  Whether a router's log says something, within the time. */
bool lk_fixture_logged (const lk_fixture *self, size_t which, const char *text,
                        int wait_ms);

/*  -------------------------------------------------------- clients */

typedef struct {
    char name[LK_SERVICE_LEN_MAX + 1];
    char address[LK_ADDRESS_LEN_MAX + 1]; /* NAME@HOST; "" before READY */
    lk_context *context;
    lk_socket *socket;
    lk_bytes in; /* of the frame that is being read */
    size_t at;
    lk_message *message; /* the last that was received */
} lk_client;

/*  A bare connection to an endpoint. */
lk_client *lk_client_new (const char *endpoint, const char *name);
void lk_client_destroy (lk_client **self_p);

/*  The same, registered, with subscriptions ("STATUS HANGUP"). */
lk_client *lk_client_enter (const char *endpoint, const char *name,
                            const char *subscriptions);

/*  Sends one message. `body` may be NULL. */
void lk_client_say (lk_client *self, const char *from, const char *to,
                    const char *command, uint64_t serial, const char *body);

/*  Sends bytes as one part. False if the queue is full. */
bool lk_client_throw (lk_client *self, const void *data, size_t size);

/*  The next message, which belongs to the client; NULL if none comes within
 *  the time. */
const lk_message *lk_client_next (lk_client *self, int wait_ms);

/*  The next message with that command; others are skipped. */
const lk_message *lk_client_await (lk_client *self, const char *command,
                                   int wait_ms);

/*  The next of that command whose field has that text. */
const lk_message *lk_client_await_with (lk_client *self, const char *command,
                                        const char *field, const char *text,
                                        int wait_ms);

/*  Skips all that is there. */
void lk_client_drain (lk_client *self);

/*  Waits until a router sees so many live hosts. */
bool lk_client_await_live (lk_client *self, int live, int wait_ms);

/*  Microseconds, for measuring. */
int64_t lk_fixture_now_us (void);

#endif
