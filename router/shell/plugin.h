/*  plugin.h - finds a shared object and looks whether it is a plug-in of ours
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Runs nothing of it: hosted.h does.
 */

#ifndef LK_ROUTER_PLUGIN_H
#define LK_ROUTER_PLUGIN_H

#include "net/problem.h"

#include <lockkeeper/plugin.h>

#include <stdbool.h>

typedef struct {
    void *object; /* dlopen's */
    const lk_plugin *plugin;
} lk_loaded;

/*  Loads DIR/lockkeeper-NAME.so; `dir` "": from beside this program or, if it
 *  is not there, from where plug-ins are installed. LK_INVALID and problem if
 *  there is none, or if it is none of this version. */
lk_err lk_plugin_load (lk_loaded *self, const char *name, const char *dir,
                       lk_problem *problem)
    __attribute__ ((warn_unused_result));

void lk_plugin_unload (lk_loaded *self);

#endif
