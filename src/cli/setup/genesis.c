/*  genesis.c - the first state of a lock service, written on purpose
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/genesis.h"

#include "net/paths.h"
#include "net/random.h"
#include "net/state_file.h"
#include "settings/edit.h"
#include "util/alloc.h"
#include "wire/address.h"
#include "wire/lock_state.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    char *text;
    size_t size;
} complaint;

static bool __attribute__ ((format (printf, 2, 3)))
complain (const complaint *self, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (self->text, self->size, format, arguments);
    va_end (arguments);
    return false;
}

/*  -------------------------------------------------------- members */

static bool
add_member (lk_hostmap *hostmap, lk_slice name, const complaint *problem)
{
    char text[LK_HOST_LEN_MAX + 1];
    if (!lk_address_is_name (name)) {
        return complain (problem,
                         "'%.*s' in --members is no name of a host: 1 to 63 "
                         "of A-Z a-z 0-9 . _ -",
                         (int) name.size, name.data);
    }
    if (hostmap->count == LK_GENESIS_MEMBERS_MAX) {
        return complain (problem, "--members has more than %d hosts",
                         LK_GENESIS_MEMBERS_MAX);
    }
    lk_slice_keep (name, text, sizeof text);
    size_t count = hostmap->count;
    if (lk_hostmap_intern (hostmap, text, 0) != count) {
        return complain (problem, "--members has '%s' twice", text);
    }
    return true;
}

static bool
read_members (lk_hostmap *hostmap, const char *members,
              const complaint *problem)
{
    lk_hostmap_init (hostmap);
    for (const char *at = members;; at++) {
        size_t size = strcspn (at, ",");
        if (!add_member (hostmap, (lk_slice) {at, size}, problem)) {
            return false;
        }
        at += size;
        if (*at == '\0') {
            return true;
        }
    }
}

/*  -------------------------------------------------------- the state */

static bool
make_state (lk_lock_state *state, const char *cluster,
            const lk_hostmap *hostmap, const complaint *problem)
{
    memset (state, 0, sizeof *state);
    if (strlen (cluster) > LK_CLUSTER_LEN_MAX
        || !lk_address_is_name (lk_slice_of (cluster))) {
        return complain (problem,
                         "'%s' is no name of a cluster: 1 to 63 of A-Z a-z "
                         "0-9 . _ -",
                         cluster);
    }
    lk_slice_keep (lk_slice_of (cluster), state->cluster,
                   sizeof state->cluster);
    state->id = lk_random_id ();
    for (size_t i = 0; i < hostmap->count; i++) {
        state->genesis |= LK_HOST_BIT (i);
    }
    state->facts.active.members = state->genesis;
    return true;
}

/*  What is there already stays who it is: a state that a lock service made
 *  without a genesis, as a proxy, may be given one as long as it had no part in
 *  any decree. It may have heard of a cluster by then: of this one, if the
 *  others were started first. */
static bool
take_over (lk_lock_state *state, const lk_state_file *file, lk_slice text,
           const complaint *problem)
{
    lk_hostmap hostmap;
    lk_lock_state old;
    char why[256];
    lk_hostmap_init (&hostmap);
    if (lk_lock_state_decode (text.data, text.size, &hostmap, &old, why,
                              sizeof why)
        != LK_OK) {
        return complain (problem,
                         "'%s' is there already, makes no sense (%s), and is "
                         "not overwritten",
                         lk_state_file_path (file), why);
    }
    if (old.cluster[0] != '\0' && old.facts.active.members != 0) {
        return complain (problem,
                         "'%s' is there already, of a host of cluster '%s', "
                         "and is not overwritten: without it this host would "
                         "be another member",
                         lk_state_file_path (file), old.cluster);
    }
    if (old.facts.promised.number != 0 || old.facts.active.term.number != 0) {
        return complain (problem,
                         "'%s' is there already, has followed the leaders of "
                         "a cluster, and is not overwritten",
                         lk_state_file_path (file));
    }
    state->id = old.id;
    state->facts.session = old.facts.session;
    return true;
}

