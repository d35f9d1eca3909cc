/*  desk.c - where clients are served: the shell of the daemon, without sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "desk.h"

#include "audit.h"
#include "client/queues.h"
#include "draining.h"
#include "edits.h"
#include "in.h"
#include "lib/settings_text.h"
#include "lockd.h"
#include "look.h"
#include "members.h"
#include "net/lease_page.h"
#include "net/log.h"
#include "out.h"
#include "quota.h"
#include "recover.h"
#include "text_hash.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NUMBER ((uint32_t) 1 << 30) /* as the core knows clients */
#define PAGES 256                         /* of a host, one per process */

struct lk_lease_page {
    uint64_t session;
    int64_t until_ms;
};

struct lk_bus {
    sim_world *world;
    uint8_t host;
};

struct sim_desk {
    lk_lockd lockd;
    lk_bus bus;
    lk_message_queue inbox;
};

static lk_lease_page pages[SIM_HOSTS_MAX][PAGES];

/*  -------------------------------------------------------- the net */

lk_err
lk_bus_send (lk_bus *self, lk_message **message_p)
{
    sim_client_deliver (self->world, self->host, *message_p);
    *message_p = NULL;
    return LK_OK;
}

int64_t
lk_bus_now (const lk_bus *self)
{
    return sim_host_clock (self->world, self->host);
}

void
lk_bus_stop (lk_bus *self, int exit_code)
{
    sim_checker_fail (&self->world->checker, "the desk of h%d stops with %d",
                      self->host, exit_code);
}

void
lk_lease_page_set (lk_lease_page *self, uint64_t session, int64_t until_ms)
{
    *self = (lk_lease_page) {.session = session, .until_ms = until_ms};
}

/*  A view is the page itself. */
lk_lease_view *
lk_lease_view_new (const char *path, lk_problem *problem)
{
    unsigned host, process;

    (void) problem;
    if (sscanf (path, "%u.%u", &host, &process) != 2 || host >= SIM_HOSTS_MAX) {
        return NULL;
    }
    return (lk_lease_view *) &pages[host][process % PAGES];
}

void
lk_lease_view_destroy (lk_lease_view **self_p)
{
    *self_p = NULL;
}

int64_t
lk_lease_view_until (const lk_lease_view *self, uint64_t session)
{
    const lk_lease_page *page = (const lk_lease_page *) self;

    return page->session == session ? page->until_ms : 0;
}

lk_log_level
lk_log_get_level (void)
{
    return LK_LOG_ERROR;
}

void
lk_log_write (lk_log_level level, const char *format, ...)
{
    (void) level;
    (void) format;
}

/*  -------------------------------------------------------- the daemon */

static void
step (lk_lockd *self, lk_event *event)
{
    if (event->type == LK_ON_LOCK) {
        event->request.pid = (uint32_t) event->request.serial;
    }
    sim_host_step (self->bus->world, self->bus->host, event);
}

/*  What the simulator carries out itself. */
bool
lk_lockd_persist (lk_lockd *self)
{
    LK_ASSERT (!self);
    return false;
}

bool
lk_texts_keep (lk_texts *self, lk_settings_id id, lk_name text,
               lk_settings_id active)
{
    (void) id;
    (void) text;
    (void) active;
    LK_ASSERT (!self);
    return false;
}

void
lk_lockd_record (lk_lockd *self, const lk_record *record)
{
    (void) record;
    LK_ASSERT (!self);
}

void
lk_texts_adopt (lk_texts *self, lk_settings_id id, int64_t now_s)
{
    (void) id;
    (void) now_s;
    LK_ASSERT (!self);
}

void
lk_lockd_send_to_peer (lk_lockd *self, const lk_lock_message *message)
{
    (void) self;
    LK_ASSERT (!message);
}

void
lk_lockd_alert (lk_lockd *self, const lk_effect *effect)
{
    (void) self;
    LK_ASSERT (!effect);
}

void
lk_lockd_tell_status (lk_lockd *self, const lk_message *request,
                      const lk_view *view)
{
    (void) self;
    (void) view;
    LK_ASSERT (!request);
}

void
lk_lockd_watch_hosts (lk_lockd *self)
{
    (void) self;
}

void
lk_lockd_get_status (const lk_lockd *self, lk_node_status *status)
{
    (void) self;
    LK_ASSERT (!status);
}

