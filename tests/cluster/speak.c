/*  speak.c - says to a router whatever it is told to, honest or not
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for scripts: a bare connection, of a process or of another router.
 *
 *      speak ENDPOINT      ipc://PATH or tcp://ADDRESS:PORT
 *
 *  Each line of its input, FROM TO COMMAND SERIAL TTL [BODY], is a message;
 *  `pid` is told to a body as $PID. Each message that comes is a line of its
 *  output: FROM COMMAND SERIAL BODY. It ends with its input.
 */

#include "lib/router_fixture.h"

#include "util/assert.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MS = 10, FIELD_SIZE = 128 };

/*  BODY with each $PID in it filled in. */
static void
add_body (lk_bytes *frame, const char *body)
{
    char pid[16];
    const char *next;
    snprintf (pid, sizeof pid, "%d", (int) getpid ());
    while ((next = strstr (body, "$PID")) != NULL) {
        lk_bytes_add (frame, body, (size_t) (next - body));
        lk_bytes_add (frame, pid, strlen (pid));
        body = next + 4;
    }
    lk_bytes_add (frame, body, strlen (body));
}

static void
say (lk_client *client, const char *line)
{
    char from[FIELD_SIZE], to[FIELD_SIZE], command[FIELD_SIZE];
    unsigned long serial;
    unsigned ttl_s;
    int used = 0;
    const int count = sscanf (line, "%127s %127s %127s %lu %u %n", from, to,
                              command, &serial, &ttl_s, &used);
    lk_bytes frame = {0};
    if (count != 5) {
        fprintf (stderr, "speak: FROM TO COMMAND SERIAL TTL [BODY]\n");
        exit (2);
    }
    const lk_frame_envelope envelope = {.to = to,
                                        .from = from,
                                        .command = command,
                                        .serial = serial,
                                        .ttl_s = (uint8_t) ttl_s};
    const size_t start = lk_frame_begin (&frame, &envelope);
    add_body (&frame, line + used);
    const lk_err error = lk_frame_finish (&frame, start);
    LK_ASSERT (error == LK_OK);
    if (!lk_client_throw (client, frame.data, frame.size)) {
        puts ("speak: not taken");
    }
    lk_bytes_clear (&frame);
}

static void
listen_once (lk_client *client)
{
    const lk_message *message;
    while ((message = lk_client_next (client, 0)) != NULL) {
        printf ("%s %s %llu %s\n", lk_message_from (message),
                lk_message_command (message),
                (unsigned long long) lk_message_serial (message),
                lk_message_body (message));
    }
}

/*  False: it is over. Whole lines are left in `in`. */
static bool
read_some (lk_bytes *in)
{
    char *room = lk_bytes_grow (in, 65536);
    const ssize_t got = read (STDIN_FILENO, room, 65536);
    lk_bytes_cut (in, in->size - 65536 + (got > 0 ? (size_t) got : 0));
    return got > 0;
}

static void
say_lines (lk_client *client, lk_bytes *in)
{
    char *end;
    while (in->size > 0 && (end = memchr (in->data, '\n', in->size)) != NULL) {
        *end = '\0';
        say (client, in->data);
        lk_bytes_drop (in, (size_t) (end + 1 - in->data));
    }
}

int
main (int argc, char **argv)
{
    if (argc != 2) {
        fprintf (stderr, "usage: speak ENDPOINT\n");
        return 2;
    }
    setvbuf (stdout, NULL, _IOLBF, 0);
    lk_client *client = lk_client_new (argv[1], "speak");
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    lk_bytes in = {0};
    bool goes_on = true;
    while (goes_on) {
        if (poll (&input, 1, LOOK_MS) == 1) {
            goes_on = read_some (&in);
        }
        say_lines (client, &in);
        listen_once (client);
    }
    lk_bytes_clear (&in);
    lk_client_destroy (&client);
    return 0;
}
