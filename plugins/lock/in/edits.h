/*  edits.h - the cluster's settings, and changes of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_EDITS_H
#define LK_EDITS_H

#include "keep.h"

#include "net/problem.h"

/*  LOCKSETTINGS: answers it at once, or when the change that it asks for is
 *  made; true: give the core the event, which borrows from `text`, the
 *  caller's (lk_free). `view` is who asks; NULL: a lock service. */
bool lk_lockd_ask_settings (lk_lockd *self, const lk_message *request,
                            const lk_view *view, lk_event *event, char **text);

/*  Says in the log who asks for that, and what it changes; nothing if it asks
 *  for no change, or is the last one said again. audit_change.c. */
void lk_lockd_audit_settings (lk_lockd *self, const lk_message *message,
                              const lk_view *view);
void lk_lockd_audit_members (lk_lockd *self, const lk_message *message,
                             const lk_view *view);

/*  Puts into a question which version was edited. */
void lk_lockd_set_base (lk_message *message, lk_settings_id id);

/*  Why that text cannot be taken from who asks; NULL: it can. In `problem`, or
 *  static. edit_rules.c. */
const char *lk_lockd_find_fault (const lk_lockd *self,
                                 const lk_demand_change *demand,
                                 const lk_node_status *status, const char *text,
                                 lk_problem *problem);

/*  The core has made that change, or says why not. */
void lk_lockd_edited (lk_lockd *self, const lk_demand_change *demand,
                      lk_err error, const char *text);

#endif
