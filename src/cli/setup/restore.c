/*  restore.c - `lockkeeper restore`: a cluster of which only a backup is left
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For the day when all hosts and their disks are lost: a new generation begins
 *  with this host alone, by the settings of the backup. Shows first what that
 *  is, who held what, and what is risked. lockkeeper-operations(7), RESTORE.
 */

#include "cli/cli.h"
#include "cli/setup/config.h"
#include "cli/setup/genesis.h"
#include "cli/setup/held.h"
#include "cli/setup/settings_change.h"
#include "net/curve_ring.h"
#include "net/host_name.h"
#include "net/paths.h"
#include "net/whole_file.h"
#include "settings/common.h"
#include "settings/identity.h"
#include "util/alloc.h"
#include "wire/address.h"
#include "wire/backup.h"
#include "wire/object_key.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEXT_SIZE 256

typedef struct {
    const lk_options *options;
    const char *path;
    lk_bytes file;
    lk_router_options router;
    lk_lockd_options lock;
    char host[LK_HOST_LEN_MAX + 1];
    bool is_named; /* so that its router knows */
    lk_curve_ring ring;
    bool is_stranger; /* by its key, which the settings lack */

    lk_backup backup;
    lk_arena arena;
    char *settings; /* the text, "" for none */
    uint64_t above;

    size_t count, fixed; /* held locks; static ones */
    lk_held held;
} restorer;

/*  -------------------------------------------------------- the file */

static int
read_bytes (restorer *self, int fd)
{
    struct stat about;
    if (fstat (fd, &about) == 0 && about.st_size > LK_BACKUP_SIZE_MAX) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "'%s' cannot be restored: it is "
                            "too large",
                            self->path);
    }
    for (ssize_t size = 1; size != 0;) {
        const size_t room = 64 * 1024;
        size = lk_file_read (fd, lk_bytes_grow (&self->file, room), room);
        if (size < 0) {
            return lk_cli_fail (LK_EXIT_FAILED, "cannot read '%s': %s",
                                self->path, strerror (errno));
        }
        lk_bytes_cut (&self->file, self->file.size - room + (size_t) size);
    }
    return LK_EXIT_OK;
}

static void
count_lock (void *user, const lk_backup_lock *lock)
{
    restorer *self = user;
    self->count++;
    self->fixed += lock->is_static;
}

static int
parse (restorer *self)
{
    char why[128];
    lk_problem problem = {0};
    if (lk_backup_read ((lk_slice) {self->file.data, self->file.size},
                        &self->arena, &self->backup, count_lock, self, why)
        != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "'%s' cannot be restored: %s",
                            self->path, why);
    }
    self->settings = lk_alloc ((size_t) self->backup.text.size + 1);
    lk_slice_keep ((lk_slice) {self->backup.text.data, self->backup.text.size},
                   self->settings, (size_t) self->backup.text.size + 1);
    if (lk_common_settings_check (self->settings, &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "'%s' cannot be restored: of its settings, %s",
                            self->path, problem.text);
    }
    return LK_EXIT_OK;
}

static int
read_backup (restorer *self)
{
    const int fd = open (self->path, O_RDONLY | O_CLOEXEC);
    if (fd == -1) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot open '%s': %s", self->path,
                            strerror (errno));
    }
    const int code = read_bytes (self, fd);
    close (fd);
    return code == LK_EXIT_OK ? parse (self) : code;
}

/*  -------------------------------------------------------- this host */

/*  Whether --host, if it is there, says so, too. */
static int
take_name (restorer *self, const char *name, const char *path)
{
    const char *wanted = self->options->host;
    memmove (self->host, name, strlen (name) + 1);
    return wanted == NULL || strcmp (wanted, name) == 0
               ? LK_EXIT_OK
               : lk_cli_fail (LK_EXIT_FAILED,
                              "'%s' says that this is host '%s', not '%s'",
                              path, name, wanted);
}

