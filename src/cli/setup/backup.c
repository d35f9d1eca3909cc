/*  backup.c - `lockkeeper backup`: what is kept of a cluster, in one file
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Settings, members and held locks, as the lock services tell anybody. The
 *  form is that of wire/backup.h; `restore` reads it.
 */

#include "wire/backup.h"
#include "cli/cli.h"
#include "cli/setup/cluster_members.h"
#include "cli/setup/settings_change.h"
#include "cli/tickets.h"
#include "net/whole_file.h"
#include "wire/message_frame.h"
#include "wire/object_key.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS 2000
#define OWN_SERVICE "lock@."
#define CHUNK ((size_t) 64 * 1024) /* bytes that are written at a time */

typedef struct {
    lk_requester *asker;
    const char *path; /* NULL: standard output */
    int fd;
    lk_backup backup;
    lk_message *settings; /* whose text the backup has */
    lk_backup_sum sum;
    lk_bytes out; /* not written yet */
    size_t fixed; /* static locks */
    bool failed;
} backupper;

/*  -------------------------------------------------------- asking */

static void
take_members (backupper *self, const lk_message *answer)
{
    lk_message *row;
    self->backup.term = (uint64_t) lk_message_number (answer, "term", 0);
    for (size_t i = 0; (row = lk_message_row (answer, "members", i)) != NULL;
         i++) {
        uint64_t id = 0;
        (void) lk_message_hex (row, "id", &id);
        const lk_host host =
            strcmp (lk_text_of (row, "role"), "proxy") != 0
                ? lk_hostmap_intern (&self->backup.hostmap,
                                     lk_text_of (row, "host"), id)
                : LK_NOBODY;
        if (host != LK_NOBODY) {
            self->backup.members |= LK_HOST_BIT (host);
        }
        lk_message_destroy (&row);
    }
}

static int
ask_members (backupper *self)
{
    int code = LK_EXIT_OK;
    lk_message *answer = lk_members_ask (self->asker, &code);
    if (answer != NULL) {
        take_members (self, answer);
    }
    lk_message_destroy (&answer);
    return code;
}

/*  LOCKREADY or NOLOCK. */
static int
ask_cluster (backupper *self)
{
    lk_backup *backup = &self->backup;
    lk_message *question = lk_message_new (OWN_SERVICE, "LOCKSTATUS");
    lk_message *answer = lk_requester_ask (self->asker, &question, ANSWER_MS);
    const char *cluster =
        answer != NULL ? lk_message_text (answer, "cluster") : NULL;
    int code = LK_EXIT_OK;
    if (cluster == NULL || cluster[0] == '\0'
        || strlen (cluster) > LK_CLUSTER_LEN_MAX) {
        code = lk_members_say_no_answer (NULL);
    } else {
        snprintf (backup->cluster, sizeof backup->cluster, "%s", cluster);
        snprintf (backup->host, sizeof backup->host, "%s",
                  lk_requester_host (self->asker));
        backup->generation =
            (uint64_t) lk_message_number (answer, "generation", 0);
        backup->made_s = (int64_t) time (NULL);
    }
    lk_message_destroy (&answer);
    return code;
}

/*  32 digits. */
static bool
read_hash (lk_settings_id *id, const char *text)
{
    int end = 0;
    return sscanf (text, "%16" SCNx64 "%16" SCNx64 "%n", &id->hash[0],
                   &id->hash[1], &end)
               == 2
           && text[end] == '\0';
}

