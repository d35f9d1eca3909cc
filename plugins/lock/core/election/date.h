/*  date.h - finding a date for an election: who asks, who agrees
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Used by election.c; lockkeeper-protocol(7), 9.5.
 */

#ifndef LK_DATE_H
#define LK_DATE_H

#include "election.h"

/*  How many of the members that it hears go first. */
int lk_date_rank (const lk_election *election);

/*  Asks all members for an election: the pause begins. */
void lk_date_ask (lk_election *election, lk_why reason);

/*  Asks those again who did not agree yet. */
void lk_date_send (lk_election *election);

/*  Notes that a host agrees, to the date in so many ms at the earliest; false
 *  if no date is being asked for. */
bool lk_date_take (lk_election *election, lk_host from, int64_t in_ms);

/*  Whether all members agreed but those that ended or fell silent. */
bool lk_date_all_agreed (const lk_election *election);

/*  An end is known now: whoever knew of it before, and was refused a moment
 *  ago, is agreed with after all. */
void lk_date_reconsider (lk_election *election);

#endif
