/*  issuer.c - what an issuer can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/issuer.h"

#include "net/endpoint.h"

#include <stdio.h>

static void
read_text (char text[PATH_MAX], const lk_config *config, const char *key)
{
    snprintf (text, PATH_MAX, "%s", lk_config_text (config, key));
}

lk_err
lk_issuer_options_read (lk_issuer_options *self, lk_config *config,
                        lk_problem *problem)
{
    const size_t before = lk_config_mistakes (config);
    /*  Its own setting, or else where the router's says that this is. */
    const char *endpoint = lk_config_text (config, "issuer/endpoint") != NULL
                               ? "issuer/endpoint"
                               : "router/endpoint";
    *self = (lk_issuer_options) {.endpoint = ""};
    read_text (self->endpoint, config, endpoint);
    read_text (self->keys, config, "issuer/keys");
    read_text (self->authorities, config, "issuer/authorities");
    if (lk_config_text (config, "lock/zone-logs") != NULL) {
        read_text (self->zone_logs, config, "lock/zone-logs");
    }
    (void) lk_log_level_from_word (lk_config_text (config, "issuer/log-level"),
                                   &self->log_level);
    self->syslog = lk_config_flag (config, "issuer/syslog");
    if (lk_endpoint_check (self->endpoint, LK_IPC, NULL) != LK_OK) {
        lk_config_refuse (config, endpoint, 0, "ipc://PATH");
    }
    return lk_config_verdict (config, before, problem);
}
