/*  election.h - who leads: pause, voting, and bringing a decree into force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.5. What happens between "elected" and
 *  "active" is the doorway's (doorway.h).
 */

#ifndef LK_ELECTION_H
#define LK_ELECTION_H

#include "leader.h"
#include "messages.h"

typedef struct lk_election lk_election;

typedef enum {
    LK_ELECTION_IDLE,
    LK_ELECTION_PAUSE,      /* ELECTION_DATE is out, agreements come in */
    LK_ELECTION_VOTING,     /* VOTE is out, votes come in */
    LK_ELECTION_ELECTED,    /* the first leader is in the doorway */
    LK_ELECTION_ACTIVATING, /* members persist the decree */
    LK_ELECTION_STATES
} lk_election_state;

void lk_election_init (lk_election *self, lk_core *core, lk_leader *leader);
void lk_election_clear (lk_election *self);

/*  Does what time asks for; call it after whatever may have changed. */
void lk_election_run (lk_election *election);

/*  Has to be run every LK_BUSY_MS now. */
bool lk_election_is_busy (const lk_election *election);

/*  When to run it next, besides. */
int64_t lk_election_deadline (const lk_election *election);

/*  A host's service is known to have ended. */
void lk_election_host_gone (lk_election *election, lk_host host);

/*  The service stops: ends what is under way. */
void lk_election_stop (lk_election *election);

/*  How long it takes no part in elections yet; 0. */
int64_t lk_election_waits_ms (const lk_election *election);

/*  "booting" "pause" "voting" "elected". Static. */
const char *lk_election_phase (const lk_election *election);

/*  Whom the own election, or doorway, may have asked. */
lk_hosts lk_election_asked (const lk_election *election);

/*  Whether that is the first leader of the decree that it proposes. */
bool lk_election_is_first (const lk_election *election, lk_host host);

/*  Whether it may end, while it drains: others lead, or nobody can in its place
 *  and another leader keeps the tickets. */
bool lk_election_has_left (const lk_election *election);

/*  -------------------------------------------------------- change */

/*  Somebody asks for a change; answered with LK_DO_CHANGED, now or later. */
void lk_on_change (lk_election *election, const lk_event *event);

/*  Answers if the change has come true, by whomever, or is given up. */
void lk_change_run (lk_election *election);

/*  -------------------------------------------------------- settings */

/*  The text that the active decree names; data NULL: there is none, or ... */
lk_name lk_election_settings (const lk_election *election);

/*  ... it is lacking: its file was damaged. */
bool lk_election_lacks_settings (const lk_election *election);

/*  A host has the text of that decree: asks for it if it is lacking here. */
void lk_election_settings_offered (lk_election *election, lk_host from,
                                   const lk_decree *decree);

/*  -------------------------------------------------------- doorway */

/*  Does what time asks for. */
void lk_doorway_run (lk_election *election);

bool lk_doorway_is_busy (const lk_election *election);

/*  More is on disk: goes on if it waited for that. */
void lk_doorway_recorded (lk_election *election);

/*  -------------------------------------------------------- promise */

/*  Takes a decree that is filled as the active one, if it is later than ours,
 *  nothing else is promised or it is in force without us, and it may be learned
 *  from who says it. */
void lk_adopt (lk_election *election, lk_host from, const lk_decree *decree);

/*  -------------------------------------------------------- forget */

/*  Hosts that it needs the numbers of. Of another that number may be given
 *  away: nothing is kept of it then. */
lk_hosts lk_election_needs (const lk_election *election);
void lk_election_forget (lk_election *election, lk_host host);

/*  -------------------------------------------------------- messages */

#define HEARS(kind, function, who, whom) LK_HEARS (lk_election, function)
LK_ELECTION_MESSAGES (HEARS)
#undef HEARS

/*  Asserts what must be so between two steps; `all`: of each ticket or request,
 *  too. */
void lk_election_check (const lk_election *election, bool all);

#endif
