/*  situation.c - how this host and its cluster are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  With hosts-min applications are let in where as many hosts are as have to
 *  be; who holds a lock, or waits for one, is not touched.
 */

#include "keep.h"

#include "net/log.h"
#include "settings/arbiters.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- decree */

const lk_decree *
lk_lockd_decree (const lk_lockd *self, const lk_node_status *status)
{
    return status->decree.leader_count > 0 ? &status->decree
                                           : &self->state.facts.active;
}

bool
lk_lockd_is_member (const lk_lockd *self, const lk_decree *decree)
{
    return (decree->members & LK_HOST_BIT (self->self)) != 0;
}

bool
lk_lockd_is_first_leader (const lk_lockd *self, const lk_node_status *status)
{
    return status->decree.leader_count > 0
           && status->decree.leader[0] == self->self;
}

bool
lk_lockd_is_of (const lk_decree *decree, lk_host host)
{
    bool is = (decree->members & LK_HOST_BIT (host)) != 0;
    for (size_t i = 0; i < decree->leader_count; i++) {
        is = is || decree->leader[i] == host;
    }
    return is;
}

const char *
lk_lockd_settings_text (const lk_node_status *status)
{
    return status->settings.version == 0 ? "" : status->settings_text.data;
}

/*  All that are called so: of a state file that is gone, too. */
lk_hosts
lk_lockd_find_arbiters (const lk_lockd *self, const lk_node_status *status)
{
    lk_arbiter arbiters[LK_ARBITERS_MAX];
    const char *text = lk_lockd_settings_text (status);
    const size_t count =
        text != NULL ? lk_common_settings_arbiters (text, arbiters) : 0;
    lk_hosts found = self->options.arbiter ? LK_HOST_BIT (self->self) : 0;
    for (size_t i = 0; count > 0 && i < self->hostmap.count; i++) {
        const char *name = lk_hostmap_name (&self->hostmap, (lk_host) i);
        if (lk_arbiter_find (arbiters, count, name) != NULL) {
            found |= LK_HOST_BIT (i);
        }
    }
    return found;
}

/*  -------------------------------------------------------- hosts-min */

static int
count_hosts (lk_hosts hosts)
{
    return __builtin_popcountll (hosts);
}

/*  An arbiter is none that locks are asked for on. */
static int
count_seen (const lk_node_status *status)
{
    return count_hosts (status->sees & ~status->arbiters);
}

static bool
is_short_of (const lk_lockd *self, const lk_node_status *status)
{
    return count_seen (status) < self->options.hosts_min;
}

void
lk_lockd_get_status (const lk_lockd *self, lk_node_status *status)
{
    lk_node_get_status (self->node, status);
    status->ready = status->ready && !is_short_of (self, status);
}

void
lk_lockd_watch_hosts (lk_lockd *self)
{
    lk_node_status status;
    if (self->options.hosts_min == 0) {
        return;
    }
    lk_node_get_status (self->node, &status);
    const bool is_short = is_short_of (self, &status);
    if (is_short != self->short_of_hosts) {
        self->short_of_hosts = is_short;
        self->status_changed = true;
        lk_log_notice ("hosts: %s hosts-min=%d seen=%d",
                       is_short ? "enough -> too few" : "too few -> enough",
                       (int) self->options.hosts_min, count_seen (&status));
    }
}

/*  -------------------------------------------------------- why not */

static void
describe (const lk_lockd *self, const lk_node_status *status, char *line,
          size_t size)
{
    lk_hosts members = lk_lockd_decree (self, status)->members;
    int seen = count_hosts (status->sees & members);
    int total = count_hosts (members);
    if (!self->attached) {
        snprintf (line, size, "the router is gone");
    } else if (self->state.has_rival) {
        snprintf (line, size, "two generations of number %llu were begun apart",
                  (unsigned long long) self->state.generation.number);
    } else if (status->waits_ms > 0) {
        snprintf (line, size,
                  "generation %llu begins when what was held before is over",
                  (unsigned long long) self->state.generation.number);
    } else if (total == 0) {
        snprintf (line, size, "no member of a cluster was heard yet");
    } else if (seen < total / 2 + 1) {
        snprintf (line, size, "sees %d of %d members, needs %d", seen, total,
                  total / 2 + 1);
    } else if (is_short_of (self, status)) {
        snprintf (line, size, "%d of at least %d hosts are there (hosts-min)",
                  count_seen (status), (int) self->options.hosts_min);
    } else if (status->decree.leader_count == 0) {
        snprintf (line, size, "there are no leaders yet");
    } else if (status->lease_until_ms == 0) {
        snprintf (line, size, "no leader vouches for this host yet");
    } else {
        snprintf (line, size, "the leaders do not serve yet");
    }
}

/*  Most likely that is why. */
static void
add_refusal (const lk_lockd *self, char *line, size_t size)
{
    const char *why = lk_peers_refusal (&self->peers);
    if (why[0] != '\0') {
        const size_t used = strlen (line);
        snprintf (line + used, size - used, "; refused: %s", why);
    }
}

void
lk_lockd_describe_wait (const lk_lockd *self, const lk_node_status *status,
                        char *reason, size_t size)
{
    describe (self, status, reason, size);
    add_refusal (self, reason, size);
}
