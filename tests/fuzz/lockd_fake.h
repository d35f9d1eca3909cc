/*  lockd_fake.h - a whole lock service without bus, disk and chance
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defines lk_bus_* itself, so that those of the library are not linked. What
 *  the service sends must be able to leave. For one program each.
 */

#ifndef LK_LOCKD_FAKE_H
#define LK_LOCKD_FAKE_H

#include "lockd_system.h"

#include "wire/message_frame.h"

#define START_MS 1000000
#define SPINS_MAX 100

typedef struct {
    lk_lockd lockd;
    int64_t now_ms;
    int64_t wake_ms;
    bool stopped;
    lk_err refuses; /* what the bus says to all that is sent */
    uint64_t key;   /* of the last LOCKED */
    uint64_t token; /* likewise */
    uint64_t drawn; /* of the last LOCKREGISTER, */
    int64_t number; /* and of which registration that is */
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
        (void) lk_message_hex (*message_p, "token", &world.token);
    } else if (lk_message_is (*message_p, "LOCKREGISTER")) {
        (void) lk_message_hex (*message_p, "drawn", &world.drawn);
        world.number = lk_message_number (*message_p, "registration", 0);
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
lk_bus_watch (lk_bus *self, int fd, void (*fn) (void *user), void *user)
{
    (void) self;
    (void) fd;
    (void) fn;
    (void) user;
}

void
lk_bus_unwatch (lk_bus *self, int fd)
{
    (void) self;
    (void) fd;
}

void
lk_bus_stop (lk_bus *self, int exit_code)
{
    (void) self;
    (void) exit_code;
    world.stopped = true;
}

/*  -------------------------------------------------------- life */

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
    memset (&world, 0, sizeof world);
    world.now_ms = START_MS;
    host_begin (&world.lockd, members);
    fake_attach ();
    LK_ASSERT (!world.stopped);
}

static inline void
fake_clear (void)
{
    host_end (&world.lockd);
}

/*  -------------------------------------------------------- events */

/*  A wake-up may bring several messages: their serials say whether it does. */
static inline void
fake_settle (const lk_message *message)
{
    if (!world.stopped && (!message || lk_message_serial (message) % 4 != 3)) {
        lk_lockd_service.settle (&world.lockd);
    }
}

/*  As the router tells ahead of all that a process of this host says. */
static void
present (const char *address)
{
    lk_app *app = strstr (address, "@h1") != NULL
                      ? lk_apps_intern (&world.lockd.apps, address)
                      : NULL;
    if (app != NULL) {
        app->attached = world.lockd.attachment;
    }
    if (app != NULL && strncmp (address, "far-", 4) == 0
        && app->key[0] == '\0') {
        snprintf (app->key, sizeof app->key, "%s",
                  "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID");
    }
}

static inline void
fake_give (lk_message *message, bool is_event)
{
    if (world.lockd.attached && !world.stopped) {
        if (!is_event) {
            present (lk_message_from (message));
        }
        (is_event ? lk_lockd_service.event
                  : lk_lockd_service.message) (&world.lockd, message);
        fake_settle (message);
        host_check_apps (&world.lockd);
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
    host_check_apps (&world.lockd);
}

#endif
