/*  state.c - what a lock service must not forget, and how its node begins
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The file DIR/lock.state. `lockkeeper init` writes one with a genesis. One
 *  that we make ourselves has none: we serve as a proxy of the first cluster
 *  that we hear of, keep that, and may be made a member of it.
 */

#include "keep.h"
#include "text_hash.h"

#include "net/log.h"
#include "net/paths.h"
#include "net/random.h"
#include "net/whole_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEADY 10 /* times the calm: how long a better host is heard for */

void
lk_lockd_init (lk_lockd *self, const lk_lockd_options *options)
{
    memset (self, 0, sizeof *self);
    self->options = *options;
    snprintf (self->zone_file.folder, sizeof self->zone_file.folder, "%s",
              options->zone_logs);
    self->self = LK_NOBODY;
    self->short_of_hosts = options->hosts_min > 0;
    self->return_at_ms = INT64_MAX;
    self->leaves_at_ms = INT64_MAX;
    self->drains_since = INT64_MAX;
    self->resend_at_ms = INT64_MAX;
    self->alive_at_ms = INT64_MAX;
    self->join_at_ms = INT64_MAX;
    self->keys_at_ms = INT64_MAX;
    self->use_at_ms = INT64_MAX;
    lk_hostmap_init (&self->hostmap);
    lk_apps_init (&self->apps);
    self->shares = lk_shares_new ();
    self->recent = lk_recent_new ();
}

void
lk_lockd_clear (lk_lockd *self)
{
    lk_node_destroy (&self->node);
    lk_apps_clear (&self->apps);
    lk_shares_destroy (&self->shares);
    lk_relays_clear (&self->relays);
    lk_free (self->use_told);
    lk_recent_destroy (&self->recent);
    lk_journal_destroy (&self->journal);
    lk_journal_file_destroy (&self->journal_file);
    lk_arena_clear (&self->recorded_names);
    lk_arena_clear (&self->heard);
    lk_lease_page_destroy (&self->page);
    lk_texts_destroy (&self->texts);
    lk_state_file_destroy (&self->file);
}

/*  -------------------------------------------------------- state file */

bool
lk_lockd_persist (lk_lockd *self)
{
    lk_problem problem;
    char *text = lk_lock_state_encode (&self->state, &self->hostmap);
    lk_err error =
        lk_state_file_write (self->file, text, strlen (text), &problem);
    lk_free (text);
    if (error != LK_OK) {
        lk_log_error ("the lock service ends: %s", problem.text);
    }
    return error == LK_OK;
}

/*  Somebody else may have to make room. */
static lk_host
find_member (lk_lockd *self, const char *name)
{
    lk_host host;
    do {
        host = lk_hostmap_intern (&self->hostmap, name, 0);
    } while (host == LK_NOBODY && lk_lockd_make_room (self, true));
    return host;
}

bool
lk_lockd_keep_charter (lk_lockd *self)
{
    const lk_charter *charter = &self->peers.charter;
    lk_lock_state *state = &self->state;
    state->genesis = 0;
    for (size_t i = 0; i < charter->count; i++) {
        const lk_host host = find_member (self, charter->member[i]);
        if (host == LK_NOBODY) {
            lk_log_error ("too many hosts to join cluster '%s'", charter->name);
            return false;
        }
        state->genesis |= LK_HOST_BIT (host);
    }
    memcpy (state->cluster, charter->name, sizeof state->cluster);
    state->generation = charter->generation;
    return lk_lockd_persist (self);
}

/*  The session is over: nobody here believes in a lock any more, and the next
 *  process has none of them. */
static void
end_session (lk_lockd *self)
{
    self->lease_until_ms = 0;
    if (self->page) {
        lk_lease_page_set (self->page, self->session, 0);
    }
}

/*  One that was a member, and is to be none, asks to become one again. */
static void
wish_to_join (const lk_lockd *self)
{
    lk_problem problem;
    const int folder = open (self->options.state_dir, O_PATH | O_CLOEXEC);
    const int fd = folder != -1 ? lk_file_make (folder, LK_PATH_JOIN_FILE) : -1;
    if (fd == -1 && errno != EEXIST) {
        (void) lk_problem_errno (&problem, "cannot write '%s/%s'",
                                 self->options.state_dir, LK_PATH_JOIN_FILE);
        lk_log_error ("this host does not join by itself: %s", problem.text);
    }
    if (fd != -1) {
        close (fd);
    }
    if (folder != -1) {
        close (folder);
    }
}

