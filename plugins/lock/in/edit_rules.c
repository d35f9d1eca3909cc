/*  edit_rules.c - which settings the first leader does not take
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Beside what makes no sense: those by which too many members would be shut
 *  out, or nobody could change them any more.
 */

#include "edits.h"

#include "settings/arbiters.h"
#include "settings/common.h"

#include <string.h>

/*  The keys of two texts. */
typedef struct {
    lk_host_key old[LK_HOST_KEYS_MAX], new[LK_HOST_KEYS_MAX];
    size_t old_count, new_count;
    lk_arbiter arbiter[LK_ARBITERS_MAX]; /* those of both, with one key */
    size_t arbiter_count;
} changed_keys;

/*  -------------------------------------------------------- who may change */

/*  Whether one of the hosts that may change them is a member: nobody could
 *  change them any more. */
static bool
locks_out (const lk_lockd *self, const lk_node_status *status, const char *text)
{
    if (lk_common_settings_may_change (text, "")) {
        return false;
    }
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if ((status->decree.members & LK_HOST_BIT (i))
            && lk_common_settings_may_change (
                text, lk_hostmap_name (&self->hostmap, (lk_host) i))) {
            return false;
        }
    }
    return true;
}

/*  -------------------------------------------------------- keys */

/*  Whether who is called so is known after the change by a key that it had
 *  before: only then all have it. The first ones that there are count. */
static bool
keeps_key (const changed_keys *keys, const char *host)
{
    for (size_t i = 0; i < keys->new_count; i++) {
        const lk_host_key *old =
            lk_host_key_find (keys->old, keys->old_count, keys->new[i].key);
        if (strcmp (keys->new[i].host, host) == 0
            && (keys->old_count == 0
                || (old != NULL && strcmp (old->host, host) == 0))) {
            return true;
        }
    }
    return false;
}

/*  An arbiter has no `router/key`: it is dialled by the key of its line. */
static bool
is_arbiter (const changed_keys *keys, const char *host)
{
    return lk_arbiter_find (keys->arbiter, keys->arbiter_count, host) != NULL;
}

/*  Whether it can be shut out: first keys are for all; one that was invited and
 *  has none yet lacks it afterwards as before. */
static bool
has_key (const changed_keys *keys, bool had_any, const char *host)
{
    return keys->old_count == 0 || had_any
           || lk_host_key_of (keys->old, keys->old_count, host) != NULL;
}

/*  More than half of the members have to be let in, whatever happens. */
static const char *
find_shut_out (const lk_lockd *self, const lk_node_status *status,
               const changed_keys *keys)
{
    const bool has_any = keeps_key (keys, LK_HOST_KEY_ANY);
    const bool had_any =
        lk_host_key_of (keys->old, keys->old_count, LK_HOST_KEY_ANY) != NULL;
    size_t members = 0, kept = 0;
    for (size_t i = 0; i < self->hostmap.count; i++) {
        const char *host = lk_hostmap_name (&self->hostmap, (lk_host) i);
        if (!(status->decree.members & LK_HOST_BIT (i))) {
            continue;
        }
        if (is_arbiter (keys, host)) {
            members++;
            kept++;
        } else if (has_key (keys, had_any, host)) {
            members++;
            kept += has_any || keeps_key (keys, host);
        }
    }
    if (had_any && !has_any && kept < members) {
        return "some member has no key of its own yet: `lockkeeper keys "
               "rotate` there first";
    }
    return 2 * kept > members || members == 0
               ? NULL
               : "half of the members or more would be shut out: they need a "
                 "'router/key' that they had before, too";
}

static void
read_arbiters (changed_keys *keys, const char *now, const char *text)
{
    lk_arbiter old[LK_ARBITERS_MAX], new[LK_ARBITERS_MAX];
    const size_t old_count = lk_common_settings_arbiters (now, old);
    const size_t new_count = lk_common_settings_arbiters (text, new);
    keys->arbiter_count = 0;
    for (size_t i = 0; i < new_count; i++) {
        const lk_arbiter *before =
            lk_arbiter_find (old, old_count, new[i].name);
        if (before != NULL && strcmp (before->key, new[i].key) == 0) {
            keys->arbiter[keys->arbiter_count++] = new[i];
        }
    }
}

/*  A cluster whose hosts have keys goes on with them. */
static const char *
judge_keys (const lk_lockd *self, const lk_node_status *status,
            const char *text)
{
    changed_keys keys;
    const char *now = status->settings_text.data;
    now = now ? now : "";
    keys.old_count = lk_common_settings_keys (now, keys.old);
    keys.new_count = lk_common_settings_keys (text, keys.new);
    read_arbiters (&keys, now, text);
    return keys.old_count + keys.new_count > 0
               ? find_shut_out (self, status, &keys)
               : NULL;
}

/*  -------------------------------------------------------- all of it */

const char *
lk_lockd_find_fault (const lk_lockd *self, const lk_demand_change *demand,
                     const lk_node_status *status, const char *text,
                     lk_problem *problem)
{
    const char *at = strchr (demand->asker, '@');
    const lk_name now = status->settings_text;
    if (strlen (text) > LK_SETTINGS_SIZE_MAX) {
        return "they are longer than 65535 bytes";
    }
    if (lk_common_settings_check (text, problem) != LK_OK) {
        return problem->text;
    }
    if (locks_out (self, status, text)) {
        return "'settings/lock' names no member: nobody could change them any "
               "more";
    }
    /*  The texts that the core has end with a NUL. */
    if (now.data && !lk_common_settings_may_change (now.data, at + 1)) {
        return "'settings/lock' does not name that host";
    }
    return judge_keys (self, status, text);
}
