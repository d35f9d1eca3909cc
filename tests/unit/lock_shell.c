/*  lock_shell.c - the lock service around a core and a bus that are scripted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defines lk_bus_* and lk_node_* itself, so that those of the library and of
 *  the core are not linked: events are noted, effects are what a test put
 *  there, and what is sent is kept.
 */

#include "../../plugins/lock/lockd.h"

#include "wire/message_frame.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SENT_MAX 64
#define EVENTS_MAX 64
#define OWN_ID 0x11

/*  -------------------------------------------------------- bus */

struct lk_bus {
    int64_t now_ms;
    int64_t wake_ms;
    int stopped; /* exit code + 1 */
    lk_err refuses;
    lk_message *sent[SENT_MAX];
    size_t count;
};

static lk_bus bus;

lk_err
lk_bus_send (lk_bus *self, lk_message **message_p)
{
    if (self->refuses) {
        return self->refuses;
    }
    ck_assert_uint_lt (self->count, SENT_MAX);
    self->sent[self->count++] = *message_p;
    *message_p = NULL;
    return LK_OK;
}

void
lk_bus_subscribe (lk_bus *self, const char *command)
{
    (void) self;
    (void) command;
}

const char *
lk_bus_host (const lk_bus *self)
{
    (void) self;
    return "h1";
}

const char *
lk_bus_service (const lk_bus *self)
{
    (void) self;
    return "lock";
}

int64_t
lk_bus_now (const lk_bus *self)
{
    return self->now_ms;
}

void
lk_bus_wake_at (lk_bus *self, int64_t when_ms)
{
    self->wake_ms = when_ms;
}

void
lk_bus_stop (lk_bus *self, int exit_code)
{
    self->stopped = exit_code + 1;
}

static void
forget_sent (void)
{
    for (size_t i = 0; i < bus.count; i++) {
        lk_message_destroy (&bus.sent[i]);
    }
    bus.count = 0;
}

/*  The only message sent since then, which must be that. */
static const lk_message *
only_sent (const char *to, const char *command)
{
    ck_assert_uint_eq (bus.count, 1);
    ck_assert_str_eq (lk_message_to (bus.sent[0]), to);
    ck_assert_str_eq (lk_message_command (bus.sent[0]), command);
    return bus.sent[0];
}

static void
check_text (const lk_message *message, const char *field, const char *text)
{
    ck_assert_ptr_nonnull (lk_message_text (message, field));
    ck_assert_str_eq (lk_message_text (message, field), text);
}

/*  -------------------------------------------------------- node */

