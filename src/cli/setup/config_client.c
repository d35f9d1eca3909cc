/*  config_client.c - `lockkeeper config verify --client`: the file of a machine
 *  without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Tries what the file says, as a session would: each server, by its key and
 *  ours, and whether its lock service registers us.
 */

#include "cli/setup/config.h"

#include "cli/ask.h"
#include "net/clock.h"
#include "net/random.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ATTACH_MS 5000 /* a name may have several addresses */
#define ANSWER_MS 2000
#define LEASE_MS 1000 /* that is wanted, and given up at once */

/*  -------------------------------------------------------- a registration */

static lk_message *
new_registration (void)
{
    uint64_t secret[2];
    lk_random_fill (secret, sizeof secret);
    lk_message *question = lk_message_new ("lock@.", "LOCKREGISTER");
    lk_message_set_number (question, "registration", 1);
    lk_message_set_number (question, "lease", LEASE_MS);
    lk_message_set_hex (question, "secret", secret[0]);
    lk_message_set_hex (question, "secret2", secret[1]);
    lk_message_set_number (question, "sent", lk_clock_ms ());
    return question;
}

/*  Nobody answers to it. */
static void
say_goodbye (lk_requester *server, const lk_message *answer)
{
    uint64_t drawn = 0;
    lk_message *goodbye = lk_message_new ("lock@.", "LOCKGOODBYE");
    (void) lk_message_hex (answer, "drawn", &drawn);
    lk_message_set_number (goodbye, "registration", 1);
    lk_message_set_hex (goodbye, "drawn", drawn);
    lk_message *nothing = lk_requester_ask (server, &goodbye, 0);
    lk_message_destroy (&nothing);
}

/*  False, and problem: it does not. */
static bool
registers (lk_requester *server, lk_problem *problem)
{
    lk_message *question = new_registration ();
    lk_message *answer = lk_requester_ask (server, &question, ANSWER_MS);
    const bool is_done =
        answer != NULL && lk_message_is (answer, "LOCKREGISTER");
    if (is_done) {
        say_goodbye (server, answer);
    } else if (answer == NULL) {
        (void) lk_problem_set (problem, LK_TIMEDOUT,
                               "its lock service does not answer");
    } else if (lk_message_is (answer, "LOCKMOVE")) {
        (void) lk_problem_set (problem, LK_OVERLOADED,
                               "it stops, or serves as many as it can");
    } else {
        (void) lk_problem_set (problem, LK_REFUSED, "%s",
                               lk_text_of (answer, "reason"));
    }
    lk_message_destroy (&answer);
    return is_done;
}

/*  -------------------------------------------------------- trying */

static bool
try_server (const lk_client_file *file, size_t place, bool json)
{
    lk_problem problem = {.text = ""};
    const char *endpoint = file->server[place].endpoint;
    lk_requester *server = lk_requester_by (file, place, ATTACH_MS, &problem);
    const bool is_good = server != NULL && registers (server, &problem);
    lk_cli_tell_trial (
        json, endpoint, is_good ? lk_requester_host (server) : NULL,
        is_good ? "knows our key, and registers us" : problem.text);
    lk_requester_destroy (&server);
    return is_good;
}

static int
try_all (const lk_client_file *file, bool json)
{
    int code = LK_EXIT_OK;
    if (file->count == 0) {
        return lk_cli_fail (LK_EXIT_NO,
                            "the client file has no 'client/server'");
    }
    for (size_t i = 0; i < file->count; i++) {
        if (!try_server (file, i, json)) {
            code = LK_EXIT_NO;
        }
    }
    return code;
}

/*  -------------------------------------------------------- the file */

static lk_err
read_file (lk_client_file *file, const char *path, lk_problem *problem)
{
    const lk_err error = lk_client_file_read (file, path, problem);
    return error == LK_OK ? lk_client_file_check_servers (file, problem)
                          : error;
}

static void
tell_file (const char *path, const lk_client_file *file, const char *mistake,
           bool json)
{
    if (json && mistake != NULL) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "file", path);
        lk_message_set_text (row, "mistake", mistake);
        puts (lk_message_body (row));
        lk_message_destroy (&row);
    } else if (mistake != NULL) {
        lk_show (stdout, mistake);
        putchar ('\n');
    } else if (!json) {
        lk_show (stdout, path);
        printf (": right: its key is %s\n", file->pair.public_key);
    }
}

int
lk_cli_config_client (const lk_options *options)
{
    lk_problem problem = {.text = ""};
    const char *path = options->client;
    lk_client_file *file = lk_alloc (sizeof *file);
    int code;
    const lk_err error = read_file (file, path, &problem);
    if (error == LK_OK || error == LK_INVALID) {
        tell_file (path, file, error == LK_OK ? NULL : problem.text,
                   options->json);
        code = error == LK_OK ? LK_EXIT_OK : LK_EXIT_NO;
    } else {
        code = lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    if (error == LK_OK && options->connect) {
        code = try_all (file, options->json);
    }
    lk_client_file_clear (file);
    lk_free (file);
    return code;
}
