/*  lockd_fake.h - a whole lock service without bus, disk and chance
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defines lk_bus_*, lk_state_file_*, lk_lease_page_*, lk_random_* and
 *  lk_process_is_alive itself, so that those of the library are not linked.
 *  What the service sends must be able to leave, what it writes must be able
 *  to be read. For one program each.
 */

#ifndef LK_LOCKD_FAKE_H
#define LK_LOCKD_FAKE_H

#include "../../plugins/lock/lockd.h"
#include "settings/keys.h"

#include "net/pidfd.h"
#include "net/random.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define OWN_ID 0x1f0e6a5b9c3d2871u
#define START_MS 1000000
#define SPINS_MAX 100

typedef struct {
    lk_lockd lockd;
    int64_t now_ms;
    int64_t wake_ms;
    bool stopped;
    lk_err refuses;   /* what the bus says to all that is sent */
    bool disk_fails;  /* so that the state cannot be written */
    char *state;      /* what is on the disk, or NULL */
    uint64_t randoms; /* drawn so far */
    uint64_t key;     /* of the last LOCKED */
} fake_world;

static fake_world world;

/*  -------------------------------------------------------- bus */

/*  What leaves is a frame, and names a sender that exists. */
lk_err
lk_bus_send (lk_bus *self, lk_message **message_p)
{
    (void) self;
    lk_bytes frame = {0};
    if (world.refuses != LK_OK) {
        return world.refuses;
    }
    lk_message_set_from (*message_p, "lock@h1");
    const lk_err error = lk_message_write (*message_p, &frame);
    LK_ASSERT (error == LK_OK);
    if (lk_message_is (*message_p, "LOCKED")) {
        (void) lk_message_hex (*message_p, "key", &world.key);
    }
    lk_bytes_clear (&frame);
    lk_message_destroy (message_p);
    return LK_OK;
}

const char *
lk_bus_host (const lk_bus *self)
{
    (void) self;
    return "h1";
}

const char *
lk_bus_address (const lk_bus *self)
{
    (void) self;
    return "10.1.2.3:4040";
}

int64_t
lk_bus_now (const lk_bus *self)
{
    (void) self;
    return world.now_ms;
}

void
lk_bus_wake_at (lk_bus *self, int64_t when_ms)
{
    (void) self;
    world.wake_ms = when_ms;
}

void
lk_bus_stop (lk_bus *self, int exit_code)
{
    (void) self;
    (void) exit_code;
    world.stopped = true;
}

/*  -------------------------------------------------------- disk */

struct lk_state_file {
    char path[16];
};

lk_state_file *
lk_state_file_open (const char *dir, const char *name, lk_problem *problem)
{
    (void) dir;
    (void) name;
    (void) problem;
    lk_state_file *self = lk_alloc (sizeof *self);
    snprintf (self->path, sizeof self->path, "state");
    return self;
}

void
lk_state_file_destroy (lk_state_file **self_p)
{
    lk_free (*self_p);
    *self_p = NULL;
}

const char *
lk_state_file_path (const lk_state_file *self)
{
    return self->path;
}

lk_err
lk_state_file_read (lk_state_file *self, size_t size_max, char **data,
                    size_t *size, lk_problem *problem)
{
    (void) self;
    (void) problem;
    if (world.state == NULL) {
        return LK_UNKNOWN;
    }
    *data = lk_strdup (world.state);
    *size = strlen (*data);
    LK_ASSERT (*size <= size_max);
    return LK_OK;
}

/*  What is written will be read at the next start. */
lk_err
lk_state_file_write (lk_state_file *self, const void *data, size_t size,
                     lk_problem *problem)
{
    (void) self;
    lk_roster roster;
    lk_lock_state state;
    char why[128];
    if (world.disk_fails) {
        return lk_problem_set (problem, LK_SYSTEM, "the disk fails");
    }
    lk_roster_init (&roster);
    const lk_err error =
        lk_lock_state_decode (data, size, &roster, &state, why, sizeof why);
    LK_ASSERT (error == LK_OK && size <= LK_LOCK_STATE_SIZE_MAX);
    lk_free (world.state);
    world.state = lk_strdup (data);
    return LK_OK;
}

/*  -------------------------------------------------------- the system */

struct lk_lease_page {
    uint64_t session;
};

lk_lease_page *
lk_lease_page_new (const char *path, lk_problem *problem)
{
    (void) path;
    (void) problem;
    return lk_alloc (sizeof (lk_lease_page));
}

void
lk_lease_page_destroy (lk_lease_page **self_p)
{
    lk_free (*self_p);
    *self_p = NULL;
}

