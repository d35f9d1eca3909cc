/*  arbiter.c - what an arbiter can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/arbiter.h"

#include "net/endpoint.h"
#include "net/host_name.h"
#include "net/hostport.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

static void
read_text (char *text, size_t size, const lk_config *config, const char *key)
{
    const char *value = lk_config_text (config, key);
    snprintf (text, size, "%s", value != NULL ? value : "");
}

static void
check (const lk_arbiter_options *self, lk_config *config)
{
    if (!lk_address_is_name (lk_slice_of (self->host))) {
        lk_config_refuse (config, "arbiter/host", 0,
                          "1 to 63 letters, digits, dots, underscores and "
                          "minuses");
    }
    if (strncmp (self->listen, LK_TCP, strlen (LK_TCP)) != 0
        || !lk_hostport_is_open (self->listen + strlen (LK_TCP))) {
        lk_config_refuse (config, "arbiter/listen", 0,
                          "tcp://ADDRESS:PORT, with a port from 1 to 65535 or "
                          "*");
    }
    if (self->address[0] != '\0' && !lk_hostport_is_valid (self->address)) {
        lk_config_refuse (config, "arbiter/address", 0, "HOST:PORT");
    }
}

lk_err
lk_arbiter_options_read (lk_arbiter_options *self, lk_config *config,
                         lk_problem *problem)
{
    const size_t before = lk_config_mistakes (config);
    memset (self, 0, sizeof *self);
    read_text (self->host, sizeof self->host, config, "arbiter/host");
    read_text (self->listen, sizeof self->listen, config, "arbiter/listen");
    read_text (self->address, sizeof self->address, config, "arbiter/address");
    read_text (self->state_dir, sizeof self->state_dir, config,
               "arbiter/state");
    read_text (self->run_dir, sizeof self->run_dir, config, "arbiter/run");
    (void) lk_log_level_from_word (lk_config_text (config, "arbiter/log-level"),
                                   &self->log_level);
    self->syslog = lk_config_flag (config, "arbiter/syslog");
    if (self->host[0] == '\0') {
        lk_host_name (self->host);
    }
    check (self, config);
    return lk_config_verdict (config, before, problem);
}
