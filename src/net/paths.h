/*  paths.h - where the programs of a host find each other by default
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options, lockkeeper.conf(5) or $LOCKKEEPER_ENDPOINT say otherwise.
 */

#ifndef LK_PATHS_H
#define LK_PATHS_H

#define LK_PATH_CONFIG "/etc/lockkeeper/lockkeeper.conf"
#define LK_PATH_ISSUERS "/etc/lockkeeper/issuers"
#define LK_PATH_AUTHORITIES "/etc/lockkeeper/authorities"
#define LK_PATH_STATE_DIR "/var/lib/lockkeeper"
#define LK_PATH_RUN_DIR "/run/lockkeeper"
#define LK_PATH_ARBITER_STATE "/var/lib/lockkeeper-arbiter"
#define LK_PATH_ARBITER_RUN "/run/lockkeeper-arbiter"

/*  Of the router, for this host's processes. */
#define LK_PATH_ENDPOINT "ipc://" LK_PATH_RUN_DIR "/router"

/*  In the state folder: which host this is. */
#define LK_PATH_IDENTITY LK_PATH_STATE_DIR "/identity"

/*  In the state and run folders: the lock service's own. */
#define LK_PATH_STATE_FILE "lock.state"
#define LK_PATH_LEASE_FILE "lock.lease"
#define LK_PATH_SETTINGS_FILE "lock.settings"
#define LK_PATH_JOURNAL_FILE "lock.journal"

/*  Of the hosts on which people log in: NAME.conf of each authority, and
 *  ZONE.key of each zone. */
#define LK_PATH_AUTHORITIES "/etc/lockkeeper/authorities"
#define LK_PATH_ISSUERS "/etc/lockkeeper/issuers"

/*  In the state folder: this host is to become a member. */
#define LK_PATH_JOIN_FILE "join"

#endif
