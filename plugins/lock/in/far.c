/*  far.c - applications on other machines: which registration is meant
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The router says by which key such a one came, and we say by that who it is:
 *  what it asks for is of a registration, which is an application of its own to
 *  the core. lockkeeper-protocol(7), 9.20.
 */

#include "far.h"
#include "out.h"
#include "quota.h"
#include "rights.h"
#include "text_hash.h"

#include "util/bytes.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <string.h>

bool
lk_lockd_is_far (const lk_message *message)
{
    return lk_address_is_far (lk_slice_of (lk_message_from (message)));
}

/*  -------------------------------------------------------- answers */

/*  To one that the core does not know. */
static void
answer (lk_lockd *self, const lk_ask *ask, const char *command)
{
    const lk_registered *id = &ask->core.far;
    lk_message *message = lk_message_reply (ask->message, command);
    lk_message_set_number (message, "registration", (int64_t) id->number);
    if (id->drawn != 0) {
        lk_message_set_hex (message, "drawn", id->drawn);
    }
    (void) lk_lockd_send (self, message);
}

/*  -------------------------------------------------------- who it is */

/*  Nobody can have the owner of another one without its key and its secret; in
 *  another zone nobody at all. */
static void
name_owner (const lk_app *session, const lk_ask *ask, uint64_t owner[2])
{
    char text[LK_APP_KEY_SIZE - 1 + 2 * sizeof (uint64_t) + LK_HOST_LEN_MAX];
    const size_t size = LK_APP_KEY_SIZE - 1;
    const size_t ahead = size + 2 * sizeof (uint64_t);
    const size_t zone_len = strlen (session->who.zone);
    memcpy (text, session->key, size);
    lk_bytes_put64 (text + size, ask->secret[0]);
    lk_bytes_put64 (text + size + sizeof (uint64_t), ask->secret[1]);
    memcpy (text + ahead, session->who.zone, zone_len);
    lk_text_hash ((lk_name) {text, (uint16_t) (ahead + zone_len)}, owner);
    explicit_bzero (text, sizeof text);
}

lk_app *
lk_lockd_registered (lk_lockd *self, const lk_ask *ask, const lk_app *session)
{
    lk_app *app = lk_apps_registered (&self->apps, session, &ask->core.far);
    if (!app) {
        answer (self, ask, "LOCKUNREGISTERED");
        return NULL;
    }
    lk_lockd_resend (self, app);
    return app;
}

/*  -------------------------------------------------------- registrations */

bool
lk_lockd_register (lk_lockd *self, lk_ask *ask, lk_app *session,
                   lk_event *event)
{
    lk_registered *id = &ask->core.far;
    name_owner (session, ask, id->owner);
    if (!lk_lockd_may_register (self, ask, session)) {
        return false;
    }
    lk_app *app = lk_apps_register (&self->apps, session, id);
    if (!app) {
        answer (self, ask, "LOCKMOVE");
        return false;
    }
    app->far->serial = lk_message_serial (ask->message);
    *event = (lk_event) {.type = LK_ON_REGISTER, .request = ask->core};
    event->request.app = app->number;
    event->request.until_ms = lk_lockd_until (self, &session->who);
    return true;
}

/*  That is said of a registration alone. */
static bool
say (const lk_ask *ask, lk_event_type type, const lk_app *app, lk_event *event)
{
    *event = (lk_event) {.type = type, .request = ask->core};
    event->request.app = app->number;
    event->request.far = app->far->id;
    return true;
}

bool
lk_lockd_lease (lk_lockd *self, lk_ask *ask, lk_app *session, lk_event *event)
{
    lk_app *app = lk_lockd_registered (self, ask, session);
    if (!app) {
        return false;
    }
    app->far->lease = lk_message_serial (ask->message);
    app->far->lease_sent = ask->core.sent;
    app->who = session->who;
    (void) say (ask, LK_ON_LEASE, app, event);
    event->request.until_ms = lk_lockd_until (self, &session->who);
    return true;
}

/*  Nobody waits for an answer. */
bool
lk_lockd_goodbye (lk_lockd *self, lk_ask *ask, lk_app *session, lk_event *event)
{
    const lk_app *app =
        lk_apps_registered (&self->apps, session, &ask->core.far);
    if (!app) {
        return false;
    }
    lk_lockd_note_end (self, app);
    return say (ask, LK_ON_GOODBYE, app, event);
}

/*  A registration that the core did not take is none, and one that it ended is
 *  over. */
void
lk_lockd_settle_registration (lk_lockd *self, const lk_event *event)
{
    const uint32_t number = event->request.app;
    if (event->type == LK_ON_REGISTER) {
        lk_apps_drop_unready (&self->apps, number);
    } else if (event->type == LK_ON_GOODBYE) {
        lk_app *app = lk_apps_by_number (&self->apps, number);
        if (app) {
            lk_apps_remove (&self->apps, app);
        }
    }
}