void
lk_lease_page_set (lk_lease_page *self, uint64_t session, int64_t until_ms)
{
    LK_ASSERT (session >= self->session && until_ms >= 0);
    self->session = session;
}

void
lk_random_fill (void *place, size_t size)
{
    memset (place, (int) ++world.randoms, size);
}

uint64_t
lk_random_id (void)
{
    return OWN_ID;
}

bool
lk_process_is_alive (pid_t pid)
{
    return pid % 2 == 0;
}

/*  Each line is written, and goes nowhere. */
static void
swallow (lk_log_level level, const char *line)
{
    (void) level;
    LK_ASSERT (line[0] != '\0');
}

/*  -------------------------------------------------------- life */

static void
write_genesis (size_t members)
{
    lk_roster roster;
    lk_lock_state state = {.id = OWN_ID, .cluster = "blue"};
    lk_roster_init (&roster);
    for (size_t i = 0; i < members; i++) {
        const char name[3] = {'h', (char) ('1' + i), '\0'};
        state.genesis |= LK_HOST_BIT (lk_roster_intern (&roster, name, 0));
    }
    state.facts.active.members = state.genesis;
    world.state = lk_lock_state_encode (&state, &roster);
}

static inline void
fake_attach (void)
{
    static int bus; /* nobody looks into it */
    lk_lockd_service.attach (&world.lockd, (lk_bus *) &bus);
    lk_lockd_service.settle (&world.lockd);
}

static inline void
fake_detach (const char *reason)
{
    lk_lockd_service.detach (&world.lockd, reason);
}

static inline void
fake_init (size_t members)
{
    lk_lockd_options options;
    lk_problem problem;
    lk_log_set_sink (swallow);
    lk_log_set_level (LK_LOG_DEBUG);
    lk_config *config = lk_config_new (lk_settings);
    lk_err error = lk_config_set (config, "lock/run", "/", &problem);
    LK_ASSERT (error == LK_OK);
    error = lk_lockd_options_read (&options, config, &problem);
    LK_ASSERT (error == LK_OK);
    lk_config_destroy (&config);
    memset (&world, 0, sizeof world);
    world.now_ms = START_MS;
    if (members > 0) {
        write_genesis (members);
    }
    lk_lockd_init (&world.lockd, &options);
    const bool opened = lk_lockd_open (&world.lockd);
    LK_ASSERT (opened);
    fake_attach ();
    LK_ASSERT (!world.stopped);
}

static inline void
fake_clear (void)
{
    lk_lockd_clear (&world.lockd);
    lk_free (world.state);
    world.state = NULL;
}

/*  -------------------------------------------------------- events */

/*  Answers that could not be sent are counted, and come again. */
static void
check_apps (void)
{
    const lk_app *app;
    for (app = world.lockd.apps.by_number; app != NULL;
         app = app->by_number.next) {
        size_t unsent = 0;
        for (const lk_request *request = app->requests; request != NULL;
             request = request->hh.next) {
            unsent += (request->kept[0] != NULL) + (request->kept[1] != NULL);
        }
        LK_ASSERT (unsent == app->unsent);
        LK_ASSERT (lk_apps_find (&world.lockd.apps, app->address) == app);
    }
}

/*  A wake-up may bring several messages: their serials say whether it does. */
static inline void
fake_settle (const lk_message *message)
{
    if (!world.stopped && (!message || lk_message_serial (message) % 4 != 3)) {
        lk_lockd_service.settle (&world.lockd);
    }
}

static inline void
fake_give (lk_message *message, bool is_event)
{
    if (world.lockd.attached && !world.stopped) {
        (is_event ? lk_lockd_service.event
                  : lk_lockd_service.message) (&world.lockd, message);
        fake_settle (message);
        check_apps ();
    }
    lk_message_destroy (&message);
}

static inline void
fake_run (int64_t ms)
{
    const int64_t end_ms = world.now_ms + ms;
    while (world.now_ms < end_ms && !world.stopped) {
        const int64_t wake_ms =
            world.wake_ms > world.now_ms ? world.wake_ms : world.now_ms;
        world.now_ms = wake_ms < end_ms ? wake_ms : end_ms;
        for (int spins = 0; world.wake_ms <= world.now_ms && !world.stopped
                            && !world.lockd.failed;
             spins++) {
            LK_ASSERT (spins < SPINS_MAX);
            lk_lockd_service.timer (&world.lockd);
            fake_settle (NULL);
        }
        if (world.lockd.failed) {
            world.now_ms = end_ms;
        }
    }
    check_apps ();
}

#endif
