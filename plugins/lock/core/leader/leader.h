/*  leader.h - this host as a leader: its table comes, is in force, and goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LEADER_H
#define LK_LEADER_H

#include "core.h"
#include "messages.h"
#include "table.h"

typedef struct lk_leader lk_leader;

void lk_leader_init (lk_leader *lead, lk_core *core);
void lk_leader_clear (lk_leader *lead);

/*  Of whom the own table is. */
const lk_decree *lk_leader_decree (const lk_leader *lead);

/*  The own table, lent: who takes all that is in it installs another one. */
lk_table *lk_leader_table (lk_leader *lead);

/*  The source of the tickets of a table that becomes the own one. */
typedef enum {
    LK_TABLE_OWN,   /* the tickets that the own one had */
    LK_TABLE_PARTS, /* those of lk_record_part () */
    LK_TABLE_NEW    /* none */
} lk_table_source;

/*  The filled table of a decree becomes the own one, or one of no decree; takes
 *  all of `table`. */
void lk_leader_install (lk_leader *lead, lk_table *table,
                        lk_table_source source);

/*  Whether the own table is from a journal, of a former process: it is for
 *  others, and this one serves nobody with it; and whether it may lack the last
 *  operations. */
bool lk_leader_is_sealed (const lk_leader *lead);
bool lk_leader_is_late (const lk_leader *lead);

/*  For the log: what came of that journal. */
void lk_leader_say_loaded (lk_leader *lead);

/*  Drops a table that no takeover can ask for any more: a later decree is in
 *  force, and others lead. */
void lk_leader_drop_old (lk_leader *lead);

/*  A table that differs little, mostly, from what another leader has: the own
 *  one, or a copy of what it was while this host led; lent as the own one is.
 *  NULL: there is none. */
lk_table *lk_leader_former (lk_leader *lead);

/*  Drops that copy when its time is over. */
void lk_copy_run (lk_leader *lead);

/*  That decree is in force, somebody who knows says: serve, if it is ours. */
void lk_leader_ready (lk_leader *lead, lk_term term);

/*  -------------------------------------------------------- alert */

/*  That host's table of the own table's term is wrong; `what` says cause, host,
 *  home, sequence and hashes. If it is ours it is dropped. */
void lk_alert_raise (lk_leader *lead, const lk_msg_alert *what);

/*  Who is sealed says what it holds: it looks at that before. */
void lk_alert_look (lk_leader *lead);

/*  Says again what was not confirmed. */
void lk_alert_run (lk_leader *lead);

/*  -------------------------------------------------------- home */

/*  Does what time asks for: ends durations, drops silent hosts' tickets, asks
 *  proxies about old ones, ends a reclaim. */
void lk_home_run (lk_leader *lead);

/*  Goes on to look at its tickets; grants those whose quiet time is over. */
void lk_home_look (lk_leader *lead);

/*  Has to look at more of them in LK_BUSY_MS; or when. */
bool lk_home_is_busy (const lk_leader *lead);
int64_t lk_home_deadline (const lk_leader *lead);

/*  The proxy that a request comes from, be it by another leader. */
lk_host lk_origin (const lk_lock_message *message);

/*  Passes on what is for another host; true if it was. */
bool lk_relay (lk_leader *lead, const lk_lock_message *message);

/*  -------------------------------------------------------- serving */

/*  Own place among the leaders of the own table, or -1. */
int lk_leader_place (const lk_leader *lead);

/*  All hosts heard; for a leader without those that stall its stream, so that
 *  others can lead in their place. */
lk_hosts lk_leader_sees (const lk_leader *lead);

/*  The own echo stops with a promise above the table's term; what it said until
 *  now still counts for the leader lease. */
void lk_lease_echo_self (lk_leader *lead);

/*  The leader's part of a ping. */
void lk_leader_fill_ping (lk_leader *lead, lk_msg_ping *ping);

/*  Serves: has the term's table, no later promise, and knows it in force. */
bool lk_leader_is_serving (const lk_leader *lead);

/*  Leader lease: q of the table's members echoed an `at` sent within it. */
bool lk_lease_holds (lk_leader *lead);

/*  Serves, has the lease, hears all fellow leaders have the same term, and
 *  has their acknowledgements. */
bool lk_leader_is_well (lk_leader *lead);

/*  The first leader of the active decree that does not say well; LK_NOBODY. */
lk_host lk_missing_leader (lk_leader *lead);

/*  Sees living leaders: promised nothing later than the active decree, and
 *  all of its leaders say well. */
bool lk_sees_leaders (lk_leader *lead);

/*  May this leader vouch for that session now? */
bool lk_can_vouch (lk_leader *lead, lk_host host, uint64_t session);

