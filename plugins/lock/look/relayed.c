/*  relayed.c - questions of zones that other lock services pass on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "relay.h"

#include "look.h"

#include "wire/message_frame.h"

#include <stdio.h>

bool
lk_lockd_is_relayed (const lk_message *message)
{
    return lk_message_is (message, "LOCKLIST")
           || lk_message_is (message, "LOCKHISTORY")
           || lk_message_is (message, "LOCKTOP");
}

/*  It masks itself what it passes on. */
static void
answer_question (lk_lockd *self, const lk_message *message)
{
    const char *zone = lk_message_text (message, "zone");
    const char *user = lk_message_text (message, "user");
    lk_view view = {.who.role = user ? LK_ROLE_USER : LK_ROLE_OPERATOR};
    snprintf (view.zone, sizeof view.zone, "%s", zone ? zone : "");
    snprintf (view.who.user, sizeof view.who.user, "%s", user ? user : "");
    if (lk_message_is (message, "LOCKLIST")) {
        lk_lockd_tell_list (self, message, &view);
    } else if (lk_message_is (message, "LOCKHISTORY")) {
        lk_lockd_tell_history (self, message, &view);
    } else {
        lk_lockd_tell_top (self, message, &view);
    }
}

void
lk_lockd_take_relayed (lk_lockd *self, const char *host,
                       const lk_message *message)
{
    if (lk_message_has (message, "served_by")) {
        lk_lockd_take_relay (self, host, message);
    } else {
        answer_question (self, message);
    }
}
