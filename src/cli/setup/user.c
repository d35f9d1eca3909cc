/*  user.c - `lockkeeper user`: the password file of an authority
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/setup/user_file.h"
#include "people/passwords.h"
#include "settings/edit.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const lk_options *options;
    const char *name; /* of the user; NULL: all */
    char path[PATH_MAX];
    char password[LK_PASSWORD_LEN_MAX + 1]; /* "": not asked for */
    lk_passwords all;
} work;

/*  One that is not there has no users yet. LK_EXIT_OK, or said why not. */
static int
look (work *self)
{
    lk_problem problem;
    const lk_err error = lk_passwords_read (&self->all, self->path, &problem);
    return error == LK_OK || error == LK_UNKNOWN
               ? LK_EXIT_OK
               : lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
}

static int
say_none (const work *self)
{
    return lk_cli_fail (LK_EXIT_NO, "'%s' has no user '%s'", self->path,
                        lk_shown_name (self->name).text);
}

/*  -------------------------------------------------------- changes */

/*  One of a user that is there already, or is not (NULL). Takes what is so now
 *  and says how it is to be: LK_EXIT_OK, or said why it cannot be. */
typedef int edit (work *self, const lk_password_user *now,
                  lk_password_user *next);

static int
apply (work *self, edit *it)
{
    lk_problem problem;
    lk_password_user next = {.count = 0};
    const lk_password_user *now = lk_passwords_find (&self->all, self->name);
    if (now != NULL) {
        next = *now;
    }
    const int code = it (self, now, &next);
    if (code != LK_EXIT_OK) {
        return code;
    }
    if (next.count == 0) {
        (void) lk_passwords_drop (&self->all, self->name);
    } else if (!lk_passwords_put (&self->all, &next)) {
        return lk_cli_fail (LK_EXIT_NO, "'%s' has %d users: there is no room",
                            self->path, LK_PASSWORD_USERS_MAX);
    }
    return lk_passwords_write (&self->all, self->path, &problem) == LK_OK
               ? LK_EXIT_OK
               : lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
}

/*  Nobody else changes it meanwhile. */
static int
change (work *self, edit *it)
{
    const int lock = lk_edit_lock (self->path);
    if (lock == -1) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "cannot open the folder of '%s': %s", self->path,
                            strerror (errno));
    }
    int code = look (self);
    if (code == LK_EXIT_OK) {
        code = apply (self, it);
    }
    lk_passwords_clear (&self->all);
    lk_edit_unlock (lock);
    return code;
}

static int
give (work *self, const lk_password_user *now, lk_password_user *next)
{
    const lk_role role = lk_role_from_word (self->options->role);
    if (now == NULL) {
        snprintf (next->user, sizeof next->user, "%s", self->name);
    }
    if (self->password[0] != '\0') {
        lk_password_user_set (next, self->password);
    }
    return lk_password_user_give (next, self->options->zone, role)
               ? LK_EXIT_OK
               : lk_cli_fail (LK_EXIT_NO,
                              "user '%s' is in %d zones: there is "
                              "no room for another one",
                              lk_shown_name (self->name).text,
                              LK_PASSWORD_ZONES_MAX);
}

static int
set_password (work *self, const lk_password_user *now, lk_password_user *next)
{
    if (now == NULL) {
        return say_none (self);
    }
    lk_password_user_set (next, self->password);
    return LK_EXIT_OK;
}

/*  Of one zone, or altogether. */
static int
take_out (work *self, const lk_password_user *now, lk_password_user *next)
{
    const char *zone = self->options->zone;
    if (now == NULL) {
        return say_none (self);
    }
    if (zone == NULL) {
        next->count = 0;
        return LK_EXIT_OK;
    }
    if (lk_password_user_role (now, zone) == LK_ROLE_NONE) {
        return lk_cli_fail (LK_EXIT_NO, "user '%s' has no role in zone '%s'",
                            lk_shown_name (self->name).text, zone);
    }
    return lk_password_user_give (next, zone, LK_ROLE_NONE) ? LK_EXIT_OK
                                                            : LK_EXIT_FAILED;
}

/*  -------------------------------------------------------- forms */

/*  The password is asked for without the lock, of those that are new. */
static int
add (work *self)
{
    int code = look (self);
    const bool is_there = lk_passwords_find (&self->all, self->name) != NULL;
    lk_passwords_clear (&self->all);
    if (code == LK_EXIT_OK && is_there
        && self->options->password_file != NULL) {
        return lk_cli_fail (LK_EXIT_NO,
                            "user '%s' is there already: `lockkeeper user "
                            "passwd` sets another password",
                            lk_shown_name (self->name).text);
    }
    if (code == LK_EXIT_OK && !is_there) {
        code = lk_user_password (self->options, self->password);
    }
    return code == LK_EXIT_OK ? change (self, give) : code;
}

static int
change_password (work *self)
{
    int code = look (self);
    const bool is_there = lk_passwords_find (&self->all, self->name) != NULL;
    lk_passwords_clear (&self->all);
    if (code == LK_EXIT_OK && !is_there) {
        return say_none (self);
    }
    if (code == LK_EXIT_OK) {
        code = lk_user_password (self->options, self->password);
    }
    return code == LK_EXIT_OK ? change (self, set_password) : code;
}

static int
remove_it (work *self)
{
    return change (self, take_out);
}