/*  The name that its router goes by. */
static int
find_host (restorer *self, const char *config)
{
    const char *path = self->router.identity;
    lk_own_identity identity;
    lk_problem problem = {0};
    self->is_named = true;
    if (self->router.host[0] != '\0') {
        return take_name (self, self->router.host, config);
    }
    lk_err error = lk_own_identity_read (&identity, path, &problem);
    if (error == LK_OK) {
        error = lk_own_identity_check (&identity, path, &problem);
    }
    if (error == LK_OK) {
        return take_name (self, identity.host, path);
    }
    if (error != LK_UNKNOWN) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    self->is_named = false;
    lk_host_name (self->host);
    const char *name =
        self->options->host != NULL ? self->options->host : self->host;
    return lk_address_is_name (lk_slice_of (name))
               ? take_name (self, name, path)
               : lk_cli_fail (LK_EXIT_FAILED, "'%s' is no name of a host",
                              lk_shown_name (name).text);
}

/*  Settings without keys get all that there are, at its first start. */
static int
read_keys (restorer *self)
{
    lk_host_key keys[LK_HOST_KEYS_MAX];
    lk_problem problem = {0};
    const size_t count = lk_common_settings_keys (self->settings, keys);
    if (self->router.security == LK_SECURITY_NONE || count == 0) {
        return LK_EXIT_OK;
    }
    if (lk_curve_ring_read (&self->ring, self->router.keys, &problem)
        != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    const lk_curve_key *own = lk_curve_ring_newest (&self->ring, self->host);
    self->is_stranger =
        own != NULL && lk_curve_key_is_ours (own)
        && lk_host_key_find (keys, count, own->pair.public_key) == NULL;
    return LK_EXIT_OK;
}

/*  Whether it has no state that is worth more than the backup. */
static int
check_state (const restorer *self)
{
    char text[TEXT_SIZE], cluster[LK_CLUSTER_LEN_MAX + 1];
    const char *dir = self->lock.state_dir;
    const lk_genesis_kind kind = lk_genesis_look (dir, cluster);
    if (kind == LK_GENESIS_UNREADABLE) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "cannot read '%s/%s': run this as root", dir,
                            LK_PATH_STATE_FILE);
    }
    const bool is_other = strcmp (cluster, self->backup.cluster) != 0;
    if (is_other && (kind == LK_GENESIS_MEMBER || kind == LK_GENESIS_NEW)) {
        return lk_cli_fail (LK_EXIT_NO,
                            "this host is a member of cluster '%s' already, "
                            "and the backup is of cluster '%s'",
                            cluster, self->backup.cluster);
    }
    if (kind == LK_GENESIS_MEMBER) {
        return lk_cli_fail (LK_EXIT_NO,
                            "this host is a member of cluster '%s' already: "
                            "`lockkeeper cluster recover` on it loses less",
                            cluster);
    }
    return lk_genesis_is_free (dir, text, sizeof text)
               ? LK_EXIT_OK
               : lk_cli_fail (LK_EXIT_FAILED, "%s", text);
}

