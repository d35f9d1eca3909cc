/*  whole_file.h - reads and writes all there is, however many calls it takes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_WHOLE_FILE_H
#define LK_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*  Up to `room` bytes; less only at the end of the file. -1 and errno. */
ssize_t lk_file_read (int fd, char *data, size_t room);

/*  False and errno: part of it may be there. */
bool lk_file_write (int fd, const char *data, size_t size);

/*  A new file of mode 0600 in that folder, to be written to; never one that was
 *  there, nor what a link points to: who owns the folder may have put it there
 *  for root to spoil. What root makes is for the folder's owner. -1 and errno:
 *  EEXIST if something of that name is there. */
int lk_file_make (int folder, const char *name);

#endif
