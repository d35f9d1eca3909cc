/*  hosted.c - services in the router's own process and loop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "hosted.h"
#include "forward.h"
#include "plugin.h"

#include "net/bus.h"
#include "net/log.h"
#include "net/random.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

#define SECRET_SIZE 16

struct lk_hosted {
    lk_hosting *hosting;
    char name[LK_SERVICE_LEN_MAX + 1]; /* of the plug-in */
    lk_loaded loaded;
    void *service; /* what its callbacks get; NULL: there is none now */
    lk_identity identity;
    lk_pipe pipe;
    lk_bus bus;
    bool runs;
    bool ended; /* is to be cleared */
    int exit_code;
    lk_hosted *prev, *next;
};

/*  -------------------------------------------------------- begin */

static bool
create (lk_hosting *self, lk_hosted *it, lk_problem *problem)
{
    char reason[sizeof problem->text - 96] = "";
    const char *part = lk_log_as (it->name);
    it->service =
        it->loaded.plugin->create (self->config, reason, sizeof reason);
    lk_log_as (part);
    if (it->service == NULL) {
        (void) lk_problem_set (problem, LK_INVALID, "plug-in '%s': %s",
                               it->name, reason);
    }
    return it->service != NULL;
}

static void
on_stopped (void *runner, int exit_code)
{
    lk_hosted *it = runner;
    if (!it->ended) {
        it->ended = true;
        it->exit_code = exit_code;
    }
}

static void
on_woken (void *runner)
{
    const lk_hosting *self = ((lk_hosted *) runner)->hosting;
    if (self->woken != NULL) {
        self->woken (self->user);
    }
}

static bool
attach (lk_hosting *self, lk_hosted *it)
{
    const lk_plugin *plugin = it->loaded.plugin;
    const lk_bus_place place = {.loop = self->loop,
                                .pipe = &it->pipe,
                                .part = it->name,
                                .stopped = on_stopped,
                                .woken = on_woken,
                                .runner = it};
    lk_problem problem;
    lk_pipe_init (&it->pipe);
    if (plugin->begin != NULL && !plugin->begin (it->service)) {
        return false;
    }
    if (lk_bus_init (&it->bus, plugin->service, it->service, &place, &problem)
        != LK_OK) {
        lk_log_error ("%s", problem.text);
        return false;
    }
    return true;
}

/*  Nobody can guess the identity: a connection that claims it cannot pass for
 *  the service. */
static void
begin (lk_hosting *self, lk_hosted *it)
{
    uint8_t secret[1 + SECRET_SIZE] = {0};
    lk_problem problem;
    if (it->service == NULL && !create (self, it, &problem)) {
        lk_log_error ("hosted: not started: %s", problem.text);
        return;
    }
    lk_random_fill (secret + 1, SECRET_SIZE);
    lk_identity_set (&it->identity, secret, sizeof secret);
    it->ended = false;
    const char *part = lk_log_as (it->name);
    it->runs = attach (self, it);
    lk_log_as (part);
    if (it->runs) {
        lk_log_notice ("hosted: down -> up plugin=%s", it->name);
    } else {
        it->loaded.plugin->destroy (it->service);
        it->service = NULL;
        lk_log_error ("hosted: not started, the router goes on without it; it "
                      "is tried again when the configuration is read plugin=%s",
                      it->name);
    }
}

void
lk_hosting_begin (lk_hosting *self)
{
    lk_hosted *it;
    DL_FOREACH (self->first, it) {
        if (!it->runs) {
            begin (self, it);
        }
    }
}

void
lk_hosting_reload (lk_hosting *self)
{
    lk_hosted *it;
    DL_FOREACH (self->first, it) {
        if (it->runs) {
            const char *part = lk_log_as (it->name);
            lk_bus_reload (&it->bus);
            lk_log_as (part);
        }
    }
}

/*  -------------------------------------------------------- life */

void
lk_hosting_init (lk_hosting *self, lk_router *router, lk_loop *loop)
{
    *self = (lk_hosting) {.router = router, .loop = loop};
}

static lk_hosted *
add (lk_hosting *self, const char *name)
{
    lk_hosted *it = lk_alloc (sizeof *it);
    DL_APPEND (self->first, it);
    it->hosting = self;
    snprintf (it->name, sizeof it->name, "%s", name);
    return it;
}

void
lk_hosting_add (lk_hosting *self, const char *name, const lk_plugin *plugin)
{
    add (self, name)->loaded.plugin = plugin;
}

