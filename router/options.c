/*  options.c - what a router can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "options.h"
#include "hostport.h"
#include "plugin.h"

#include "net/endpoint.h"
#include "net/host_name.h"
#include "net/paths.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

static const lk_config_key keys[] = {
    {"router/host", LK_CONFIG_TEXT, 1, LK_HOST_LEN_MAX, NULL, NULL},
    {"router/listen", LK_CONFIG_TEXT, 1, LK_ADDRESS_LEN_MAX, NULL,
     "tcp://127.0.0.1:7411"},
    {"router/address", LK_CONFIG_TEXT, 1, LK_ADDRESS_LEN_MAX, NULL, NULL},
    {"router/endpoint", LK_CONFIG_TEXT, 1, PATH_MAX - 1, NULL,
     LK_PATH_ENDPOINT},
    {"router/mode", LK_CONFIG_OCTAL, 0, 0777, NULL, "0660"},
    {"router/group", LK_CONFIG_TEXT, 1, 63, NULL, NULL},
    {"router/neighbour", LK_CONFIG_LIST, 1, LK_ADDRESS_LEN_MAX, NULL, NULL},
    {"router/plugin", LK_CONFIG_LIST, 1, LK_SERVICE_LEN_MAX, NULL, NULL},
    {"router/plugin-dir", LK_CONFIG_TEXT, 1, PATH_MAX - 1, NULL, NULL},
    {"router/dead-after", LK_CONFIG_NUMBER, 100, 60000, NULL, "1000"},
    {"router/cache-ttl", LK_CONFIG_NUMBER, 0, 255, NULL, "60"},
    {"router/cache-messages", LK_CONFIG_NUMBER, 0, 100000, NULL, "1000"},
    {"router/cache-size", LK_CONFIG_NUMBER, 0, 16777216, NULL, "4194304"},
    {"router/log-level", LK_CONFIG_CHOICE, 0, 0, LK_LOG_LEVELS, "notice"},
    {"router/syslog", LK_CONFIG_FLAG, 0, 0, NULL, "no"},
    {"lock", LK_CONFIG_FOREIGN, 0, 0, NULL, NULL},
    {NULL, LK_CONFIG_TEXT, 0, 0, NULL, NULL},
};

lk_config *
lk_router_config_new (void)
{
    return lk_config_new (keys);
}

/*  -------------------------------------------------------- reading */

static void
read_text (char *text, size_t size, const lk_config *config, const char *key)
{
    const char *value = lk_config_text (config, key);
    snprintf (text, size, "%s", value != NULL ? value : "");
}

static lk_err
read_host (lk_router_options *self, const lk_config *config,
           lk_problem *problem)
{
    read_text (self->host, sizeof self->host, config, "router/host");
    const bool told = self->host[0] != '\0';
    if (!told) {
        lk_host_name (self->host);
    }
    if (lk_address_is_name (lk_slice_of (self->host))) {
        return LK_OK;
    }
    return told ? lk_config_refuse (config, "router/host", 0,
                                    "1 to 63 of A-Z a-z 0-9 . _ -", problem)
                : lk_problem_set (problem, LK_INVALID,
                                  "the system's name, '%s', cannot name a "
                                  "host: set 'router/host'",
                                  self->host);
}

static lk_err
read_neighbours (lk_router_options *self, const lk_config *config,
                 lk_problem *problem)
{
    const char *key = "router/neighbour", *address;
    for (size_t i = 0; (address = lk_config_item (config, key, i)) != NULL;
         i++) {
        if (i == LK_LINKS_MAX) {
            char most[32];
            snprintf (most, sizeof most, "%d at most", LK_LINKS_MAX);
            return lk_config_refuse (config, key, i, most, problem);
        }
        if (!lk_hostport_is_valid (address)) {
            return lk_config_refuse (config, key, i,
                                     "HOST:PORT, with a port from 1 to 65535",
                                     problem);
        }
        self->neighbour[i] = address;
    }
    return LK_OK;
}

/*  Whether the plug-in is there as well, before that place. */
static bool
is_twice (const lk_router_options *self, size_t place)
{
    for (size_t i = 0; i < place; i++) {
        if (strcmp (self->plugin[i], self->plugin[place]) == 0) {
            return true;
        }
    }
    return false;
}

