/*  say.c - opening a session, asking for a lock, and saying why not
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/access.h"
#include "cli/cli.h"
#include "net/endpoint.h"
#include "net/process.h"
#include "wire/object_name.h"
#include "wire/role.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*  How long a router is sought that is not there, or that does not let us in:
 *  one that just begins may not have given its socket to our group yet. */
enum { SOON_MS = 300, ATTACH_MS = 5000, WHY_MS = 500 };

#define ACCESS_SIZE 400
#define WAITING "no router yet, waiting for it for %d s ..."

/*  -------------------------------------------------------- no router */

static const char *
advice (int problem)
{
    switch (problem) {
    case ETIMEDOUT:
        return "it may hang: restart lockkeeper-router";
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
        return "is lockkeeper-router running there? --endpoint or "
               "$LOCKKEEPER_ENDPOINT say where it is";
    case ENAMETOOLONG:
        return "such a path takes 107 bytes at most";
    default:
        return "the router's log may tell more";
    }
}

/*  The same of servers. */
static const char *
advice_far (int problem)
{
    switch (problem) {
    case EACCES:
        return "`lockkeeper clients list` on a host of the cluster shows whose "
               "keys are known, and those of servers";
    case EKEYREJECTED:
        return "`lockkeeper login` gets a credential";
    case EDQUOT:
        return "`lockkeeper status` shows what the zone has";
    case EINVAL:
    case ENOENT:
        return "see A MACHINE WITHOUT A ROUTER in lockkeeper(1)";
    default:
        return "do these hosts run, and have a port for clients?";
    }
}

/*  The same for all verbs. */
static void
say_no_router (const char *endpoint, const char *text, int number)
{
    char access[ACCESS_SIZE];
    if (lk_cli_is_far (endpoint)) {
        lk_cli_fail (0, "%s; %s", text, advice_far (number));
        return;
    }
    if (lk_cli_is_forbidden (number)) {
        lk_cli_access_advice (endpoint, access, sizeof access);
    }
    lk_cli_fail (0, "%s; %s", text,
                 lk_cli_is_forbidden (number) ? access : advice (number));
}

/*  How long to seek it. Who sits at a terminal and waits for one that is not
 *  there should know; the line goes away again. */
static int
begin_seek (const char *endpoint, bool *told)
{
    lk_problem problem;
    *told = false;
    if (lk_cli_is_far (endpoint)) {
        return ATTACH_MS;
    }
    lk_endpoint_why_not (endpoint, &problem);
    if (lk_cli_is_forbidden (problem.number)) {
        return SOON_MS;
    }
    if ((problem.number == ENOENT || problem.number == ECONNREFUSED)
        && isatty (STDERR_FILENO)) {
        fprintf (stderr, "\r" WAITING, ATTACH_MS / 1000);
        fflush (stderr);
        *told = true;
    }
    return ATTACH_MS;
}

static void
end_seek (bool told)
{
    if (told) {
        fprintf (stderr, "\r%*s\r", (int) strlen (WAITING), "");
        fflush (stderr);
    }
}

bool
lk_cli_is_endpoint (const char *endpoint)
{
    lk_problem problem;
    if (lk_cli_is_far (endpoint)
        || lk_endpoint_check_list (endpoint, &problem) == LK_OK) {
        return true;
    }
    lk_cli_fail (0, "%s", problem.text);
    return false;
}

/*  -------------------------------------------------------- attached */

lk_session *
lk_cli_session_for (const char *endpoint, const char *name, int64_t pid)
{
    if (!lk_cli_is_endpoint (endpoint)) {
        return NULL;
    }
    bool told;
    lk_process_look look;
    if (name == NULL && pid != 0 && lk_process_describe (pid, &look)) {
        name = look.command;
    }
    const lk_session_options options = {.endpoint = endpoint,
                                        .name = name,
                                        .connect_ms =
                                            begin_seek (endpoint, &told)};
    lk_session *session = lk_session_new (&options);
    const int number = errno;
    end_seek (told);
    if (session == NULL) {
        say_no_router (endpoint, lk_session_problem (NULL), number);
        return NULL;
    }
    lk_session_act_for (session, pid);
    return session;
}

lk_session *
lk_cli_session (const char *endpoint)
{
    return lk_cli_session_for (endpoint, NULL, 0);
}

lk_requester *
lk_cli_asker (const char *endpoint)
{
    lk_problem problem = {0};
    bool told;
    if (!lk_cli_is_endpoint (endpoint)) {
        return NULL;
    }
    lk_requester *asker =
        lk_requester_new (endpoint, begin_seek (endpoint, &told), &problem);
    end_seek (told);
    if (asker == NULL) {
        say_no_router (endpoint, problem.text, problem.number);
    }
    return asker;
}

bool
lk_cli_needs_admin (const lk_requester *asker, const lk_verb *verb)
{
    const char *role = lk_requester_who (asker).role;
    const bool is_admin =
        role[0] == '\0' || lk_role_from_word (role) == LK_ROLE_ADMIN;
    if (!is_admin) {
        lk_cli_fail (0, "'%s' needs the role admin, you are %s", verb->name,
                     role);
    }
    return is_admin;
}

lk_requester *
lk_cli_looker (const lk_options *options)
{
    lk_requester *asker = lk_cli_asker (options->endpoint);
    if (asker != NULL && lk_cli_is_far (options->endpoint)
        && !lk_requester_is_zoned (asker)) {
        lk_cli_say_for_hosts (options->verb->name);
        lk_requester_destroy (&asker);
    }
    return asker;
}

