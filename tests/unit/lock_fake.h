/*  lock_fake.h - a bus and a core that are scripted, around the lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defines lk_bus_* and lk_node_* itself, so that those of the library and of
 *  the core are not linked: events are noted, effects are what a test put
 *  there, and what is sent is kept. For one test program each.
 */

#ifndef LK_LOCK_FAKE_H
#define LK_LOCK_FAKE_H

#include "in.h"
#include "lockd.h"
#include "look.h"
#include "out.h"
#include "settings/keys.h"

#include "bus_fake.h"
#include "lib/suite.h"
#include "net/process.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define ASKED_MAX 16
#define OWN_ID 0x11

/*  Of one user all, but one. */
static int64_t stranger_pid;

bool
lk_process_describe (int64_t pid, lk_process_look *look)
{
    *look = (lk_process_look) {.command = "backup.sh",
                               .arguments = "/bin/sh /opt/backup.sh --full",
                               .uid = pid == stranger_pid ? 1001 : 1000};
    return pid != 0;
}

/*  -------------------------------------------------------- node */

/*  What an application asked for; it is never forgotten. */
typedef struct {
    uint32_t app;
    uint64_t serial;
    lk_asked asked;
} fake_request;

struct lk_node {
    fake_request asked[ASKED_MAX];
    size_t asked_count;
    lk_arena names; /* of what was asked for */
    lk_node_config config;
    lk_event event[EVENTS_MAX];
    lk_lock_kind kind[EVENTS_MAX];
    char reason[LK_REASON_MAX];
    char text[2048]; /* of settings, the last */
    size_t count;
    const lk_node_wait *wait;
    size_t waits;
    const lk_node_own *own;
    size_t owns;
    lk_node_demand demand;
    size_t flushes;       /* steps that are nothing but the end of others */
    size_t placed;        /* steps that say where hosts are, ... */
    lk_places places;     /* ... the last one */
    lk_effect effect[16]; /* of the next step */
    size_t effect_count;
    lk_effect done[16];
    lk_node_status status;
    bool stopped;
    bool drains;  /* was told to, ... */
    bool drained; /* ... and may end */
    bool stays;   /* nobody else may lead */
    size_t tickets;
    const lk_ticket *ticket; /* these, else some */
    lk_hosts in_grace;       /* whose durations are over ... */
    int64_t grace_ms;        /* ... and kept for so long */
    lk_hosts silent;         /* of whom nothing is heard ... */
    lk_node_silence silence; /* ... so */
    lk_node_use use;         /* of any zone */
    lk_hosts idle;           /* it needs none of them, */
    lk_hosts gone;           /* nor hears any of these */
};

static lk_node node;

void
lk_node_config_init (lk_node_config *self)
{
    *self = (lk_node_config) {.leaders_max = 3};
}

lk_node *
lk_node_new (const lk_node_config *config, int64_t now_ms)
{
    (void) now_ms;
    node.config = *config;
    lk_facts facts = config->facts;
    facts.session++;
    node.effect[0] = (lk_effect) {.type = LK_DO_PERSIST, .facts = facts};
    node.effect_count = 1;
    return &node;
}

void
lk_node_destroy (lk_node **self_p)
{
    *self_p = NULL;
}

static inline fake_request *
find_asked (uint32_t app, uint64_t serial)
{
    for (size_t i = 0; i < node.asked_count; i++) {
        if (node.asked[i].app == app && node.asked[i].serial == serial) {
            return &node.asked[i];
        }
    }
    return NULL;
}

static inline lk_name
keep_name (lk_name name)
{
    name.data = lk_arena_dup (&node.names, name.data, name.size);
    return name;
}

static inline void
keep_names (lk_app_request *request)
{
    lk_name *rest =
        lk_arena_alloc (&node.names, (request->rest_count + 1) * sizeof *rest);
    for (size_t i = 0; i < request->rest_count; i++) {
        rest[i] = keep_name (request->rest[i]);
    }
    request->object = keep_name (request->object);
    request->rest = rest;
}

static inline void
note_asked (const lk_event *event)
{
    const lk_app_request *request = &event->request;
    ck_assert_uint_lt (node.asked_count, ASKED_MAX);
    fake_request *noted = &node.asked[node.asked_count++];
    noted->app = request->app;
    noted->serial = request->serial;
    noted->asked = (lk_asked) {.asks = event->type,
                               .object = request->object,
                               .rest = request->rest,
                               .rest_count = request->rest_count,
                               .listed = request->listed,
                               .is_static = request->mode.is_static,
                               .pid = request->pid,
                               .course.asked_ms = event->now_ms};
}