/*  Protocol 9.19.9; elections since the backup are far fewer than that. */
static int
choose_terms (restorer *self)
{
    self->above = self->backup.term + LK_GENERATION_GAP;
    const uint64_t first = (self->above + 1) << 32;
    if (self->above >= LK_TERM_NUMBER_MAX) {
        return lk_cli_fail (LK_EXIT_NO, "nothing is begun: there are no more "
                                        "terms");
    }
    if (first <= self->options->token_above) {
        return lk_cli_fail (LK_EXIT_NO,
                            "nothing is begun: tokens would begin at %" PRIu64
                            ", not above %" PRIu64 ": the backup is too old",
                            first, self->options->token_above);
    }
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- held locks */

static void
take_lock (void *user, const lk_backup_lock *lock)
{
    restorer *self = user;
    char host[LK_HOST_LEN_MAX + 1], owner[LK_ADDRESS_LEN_MAX + 1];
    lk_name zone, context = {0}, name = {0};
    (void) lk_object_parts (lock->object, &zone, &context, &name);
    lk_slice_keep ((lk_slice) {lock->host.data, lock->host.size}, host,
                   sizeof host);
    lk_slice_keep ((lk_slice) {lock->owner.data, lock->owner.size}, owner,
                   sizeof owner);
    const lk_held_lock it = {.type = lk_lock_type_words[lock->type],
                             .is_static = lock->is_static,
                             .limit = lock->limit,
                             .bound = lock->bound,
                             .host = host,
                             .owner = owner,
                             .context = context,
                             .name = name};
    lk_held_add (&self->held, &it);
}

static void
print_held (restorer *self)
{
    char why[128];
    lk_backup again;
    printf ("held when it was made, and not restored: %zu\n", self->count);
    lk_held_init (&self->held);
    (void) lk_backup_read ((lk_slice) {self->file.data, self->file.size},
                           &self->arena, &again, take_lock, self, why);
    lk_held_print (&self->held);
    putchar ('\n');
}

/*  -------------------------------------------------------- the plan */

static void
print_plan (const restorer *self)
{
    const lk_backup *backup = &self->backup;
    const char *gap = "";
    char time[LK_UTC_SIZE];
    printf ("backup       of %s, by host '%s'\n",
            lk_utc_text (backup->made_s, time), backup->host);
    printf ("generation   %" PRIu64 " of cluster '%s'\n",
            backup->generation + 1, backup->cluster);
    printf ("members      %s\n"
            "formerly     ",
            self->host);
    for (size_t i = 0; i < backup->hostmap.count; i++) {
        printf ("%s%s", gap, lk_hostmap_name (&backup->hostmap, (lk_host) i));
        gap = ", ";
    }
    printf ("\nsettings     version %" PRIu64
            ": what was changed since is as before\n"
            "tokens       from %" PRIu64 " on\n"
            "state        %s\n",
            backup->settings.version, (self->above + 1) << 32,
            self->lock.state_dir);
    if (self->is_stranger) {
        printf ("key          another one than before, which the settings "
                "get: `lockkeeper keys\n             withdraw` here takes the "
                "former one out of them\n");
    }
    if (!lk_common_settings_may_change (self->settings, self->host)) {
        printf ("note         '%s' does not name this host, which may not "
                "change the settings\n",
                LK_SETTING_LOCK);
    }
}

static void
print_risk (const restorer *self)
{
    const int64_t wait_ms =
        (self->lock.leader_lease_ms + self->lock.host_lease_ms) * 5 / 4;
    printf (
        "\nNothing is granted for %" PRId64
        " s after the lock service has started here.\n"
        "If a host of the old cluster lives, and is only not heard, it goes on "
        "granting:\nthen one lock has two holders. Switch them off first. If "
        "one is left that was a\nmember, with its disk, `lockkeeper cluster "
        "recover` on it loses less than this.\nThose that come back later hear "
        "of it, stop, and join again.\n",
        (wait_ms + 999) / 1000);
}

/*  -------------------------------------------------------- doing it */

/*  Whether an operator has said the name of that cluster. */
static int
check_word (const restorer *self)
{
    char typed[LK_CLUSTER_TYPED_SIZE];
    const char *cluster = self->options->cluster;
    if (cluster == NULL && lk_cluster_typed (typed)) {
        cluster = typed;
    }
    if (cluster == NULL) {
        return lk_cluster_say_unnamed ();
    }
    if (strcmp (cluster, self->backup.cluster) != 0) {
        return lk_cli_fail (LK_EXIT_NO,
                            "nothing is begun: the backup is of cluster '%s'",
                            self->backup.cluster);
    }
    return LK_EXIT_OK;
}

/*  Its name, as `init` would, and its key, which the settings get. */
static bool
write_files (restorer *self, lk_problem *problem)
{
    if (!self->is_named
        && lk_own_identity_write (self->router.identity, self->host, problem)
               != LK_OK) {
        return false;
    }
    if (!self->is_stranger) {
        return true;
    }
    lk_curve_ring_newest (&self->ring, self->host)->pending_ms = INT64_MAX;
    return lk_curve_ring_write (&self->ring, self->router.keys, problem)
           == LK_OK;
}

static int
begin (restorer *self)
{
    char text[TEXT_SIZE];
    lk_problem problem = {0};
    const lk_genesis_restored it = {.cluster = self->backup.cluster,
                                    .host = self->host,
                                    .generation = self->backup.generation + 1,
                                    .above = self->above,
                                    .settings = self->backup.settings,
                                    .text = self->backup.text,
                                    .since_s = (int64_t) time (NULL)};
    if (!lk_genesis_restore (self->lock.state_dir, &it, text, sizeof text)) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", text);
    }
    if (!write_files (self, &problem)) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    printf ("\n'%s' is the only member of cluster '%s'. Next:\n"
            "    systemctl enable --now lockkeeper-router lockkeeper-lockd\n"
            "    lockkeeper wait-ready\n"
            "Then the others join: `lockkeeper forget` for those that have "
            "lost their keys,\n`lockkeeper invite`, `lockkeeper init "
            "--join`.\n",
            self->host, self->backup.cluster);
    return LK_EXIT_OK;
}