static bool
write_state (lk_state_file *file, lk_lock_state *state,
             const lk_hostmap *hostmap, const complaint *problem)
{
    lk_problem reason = {0};
    char *old = NULL;
    size_t size;
    lk_err error =
        lk_state_file_read (file, LK_LOCK_STATE_SIZE_MAX, &old, &size, &reason);
    if (error == LK_INVALID) {
        return complain (problem,
                         "'%s' is there already, too large for a state, and "
                         "is not overwritten",
                         lk_state_file_path (file));
    }
    if (error != LK_OK && error != LK_UNKNOWN) {
        return complain (problem, "%s", reason.text);
    }
    bool good = error == LK_UNKNOWN
                || take_over (state, file, (lk_slice) {old, size}, problem);
    lk_free (old);
    if (!good) {
        return false;
    }
    char *text = lk_lock_state_encode (state, hostmap);
    error = lk_state_file_write (file, text, strlen (text), &reason);
    lk_free (text);
    return error == LK_OK || complain (problem, "%s", reason.text);
}

static lk_state_file *
open_state (const char *dir, const complaint *problem)
{
    lk_problem reason = {0};
    lk_state_file *file = lk_state_file_open (dir, LK_PATH_STATE_FILE, &reason);
    if (file == NULL) {
        (void) complain (problem, "%s%s", reason.text,
                         reason.number == EWOULDBLOCK
                             ? "; stop lockkeeper-lockd first"
                             : "");
    }
    return file;
}

/*  Whether it is a member by its last decree, or may be one: those of a genesis
 *  are known by their names alone. */
static bool
has_part (const lk_lock_state *state, const lk_hostmap *hostmap)
{
    for (size_t i = 0; i < hostmap->count; i++) {
        const uint64_t id = lk_hostmap_id (hostmap, (lk_host) i);
        if ((state->facts.active.members & LK_HOST_BIT (i)) != 0
            && (id == 0 || id == state->id)) {
            return true;
        }
    }
    return false;
}

lk_genesis_kind
lk_genesis_look (const char *dir, char cluster[LK_CLUSTER_LEN_MAX + 1])
{
    char path[PATH_MAX], why[256];
    lk_problem problem = {0};
    lk_hostmap hostmap;
    lk_lock_state state = {0};
    cluster[0] = '\0';
    lk_hostmap_init (&hostmap);
    snprintf (path, sizeof path, "%s/%s", dir, LK_PATH_STATE_FILE);
    char *text = lk_edit_read (path, &problem);
    if (text == NULL) {
        return problem.number == EACCES ? LK_GENESIS_UNREADABLE
                                        : LK_GENESIS_NONE;
    }
    const bool good = lk_lock_state_decode (text, strlen (text), &hostmap,
                                            &state, why, sizeof why)
                      == LK_OK;
    lk_free (text);
    if (!good) {
        return LK_GENESIS_NONE;
    }
    memcpy (cluster, state.cluster, sizeof state.cluster);
    return has_part (&state, &hostmap) ? LK_GENESIS_MEMBER : LK_GENESIS_PROXY;
}

bool
lk_genesis_write (const char *dir, const char *cluster, const char *members,
                  const char *host, char *text, size_t text_size)
{
    const complaint problem = {text, text_size};
    lk_hostmap hostmap;
    lk_lock_state state;
    if (!read_members (&hostmap, members, &problem)
        || !make_state (&state, cluster, &hostmap, &problem)) {
        return false;
    }
    if (lk_hostmap_find (&hostmap, host, 0) == LK_NOBODY) {
        return complain (&problem,
                         "this host, '%s', is not among the members '%s'; "
                         "--host says what its router calls it",
                         host, members);
    }
    if (mkdir (dir, 0700) != 0 && errno != EEXIST) {
        return complain (&problem, "cannot make '%s': %s", dir,
                         strerror (errno));
    }
    lk_state_file *file = open_state (dir, &problem);
    if (file == NULL) {
        return false;
    }
    bool done = write_state (file, &state, &hostmap, &problem);
    lk_state_file_destroy (&file);
    return done;
}
