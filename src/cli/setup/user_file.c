/*  user_file.c - which password file, and which password
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/user_file.h"

#include "net/paths.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "settings/edit.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOM (LK_PASSWORD_LEN_MAX + 3) /* and a line end and a NUL */

/*  -------------------------------------------------------- the file */

/*  A value of a file in ZPL; "" if it has none. */
static void
read_value (const char *text, const char *key, char value[PATH_MAX])
{
    lk_zpl zpl;
    lk_zpl_line line;
    value[0] = '\0';
    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        if (line.wrong == NULL && line.has_value
            && strcmp (line.path, key) == 0) {
            snprintf (value, PATH_MAX, "%s", line.value);
        }
    }
}

static int
file_of (const char *authority, char path[PATH_MAX])
{
    char about[PATH_MAX], type[PATH_MAX];
    lk_problem problem;
    snprintf (about, sizeof about, LK_PATH_AUTHORITIES "/%s.conf", authority);
    char *text = lk_edit_read (about, &problem);
    if (text == NULL) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    read_value (text, "authority/type", type);
    read_value (text, "authority/file", path);
    lk_free (text);
    return strcmp (type, "passwords") == 0 && path[0] == '/'
               ? LK_EXIT_OK
               : lk_cli_fail (LK_EXIT_NO,
                              "authority '%s' has no password file: '%s' does "
                              "not say so",
                              authority, about);
}

int
lk_user_file_find (const lk_options *options, char path[PATH_MAX])
{
    if ((options->file == NULL) == (options->authority == NULL)) {
        return lk_cli_misused (options->verb,
                               "'user' needs --authority or --file");
    }
    if (options->file != NULL) {
        return (size_t) snprintf (path, PATH_MAX, "%s", options->file)
                       < PATH_MAX
                   ? LK_EXIT_OK
                   : lk_cli_fail (LK_EXIT_FAILED, "cannot open '%s': %s",
                                  options->file, strerror (ENAMETOOLONG));
    }
    return lk_address_is_name (lk_slice_of (options->authority))
               ? file_of (options->authority, path)
               : lk_cli_misused (
                   options->verb,
                   "an authority's name has 1 to 63 of A-Z a-z 0-9 . _ -");
}

/*  -------------------------------------------------------- the password */

static int
check (const char *password, char *place)
{
    lk_problem problem;
    if (lk_password_check (password, &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    memcpy (place, password, strlen (password) + 1);
    return LK_EXIT_OK;
}

static int
from_file (const char *path, char *place)
{
    char line[ROOM];
    const bool is_input = strcmp (path, "-") == 0;
    const int fd = is_input ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd != -1 ? lk_file_read (fd, line, ROOM - 1) : -1;
    const int number = errno;
    if (fd != -1 && !is_input) {
        close (fd);
    }
    if (size < 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot read '%s': %s", path,
                            strerror (number));
    }
    line[size] = '\0';
    line[strcspn (line, "\r\n")] = '\0';
    const int code = check (line, place);
    explicit_bzero (line, sizeof line);
    return code;
}

static int
say_not_asked (void)
{
    if (errno == EMSGSIZE) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "a password has 1 to %d bytes of UTF-8 without "
                            "control characters",
                            LK_PASSWORD_LEN_MAX);
    }
    return errno == ECANCELED
               ? lk_cli_fail (LK_EXIT_FAILED, "no password was given")
               : lk_cli_fail (LK_EXIT_FAILED,
                              "there is no terminal to ask for the password: "
                              "--password-file has it");
}

static int
from_terminal (char *place)
{
    char first[ROOM], second[ROOM];
    int code;
    if (!lk_terminal_ask_secret ("new password", first, sizeof first)) {
        code = say_not_asked ();
    } else if (!lk_terminal_ask_secret ("once more", second, sizeof second)) {
        code = say_not_asked ();
    } else {
        code = strcmp (first, second) == 0
                   ? check (first, place)
                   : lk_cli_fail (LK_EXIT_NO, "these were two passwords: "
                                              "nothing was changed");
    }
    explicit_bzero (first, sizeof first);
    explicit_bzero (second, sizeof second);
    return code;
}

int
lk_user_password (const lk_options *options,
                  char password[LK_PASSWORD_LEN_MAX + 1])
{
    return options->password_file != NULL
               ? from_file (options->password_file, password)
               : from_terminal (password);
}