struct lk_node {
    lk_node_config config;
    lk_event event[EVENTS_MAX];
    lk_lock_kind kind[EVENTS_MAX];
    size_t count;
    lk_effect effect[16]; /* of the next step */
    size_t effect_count;
    lk_effect done[16];
    lk_node_status status;
    bool serves;
    size_t tickets;
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

void
lk_node_step (lk_node *self, const lk_event *event, lk_effects *effects)
{
    ck_assert_uint_lt (self->count, EVENTS_MAX);
    ck_assert_int_eq (event->now_ms, bus.now_ms);
    if (event->message) {
        self->kind[self->count] = event->message->kind;
    }
    self->event[self->count++] = *event;
    memcpy (self->done, self->effect, sizeof self->done);
    *effects = (lk_effects) {self->done, self->effect_count};
    self->effect_count = 0;
}

int64_t
lk_node_deadline (const lk_node *self)
{
    (void) self;
    return bus.now_ms + 250;
}

void
lk_node_get_status (const lk_node *self, lk_node_status *status)
{
    *status = self->status;
    status->phase = "booting";
}

bool
lk_node_next_ticket (lk_node *self, size_t *cursor, lk_ticket *ticket)
{
    if (*cursor >= self->tickets) {
        return false;
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
lk_node_serves (const lk_node *self)
{
    return self->serves;
}

static void
add_effect (lk_effect effect)
{
    node.effect[node.effect_count++] = effect;
}

static void
add_answer (lk_answer_kind kind, uint32_t app, uint64_t serial, lk_err error)
{
    add_effect ((lk_effect) {.type = LK_DO_TELL,
                             .answer = {.kind = kind,
                                        .app = app,
                                        .serial = serial,
                                        .error = error,
                                        .token = 0x100000002,
                                        .key = 0xabcdef,
                                        .until_ms = INT64_MAX}});
}

static const lk_event *
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

static void
path_of (char path[128], const char *name)
{
    snprintf (path, 128, "%s/%s", dir, name);
}

static void
write_genesis (const char *cluster)
{
    char path[128];
    lk_roster roster;
    lk_lock_state state = {.id = OWN_ID};
    lk_roster_init (&roster);
    for (int i = 1; i <= 3; i++) {
        char name[3] = {'h', (char) ('0' + i), '\0'};
        state.genesis |= LK_HOST_BIT (lk_roster_intern (&roster, name, 0));
    }
    state.facts.active.members = state.genesis;
    strcpy (state.cluster, cluster);
    char *text = lk_lock_state_encode (&state, &roster);
    path_of (path, "lock.state");
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    ck_assert_int_ge (fputs (text, file), 0);
    ck_assert_int_eq (fclose (file), 0);
    free (text);
}

static void
open_lockd (void)
{
    lk_lockd_options options;
    lk_problem problem;
    lk_config *config = lk_lockd_config_new ();
    ck_assert (!lk_config_set (config, "lock/state", dir, &problem));
    ck_assert (!lk_config_set (config, "lock/run", dir, &problem));
    ck_assert (!lk_lockd_options_read (&options, config, &problem));
    lk_config_destroy (&config);
    lk_lockd_init (&lockd, &options);
    ck_assert (lk_lockd_open (&lockd));
}

static void
set_up_fresh (void)
{
    memset (&bus, 0, sizeof bus);
    memset (&node, 0, sizeof node);
    bus.now_ms = 10000;
    strcpy (dir, "/tmp/lockd-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    open_lockd ();
}

static void
attach (void)
{
    lk_lockd_service.attach (&lockd, &bus);
}

static void
set_up (void)
{
    memset (&bus, 0, sizeof bus);
    memset (&node, 0, sizeof node);
    bus.now_ms = 10000;
    strcpy (dir, "/tmp/lockd-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    write_genesis ("blue");
    open_lockd ();
    attach ();
    forget_sent ();
    node.count = 0;
}

static void
tear_down (void)
{
    char command[100];
    forget_sent ();
    lk_lockd_clear (&lockd);
    snprintf (command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq (system (command), 0);
}

/*  -------------------------------------------------------- messages */

static lk_message *
new_message (const char *from, const char *command, uint64_t serial)
{
    lk_message *message = lk_message_new ("lock@h1", command);
    lk_message_set_from (message, from);
    lk_message_set_serial (message, serial);
    return message;
}

static void
give (lk_message *message)
{
    lk_lockd_service.message (&lockd, message);
    lk_message_destroy (&message);
}

static lk_message *
new_lock (const char *from, uint64_t serial, const char *object)
{
    lk_message *message = new_message (from, "LOCK", serial);
    lk_message_set_text (message, "object", object);
    lk_message_set_number (message, "pid", 77);
    return message;
}

/*  An application asks, and the core heard so; its number. */
static uint32_t
ask (const char *from, uint64_t serial, const char *object)
{
    give (new_lock (from, serial, object));
    return last_event (LK_ON_LOCK)->request.app;
}

static void
unlock (const char *from, uint64_t serial, uint64_t request)
{
    lk_message *message = new_message (from, "UNLOCK", serial);
    lk_message_set_text (message, "object", "o");
    lk_message_set_number (message, "request", (int64_t) request);
    give (message);
}

static void
tick (void)
{
    lk_lockd_service.timer (&lockd);
}

static void
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

static void
report_host (const char *command, const char *host)
{
    lk_message *event = lk_message_new ("lock@h1", command);
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "host", host);
    lk_lockd_service.event (&lockd, event);
    lk_message_destroy (&event);
}

/*  -------------------------------------------------------- start */

START_TEST (starts_with_a_genesis)
{
    bus.count = 0;
    ck_assert_uint_eq (lockd.incarnation, 1);
    ck_assert (node.config.member);
    ck_assert (node.config.eligible);
    ck_assert_uint_eq (node.config.id, OWN_ID);
    ck_assert_uint_eq (node.config.candidate.priority, 8);
    ck_assert_uint_lt (node.config.candidate.random, 1u << 28);
    ck_assert_uint_eq (node.config.candidate.pid, (uint32_t) getpid ());
    ck_assert_str_eq (lk_roster_name (&lockd.roster, lockd.self), "h1");
    ck_assert (node.config.facts.active.members & LK_HOST_BIT (lockd.self));
    ck_assert_int_eq (bus.wake_ms, bus.now_ms + 250);
}
END_TEST

START_TEST (greets_when_attached)
{
    lk_lockd_service.detach (&lockd, "router lost");
    attach ();
    ck_assert_uint_ge (bus.count, 1);
    const lk_message *started = bus.sent[0];
    ck_assert_str_eq (lk_message_to (started), "lock@*");
    ck_assert_str_eq (lk_message_command (started), "LOCKSTARTED");
    check_text (started, "cluster", "blue");
    ck_assert_str_eq (lk_message_item (started, "genesis", 0), "h1");
    ck_assert_str_eq (lk_message_item (started, "genesis", 2), "h3");
    uint64_t id;
    ck_assert (lk_message_hex (started, "id", &id));
    ck_assert_uint_eq (id, OWN_ID);
}
END_TEST

START_TEST (starts_without_a_genesis)
{
    attach ();
    ck_assert (!node.config.member);
    ck_assert (!node.config.eligible);
    uint64_t id = lockd.state.id;
    ck_assert_uint_ne (id, 0);
    lk_lockd_clear (&lockd);
    forget_sent ();
    memset (&node, 0, sizeof node);
    open_lockd ();
    attach ();
    ck_assert_uint_eq (lockd.state.id, id);
    ck_assert_uint_eq (node.config.facts.session, 1);
    ck_assert_uint_eq (lockd.incarnation, 2);
}
END_TEST

START_TEST (refuses_a_state_in_use)
{
    lk_lockd second;
    lk_lockd_init (&second, &lockd.options);
    ck_assert (!lk_lockd_open (&second));
    lk_lockd_clear (&second);
}
END_TEST

START_TEST (refuses_a_broken_state)
{
    char path[128];
    lk_lockd_clear (&lockd);
    path_of (path, "lock.state");
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fputs ("{\"id\": 5", file);
    fclose (file);
    lk_lockd_options options = lockd.options;
    lk_lockd_init (&lockd, &options);
    ck_assert (!lk_lockd_open (&lockd));
}
END_TEST

/*  -------------------------------------------------------- effects */

START_TEST (persists_what_follows)
{
    lk_facts facts = {.promised = {7, OWN_ID}, .session = 9};
    facts.active = lockd.state.facts.active;
    add_effect ((lk_effect) {.type = LK_DO_PERSIST, .facts = facts});
    tick ();
    lk_lockd_clear (&lockd);
    open_lockd ();
    ck_assert_uint_eq (lockd.state.facts.promised.number, 7);
    ck_assert_uint_eq (lockd.state.facts.session, 9);
}
END_TEST

START_TEST (ends_if_it_cannot_write)
{
    char command[100];
    snprintf (command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq (system (command), 0);
    uint32_t app = ask ("a@h1", 1, "o");
    add_effect (
        (lk_effect) {.type = LK_DO_PERSIST, .facts = lockd.state.facts});
    add_answer (LK_ANSWER_LOCKED, app, 1, LK_OK);
    tick ();
    ck_assert_int_eq (bus.stopped, 1 + 1);
    ck_assert_uint_eq (bus.count, 0);
    size_t steps = node.count;
    tick ();
    give (new_lock ("a@h1", 2, "o"));
    lk_lockd_service.detach (&lockd, "stop");
    ck_assert_uint_eq (node.count, steps);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

START_TEST (sends_to_peers)
{
    lk_host h2 = lk_roster_find (&lockd.roster, "h2", 0);
    lk_lock_message message = {.kind = LK_MSG_RETIRE,
                               .from = lockd.self,
                               .to = h2,
                               .origin = LK_NOBODY,
                               .destination = LK_NOBODY,
                               .term = {5, OWN_ID}};
    add_effect ((lk_effect) {.type = LK_DO_SEND, .message = &message});
    tick ();
    only_sent ("lock@h2", "RETIRE");
}
END_TEST

START_TEST (publishes_the_lease)
{
    add_effect ((lk_effect) {
        .type = LK_DO_LEASE, .session = 4, .lease_until_ms = 15000});
    tick ();
    uint32_t app = ask ("a@h1", 1, "o");
    add_answer (LK_ANSWER_LOCKED, app, 1, LK_OK);
    tick ();
    const lk_message *locked = only_sent ("a@h1", "LOCKED");
    ck_assert_int_eq (lk_message_number (locked, "session", 0), 4);
    ck_assert_int_eq (lk_message_number (locked, "lease_until", 0), 15000);
    ck_assert_int_eq (access (lk_message_text (locked, "lease_page"), R_OK), 0);
}
END_TEST

/*  -------------------------------------------------------- requests */

START_TEST (takes_a_lock)
{
    lk_message *message = new_lock ("a@h1", 5, "o");
    lk_message_set_text (message, "zone", "z");
    lk_message_set_text (message, "type", "exclusive");
    lk_message_set_number (message, "wait", 100);
    lk_message_set_number (message, "duration", 2000);
    give (message);
    const lk_app_request *request = &last_event (LK_ON_LOCK)->request;
    ck_assert_uint_eq (request->serial, 5);
    ck_assert_uint_eq (request->pid, 77);
    ck_assert_int_eq (request->wait_ms, 100);
    ck_assert_int_eq (request->duration_ms, 2000);
    ck_assert_uint_eq (request->object.size, 4);
    ck_assert_mem_eq (request->object.data, "z\0\0o", 4);
    ck_assert_mem_eq (request->owner.data, "a@h1", request->owner.size);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

START_TEST (repeats_go_to_the_core)
{
    uint32_t app = ask ("a@h1", 5, "o");
    ck_assert_uint_eq (ask ("a@h1", 5, "o"), app);
    ck_assert_uint_eq (node.count, 2);
    ck_assert_uint_ne (ask ("b@h1", 5, "o"), app);
    give (new_lock ("a@h1", 5, "other"));
    ck_assert_uint_eq (node.count, 3);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "invalid");
}
END_TEST

START_TEST (refuses_bad_locks)
{
    for (int i = 0; i < 9; i++) {
        lk_message *message =
            new_lock ("a@h1", i == 0 ? 0 : 5, i == 1 ? "" : "o");
        switch (i) {
        case 2:
            lk_message_set_number (message, "object", 1);
            break;
        case 3:
            lk_message_set_number (message, "wait", -2);
            break;
        case 4:
            lk_message_set_text (message, "wait", "10");
            break;
        case 5:
            lk_message_set_number (message, "duration", -1);
            break;
        case 6:
            lk_message_set_text (message, "type", "shared");
            break;
        case 7:
            lk_message_set_number (message, "pid", -1);
            break;
        case 8:
            lk_message_set_flag (message, "zone", true);
            break;
        default:
            break;
        }
        give (message);
        const lk_message *failed = only_sent ("a@h1", "LOCKFAILED");
        check_text (failed, "error", "invalid");
        ck_assert_ptr_nonnull (lk_message_text (failed, "text"));
        ck_assert_uint_eq (lk_message_serial (failed), i == 0 ? 0 : 5);
        forget_sent ();
    }
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (refuses_long_names)
{
    char name[LK_NAME_SIZE_MAX + 1];
    memset (name, 'x', sizeof name);
    name[4097] = '\0';
    give (new_lock ("a@h1", 1, name));
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "invalid");
    name[4096] = '\0';
    give (new_lock ("a@h1", 1, name));
    ck_assert_uint_eq (last_event (LK_ON_LOCK)->request.object.size, 4098);
}
END_TEST

START_TEST (refuses_too_many)
{
    lockd.apps.requests_max = 1;
    lockd.apps.apps_max = 1;
    (void) ask ("a@h1", 1, "o");
    give (new_lock ("a@h1", 2, "o"));
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "overloaded");
    forget_sent ();
    give (new_lock ("b@h1", 1, "o"));
    check_text (only_sent ("b@h1", "LOCKFAILED"), "error", "overloaded");
    ck_assert_uint_eq (node.count, 1);
}
END_TEST

START_TEST (refuses_other_hosts_and_commands)
{
    give (new_lock ("a@h2", 1, "o"));
    check_text (only_sent ("a@h2", "LOCKFAILED"), "error", "invalid");
    forget_sent ();
    give (new_message ("a@h1", "VOTE", 4));
    check_text (only_sent ("a@h1", "UNKNOWN"), "command", "VOTE");
    forget_sent ();
    give (new_message ("a@h1", "UNKNOWN", 4));
    give (new_message ("a@h1", "INVALID", 4));
    give (new_message ("lock@h1", "VOTE", 4));
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (tells_what_was_asked_for)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_LOCKED, app, 4, LK_OK);
    node.effect[0].answer.until_ms = bus.now_ms + 500;
    tick ();
    const lk_message *locked = only_sent ("a@h1", "LOCKED");
    uint64_t number;
    ck_assert_uint_eq (lk_message_serial (locked), 4);
    check_text (locked, "object", "o");
    ck_assert (lk_message_hex (locked, "token", &number));
    ck_assert_uint_eq (number, 0x100000002);
    ck_assert (lk_message_hex (locked, "key", &number));
    ck_assert_uint_eq (number, 0xabcdef);
    ck_assert_int_eq (lk_message_number (locked, "left", 0), 500);
    ck_assert_int_eq (lk_message_number (locked, "until", 0), 10500);
    forget_sent ();
    unlock ("a@h1", 6, 4);
    const lk_app_request *request = &last_event (LK_ON_UNLOCK)->request;
    ck_assert_uint_eq (request->serial, 4);
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_OK);
    tick ();
    const lk_message *unlocked = only_sent ("a@h1", "UNLOCKED");
    ck_assert_uint_eq (lk_message_serial (unlocked), 6);
    ck_assert_int_eq (lk_message_number (unlocked, "request", 0), 4);
    ck_assert_ptr_null (lk_message_text (unlocked, "error"));
    ck_assert_ptr_null (lk_apps_find (&lockd.apps, "a@h1")->requests);
}
END_TEST

START_TEST (tells_a_failure)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_FAILED, app, 4, LK_FULL);
    tick ();
    const lk_message *failed = only_sent ("a@h1", "LOCKFAILED");
    check_text (failed, "error", "full");
    ck_assert_uint_eq (lk_message_serial (failed), 4);
    ck_assert_ptr_null (lk_apps_find (&lockd.apps, "a@h1")->requests);
}
END_TEST

START_TEST (tells_a_loss)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_ISOLATED);
    tick ();
    const lk_message *lost = only_sent ("a@h1", "UNLOCKED");
    check_text (lost, "error", "isolated");
    ck_assert_uint_eq (lk_message_serial (lost), 4);
    forget_sent ();
    unlock ("a@h1", 6, 4);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "unknown");
}
END_TEST

