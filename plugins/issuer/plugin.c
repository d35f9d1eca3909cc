/*  plugin.c - lockkeeper-issuer.so, the issuer in a router's process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  As main.c, but settings come from the configuration alone, and log and
 *  endpoint are the router's. It stays loaded to the end of the process: a
 *  thread of it may still wait for an authority.
 */

#include "issuing.h"

#include "settings/keys.h"
#include "util/alloc.h"

#include <lockkeeper/plugin.h>

#include <stdio.h>

static void *
create (const char *path, char *reason, size_t size)
{
    lk_issuing *self = NULL;
    lk_issuer_options wanted;
    lk_problem problem;
    lk_config *config = lk_config_new (lk_settings);
    if (lk_config_load (config, path, &problem) == LK_OK
        && lk_issuer_options_read (&wanted, config, &problem) == LK_OK) {
        self = lk_alloc (sizeof *self);
        lk_issuing_init (self, &wanted);
    } else {
        snprintf (reason, size, "%s", problem.text);
    }
    lk_config_destroy (&config);
    return self;
}

static void
destroy (void *self)
{
    lk_issuing_clear (self);
    lk_free (self);
}

const lk_plugin lockkeeper_plugin = {
    .version = LK_PLUGIN_VERSION,
    .service = &lk_issuing_service,
    .create = create,
    .destroy = destroy,
};
