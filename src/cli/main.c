/*  main.c - lockkeeper(1): finds the verb
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/standard.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

int
main (int argc, char **argv)
{
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
