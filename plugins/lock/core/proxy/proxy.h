/*  proxy.h - this host's applications and their requests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A proxy asks the homes on behalf of its applications and says it again
 *  until it is answered; it lives in a session, as long as leaders vouch for
 *  it, and ends its applications' locks when they don't.
 *  lockkeeper-protocol(7), 9.13.
 */

#ifndef LK_PROXY_H
#define LK_PROXY_H

#include "leader.h"
#include "messages.h"

#define LK_REQUESTS_MAX ((size_t) 1000000) /* of all applications of a host */
#define LK_REQUEST_NAMES_MAX ((size_t) 64 << 20) /* bytes of their names */
#define LK_APP_REQUESTS_MAX ((size_t) 100000)    /* of one application */
#define LK_NO_APP ((uint32_t) 0)                 /* nobody is told any more */

typedef struct lk_proxy lk_proxy;

void lk_proxy_init (lk_proxy *self, lk_core *core, lk_leader *leader);
void lk_proxy_clear (lk_proxy *self);

/*  Ends what has run out: the session, durations, waits. */
void lk_proxy_expire (lk_proxy *proxy);

/*  Whether this host's requests are served now. */
bool lk_proxy_is_ready (lk_proxy *proxy);

/*  Sends what is due. */
void lk_proxy_run (lk_proxy *proxy);
int64_t lk_proxy_deadline (const lk_proxy *proxy);

/*  Whether not all that was due could be sent at once. */
bool lk_proxy_is_behind (const lk_proxy *proxy);

/*  Whether it has begun to leave. */
bool lk_proxy_is_leaving (const lk_proxy *proxy);

/*  Sessions of this host up to that one are over, and nobody believes in them
 *  any more. */
uint64_t lk_proxy_closed (const lk_proxy *proxy);

/*  A leader of that term vouches for the session, as of our clock `at`. */
void lk_proxy_vouched (lk_proxy *proxy, lk_term term, int64_t at);

/*  Another decree is in force. */
void lk_proxy_new_decree (lk_proxy *proxy);

/*  A leader can be reached again: what was said to it meanwhile may be lost. */
void lk_proxy_leader_is_back (lk_proxy *proxy);

/*  Begins to leave: all applications are told that their locks are gone, and
 *  nobody is served any more. What they held stays theirs until they say
 *  UNLOCK, or a quarter of a host lease is over: who has to stop what it does
 *  under a lock has that long. */
void lk_proxy_leave (lk_proxy *proxy);
/*  Whether nobody has to be waited for (any more). */
bool lk_proxy_has_left (const lk_proxy *proxy);

/*  Gives back what is left, and ends the session. */
void lk_proxy_stop (lk_proxy *proxy);

/*  The service ends, and another one is to go on. */
void lk_proxy_halt (lk_proxy *proxy);

/*  Requests of applications. */
void lk_on_app_lock (lk_proxy *proxy, const lk_app_request *request);
void lk_on_app_unlock (lk_proxy *proxy, const lk_app_request *request);
void lk_on_app_unlock_by_key (lk_proxy *proxy, const lk_app_request *request);
void lk_on_app_force (lk_proxy *proxy, const lk_app_request *request);
void lk_on_app_check (lk_proxy *proxy, const lk_app_request *request);
void lk_on_app_gone (lk_proxy *proxy, uint32_t app);

/*  Those of applications on other machines: registered.c. LOCK and UNLOCK come
 *  the way of all others. */
void lk_on_far_register (lk_proxy *proxy, const lk_app_request *request);
void lk_on_far_lease (lk_proxy *proxy, const lk_app_request *request);
void lk_on_far_goodbye (lk_proxy *proxy, const lk_app_request *request);

/*  -------------------------------------------------------- look */

/*  As node.h has them. */
void lk_proxy_fill_status (lk_proxy *proxy, lk_node_status *status);
bool lk_proxy_find_demand (const lk_proxy *proxy, uint64_t serial,
                           lk_node_demand *demand);
bool lk_proxy_next_own (const lk_proxy *proxy, const void **place,
                        lk_node_own *own);
lk_node_use lk_proxy_find_use (const lk_proxy *proxy, const char *zone);
bool lk_proxy_has_request (const lk_proxy *proxy, uint32_t app,
                           uint64_t serial);
void lk_proxy_each_asked (const lk_proxy *proxy, uint32_t app,
                          lk_asked_visit *visit, void *context);

/*  -------------------------------------------------------- messages */

#define HEARS(kind, function, who, whom) LK_HEARS (lk_proxy, function)
LK_PROXY_MESSAGES (HEARS)
#undef HEARS

/*  Asserts what must be so between two steps; `all`: of each ticket or request,
 *  too. */
void lk_proxy_check (const lk_proxy *proxy, bool all);

#endif
