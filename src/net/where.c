/*  where.c - where this host's router is, for who speaks with it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/where.h"

#include "net/paths.h"

#include <stdlib.h>

const char *
lk_where (const char *told)
{
    const char *named = told ? told : getenv ("LOCKKEEPER_ENDPOINT");

    return named && (told || named[0]) ? named : LK_PATH_ENDPOINT;
}
