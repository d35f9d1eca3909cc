/*  host_name.c - what a host is called unless somebody says otherwise
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/host_name.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
lk_host_name (char name[LK_HOST_LEN_MAX + 1])
{
    char whole[HOST_NAME_MAX + 1] = "";
    (void) gethostname (whole, sizeof whole - 1);
    snprintf (name, LK_HOST_LEN_MAX + 1, "%.*s", (int) strcspn (whole, "."),
              whole);
}
