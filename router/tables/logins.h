/*  logins.h - log-ins that an issuer is asked for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: time comes in. Each has what the next issuer has to be told, if one
 *  does not issue for that zone; it is wiped when it is over.
 */

#ifndef LK_LOGINS_H
#define LK_LOGINS_H

#include "bounds.h"
#include "hop.h"

#include "net/curve.h"
#include "people/credential.h"

#define LK_ASKED_LOGINS_MAX 64            /* under way, */
#define LK_ASKED_LOGINS_OF_ADDRESS_MAX 32 /* and of one address */
#define LK_ASKED_LOGIN_MS 15000           /* until one has failed */

typedef struct lk_asked_login lk_asked_login;

struct lk_asked_login {
    uint64_t serial; /* by which issuers know it */
    lk_side side;    /* who asked: a connection, */
    lk_identity identity;
    char from[LK_ADDRESS_LEN_MAX + 1]; /* its address, */
    uint64_t asked_serial;             /* and its serial */
    bool is_renewal;
    char zone[LK_ZONE_LEN_MAX + 1];
    char user[LK_USER_LEN_MAX + 1];
    char password[LK_PASSWORD_LEN_MAX + 1];
    char key[LK_CURVE_TEXT_SIZE];
    char address[LK_ADDRESS_LEN_MAX + 1]; /* from where it comes */
    int64_t since;                        /* it was logged in, to be renewed */
    char host[LK_HOST_LEN_MAX + 1];       /* whose issuer is asked; "": none */
    bool is_plain; /* an issuer was left out since it has no keys */
    char refuser[LK_HOST_LEN_MAX + 1]; /* the first that does not issue for it,
                                          ""; and whether it refuses it then */
    bool is_last;
    int64_t until_ms;
    lk_asked_login *prev, *next;
};

/*  In the order of their ends. */
typedef struct {
    lk_asked_login *first;
    size_t count;
    uint64_t serial; /* the last one */
} lk_logins;

void lk_logins_clear (lk_logins *self);

/*  A new one from that address, with a serial; NULL: there are too many. */
lk_asked_login *lk_logins_add (lk_logins *self, const char *address,
                               int64_t now_ms);

/*  That of an issuer's answer, if that host's was asked; NULL: it is over. */
lk_asked_login *lk_logins_find (const lk_logins *self, uint64_t serial,
                                lk_slice host);

/*  One whose time is over; NULL: there is none. When there is one: INT64_MAX:
 *  never. */
lk_asked_login *lk_logins_due (const lk_logins *self, int64_t now_ms);
int64_t lk_logins_deadline (const lk_logins *self);

/*  Wipes it and frees it. */
void lk_logins_remove (lk_logins *self, lk_asked_login *login);

#endif