static inline void
hear_app (const lk_event *event)
{
    const lk_app_request *request = &event->request;
    fake_request *noted = find_asked (request->app, request->serial);
    bool asks = event->type == LK_ON_LOCK || event->type == LK_ON_UNLOCK_BY_KEY
                || event->type == LK_ON_FORCE || event->type == LK_ON_CHECK;
    if (asks && !noted) {
        note_asked (event);
    } else if (event->type == LK_ON_UNLOCK && noted) {
        noted->asked.unlock = request->unlock;
    }
}

bool
lk_node_has_request (const lk_node *self, uint32_t app, uint64_t serial)
{
    ck_assert_ptr_eq (self, &node);
    return find_asked (app, serial) != NULL;
}

void
lk_node_each_asked (const lk_node *self, uint32_t app, lk_asked_visit *visit,
                    void *context)
{
    for (size_t i = 0; i < self->asked_count; i++) {
        if (self->asked[i].app == app) {
            visit (context, &self->asked[i].asked);
        }
    }
}

void
lk_node_step (lk_node *self, const lk_event *event, lk_effects *effects)
{
    ck_assert_uint_lt (self->count, EVENTS_MAX);
    ck_assert_int_eq (event->now_ms, bus.now_ms);
    ck_assert (event->more == (event->type != LK_ON_FLUSH));
    if (event->type == LK_ON_FLUSH) {
        self->flushes++;
        *effects = (lk_effects) {NULL, 0};
        return;
    }
    if (event->type == LK_ON_PLACES) {
        self->placed++;
        self->places = *event->places;
        *effects = (lk_effects) {NULL, 0};
        return;
    }
    if (event->message) {
        self->kind[self->count] = event->message->kind;
    }
    lk_event *noted = &self->event[self->count++];
    *noted = *event;
    keep_names (&noted->request);
    if (event->type == LK_ON_DRAIN) {
        self->drains = event->add;
    }
    self->stopped |= event->type == LK_ON_HALT;
    if (event->settings.data) { /* so are they */
        ck_assert_uint_lt (event->settings.size, sizeof self->text);
        memcpy (self->text, event->settings.data, event->settings.size);
        self->text[event->settings.size] = '\0';
    }
    hear_app (noted);
    if (event->request.reason.size > 0) { /* it is the message's */
        memcpy (self->reason, event->request.reason.data,
                event->request.reason.size);
        noted->request.reason.data = self->reason;
    }
    memcpy (self->done, self->effect, sizeof self->done);
    *effects = (lk_effects) {self->done, self->effect_count};
    self->effect_count = 0;
}

bool
lk_node_is_stopped (const lk_node *self)
{
    return self->stopped;
}

bool
lk_node_is_drained (const lk_node *self)
{
    return self->drained;
}

bool
lk_node_may_leave (const lk_node *self)
{
    return !self->stays;
}

bool
lk_node_drains (const lk_node *self)
{
    return self->drains;
}

bool
lk_node_may_lead (const lk_node *self)
{
    return self->config.eligible && !self->drains;
}

int64_t
lk_node_deadline (const lk_node *self)
{
    (void) self;
    return bus.now_ms + 250;
}

void
lk_node_get_status (lk_node *self, lk_node_status *status)
{
    *status = self->status;
    status->phase = status->phase ? status->phase : "booting";
}

bool
lk_node_next_ticket (lk_node *self, size_t *cursor, lk_ticket *ticket)
{
    if (*cursor >= self->tickets) {
        return false;
    }
    if (self->ticket) {
        *ticket = self->ticket[(*cursor)++];
        return true;
    }
    *ticket = (lk_ticket) {.request = {0, 3, *cursor + 1},
                           .object = {"\0\0o", 3},
                           .owner = {"a@h1", 4},
                           .pid = 77,
                           .token = *cursor ? 0 : 0x500000001,
                           .age_ms = 1500};
    (*cursor)++;
    return true;
}

bool
lk_node_next_ticket_in (lk_node *self, const char *zone, size_t *cursor,
                        lk_ticket *ticket)
{
    while (lk_node_next_ticket (self, cursor, ticket)) {
        if (strcmp (ticket->object.data, zone) == 0) {
            return true;
        }
    }
    return false;
}

bool
lk_node_next_ticket_of (lk_node *self, lk_name object, size_t *cursor,
                        lk_ticket *ticket)
{
    while (lk_node_next_ticket (self, cursor, ticket)) {
        if (ticket->object.size == object.size
            && memcmp (ticket->object.data, object.data, object.size) == 0) {
            return true;
        }
    }
    return false;
}

bool
lk_node_next_wait (const lk_node *self, const void **place, lk_node_wait *wait)
{
    const lk_node_wait *next = *place;
    next = next ? next + 1 : self->wait;
    if (!self->wait || next == self->wait + self->waits) {
        return false;
    }
    *place = next;
    *wait = *next;
    return true;
}

