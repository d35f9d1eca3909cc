/*  lock.c - what a lock service can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/lock.h"

#include "net/endpoint.h"
#include "wire/lock_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  A choice that is a number. */
static uint8_t
read_small (const lk_config *config, const char *key)
{
    return (uint8_t) strtol (lk_config_text (config, key), NULL, 10);
}

/*  Its own setting, or else where the router's says that this is. */
static const char *
endpoint_key (const lk_config *config)
{
    return lk_config_text (config, "lock/endpoint") != NULL ? "lock/endpoint"
                                                            : "router/endpoint";
}

static void
read_text (char text[PATH_MAX], const lk_config *config, const char *key)
{
    snprintf (text, PATH_MAX, "%s", lk_config_text (config, key));
}

/*  The members of a cluster rest on these relations: lockkeeper-protocol(7),
 *  9.13. */
static void
check (const lk_lockd_options *self, lk_config *config)
{
    if (lk_endpoint_check (self->endpoint, LK_IPC, NULL) != LK_OK) {
        lk_config_refuse (config, endpoint_key (config), 0, "ipc://PATH");
    }
    if (self->leader_lease_ms < 2 * self->dead_after_ms) {
        lk_config_complain (config, "lock/leader-lease",
                            "'lock/leader-lease' is less than two times "
                            "'lock/dead-after': make it %lld at least",
                            (long long) (2 * self->dead_after_ms));
    }
    if (self->host_lease_ms <= 3 * self->leader_lease_ms) {
        lk_config_complain (config, "lock/host-lease",
                            "'lock/host-lease' is not more than three times "
                            "'lock/leader-lease': make it %lld at least",
                            (long long) (3 * self->leader_lease_ms + 1));
    }
}

static void
read_domain (lk_lockd_options *self, lk_config *config)
{
    const char *domain = lk_config_text (config, "lock/domain");
    if (domain == NULL) {
        return;
    }
    if (lk_domain_is_valid (domain)) {
        snprintf (self->domain, sizeof self->domain, "%s", domain);
    } else {
        lk_config_refuse (config, "lock/domain", 0,
                          "a location domain like au.perth.dh4");
    }
}

static lk_journal_mode
read_journal (lk_config *config)
{
    const char *word = lk_config_text (config, "lock/journal");
    lk_journal_mode mode = LK_JOURNAL_MODES - 1;
    while (mode > LK_JOURNAL_OFF
           && strcmp (lk_journal_words[mode], word) != 0) {
        mode--;
    }
    return mode;
}

lk_err
lk_lockd_options_read (lk_lockd_options *self, lk_config *config,
                       lk_problem *problem)
{
    const size_t before = lk_config_mistakes (config);
    memset (self, 0, sizeof *self);
    read_text (self->endpoint, config, endpoint_key (config));
    read_text (self->state_dir, config, "lock/state");
    read_text (self->run_dir, config, "lock/run");
    if (lk_config_text (config, "lock/zone-logs") != NULL) {
        read_text (self->zone_logs, config, "lock/zone-logs");
    }
    (void) lk_log_level_from_word (lk_config_text (config, "lock/log-level"),
                                   &self->log_level);
    self->syslog = lk_config_flag (config, "lock/syslog");
    self->eligible =
        strcmp (lk_config_text (config, "lock/priority"), "off") != 0;
    self->priority =
        self->eligible ? read_small (config, "lock/priority") : LK_PRIORITY_MAX;
    self->leaders_max = read_small (config, "lock/leaders");
    self->hosts_min = lk_config_number (config, "lock/hosts-min");
    self->dead_after_ms = lk_config_number (config, "lock/dead-after");
    self->leader_lease_ms = lk_config_number (config, "lock/leader-lease");
    self->host_lease_ms = lk_config_number (config, "lock/host-lease");
    self->grace_ms = lk_config_number (config, "lock/grace");
    self->digest_ms = lk_config_number (config, "lock/digest");
    self->settle_ms = lk_config_number (config, "lock/settle");
    self->journal = read_journal (config);
    read_domain (self, config);
    check (self, config);
    return lk_config_verdict (config, before, problem);
}