START_TEST (unlocks_after_the_duration)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_TIMEDOUT);
    tick ();
    check_text (only_sent ("a@h1", "UNLOCKED"), "error", "timedout");
    forget_sent ();
    unlock ("a@h1", 6, 4);
    ck_assert_uint_eq (last_event (LK_ON_UNLOCK)->request.serial, 4);
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_OK);
    tick ();
    ck_assert_uint_eq (lk_message_serial (only_sent ("a@h1", "UNLOCKED")), 6);
}
END_TEST

START_TEST (unlocks_by_key)
{
    lk_message *message = new_message ("b@h1", "UNLOCK", 9);
    lk_message_set_text (message, "object", "o");
    lk_message_set_hex (message, "key", 0xabcdef);
    give (message);
    const lk_app_request *request = &last_event (LK_ON_UNLOCK_BY_KEY)->request;
    ck_assert_uint_eq (request->key, 0xabcdef);
    ck_assert_uint_eq (request->serial, 9);
    uint32_t app = request->app;
    add_answer (LK_ANSWER_FAILED, app, 9, LK_DENIED);
    tick ();
    const lk_message *failed = only_sent ("b@h1", "LOCKFAILED");
    check_text (failed, "error", "denied");
    ck_assert_uint_eq (lk_message_serial (failed), 9);
}
END_TEST