bool
lk_node_next_own (const lk_node *self, const void **place, lk_node_own *own)
{
    const lk_node_own *next = *place;
    next = next ? next + 1 : self->own;
    if (!self->own || next == self->own + self->owns) {
        return false;
    }
    *place = next;
    *own = *next;
    return true;
}

bool
lk_node_find_demand (const lk_node *self, uint64_t serial,
                     lk_node_demand *demand)
{
    *demand = self->demand;
    return serial == self->demand.app_serial;
}

lk_node_use
lk_node_find_use (const lk_node *self, const char *zone)
{
    ck_assert_ptr_nonnull (zone);
    return self->use;
}

int64_t
lk_node_ticket_left (const lk_node *self, lk_request_id request)
{
    for (size_t i = 0; self->ticket && i < self->tickets; i++) {
        const lk_ticket *ticket = &self->ticket[i];
        if (ticket->request.host == request.host
            && ticket->request.session == request.session
            && ticket->request.serial == request.serial && ticket->token
            && ticket->duration_ms) {
            return (self->in_grace & LK_HOST_BIT (request.host))
                       ? 0
                       : ticket->duration_ms - 1;
        }
    }
    return -1;
}

int64_t
lk_node_ticket_grace (const lk_node *self, lk_request_id request)
{
    return lk_node_ticket_left (self, request) == 0 ? self->grace_ms : -1;
}

bool
lk_node_find_silence (const lk_node *self, lk_host host, uint64_t session,
                      lk_node_silence *silence)
{
    *silence = self->silence;
    (void) session;
    return (self->silent & LK_HOST_BIT (host)) != 0;
}

lk_host
lk_node_find_spare (const lk_node *self, lk_hosts among, bool urgent)
{
    const lk_hosts spare = among & (urgent ? self->idle : self->gone);
    return spare ? (lk_host) __builtin_ctzll (spare) : LK_NOBODY;
}

void
lk_node_forget (lk_node *self, lk_host host)
{
    self->idle &= ~LK_HOST_BIT (host);
    self->gone &= ~LK_HOST_BIT (host);
}

static inline void
add_effect (lk_effect effect)
{
    node.effect[node.effect_count++] = effect;
}

static inline void
add_answer (lk_answer_kind kind, uint32_t app, uint64_t serial, lk_err error)
{
    fake_request *noted = find_asked (app, serial);
    add_effect (
        (lk_effect) {.type = LK_DO_TELL,
                     .answer = {.kind = kind,
                                .app = app,
                                .serial = serial,
                                .asked = noted ? noted->asked : (lk_asked) {0},
                                .error = error,
                                .token = 0x100000002,
                                .key = 0xabcdef,
                                .until_ms = INT64_MAX}});
    if (noted && kind == LK_ANSWER_LOCKED) {
        noted->asked.course.granted_ms = bus.now_ms;
        noted->asked.course.token = 0x100000002;
    } else if (noted && kind == LK_ANSWER_UNLOCKED) {
        noted->asked.course = (lk_course) {0};
    }
}

static inline const lk_event *
last_event (lk_event_type type)
{
    ck_assert_uint_gt (node.count, 0);
    const lk_event *event = &node.event[node.count - 1];
    ck_assert_int_eq (event->type, type);
    return event;
}

/*  -------------------------------------------------------- world */

static char dir[64];
static lk_lockd lockd;

static inline void
path_of (char path[128], const char *name)
{
    snprintf (path, 128, "%s/%s", dir, name);
}

static inline void
write_genesis (const char *cluster)
{
    char path[128];
    lk_hostmap hostmap;
    lk_lock_state state = {.id = OWN_ID};
    lk_hostmap_init (&hostmap);
    for (int i = 1; i <= 3; i++) {
        char name[3] = {'h', (char) ('0' + i), '\0'};
        state.genesis |= LK_HOST_BIT (lk_hostmap_intern (&hostmap, name, 0));
    }
    state.facts.active.members = state.genesis;
    snprintf (state.cluster, sizeof state.cluster, "%s", cluster);
    char *text = lk_lock_state_encode (&state, &hostmap);
    path_of (path, "lock.state");
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    ck_assert_int_ge (fputs (text, file), 0);
    ck_assert_int_eq (fclose (file), 0);
    free (text);
}

static inline void
open_lockd (void)
{
    lk_lockd_options options;
    lk_problem problem;
    lk_config *config = lk_config_new (lk_settings);
    ck_assert (!lk_config_set (config, "lock/state", dir, &problem));
    ck_assert (!lk_config_set (config, "lock/run", dir, &problem));
    ck_assert (!lk_lockd_options_read (&options, config, &problem));
    lk_config_destroy (&config);
    lk_lockd_init (&lockd, &options);
    ck_assert (lk_lockd_open (&lockd));
}

