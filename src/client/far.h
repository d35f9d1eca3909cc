/*  far.h - the way to a lock service from a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      far.c         drives all that there is; chooses with servers.c
 *      far_locks.c   the book's requests <-> roam.c, which repeats and claims
 *                    them and says until when they are believed in
 *      far_letter.c  roam's letters <-> messages
 *      far_renew.c   the credential, as renewal.c decides
 *
 *  lockkeeper-protocol(7), 9.20.
 */

#ifndef LK_CLIENT_FAR_H
#define LK_CLIENT_FAR_H

#include "client/book.h"
#include "client/renewal.h"
#include "client/roam.h"
#include "client/servers.h"
#include "client/way.h"
#include "util/map.h"

/*  A LOCK of the book's. */
typedef struct lk_far_lock {
    uint64_t serial; /* of the LOCK, also on the wire */
    uint64_t known;  /* ... as roam knows it */
    lk_lock *lock;   /* which may go on as another LOCK meanwhile */
    lk_roam_lock *roam;
    bool is_former; /* what a set was before it began anew: it is given back */
    struct lk_far_lock *former; /* ... of this one */
    uint32_t turn; /* the book's latest change of type that roam knows of */
    UT_hash_handle hh;
} lk_far_lock;

typedef struct {
    lk_way way;
    lk_book *book;
    lk_roam *roam;
    lk_servers *servers;
    lk_far_lock *locks;      /* by serial */
    uint64_t secret[2];      /* of this session, told to servers alone */
    const lk_message *heard; /* while roam is told of it */
    bool is_leased;          /* roam heard something that leases depend on */
    bool is_deserted;        /* no server is heard, ... */
    bool is_over;            /* ... or serves us, for want of a credential */
    int64_t lease_ms;        /* that was given last */
    int64_t due_ms;          /* of what is not the book's */
    bool is_vain;            /* the latest server refused to register us */
    int forgetful;           /* a server that knows nothing of us; -1: none */
    int64_t again_ms;        /* one such was registered with again */
    int64_t ready_ms;        /* when we were registered first; 0: not yet */
    char host[LK_HOST_LEN_MAX + 1]; /* which did so last */
    lk_renewal renewal;
    int64_t credential_ends_ms; /* as the server said last */
    int64_t cut_ms; /* end of the lease that it cut short; INT64_MAX: none */
    bool ends_soon; /* as the book was told */
    uint64_t renew_serial; /* of the RENEW that is open; 0: none */
    char shown[LK_CREDENTIAL_LINE_SIZE]; /* that servers were shown last */
} lk_far_way;

/*  -------------------------------------------------------- far_letter.c */

/*  A letter of roam's as a message for that server; NULL: none. */
lk_message *lk_far_render (const lk_far_way *self, const lk_roam_letter *letter,
                           int64_t now_ms);

/*  Marks a request about no lock of ours with that registration. */
void lk_far_sign (lk_message *message, const lk_roam_place *place);

/*  UNLOCK for a LOCKED of nothing that we know. */
lk_message *lk_far_give_back (const lk_message *grant);

/*  Whether it is about a registration, and no lock. */
bool lk_far_read (const lk_message *message, lk_roam_letter *letter);

/*  The kind of an answer to LOCK or UNLOCK, and what a LOCKED says; false: roam
 *  has no use for it. */
bool lk_far_read_answer (const lk_message *message, const lk_far_lock *lock,
                         lk_roam_letter *letter);

/*  The serial of LOCKREGISTER, which a complaint repeats. */
bool lk_far_is_register (uint64_t serial);

/*  -------------------------------------------------------- far_locks.c */

/*  The open request of a lock of the book's: lk_book_open_fn. */
void lk_far_open (void *user, lk_lock *lock, int64_t now_ms);

/*  Why a lock that is held cannot change its type; NULL: it can. */
const char *lk_far_turn_objection (const lk_far_way *self, const lk_lock *lock);

/*  News of roam's. */
void lk_far_told (void *user, lk_roam_lock *lock, lk_roam_news news);

/*  A message of a server's lock service about a request. */
void lk_far_answer (lk_far_way *self, int server, const lk_message *message,
                    int64_t now_ms);

/*  The leases of what is held are as roam has them. */
void lk_far_lend (lk_far_way *self);

/*  Forgets all of them. */
void lk_far_forget (lk_far_way *self);

/*  -------------------------------------------------------- far_renew.c */

void lk_far_renew_init (lk_far_way *self);

/*  Whether it was the answer to a RENEW. */
bool lk_far_renew_hear (lk_far_way *self, const lk_message *message,
                        int64_t now_ms);

/*  Whether the credential counts no more; the file has no other one. */
bool lk_far_renew_is_over (lk_far_way *self, int64_t now_ms);

/*  Looks, asks and tells; when that is due again. */
void lk_far_renew_tick (lk_far_way *self, int64_t now_ms);
int64_t lk_far_renew_deadline (const lk_far_way *self, int64_t now_ms);

#endif
