/*  clients.h - sessions of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody sees such a process end: its session does when it is silent, or its
 *  key is withdrawn.
 */

#ifndef LK_CLIENTS_H
#define LK_CLIENTS_H

#include "router.h"

/*  CLIENTKEYS: which keys the settings have. */
void lk_clients_on_keys (lk_router *self, const lk_source *source,
                         const lk_message *message);

/*  Whose session that connection has, which is heard; NULL: nobody's. One that
 *  has another key is not that of before, whose session ends. */
lk_local *lk_clients_session (lk_router *self, const lk_identity *identity);

/*  Ends the sessions that are silent, or whose credential ended a while ago. */
void lk_clients_work (lk_router *self);

#endif
