/*  init_ask.c - `lockkeeper init`: what it was not told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A host's name and address are found out if there is no doubt. The rest is
 *  asked for on a terminal, with a proposal in brackets; without one, the
 *  option that is missing is named.
 */

#include "cli/setup/init.h"

#include "net/host_name.h"
#include "net/hostport.h"
#include "settings/identity.h"
#include "settings/own_address.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_SIZE 1024
#define OWN_MAX 16

/*  -------------------------------------------------------- questions */

static bool
is_terminal (void)
{
    return isatty (STDIN_FILENO) && isatty (STDOUT_FILENO);
}

/*  False: there is no answer any more. */
static bool
ask (const char *question, const char *proposal, char answer[ANSWER_SIZE])
{
    printf ("%s%s%s%s: ", question, *proposal != '\0' ? " [" : "", proposal,
            *proposal != '\0' ? "]" : "");
    fflush (stdout);
    if (fgets (answer, ANSWER_SIZE, stdin) == NULL) {
        putchar ('\n');
        return false;
    }
    answer[strcspn (answer, "\r\n")] = '\0';
    const size_t blanks = strspn (answer, " \t");
    memmove (answer, answer + blanks, strlen (answer + blanks) + 1);
    for (size_t size = strlen (answer);
         size > 0 && strchr (" \t", answer[size - 1]); size--) {
        answer[size - 1] = '\0';
    }
    if (answer[0] == '\0') {
        snprintf (answer, ANSWER_SIZE, "%s", proposal);
    }
    return true;
}

/*  Takes an answer; false: said why it is none. */
typedef bool take_answer (lk_init *self, const char *answer);

/*  Until there is an answer that can be taken. */
static bool
ask_for (lk_init *self, const char *question, const char *proposal,
         take_answer *take, const char *option)
{
    char answer[ANSWER_SIZE];
    if (!is_terminal ()) {
        lk_cli_misused (self->options->verb,
                        "%s is missing, and there is no "
                        "terminal to ask",
                        option);
        return false;
    }
    self->asked = true;
    do {
        if (!ask (question, proposal, answer)) {
            lk_cli_fail (0, "nothing was written");
            return false;
        }
    } while (!take (self, answer));
    return true;
}

bool
lk_init_confirm (const lk_init *self)
{
    char answer[ANSWER_SIZE];
    if (!self->asked) {
        return true;
    }
    if (ask ("Write this? (yes or no)", "yes", answer)
        && (strcmp (answer, "yes") == 0 || strcmp (answer, "y") == 0)) {
        return true;
    }
    lk_cli_fail (0, "nothing was written");
    return false;
}

/*  -------------------------------------------------------- answers */

bool
lk_init_read_address (const char *text, char *address)
{
    const char *colon = strrchr (text, ':');
    const bool has_port = colon != NULL && strchr (colon, ']') == NULL;
    if (strlen (text) + sizeof LK_INIT_PORT < LK_ADDRESS_LEN_MAX) {
        snprintf (address, LK_ADDRESS_LEN_MAX + 1, "%s%s", text,
                  has_port ? "" : ":" LK_INIT_PORT);
        if (lk_hostport_is_valid (address)) {
            return true;
        }
    }
    lk_cli_fail (0,
                 "'%s' is no address: HOST:PORT, or HOST for port %s; HOST is "
                 "a name, 10.0.0.1 or [fd00::1]",
                 lk_shown_name (text).text, LK_INIT_PORT);
    return false;
}

static bool
take_way (lk_init *self, const char *answer)
{
    self->way = strcmp (answer, "first") == 0  ? LK_INIT_FIRST
                : strcmp (answer, "join") == 0 ? LK_INIT_JOIN
                                               : LK_INIT_UNKNOWN;
    if (self->way == LK_INIT_UNKNOWN) {
        lk_cli_fail (0, "'first' or 'join', not '%s'",
                     lk_shown_name (answer).text);
    }
    return self->way != LK_INIT_UNKNOWN;
}

