/*  init_plan.c - `lockkeeper init`: what has to be written, and writing it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is as it should be is left alone, so that the same command may be given
 *  again; what says otherwise is not overwritten.
 */

#include "cli/setup/init.h"

#include "net/paths.h"
#include "net/whole_file.h"
#include "settings/edit.h"
#include "settings/identity.h"
#include "settings/keys.h"
#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAEMON_USER "lockkeeper"

static const char head[] =
    "#   The configuration of lockkeeper, which can be the same on all hosts "
    "of "
    "a\n"
    "#   cluster: lockkeeper.conf(5). Made by `lockkeeper init`.\n";

/*  -------------------------------------------------------- identity */

static bool
plan_identity (lk_init *self)
{
    const char *path = self->router.identity;
    lk_own_identity identity;
    lk_problem problem = {0};
    if (self->router.host[0] != '\0') {
        if (strcmp (self->router.host, self->host) == 0) {
            return true;
        }
        lk_cli_fail (0,
                     "the configuration says that this is host '%s', not '%s': "
                     "`lockkeeper config set router/host --unset`, or take "
                     "that name",
                     self->router.host, self->host);
        return false;
    }
    lk_err error = lk_own_identity_read (&identity, path, &problem);
    if (error == LK_OK) {
        error = lk_own_identity_check (&identity, path, &problem);
    } else if (error == LK_UNKNOWN) {
        self->identity = true;
        return true;
    }
    if (error != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    if (strcmp (identity.host, self->host) != 0) {
        lk_cli_fail (0,
                     "'%s' says that this is host '%s', not '%s': take that "
                     "name, or remove the file if this host never was in a "
                     "cluster",
                     path, identity.host, self->host);
        return false;
    }
    return true;
}

/*  -------------------------------------------------------- state */

static void
wish_path (const lk_init *self, char *path, size_t size)
{
    snprintf (path, size, "%s/%s", self->lock.state_dir, LK_PATH_JOIN_FILE);
}

static bool
has_wish (const lk_init *self)
{
    char path[PATH_MAX + 16];
    wish_path (self, path, sizeof path);
    return access (path, F_OK) == 0;
}

/*  A proxy of one cluster stays with it. */
static bool
may_change (const lk_init *self, const char *cluster)
{
    if (cluster[0] == '\0' || self->cluster[0] == '\0') {
        return true;
    }
    lk_cli_fail (0,
                 "this host served cluster '%s' as a proxy, and that is "
                 "cluster '%s': if it is to change, stop lockkeeper-lockd and "
                 "remove '%s/%s'",
                 cluster, self->cluster, self->lock.state_dir,
                 LK_PATH_STATE_FILE);
    return false;
}

static bool
plan_state (lk_init *self)
{
    char cluster[LK_CLUSTER_LEN_MAX + 1];
    const lk_genesis_kind kind =
        lk_genesis_look (self->lock.state_dir, cluster);
    const bool first = self->way == LK_INIT_FIRST;
    if (kind == LK_GENESIS_UNREADABLE) {
        lk_cli_fail (0, "cannot read '%s/%s': run this as root",
                     self->lock.state_dir, LK_PATH_STATE_FILE);
        return false;
    }
    const bool same = strcmp (cluster, self->cluster) == 0;
    if (kind != LK_GENESIS_MEMBER && kind != LK_GENESIS_NEW) {
        self->state = first; /* what a proxy has is for genesis.c to judge */
        self->wish = !first && !self->options->proxy && !has_wish (self);
        return first || same || may_change (self, cluster);
    }
    self->member = true;
    if (same) {
        return true;
    }
    lk_cli_fail (0,
                 "this host is a member of cluster '%s' already ('%s/%s'): "
                 "`lockkeeper cluster remove` it there first",
                 cluster, self->lock.state_dir, LK_PATH_STATE_FILE);
    return false;
}

/*  -------------------------------------------------------- configuration */

/*  One more; false: said why not. */
static bool
add_neighbour (lk_init *self, const char *address)
{
    size_t count = 0;
    for (; self->neighbour[count] != NULL; count++) {
        if (strcmp (self->neighbour[count], address) == 0) {
            return true;
        }
    }
    if (count == LK_LINKS_MAX) {
        lk_cli_fail (0, "more than %d neighbours", LK_LINKS_MAX);
        return false;
    }
    self->neighbour[count] = address;
    return true;
}

static bool
add_neighbours (lk_init *self)
{
    for (size_t i = 0; i < self->join_count; i++) {
        if (!add_neighbour (self, self->join[i])) {
            return false;
        }
    }
    return add_neighbour (self, self->address);
}

/*  Whether all that there are come from the file that we may change. */
static bool
is_ours (const lk_init *self)
{
    for (size_t i = 0;
         lk_config_item (self->config, LK_INIT_NEIGHBOUR, i) != NULL; i++) {
        const lk_config_origin origin =
            lk_config_origin_of (self->config, LK_INIT_NEIGHBOUR, i);
        if (origin.path == NULL || strcmp (origin.path, self->path) != 0) {
            lk_cli_fail (0,
                         "'%s', line %u, has neighbours: add those of the "
                         "cluster there, by `lockkeeper config set %s "
                         "ADDRESS...`, and run this again",
                         origin.path != NULL ? origin.path : "?", origin.line,
                         LK_INIT_NEIGHBOUR);
            return false;
        }
    }
    return true;
}

static bool
plan_config (lk_init *self)
{
    lk_problem problem = {0};
    size_t before = 0;
    for (; self->router.neighbour[before] != NULL; before++) {
        self->neighbour[before] = self->router.neighbour[before];
    }
    if (!add_neighbours (self)) {
        return false;
    }
    if (self->neighbour[before] == NULL) {
        return true;
    }
    if (self->member && self->way == LK_INIT_JOIN) {
        lk_cli_fail (0,
                     "this host is a member of cluster '%s' already, and has "
                     "not to join it: `lockkeeper config set %s ADDRESS...` "
                     "changes its neighbours",
                     self->cluster, LK_INIT_NEIGHBOUR);
        return false;
    }
    if (!is_ours (self)) {
        return false;
    }
    char *old = lk_edit_read (self->path, &problem);
    if (old == NULL) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    self->text = lk_edit_text (*old != '\0' ? old : head, LK_INIT_NEIGHBOUR,
                               self->neighbour);
    lk_free (old);
    return true;
}

/*  -------------------------------------------------------- keys */

#define SECURITY "router/security"

void
lk_init_make_keys (lk_init *self)
{
    lk_curve_key *own = &self->ring.key[0];
    self->ring = (lk_curve_ring) {.count = 1};
    lk_curve_make (&own->pair);
    snprintf (own->host, sizeof own->host, "%s", self->host);
}

/*  The first host makes them, one that is invited has them; what is there
 *  already is used. */
static bool
plan_keys (lk_init *self)
{
    static const char *const curve[] = {"curve", NULL};
    lk_problem problem = {0};
    const bool is_first =
        self->way == LK_INIT_FIRST && !self->options->plain && !self->member;
    const bool is_enrolled = self->ring.count > 0;
    if (!is_enrolled
        && (!is_first || self->router.security == LK_SECURITY_CURVE)) {
        return true;
    }
    lk_curve_ring there;
    const lk_err error =
        lk_curve_ring_read (&there, self->router.keys, &problem);
    if (error != LK_OK && error != LK_UNKNOWN) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    self->keys = true;
    if (!is_enrolled && error == LK_OK) {
        self->ring = there;
    } else if (!is_enrolled) {
        lk_init_make_keys (self);
    }
    if (self->router.security == LK_SECURITY_CURVE) {
        return true;
    }
    char *old =
        self->text != NULL ? self->text : lk_edit_read (self->path, &problem);
    if (old == NULL) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    self->text = lk_edit_text (old, SECURITY, curve);
    lk_free (old);
    return true;
}

static bool
write_keys (const lk_init *self)
{
    lk_problem problem = {0};
    if (lk_curve_ring_write (&self->ring, self->router.keys, &problem)
        != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    return true;
}

bool
lk_init_plan (lk_init *self)
{
    lk_free (self->text);
    self->text = NULL;
    return plan_identity (self) && plan_state (self) && plan_config (self)
           && plan_keys (self);
}

/*  -------------------------------------------------------- telling */

void
lk_init_show (const lk_init *self)
{
    if (self->identity) {
        printf ("%s: this is host '%s'\n", self->router.identity, self->host);
    }
    if (self->state) {
        printf ("%s/%s: the only member of the new cluster '%s'\n",
                self->lock.state_dir, LK_PATH_STATE_FILE, self->cluster);
    }
    if (self->keys) {
        printf ("%s: the keys of this host's router, and of others\n",
                self->router.keys);
    }
    if (self->wish) {
        printf ("%s/%s: the wish to become a member\n", self->lock.state_dir,
                LK_PATH_JOIN_FILE);
    }
    if (self->text != NULL) {
        printf ("%s:\n", self->path);
        for (const char *at = self->text; *at != '\0';) {
            const int size = (int) strcspn (at, "\n");
            printf ("    | %.*s\n", size, at);
            at += size + (at[size] == '\n');
        }
    }
}

/*  -------------------------------------------------------- writing */

/*  A package has made it; else it is the user's of the daemons, if there is
 *  one. */
static bool
make_folder (const char *path)
{
    const struct passwd *user = getpwnam (DAEMON_USER);
    if (mkdir (path, 0700) != 0) {
        if (errno == EEXIST) {
            return true;
        }
        lk_cli_fail (0, "cannot make the folder '%s': %m", path);
        return false;
    }
    if (geteuid () != 0 || user == NULL) {
        return true;
    }
    const int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const bool done = fd != -1 && fchown (fd, user->pw_uid, user->pw_gid) == 0;
    if (!done) {
        lk_cli_fail (0, "cannot make the folder '%s': %m", path);
    }
    if (fd != -1) {
        close (fd);
    }
    return done;
}

static bool
write_state (const lk_init *self)
{
    char problem[256];
    if (!lk_genesis_write (self->lock.state_dir, self->cluster, self->host,
                           self->host, problem, sizeof problem)) {
        lk_cli_fail (0, "%s", problem);
        return false;
    }
    return true;
}

/*  The lock service reads it, and removes it when it is done. */
static bool
write_wish (const lk_init *self)
{
    static const char text[] = "this host is to become a member\n";
    const char *dir = self->lock.state_dir;
    const int folder = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = folder != -1 ? lk_file_make (folder, LK_PATH_JOIN_FILE) : -1;
    const bool written = fd != -1 && lk_file_write (fd, text, sizeof text - 1);
    const bool done = written && close (fd) == 0;
    if (!done) {
        lk_cli_fail (0, "cannot write '%s/%s': %m", dir, LK_PATH_JOIN_FILE);
    }
    if (folder != -1) {
        close (folder);
    }
    return done;
}

static bool
write_identity (const lk_init *self)
{
    lk_problem problem = {0};
    if (lk_own_identity_write (self->router.identity, self->host, &problem)
        != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    return true;
}

static bool
write_config (const lk_init *self)
{
    lk_problem problem = {0};
    if (lk_edit_write (self->path, self->text, &problem) != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    return true;
}

bool
lk_init_write (const lk_init *self)
{
    return make_folder (self->lock.state_dir)
           && (!self->state || write_state (self))
           && (!self->identity || write_identity (self))
           && (!self->keys || write_keys (self))
           && (!self->wish || write_wish (self))
           && (self->text == NULL || write_config (self));
}
