/*  descriptors.h - for a process of ours that stays when others have gone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_DESCRIPTORS_H
#define LK_DESCRIPTORS_H

#include <stddef.h>

/*  Closes all but those, and makes stdin, stdout and stderr nowhere: pipes and
 *  connections of whoever started us would seem to live on. */
void lk_descriptors_keep (const int *fd, size_t count);

#endif