int
lk_cli_check_name (const char *name)
{
    size_t size = strlen (name);
    if (size > 0 && size <= LK_OBJECT_LEN_MAX) {
        return LK_EXIT_OK;
    }
    return lk_cli_fail (LK_EXIT_FAILED,
                        "'%s' cannot name a lock: that takes 1 to %d bytes",
                        lk_shown_name (name).text, LK_OBJECT_LEN_MAX);
}

void
lk_cli_set_object (lk_message *message, const char *name)
{
    lk_object_set (message,
                   (lk_name) {.data = name, .size = (uint16_t) strlen (name)});
}

int
lk_cli_check_names (char **name, int count)
{
    for (int i = 0; i < count; i++) {
        if (lk_cli_check_name (name[i]) != LK_EXIT_OK) {
            return LK_EXIT_FAILED;
        }
    }
    return LK_EXIT_OK;
}

int
lk_cli_say_not_run (const char *command)
{
    return lk_cli_fail (errno == ENOENT ? LK_EXIT_NOT_FOUND : LK_EXIT_NOT_RUN,
                        "cannot run '%s': %m", command);
}

/*  NULL: nobody says. */
static lk_message *
ask_for_status (const char *endpoint)
{
    lk_requester *asker = lk_requester_new (endpoint, WHY_MS, NULL);
    lk_message *answer = NULL;
    if (asker != NULL) {
        lk_message *question = lk_message_new ("lock@.", "LOCKSTATUS");
        answer = lk_requester_ask (asker, &question, WHY_MS);
        lk_requester_destroy (&asker);
    }
    return answer;
}

bool
lk_cli_has_journal (const char *endpoint)
{
    lk_message *answer = ask_for_status (endpoint);
    const char *journal =
        answer != NULL ? lk_message_text (answer, "journal") : NULL;
    const bool has = journal != NULL && strcmp (journal, "off") != 0;
    lk_message_destroy (&answer);
    return has;
}

/*  Why locks cannot be had on this host now; "" if they can, or nobody says. */
static lk_shown
why_not_ready (const char *endpoint)
{
    char text[sizeof (lk_shown)];
    lk_message *answer = ask_for_status (endpoint);
    const char *reason = NULL;
    if (answer != NULL && !lk_message_is (answer, "LOCKREADY")) {
        reason = lk_message_text (answer, "reason");
    }
    snprintf (text, sizeof text, "%s%s", reason != NULL ? reason : "",
              answer != NULL && lk_message_is (answer, "UNKNOWN")
                  ? ", start lockkeeper-lockd"
                  : "");
    lk_message_destroy (&answer);
    return lk_shown_name (text);
}

int
lk_cli_say_late (int code, const char *endpoint, const char *what,
                 const char *name)
{
    const lk_shown why = why_not_ready (endpoint);
    const lk_shown shown = lk_shown_name (name);
    if (why.text[0] != '\0') {
        return lk_cli_fail (code,
                            "%s '%s' in time, locks cannot be had here now: "
                            "%s; `lockkeeper status` tells more",
                            what, shown.text, why.text);
    }
    return lk_cli_fail (code,
                        "%s '%s' in time; `lockkeeper list` shows who has it",
                        what, shown.text);
}

/*  All names of a request. */
static lk_shown
title_of (const lk_options *options)
{
    char text[2 * sizeof (lk_shown)];
    size_t used = 0;
    for (int i = 0; i < options->names && used < sizeof text; i++) {
        used += (size_t) snprintf (text + used, sizeof text - used, "%s%s",
                                   i > 0 ? " " : "", options->argument[i]);
    }
    return lk_shown_name (text);
}

int
lk_cli_say_other (const lk_options *options)
{
    return lk_cli_fail (LK_EXIT_NO,
                        "cannot take over '%s': no such lock with that key "
                        "lingers on this host; without --key it is asked for "
                        "anew",
                        title_of (options).text);
}

int
lk_cli_say_failed (const lk_session *session, const lk_options *options,
                   lk_err error)
{
    const char *problem = lk_session_problem (session);
    const lk_shown shown = title_of (options);
    if (error == LK_TIMEDOUT) {
        return lk_cli_say_late ((int) options->on_busy, options->endpoint,
                                "did not get", shown.text);
    }
    if (error == LK_FULL && options->key != 0) {
        return lk_cli_say_other (options);
    }
    if (error == LK_FULL) {
        return lk_cli_fail ((int) options->on_busy,
                            "did not get '%s': somebody else holds it; "
                            "`lockkeeper list` shows who, --wait S waits",
                            shown.text);
    }
    return lk_cli_fail (LK_EXIT_FAILED, "did not get '%s': %s", shown.text,
                        problem[0] != '\0' ? problem : lk_err_text (error));
}

/*  The session noted it last. */
static const char *
loss_text (const lk_session *session, lk_err error)
{
    const char *problem = lk_session_problem (session);
    if (error == LK_TIMEDOUT) {
        return "its --duration is over";
    }
    return problem[0] != '\0' ? problem : lk_err_text (error);
}

int
lk_cli_say_lost (const lk_session *session, const lk_options *options,
                 const lk_lock *lock, lk_err error)
{
    const char *reason = lock != NULL ? lk_lock_reason (lock) : "";
    return lk_cli_fail (LK_EXIT_LOST, "lost '%s': %s%s%s",
                        title_of (options).text, loss_text (session, error),
                        reason[0] != '\0' ? ": " : "", reason);
}
