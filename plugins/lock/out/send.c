/*  send.c - a message of our own to the bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "out.h"

#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <lockkeeper/lockkeeper.h>

#include <string.h>

bool
lk_lockd_send (lk_lockd *self, lk_message *message)
{
    bool sent = self->attached && !self->failed
                && lk_bus_send (self->bus, &message) == LK_OK;
    lk_message_destroy (&message);
    return sent;
}

/*  As it was said. */
static void
copy_registration (const lk_message *request, lk_message *answer)
{
    uint64_t drawn;
    const int64_t number = lk_message_number (request, "registration", 0);
    if (number > 0) {
        lk_message_set_number (answer, "registration", number);
    }
    if (lk_message_hex (request, "drawn", &drawn)) {
        lk_message_set_hex (answer, "drawn", drawn);
    }
}

/*  A change of type that is refused leaves the lock as it was, so that its
 *  number goes along. */
static lk_message *
write_failure (lk_lockd *self, const lk_message *request, lk_err error,
               const char *text)
{
    const lk_app *app = lk_apps_find (&self->apps, lk_message_from (request));
    lk_message *answer = lk_message_reply (request, "LOCKFAILED");
    char room[LK_OBJECT_LEN_MAX];
    lk_name object;
    lk_flaw flaw;
    if (lk_object_get (request, room, &object, &flaw)) {
        lk_object_set (answer, object);
    }
    copy_registration (request, answer);
    const int64_t turn = lk_message_number (request, "turn", 0);
    if (turn > 0) {
        lk_message_set_number (answer, "turn", turn);
    }
    lk_message_set_text (answer, "error", lk_err_word (error));
    lk_message_set_text (answer, "text", lk_lockd_mask_text (app, error, text));
    return answer;
}

void
lk_lockd_fail (lk_lockd *self, const lk_message *request, lk_err error,
               const char *text)
{
    (void) lk_lockd_send (self, write_failure (self, request, error, text));
}

void
lk_lockd_fail_limit (lk_lockd *self, const lk_message *request,
                     const char *limit, const char *text)
{
    lk_message *answer = write_failure (self, request, LK_OVERLOADED, text);
    lk_message_set_text (answer, "limit", limit);
    (void) lk_lockd_send (self, answer);
}

void
lk_lockd_set_text (lk_message *message, const char *field, lk_name text)
{
    char room[LK_REASON_MAX + 1];
    if (text.size > 0 && text.size <= LK_REASON_MAX) {
        memcpy (room, text.data, text.size);
        room[text.size] = '\0';
        lk_message_set_text (message, field, room);
    }
}

lk_message *
lk_lockd_new_answer (const lk_demand_change *demand, const char *command)
{
    lk_message *answer = lk_message_new (demand->asker, command);
    lk_message_set_serial (answer, demand->serial);
    return answer;
}
