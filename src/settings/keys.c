/*  keys.c - all settings that there are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/keys.h"

#include "net/log.h"
#include "net/paths.h"
#include <lockkeeper/message.h>

#include <limits.h>

#define PATH (PATH_MAX - 1)
#define PRIORITIES "off|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15"

/*  Times are milliseconds. A lock service pings every 250 ms: what is silent
 *  for less is not dead. */
const lk_config_key lk_settings[] = {
    {"router/host", LK_CONFIG_TEXT, 1, LK_HOST_LEN_MAX, NULL, NULL,
     LK_CONFIG_RESTART, "name of this host, if not that of the system"},
    {"router/identity", LK_CONFIG_TEXT, 1, PATH, NULL, LK_PATH_IDENTITY,
     LK_CONFIG_RESTART, "file that keeps the name of this host"},
    {"router/remembered", LK_CONFIG_TEXT, 1, PATH, NULL, NULL,
     LK_CONFIG_RESTART, "file of the neighbours that were learned"},
    {"router/listen", LK_CONFIG_TEXT, 1, LK_ADDRESS_LEN_MAX, NULL, NULL,
     LK_CONFIG_RESTART,
     "where to listen for other routers, if not at this host's own neighbour"},
    {"router/security", LK_CONFIG_CHOICE, 0, 0, "none|both|curve", "none",
     LK_CONFIG_RESTART, "whether routers speak encrypted, by keys"},
    {"router/keys", LK_CONFIG_TEXT, 1, PATH, NULL, NULL, LK_CONFIG_RESTART,
     "file of the keys of the cluster's routers"},
    {"router/listen-curve", LK_CONFIG_TEXT, 1, LK_ADDRESS_LEN_MAX, NULL, NULL,
     LK_CONFIG_RESTART, "a second port, encrypted, while security is both"},
    {"router/listen-clients", LK_CONFIG_TEXT, 1, LK_ADDRESS_LEN_MAX, NULL, NULL,
     LK_CONFIG_RESTART,
     "where to listen for applications on other machines, encrypted"},
    {"router/clients-keys", LK_CONFIG_TEXT, 1, PATH, NULL, NULL,
     LK_CONFIG_RESTART, "file of the keys that those know this host by"},
    {"router/beacon", LK_CONFIG_NUMBER, 0, 65535, NULL, "0", LK_CONFIG_RESTART,
     "UDP port to tell machines on the same network of those; 0: do not"},
    {"router/address", LK_CONFIG_TEXT, 1, LK_ADDRESS_LEN_MAX, NULL, NULL,
     LK_CONFIG_RESTART, "where the others dial this router, if not there"},
    {"router/neighbour", LK_CONFIG_LIST, 1, LK_ADDRESS_LEN_MAX, NULL, NULL,
     LK_CONFIG_RELOAD, "routers of all hosts, this one's too; once for each"},
    {"router/dead-after", LK_CONFIG_NUMBER, 100, 60000, NULL, "1000",
     LK_CONFIG_RESTART, "silence of a neighbour that counts as death, in ms"},
    {"router/cache-ttl", LK_CONFIG_NUMBER, 0, 255, NULL, "60", LK_CONFIG_RELOAD,
     "how long messages may wait for a service, in s"},
    {"router/cache-messages", LK_CONFIG_NUMBER, 0, 100000, NULL, "1000",
     LK_CONFIG_RELOAD, "how many may wait for one service"},
    {"router/cache-size", LK_CONFIG_NUMBER, 0, 16777216, NULL, "4194304",
     LK_CONFIG_RELOAD, "memory for all that wait, in bytes"},
    {"router/plugin", LK_CONFIG_LIST, 1, LK_SERVICE_LEN_MAX, NULL, NULL,
     LK_CONFIG_RESTART, "service in the router's process, like lock"},
    {"router/plugin-dir", LK_CONFIG_TEXT, 1, PATH, NULL, NULL,
     LK_CONFIG_RESTART, "folder of plug-ins, if not where they are installed"},
    {"router/endpoint", LK_CONFIG_TEXT, 1, PATH, NULL, LK_PATH_ENDPOINT,
     LK_CONFIG_RESTART, "where the processes of this host attach"},
    {"router/mode", LK_CONFIG_OCTAL, 0, 0777, NULL, "0660", LK_CONFIG_RESTART,
     "mode of that file"},
    {"router/group", LK_CONFIG_TEXT, 1, 63, NULL, NULL, LK_CONFIG_RESTART,
     "group of that file, whose users may have locks"},
    {"router/admin-endpoint", LK_CONFIG_TEXT, 1, PATH, NULL, NULL,
     LK_CONFIG_RESTART,
     "where admins attach, if not at router/endpoint and -admin"},
    {"router/admin-group", LK_CONFIG_TEXT, 1, 63, NULL, NULL, LK_CONFIG_RESTART,
     "group of that file, whose users administer the cluster"},
    {"router/log-level", LK_CONFIG_CHOICE, 0, 0, LK_LOG_LEVELS, "notice",
     LK_CONFIG_RELOAD, "least important lines that are logged"},
    {"router/syslog", LK_CONFIG_FLAG, 0, 0, NULL, "no", LK_CONFIG_RESTART,
     "log to syslog, not to standard error"},
    {"local/zone", LK_CONFIG_LIST, 1, 255, NULL, NULL, LK_CONFIG_RELOAD,
     "zone of a user or @group of this host, and a role; once for each"},
    {"lock/endpoint", LK_CONFIG_TEXT, 1, PATH, NULL, NULL, LK_CONFIG_RESTART,
     "the router of this host, if not at router/endpoint"},
    {"lock/state", LK_CONFIG_TEXT, 1, PATH, NULL, LK_PATH_STATE_DIR,
     LK_CONFIG_RESTART, "folder of the state file"},
    {"lock/run", LK_CONFIG_TEXT, 1, PATH, NULL, LK_PATH_RUN_DIR,
     LK_CONFIG_RESTART, "folder of the lease page"},
    {"lock/zone-logs", LK_CONFIG_TEXT, 1, PATH, NULL, NULL, LK_CONFIG_RESTART,
     "folder of a log for each zone, if there are to be any"},
    {"lock/priority", LK_CONFIG_CHOICE, 0, 0, PRIORITIES, "8",
     LK_CONFIG_RESTART, "the lower, the rather a leader; off: never"},
    {"lock/leaders", LK_CONFIG_CHOICE, 0, 0, "1|3|5", "3", LK_CONFIG_RESTART,
     "leaders at most"},
    {"lock/hosts-min", LK_CONFIG_NUMBER, 0, 64, NULL, "0", LK_CONFIG_RESTART,
     "hosts that have to be there before new locks are granted; 0: off"},
    {"lock/dead-after", LK_CONFIG_NUMBER, 300, 60000, NULL, "1000",
     LK_CONFIG_RESTART,
     "silence of a lock service that counts as death, in ms"},
    {"lock/leader-lease", LK_CONFIG_NUMBER, 600, 600000, NULL, "2000",
     LK_CONFIG_EVERYWHERE, "time of a leader without a quorum, in ms"},
    {"lock/host-lease", LK_CONFIG_NUMBER, 1900, 3600000, NULL, "8000",
     LK_CONFIG_EVERYWHERE, "time of a host's locks without leaders, in ms"},
    {"lock/grace", LK_CONFIG_NUMBER, 0, 86400000, NULL, "60000",
     LK_CONFIG_RESTART, "time for holders after their duration, in ms"},
    {"lock/digest", LK_CONFIG_NUMBER, 250, 86400000, NULL, "10000",
     LK_CONFIG_RESTART, "time between comparisons of all tables, in ms"},
    {"lock/journal", LK_CONFIG_CHOICE, 0, 0, "off|async|sync", "off",
     LK_CONFIG_RESTART,
     "what a leader has is also on its disk: soon, or first"},
    {"lock/log-level", LK_CONFIG_CHOICE, 0, 0, LK_LOG_LEVELS, "notice",
     LK_CONFIG_RESTART, "least important lines that are logged"},
    {"lock/syslog", LK_CONFIG_FLAG, 0, 0, NULL, "no", LK_CONFIG_RESTART,
     "log to syslog, not to standard error"},
    {NULL, LK_CONFIG_TEXT, 0, 0, NULL, NULL, LK_CONFIG_RESTART, NULL},
};
