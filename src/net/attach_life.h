/*  attach_life.h - the life of an attach, for attach.c
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ATTACH_LIFE_H
#define LK_ATTACH_LIFE_H

#include "net/attach.h"
#include "net/link.h"

#define LK_ATTACH_ROUTER "router@."
#define LK_ATTACH_SUBSCRIPTIONS_MAX 64

struct lk_attach {
    lk_link link;
    lk_attach_calls calls;
    void *user;
    lk_attach_state state;

    char *name;
    char *version;
    bool is_application;
    bool is_visitor;
    lk_credential_file *credential;
    int taken_ms;
    char *subscriptions[LK_ATTACH_SUBSCRIPTIONS_MAX];
    size_t subscription_count;

    char host[LK_HOST_LEN_MAX + 1];
    char router_address[LK_ADDRESS_LEN_MAX + 1];
    char address[LK_ADDRESS_LEN_MAX + 1]; /* name@host */
    char zone[LK_HOST_LEN_MAX + 1];       /* of the last READY; "" */
    char person[LK_ADDRESS_LEN_MAX + 1];  /* likewise, its user */
    char role[LK_ADDRESS_LEN_MAX + 1];    /* likewise */
    int64_t credential_ends_ms;           /* likewise; INT64_MAX */
    int64_t shown_ms;                     /* REGISTER last said */
    char reason[200];                     /* of the last REFUSE */
    uint64_t serial;
    int64_t retry_ms;    /* REGISTER again, or open again */
    unsigned misses;     /* it was not there, in a row */
    int64_t open_since;  /* connected, or being so, with an endpoint */
    int64_t taken_since; /* first REFUSE because of the name; 0: none */
    int64_t asked_ms;    /* REGISTER, first on this connection */
    int64_t answer_ms;   /* READY came so long after it; -1: not yet */

    lk_loop *loop;
    lk_timer timer;
    lk_hook *hook;
};

/*  What happens to an attach. */
typedef enum {
    LK_ATTACH_UP,         /* connected with the router */
    LK_ATTACH_DOWN,       /* the connection ended */
    LK_ATTACH_TIME,       /* retry_ms is over */
    LK_ATTACH_WELCOME,    /* READY */
    LK_ATTACH_NAME_TAKEN, /* REFUSE: the name is taken */
    LK_ATTACH_REFUSAL,    /* REFUSE for any other reason */
    LK_ATTACH_EVENTS
} lk_attach_event;

/*  Says REGISTER on the connection that there is. */
void lk_attach_say_register (lk_attach *self);

/*  How long until a router that is not there is sought again: longer each
 *  time. */
int lk_attach_seek_ms (lk_attach *self);

/*  Goes to the next state, and does what belongs to it. */
void lk_attach_step (lk_attach *self, lk_attach_event event);

#endif
