/*  plugin.c - the greeter in a router's process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-greeter.so: with `plugin = greeter` the router loads it.
 */

#include "greeter.h"

#include <lockkeeper/plugin.h>

#include <stdio.h>

/*  It has no settings, and a router loads it once. What it prints goes where
 *  the router's standard output goes. */
static void *
create (const char *config, char *reason, size_t size)
{
    static greeter me;

    (void) config;
    (void) reason;
    (void) size;
    me = (greeter) {0};
    setvbuf (stdout, NULL, _IOLBF, 0);
    return &me;
}

static void
destroy (void *self)
{
    (void) self;
}

const lk_plugin lockkeeper_plugin = {
    .version = LK_PLUGIN_VERSION,
    .service = &greeter_service,
    .create = create,
    .destroy = destroy,
};
