/*  where.c - where this host's router is, for who speaks with it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/where.h"

#include "net/config.h"
#include "net/endpoint.h"
#include "net/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  The router's own key, so that both go by one word. */
static const lk_config_key keys[] = {
    {"router/endpoint", LK_CONFIG_TEXT, 1, PATH_MAX - 1, NULL, LK_PATH_ENDPOINT,
     LK_CONFIG_RESTART, "where the router is"},
    {"router/admin-endpoint", LK_CONFIG_TEXT, 0, PATH_MAX - 1, NULL, "",
     LK_CONFIG_RESTART, "where administrators find it"},
    {.key = NULL},
};

#define ADMIN "-admin"

/*  Of the router: good until this thread asks again. */
typedef struct {
    char endpoint[PATH_MAX];
    char admin[PATH_MAX + sizeof ADMIN];
} places;

/*  What else is in the file, or wrong with it, is others' concern. */
static const places *
read_config (const char *path)
{
    static _Thread_local places self;
    lk_config *config = lk_config_new (keys);

    lk_config_be_lenient (config);
    (void) lk_config_load (config, path, NULL);
    snprintf (self.endpoint, sizeof self.endpoint, "%s",
              lk_config_text (config, "router/endpoint"));
    const char *admin = lk_config_text (config, "router/admin-endpoint");
    snprintf (self.admin, sizeof self.admin, "%s%s",
              admin[0] ? admin : self.endpoint, admin[0] ? "" : ADMIN);
    lk_config_destroy (&config);
    return &self;
}

const char *
lk_where_by (const char *path, const char *told)
{
    const char *named = told ? told : getenv ("LOCKKEEPER_ENDPOINT");

    return named && (told || named[0]) ? named : read_config (path)->endpoint;
}

static bool
is_far (const char *endpoint)
{
    return strncmp (endpoint, LK_TCP, strlen (LK_TCP)) == 0;
}

/*  An endpoint that does not lead to another machine is not of the file's. */
const char *
lk_where_client (const char *told, const char **endpoint_p)
{
    const char *file = told ? told : getenv ("LOCKKEEPER_CLIENT");
    const char *servers = getenv ("LOCKKEEPER_ENDPOINT");

    if (!file || (!told && !file[0])
        || (!told && *endpoint_p && !is_far (*endpoint_p))) {
        return NULL;
    }
    if (!*endpoint_p && servers && is_far (servers)) {
        *endpoint_p = servers;
    }
    return file;
}

const char *
lk_where_admin (const char *path)
{
    const char *named = getenv ("LOCKKEEPER_ENDPOINT");
    if (named && named[0]) {
        return named;
    }
    const places *found = read_config (path);
    return lk_endpoint_check (found->admin, LK_IPC, NULL) == LK_OK
                   && lk_endpoint_absence (found->admin) == 0
               ? found->admin
               : found->endpoint;
}

const char *
lk_where (const char *told)
{
    return lk_where_by (NULL, told);
}
