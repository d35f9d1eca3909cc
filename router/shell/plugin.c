/*  plugin.c - finds a shared object and looks whether it is a plug-in of ours
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "plugin.h"

#include "wire/address.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef char path[PATH_MAX];

/*  A plug-in of a build lies beside the programs of that build. */
static bool
is_beside_us (const char *name, path found)
{
    path program;
    ssize_t size = readlink ("/proc/self/exe", program, sizeof program - 1);
    program[size > 0 ? size : 0] = '\0';
    char *slash = strrchr (program, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return snprintf (found, sizeof (path), "%s/lockkeeper-%s.so", program, name)
               < (int) sizeof (path)
           && access (found, F_OK) == 0;
}

static lk_err
find (const char *name, const char *dir, path found, lk_problem *problem)
{
    if (dir[0] == '\0' && is_beside_us (name, found)) {
        return LK_OK;
    }
    const int size = snprintf (found, sizeof (path), "%s/lockkeeper-%s.so",
                               dir[0] != '\0' ? dir : LK_PLUGIN_DIR, name);
    if (size >= (int) sizeof (path)) {
        return lk_problem_set (problem, LK_INVALID,
                               "the path of plug-in '%s' is too long", name);
    }
    return access (found, F_OK) == 0
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "there is no plug-in '%s': no file '%s'", name,
                                 found);
}

static lk_err
check (const lk_loaded *self, const char *name, const char *file,
       lk_problem *problem)
{
    const lk_plugin *plugin = self->plugin;
    if (plugin == NULL) {
        return lk_problem_set (problem, LK_INVALID,
                               "'%s' is no plug-in: it has no "
                               "'lockkeeper_plugin'",
                               file);
    }
    if (plugin->version == NULL || strcmp (plugin->version, LK_VERSION) != 0) {
        return lk_problem_set (problem, LK_INVALID,
                               "plug-in '%s' is of version %s and this router "
                               "of %s: '%s'",
                               name,
                               plugin->version != NULL ? plugin->version : "?",
                               LK_VERSION, file);
    }
    return LK_OK;
}

lk_err
lk_plugin_load (lk_loaded *self, const char *name, const char *dir,
                lk_problem *problem)
{
    path file;
    *self = (lk_loaded) {0};
    lk_err error = find (name, dir, file, problem);
    if (error != LK_OK) {
        return error;
    }
    self->object = dlopen (file, RTLD_NOW | RTLD_LOCAL);
    if (self->object == NULL) {
        return lk_problem_set (problem, LK_INVALID,
                               "cannot load plug-in '%s': %s", name,
                               dlerror ());
    }
    self->plugin = dlsym (self->object, "lockkeeper_plugin");
    error = check (self, name, file, problem);
    if (error != LK_OK) {
        lk_plugin_unload (self);
    }
    return error;
}

void
lk_plugin_unload (lk_loaded *self)
{
    if (self->object != NULL) {
        (void) dlclose (self->object);
    }
    *self = (lk_loaded) {0};
}