/*  Protocol 9.19.6. */
bool
lk_lockd_enter (lk_lockd *self, const lk_generation *generation)
{
    const char *host = lk_bus_host (self->bus);
    const bool was_member = lk_lockd_is_member (self, &self->state.facts.active)
                            || self->state.has_rival;
    lk_log_warning ("generation: %llu -> %llu cluster='%s'",
                    (unsigned long long) self->state.generation.number,
                    (unsigned long long) generation->number,
                    self->state.cluster);
    if (was_member
        && !lk_generation_find_former (generation, host, self->state.id)) {
        wish_to_join (self);
    }
    lk_lock_state_enter (&self->state, &self->hostmap, host, generation,
                         lk_random_id ());
    if (!lk_lockd_persist (self)) {
        return false;
    }
    end_session (self);
    return true;
}

/*  Protocol 9.19.4. */
bool
lk_lockd_stand_still (lk_lockd *self)
{
    const lk_settings_id settings = self->state.facts.active.settings;
    self->state.has_rival = true;
    self->state.facts.active = (lk_decree) {.settings = settings};
    if (!lk_lockd_persist (self)) {
        return false;
    }
    end_session (self);
    return true;
}

static bool
make_fresh (lk_lockd *self)
{
    self->state.id = lk_random_id ();
    return lk_lockd_persist (self);
}

static bool
decode (lk_lockd *self, const char *text, size_t size)
{
    char problem[256];
    if (lk_lock_state_decode (text, size, &self->hostmap, &self->state, problem,
                              sizeof problem)
        != LK_OK) {
        lk_log_error ("'%s' makes no sense: %s; an old copy of it may break "
                      "locks: move it away, and this host serves as a proxy, "
                      "without its vote",
                      lk_state_file_path (self->file), problem);
        return false;
    }
    return true;
}

static bool
read_state (lk_lockd *self)
{
    char *text = NULL;
    size_t size;
    lk_problem problem = {0};
    lk_err error = lk_state_file_read (self->file, LK_LOCK_STATE_SIZE_MAX,
                                       &text, &size, &problem);
    if (error == LK_UNKNOWN) {
        return make_fresh (self);
    }
    if (error != LK_OK) {
        lk_log_error ("%s", problem.text);
        return false;
    }
    bool read = decode (self, text, size);
    lk_free (text);
    return read;
}

/*  The lease page is made when the router has taken us, since another lock
 *  service may use it now; but a wrong folder shows at once. */
static bool
check_run_dir (const lk_lockd *self)
{
    const char *dir = self->options.run_dir;
    lk_problem problem;
    if (access (dir, W_OK | X_OK) == 0) {
        return true;
    }
    if (errno == ENOENT) {
        lk_log_error ("there is no folder '%s'; make it, writable for user %u",
                      dir, (unsigned) geteuid ());
        return false;
    }
    (void) lk_problem_errno (&problem, "cannot write to the folder '%s'", dir);
    lk_log_error ("%s", problem.text);
    return false;
}

bool
lk_lockd_open (lk_lockd *self)
{
    lk_problem problem;
    if (!self->options.arbiter && !check_run_dir (self)) {
        return false;
    }
    self->file = lk_state_file_open (self->options.state_dir,
                                     LK_PATH_STATE_FILE, &problem);
    if (!self->file) {
        lk_log_error ("%s", problem.text);
        return false;
    }
    self->texts = lk_texts_new (self->options.state_dir, &problem);
    if (!self->texts) {
        lk_log_error ("%s", problem.text);
        return false;
    }
    if (!read_state (self) || !lk_lockd_open_journal (self)) {
        return false;
    }
    if (!self->state.cluster[0]) {
        lk_log_notice ("no cluster in '%s': serving as a proxy of the first "
                       "that is heard of; members need `lockkeeper init` or "
                       "`lockkeeper cluster add`",
                       lk_state_file_path (self->file));
    }
    return true;
}

/*  -------------------------------------------------------- node */

/*  Applications are told its path, and have other folders. */
static bool
make_page (lk_lockd *self)
{
    lk_problem problem;
    char dir[PATH_MAX];
    if (!realpath (self->options.run_dir, dir)) {
        (void) lk_problem_errno (&problem, "cannot use '%s'",
                                 self->options.run_dir);
        lk_log_error ("%s", problem.text);
        return false;
    }
    snprintf (self->page_path, sizeof self->page_path, "%s/%s", dir,
              LK_PATH_LEASE_FILE);
    self->page = lk_lease_page_new (self->page_path, &problem);
    if (!self->page) {
        lk_log_error ("%s", problem.text);
    }
    return self->page != NULL;
}

