/*  login.c - `lockkeeper login`: the credential of a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A server's router has it checked and issued; here it is written beside the
 *  client file, where sessions of the machine find it.
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "net/credential_file.h"
#include "net/where.h"
#include "net/whole_file.h"
#include "people/credential.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ATTACH_MS 10000
#define ANSWER_MS 20000
#define PASSWORD_SIZE (LK_PASSWORD_LEN_MAX + 3) /* a line end and a NUL */
#define TIME_SIZE 32

_Static_assert(LK_CREDENTIAL_LINE_SIZE == LK_CREDENTIAL_SIZE,
               "a line of the file is a credential");

/*  A log-in; its password is wiped. */
typedef struct {
    const lk_options *options;
    const char *client; /* file */
    lk_client_file *file;
    lk_credential_file credential;
    char password[PASSWORD_SIZE];
} login;

/*  -------------------------------------------------------- printing */

static void
format_time (int64_t time_s, char text[TIME_SIZE])
{
    const time_t time = (time_t) time_s;
    struct tm utc;
    if (gmtime_r (&time, &utc) == NULL
        || strftime (text, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
        snprintf (text, TIME_SIZE, "%s", "?");
    }
}

static void
print_json (const login *self, const lk_credential *it, const char *until)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "zone", it->zone);
    lk_message_set_text (row, "user", it->user);
    lk_message_set_text (row, "role", lk_role_words[it->role]);
    lk_message_set_text (row, "until", until);
    lk_message_set_flag (row, "renewable", it->since != 0);
    lk_message_set_text (row, "file", self->credential.path);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static void
print (const login *self, const lk_credential *it)
{
    char until[TIME_SIZE];
    format_time (it->not_after, until);
    if (self->options->json) {
        print_json (self, it, until);
        return;
    }
    printf ("zone         %s\nuser         ", it->zone);
    lk_show (stdout, it->user);
    printf ("\nrole         %s\nuntil        %s\nfile         ",
            lk_role_words[it->role], until);
    lk_show (stdout, self->credential.path);
    putchar ('\n');
}

/*  -------------------------------------------------------- the password */

static int
read_password (int fd, char password[PASSWORD_SIZE])
{
    const ssize_t size = lk_file_read (fd, password, PASSWORD_SIZE - 1);
    password[size > 0 ? size : 0] = '\0';
    const size_t line = strcspn (password, "\r\n");
    const bool is_whole = size >= 0 && (size_t) size < PASSWORD_SIZE - 1;
    password[line] = '\0';
    errno = size < 0 ? errno : EMSGSIZE;
    return is_whole || (size > 0 && line < (size_t) size) ? 0 : -1;
}

static int
take_password (login *self)
{
    const char *path = self->options->password_file;
    if (path == NULL) {
        return lk_terminal_ask_secret ("password", self->password,
                                       sizeof self->password)
                   ? 0
                   : -1;
    }
    if (strcmp (path, "-") == 0) {
        return read_password (STDIN_FILENO, self->password);
    }
    const int fd = open (path, O_RDONLY | O_CLOEXEC);
    const int result = fd != -1 ? read_password (fd, self->password) : -1;
    const int number = errno;
    if (fd != -1) {
        close (fd);
    }
    errno = number;
    return result;
}

/*  -------------------------------------------------------- the answer */

static int
say_failed (const lk_message *answer)
{
    const char *word = lk_message_text (answer, "error");
    const lk_err error = word != NULL ? lk_err_from_word (word) : LK_INVALID;
    const int64_t wait_s = lk_message_number (answer, "wait", 0);
    const char *reason = lk_text_of (answer, "reason");
    const int code = error == LK_DENIED ? LK_EXIT_NO
                     : error == LK_OVERLOADED || error == LK_TIMEDOUT
                         ? LK_EXIT_LATE
                         : LK_EXIT_FAILED;
    return wait_s > 0
               ? lk_cli_fail (code, "cannot log in: %s; try again in %lld s",
                              reason, (long long) wait_s)
               : lk_cli_fail (code, "cannot log in: %s", reason);
}

/*  Whether it is one, and of this machine. */
static bool
is_ours (const login *self, const char *line, lk_credential *it)
{
    lk_problem problem;
    return line != NULL && lk_credential_read (it, line, &problem) == LK_OK
           && strcmp (it->key, self->file->pair.public_key) == 0;
}

