/*  standard.c - see standard.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/standard.h"

#include <fcntl.h>
#include <unistd.h>

/*  open () takes the least number that is free. */
void
lk_standard_open (void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl (fd, F_GETFD) == -1) {
            (void) !open ("/dev/null",
                          fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}