START_TEST (refuses_bad_unlocks)
{
    lk_message *message = new_message ("a@h1", "UNLOCK", 9);
    lk_message_set_text (message, "object", "o");
    give (message);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "invalid");
    forget_sent ();
    message = new_message ("a@h1", "UNLOCK", 9);
    lk_message_set_text (message, "object", "o");
    lk_message_set_text (message, "key", "0xzz");
    give (message);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "invalid");
    forget_sent ();
    unlock ("a@h1", 9, 4);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "unknown");
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

/*  -------------------------------------------------------- endings */

START_TEST (ends_applications)
{
    uint32_t app = ask ("a@h1", 4, "o");
    report_status ("b@h1", "up", 50);
    report_status ("b@h1", "down", 50);
    report_status ("a@h2", "down", 50);
    ck_assert_uint_eq (node.count, 1);
    report_status ("a@h1", "down", 50);
    ck_assert_uint_eq (last_event (LK_ON_APP_GONE)->request.app, app);
    add_answer (LK_ANSWER_LOCKED, app, 4, LK_OK);
    tick ();
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

START_TEST (ends_one_whose_name_is_taken)
{
    report_status ("a@h1", "up", 50);
    uint32_t app = ask ("a@h1", 4, "o");
    report_status ("a@h1", "up", 50);
    ck_assert_uint_eq (node.count, 1);
    report_status ("a@h1", "up", 51);
    ck_assert_uint_eq (last_event (LK_ON_APP_GONE)->request.app, app);
    ck_assert_uint_ne (ask ("a@h1", 4, "o"), app);
}
END_TEST

START_TEST (survives_the_router)
{
    uint32_t lost = ask ("a@h1", 4, "o");
    uint32_t back = ask ("b@h1", 4, "o");
    uint32_t asks = ask ("c@h1", 4, "o");
    lk_lockd_service.detach (&lockd, "router lost");
    add_answer (LK_ANSWER_LOCKED, back, 4, LK_OK);
    add_answer (LK_ANSWER_LOCKED, asks, 4, LK_OK);
    bus.now_ms += 3000;
    bus.refuses = LK_DISCONNECTED;
    tick ();
    last_event (LK_ON_TICK);
    bus.refuses = LK_OK;
    attach ();
    forget_sent ();
    report_status ("b@h1", "up", 50);
    only_sent ("b@h1", "LOCKED");
    forget_sent ();
    ck_assert_uint_eq (ask ("c@h1", 4, "o"), asks);
    only_sent ("c@h1", "LOCKED");
    size_t before = node.count;
    bus.now_ms += LK_LOCKD_RETURN_MS;
    tick ();
    ck_assert_uint_eq (node.count, before + 2);
    ck_assert_int_eq (node.event[before].type, LK_ON_APP_GONE);
    ck_assert_uint_eq (node.event[before].request.app, lost);
}
END_TEST

START_TEST (sends_again_what_was_too_much)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_FAILED, app, 4, LK_FULL);
    bus.refuses = LK_OVERLOADED;
    tick ();
    ck_assert_int_le (bus.wake_ms, bus.now_ms + 100);
    bus.now_ms = bus.wake_ms;
    tick ();
    bus.refuses = LK_OK;
    bus.now_ms = bus.wake_ms;
    tick ();
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "full");
    bus.now_ms += 1000;
    tick ();
    ck_assert_uint_eq (bus.count, 1);
}
END_TEST

