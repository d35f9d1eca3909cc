/*  credential.c - `lockkeeper credential`: who may come, signed by an issuer
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "people/credential.h"
#include "cli/cli.h"
#include "cli/setup/settings_change.h"
#include "net/curve.h"
#include "net/whole_file.h"
#include "people/issuer_file.h"
#include "settings/edit.h"
#include "settings/zones.h"
#include "util/alloc.h"
#include "util/digits.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*  -------------------------------------------------------- issue */

/*  The fault of the options, or NULL. */
static const char *
fault_of (const lk_options *options)
{
    return options->count != 1
               ? "'credential issue' has options alone: who may come is named "
                 "by --user"
           : options->issuer[0] == NULL || options->issuer[1] != NULL
               ? "'credential issue' needs one --issuer, the file of a pair"
           : options->zone == NULL ? "'credential issue' needs --zone"
           : !lk_address_is_name (lk_slice_of (options->zone))
               ? "a zone's name has 1 to 63 of A-Z a-z 0-9 . _ -"
           : options->user == NULL ? "'credential issue' needs --user"
           : !lk_user_is_name (options->user)
               ? "a user's name has 1 to 127 bytes of UTF-8 without blanks"
           : options->ttl_s == LK_UNSET
               ? "'credential issue' needs --ttl, after which it ends"
           : options->public_key == NULL
               ? "'credential issue' needs --key, which `lockkeeper client "
                 "new` printed"
           : !lk_curve_is_key (options->public_key)
               ? "a client's public key has 40 characters, as its file has it"
               : NULL;
}

static void
fill (lk_credential *self, const lk_options *options)
{
    *self = (lk_credential) {
        .role = options->role != NULL ? lk_role_from_word (options->role)
                                      : LK_ROLE_USER,
        .not_before = options->not_before_s != LK_UNSET ? options->not_before_s
                                                        : time (NULL)};
    self->not_after = self->not_before + options->ttl_s;
    snprintf (self->zone, sizeof self->zone, "%s", options->zone);
    snprintf (self->user, sizeof self->user, "%s", options->user);
    snprintf (self->key, sizeof self->key, "%s", options->public_key);
}