const void *
lk_hosting_service (const lk_hosting *self, const char *name)
{
    const lk_hosted *it;
    DL_FOREACH (self->first, it) {
        if (it->runs && strcmp (it->name, name) == 0) {
            return it->service;
        }
    }
    return NULL;
}

lk_err
lk_hosting_load (lk_hosting *self, const char *const *names, const char *dir,
                 const char *config, lk_problem *problem)
{
    lk_err error = LK_OK;
    self->config = config;
    for (; error == LK_OK && *names != NULL; names++) {
        lk_hosted *it = add (self, *names);
        error = lk_plugin_load (&it->loaded, it->name, dir, problem);
        if (error == LK_OK && !create (self, it, problem)) {
            error = LK_INVALID;
        }
    }
    return error;
}

/*  What it sent last stays in the pipe. */
static void
end (lk_hosted *it)
{
    const char *part = lk_log_as (it->name);
    if (it->runs) {
        lk_bus_clear (&it->bus);
        it->runs = false;
    }
    if (it->service != NULL) {
        it->loaded.plugin->destroy (it->service);
        it->service = NULL;
    }
    lk_log_as (part);
}

void
lk_hosting_clear (lk_hosting *self)
{
    lk_hosted *it, *next;
    DL_FOREACH_SAFE (self->first, it, next) {
        end (it);
        lk_pipe_clear (&it->pipe);
        lk_plugin_unload (&it->loaded);
        DL_DELETE (self->first, it);
        lk_free (it);
    }
}

/*  -------------------------------------------------------- frames */

/*  The one that runs behind that hop; NULL: none does. */
static lk_hosted *
find (const lk_hosting *self, const lk_hop *hop)
{
    lk_hosted *it;
    DL_FOREACH (self->first, it) {
        if (it->runs && lk_identity_equal (&it->identity, &hop->identity)) {
            return it;
        }
    }
    return NULL;
}

lk_io
lk_hosting_give (lk_hosting *self, const lk_hop *hop, lk_part *frame)
{
    lk_hosted *it = find (self, hop);
    if (it == NULL) {
        lk_part_clear (frame);
        return LK_IO_DONE;
    }
    return lk_pipe_give (&it->pipe, frame) ? LK_IO_DONE : LK_IO_WAIT;
}

void
lk_hosting_cut (lk_hosting *self, const lk_hop *hop)
{
    lk_hosted *it = find (self, hop);
    if (it != NULL) {
        lk_pipe_cut (&it->pipe);
    }
}

/*  What is sent meanwhile waits in the outboxes. */
static bool
forward (lk_hosting *self, lk_hosted *it)
{
    bool any = false;
    lk_part frame;
    lk_part_init (&frame);
    while (lk_pipe_take (&it->pipe, &frame)) {
        any = true;
        lk_forward_frame (self->router, LK_SIDE_HOSTED, &it->identity, &frame);
    }
    lk_part_clear (&frame);
    return any;
}

/*  It takes leave of the router, too. */
static void
bury (lk_hosting *self, lk_hosted *it)
{
    end (it);
    (void) forward (self, it);
    LK_LOG (it->exit_code == 0 ? LK_LOG_NOTICE : LK_LOG_ERROR,
            "hosted: up -> down plugin=%s code=%d", it->name, it->exit_code);
    if (it->exit_code == LK_SERVICE_AGAIN && !self->leaving) {
        begin (self, it);
    }
}

bool
lk_hosting_turn (lk_hosting *self)
{
    bool any = false;
    lk_hosted *it;
    DL_FOREACH (self->first, it) {
        if (!it->runs) {
            continue;
        }
        const char *part = lk_log_as (it->name);
        any |= lk_pipe_deliver (&it->pipe);
        lk_bus_settle (&it->bus);
        lk_attach_flush (it->bus.attach);
        lk_log_as (part);
        any |= forward (self, it);
        if (it->ended) {
            bury (self, it);
            any = true;
        }
    }
    return any;
}

/*  -------------------------------------------------------- leave */

void
lk_hosting_leave (lk_hosting *self, const char *reason)
{
    lk_hosted *it;
    DL_FOREACH (self->first, it) {
        if (it->runs && (self->leaving || !it->bus.leaving)) {
            const char *part = lk_log_as (it->name);
            lk_bus_leave (&it->bus, reason);
            lk_log_as (part);
        }
    }
    self->leaving = true;
}

bool
lk_hosting_runs (const lk_hosting *self)
{
    const lk_hosted *it;
    DL_FOREACH (self->first, it) {
        if (it->runs) {
            return true;
        }
    }
    return false;
}
