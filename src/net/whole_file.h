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

#endif