static int
issue (const lk_options *options)
{
    lk_issuer issuer;
    lk_credential credential;
    lk_problem problem;
    char line[LK_CREDENTIAL_SIZE], time[LK_UTC_SIZE], serial[LK_HEX_SIZE];
    const char *fault = fault_of (options);
    if (fault != NULL) {
        return lk_cli_misused (&lk_verb_credential, "%s", fault);
    }
    if (lk_issuer_file_read (&issuer, options->issuer[0], &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    fill (&credential, options);
    lk_credential_sign (&credential, &issuer, line);
    lk_issuer_clear (&issuer);
    puts (line);
    lk_hex_format (credential.serial, serial);
    lk_cli_notice ("credential %s of '%s' in zone '%s' ends %s", serial,
                   credential.user, credential.zone,
                   lk_utc_text (credential.not_after, time));
    if (credential.role == LK_ROLE_ADMIN
        && lk_zone_plain (credential.zone)[0] != '\0') {
        lk_cli_hint ("the role admin counts in zone 'default' alone: elsewhere "
                     "it is that of an operator");
    }
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- show */

static bool
read_line (const char *path, char line[LK_CREDENTIAL_SIZE])
{
    const bool is_input = strcmp (path, "-") == 0;
    const int fd = is_input ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC);
    if (fd == -1) {
        lk_cli_fail (0, "cannot open '%s': %s", path, strerror (errno));
        return false;
    }
    const ssize_t size = lk_file_read (fd, line, LK_CREDENTIAL_SIZE - 1);
    const int number = errno;
    if (!is_input) {
        close (fd);
    }
    if (size < 0) {
        lk_cli_fail (0, "cannot read '%s': %s", path, strerror (number));
        return false;
    }
    line[size] = '\0';
    return true;
}

/*  Said why not, if it is none. */
static bool
read_credential (lk_credential *self, const char *path)
{
    char line[LK_CREDENTIAL_SIZE];
    lk_problem problem;
    if (!read_line (path, line)) {
        return false;
    }
    if (lk_credential_read (self, line, &problem) != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    return true;
}

static void
print_json (const lk_credential *it, const char *fault)
{
    char text[LK_UTC_SIZE], serial[LK_HEX_SIZE];
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "zone", it->zone);
    lk_message_set_text (row, "user", it->user);
    lk_message_set_text (row, "role", lk_role_words[it->role]);
    lk_message_set_text (row, "key", it->key);
    lk_message_set_text (row, "not_before", lk_utc_text (it->not_before, text));
    lk_message_set_text (row, "not_after", lk_utc_text (it->not_after, text));
    if (it->since > 0) {
        lk_message_set_text (row, "since", lk_utc_text (it->since, text));
    }
    lk_hex_format (it->serial, serial);
    lk_message_set_text (row, "serial", serial);
    lk_message_set_text (row, "issuer", it->issuer);
    lk_message_set_flag (row, "counts", fault == NULL);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static void
print_fields (const lk_credential *it, const char *fault)
{
    char text[LK_UTC_SIZE];
    printf ("zone         %s\nuser         ", it->zone);
    lk_show (stdout, it->user);
    printf ("\nrole         %s\nkey          %s\n", lk_role_words[it->role],
            it->key);
    printf ("from         %s\n", lk_utc_text (it->not_before, text));
    printf ("until        %s\n", lk_utc_text (it->not_after, text));
    printf ("log-in       %s\n", lk_utc_text (it->since, text));
    printf ("serial       %016" PRIx64 "\nissuer       %s\n", it->serial,
            it->issuer);
    printf ("now          %s\n", fault != NULL ? fault : "it counts");
}

static int
show (const lk_options *options)
{
    lk_credential credential;
    lk_problem problem;
    if (options->count > 2) {
        return lk_cli_misused (&lk_verb_credential,
                               "'credential show' takes one file");
    }
    if (!read_credential (&credential,
                          options->count > 1 ? options->argument[1] : "-")) {
        return LK_EXIT_FAILED;
    }
    const bool counts =
        lk_credential_check_time (&credential, time (NULL), &problem) == LK_OK;
    (options->json ? print_json : print_fields) (&credential,
                                                 counts ? NULL : problem.text);
    return counts ? LK_EXIT_OK : LK_EXIT_NO;
}

/*  -------------------------------------------------------- revoke */

/*  LK_EXIT_OK, or said what is wrong. */
static int
read_revoked (lk_revoked *self, const lk_options *options)
{
    lk_credential credential;
    const char *what = options->argument[1];
    self->not_after = options->until_s;
    if (lk_hex_parse (what, strlen (what), &self->serial)) {
        return options->until_s != LK_UNSET
                   ? LK_EXIT_OK
                   : lk_cli_misused (
                       &lk_verb_credential,
                       "'credential revoke' of a serial needs --until, "
                       "when that credential ends");
    }
    if (!read_credential (&credential, what)) {
        return LK_EXIT_FAILED;
    }
    self->serial = credential.serial;
    if (self->not_after == LK_UNSET) {
        self->not_after = credential.not_after;
    }
    return LK_EXIT_OK;
}

typedef struct {
    lk_revoked row[LK_REVOKED_MAX + 1]; /* and one more */
    char line[LK_REVOKED_MAX + 1][LK_REVOKED_LINE_SIZE];
    const char *value[LK_REVOKED_MAX + 2]; /* NULL behind the last */
} revocations;

/*  Those that are not over yet, and this one. */
static char *
with_it (const lk_revoked *it, const char *text, int64_t now)
{
    revocations *self = lk_alloc (sizeof *self);
    const size_t count = lk_common_settings_revoked (text, self->row);
    size_t kept = 0;
    self->row[count] = *it;
    for (size_t i = 0; i <= count; i++) {
        if (self->row[i].not_after > now) {
            lk_revoked_write (&self->row[i], self->line[kept]);
            self->value[kept] = self->line[kept];
            kept++;
        }
    }
    char *edited = lk_edit_text (text, LK_SETTING_REVOKED, self->value);
    lk_free (self);
    return edited;
}

static bool
is_revoked (const char *text, uint64_t serial)
{
    lk_revoked *rows = lk_alloc (LK_REVOKED_MAX * sizeof *rows);
    const bool is =
        lk_revoked_has (rows, lk_common_settings_revoked (text, rows), serial);
    lk_free (rows);
    return is;
}

static int
change (lk_requester *asker, const lk_options *options, const lk_revoked *it)
{
    int code = LK_EXIT_OK;
    lk_message *base = lk_settings_ask (asker, 0, &code);
    if (base == NULL) {
        return code;
    }
    const char *text = lk_text_of (base, "text");
    char serial[LK_HEX_SIZE];
    lk_hex_format (it->serial, serial);
    if (is_revoked (text, it->serial)) {
        lk_cli_hint ("credential %s is revoked already", serial);
    } else {
        char *edited = with_it (it, text, time (NULL));
        const lk_settings_edit edit = {
            .base = base, .text = edited, .wait_ms = options->wait_ms};
        code = lk_settings_change (asker, &edit);
        lk_free (edited);
    }
    lk_message_destroy (&base);
    return code;
}

static int
withdraw (const lk_options *options)
{
    lk_revoked it;
    char serial[LK_HEX_SIZE];
    if (options->count != 2) {
        return lk_cli_misused (&lk_verb_credential,
                               "'credential revoke' needs a serial or a file");
    }
    int code = read_revoked (&it, options);
    if (code != LK_EXIT_OK) {
        return code;
    }
    lk_hex_format (it.serial, serial);
    if (it.not_after <= time (NULL)) {
        return lk_cli_fail (
            LK_EXIT_NO, "credential %s has ended: nobody comes by it", serial);
    }
    if (lk_cli_is_far (options->endpoint)) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "'credential revoke' is not to be had from a "
                            "machine without a router: run it on a host of the "
                            "cluster");
    }
    lk_requester *asker = lk_cli_asker (options->endpoint);
    code = asker != NULL ? change (asker, options, &it) : LK_EXIT_FAILED;
    lk_requester_destroy (&asker);
    return code;
}

/*  -------------------------------------------------------- the verb */

static const struct {
    const char *word;
    int (*run) (const lk_options *options);
} forms[] = {{"issue", issue}, {"show", show}, {"revoke", withdraw}};

static int
run_credential (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_credential, argc, argv, &code)) {
        return code;
    }
    const char *what = options.count > 0 ? options.argument[0] : "";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp (what, forms[i].word) == 0) {
            return forms[i].run (&options);
        }
    }
    return lk_cli_misused (&lk_verb_credential,
                           "'credential' needs issue, show or revoke");
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (ISSUER, "of issue: signed by the pair in that file"),
    LK_TAKES_AS (ZONE, "... for that zone"),
    LK_TAKES_AS (USER, "... who may come"),
    LK_TAKES_WORD (ROLE, "... and what may be done there (default: user)",
                   "observer user operator admin"),
    LK_TAKES_AS (TTL, "... and so long: 90s, 30m, 12h, 7d"),
    LK_TAKES_AS (PUBLIC_KEY, "... by the client file with that public key"),
    LK_TAKES (NOT_BEFORE),
    LK_TAKES_AS (UNTIL, "of revoke: when it ends (default: as the file says)"),
    LK_TAKES_AS (WAIT, "of revoke: give up after S seconds (default: 60)"),
    LK_TAKES_AS (JSON, "of show: print a JSON object"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("issue", FLAG), LK_FOLLOWS ("show", FILE),
    LK_FOLLOWS ("revoke", FILE), LK_FOLLOWS_END};

const lk_verb lk_verb_credential = {
    .name = "credential",
    .usage = "issue [options]\n"
             "       lockkeeper credential show [FILE|-] [options]\n"
             "       lockkeeper credential revoke SERIAL|FILE [options]",
    .summary = "Who may come into a zone, signed by its issuer",
    .intro =
        "  issue          prints a credential, which the client file's owner "
        "keeps beside it;\n"
        "                 needs no daemon and no configuration\n"
        "  show           what one says, and whether it counts now, by its "
        "times\n"
        "  revoke         it counts no more, on any host; those that are over "
        "are forgotten\n",
    .options = takes,
    .help = "To revoke changes the settings of the cluster, as `lockkeeper "
            "settings set` does.\n"
            "\n"
            "Exit code: 0; 1 it does not count, or cannot be; 124 not "
            "confirmed in time; 125 failed.\n",
    .arguments = follows,
    .is_far = true,
    .run = run_credential,
};