START_TEST (stops_in_order)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_FAILED, app, 4, LK_SHUTDOWN);
    lk_lockd_service.detach (&lockd, "stop");
    last_event (LK_ON_STOP);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "shutdown");
    size_t steps = node.count;
    tick ();
    ck_assert_uint_eq (node.count, steps);
}
END_TEST

/*  -------------------------------------------------------- peers */

static lk_message *
new_started (const char *cluster, uint64_t id)
{
    lk_message *message = NULL;
    lk_roster roster = lockd.roster;
    lk_host h2 = lk_roster_intern (&roster, "h2", id);
    lk_lock_message started = {.kind = LK_MSG_STARTED,
                               .from = h2,
                               .to = lockd.self,
                               .origin = LK_NOBODY,
                               .destination = LK_NOBODY};
    started.as.started.candidate.priority = 8;
    started.as.started.incarnation = 1;
    started.as.started.active.members = lockd.state.genesis;
    message = lk_lock_encode (&started, &roster, h2);
    lk_message_set_from (message, "lock@h2");
    lk_message_set_text (message, "cluster", cluster);
    lk_message_add_item (message, "genesis", "h1");
    lk_message_add_item (message, "genesis", "h2");
    lk_message_add_item (message, "genesis", "h3");
    return message;
}

static lk_message *
new_retire (uint64_t id)
{
    lk_roster roster = lockd.roster;
    lk_host h2 = lk_roster_intern (&roster, "h2", id);
    lk_lock_message retire = {.kind = LK_MSG_RETIRE,
                              .from = h2,
                              .to = lockd.self,
                              .origin = LK_NOBODY,
                              .destination = LK_NOBODY,
                              .term = {5, id}};
    lk_message *message = lk_lock_encode (&retire, &roster, h2);
    lk_message_set_from (message, "lock@h2");
    return message;
}

