/*  way.h - how a session reaches a lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  By the router of its host (near.c), or from a machine without one, over the
 *  network to one of several servers (far.c). The way brings what the book says
 *  there, and tells the book what comes from there, or has become of it.
 */

#ifndef LK_WAY_H
#define LK_WAY_H

#include "client/book.h"
#include "net/client_file.h"
#include "net/problem.h"

#define LK_WAY_TEXT_SIZE 2000

typedef enum {
    LK_WAY_SEEKING,
    LK_WAY_READY,
    LK_WAY_REFUSED /* for good, or for want of a credential */
} lk_way_state;

/*  As lk_problem, with room for all servers that were tried. */
typedef struct {
    int number;
    char text[LK_WAY_TEXT_SIZE];
} lk_way_problem;

typedef struct {
    const char *name; /* of who asks, as people see it */
    lk_book *book;    /* borrowed */
    void (*refused) (void *user, const char *reason); /* for good */
    void *user;
} lk_way_options;

typedef struct lk_way lk_way;

/*  The calls of a way. None but `wait` blocks, and `destroy` for what is sent
 *  last. */
typedef struct {
    lk_way_state (*state) (const lk_way *self);

    /*  Why it is not READY; EKEYREJECTED: for want of a credential. */
    void (*problem) (const lk_way *self, lk_way_problem *problem);

    /*  False in a child of its process, which says and hears nothing. */
    bool (*is_ours) (const lk_way *self);

    /*  The name of the host at its other end; "": none yet. */
    const char *(*host) (const lk_way *self);

    /*  Why no such lock can be had on this way, or one that is held cannot
     *  change its type; NULL: it can. */
    const char *(*objection) (const lk_lock_options *options);
    const char *(*turn_objection) (const lk_way *self, const lk_lock *lock);

    /*  Why a lock was lost, in a sentence. */
    const char *(*loss) (lk_err error);

    /*  Sends the messages of the book. */
    void (*say) (lk_way *self);

    /*  Does what is to do now: the book ticks then, too. `wait`: after
     *  something came, a signal, or until then (boot clock, ms). */
    void (*work) (lk_way *self);
    void (*wait) (lk_way *self, int64_t until_ms);

    /*  For poll(2), the same until the end; when `work` is due. */
    int (*fd) (const lk_way *self);
    int64_t (*deadline) (const lk_way *self);

    /*  Says farewell. */
    void (*destroy) (lk_way *self);
} lk_way_calls;

/*  Ahead of what each way has of its own. */
struct lk_way {
    const lk_way_calls *calls;
};

/*  NULL and problem: the endpoint makes no sense, or there are no
 *  descriptors. */
lk_way *lk_near_new (const lk_way_options *options, const char *endpoint,
                     lk_problem *problem);

/*  The same by the keys of that file, which is copied, and to its servers. */
lk_way *lk_far_new (const lk_way_options *options, const lk_client_file *file,
                    lk_problem *problem);

/*  The name that a session has on the bus: `base`, as far as there is room and
 *  each character may be there, and behind it `tail`. */
void lk_way_make_name (const char *head, const char *base, const char *tail,
                       char name[LK_SERVICE_LEN_MAX + 1]);

/*  Unlike that of any other session of this process, from 1. */
unsigned lk_way_count (void);

#endif
