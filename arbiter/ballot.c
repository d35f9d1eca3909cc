/*  ballot.c - see ballot.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ballot.h"
#include "lockd.h"

#include "settings/keys.h"
#include "util/alloc.h"

#include <stdio.h>
#include <unistd.h>

/*  Its times have to be those of the cluster's hosts; all else of that file is
 *  not an arbiter's. */
static bool
read_options (lk_lockd_options *self, const char *folder, lk_problem *problem)
{
    char path[PATH_MAX + sizeof "/lockkeeper.conf"];
    snprintf (path, sizeof path, "%s/lockkeeper.conf", folder);
    lk_config *config = lk_config_new (lk_settings);
    const bool is_read =
        (access (path, F_OK) != 0
         || lk_config_load (config, path, problem) == LK_OK)
        && lk_lockd_options_read (self, config, problem) == LK_OK;
    lk_config_destroy (&config);
    self->arbiter = true;
    self->eligible = false;
    self->priority = LK_PRIORITY_MAX;
    self->hosts_min = 0;
    self->journal = LK_JOURNAL_OFF;
    self->run_dir[0] = '\0';
    self->zone_logs[0] = '\0';
    snprintf (self->state_dir, sizeof self->state_dir, "%s", folder);
    return is_read;
}

static void *
create (const char *folder, char *reason, size_t size)
{
    lk_lockd *self = NULL;
    lk_lockd_options wanted;
    lk_problem problem;
    if (read_options (&wanted, folder, &problem)) {
        self = lk_alloc (sizeof *self);
        lk_lockd_init (self, &wanted);
    } else {
        snprintf (reason, size, "%s", problem.text);
    }
    return self;
}

static bool
begin (void *self)
{
    return lk_lockd_open (self);
}

static void
destroy (void *self)
{
    lk_lockd_clear (self);
    lk_free (self);
}

const lk_plugin lk_ballot = {
    .version = LK_PLUGIN_VERSION,
    .service = &lk_lockd_service,
    .create = create,
    .begin = begin,
    .destroy = destroy,
};

void
lk_ballot_status (const void *vote, uint64_t *number, unsigned *members)
{
    const lk_lockd *lockd = vote;
    const lk_decree *active = &lockd->state.facts.active;
    *number = active->term.number;
    *members = (unsigned) __builtin_popcountll (active->members);
}
