/*  host_name.h - what a host is called unless somebody says otherwise
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A router names its host, and `lockkeeper init` has to name it alike.
 */

#ifndef LK_HOST_NAME_H
#define LK_HOST_NAME_H

#include <lockkeeper/message.h>

/*  The system's name up to its first dot, cut at the limit; "" if it has
 *  none. Whether it may name a host, lk_address_is_name says. */
void lk_host_name (char name[LK_HOST_LEN_MAX + 1]);

#endif
