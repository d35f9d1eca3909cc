/*  out.h - what a lock service says to the bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      send.c       a message, a refusal
 *      introduce.c  who we are, for other lock services and the router
 *      replies.c    what applications are told
 */

#ifndef LK_OUT_H
#define LK_OUT_H

#include "keep.h"

/*  Sends and destroys; false: the bus did not take it. */
bool lk_lockd_send (lk_lockd *self, lk_message *message);

/*  Answers LOCKFAILED, with a sentence. A change of type that is refused leaves
 *  the lock as it was, so that its number goes along. */
void lk_lockd_fail (lk_lockd *self, const lk_message *request, lk_err error,
                    const char *text);

/*  The same of LK_OVERLOADED, by the limit of a zone: its name. */
void lk_lockd_fail_limit (lk_lockd *self, const lk_message *request,
                          const char *limit, const char *text);

/*  A sentence as that application may read it: hosts are no concern of a zone.
 *  One that is in no table (NULL) may read all. */
const char *lk_lockd_mask_text (const lk_app *app, lk_err error,
                                const char *text);

/*  To whoever asked last for that change, with the serial of that question. */
lk_message *lk_lockd_new_answer (const lk_demand_change *demand,
                                 const char *command);

/*  A text of up to LK_REASON_MAX bytes; one that is empty or longer is left
 *  out. */
void lk_lockd_set_text (lk_message *message, const char *field, lk_name text);

/*  -------------------------------------------------------- lock services */

/*  What the core says to another one. */
void lk_lockd_send_to_peer (lk_lockd *self, const lk_lock_message *message);

/*  LOCKSTARTED to the lock service of `host`, "*" for all. */
void lk_lockd_announce (lk_lockd *self, const char *host);

/*  REFUSE: it is not of our cluster. */
void lk_lockd_refuse (lk_lockd *self, const char *host, const char *problem);

/*  The router is told which cluster that is, for who wants to join it, and
 *  whether others serve in place of this host. */
void lk_lockd_tell_cluster (lk_lockd *self);

/*  -------------------------------------------------------- applications */

/*  Tells an application what the core answers. */
void lk_lockd_tell (lk_lockd *self, const lk_answer *answer);

/*  Answers to an application that the bus did not take, again. */
void lk_lockd_resend (lk_lockd *self, lk_app *app);

#endif