static int
take_answer (login *self, const lk_message *answer)
{
    lk_credential it;
    lk_problem problem;
    if (answer == NULL) {
        return lk_cli_fail (LK_EXIT_LATE,
                            "cannot log in: no answer within %d s",
                            ANSWER_MS / 1000);
    }
    if (!lk_message_is (answer, "LOGIN")) {
        return say_failed (answer);
    }
    const char *line = lk_message_text (answer, "credential");
    if (!is_ours (self, line, &it)) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot log in: the answer has no "
                                            "credential of our key");
    }
    if (lk_credential_file_write (&self->credential, line, &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    print (self, &it);
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- asking */

static const char *
user_name (const lk_options *options)
{
    const struct passwd *entry = getpwuid (geteuid ());
    return options->user != NULL ? options->user
           : entry != NULL       ? entry->pw_name
                                 : NULL;
}

/*  It belongs to the question, which is wiped. */
static int
ask (login *self, lk_message *question, bool is_visitor)
{
    lk_problem problem = {.text = ""};
    lk_requester *asker =
        lk_requester_far (self->client, is_visitor, ATTACH_MS, &problem);
    if (asker == NULL) {
        lk_message_destroy (&question);
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    const int code = take_answer (self, answer);
    lk_message_destroy (&answer);
    lk_requester_destroy (&asker);
    return code;
}

static int
log_in (login *self)
{
    const char *user = user_name (self->options);
    if (user == NULL || !lk_user_is_name (user)) {
        return lk_cli_fail (LK_EXIT_FAILED, "'%s' cannot be the name of a user",
                            lk_shown_name (user != NULL ? user : "").text);
    }
    if (take_password (self) != 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot read the password: %m");
    }
    lk_message *question = lk_message_new ("router@.", "LOGIN");
    lk_message_set_text (question, "zone", self->options->zone);
    lk_message_set_text (question, "user", user);
    lk_message_set_text (question, "password", self->password);
    explicit_bzero (self->password, sizeof self->password);
    return ask (self, question, true);
}

/*  Its own clock may be wrong, which is no matter to servers. */
static int
show (login *self)
{
    lk_credential it;
    lk_problem problem;
    const char *line = lk_credential_file_line (&self->credential);
    if (line[0] == '\0') {
        return lk_cli_fail (LK_EXIT_NO, "'%s' has no credential",
                            self->credential.path);
    }
    if (lk_credential_read (&it, line, &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_NO, "'%s': %s", self->credential.path,
                            problem.text);
    }
    print (self, &it);
    if (strcmp (it.key, self->file->pair.public_key) != 0) {
        return lk_cli_fail (LK_EXIT_NO,
                            "'%s': the credential is of another "
                            "key than '%s'",
                            self->credential.path, self->client);
    }
    return lk_credential_check_time (&it, time (NULL), &problem) == LK_OK
               ? LK_EXIT_OK
               : lk_cli_fail (LK_EXIT_NO, "'%s': %s", self->credential.path,
                              problem.text);
}

/*  -------------------------------------------------------- the verb */

static int
with_file (login *self)
{
    lk_problem problem;
    if (lk_client_file_read (self->file, self->client, &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    lk_credential_file_init (&self->credential, self->file->credential);
    return self->options->show ? show (self)
           : self->options->renew
               ? ask (self, lk_message_new ("router@.", "RENEW"), false)
               : log_in (self);
}

static int
check (const lk_options *options, const char *client)
{
    const bool is_other = options->renew || options->show;
    if (options->count != 0) {
        return lk_cli_misused (&lk_verb_login, "'login' takes no arguments");
    }
    if (client == NULL) {
        return lk_cli_misused (&lk_verb_login,
                               "'login' needs --client, or $LOCKKEEPER_CLIENT");
    }
    if (!is_other && options->zone == NULL) {
        return lk_cli_misused (&lk_verb_login, "'login' needs --zone");
    }
    if (options->renew && options->show) {
        return lk_cli_misused (&lk_verb_login,
                               "--renew does not go with --show");
    }
    return is_other
                   && (options->zone != NULL || options->user != NULL
                       || options->password_file != NULL)
               ? lk_cli_misused (&lk_verb_login, "--%s does not go with --%s",
                                 options->renew ? "renew" : "show",
                                 options->zone != NULL   ? "zone"
                                 : options->user != NULL ? "user"
                                                         : "password-file")
               : LK_EXIT_OK;
}

static int
run_login (int argc, char **argv)
{
    lk_options options;
    const char *ignored = NULL;
    int code;
    if (!lk_options_read (&options, &lk_verb_login, argc, argv, &code)) {
        return code;
    }
    const char *client = lk_where_client (options.client, &ignored);
    code = check (&options, client);
    if (code != LK_EXIT_OK) {
        return code;
    }
    login *self = lk_alloc (sizeof *self);
    self->options = &options;
    self->client = client;
    self->file = lk_alloc (sizeof *self->file);
    code = with_file (self);
    explicit_bzero (self->password, sizeof self->password);
    lk_client_file_clear (self->file);
    lk_free (self->file);
    lk_free (self);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (ZONE, "the zone to log in to"),
    LK_TAKES_AS (USER, "who logs in there (default: your name here)"),
    LK_TAKES_AS (CLIENT, "that client file, not $LOCKKEEPER_CLIENT"),
    LK_TAKES (PASSWORD_FILE),
    LK_TAKES (RENEW),
    LK_TAKES (SHOW),
    LK_TAKES_AS (JSON,
                 "print a JSON object: zone, user, role, until, renewable, "
                 "file"),
    LK_TAKES_END};

const lk_verb lk_verb_login = {
    .name = "login",
    .usage = "--zone Z [--user U] [options]\n"
             "       lockkeeper login --renew [options]\n"
             "       lockkeeper login --show [options]",
    .summary = "Gets a credential for a machine without a router",
    .options = takes,
    .help =
        "A server of the client file has user and password checked; the "
        "credential that\n"
        "it answers is written to FILE.credential, or where FILE says, and "
        "printed in\n"
        "short. By that sessions of the machine are let in; they renew it by "
        "themselves\n"
        "ahead of its end, as long as the zone allows. Exits with 1 if it is "
        "denied, with\n"
        "124 if it is to be tried again later.\n",
    .run = run_login,
};
