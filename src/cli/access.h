/*  access.h - why a user may not use the router, and what to do about it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ACCESS_H
#define LK_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

/*  Whether that errno says that one may not. */
bool lk_cli_is_forbidden (int number);

/*  With the names of user and group, for the first endpoint of the list that
 *  is forbidden. */
void lk_cli_access_advice (const char *list, char *text, size_t size);

#endif