static int
ask_settings (backupper *self)
{
    lk_backup *backup = &self->backup;
    int code = LK_EXIT_OK;
    self->settings = lk_settings_ask (self->asker, 0, &code);
    if (self->settings == NULL) {
        return code;
    }
    backup->settings.version =
        (uint64_t) lk_message_number (self->settings, "version", 0);
    if (backup->settings.version == 0) {
        return LK_EXIT_OK;
    }
    const char *text = lk_text_of (self->settings, "text");
    if (!read_hash (&backup->settings, lk_text_of (self->settings, "hash"))
        || strlen (text) > LK_SETTINGS_SIZE_MAX) {
        return lk_settings_say_no_answer (NULL);
    }
    backup->text = (lk_name) {text, (uint16_t) strlen (text)};
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- writing */

/*  A failure is said once. */
static void
flush (backupper *self)
{
    if (!self->failed && self->path == NULL) {
        (void) fwrite (self->out.data, 1, self->out.size, stdout);
    } else if (!self->failed
               && !lk_file_write (self->fd, self->out.data, self->out.size)) {
        self->failed = true;
        lk_cli_fail (0, "cannot write '%s': %s", self->path, strerror (errno));
    }
    lk_bytes_cut (&self->out, 0);
}

static lk_lock_type
type_of (const lk_message *row)
{
    for (int i = 0; i < LK_LOCK_TYPE_COUNT; i++) {
        if (strcmp (lk_text_of (row, "type"), lk_lock_type_words[i]) == 0) {
            return (lk_lock_type) i;
        }
    }
    return LK_EXCLUSIVE;
}

static lk_name
name_of (const lk_message *row, const char *field)
{
    const char *text = lk_text_of (row, field);
    return (lk_name) {text, (uint16_t) strlen (text)};
}

static void
take_ticket (void *user, lk_message **row_p)
{
    backupper *self = user;
    const lk_message *row = *row_p;
    char room[LK_OBJECT_LEN_MAX];
    char key[LK_OBJECT_LEN_MAX + 2 * LK_OBJECT_PART_LEN_MAX + 2];
    const lk_backup_lock lock = {
        .object = lk_object_key (lk_message_text (row, "zone"),
                                 lk_message_text (row, "context"),
                                 lk_row_name (row, room), key, sizeof key),
        .type = type_of (row),
        .is_static = lk_message_flag (row, "static"),
        .limit = lk_row_limit (row, "limit"),
        .bound = lk_row_limit (row, "bound"),
        .host = name_of (row, "host"),
        .owner = name_of (row, "owner"),
        .token = lk_row_token (row)};
    if (lock.token == 0 || lock.object.size == 0) {
        return; /* it waits */
    }
    self->fixed += lock.is_static;
    lk_backup_write_lock (&self->sum, &self->out, &lock);
    if (self->out.size >= CHUNK) {
        flush (self);
    }
}

static int
write_all (backupper *self)
{
    const lk_ticket_wish wish = {.object = NULL};
    lk_backup_write (&self->sum, &self->out, &self->backup);
    const int code = lk_tickets_each (self->asker, &wish, take_ticket, self);
    if (code != LK_EXIT_OK) {
        return code;
    }
    lk_backup_write_end (&self->sum, &self->out);
    flush (self);
    return self->failed ? LK_EXIT_FAILED : LK_EXIT_OK;
}

static void
say_done (const backupper *self)
{
    char settings[64] = "no settings";
    const size_t members = (size_t) __builtin_popcountll (self->backup.members);
    if (self->backup.settings.version > 0) {
        snprintf (settings, sizeof settings,
                  "version %" PRIu64 " of the settings",
                  self->backup.settings.version);
    }
    printf ("'%s' has %s of cluster '%s', %zu member%s and %" PRIu64
            " held lock%s, %zu of them static\n",
            self->path, settings, self->backup.cluster, members,
            members == 1 ? "" : "s", self->sum.locks,
            self->sum.locks == 1 ? "" : "s", self->fixed);
}

/*  One that is not whole does not stay. */
static int
write_file (backupper *self)
{
    self->fd = open (
        self->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (self->fd == -1 && errno == EEXIST) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "'%s' is there already, and is not overwritten",
                            self->path);
    }
    if (self->fd == -1) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot make '%s': %s", self->path,
                            strerror (errno));
    }
    int code = write_all (self);
    if (code == LK_EXIT_OK && fsync (self->fd) != 0 && errno != EINVAL) {
        code = lk_cli_fail (LK_EXIT_FAILED, "cannot write '%s': %s", self->path,
                            strerror (errno));
    }
    close (self->fd);
    if (code == LK_EXIT_OK) {
        say_done (self);
    } else {
        (void) unlink (self->path);
    }
    return code;
}

/*  -------------------------------------------------------- the verb */

static int
back_up (backupper *self)
{
    int code = ask_members (self);
    if (code == LK_EXIT_OK) {
        code = ask_cluster (self);
    }
    if (code == LK_EXIT_OK) {
        code = ask_settings (self);
    }
    if (code == LK_EXIT_OK) {
        code = self->path != NULL ? write_file (self) : write_all (self);
    }
    lk_message_destroy (&self->settings);
    lk_bytes_clear (&self->out);
    return code;
}

static int
run_backup (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_backup, argc, argv, &code)) {
        return code;
    }
    if (options.count > 1) {
        return lk_cli_misused (&lk_verb_backup, "'backup' takes one file");
    }
    backupper self = {.path = options.count == 1 ? options.argument[0] : NULL,
                      .fd = -1};
    if (self.path != NULL && strcmp (self.path, "-") == 0) {
        self.path = NULL;
    }
    self.asker = lk_cli_asker (options.endpoint);
    if (self.asker == NULL) {
        return LK_EXIT_FAILED;
    }
    lk_hostmap_init (&self.backup.hostmap);
    code = lk_cli_needs_admin (self.asker, &lk_verb_backup) ? back_up (&self)
                                                            : LK_EXIT_FAILED;
    lk_requester_destroy (&self.asker);
    return code;
}

static const lk_verb_option takes[] = {LK_TAKES (ENDPOINT), LK_TAKES_END};

static const lk_verb_argument follows[] = {LK_FOLLOWS (NULL, FILE),
                                           LK_FOLLOWS_END};

const lk_verb lk_verb_backup = {
    .name = "backup",
    .usage = "[FILE] [options]",
    .summary = "Writes settings, members and held locks into a file",
    .options = takes,
    .help = "For `lockkeeper restore`, on the day when all hosts and their "
            "disks are lost. FILE\n"
            "must not be there yet, and is for its owner alone; without it, "
            "standard output.\n"
            "Keys of routers and lockkeeper.conf are files: copy them with it. "
            "See\n"
            "lockkeeper-operations(7).\n"
            "\n"
            "Exit code: 0 written; 1 no leaders, or this host lacks the "
            "settings; 124 no\n"
            "answer; 125 failed.\n",
    .arguments = follows,
    .run = run_backup,
};
