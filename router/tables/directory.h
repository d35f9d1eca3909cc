/*  directory.h - the services of other hosts, as their routers told us
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure table of (host, service). What is in it is up; a service that went
 *  down, or whose host is out of sight, is taken out.
 */

#ifndef LK_DIRECTORY_H
#define LK_DIRECTORY_H

#include "bounds.h"

#include <lockkeeper/error.h>
#include <lockkeeper/message.h>

typedef struct lk_remote lk_remote;

struct lk_remote {
    char host[LK_HOST_LEN_MAX + 1];
    char service[LK_SERVICE_LEN_MAX + 1];
    char version[LK_VERSION_LEN_MAX + 1];
    int64_t pid;
    lk_remote *next; /* in the order in which they were told */
};

typedef struct {
    lk_remote *first;
} lk_directory;

void lk_directory_init (lk_directory *self);
void lk_directory_clear (lk_directory *self);

/*  Enters a service or brings its entry up to date. LK_OVERLOADED if the
 *  host has LK_REMOTES_MAX of them already. Texts too long are cut. */
lk_err lk_directory_set (lk_directory *self, const char *host,
                         const char *service, const char *version, int64_t pid)
    __attribute__ ((warn_unused_result));

/*  Takes a service out; true if it was there. */
bool lk_directory_drop (lk_directory *self, const char *host,
                        const char *service);

/*  Takes one service of that host out and gives it to the caller, who frees
 *  it (lk_free). NULL if none is left. */
lk_remote *lk_directory_take (lk_directory *self, const char *host);

/*  A service of a host; `host` NULL: of the host that told it first. The
 *  name is `size` bytes. NULL if there is none. */
const lk_remote *lk_directory_find (const lk_directory *self, const char *host,
                                    const char *service, size_t size);

#endif