static inline void
begin (void)
{
    memset (&bus, 0, sizeof bus);
    memset (&node, 0, sizeof node);
    lk_arena_init (&node.names);
    bus.now_ms = 10000;
    snprintf (dir, sizeof dir, "/tmp/lockd-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
}

static inline void
set_up_fresh (void)
{
    begin ();
    open_lockd ();
}

static inline void
settle (void)
{
    lk_lockd_service.settle (&lockd);
}

static inline void
attach (void)
{
    lk_lockd_service.attach (&lockd, &bus);
    settle ();
}

static inline void
set_up (void)
{
    begin ();
    write_genesis ("blue");
    open_lockd ();
    attach ();
    forget_sent ();
    node.count = 0;
}

static inline void
tear_down (void)
{
    char command[100];
    forget_sent ();
    lk_lockd_clear (&lockd);
    lk_arena_clear (&node.names);
    snprintf (command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq (system (command), 0);
}

/*  -------------------------------------------------------- messages */

static inline lk_message *
new_message (const char *from, const char *command, uint64_t serial)
{
    lk_message *message = lk_message_new ("lock@h1", command);
    lk_message_set_from (message, from);
    lk_message_set_serial (message, serial);
    return message;
}

/*  As it is, whoever says it. */
static inline void
give_any (lk_message *message)
{
    lk_lockd_service.message (&lockd, message);
    lk_message_destroy (&message);
    settle ();
}

/*  As it comes from an admin of another host. */
static inline lk_message *
of_admin (lk_message *message)
{
    char problem[80];
    const char *why;
    lk_bytes frame = {0};
    lk_frame_header header;
    size_t at = 0;
    ck_assert (lk_message_write (message, &frame) == LK_OK);
    ck_assert (lk_frame_next (frame.data, frame.size, &at, &header, &why)
               == LK_FRAME_MESSAGE);
    lk_frame_set_privileged (frame.data, &header, true);
    lk_message_destroy (&message);
    message = lk_message_read (&header, problem, sizeof problem);
    ck_assert_ptr_nonnull (message);
    lk_bytes_clear (&frame);
    return message;
}

/*  By an admin: one of whom the router has said that it is there, or of another
 *  host. */
static inline void
give (lk_message *message)
{
    const char *from = lk_message_from (message);
    lk_app *app =
        strstr (from, "@h1") ? lk_apps_intern (&lockd.apps, from) : NULL;
    if (app) {
        app->attached = lockd.attachment;
    }
    give_any (app ? message : of_admin (message));
}

static inline lk_message *
new_lock (const char *from, uint64_t serial, const char *object)
{
    lk_message *message = new_message (from, "LOCK", serial);
    lk_message_set_text (message, "object", object);
    lk_message_set_number (message, "pid", 77);
    return message;
}

/*  An application asks, and the core heard so; its number. */
static inline uint32_t
ask (const char *from, uint64_t serial, const char *object)
{
    give (new_lock (from, serial, object));
    return last_event (LK_ON_LOCK)->request.app;
}

static inline void
unlock (const char *from, uint64_t serial, uint64_t request)
{
    lk_message *message = new_message (from, "UNLOCK", serial);
    lk_message_set_text (message, "object", "o");
    lk_message_set_number (message, "request", (int64_t) request);
    give (message);
}

static inline void
tick (void)
{
    lk_lockd_service.timer (&lockd);
    settle ();
}

static inline void
report_status (const char *service, const char *status, int pid)
{
    lk_message *event = lk_message_new ("lock@h1", "STATUS");
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "service", service);
    lk_message_set_text (event, "status", status);
    lk_message_set_number (event, "pid", pid);
    lk_lockd_service.event (&lockd, event);
    lk_message_destroy (&event);
}

static inline void
report_host (const char *command, const char *host)
{
    lk_message *event = lk_message_new ("lock@h1", command);
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "host", host);
    lk_lockd_service.event (&lockd, event);
    lk_message_destroy (&event);
}
/*  -------------------------------------------------------- suite */

typedef struct {
    const char *name;
    const TTest *const *test;
    size_t count;
    void (*set_up) (void);
} group;

#define GROUP(name, tests, set_up)                                             \
    {                                                                          \
        name, tests, sizeof tests / sizeof tests[0], set_up                    \
    }

static inline int
run_groups (const char *name, const group *groups, size_t count)
{
    Suite *suite = suite_create (name);
    for (size_t i = 0; i < count; i++) {
        TCase *tcase = tcase_create (groups[i].name);
        tcase_add_checked_fixture (tcase, groups[i].set_up, tear_down);
        for (size_t j = 0; j < groups[i].count; j++) {
            tcase_add_test (tcase, groups[i].test[j]);
        }
        suite_add_tcase (suite, tcase);
    }
    return lk_suite_run (suite);
}

#endif
