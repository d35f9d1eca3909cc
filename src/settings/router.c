/*  router.c - what a router can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/router.h"

#include "net/endpoint.h"
#include "net/hostport.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>

/*  Files beside the identity. */
#define NEIGHBOURS "neighbours"
#define KEYS "keys"
#define CLIENTS_KEYS "clients-keys"

/*  Behind the endpoint. */
#define ADMIN "-admin"

/*  -------------------------------------------------------- reading */

static void
read_text (char *text, size_t size, const lk_config *config, const char *key)
{
    const char *value = lk_config_text (config, key);
    snprintf (text, size, "%s", value != NULL ? value : "");
}

/*  Empty: by default, as identity.h says. */
static void
read_host (lk_router_options *self, lk_config *config)
{
    read_text (self->host, sizeof self->host, config, "router/host");
    if (self->host[0] != '\0'
        && !lk_address_is_name (lk_slice_of (self->host))) {
        lk_config_refuse (config, "router/host", 0,
                          "1 to 63 of A-Z a-z 0-9 . _ -");
    }
}

static void
put_beside_identity (const lk_router_options *self, const char *name,
                     char path[PATH_MAX])
{
    const char *slash = strrchr (self->identity, '/');
    if (slash != NULL
        && (size_t) (slash - self->identity) + strlen (name) + 2 < PATH_MAX) {
        snprintf (path, PATH_MAX, "%.*s%s", (int) (slash - self->identity) + 1,
                  self->identity, name);
    }
}

/*  By default beside the identity; a host that has none keeps nothing. */
static void
read_remembered (lk_router_options *self, const lk_config *config)
{
    read_text (self->remembered, sizeof self->remembered, config,
               "router/remembered");
    if (self->remembered[0] == '\0' && self->host[0] == '\0') {
        put_beside_identity (self, NEIGHBOURS, self->remembered);
    }
}

static void
read_security (lk_router_options *self, lk_config *config)
{
    const char *word = lk_config_text (config, "router/security");
    self->security = strcmp (word, "curve") == 0  ? LK_SECURITY_CURVE
                     : strcmp (word, "both") == 0 ? LK_SECURITY_BOTH
                                                  : LK_SECURITY_NONE;
    read_text (self->keys, sizeof self->keys, config, "router/keys");
    if (self->keys[0] == '\0') {
        put_beside_identity (self, KEYS, self->keys);
    }
    read_text (self->listen_curve, sizeof self->listen_curve, config,
               "router/listen-curve");
    if (self->listen_curve[0] != '\0' && self->security != LK_SECURITY_BOTH) {
        lk_config_refuse (config, "router/listen-curve", 0,
                          "only while router/security is both");
    }
}

static void
read_clients (lk_router_options *self, lk_config *config)
{
    read_text (self->listen_clients, sizeof self->listen_clients, config,
               "router/listen-clients");
    read_text (self->clients_keys, sizeof self->clients_keys, config,
               "router/clients-keys");
    self->beacon = lk_config_number (config, "router/beacon");
    if (self->beacon != 0 && self->listen_clients[0] == '\0') {
        lk_config_refuse (config, "router/beacon", 0,
                          "only with router/listen-clients");
    }
    if (self->clients_keys[0] == '\0') {
        put_beside_identity (self, CLIENTS_KEYS, self->clients_keys);
    }
}

/*  By default beside the other one, unless that leaves no room for it in the
 *  name of a socket. */
static void
read_admin (lk_router_options *self, const lk_config *config)
{
    const size_t most = sizeof ((struct sockaddr_un *) NULL)->sun_path
                        - sizeof ADMIN + sizeof LK_IPC - 1;
    read_text (self->admin_endpoint, sizeof self->admin_endpoint, config,
               "router/admin-endpoint");
    read_text (self->admin_group, sizeof self->admin_group, config,
               "router/admin-group");
    if (self->admin_endpoint[0] == '\0' && strlen (self->endpoint) <= most) {
        snprintf (self->admin_endpoint, sizeof self->admin_endpoint,
                  "%.*s" ADMIN, (int) most, self->endpoint);
    }
}

/*  An item of a list is there as well, before that place. */
static bool
is_twice (const lk_config *config, const char *key, size_t place)
{
    const char *item = lk_config_item (config, key, place);
    for (size_t i = 0; i < place; i++) {
        if (strcmp (lk_config_item (config, key, i), item) == 0) {
            return true;
        }
    }
    return false;
}

static void
read_neighbours (lk_router_options *self, lk_config *config)
{
    const char *key = "router/neighbour", *address;
    for (size_t i = 0; (address = lk_config_item (config, key, i)) != NULL;
         i++) {
        if (i == LK_LINKS_MAX) {
            char most[32];
            snprintf (most, sizeof most, "%d at most", LK_LINKS_MAX);
            lk_config_refuse (config, key, i, most);
            return;
        }
        if (!lk_hostport_is_valid (address)) {
            lk_config_refuse (config, key, i,
                              "HOST:PORT, with a port from 1 to 65535");
        } else if (is_twice (config, key, i)) {
            lk_config_refuse (config, key, i, "it is there twice");
        }
        self->neighbour[i] = address;
    }
}

