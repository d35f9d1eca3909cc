/*  issuing.h - an issuer: who logs in is given a credential
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Routers say LOGIN and RENEW here for applications on other machines. All
 *  that an issuer keeps is in memory, and its loop asks nobody itself:
 *
 *      known.c                  keys, authorities, zones
 *      throttle.c               wrong ones have to wait
 *      pool.c                   threads, which ask authorities by
 *      ask_ldap.c, ask_passwords.c
 *      login.c                  messages -> questions, verdicts -> answers
 *      issuing.c                the callbacks of the service
 */

#ifndef LK_ISSUING_H
#define LK_ISSUING_H

#include "known.h"
#include "pool.h"
#include "throttle.h"

#include "net/zone_file.h"
#include "settings/issuer.h"

#include <lockkeeper/service.h>

#define LK_LOGINS_MAX 256 /* under way, and refusals that wait for their time */
#define LK_LOGIN_REFUSAL_MS 1000 /* they leave after a multiple of that */

typedef struct lk_login lk_login;

typedef struct {
    lk_issuer_options options;
    lk_zone_file zone_file;
    lk_bus *bus;   /* NULL: not attached yet */
    lk_pool *pool; /* NULL: likewise */
    lk_known known;
    lk_throttle users, addresses;
    lk_login *logins;
    size_t login_count;
    int64_t ask_at_ms; /* the lock service, for the settings */
    uint64_t settings; /* their version, once they are known */
} lk_issuing;

/*  The callbacks; their `self` is an lk_issuing. */
extern const lk_service lk_issuing_service;

/*  Reads the files; nothing has to be there. */
void lk_issuing_init (lk_issuing *self, const lk_issuer_options *options);
void lk_issuing_clear (lk_issuing *self);

/*  -------------------------------------------------------- log-ins */

/*  LOGIN or RENEW, which a router says. */
void lk_login_take (lk_issuing *self, const lk_message *message);

/*  Answers those that have a verdict, whose time is over, or whose refusal has
 *  waited for long enough. */
void lk_login_answer_all (lk_issuing *self);

/*  When to do that again; INT64_MAX: never. */
int64_t lk_login_deadline (const lk_issuing *self);

/*  Gives up all of them. */
void lk_login_give_up_all (lk_issuing *self);

#endif
