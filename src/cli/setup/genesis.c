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
#include "wire/settings_file.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool
is_new (const lk_lock_state *state)
{
    return state->facts.session == 0 && state->facts.promised.number == 0
           && state->facts.active.term.number == 0;
}

/*  Whether a state may be replaced: one that a lock service made without a
 *  genesis, as a proxy, may, as long as it had no part in any decree. It may
 *  have heard of a cluster by then: of this one, if the others were started
 *  first. To a new one nothing has happened yet. */
static bool
is_free (lk_lock_state *old, bool may_be_new, const lk_state_file *file,
         lk_slice text, const complaint *problem)
{
    lk_hostmap hostmap;
    char why[256];
    lk_hostmap_init (&hostmap);
    if (lk_lock_state_decode (text.data, text.size, &hostmap, old, why,
                              sizeof why)
        != LK_OK) {
        return complain (problem,
                         "'%s' is there already, makes no sense (%s), and is "
                         "not overwritten",
                         lk_state_file_path (file), why);
    }
    if (may_be_new && is_new (old)) {
        return true;
    }
    if (old->cluster[0] != '\0' && old->facts.active.members != 0) {
        return complain (problem,
                         "'%s' is there already, of a host of cluster '%s', "
                         "and is not overwritten: without it this host would "
                         "be another member",
                         lk_state_file_path (file), old->cluster);
    }
    if (old->facts.promised.number != 0 || old->facts.active.term.number != 0) {
        return complain (problem,
                         "'%s' is there already, has followed the leaders of "
                         "a cluster, and is not overwritten",
                         lk_state_file_path (file));
    }
    return true;
}

/*  The state that is there, all zeroes if none is; false if it has to stay. */
static bool
read_old (lk_state_file *file, lk_lock_state *old, bool may_be_new,
          const complaint *problem)
{
    lk_problem reason = {0};
    char *text = NULL;
    size_t size;
    const lk_err error = lk_state_file_read (file, LK_LOCK_STATE_SIZE_MAX,
                                             &text, &size, &reason);
    *old = (lk_lock_state) {.id = 0};
    if (error == LK_INVALID) {
        return complain (problem,
                         "'%s' is there already, too large for a state, and "
                         "is not overwritten",
                         lk_state_file_path (file));
    }
    if (error != LK_OK && error != LK_UNKNOWN) {
        return complain (problem, "%s", reason.text);
    }
    const bool good =
        error == LK_UNKNOWN
        || is_free (old, may_be_new, file, (lk_slice) {text, size}, problem);
    lk_free (text);
    return good;
}

static bool
put_text (lk_state_file *file, char *text, const complaint *problem)
{
    lk_problem reason = {0};
    const lk_err error =
        lk_state_file_write (file, text, strlen (text), &reason);
    lk_free (text);
    return error == LK_OK || complain (problem, "%s", reason.text);
}

/*  A proxy stays who it is. */
static bool
write_state (lk_state_file *file, lk_lock_state *state,
             const lk_hostmap *hostmap, const complaint *problem)
{
    lk_lock_state old;
    if (!read_old (file, &old, false, problem)) {
        return false;
    }
    if (old.id != 0) {
        state->id = old.id;
        state->facts.session = old.facts.session;
    }
    return put_text (file, lk_lock_state_encode (state, hostmap), problem);
}

static bool
make_folder (const char *dir, const complaint *problem)
{
    return mkdir (dir, 0700) == 0 || errno == EEXIST
           || complain (problem, "cannot make '%s': %s", dir, strerror (errno));
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
    return !has_part (&state, &hostmap) ? LK_GENESIS_PROXY
           : is_new (&state)            ? LK_GENESIS_NEW
                                        : LK_GENESIS_MEMBER;
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
    lk_state_file *file =
        make_folder (dir, &problem) ? open_state (dir, &problem) : NULL;
    if (file == NULL) {
        return false;
    }
    bool done = write_state (file, &state, &hostmap, &problem);
    lk_state_file_destroy (&file);
    return done;
}

/*  -------------------------------------------------------- a generation */

bool
lk_genesis_is_free (const char *dir, char *text, size_t text_size)
{
    const complaint problem = {text, text_size};
    lk_lock_state old;
    if (access (dir, F_OK) != 0 && errno == ENOENT) {
        return true;
    }
    lk_state_file *file = open_state (dir, &problem);
    const bool is_free = file != NULL && read_old (file, &old, true, &problem);
    lk_state_file_destroy (&file);
    return is_free;
}

/*  A member of the generation's own, which nobody else follows. */
static lk_lock_state
restored_state (const lk_genesis_restored *it, const lk_lock_state *old,
                lk_hostmap *hostmap)
{
    lk_lock_state state = {.id = lk_random_id (), .facts = old->facts};
    lk_generation generation = {.number = it->generation,
                                .id = lk_random_id (),
                                .above = it->above,
                                .settings = it->settings,
                                .count = 1};
    lk_generation_member *own = &generation.member[0];
    snprintf (own->host, sizeof own->host, "%s", it->host);
    own->former = state.id;
    own->id = lk_random_id ();
    lk_slice_keep (lk_slice_of (it->cluster), state.cluster,
                   sizeof state.cluster);
    lk_lock_state_enter (&state, hostmap, it->host, &generation, own->id);
    return state;
}

/*  Ahead of the state, which names it. */
static bool
write_settings (const char *dir, const lk_genesis_restored *it,
                const complaint *problem)
{
    lk_problem reason = {0};
    const lk_settings_row row = {
        .id = it->settings, .since = it->since_s, .text = it->text};
    if (it->settings.version == 0) {
        return true;
    }
    lk_state_file *file =
        lk_state_file_open (dir, LK_PATH_SETTINGS_FILE, &reason);
    if (file == NULL) {
        return complain (problem, "%s", reason.text);
    }
    const bool done =
        put_text (file, lk_settings_file_encode (&row, 1), problem);
    lk_state_file_destroy (&file);
    return done;
}

bool
lk_genesis_restore (const char *dir, const lk_genesis_restored *it, char *text,
                    size_t text_size)
{
    const complaint problem = {text, text_size};
    lk_hostmap hostmap;
    lk_lock_state old;
    lk_state_file *file =
        make_folder (dir, &problem) ? open_state (dir, &problem) : NULL;
    bool done = file != NULL && read_old (file, &old, true, &problem)
                && write_settings (dir, it, &problem);
    if (done) {
        const lk_lock_state state = restored_state (it, &old, &hostmap);
        done =
            put_text (file, lk_lock_state_encode (&state, &hostmap), &problem);
    }
    lk_state_file_destroy (&file);
    return done;
}