enum { USER, ZONE, ROLE, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [USER] = {.head = "USER", .width = 16, .whole = true},
    [ZONE] = {.head = "ZONE", .width = 16},
    [ROLE] = {.head = "ROLE", .width = 8}};

static void
print_json (const char *user, const lk_password_zone *zone)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "user", user);
    lk_message_set_text (row, "zone", zone->zone);
    lk_message_set_text (row, "role", lk_role_words[zone->role]);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static void
print_zone (lk_columns *table, const char *user, const lk_password_zone *zone)
{
    lk_columns_add (table);
    lk_columns_set (table, USER, user);
    lk_columns_set (table, ZONE, zone->zone);
    lk_columns_set (table, ROLE, lk_role_words[zone->role]);
}

static int
list (work *self)
{
    const lk_options *options = self->options;
    const int code = look (self);
    lk_columns *table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    for (size_t i = 0; i < self->all.count; i++) {
        const lk_password_user *user = &self->all.user[i];
        for (size_t j = 0; j < user->count; j++) {
            const lk_password_zone *zone = &user->zone[j];
            if (options->zone != NULL
                && strcmp (options->zone, zone->zone) != 0) {
                continue;
            }
            if (options->json) {
                print_json (user->user, zone);
            } else {
                print_zone (table, user->user, zone);
            }
        }
    }
    if (!options->json) {
        lk_columns_print (table);
    }
    lk_columns_destroy (&table);
    lk_passwords_clear (&self->all);
    return code;
}

/*  -------------------------------------------------------- the verb */

static const struct {
    const char *word;
    int count;
    int (*run) (work *self);
} forms[] = {{"list", 1, list},
             {"add", 2, add},
             {"passwd", 2, change_password},
             {"remove", 2, remove_it}};

static bool
is_form (const lk_options *options, const char *word)
{
    return strcmp (options->argument[0], word) == 0;
}

/*  The fault, or NULL. */
static const char *
fault_of (const lk_options *options)
{
    const char *name = options->argument[1];
    const bool adds = is_form (options, "add");
    const bool asks = adds || is_form (options, "passwd");
    const bool lists = is_form (options, "list");
    const bool is_name =
        options->count == 1 || (lk_user_is_name (name) && name[0] != '#');
    return !is_name ? "a user's name has 1 to 127 bytes of UTF-8 without "
                      "blanks, and no # at its begin"
           : options->zone != NULL
                   && !lk_address_is_name (lk_slice_of (options->zone))
               ? "a zone's name has 1 to 63 of A-Z a-z 0-9 . _ -"
           : adds && (options->zone == NULL || options->role == NULL)
               ? "'user add' needs --zone and --role"
           : !adds && options->role != NULL ? "--role is for 'add'"
           : !asks && options->password_file != NULL
               ? "--password-file is for 'add' and 'passwd'"
           : options->json && !lists ? "--json is for 'list'"
                                     : NULL;
}

static int
run_form (size_t form, const lk_options *options)
{
    work self = {.options = options, .name = options->argument[1]};
    int code = lk_user_file_find (options, self.path);
    if (code == LK_EXIT_OK) {
        code = forms[form].run (&self);
    }
    explicit_bzero (self.password, sizeof self.password);
    return code;
}

static int
run_user (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_user, argc, argv, &code)) {
        return code;
    }
    const char *what = options.count > 0 ? options.argument[0] : "";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp (what, forms[i].word) == 0
            && options.count == forms[i].count) {
            const char *fault = fault_of (&options);
            return fault != NULL ? lk_cli_misused (&lk_verb_user, "%s", fault)
                                 : run_form (i, &options);
        }
    }
    return lk_cli_misused (
        &lk_verb_user,
        "'user' needs list, add NAME, passwd NAME or remove NAME");
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (AUTHORITY, "of that one's file, as its .conf says"),
    LK_TAKES (FILE),
    LK_TAKES_AS (ZONE, "of add: in that zone; of remove and list: of that one "
                       "alone"),
    LK_TAKES_WORD (ROLE, "of add: what may be done there",
                   "observer user operator admin"),
    LK_TAKES (PASSWORD_FILE),
    LK_TAKES_AS (JSON, "of list: print a JSON object per user and zone"),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("list", FLAG), LK_FOLLOWS ("add", TEXT),
    LK_FOLLOWS ("passwd", TEXT), LK_FOLLOWS ("remove", TEXT), LK_FOLLOWS_END};

const lk_verb lk_verb_user = {
    .name = "user",
    .usage = "list [options]\n"
             "       lockkeeper user add NAME --zone Z --role R [options]\n"
             "       lockkeeper user passwd NAME [options]\n"
             "       lockkeeper user remove NAME [--zone Z] [options]",
    .summary = "The users and passwords of an authority of this host",
    .intro =
        "  list           who may log in, with which role in which zone\n"
        "  add            one more, whose password is asked for; or another "
        "role or zone of one\n"
        "                 that is there\n"
        "  passwd         sets another password\n"
        "  remove         takes one out, altogether or of one zone\n",
    .options = takes,
    .help = "No daemon is needed. Hosts that share an authority need the same "
            "file.\n"
            "\n"
            "Exit code: 0; 1 it cannot be; 125 failed.\n",
    .arguments = follows,
    .run = run_user,
};