START_TEST (hears_only_who_started)
{
    give (new_retire (0x22));
    ck_assert_uint_eq (node.count, 0);
    only_sent ("lock@h2", "LOCKSTARTED");
    give (new_retire (0x22));
    ck_assert_uint_eq (bus.count, 1); /* not so often */
    give (new_started ("blue", 0x22));
    ck_assert_int_eq (last_event (LK_ON_MESSAGE)->type, LK_ON_MESSAGE);
    ck_assert_int_eq (node.kind[0], LK_MSG_STARTED);
    give (new_retire (0x22));
    ck_assert_uint_eq (node.count, 2);
    ck_assert_int_eq (node.kind[1], LK_MSG_RETIRE);
    give (new_retire (0x23)); /* another state file */
    ck_assert_uint_eq (node.count, 2);
}
END_TEST

START_TEST (refuses_another_cluster)
{
    give (new_started ("red", 0x22));
    ck_assert_uint_eq (node.count, 0);
    check_text (only_sent ("lock@h2", "REFUSE"), "reason",
                "host 'h1' is of cluster 'blue', host 'h2' of cluster 'red'");
    give (new_retire (0x22));
    give (new_started ("red", 0x22));
    ck_assert_uint_eq (node.count, 0);
    ck_assert_uint_eq (bus.count, 1);
    /*  That id was bound to nothing. */
    ck_assert_uint_eq (
        lk_roster_id (&lockd.roster, lk_roster_find (&lockd.roster, "h2", 0)),
        0);
    give (new_started ("blue", 0x23));
    ck_assert_uint_eq (node.count, 1);
}
END_TEST

