/*  client.c - `lockkeeper client`: the file of a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/client_file.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*  As `lockkeeper clients` takes it: of this machine. */
static void
name_machine (char *name, size_t size)
{
    char text[65] = "";
    (void) gethostname (text, sizeof text - 1);
    text[strcspn (text, ".")] = '\0';
    snprintf (name, size, "%s", text[0] != '\0' ? text : "NAME");
}

static void
print_key (const lk_client_file *file, const char *path, bool json)
{
    char name[64];
    if (json) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "file", path);
        lk_message_set_text (row, "key", file->pair.public_key);
        puts (lk_message_body (row));
        lk_message_destroy (&row);
        return;
    }
    name_machine (name, sizeof name);
    printf ("%s\n", file->pair.public_key);
    lk_cli_hint ("'%s' is made; on a host of the cluster: lockkeeper clients "
                 "add %s '%s'; then add its servers to the file",
                 path, name, file->pair.public_key);
}

static int
make (const lk_options *options)
{
    lk_problem problem;
    lk_client_file *file = lk_alloc (sizeof *file);
    int code = LK_EXIT_OK;
    if (lk_client_file_make (file, options->argument[1], &problem) == LK_OK) {
        print_key (file, options->argument[1], options->json);
    } else {
        code = lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    lk_client_file_clear (file);
    lk_free (file);
    return code;
}

static int
run_client (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_client, argc, argv, &code)) {
        return code;
    }
    if (options.count != 2 || strcmp (options.argument[0], "new") != 0) {
        return lk_cli_misused (&lk_verb_client,
                               "'client' needs 'new' and the name of a file");
    }
    return make (&options);
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (JSON, "print a JSON object: file, key"), LK_TAKES_END};

static const lk_verb_argument follows[] = {LK_FOLLOWS ("new", FILE),
                                           LK_FOLLOWS_END};

const lk_verb lk_verb_client = {
    .name = "client",
    .usage = "new FILE [options]",
    .summary = "Makes the file of a machine without a router",
    .options = takes,
    .help =
        "FILE gets a fresh pair of keys, which it is the only place of, and is "
        "readable\n"
        "for you alone. The public key is printed: an administrator has it let "
        "in, by\n"
        "`lockkeeper clients add NAME KEY` on a host of the cluster. The "
        "servers to\n"
        "connect with are added to FILE, as it says. Then `lockkeeper --client "
        "FILE run`\n"
        "and others use it; or all programs with $LOCKKEEPER_CLIENT.\n",
    .arguments = follows,
    .run = run_client,
};