static int
carry_out (restorer *self, const char *config)
{
    int code = read_backup (self);
    if (code == LK_EXIT_OK) {
        code = find_host (self, config);
    }
    if (code == LK_EXIT_OK) {
        code = check_state (self);
    }
    if (code == LK_EXIT_OK) {
        code = read_keys (self);
    }
    if (code == LK_EXIT_OK) {
        code = choose_terms (self);
    }
    if (code != LK_EXIT_OK) {
        return code;
    }
    print_held (self);
    print_plan (self);
    print_risk (self);
    code = check_word (self);
    return code == LK_EXIT_OK ? begin (self) : code;
}

static int
restore (restorer *self)
{
    const lk_options *options = self->options;
    const char *path =
        options->config != NULL ? options->config : LK_PATH_CONFIG;
    lk_config *config = lk_cli_host_config (path, options->config == NULL,
                                            &self->router, &self->lock);
    const int code = config != NULL ? carry_out (self, path) : LK_EXIT_FAILED;
    lk_config_destroy (&config);
    return code;
}

static int
run_restore (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_restore, argc, argv, &code)) {
        return code;
    }
    if (options.count != 1) {
        return lk_cli_misused (&lk_verb_restore,
                               "'restore' needs the file of a backup");
    }
    restorer self = {.options = &options, .path = options.argument[0]};
    lk_arena_init (&self.arena);
    code = restore (&self);
    lk_arena_clear (&self.arena);
    lk_bytes_clear (&self.file);
    lk_free (self.settings);
    explicit_bzero (&self.ring, sizeof self.ring);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (CLUSTER, "the cluster's name, instead of typing it"),
    LK_TAKES (TOKEN_ABOVE),
    LK_TAKES_AS (HOST, "what its router is called, unless a file says it"),
    LK_TAKES_AS (CONFIG, "of this host (default: " LK_PATH_CONFIG ")"),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {LK_FOLLOWS (NULL, FILE),
                                           LK_FOLLOWS_END};

const lk_verb lk_verb_restore = {
    .name = "restore",
    .usage = "FILE [options]",
    .summary = "Has a cluster of which all is lost begin anew, from a backup",
    .options = takes,
    .help = "FILE is of `lockkeeper backup`. Run it as root, on one host only, "
            "before its lock\n"
            "service is started: it shows what is lost, and does it when the "
            "cluster's name is\n"
            "typed. No lock is restored. Where a member is left with its disk, "
            "`lockkeeper\n"
            "cluster recover` on it loses less. See lockkeeper-operations(7).\n"
            "\n"
            "Exit code: 0 done; 1 it is not to be; 125 failed.\n",
    .arguments = follows,
    .run = run_restore,
};