static void
read_plugins (lk_router_options *self, lk_config *config)
{
    const char *key = "router/plugin", *name;
    for (size_t i = 0; (name = lk_config_item (config, key, i)) != NULL; i++) {
        if (i == LK_PLUGINS_MAX) {
            lk_config_refuse (config, key, i, "there are too many");
            return;
        }
        if (!lk_address_is_name (lk_slice_of (name))) {
            lk_config_refuse (config, key, i, "1 to 63 of A-Z a-z 0-9 . _ -");
        } else if (is_twice (config, key, i)) {
            lk_config_refuse (config, key, i, "it is there twice");
        }
        self->plugin[i] = name;
    }
}

static const char *
behind (const char *text, const char *start)
{
    const size_t size = strlen (start);
    return strncmp (text, start, size) == 0 ? text + size : NULL;
}

static void
check_port (lk_config *config, const char *key, const char *endpoint)
{
    const char *listen = behind (endpoint, LK_TCP);
    if (endpoint[0] != '\0'
        && (listen == NULL || !lk_hostport_is_open (listen))) {
        lk_config_refuse (config, key, 0,
                          "tcp://ADDRESS:PORT, with a port from 1 to 65535 or "
                          "*");
    }
}

static void
check_endpoints (const lk_router_options *self, lk_config *config)
{
    if (lk_endpoint_check (self->endpoint, LK_IPC, NULL) != LK_OK) {
        lk_config_refuse (config, "router/endpoint", 0, "ipc://PATH");
    }
    if (self->admin_endpoint[0] != '\0'
        && (lk_endpoint_check (self->admin_endpoint, LK_IPC, NULL) != LK_OK
            || strcmp (self->admin_endpoint, self->endpoint) == 0)) {
        lk_config_refuse (config, "router/admin-endpoint", 0,
                          "ipc://PATH, another one than router/endpoint");
    }
    check_port (config, "router/listen", self->listen);
    check_port (config, "router/listen-curve", self->listen_curve);
    check_port (config, "router/listen-clients", self->listen_clients);
    if (self->address[0] != '\0'
        && (!lk_hostport_is_open (self->address)
            || lk_hostport_is_wildcard (self->address))) {
        lk_config_refuse (config, "router/address", 0,
                          "ADDRESS:PORT, where others can dial it, with a port "
                          "from 1 to 65535 or *");
    }
}

lk_err
lk_router_options_read (lk_router_options *self, lk_config *config,
                        lk_problem *problem)
{
    const size_t before = lk_config_mistakes (config);
    *self = (lk_router_options) {0};
    read_text (self->listen, sizeof self->listen, config, "router/listen");
    read_text (self->address, sizeof self->address, config, "router/address");
    read_text (self->endpoint, sizeof self->endpoint, config,
               "router/endpoint");
    read_admin (self, config);
    read_text (self->plugin_dir, sizeof self->plugin_dir, config,
               "router/plugin-dir");
    read_text (self->group, sizeof self->group, config, "router/group");
    read_text (self->identity, sizeof self->identity, config,
               "router/identity");
    self->mode = (mode_t) lk_config_number (config, "router/mode");
    self->dead_after_ms = lk_config_number (config, "router/dead-after");
    self->cache = (lk_cache_limits) {
        .ttl_s_max = lk_config_number (config, "router/cache-ttl"),
        .per_receiver_max = lk_config_number (config, "router/cache-messages"),
        .size_max = lk_config_number (config, "router/cache-size")};
    (void) lk_log_level_from_word (lk_config_text (config, "router/log-level"),
                                   &self->log_level);
    self->syslog = lk_config_flag (config, "router/syslog");
    read_text (self->zone_logs, sizeof self->zone_logs, config,
               "lock/zone-logs");
    read_host (self, config);
    read_remembered (self, config);
    read_security (self, config);
    read_clients (self, config);
    check_endpoints (self, config);
    self->local_zone_count = lk_local_zones_read (self->local_zone, config);
    read_neighbours (self, config);
    read_plugins (self, config);
    return lk_config_verdict (config, before, problem);
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

void
lk_router_clients_address (const char *bound, const char *address, char *found,
                           size_t size)
{
    const char *hostport = behind (bound, LK_TCP);
    const char *port = hostport != NULL ? strrchr (hostport, ':') : NULL;
    const char *end = strrchr (address, ':');
    if (port == NULL || end == NULL) {
        snprintf (found, size, "%s", "");
    } else if (lk_hostport_is_wildcard (hostport)) {
        snprintf (found, size, "%.*s%s", (int) (end - address), address, port);
    } else {
        snprintf (found, size, "%s", hostport);
    }
}
