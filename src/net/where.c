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
    {.key = NULL},
};

/*  What else is in the file, or wrong with it, is others' concern. */
static const char *
read_config (const char *path)
{
    static _Thread_local char endpoint[PATH_MAX];
    lk_config *config = lk_config_new (keys);

    lk_config_be_lenient (config);
    (void) lk_config_load (config, path, NULL);
    snprintf (endpoint, sizeof endpoint, "%s",
              lk_config_text (config, "router/endpoint"));
    lk_config_destroy (&config);
    return endpoint;
}

const char *
lk_where_by (const char *path, const char *told)
{
    const char *named = told ? told : getenv ("LOCKKEEPER_ENDPOINT");

    return named && (told || named[0]) ? named : read_config (path);
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
lk_where (const char *told)
{
    return lk_where_by (NULL, told);
}
