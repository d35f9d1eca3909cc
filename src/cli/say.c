/*  say.c - opening a session, asking for a lock, and saying why not
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/paths.h"

#include <errno.h>
#include <string.h>

#define ATTACH_MS 5000

static const char *
advice (int problem)
{
    switch (problem) {
    case ETIMEDOUT:
    case ENOENT:
    case ECONNREFUSED:
        return "is lockkeeper-router running there? --endpoint or "
               "$LOCKKEEPER_ENDPOINT say where it is";
    case EACCES:
    case EPERM:
        return "join the group that the router's socket belongs to (its "
               "option --group)";
    case EINVAL:
        return "an endpoint looks like " LK_PATH_ENDPOINT;
    default:
        return "the router's log may tell more";
    }
}

lk_session *
lk_cli_session (const char *endpoint)
{
    lk_session_options options = {.endpoint = endpoint};
    lk_session *session = lk_session_new (&options);
    if (session == NULL) {
        int problem = errno;
        lk_cli_fail (0, "cannot reach the router at '%s': %s; %s", endpoint,
                     problem == ETIMEDOUT ? "no answer" : strerror (problem),
                     advice (problem));
    }
    return session;
}

lk_asker *
lk_cli_asker (const char *endpoint)
{
    char problem[256];
    lk_asker *asker =
        lk_asker_new (endpoint, ATTACH_MS, problem, sizeof problem);
    if (asker == NULL) {
        lk_cli_fail (0, "%s", problem);
    }
    return asker;
}

int
lk_cli_request (lk_session *session, const lk_options *options,
                lk_lock **lock_p)
{
    const char *name = options->argument[0];
    lk_lock_options wish = {options->wait_ms, options->duration_ms};
    lk_err error =
        lk_lock_request (session, name, strlen (name), &wish, lock_p);
    return error == LK_OK ? LK_EXIT_OK
                          : lk_cli_say_failed (session, name, error);
}

int
lk_cli_say_not_run (const char *command)
{
    return lk_cli_fail (errno == ENOENT ? LK_EXIT_NOT_FOUND : LK_EXIT_NOT_RUN,
                        "cannot run '%s': %m", command);
}

int
lk_cli_say_failed (const lk_session *session, const char *name, lk_err error)
{
    const char *problem = lk_session_problem (session);
    if (error == LK_TIMEDOUT) {
        return lk_cli_fail (LK_EXIT_LATE,
                            "did not get '%s' in time%s%s; `lockkeeper list` "
                            "shows who has it, `lockkeeper status` how the "
                            "service is",
                            name, problem[0] != '\0' ? ": " : "", problem);
    }
    if (error == LK_FULL) {
        return lk_cli_fail (LK_EXIT_LATE,
                            "did not get '%s': somebody else holds it; "
                            "`lockkeeper list` shows who, --wait S waits",
                            name);
    }
    return lk_cli_fail (LK_EXIT_FAILED, "did not get '%s': %s%s%s", name,
                        lk_err_text (error), problem[0] != '\0' ? ": " : "",
                        problem);
}

int
lk_cli_say_lost (const char *name, lk_err error)
{
    if (error == LK_TIMEDOUT) {
        return lk_cli_fail (LK_EXIT_LOST, "lost '%s': its --duration is over",
                            name);
    }
    return lk_cli_fail (LK_EXIT_LOST, "lost '%s': %s", name,
                        lk_err_text (error));
}
