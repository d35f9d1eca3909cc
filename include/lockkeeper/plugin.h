/*  plugin.h - a service that a router loads into its own process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The shared object lockkeeper-NAME.so has one symbol that others see,
 *  `lockkeeper_plugin`. What it calls itself, lk_message_... and lk_bus_...,
 *  it finds in the router: it is linked against no library of lockkeeper. The
 *  service is the same as in a process of its own (service.h), with the same
 *  callbacks; but what it does not return from stops the router with all that
 *  passes through it, and what ends it ends the router.
 */

#ifndef LOCKKEEPER_PLUGIN_H
#define LOCKKEEPER_PLUGIN_H

#include <lockkeeper/service.h>

#ifdef __cplusplus
extern "C" {
#endif

/*  A router loads plug-ins of its own version only. */
#define LK_PLUGIN_VERSION "0.1.0"

typedef struct {
    const char *version; /* LK_PLUGIN_VERSION; stays the first */
    const lk_service *service;

    /*  Reads the settings, from the file that the router has or by default
     *  (NULL), and makes what the callbacks get as `self`. NULL: they make no
     *  sense, and `reason` says why; then the router does not start. */
    void *(*create) (const char *config, char *reason, size_t size);

    /*  Begins, before it attaches; false: it cannot, and has said why in its
     *  log. Then the router goes on without it. NULL: it always can. */
    bool (*begin) (void *self);

    /*  After the last callback, or instead of all. */
    void (*destroy) (void *self);
} lk_plugin;

/*  What the shared object defines. */
extern const lk_plugin lockkeeper_plugin;

#ifdef __cplusplus
}
#endif

#endif
