/*  bounds.h - the router's limits; lockkeeper-router(8) documents each
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_BOUNDS_H
#define LK_BOUNDS_H

#include "settings/router.h" /* has those of neighbours and plug-ins */

#define LK_SESSIONS_MAX 20000        /* local processes that are registered */
#define LK_CLIENT_SESSIONS_MAX 20000 /* applications on other machines */
#define LK_CLIENT_SESSIONS_OF_KEY_MAX 10000 /* of one of these machines */
#define LK_CLIENT_SILENT_MS 60000           /* until such a session is over */
#define LK_SUBSCRIPTIONS_MAX 64             /* of one of them */
#define LK_GROUPS_MAX 256       /* of a process, that are looked at */
#define LK_CREDENTIAL_LATE_S 60 /* until a session without one is cut off */
#define LK_REMOTES_MAX 1024     /* services known of one other host */
#define LK_STRANGERS_MAX 1000   /* unregistered ones with answers under way, */
#define LK_STRANGER_SIZE_MAX 4096 /* of so many bytes, to each, */
#define LK_STRANGER_BODY_MAX 8192 /* and of what they say */
#define LK_VERSION_LEN_MAX 31     /* of a service's version */
#define LK_REASON_LEN_MAX 127     /* of a sentence to an operator */

/*  What waits in the router for one receiver that does not read, beside what
 *  the kernel queues: frames and bytes. */
#define LK_OUTBOX_FRAMES_MAX 4096
#define LK_OUTBOX_SIZE_MAX (16 * 1024 * 1024)

/*  The same for all receivers of one user, but root and the router's own; for
 *  all of the host; and for all neighbours. */
#define LK_USER_SIZE_MAX ((size_t) 64 * 1024 * 1024)
#define LK_HOST_SIZE_MAX ((size_t) 256 * 1024 * 1024)
#define LK_NEIGHBOURS_SIZE_MAX ((size_t) 256 * 1024 * 1024)

/*  The same as the first behind that bound, for what the router itself
 *  tells. */
#define LK_OUTBOX_TOLD_FRAMES_MAX 64
#define LK_OUTBOX_TOLD_SIZE_MAX (1024 * 1024)

/*  A neighbour is told that its frames were heard after so many, and bytes, if
 *  not by a heartbeat. */
#define LK_UNTOLD_FRAMES_MAX 256
#define LK_UNTOLD_SIZE_MAX ((size_t) 256 * 1024)

/*  Small frames are packed together up to this size. */
#define LK_PACK_SIZE_MAX (64 * 1024)

#endif
