/*  resume.h - a lock goes on when its host's lock service was restarted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The application says to the new lock service what it holds, which asks the
 *  home to have the ticket go over into its own session. This is the home's
 *  part; the proxy's is in requests.c and answers.c. lockkeeper-protocol(7),
 *  9.13.
 */

#ifndef LK_RESUME_H
#define LK_RESUME_H

#include "home.h"

/*  Whether who asks is the holder itself, in a later session of its host: there
 *  is nobody else to be asked. */
bool lk_resume_is_own (const lk_ticket *held, const lk_ticket *asking);

/*  What it holds of a former session with that key; NULL: nothing. */
lk_entry *lk_resume_find (const lk_leader *lead, const lk_msg_request *request);

/*  The ticket goes over to this LOCK, or that is refused. */
void lk_resume_order (lk_leader *lead, const lk_msg_request *request);

/*  A ticket that its application waited with, in a former session of its host,
 *  goes over to this LOCK, in its place; false: there is none. */
bool lk_resume_place (lk_leader *lead, const lk_msg_request *request);

#endif
