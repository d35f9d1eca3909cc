/*  home.h - the leader that orders an object's tickets, and its requests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What proxies ask for becomes operations of the stream; what the leaders
 *  acknowledged is told to proxies. lockkeeper-protocol(7), 9.11.
 */

#ifndef LK_HOME_H
#define LK_HOME_H

#include "leader.h"
#include "ousted.h"

#define LK_TICKETS_MAX ((size_t) 4000000) /* in one table; then overloaded */
#define LK_TICKET_NAMES_MAX ((size_t) 512 << 20) /* bytes of names, likewise */

#define LK_LOOK_MS 700 /* between looks for silent hosts */

#define LK_ENDED_KEPT 1024

typedef struct {
    int64_t asked_ms;  /* last look for silent sessions */
    int64_t digest_ms; /* last digest */
    int64_t ripe_ms;   /* a quiet time may be over then; INT64_MAX */

    /*  Of these, the latest: one that is said again is not to be refused
     *  because the lock is gone, nor to end the next one. A ring. */
    lk_release released[LK_RELEASES_KEPT];
    size_t released_next;

    /*  Likewise, what is refused when all before `up_to` is acknowledged. */
    lk_release refused[LK_RELEASES_KEPT];
    size_t refused_next;

    /*  Requests that were ended by UNLOCK, the latest of each place: a LOCK of
     *  one that comes after it makes no ticket. Serial 0: none; NULL: not any
     *  in this term yet. */
    lk_request_id *ended;

    /*  The same of applications on other machines, with the number of the
     *  registration that gave it back. Number 0: none. */
    lk_far_id *ended_far;

    lk_ousteds ousted;
} lk_home;

void lk_home_await_quiet (lk_leader *lead, const lk_entry *entry);

/*  Asks the holder's proxy for it, which is told what for: RELEASED, FORCED or
 *  LATE, which no operation tells. The same of a reply that is written. */
void lk_home_ask_back (lk_leader *lead, const lk_entry *entry, lk_err error,
                       lk_name reason);
void lk_home_say_back (lk_leader *lead, const lk_msg_reply *reply);

/*  Whether its proxy knows nothing of it any more: it was static, and outlived
 *  it. */
bool lk_home_is_nobodys (const lk_leader *lead, const lk_ticket *held);

/*  Whether this leader may act on a request of that session for that object
 *  now. If not, the proxy asks again, somebody else or later. */
bool lk_home_may_act (lk_leader *lead, const lk_lock_message *message);

/*  The request's ticket, if it is for that object. */
lk_entry *lk_home_find (const lk_leader *lead, const lk_ticket *ticket);

/*  Tells a request that it fails; without its lease a home tells nothing: the
 *  proxy asks again. */
void lk_home_refuse (lk_leader *lead, const lk_ticket *ticket, lk_err error);

/*  Tells it, by an operation, that it is held so; NULL: is gone. */
void lk_home_confirm (lk_leader *lead, const lk_ticket *ticket,
                      const lk_entry *held);

/*  By which all leaders count its duration; 0: it has none. */
int64_t lk_home_told_age (const lk_leader *lead, const lk_entry *held);

/*  An operation with that ticket's request and object. */
lk_op lk_op_about (lk_op_kind kind, const lk_ticket *ticket);

/*  An operation is acknowledged by all: tells what follows from it; and of a
 *  report that is in already. */
void lk_home_tell (lk_leader *lead, const lk_op *op, const lk_notices *notices);
void lk_home_tell_reported (lk_leader *lead, lk_request_id request,
                            uint64_t part);

/*  To a host's proxy: directly, and by another leader where that may fail. */
void lk_home_send (lk_leader *lead, lk_lock_message *message, lk_host host);

/*  An answer to that request, to be filled in and sent. */
lk_lock_message *lk_home_reply (lk_leader *lead, lk_lock_kind kind,
                                lk_request_id request, lk_name object);

bool lk_request_same (lk_request_id a, lk_request_id b);

/*  A request by key or by force that is known; NULL. One that is, from now on:
 *  see lk_release. */
const lk_release *lk_home_find_release (const lk_home *self, lk_request_id by);
const lk_release *lk_home_note_release (lk_home *self, lk_request_id by,
                                        uint64_t up_to);

/*  Another home is about to end a lock for such a request, or to say that it is
 *  done, which is said to who takes over from it if its answer is lost. */
void lk_home_learn_release (lk_leader *lead, const lk_op *op);

/*  Whether all is acknowledged that the table had when that was asked first:
 *  then it may be told that nobody holds the lock. From then on it is refused,
 *  though others get the lock before it is said again. */
bool lk_home_is_certain (lk_leader *lead, lk_request_id by);
bool lk_home_has_refused (const lk_home *self, lk_request_id by);

/*  The ticket goes, by an operation; whoever asked for that is told, too. That
 *  request asks for it; `alone`: and for no other's. */
void lk_home_drop (lk_leader *lead, const lk_entry *entry);
void lk_home_mark (lk_leader *lead, lk_entry *holder, lk_request_id by,
                   bool alone);

/*  Takes a lock from its holder, or holders: taking.c. */
void lk_home_unlock_by_key (lk_leader *lead, const lk_msg_request *request);
void lk_home_unlock_by_force (lk_leader *lead, const lk_msg_request *request);

/*  Whether it was ended by UNLOCK lately; and that it is. */
bool lk_home_has_ended (const lk_home *self, lk_request_id request);
void lk_home_note_end (lk_home *self, lk_request_id request);

/*  The same of an application on another machine, for registrations up to that
 *  one: claim.c. */
bool lk_home_has_ended_far (const lk_home *self, const lk_far_id *remote);
void lk_home_note_end_far (lk_home *self, const lk_far_id *remote);

/*  A LOCK of an application on another machine: the ticket goes over from the
 *  request of an earlier registration, or it is told what has become of it.
 *  False: there is no ticket, and the LOCK is one like any other. */
bool lk_home_claims (lk_leader *lead, const lk_msg_request *request);

/*  Its ticket, if an UNLOCK by that request ends it, which another one has;
 *  NULL. */
lk_entry *lk_home_find_far (const lk_leader *lead, const lk_ticket *ticket);

#endif
