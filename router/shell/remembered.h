/*  remembered.h - learned neighbours, over a restart of the router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A small file in ZPL, a line for each: h2 = "10.0.0.2:7411". It may be
 *  lost, or be the old one: then they are learned once more. So nobody waits
 *  for a disk.
 */

#ifndef LK_REMEMBERED_H
#define LK_REMEMBERED_H

#include "router.h"

typedef struct {
    const char *path; /* borrowed; "": nothing is kept */
    char *text;       /* as it was read or written */
    bool is_said;     /* in the log: it cannot be written */
} lk_remembered;

/*  Reads the file, if there is one, into the router's neighbours. */
void lk_remembered_begin (lk_remembered *self, const char *path,
                          lk_router *router);

/*  Writes what is to be remembered now, if that has changed. */
void lk_remembered_keep (lk_remembered *self, lk_router *router);

void lk_remembered_clear (lk_remembered *self);

#endif