static bool
take_cluster (lk_init *self, const char *answer)
{
    if (!lk_address_is_name (lk_slice_of (answer))) {
        lk_cli_fail (0,
                     "'%s' is no name of a cluster: 1 to 63 of A-Z a-z 0-9 "
                     ". _ -",
                     lk_shown_name (answer).text);
        return false;
    }
    snprintf (self->cluster, sizeof self->cluster, "%s", answer);
    return true;
}

static bool
take_host (lk_init *self, const char *answer)
{
    if (!lk_address_is_name (lk_slice_of (answer))) {
        lk_cli_fail (0,
                     "'%s' is no name of a host: 1 to 63 of A-Z a-z 0-9 . "
                     "_ -",
                     lk_shown_name (answer).text);
        return false;
    }
    snprintf (self->host, sizeof self->host, "%s", answer);
    return true;
}

static bool
take_address (lk_init *self, const char *answer)
{
    char address[LK_ADDRESS_LEN_MAX + 1], numeric[LK_ADDRESS_LEN_MAX + 1];
    if (!lk_init_read_address (answer, address)) {
        return false;
    }
    if (self->router.listen[0] == '\0'
        && !lk_own_address_is (address, numeric)) {
        lk_cli_fail (0,
                     "'%s' is no address of this host; `ip address` shows "
                     "those that it has",
                     address);
        return false;
    }
    snprintf (self->address, sizeof self->address, "%s", address);
    return true;
}

/*  One or more, with blanks or commas between them. */
static bool
take_join (lk_init *self, const char *answer)
{
    char word[LK_ADDRESS_LEN_MAX + 1];
    self->join_count = 0;
    for (const char *at = answer + strspn (answer, " ,"); *at != '\0';
         at += strspn (at, " ,")) {
        const size_t size = strcspn (at, " ,");
        snprintf (word, sizeof word, "%.*s", (int) size, at);
        if (self->join_count == LK_LINKS_MAX
            || !lk_init_read_address (word, self->join[self->join_count])) {
            return false;
        }
        self->join_count++;
        at += size;
    }
    if (self->join_count == 0) {
        lk_cli_fail (0, "the address of one of its hosts is needed");
    }
    return self->join_count > 0;
}

/*  -------------------------------------------------------- by itself */

/*  The name that the daemons would use. */
static void
find_host (lk_init *self, char name[LK_HOST_LEN_MAX + 1])
{
    lk_own_identity identity;
    if (self->router.host[0] != '\0') {
        snprintf (name, LK_HOST_LEN_MAX + 1, "%s", self->router.host);
    } else if (lk_own_identity_read (&identity, self->router.identity, NULL)
               == LK_OK) {
        snprintf (name, LK_HOST_LEN_MAX + 1, "%s", identity.host);
    } else {
        lk_host_name (name);
    }
}

/*  The one that --join or the configuration has, or those of the interfaces
 *  that others can reach: how many there are. */
static size_t
find_addresses (const lk_init *self, char first[LK_ADDRESS_LEN_MAX + 1])
{
    char own[OWN_MAX][LK_OWN_ADDRESS_SIZE];
    char numeric[LK_ADDRESS_LEN_MAX + 1];
    size_t reachable = 0;
    for (size_t i = 0; i < self->join_count; i++) {
        if (lk_own_address_is (self->join[i], numeric)) {
            snprintf (first, LK_ADDRESS_LEN_MAX + 1, "%s", self->join[i]);
            return 1;
        }
    }
    for (size_t i = 0; self->router.neighbour[i] != NULL; i++) {
        if (lk_own_address_is (self->router.neighbour[i], numeric)) {
            snprintf (first, LK_ADDRESS_LEN_MAX + 1, "%s",
                      self->router.neighbour[i]);
            return 1;
        }
    }
    const size_t count = lk_own_addresses (own, OWN_MAX);
    first[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const bool v6 = strchr (own[i], ':') != NULL;
        if (v6 || strncmp (own[i], "127.", 4) == 0) {
            continue;
        }
        if (reachable++ == 0) {
            snprintf (first, LK_ADDRESS_LEN_MAX + 1, "%.47s:%s", own[i],
                      LK_INIT_PORT);
        }
    }
    return reachable;
}

