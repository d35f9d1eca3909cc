/*  main.c - lockkeeper(1): finds the verb
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/standard.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT "--client"

/*  Ahead of the verb: by that client file, also what the verb starts. How many
 *  words that were; -1: said what is wrong. */
static int
take_client (int argc, char **argv)
{
    const size_t size = strlen (CLIENT);
    if (argc < 2 || strncmp (argv[1], CLIENT, size) != 0
        || (argv[1][size] != '\0' && argv[1][size] != '=')) {
        return 0;
    }
    const bool is_one = argv[1][size] == '=';
    const char *file = is_one ? argv[1] + size + 1 : argv[2];
    if (file == NULL || file[0] == '\0') {
        lk_cli_fail (0, "'" CLIENT "' needs a client file");
        return -1;
    }
    setenv ("LOCKKEEPER_CLIENT", file, 1);
    return is_one ? 1 : 2;
}

int
main (int argc, char **argv)
{
    const int taken = take_client (argc, argv);
    if (taken < 0) {
        return LK_EXIT_FAILED;
    }
    argc -= taken;
    argv += taken;
    const char *name = argc > 1 ? argv[1] : "help";
    lk_standard_open ();
    signal (SIGCHLD, SIG_DFL); /* who ignored it would leave us no ends */
    setvbuf (stderr, NULL, _IOLBF, BUFSIZ); /* no line within another's */
    if (strcmp (name, "--help") == 0 || strcmp (name, "-h") == 0) {
        name = "help";
    } else if (strcmp (name, "--version") == 0 || strcmp (name, "-V") == 0) {
        name = "version";
    }
    const lk_verb *verb = lk_verb_find (name);
    if (verb == NULL) {
        return lk_cli_say_no_verb (name);
    }
    if (argc > 1) {
        argc--;
        argv++;
    }
    int code = verb->run (argc, argv);
    if (fflush (stdout) != 0 && code == LK_EXIT_OK) {
        code = lk_cli_fail (LK_EXIT_FAILED, "cannot write to stdout: %m");
    }
    return code;
}
