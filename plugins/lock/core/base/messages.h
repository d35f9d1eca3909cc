/*  messages.h - which room hears a message, and who may say it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  X (KIND, the room's function that takes it, who may say it); the functions
 *  are declared by LK_HEARS in the faces of the rooms. node/senders.c carries
 *  out lockkeeper-protocol(7), 9.3:
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
 */

#ifndef LK_MESSAGES_H
#define LK_MESSAGES_H

#define LK_NODE_MESSAGES(X)                                                    \
    X (STARTED, on_started, ANYBODY)                                           \
    X (PING, on_ping, ANYBODY)                                                 \
    X (READY, on_ready, DECREE)

#define LK_ELECTION_MESSAGES(X)                                                \
    X (DATE, lk_on_date, MEMBER)                                               \
    X (AGREED, lk_on_agreed, MEMBER)                                           \
    X (VOTE, lk_on_vote, MEMBER)                                               \
    X (VOTED, lk_on_voted, ASKED)                                              \
    X (DESIST, lk_on_desist, ASKED)                                            \
    X (RETIRE, lk_on_retire, MEMBER)                                           \
    X (RERUN, lk_on_rerun, MEMBER)                                             \
    X (ELECTED, lk_on_elected, MEMBER)                                         \
    X (SITTING, lk_on_sitting, DECREE)                                         \
    X (ACTIVE, lk_on_active, DECREE)                                           \
    X (ACTIVATED, lk_on_activated, ASKED)                                      \
    X (ENTERING, lk_on_entering, TAKER)                                        \
    X (ENTERED, lk_on_entered, ASKED)                                          \
    X (GETMAX, lk_on_getmax, TAKER)                                            \
    X (MAXTICKET, lk_on_maxticket, ASKED)                                      \
    X (FILL, lk_on_fill, TAKER)                                                \
    X (FILLED, lk_on_filled, ASKED)                                            \
    X (EXITING, lk_on_exiting, FIRST)                                          \
    X (WANTING, lk_on_wanting, ANYBODY)                                        \
    X (SETTINGS, lk_on_settings, ANYBODY)

/*  Streams and fellow leaders; homes; digests. */
#define LK_LEADER_MESSAGES(X)                                                  \
    X (OPS, lk_on_ops, FELLOW)                                                 \
    X (ACKED, lk_on_acked, FELLOW)                                             \
    X (HOST, lk_on_host, FELLOW)                                               \
    X (SILENT, lk_on_silent, FELLOW)                                           \
    X (LOCK, lk_on_lock, OWN)                                                  \
    X (UNLOCK, lk_on_unlock, OWN)                                              \
    X (CHECK, lk_on_check, OWN)                                                \
    X (STOPPING, lk_on_stopping, OWN)                                          \
    X (REPORT, lk_on_report, OWN)                                              \
    X (AUDITED, lk_on_audited, OWN)                                            \
    X (ALERT, lk_on_alert, MEMBER)                                             \
    X (ALERTED, lk_on_alerted, ANYBODY)

/*  Answers of homes. */
#define LK_PROXY_MESSAGES(X)                                                   \
    X (LOCKED, lk_on_locked, LEADER)                                           \
    X (UNLOCKED, lk_on_unlocked, LEADER)                                       \
    X (LOCKFAILED, lk_on_lockfailed, LEADER)                                   \
    X (CHECKED, lk_on_checked, LEADER)                                         \
    X (PENDING, lk_on_pending, LEADER)                                         \
    X (REPORTED, lk_on_reported, LEADER)                                       \
    X (AUDIT, lk_on_audit, LEADER)

/*  In the face of a room: declares its functions, `room` being its struct. */
#define LK_HEARS(room, function)                                               \
    void function (room *self, const lk_lock_message *message);

#endif