/*  The router's address, "10.0.0.1:4040" or "[fe80::1]:4040"; a name of DNS
 *  has none, and then other things tell candidates apart. */
static void
read_address (lk_candidate *candidate, const char *text)
{
    char host[LK_ADDRESS_LEN_MAX + 1];
    const char *colon = strrchr (text, ':');
    bool bracketed = text[0] == '[';
    if (!colon || colon - text < (bracketed ? 2 : 1)) {
        return;
    }
    snprintf (host, sizeof host, "%.*s",
              (int) (colon - text) - (bracketed ? 2 : 0),
              text + (bracketed ? 1 : 0));
    struct in_addr v4;
    if (inet_pton (AF_INET, host, &v4) == 1) {
        memset (candidate->address + 10, 0xff, 2);
        memcpy (candidate->address + 12, &v4, sizeof v4);
    } else if (inet_pton (AF_INET6, host, candidate->address) != 1) {
        return;
    }
    candidate->port = (uint16_t) strtoul (colon + 1, NULL, 10);
}

static void
make_candidate (lk_lockd *self)
{
    uint32_t random;
    lk_random_fill (&random, sizeof random);
    self->eligible = self->options.eligible;
    self->candidate = (lk_candidate) {.priority = self->options.priority,
                                      .random = random >> 4,
                                      .pid = (uint32_t) getpid ()};
    read_address (&self->candidate, lk_bus_address (self->bus));
}

static void
add_settings (const lk_lockd *self, lk_node_config *config)
{
    const lk_settings_id active = self->state.facts.active.settings;
    const lk_settings_row *now = lk_texts_find (self->texts, active);
    const lk_settings_row *next = lk_texts_last (self->texts, active);
    if (now) {
        config->settings = now->text;
    }
    if (next) {
        config->next_id = next->id;
        config->next = next->text;
    }
}

static void
make_node (lk_lockd *self)
{
    const lk_lockd_options *options = &self->options;
    lk_node_config config;
    lk_node_config_init (&config);
    add_settings (self, &config);
    lk_lockd_give_table (self, &config);
    config.hash_text = lk_text_hash;
    config.self = self->self;
    config.id = self->state.id;
    config.generation = self->state.generation.number;
    config.member = lk_lockd_is_member (self, &self->state.facts.active);
    config.candidate = self->candidate;
    config.eligible = self->eligible;
    config.arbiter = options->arbiter;
    config.leaders_max = options->leaders_max;
    config.dead_after_ms = options->dead_after_ms;
    config.leader_lease_ms = options->leader_lease_ms;
    config.host_lease_ms = options->host_lease_ms;
    config.grace_ms = options->grace_ms;
    config.digest_ms = options->digest_ms;
    config.settle_ms = options->settle_ms;
    config.steady_ms = STEADY * options->settle_ms;
    lk_random_fill (config.seed, sizeof config.seed);
    config.facts = self->state.facts;
    config.hostmap = &self->hostmap;
    self->node = lk_node_new (&config, lk_bus_now (self->bus));
}

bool
lk_lockd_begin (lk_lockd *self)
{
    const char *host = lk_bus_host (self->bus);
    self->self = lk_hostmap_intern (&self->hostmap, host, self->state.id);
    if (self->self == LK_NOBODY
        || (!self->options.arbiter && !make_page (self))) {
        return false;
    }
    memcpy (self->told_domain[self->self], self->options.domain,
            sizeof self->options.domain);
    self->places_are_old = true;
    const lk_decree *active = &self->state.facts.active;
    if (active->members && active->leader_count == 0
        && !lk_lockd_is_member (self, active)) {
        lk_log_warning ("the genesis in '%s' does not name this host, '%s'",
                        lk_state_file_path (self->file), host);
    }
    lk_peers_init (&self->peers, host, &self->state, &self->hostmap);
    self->peers.charter.leader_lease_ms = self->options.leader_lease_ms;
    self->peers.charter.host_lease_ms = self->options.host_lease_ms;
    make_candidate (self);
    make_node (self);
    return lk_lockd_start_journal (self);
}
