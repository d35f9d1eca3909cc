/*  corrupt.c - says LOCKCORRUPT to a lock service, or waits for LOCKALERT
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for corrupt_table.sh; prints the command and body of the answer,
 *  and before that that it listens.
 *
 *      corrupt ENDPOINT KIND HOME NTH
 *      corrupt ENDPOINT await SECONDS
 */

#include "lib/router_fixture.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANG_MS = 60000 };

static int
print (const lk_message *message)
{
    if (!message) {
        puts ("nothing came");
        return 1;
    }
    printf ("%s %s\n", lk_message_command (message), lk_message_body (message));
    return 0;
}

static int
say (lk_client *client, char **argv)
{
    char body[128];
    snprintf (body, sizeof body, "{\"kind\":\"%s\",\"home\":%s,\"nth\":%s}",
              argv[2], argv[3], argv[4]);
    lk_client_say (client, client->address, "lock@.", "LOCKCORRUPT", 7, body);
    const lk_message *answer = lk_client_next (client, HANG_MS);
    return print (answer) != 0 || !lk_message_flag (answer, "done");
}

int
main (int argc, char **argv)
{
    const bool awaits = argc == 4 && strcmp (argv[2], "await") == 0;
    if (!awaits && argc != 5) {
        fprintf (stderr, "usage: corrupt ENDPOINT KIND HOME NTH\n"
                         "       corrupt ENDPOINT await SECONDS\n");
        return 2;
    }
    char name[32];
    snprintf (name, sizeof name, "corrupt-%d", (int) getpid ());
    lk_client *client =
        lk_client_enter (argv[1], name, awaits ? "LOCKALERT" : "");
    puts ("listens");
    fflush (stdout);
    const int code =
        awaits ? print (lk_client_await (
            client, "LOCKALERT", (int) strtol (argv[3], NULL, 10) * 1000))
               : say (client, argv);
    lk_client_destroy (&client);
    return code;
}