static lk_err
read_plugins (lk_router_options *self, const lk_config *config,
              lk_problem *problem)
{
    const char *key = "router/plugin", *name, *wrong = NULL;
    for (size_t i = 0; (name = lk_config_item (config, key, i)) != NULL; i++) {
        if (i == LK_PLUGINS_MAX) {
            wrong = "there are too many";
        } else if (!lk_plugin_is_name (name)) {
            wrong = "1 to 63 of A-Z a-z 0-9 . _ -";
        } else {
            self->plugin[i] = name;
            wrong = is_twice (self, i) ? "it is there twice" : NULL;
        }
        if (wrong != NULL) {
            return lk_config_refuse (config, key, i, wrong, problem);
        }
    }
    return LK_OK;
}

static const char *
behind (const char *text, const char *start)
{
    const size_t size = strlen (start);
    return strncmp (text, start, size) == 0 ? text + size : NULL;
}

static lk_err
check_endpoints (const lk_router_options *self, const lk_config *config,
                 lk_problem *problem)
{
    if (lk_endpoint_check (self->endpoint, LK_IPC, NULL) != LK_OK) {
        return lk_config_refuse (config, "router/endpoint", 0, "ipc://PATH",
                                 problem);
    }
    const char *listen = behind (self->listen, LK_TCP);
    if (listen == NULL || !lk_hostport_is_open (listen)) {
        return lk_config_refuse (config, "router/listen", 0,
                                 "tcp://ADDRESS:PORT, with a port from 1 to "
                                 "65535 or *",
                                 problem);
    }
    if (self->address[0] != '\0'
        && (!lk_hostport_is_open (self->address)
            || lk_hostport_is_wildcard (self->address))) {
        return lk_config_refuse (config, "router/address", 0,
                                 "ADDRESS:PORT, where others can dial it, with "
                                 "a port from 1 to 65535 or *",
                                 problem);
    }
    return LK_OK;
}

lk_err
lk_router_options_read (lk_router_options *self, const lk_config *config,
                        lk_problem *problem)
{
    *self = (lk_router_options) {0};
    read_text (self->listen, sizeof self->listen, config, "router/listen");
    read_text (self->address, sizeof self->address, config, "router/address");
    read_text (self->endpoint, sizeof self->endpoint, config,
               "router/endpoint");
    read_text (self->plugin_dir, sizeof self->plugin_dir, config,
               "router/plugin-dir");
    read_text (self->group, sizeof self->group, config, "router/group");
    self->mode = (mode_t) lk_config_number (config, "router/mode");
    self->dead_after_ms = lk_config_number (config, "router/dead-after");
    self->cache = (lk_cache_limits) {
        .ttl_s_max = lk_config_number (config, "router/cache-ttl"),
        .per_receiver_max = lk_config_number (config, "router/cache-messages"),
        .size_max = lk_config_number (config, "router/cache-size")};
    (void) lk_log_level_from_word (lk_config_text (config, "router/log-level"),
                                   &self->log_level);
    self->syslog = lk_config_flag (config, "router/syslog");
    lk_err error = read_host (self, config, problem);
    if (error == LK_OK) {
        error = check_endpoints (self, config, problem);
    }
    if (error == LK_OK) {
        error = read_neighbours (self, config, problem);
    }
    return error == LK_OK ? read_plugins (self, config, problem) : error;
}

/*  -------------------------------------------------------- address */

lk_err
lk_router_options_address (const lk_router_options *self, const char *bound,
                           char *address, size_t size, lk_problem *problem)
{
    const char *found = behind (bound, LK_TCP);
    const char *port = found != NULL ? strrchr (found, ':') : NULL;
    if (port == NULL) {
        return lk_problem_set (problem, LK_INVALID, "'%s' has no port", bound);
    }
    const char *wanted = self->address[0] != '\0' ? self->address : found;
    const size_t len = strlen (wanted);
    const bool open = len > 2 && strcmp (wanted + len - 2, ":*") == 0;
    snprintf (address, size, "%.*s%s", (int) (open ? len - 2 : len), wanted,
              open ? port : "");
    if (lk_hostport_is_wildcard (address)) {
        return lk_problem_set (problem, LK_INVALID,
                               "'%s' is no address to be dialled at: set "
                               "router/address",
                               address);
    }
    return lk_hostport_is_valid (address)
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "'%s' is not HOST:PORT: router/address",
                                 address);
}
