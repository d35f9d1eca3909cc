/*  main.c - the greeter as a process of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-greeter [ipc://PATH of the router]
 */

#include "greeter.h"

#include <stdio.h>

int
main (int argc, char **argv)
{
    greeter me = {0};
    lk_service_options options = {.program = "lockkeeper-greeter"};

    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fputs ("usage: lockkeeper-greeter [ipc://PATH of the router]\n",
               stderr);
        return 2;
    }
    if (argc == 2) {
        options.endpoint = argv[1]; /* without: the host's own router */
    }
    setvbuf (stdout, NULL, _IOLBF, 0);
    return lk_service_run (&greeter_service, &me, &options);
}
