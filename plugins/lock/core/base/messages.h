/*  messages.h - which room hears a message, who may say it, and to whom
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  X (KIND, the room's function that takes it, who may say it, to whom); the
 *  functions are declared by LK_HEARS in the faces of the rooms. node/senders.c
 *  carries out lockkeeper-protocol(7), 9.3:
 *
 *      ANYBODY
 *      MEMBER    a member of a decree that is known
 *      DECREE    of whom that decree may be learned
 *      TAKER     a member, or who is FIRST
 *      ASKED     who is asked by the own election, or doorway
 *      FIRST     the first leader of the decree that it proposes
 *      FELLOW    a leader of the own table's decree
 *      LEADER    a leader of a decree that is known; of a later term, a member
 *      OWN       the host whose request it is, or a leader for it
 *
 *  and, as an arbiter has no sight of locks:
 *
 *      ALL       to any lock service
 *      HOSTS     to any but an arbiter's
 */

#ifndef LK_MESSAGES_H
#define LK_MESSAGES_H

#include "wire/lock_message.h"

/*  Whether that kind of message is for arbiters, too. */
bool lk_arbiter_hears (lk_lock_kind kind);

#define LK_NODE_MESSAGES(X)                                                    \
    X (STARTED, on_started, ANYBODY, ALL)                                      \
    X (PING, on_ping, ANYBODY, ALL)                                            \
    X (READY, on_ready, DECREE, ALL)

#define LK_ELECTION_MESSAGES(X)                                                \
    X (DATE, lk_on_date, MEMBER, ALL)                                          \
    X (AGREED, lk_on_agreed, MEMBER, ALL)                                      \
    X (VOTE, lk_on_vote, MEMBER, ALL)                                          \
    X (VOTED, lk_on_voted, ASKED, ALL)                                         \
    X (DESIST, lk_on_desist, ASKED, ALL)                                       \
    X (RETIRE, lk_on_retire, MEMBER, ALL)                                      \
    X (RERUN, lk_on_rerun, MEMBER, ALL)                                        \
    X (ELECTED, lk_on_elected, MEMBER, ALL)                                    \
    X (SITTING, lk_on_sitting, DECREE, ALL)                                    \
    X (ACTIVE, lk_on_active, DECREE, ALL)                                      \
    X (ACTIVATED, lk_on_activated, ASKED, ALL)                                 \
    X (ENTERING, lk_on_entering, TAKER, HOSTS)                                 \
    X (ENTERED, lk_on_entered, ASKED, ALL)                                     \
    X (GETMAX, lk_on_getmax, TAKER, HOSTS)                                     \
    X (MAXTICKET, lk_on_maxticket, ASKED, HOSTS)                               \
    X (FILL, lk_on_fill, TAKER, HOSTS)                                         \
    X (FILLED, lk_on_filled, ASKED, HOSTS)                                     \
    X (EXITING, lk_on_exiting, FIRST, ALL)                                     \
    X (WANTING, lk_on_wanting, ANYBODY, ALL)                                   \
    X (SETTINGS, lk_on_settings, ANYBODY, ALL)

/*  Streams and fellow leaders; homes; digests. */
#define LK_LEADER_MESSAGES(X)                                                  \
    X (OPS, lk_on_ops, FELLOW, HOSTS)                                          \
    X (ACKED, lk_on_acked, FELLOW, HOSTS)                                      \
    X (HOST, lk_on_host, FELLOW, HOSTS)                                        \
    X (SILENT, lk_on_silent, FELLOW, HOSTS)                                    \
    X (LOCK, lk_on_lock, OWN, HOSTS)                                           \
    X (UNLOCK, lk_on_unlock, OWN, HOSTS)                                       \
    X (CHECK, lk_on_check, OWN, HOSTS)                                         \
    X (STOPPING, lk_on_stopping, OWN, HOSTS)                                   \
    X (REPORT, lk_on_report, OWN, HOSTS)                                       \
    X (AUDITED, lk_on_audited, OWN, HOSTS)                                     \
    X (ALERT, lk_on_alert, MEMBER, HOSTS)                                      \
    X (ALERTED, lk_on_alerted, ANYBODY, HOSTS)

/*  Answers of homes. */
#define LK_PROXY_MESSAGES(X)                                                   \
    X (LOCKED, lk_on_locked, LEADER, HOSTS)                                    \
    X (UNLOCKED, lk_on_unlocked, LEADER, HOSTS)                                \
    X (LOCKFAILED, lk_on_lockfailed, LEADER, HOSTS)                            \
    X (CHECKED, lk_on_checked, LEADER, HOSTS)                                  \
    X (PENDING, lk_on_pending, LEADER, HOSTS)                                  \
    X (REPORTED, lk_on_reported, LEADER, HOSTS)                                \
    X (AUDIT, lk_on_audit, LEADER, HOSTS)

/*  In the face of a room: declares its functions, `room` being its struct. */
#define LK_HEARS(room, function)                                               \
    void function (room *self, const lk_lock_message *message);

#endif
