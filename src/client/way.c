/*  way.c - see way.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/way.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

void
lk_way_make_name (const char *head, const char *base, const char *tail,
                  char name[LK_SERVICE_LEN_MAX + 1])
{
    const size_t begin = strlen (head);
    const size_t room = LK_SERVICE_LEN_MAX - begin - strlen (tail);
    size_t size = 0;
    memcpy (name, head, begin);
    for (; size < room && base[size] != '\0'; size++) {
        name[begin + size] = lk_address_allows (base[size]) ? base[size] : '_';
    }
    snprintf (name + begin + size, LK_SERVICE_LEN_MAX + 1 - begin - size, "%s",
              tail);
}

unsigned
lk_way_count (void)
{
    static atomic_uint sessions;
    return atomic_fetch_add (&sessions, 1) + 1;
}
