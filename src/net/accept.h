/*  accept.h - keeps descriptors back from those who connect
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ACCEPT_H
#define LK_ACCEPT_H

/*  The next connection of a listening socket, that does not block and is closed
 *  by exec. -1 and errno: EAGAIN if none waits; ECONNABORTED for one that is
 *  gone again, or was turned away for want of descriptors: try the next. */
int lk_accept (int fd);

#endif
