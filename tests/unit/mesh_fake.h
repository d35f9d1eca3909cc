/*  mesh_fake.h - links of h1 in a table, for tests of router/tables/mesh.c
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_MESH_FAKE_H
#define LK_MESH_FAKE_H

#include "mesh.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEAD_AFTER = 1000, NOW = 5000, LIVE = LK_DO_LIVE | LK_DO_INTRODUCE };

static lk_mesh mesh;
static const lk_party own = {.host = "h1",
                             .address = "10.0.0.1:1",
                             .version = "1",
                             .incarnation = 11};
static const lk_party h2 = {.host = "h2",
                            .address = "10.0.0.2:1",
                            .version = "1",
                            .incarnation = 22};

static inline void
set_up (void)
{
    lk_mesh_init (&mesh, DEAD_AFTER);
}

static inline void
tear_down (void)
{
    lk_mesh_clear (&mesh);
}

static inline lk_identity
identity (const char *text)
{
    lk_identity result;
    lk_identity_set (&result, text, strlen (text));
    return result;
}

static inline void
meet (lk_mesh_link *link, const lk_party *peer, const char *by)
{
    const lk_identity met_by = identity (by);
    lk_mesh_link_meet (link, peer, &met_by, NOW);
}

#endif
