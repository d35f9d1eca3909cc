/*  lockd_system.h - what a lock service asks of its host, without one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defines lk_state_file_*, lk_lease_page_*, lk_random_* and
 *  lk_process_is_alive itself, so that those of the library are not linked.
 *  What the service writes must be able to be read. For one program each.
 */

#ifndef LK_LOCKD_SYSTEM_H
#define LK_LOCKD_SYSTEM_H

#include "lockd.h"
#include "settings/keys.h"

#include "net/pidfd.h"
#include "net/random.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>

#define OWN_ID 0x1f0e6a5b9c3d2871u

static struct {
    bool disk_fails;  /* so that the state cannot be written */
    char *state;      /* what is on the disk, or NULL */
    uint64_t randoms; /* drawn so far */
} host;

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
    if (host.state == NULL) {
        return LK_UNKNOWN;
    }
    *data = lk_strdup (host.state);
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
    lk_hostmap hostmap;
    lk_lock_state state;
    char why[128];
    if (host.disk_fails) {
        return lk_problem_set (problem, LK_SYSTEM, "the disk fails");
    }
    lk_hostmap_init (&hostmap);
    const lk_err error =
        lk_lock_state_decode (data, size, &hostmap, &state, why, sizeof why);
    LK_ASSERT (error == LK_OK && size <= LK_LOCK_STATE_SIZE_MAX);
    lk_free (host.state);
    host.state = lk_strdup (data);
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
    memset (place, (int) ++host.randoms, size);
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
    lk_hostmap hostmap;
    lk_lock_state state = {.id = OWN_ID, .cluster = "blue"};
    lk_hostmap_init (&hostmap);
    for (size_t i = 0; i < members; i++) {
        const char name[3] = {'h', (char) ('1' + i), '\0'};
        state.genesis |= LK_HOST_BIT (lk_hostmap_intern (&hostmap, name, 0));
    }
    state.facts.active.members = state.genesis;
    host.state = lk_lock_state_encode (&state, &hostmap);
}

/*  Not attached yet; `members` of its cluster, 0: none. */
static inline void
host_begin (lk_lockd *lockd, size_t members)
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
    memset (&host, 0, sizeof host);
    if (members > 0) {
        write_genesis (members);
    }
    lk_lockd_init (lockd, &options);
    const bool opened = lk_lockd_open (lockd);
    LK_ASSERT (opened);
}

static inline void
host_end (lk_lockd *lockd)
{
    lk_lockd_clear (lockd);
    lk_free (host.state);
    host.state = NULL;
}

/*  Each is found by its address; a registration, which the core has, by what
 *  was drawn for it. */
static inline void
host_check_apps (const lk_lockd *lockd)
{
    const lk_app *app;
    size_t far = 0;
    for (app = lockd->apps.by_number; app != NULL; app = app->by_number.next) {
        if (app->far != NULL) {
            lk_app session = {.number = 0};
            snprintf (session.address, sizeof session.address, "%s",
                      app->address);
            snprintf (session.key, sizeof session.key, "%s", app->key);
            LK_ASSERT (app->far->id.drawn != 0 && app->key[0] != '\0');
            LK_ASSERT (
                lk_apps_registered (&lockd->apps, &session, &app->far->id)
                == app);
            far++;
        } else {
            LK_ASSERT (lk_apps_find (&lockd->apps, app->address) == app);
        }
    }
    LK_ASSERT (far == HASH_CNT (by_drawn, lockd->apps.by_drawn));
    LK_ASSERT (far == HASH_CNT (by_id, lockd->apps.by_id));
}

#endif