START_TEST (takes_a_refusal)
{
    lk_message *message = new_message ("lock@h2", "REFUSE", 0);
    lk_message_set_hex (message, "id", 0x22);
    lk_message_set_text (message, "reason", "we differ");
    give (message);
    give (new_message ("lock@h2", "REFUSE", 0));
    give (new_message ("lock@h2", "UNKNOWN", 0));
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (proxies_the_first_cluster)
{
    attach ();
    forget_sent ();
    give (new_started ("blue", 0x22));
    ck_assert_str_eq (lockd.peers.cluster.name, "blue");
    report_host ("NEWREMOTECONNECTION", "h7");
    check_text (only_sent ("lock@h7", "LOCKSTARTED"), "cluster", "blue");
}
END_TEST

START_TEST (hears_of_hosts)
{
    report_status ("lock@h2", "up", 5);
    only_sent ("lock@h2", "LOCKSTARTED");
    forget_sent ();
    report_host ("CLUSTERUP", "h1");
    only_sent ("lock@*", "LOCKSTARTED");
    forget_sent ();
    report_status ("lock@h1", "up", 5);
    report_status ("lock@h1", "down", 5);
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, 0);
    report_status ("lock@h2", "down", 5);
    ck_assert_uint_eq (node.count, 1);
    report_host ("HANGUP", "h3");
    ck_assert_uint_eq (node.count, 2);
    ck_assert_str_eq (
        lk_roster_name (&lockd.roster, last_event (LK_ON_HOST_GONE)->host),
        "h3");
    report_host ("DISCONNECTED", "h9");
    ck_assert_uint_eq (node.count, 2);
}
END_TEST

/*  -------------------------------------------------------- status */

START_TEST (tells_its_status)
{
    node.status.sees = LK_HOST_BIT (lockd.self);
    node.status.decree.members = lockd.state.genesis;
    give (new_message ("a@h2", "LOCKSTATUS", 3));
    const lk_message *status = only_sent ("a@h2", "NOLOCK");
    ck_assert_uint_eq (lk_message_serial (status), 3);
    check_text (status, "host", "h1");
    check_text (status, "cluster", "blue");
    check_text (status, "reason", "sees 1 of 3 members, needs 2");
    ck_assert (lk_message_flag (status, "member"));
    ck_assert (lk_message_flag (status, "answering"));
    forget_sent ();
    node.status.ready = true;
    node.status.decree.term = (lk_term) {6, OWN_ID};
    node.status.decree.leader_count = 1;
    node.status.decree.leader[0] = lockd.self;
    add_effect ((lk_effect) {.type = LK_DO_STATUS});
    tick ();
    status = only_sent ("*@.", "LOCKREADY");
    ck_assert_int_eq (lk_message_number (status, "term", 0), 6);
    check_text (status, "proposer", "h1");
    ck_assert_str_eq (lk_message_item (status, "leaders", 0), "h1");
    ck_assert_str_eq (lk_message_item (status, "members", 2), "h3");
    ck_assert (!lk_message_flag (status, "answering"));
}
END_TEST