/*  The one by which that host is reached, if there are several. */
static bool
find_towards (const char *hostport, char address[LK_ADDRESS_LEN_MAX + 1])
{
    char own[LK_OWN_ADDRESS_SIZE];
    if (!lk_own_address_towards (hostport, own)) {
        return false;
    }
    const bool v6 = strchr (own, ':') != NULL;
    snprintf (address, LK_ADDRESS_LEN_MAX + 1, "%s%s%s:%s", v6 ? "[" : "", own,
              v6 ? "]" : "", LK_INIT_PORT);
    return true;
}

/*  -------------------------------------------------------- all of it */

static bool
complete_host (lk_init *self)
{
    char name[LK_HOST_LEN_MAX + 1];
    if (self->host[0] != '\0') {
        return true;
    }
    find_host (self, name);
    if (!self->asked && lk_address_is_name (lk_slice_of (name))
        && strcmp (name, "localhost") != 0) {
        return take_host (self, name);
    }
    return ask_for (self, "Name of this host in the cluster", name, take_host,
                    "--host");
}

static bool
complete_address (lk_init *self)
{
    char first[LK_ADDRESS_LEN_MAX + 1];
    if (self->address[0] != '\0') {
        return true;
    }
    const size_t count = find_addresses (self, first);
    const bool found =
        count == 1
        || (self->join_count > 0 && find_towards (self->join[0], first));
    if (!self->asked && found) {
        return take_address (self, first);
    }
    return ask_for (self, "Address at which the other hosts reach this one",
                    first, take_address, "--address");
}

/*  Whether the configuration names other hosts than this one. */
static bool
knows_others (const lk_init *self)
{
    char numeric[LK_ADDRESS_LEN_MAX + 1];
    for (size_t i = 0; self->router.neighbour[i] != NULL; i++) {
        if (!lk_own_address_is (self->router.neighbour[i], numeric)) {
            return true;
        }
    }
    return false;
}

static bool
complete (lk_init *self)
{
    if (self->way == LK_INIT_UNKNOWN
        && !ask_for (self,
                     "Is this the first host of a new cluster (first), or "
                     "does it join one (join)?",
                     "", take_way, "--first or --join ADDRESS...")) {
        return false;
    }
    if (self->way == LK_INIT_FIRST && self->cluster[0] == '\0'
        && !ask_for (self, "Name of the new cluster", "lockkeeper",
                     take_cluster, "--cluster")) {
        return false;
    }
    if (self->way == LK_INIT_JOIN && self->join_count == 0
        && !knows_others (self)
        && !ask_for (self, "Address of a host of the cluster that runs", "",
                     take_join, "an ADDRESS behind --join")) {
        return false;
    }
    return complete_host (self) && complete_address (self);
}

static bool
take_invitation (lk_init *self)
{
    lk_problem problem = {0};
    if (lk_invitation_text_read (&self->ticket, self->options->invitation,
                                 &problem)
        != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
        return false;
    }
    snprintf (self->cluster, sizeof self->cluster, "%s", self->ticket.cluster);
    snprintf (self->join[self->join_count++], sizeof self->join[0], "%s",
              self->ticket.address);
    return true;
}

bool
lk_init_complete (lk_init *self, int *code)
{
    const lk_options *options = self->options;
    *code = LK_EXIT_FAILED;
    self->way = options->first  ? LK_INIT_FIRST
                : options->join ? LK_INIT_JOIN
                                : LK_INIT_UNKNOWN;
    if (options->invitation != NULL && !take_invitation (self)) {
        return false;
    }
    for (int i = 0; i < options->count && i < LK_LINKS_MAX; i++) {
        if (!lk_init_read_address (options->argument[i],
                                   self->join[self->join_count])) {
            return false;
        }
        self->join_count++;
    }
    if ((options->cluster != NULL && !take_cluster (self, options->cluster))
        || (options->host != NULL && !take_host (self, options->host))
        || (options->address != NULL
            && !take_address (self, options->address))) {
        return false;
    }
    return complete (self);
}
