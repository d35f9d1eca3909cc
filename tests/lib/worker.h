/*  worker.h - an application that asks for locks and writes down what it sees
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For tests in tests/cluster. It is an application like any other: it knows
 *  include/lockkeeper, and nothing of the daemons.
 */

#ifndef LK_WORKER_H
#define LK_WORKER_H

#include <stdint.h>

typedef enum {
    LK_WORKER_EVENTS,   /* several requests at a time, an event loop */
    LK_WORKER_BLOCKING, /* one after the other, by calls that wait */
    LK_WORKER_STEADY,   /* each object again and again, for ever */
    LK_WORKER_HOLD      /* one object, until it is lost or we are told to end */
} lk_worker_style;

typedef enum {
    LK_WORKER_STAYS,  /* until SIGTERM: then all has to be answered */
    LK_WORKER_LEAVES, /* in good order, with what it holds or waits for */
    LK_WORKER_EXITS   /* without a word */
} lk_worker_end;

typedef struct {
    const char *host;
    const char *endpoint;
    const char *object; /* names begin with this; HOLD: this alone */
    int objects;        /* so many at a time; 1: all want the same, and many
                           do not wait for it long */
    int history_fd;
    uint64_t seed;
    lk_worker_style style;
    lk_worker_end end;
    int life_ms; /* unless it stays */
    int rest_ms; /* STEADY: before it asks again */
    int birth;   /* behind its number in the history */
} lk_worker_options;

/*  Runs; sets a handler of SIGTERM and blocks no signal. Returns the process'
 *  exit code. */
int lk_worker_run (const lk_worker_options *options);

#endif
