/*  look.h - what people and the service manager can see
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each answers its question, from whatever host it comes.
 *
 *      status.c   LOCKSTATUS;  zone_status.c  that of a zone
 *      list.c     LOCKLIST, LOCKOWNERS
 *      history.c  LOCKHISTORY
 *      top.c      LOCKTOP
 *      relay.c    what a zone asks, of other hosts
 *      relayed.c  ... and what those ask this one
 *      alerts.c   LOCKALERT
 *      manager.c  what the service manager hears
 */

#ifndef LK_LOOK_H
#define LK_LOOK_H

#include "keep.h"

/*  Why locks cannot be had, as a zone may know. */
#define LK_LOCKD_NOT_NOW "locks cannot be had just now"

/*  The present state, as an answer to `request` of `view` or, if these are
 *  NULL, to everybody on this host who wants to know. */
void lk_lockd_tell_status (lk_lockd *self, const lk_message *request,
                           const lk_view *view);

/*  Adds what a zone uses and may have. */
void lk_lockd_add_use (const lk_lockd *self, lk_message *message,
                       const char *zone);

/*  Adds what zones use and may have, if that is a local admin's view. */
void lk_lockd_add_zones (const lk_lockd *self, lk_message *message,
                         const lk_view *view);

/*  Answers questions; that of the status as its asker's zone may know it. */
void lk_lockd_answer_status (lk_lockd *self, const lk_message *request,
                             const lk_view *view);
void lk_lockd_tell_list (lk_lockd *self, const lk_message *request,
                         const lk_view *view);
void lk_lockd_tell_owners (lk_lockd *self, const lk_message *request,
                           const lk_view *view);
void lk_lockd_tell_history (lk_lockd *self, const lk_message *request,
                            const lk_view *view);
void lk_lockd_tell_top (lk_lockd *self, const lk_message *request,
                        const lk_view *view);

/*  For how long it has been ready, or not. */
int64_t lk_lockd_ready_for (const lk_lockd *self, bool ready);

/*  Lists the names of a decree's leaders in the field "leaders". */
void lk_lockd_add_leaders (const lk_lockd *self, lk_message *message,
                           const lk_decree *decree);

/*  A leader's table was wrong: for the log, LOCKSTATUS and who has subscribed
 *  to LOCKALERT. */
void lk_lockd_alert (lk_lockd *self, const lk_effect *effect);

/*  -------------------------------------------------------- its manager */

/*  The service manager that started us hears that we have a router, that we
 *  are alive (if that is due), that we end, and what the state is. */
void lk_lockd_say_ready (lk_lockd *self);
void lk_lockd_say_alive (lk_lockd *self);
void lk_lockd_say_stopping (const lk_lockd *self, bool for_good);
void lk_lockd_say_status (const lk_lockd *self, const lk_node_status *status);

#endif