START_TEST (lists_tickets)
{
    node.serves = true;
    node.tickets = 700;
    give (new_message ("a@h1", "LOCKLIST", 3));
    const lk_message *list = only_sent ("a@h1", "LOCKLIST");
    check_text (list, "served_by", "h1");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 500);
    int64_t cursor = lk_message_number (list, "cursor", 0);
    ck_assert_int_eq (cursor, 500);
    lk_message *row = lk_message_row (list, "tickets", 0);
    check_text (row, "object", "o");
    check_text (row, "state", "held");
    check_text (row, "owner", "a@h1");
    ck_assert_int_eq (lk_message_number (row, "pid", 0), 77);
    ck_assert_int_eq (lk_message_number (row, "since_ms", 0), 1500);
    lk_message_destroy (&row);
    forget_sent ();
    lk_message *more = new_message ("a@h1", "LOCKLIST", 4);
    lk_message_set_number (more, "cursor", cursor);
    give (more);
    list = only_sent ("a@h1", "LOCKLIST");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 200);
    ck_assert (!lk_message_has (list, "cursor"));
}
END_TEST

START_TEST (names_leaders_instead)
{
    node.tickets = 3;
    node.status.decree.leader_count = 1;
    node.status.decree.leader[0] = lk_roster_find (&lockd.roster, "h3", 0);
    give (new_message ("a@h1", "LOCKLIST", 3));
    const lk_message *list = only_sent ("a@h1", "LOCKLIST");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 0);
    ck_assert_str_eq (lk_message_item (list, "leaders", 0), "h3");
    forget_sent ();
    lk_message *bad = new_message ("a@h1", "LOCKLIST", 4);
    lk_message_set_number (bad, "cursor", -4);
    give (bad);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "invalid");
}
END_TEST

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

int
main (void)
{
    const TTest *const fresh[] = {starts_without_a_genesis,
                                  refuses_a_broken_state,
                                  proxies_the_first_cluster};
    const TTest *const effects[] = {
        starts_with_a_genesis, greets_when_attached,    refuses_a_state_in_use,
        persists_what_follows, ends_if_it_cannot_write, sends_to_peers,
        publishes_the_lease,
    };
    const TTest *const requests[] = {
        takes_a_lock,
        repeats_go_to_the_core,
        refuses_bad_locks,
        refuses_long_names,
        refuses_too_many,
        refuses_other_hosts_and_commands,
        tells_what_was_asked_for,
        tells_a_failure,
        tells_a_loss,
        unlocks_after_the_duration,
        unlocks_by_key,
        refuses_bad_unlocks,
    };
    const TTest *const endings[] = {
        ends_applications,   ends_one_whose_name_is_taken,
        survives_the_router, sends_again_what_was_too_much,
        stops_in_order,
    };
    const TTest *const others[] = {
        hears_only_who_started, refuses_another_cluster, takes_a_refusal,
        hears_of_hosts,         tells_its_status,        lists_tickets,
        names_leaders_instead,
    };
    const group groups[] = {
        GROUP ("fresh", fresh, set_up_fresh),
        GROUP ("effects", effects, set_up),
        GROUP ("requests", requests, set_up),
        GROUP ("endings", endings, set_up),
        GROUP ("peers and status", others, set_up),
    };
    Suite *suite = suite_create ("lock_shell");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        TCase *tcase = tcase_create (groups[i].name);
        tcase_add_checked_fixture (tcase, groups[i].set_up, tear_down);
        for (size_t j = 0; j < groups[i].count; j++) {
            tcase_add_test (tcase, groups[i].test[j]);
        }
        suite_add_tcase (suite, tcase);
    }
    SRunner *runner = srunner_create (suite);
    srunner_run_all (runner, CK_NORMAL);
    int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
