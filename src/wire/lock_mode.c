/*  lock_mode.c - how a lock is wanted or held: the fields of a message
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/lock_mode.h"

#include "wire/message_frame.h"

void
lk_lock_mode_set (lk_message *message, const lk_lock_mode *mode)
{
    lk_message_set_text (message, "type", lk_lock_type_words[mode->type]);
    if (mode->soft) {
        lk_message_set_text (message, "policy", "soft");
    }
    lk_message_set_any (message, "quiet", mode->quiet_ms);
    lk_message_set_any (message, "limit", mode->limit);
    lk_message_set_any (message, "bound", mode->bound);
    lk_message_set_true (message, "lenient", mode->lenient);
    lk_message_set_true (message, "static", mode->is_static);
}
