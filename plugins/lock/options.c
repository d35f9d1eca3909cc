/*  options.c - what a lock service can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "options.h"

#include "net/endpoint.h"
#include "net/paths.h"
#include "wire/lock_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH (PATH_MAX - 1)
#define PRIORITIES "off|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15"

/*  Times are milliseconds. A ping goes out every 250 ms: what is silent for
 *  less is not dead. */
static const lk_config_key keys[] = {
    {"lock/endpoint", LK_CONFIG_TEXT, 1, PATH, NULL, LK_PATH_ENDPOINT},
    {"lock/state", LK_CONFIG_TEXT, 1, PATH, NULL, LK_PATH_STATE_DIR},
    {"lock/run", LK_CONFIG_TEXT, 1, PATH, NULL, LK_PATH_RUN_DIR},
    {"lock/log-level", LK_CONFIG_CHOICE, 0, 0, LK_LOG_LEVELS, "notice"},
    {"lock/syslog", LK_CONFIG_FLAG, 0, 0, NULL, "no"},
    {"lock/priority", LK_CONFIG_CHOICE, 0, 0, PRIORITIES, "8"},
    {"lock/leaders", LK_CONFIG_CHOICE, 0, 0, "1|3|5", "3"},
    {"lock/dead-after", LK_CONFIG_NUMBER, 300, 60000, NULL, "1000"},
    {"lock/leader-lease", LK_CONFIG_NUMBER, 600, 600000, NULL, "2000"},
    {"lock/host-lease", LK_CONFIG_NUMBER, 1900, 3600000, NULL, "8000"},
    {"lock/grace", LK_CONFIG_NUMBER, 0, 86400000, NULL, "60000"},
    {"lock/digest", LK_CONFIG_NUMBER, 250, 86400000, NULL, "10000"},
    {"router", LK_CONFIG_FOREIGN, 0, 0, NULL, NULL},
    {NULL, LK_CONFIG_TEXT, 0, 0, NULL, NULL},
};

lk_config *
lk_lockd_config_new (void)
{
    return lk_config_new (keys);
}

/*  A choice that is a number. */
static uint8_t
read_small (const lk_config *config, const char *key)
{
    return (uint8_t) strtol (lk_config_text (config, key), NULL, 10);
}

static void
read_text (char text[PATH_MAX], const lk_config *config, const char *key)
{
    snprintf (text, PATH_MAX, "%s", lk_config_text (config, key));
}

/*  The members of a cluster rest on these relations: lockkeeper-protocol(7),
 *  Sessions and hosts. */
static lk_err
check (const lk_lockd_options *self, const lk_config *config,
       lk_problem *problem)
{
    if (lk_endpoint_check (self->endpoint, LK_IPC, NULL) != LK_OK) {
        return lk_config_refuse (config, "lock/endpoint", 0, "ipc://PATH",
                                 problem);
    }
    if (self->leader_lease_ms < 2 * self->dead_after_ms) {
        return lk_problem_set (problem, LK_INVALID,
                               "'lock/leader-lease' is less than two times "
                               "'lock/dead-after'");
    }
    if (self->host_lease_ms <= 3 * self->leader_lease_ms) {
        return lk_problem_set (problem, LK_INVALID,
                               "'lock/host-lease' is not more than three "
                               "times 'lock/leader-lease'");
    }
    return LK_OK;
}

lk_err
lk_lockd_options_read (lk_lockd_options *self, const lk_config *config,
                       lk_problem *problem)
{
    memset (self, 0, sizeof *self);
    read_text (self->endpoint, config, "lock/endpoint");
    read_text (self->state_dir, config, "lock/state");
    read_text (self->run_dir, config, "lock/run");
    (void) lk_log_level_from_word (lk_config_text (config, "lock/log-level"),
                                   &self->log_level);
    self->syslog = lk_config_flag (config, "lock/syslog");
    self->eligible =
        strcmp (lk_config_text (config, "lock/priority"), "off") != 0;
    self->priority =
        self->eligible ? read_small (config, "lock/priority") : LK_PRIORITY_MAX;
    self->leaders_max = read_small (config, "lock/leaders");
    self->dead_after_ms = lk_config_number (config, "lock/dead-after");
    self->leader_lease_ms = lk_config_number (config, "lock/leader-lease");
    self->host_lease_ms = lk_config_number (config, "lock/host-lease");
    self->grace_ms = lk_config_number (config, "lock/grace");
    self->digest_ms = lk_config_number (config, "lock/digest");
    return check (self, config, problem);
}