void
lk_lockd_describe_wait (const lk_lockd *self, const lk_node_status *status,
                        char *reason, size_t size)
{
    (void) self;
    (void) status;
    (void) size;
    LK_ASSERT (!reason);
}

void
lk_lockd_tell_list (lk_lockd *self, const lk_message *request,
                    const lk_view *view)
{
    (void) self;
    (void) view;
    LK_ASSERT (!request);
}

bool
lk_lockd_ask_members (lk_lockd *self, const lk_message *request,
                      lk_event *event)
{
    (void) self;
    (void) event;
    LK_ASSERT (!request);
    return false;
}

bool
lk_lockd_ask_drain (lk_lockd *self, const lk_message *request,
                    const lk_view *view, lk_event *event)
{
    (void) self;
    (void) view;
    (void) event;
    LK_ASSERT (!request);
    return false;
}

void
lk_lockd_recover (lk_lockd *self, const lk_message *request)
{
    (void) self;
    LK_ASSERT (!request);
}

bool
lk_lockd_ask_settings (lk_lockd *self, const lk_message *request,
                       const lk_view *view, lk_event *event, char **text)
{
    (void) self;
    (void) view;
    (void) event;
    (void) text;
    LK_ASSERT (!request);
    return false;
}

void
lk_lockd_tell_owners (lk_lockd *self, const lk_message *request,
                      const lk_view *view)
{
    (void) self;
    (void) view;
    LK_ASSERT (!request);
}

void
lk_lockd_tell_history (lk_lockd *self, const lk_message *request,
                       const lk_view *view)
{
    (void) self;
    (void) view;
    LK_ASSERT (!request);
}

void
lk_lockd_tell_top (lk_lockd *self, const lk_message *request,
                   const lk_view *view)
{
    (void) self;
    (void) view;
    LK_ASSERT (!request);
}

void
lk_lockd_answer_status (lk_lockd *self, const lk_message *request,
                        const lk_view *view)
{
    (void) self;
    (void) view;
    LK_ASSERT (!request);
}

/*  Zones have no limits here, nobody is refused. */
bool
lk_lockd_may_ask (lk_lockd *self, const lk_message *message, const lk_who *who)
{
    LK_ASSERT (self && message);
    return who->zone[0] == '\0';
}

bool
lk_lockd_may_lock (lk_lockd *self, const lk_ask *ask, const lk_app *app)
{
    LK_ASSERT (self && ask);
    return app->who.zone[0] == '\0';
}

bool
lk_lockd_may_register (lk_lockd *self, const lk_ask *ask, const lk_app *session)
{
    LK_ASSERT (self && ask);
    return session->who.zone[0] == '\0';
}

void
lk_lockd_audit (lk_lockd *self, const char *deed, const lk_who *who,
                const char *from, const char *what)
{
    LK_ASSERT (self && deed && who && from && what);
}

void
lk_lockd_audit_settings (lk_lockd *self, const lk_message *message,
                         const lk_view *view)
{
    (void) self;
    (void) message;
    (void) view;
}

void
lk_lockd_audit_members (lk_lockd *self, const lk_message *message,
                        const lk_view *view)
{
    (void) self;
    (void) message;
    (void) view;
}

void
lk_lockd_audit_refusal (lk_lockd *self, const lk_message *message,
                        const lk_who *who, const char *why)
{
    (void) self;
    (void) message;
    (void) who;
    LK_ASSERT (!why);
}

/*  What is noted for people. */
void
lk_lockd_note_answer (lk_lockd *self, const lk_app *app,
                      const lk_answer *answer)
{
    (void) self;
    LK_ASSERT (app && answer);
}

void
lk_lockd_note_force (lk_lockd *self, const lk_app *app,
                     const lk_app_request *asked)
{
    (void) self;
    LK_ASSERT (app && asked);
}

void
lk_lockd_note_end (lk_lockd *self, const lk_app *app)
{
    (void) self;
    LK_ASSERT (app);
}

/*  Applications on other machines come another way here: remote_mail.c. */
void
lk_text_hash (lk_name text, uint64_t hash[2])
{
    lk_test_hash_text (text, hash);
}

void
lk_lockd_note_silent (lk_lockd *self, const lk_answer *answer)
{
    (void) self;
    LK_ASSERT (answer);
}

void
lk_lockd_note_dropped (lk_lockd *self, const lk_ticket *ticket)
{
    (void) self;
    LK_ASSERT (ticket);
}

