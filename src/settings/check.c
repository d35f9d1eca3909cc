/*  check.c - whether this host has what its configuration wants
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/check.h"
#include "settings/identity.h"
#include "settings/own_address.h"

#include "net/endpoint.h"
#include "net/host_name.h"
#include "net/hostport.h"
#include "net/paths.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAEMON_USER "lockkeeper"

/*  -------------------------------------------------------- files */

/*  Who may write to it may do as the daemons do. */
static void
check_files (lk_config *config)
{
    const char *path;
    struct stat about;
    for (size_t i = 0; (path = lk_config_file (config, i)) != NULL; i++) {
        if (stat (path, &about) == 0 && S_ISREG (about.st_mode)
            && (about.st_mode & S_IWOTH) != 0) {
            lk_config_keep_mistake (config, path, 0,
                                    "anybody may write to it: chmod o-w");
        }
    }
}

/*  The owner of a daemon's folder should be its user. Root may write anywhere,
 *  which tells nothing. */
static void
check_writable (lk_config *config, const char *key, const char *dir,
                const struct stat *about)
{
    const struct passwd *user = getpwnam (DAEMON_USER);
    if (geteuid () == 0 && user != NULL && about->st_uid != user->pw_uid) {
        lk_config_complain (config, key,
                            "the folder '%s' is not the user '%s's, as which "
                            "the daemons run: chown %s",
                            dir, DAEMON_USER, DAEMON_USER);
    } else if (about->st_uid == geteuid () && access (dir, W_OK | X_OK) != 0) {
        lk_config_complain (config, key, "the folder '%s' is not writable: %s",
                            dir, strerror (errno));
    }
}

static void
check_folder (lk_config *config, const char *key, const char *dir)
{
    struct stat about;
    if (stat (dir, &about) != 0) {
        if (errno == ENOENT) {
            lk_config_complain (config, key,
                                "there is no folder '%s': make it, for the "
                                "user of the daemons",
                                dir);
        }
    } else if (!S_ISDIR (about.st_mode)) {
        lk_config_complain (config, key, "'%s' is no folder", dir);
    } else {
        check_writable (config, key, dir, &about);
    }
}

/*  A lock service that looks for its router elsewhere never finds it. */
static void
check_endpoints (lk_config *config, const lk_router_options *router,
                 const lk_lockd_options *lock)
{
    if (strcmp (router->endpoint, lock->endpoint) != 0) {
        lk_config_complain (config, "lock/endpoint",
                            "the lock service would seek the router at '%s', "
                            "and it is at '%s': leave 'lock/endpoint' out, "
                            "then it follows 'router/endpoint'",
                            lock->endpoint, router->endpoint);
    }
}

/*  That below /run is made when the daemons start. */
static void
check_folders (lk_config *config, const lk_router_options *router,
               const lk_lockd_options *lock)
{
    char dir[PATH_MAX];
    const char *path = router->endpoint + strlen (LK_IPC);
    const char *slash = strrchr (path, '/');
    check_folder (config, "lock/state", lock->state_dir);
    if (strcmp (lock->run_dir, LK_PATH_RUN_DIR) != 0) {
        check_folder (config, "lock/run", lock->run_dir);
    }
    if (slash == NULL || slash == path || path[0] == '@') {
        return;
    }
    snprintf (dir, sizeof dir, "%.*s", (int) (slash - path), path);
    if (strcmp (dir, LK_PATH_RUN_DIR) != 0
        && strcmp (dir, lock->run_dir) != 0) {
        check_folder (config, "router/endpoint", dir);
    }
}

static void
check_group (lk_config *config, const char *key, const char *group)
{
    const bool number = group[strspn (group, "0123456789")] == '\0';
    if (!number && getgrnam (group) == NULL) {
        lk_config_complain (config, key,
                            "there is no group '%s': addgroup --system %s, or "
                            "name another one",
                            group, group);
    }
}

/*  -------------------------------------------------------- this host */

static void
check_identity (lk_config *config, const lk_router_options *router)
{
    lk_own_identity identity;
    lk_problem problem = {0};
    char name[LK_HOST_LEN_MAX + 1];
    if (router->host[0] != '\0') {
        return;
    }
    lk_err error = lk_own_identity_read (&identity, router->identity, &problem);
    if (error == LK_OK) {
        error = lk_own_identity_check (&identity, router->identity, &problem);
    }
    if (error == LK_INVALID || error == LK_REFUSED) {
        lk_config_complain (config, "router/identity", "%s", problem.text);
    }
    lk_host_name (name);
    if (error == LK_UNKNOWN && router->neighbour[0] != NULL
        && (name[0] == '\0' || strcmp (name, "localhost") == 0)) {
        lk_config_complain (config, "router/host",
                            "the system is called '%s', as are others: give it "
                            "another name, or set 'router/host'",
                            name);
    }
}

static void
check_resolved (lk_config *config, size_t position, const char *hostport)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[LK_ADDRESS_LEN_MAX + 1];
    if (!lk_hostport_is_valid (hostport) || !lk_hostport_has_name (hostport)) {
        return;
    }
    snprintf (host, sizeof host, "%.*s",
              (int) (strrchr (hostport, ':') - hostport), hostport);
    const int error = getaddrinfo (host, NULL, &hints, &found);
    if (error != 0) {
        char text[200];
        snprintf (text, sizeof text,
                  "its name does not resolve (%s): correct it, or say numbers",
                  gai_strerror (error));
        lk_config_refuse (config, "router/neighbour", position, text);
    } else {
        freeaddrinfo (found);
    }
}

static void
check_own (lk_config *config, const char *key, const char *endpoint)
{
    char own[LK_ADDRESS_LEN_MAX + 1];
    const char *hostport = endpoint + strlen (LK_TCP);
    if (strlen (endpoint) > strlen (LK_TCP) && lk_hostport_is_open (hostport)
        && !lk_hostport_has_name (hostport)
        && !lk_hostport_is_wildcard (hostport)
        && !lk_own_address_is (hostport, own)) {
        lk_config_refuse (config, key, 0, "it is no address of this host");
    }
}

static void
check_address (lk_config *config, const lk_router_options *router)
{
    char listen[LK_ADDRESS_LEN_MAX + 1];
    lk_problem problem = {0};
    if (router->listen[0] == '\0') {
        if (lk_own_address_find (router->neighbour, listen, &problem)
            != LK_OK) {
            lk_config_complain (config, "router/neighbour", "%s", problem.text);
        }
        return;
    }
    check_own (config, "router/listen", router->listen);
}

void
lk_settings_check (lk_config *config, const lk_router_options *router,
                   const lk_lockd_options *lock)
{
    check_files (config);
    if (router->group[0] != '\0') {
        check_group (config, "router/group", router->group);
    }
    if (router->admin_group[0] != '\0') {
        check_group (config, "router/admin-group", router->admin_group);
    }
    check_identity (config, router);
    for (size_t i = 0; router->neighbour[i] != NULL; i++) {
        check_resolved (config, i, router->neighbour[i]);
    }
    check_address (config, router);
    check_own (config, "router/listen-clients", router->listen_clients);
    check_endpoints (config, router, lock);
    check_folders (config, router, lock);
}