/*  Whether a leader of the latest decree in force says that it is well: without
 *  one nothing is granted. */
bool lk_hears_leader (lk_leader *lead);

/*  -------------------------------------------------------- stream */

/*  Sends what has come together: operations to those to whom nothing is under
 *  way, or, if nothing will be sent any more, to all; and what was acknowledged
 *  to other homes. */
void lk_stream_flush (lk_leader *lead, bool last);

/*  A ping of that host echoes one of this very process: with the lease, what
 *  waited for it is told. */
void lk_lease_echoed (lk_leader *lead, lk_host host, const lk_msg_ping *ping);

/*  All records up to that one are on disk: acknowledges and tells what waited
 *  for that. */
void lk_stream_recorded (lk_leader *lead, uint64_t number);

/*  When there is something to send at the latest. */
int64_t lk_stream_deadline (const lk_leader *lead);

/*  -------------------------------------------------------- journal */

/*  Tickets of a table that comes in parts; `first`: those of before were of
 *  another one. */
void lk_record_part (lk_leader *lead, bool first, lk_ticket *tickets,
                     size_t count);

/*  Whether the own table is on disk as that of its decree; or no journal is
 *  kept. */
bool lk_record_is_whole (const lk_leader *lead);

/*  Makes the next record, if it is time for that; and when that is so at the
 *  latest. */
void lk_record_run (lk_leader *lead);
int64_t lk_record_deadline (const lk_leader *lead);

/*  The last one: the service ends, and has acknowledged nothing else. */
void lk_record_end (lk_leader *lead);

/*  -------------------------------------------------------- trust */

/*  The members of the decrees that are known. */
lk_hosts lk_known_members (const lk_leader *lead);

/*  ... and this host; while none are known, everybody. */
lk_hosts lk_trusted (const lk_leader *lead);

bool lk_trusts (const lk_leader *lead, lk_host host);

/*  Those that it hears report a table of its active decree or a later one. */
lk_hosts lk_hears_holders (const lk_leader *lead);

/*  Whether that decree may be learned from that host: a member; or one that the
 *  decree itself names, while this host is cut off from those it knows. */
bool lk_believes (lk_leader *lead, lk_host from, const lk_decree *decree);

/*  A member told of this decree, or voted with it: its members are known, even
 *  if it cannot be taken because more was promised. */
void lk_hears_of (lk_leader *lead, const lk_decree *decree);

/*  -------------------------------------------------------- takeovers */

/*  Returns how many requests it remembers that ended a lock by key or by force,
 *  and gives them, oldest first, in memory of the step: they go to another
 *  leader with the last chunk of a table. */
size_t lk_leader_releases (const lk_leader *lead, lk_release **releases);

/*  Remembers those that another leader told while it filled this one. */
void lk_leader_learn_releases (lk_leader *lead, const lk_release *releases,
                               size_t count);

/*  -------------------------------------------------------- look */

/*  As node.h has them. */
void lk_leader_fill_status (lk_leader *lead, lk_node_status *status);
lk_use lk_leader_find_kept (const lk_leader *lead, const char *zone);
bool lk_leader_next_ticket (lk_leader *lead, size_t *cursor, lk_ticket *ticket);
bool lk_leader_next_ticket_in (lk_leader *lead, const char *zone,
                               size_t *cursor, lk_ticket *ticket);
bool lk_leader_next_ticket_of (lk_leader *lead, lk_name object, size_t *cursor,
                               lk_ticket *ticket);
bool lk_leader_next_wait (const lk_leader *lead, const void **place,
                          lk_node_wait *wait);
int64_t lk_leader_ticket_left (const lk_leader *lead, lk_request_id request);
int64_t lk_leader_ticket_grace (const lk_leader *lead, lk_request_id request);
bool lk_leader_find_silence (const lk_leader *lead, lk_host host,
                             uint64_t session, lk_node_silence *silence);

/*  -------------------------------------------------------- forget */

/*  Hosts that it needs the numbers of. Of another that number may be given
 *  away: nothing is kept of it then. */
lk_hosts lk_leader_needs (const lk_leader *lead);
void lk_leader_forget (lk_leader *lead, lk_host host);

/*  Whether a session of that host is known to be over. */
bool lk_leader_knows_over (const lk_leader *lead, lk_host host);

/*  -------------------------------------------------------- messages */

#define HEARS(kind, function, who, whom) LK_HEARS (lk_leader, function)
LK_LEADER_MESSAGES (HEARS)
#undef HEARS

/*  Asserts what must be so between two steps; `all`: of each ticket or request,
 *  too. */
void lk_leader_check (const lk_leader *lead, bool all);

#endif