void
lk_lockd_changed (lk_lockd *self, lk_err error, const char *text)
{
    (void) self;
    (void) error;
    LK_ASSERT (!text);
}

/*  -------------------------------------------------------- the desk */

void
sim_desk_open (sim_world *world, uint8_t host)
{
    sim_desk *self = world->desk[host];
    uint32_t process = world->checker.service[host].process;

    if (!self) {
        self = world->desk[host] = lk_alloc (sizeof *self);
    }
    memset (&self->lockd, 0, sizeof self->lockd);
    self->bus = (lk_bus) {.world = world, .host = host};
    self->lockd.bus = &self->bus;
    self->lockd.attached = true;
    self->lockd.attachment = 1;
    self->lockd.page = &pages[host][process % PAGES];
    *self->lockd.page = (lk_lease_page) {.session = 0};
    snprintf (self->lockd.page_path, sizeof self->lockd.page_path, "%u.%u",
              host, process);
    lk_apps_init (&self->lockd.apps);
    self->lockd.apps.last_number = FIRST_NUMBER;
    for (unsigned other = 0; other < SIM_HOSTS_MAX; other++) {
        char name[8];
        snprintf (name, sizeof name, "h%u", other);
        (void) lk_hostmap_intern (&self->lockd.hostmap, name, other + 1);
    }
}

void
sim_desk_close (sim_world *world, uint8_t host)
{
    sim_desk *self = world->desk[host];
    lk_message *message;

    if (!self) {
        return;
    }
    while ((message = lk_message_queue_take (&self->inbox))) {
        lk_message_destroy (&message);
    }
    lk_apps_clear (&self->lockd.apps);
    lk_apps_init (&self->lockd.apps);
}

void
sim_desk_send (sim_world *world, uint8_t host, const char *client,
               lk_message *message)
{
    sim_desk *self = world->desk[host];

    if (!message) {
        message = lk_message_new ("lock@.", "GONE");
    }
    lk_message_set_from (message, client);
    if (!sim_host_is_up (world, host)) {
        lk_message_destroy (&message);
        return;
    }
    lk_message_queue_add (&self->inbox, message);
    sim_post (world, world->now, SIM_EVENT_DESK, host, 0);
}

/*  As plugins/lock/shell.c does when a process ended. */
static void
end_app (sim_desk *self, const char *address)
{
    lk_app *app = lk_apps_find (&self->lockd.apps, address);
    lk_event event = {.type = LK_ON_APP_GONE};

    if (app) {
        bool known = app->asked;
        event.request.app = app->number;
        lk_apps_remove (&self->lockd.apps, app);
        if (known) {
            step (&self->lockd, &event);
        }
    }
}

/*  A request, ahead of which the router has told that its sender is there. */
static void
take_request (sim_desk *self, const lk_message *message)
{
    lk_app *app = lk_apps_intern (&self->lockd.apps, lk_message_from (message));
    app->attached = self->lockd.attachment;
    self->lockd.node = self->bus.world->base.node[self->bus.host];
    lk_input input;
    if (lk_lockd_from_app (&self->lockd, message, true, &input)) {
        step (&self->lockd, &input.event);
    }
    lk_input_clear (&input);
}

void
sim_desk_arrive (sim_world *world, uint8_t host)
{
    sim_desk *self = world->desk[host];
    lk_message *message;

    if (sim_host_is_paused (world, host)) {
        sim_post (world, world->host[host].paused_until, SIM_EVENT_DESK, host,
                  0);
        return;
    }
    /*  The service may end in the midst of it. */
    while (sim_host_is_up (world, host)
           && (message = lk_message_queue_take (&self->inbox))) {
        if (lk_message_is (message, "GONE")) {
            end_app (self, lk_message_from (message));
        } else {
            take_request (self, message);
        }
        lk_message_destroy (&message);
    }
}

bool
sim_desk_carry_out (sim_world *world, uint8_t host, const lk_effect *effect)
{
    lk_effects effects = {effect, 1};

    if (effect->type == LK_DO_TELL
        && (effect->answer.app < FIRST_NUMBER
            || effect->answer.app == UINT32_MAX)) {
        return false;
    }
    lk_lockd_carry_out (&world->desk[host]->lockd, &effects);
    return true;
}

void
sim_desks_clear (sim_world *world)
{
    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        sim_desk_close (world, host);
        lk_free (world->desk[host]);
        world->desk[host] = NULL;
    }
}
