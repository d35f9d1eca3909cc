/*  route.h - the sessions of this host's processes, and who wants to hear what
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure tables: sessions by connection and by service name, subscriptions by
 *  command. No socket and no process is touched here.
 */

#ifndef LK_ROUTE_H
#define LK_ROUTE_H

#include "bounds.h"
#include "hop.h"
#include "person.h"
#include "shut_out.h"

#include "settings/common.h"
#include "util/map.h"
#include <lockkeeper/message.h>

typedef struct lk_local lk_local;
typedef struct lk_topic lk_topic;
typedef struct lk_user lk_user;
typedef struct lk_machine lk_machine;

/*  Also of an application on another machine. */
typedef struct {
    char key[LK_HOST_KEY_SIZE];       /* public, of its connection */
    lk_machine *machine;              /* all of that key */
    char client[LK_HOST_LEN_MAX + 1]; /* whose that is */
    char address[LK_PLACE_SIZE];      /* from where it came, in numbers */
    int64_t heard_ms;
} lk_local_far;

/*  One registered process, by the name under which it is. */
struct lk_local {
    char service[LK_SERVICE_LEN_MAX + 1];
    char version[LK_VERSION_LEN_MAX + 1];
    uint32_t pid;
    bool application; /* told to this host only */
    bool privileged;  /* it knows the flag of that name */
    uid_t user;       /* by the kernel's word */
    lk_person person;
    lk_user *payer; /* of what waits for it; NULL: the host alone */
    lk_topic *topic[LK_SUBSCRIPTIONS_MAX];
    size_t topic_count;
    lk_local_far *far;             /* NULL: a process of this host */
    lk_local *far_prev, *far_next; /* of those, who was heard last behind */
    void *watch;                   /* the shell's, to see its end */
    lk_hop out;                    /* the connection to it */
    UT_hash_handle by_identity;
    UT_hash_handle by_service;
};

/*  STATUS of the services of one name is a topic, too: this and the name. */
#define LK_TOPIC_STATUS "STATUS:"
#define LK_TOPIC_SIZE (sizeof LK_TOPIC_STATUS + LK_SERVICE_LEN_MAX)

/*  A command, or what else may be subscribed to; its subscribers, in no
 *  order. */
struct lk_topic {
    char command[LK_TOPIC_SIZE];
    lk_local **subscriber;
    size_t count;
    size_t room;
    UT_hash_handle hh;
};

/*  A user whose sessions have a budget together. */
struct lk_user {
    uid_t uid;
    size_t sessions;
    lk_budget budget;
    UT_hash_handle hh;
};

/*  How many sessions another machine has. */
struct lk_machine {
    char key[LK_HOST_KEY_SIZE];
    size_t sessions;
    UT_hash_handle hh;
};

typedef struct {
    lk_local *by_identity[LK_SIDE_COUNT];
    lk_local *by_service; /* in the order of their coming */
    lk_local *far;        /* of these, applications on other machines: */
    size_t far_count;     /* who was silent longest first */
    int64_t far_until_s;  /* no credential of theirs ends before; INT64_MAX */
    lk_machine *machines;
    lk_topic *topics;
    lk_user *users;
    lk_budget budget; /* of all sessions */
} lk_route;

void lk_route_init (lk_route *self);
void lk_route_clear (lk_route *self);

/*  Enters a session. LK_REFUSED if the name or the connection is taken,
 *  LK_OVERLOADED if there are LK_SESSIONS_MAX. */
lk_err lk_route_add (lk_route *self, lk_side side, const lk_identity *identity,
                     const char *service, lk_local **local_p)
    __attribute__ ((warn_unused_result));

/*  It is that of an application on another machine, and was heard now.
 *  LK_OVERLOADED: there are LK_CLIENT_SESSIONS_MAX, or too many of that key. */
lk_err lk_route_set_far (lk_route *self, lk_local *local,
                         const lk_client_key *key, int64_t now_ms)
    __attribute__ ((warn_unused_result));

/*  Whether there is a session of that key. */
bool lk_route_has_key (const lk_route *self, const char *key);

/*  Notes when the credential of one ends; finds the earliest such end of all
 *  that are there. */
void lk_route_note_until (lk_route *self, const lk_local *local);
void lk_route_find_until (lk_route *self);

/*  When the first of those is silent for too long, or is to be cut off since
 *  its credential has ended, or that is to be looked at: INT64_MAX: never. */
int64_t lk_route_far_deadline (const lk_route *self, int64_t now_ms,
                               int64_t now_s);

/*  Such a one was heard. */
void lk_route_hear_far (lk_route *self, lk_local *local, int64_t now_ms);

/*  All that waits for it is of its user's budget, too. */
void lk_route_charge_user (lk_route *self, lk_local *local);

/*  Takes a session with its subscriptions out and frees it. */
void lk_route_remove (lk_route *self, lk_local *local);

lk_local *lk_route_by_identity (const lk_route *self, lk_side side,
                                const lk_identity *identity);
lk_local *lk_route_by_service (const lk_route *self, lk_slice service);
size_t lk_route_count (const lk_route *self);

/*  Subscribes; a second time is fine. LK_INVALID if that is no topic,
 *  LK_OVERLOADED if the session has LK_SUBSCRIPTIONS_MAX. */
lk_err lk_route_subscribe (lk_route *self, lk_local *local, lk_slice command)
    __attribute__ ((warn_unused_result));

bool lk_route_subscribes (const lk_local *local, const char *command);

/*  The service's name in a topic `STATUS:NAME`; empty for any other. */
lk_slice lk_topic_service (lk_slice command);

/*  Who subscribed to a command; NULL if nobody did. Valid until a session
 *  or subscription comes or goes. */
const lk_topic *lk_route_topic (const lk_route *self, lk_slice command);

#endif
