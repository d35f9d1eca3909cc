/*  clients.c - `lockkeeper clients`: machines whose applications may come
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/setup/settings_change.h"
#include "cli/survey.h"
#include "net/curve.h"
#include "settings/common.h"
#include "settings/edit.h"
#include "util/alloc.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 3000

/*  Those that the settings have, and as they are to be. */
typedef struct {
    lk_message *base;
    lk_client_key key[LK_CLIENT_KEYS_MAX + 1]; /* and one more */
    size_t count;
    char line[LK_CLIENT_KEYS_MAX + 1][LK_CLIENT_KEY_LINE_SIZE];
    const char *value[LK_CLIENT_KEYS_MAX + 2]; /* NULL behind the last */
} clients;

/*  NULL: said why, and *code is how to exit. */
static clients *
look (lk_requester *asker, int *code)
{
    lk_message *base = lk_settings_ask (asker, 0, code);
    if (base == NULL) {
        return NULL;
    }
    clients *self = lk_alloc (sizeof *self);
    self->base = base;
    self->count =
        lk_common_settings_clients (lk_text_of (base, "text"), self->key);
    return self;
}

static void
destroy (clients *self)
{
    lk_message_destroy (&self->base);
    lk_free (self);
}

static int
change (clients *self, lk_requester *asker, const lk_options *options,
        bool is_aside)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_client_key_write (&self->key[i], self->line[i]);
        self->value[i] = self->line[i];
    }
    self->value[self->count] = NULL;
    char *text = lk_edit_text (lk_text_of (self->base, "text"),
                               LK_SETTING_CLIENT, self->value);
    const lk_settings_edit edit = {.base = self->base,
                                   .text = text,
                                   .is_aside = is_aside,
                                   .wait_ms = options->wait_ms};
    const int code = lk_settings_change (asker, &edit);
    lk_free (text);
    return code;
}

/*  -------------------------------------------------------- servers */

/*  Of live hosts, what the router says that has a port for them, in the order
 *  of their names. */
typedef struct {
    lk_message *router[LK_SURVEY_HOSTS];
    size_t count;
} servers;

static int
by_host (const void *one, const void *other)
{
    return strcmp (lk_text_of (*(lk_message *const *) one, "host"),
                   lk_text_of (*(lk_message *const *) other, "host"));
}

static void
keep_servers (servers *self, lk_message **answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (answers[i] != NULL
            && lk_message_text (answers[i], "clients_address") != NULL) {
            self->router[self->count++] = answers[i];
        } else {
            lk_message_destroy (&answers[i]);
        }
    }
    qsort (self->router, self->count, sizeof *self->router, by_host);
}

static void
find_servers (servers *self, lk_requester *asker)
{
    lk_survey survey;
    lk_message *questions[LK_SURVEY_HOSTS], *answers[LK_SURVEY_HOSTS];
    lk_survey_take (&survey, asker, ANSWER_MS);
    for (size_t i = 0; i < survey.count; i++) {
        char to[LK_ADDRESS_LEN_MAX + 1];
        snprintf (to, sizeof to, "router@%s", survey.host[i].name);
        questions[i] =
            survey.host[i].live ? lk_message_new (to, "ROUTERSTATUS") : NULL;
    }
    lk_requester_ask_all (asker, questions, answers, survey.count, ANSWER_MS);
    keep_servers (self, answers, survey.count);
    lk_survey_clear (&survey);
    if (self->count == 0) {
        lk_cli_hint ("no host that is connected listens for applications on "
                     "other machines: router/listen-clients in "
                     "lockkeeper.conf(5)");
    }
}

static void
forget_servers (servers *self)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_message_destroy (&self->router[i]);
    }
}

/*  As the client's file has it. */
static void
print_lines (const servers *self)
{
    for (size_t i = 0; i < self->count; i++) {
        printf ("    server = \"tcp://%s %s\"\n",
                lk_text_of (self->router[i], "clients_address"),
                lk_text_of (self->router[i], "clients_key"));
    }
}

static void
print_row (lk_message *row)
{
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static void
print_server_json (const lk_message *router)
{
    char endpoint[LK_ADDRESS_LEN_MAX + 8];
    lk_message *row = lk_message_row_new ();
    snprintf (endpoint, sizeof endpoint, "tcp://%s",
              lk_text_of (router, "clients_address"));
    lk_message_set_text (row, "server", lk_text_of (router, "host"));
    lk_message_set_text (row, "endpoint", endpoint);
    lk_message_set_text (row, "key", lk_text_of (router, "clients_key"));
    lk_message_set_number (row, "sessions",
                           lk_message_number (router, "clients", 0));
    print_row (row);
}

static void
print_client_json (const lk_client_key *key, int64_t sessions)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "client", key->client);
    lk_message_set_text (row, "key", key->key);
    lk_message_set_text (row, "role", lk_role_words[key->role]);
    lk_message_set_number (row, "sessions", sessions);
    print_row (row);
}

static void
print_servers (const servers *self, bool json)
{
    for (size_t i = 0; i < self->count; i++) {
        const lk_message *router = self->router[i];
        if (json) {
            print_server_json (router);
            continue;
        }
        printf ("server       %-16s tcp://%s %s %lld\n",
                lk_text_of (router, "host"),
                lk_text_of (router, "clients_address"),
                lk_text_of (router, "clients_key"),
                (long long) lk_message_number (router, "clients", 0));
    }
}

/*  Of all servers that answered. */
static int64_t
sessions_of (const servers *self, const char *key)
{
    lk_message *row;
    int64_t sessions = 0;
    for (size_t i = 0; i < self->count; i++) {
        for (size_t j = 0;
             (row = lk_message_row (self->router[i], "machines", j)) != NULL;
             j++) {
            if (strcmp (lk_text_of (row, "key"), key) == 0) {
                sessions += lk_message_number (row, "sessions", 0);
            }
            lk_message_destroy (&row);
        }
    }
    return sessions;
}

/*  -------------------------------------------------------- forms */

static int
list (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    clients *self = look (asker, &code);
    if (self == NULL) {
        return code;
    }
    servers *all = lk_alloc (sizeof *all);
    find_servers (all, asker);
    for (size_t i = 0; i < self->count; i++) {
        const lk_client_key *it = &self->key[i];
        const int64_t sessions = sessions_of (all, it->key);
        if (options->json) {
            print_client_json (it, sessions);
        } else {
            printf ("client       %-16s %s %" PRId64 "%s%s\n", it->client,
                    it->key, sessions, it->role != LK_ROLE_USER ? " " : "",
                    it->role != LK_ROLE_USER ? lk_role_words[it->role] : "");
        }
    }
    print_servers (all, options->json);
    forget_servers (all);
    lk_free (all);
    destroy (self);
    return LK_EXIT_OK;
}

static const char *
name_of (const lk_options *options)
{
    return options->argument[1];
}

/*  Takes those out that are of that name; how many. */
static size_t
take_out (clients *self, const char *name, lk_client_key *gone)
{
    const size_t count = self->count;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp (self->key[i].client, name) == 0) {
            gone[i - kept] = self->key[i];
        } else {
            self->key[kept++] = self->key[i];
        }
    }
    self->count = kept;
    return count - kept;
}

static lk_role
role_of (const lk_options *options)
{
    return options->role != NULL ? lk_role_from_word (options->role)
                                 : LK_ROLE_USER;
}

static size_t
count_of (const clients *self, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        count += strcmp (self->key[i].client, name) == 0;
    }
    return count;
}

/*  Nothing is printed but what the client's file needs. */
static int
enter (clients *self, lk_requester *asker, const lk_options *options,
       const char *key)
{
    lk_client_key *gone = lk_alloc ((self->count + 1) * sizeof *gone);
    const size_t count = take_out (self, name_of (options), gone);
    lk_client_key *it = &self->key[self->count++];
    snprintf (it->client, sizeof it->client, "%s", name_of (options));
    snprintf (it->key, sizeof it->key, "%s", key);
    it->role = role_of (options);
    const int code = change (self, asker, options, true);
    for (size_t i = 0; code == LK_EXIT_OK && i < count; i++) {
        if (strcmp (gone[i].key, key) != 0) {
            lk_cli_hint ("withdrawn: the key of '%s', %s", gone[i].client,
                         gone[i].key);
        }
    }
    lk_free (gone);
    return code;
}

/*  Whether that is to be, and not so yet; else *code. */
static bool
is_to_enter (const clients *self, const lk_options *options, const char *key,
             int *code)
{
    const char *name = name_of (options);
    const size_t count = count_of (self, name);
    const lk_client_key *owner =
        lk_client_key_find (self->key, self->count, key);
    *code = LK_EXIT_OK;
    if (owner != NULL && strcmp (owner->client, name) != 0) {
        *code = lk_cli_fail (LK_EXIT_NO, "client '%s' has that key already",
                             owner->client);
        return false;
    }
    if (owner != NULL && count == 1 && owner->role != role_of (options)) {
        return true;
    }
    if (owner != NULL && (count == 1 || !options->replace)) {
        lk_cli_hint ("client '%s' has that key already", name);
        return false;
    }
    if (count > 0 && !options->replace) {
        *code = lk_cli_fail (LK_EXIT_NO,
                             "client '%s' has another key: --replace takes "
                             "that out, or take another name",
                             name);
        return false;
    }
    return true;
}

static int
add (lk_requester *asker, const lk_options *options)
{
    int code;
    const char *key = options->argument[2];
    clients *self = look (asker, &code);
    if (self == NULL) {
        return code;
    }
    if (is_to_enter (self, options, key, &code)) {
        code = enter (self, asker, options, key);
    }
    destroy (self);
    if (code == LK_EXIT_OK) {
        servers *all = lk_alloc (sizeof *all);
        find_servers (all, asker);
        print_lines (all);
        forget_servers (all);
        lk_free (all);
    }
    return code;
}

static int
remove_it (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    clients *self = look (asker, &code);
    if (self == NULL) {
        return code;
    }
    lk_client_key *gone = lk_alloc ((self->count + 1) * sizeof *gone);
    const size_t count = take_out (self, name_of (options), gone);
    code = count == 0 ? lk_cli_fail (LK_EXIT_NO, "no client is called '%s'",
                                     name_of (options))
                      : change (self, asker, options, false);
    for (size_t i = 0; code == LK_EXIT_OK && i < count; i++) {
        printf ("withdrawn    %-16s %s\n", gone[i].client, gone[i].key);
    }
    lk_free (gone);
    destroy (self);
    return code;
}

/*  -------------------------------------------------------- the verb */

static const struct {
    const char *word;
    int count; /* of arguments, with that word */
    int (*run) (lk_requester *asker, const lk_options *options);
} forms[] = {{"list", 1, list}, {"add", 3, add}, {"remove", 2, remove_it}};

#define LINE_SIZE 256
#define KEY_PLACE 2 /* of `add` */

/*  "-": as `lockkeeper client new` printed it, on standard input. */
static void
read_key (const lk_options *options, char line[LINE_SIZE])
{
    char **key = &options->argument[KEY_PLACE];
    if (strcmp (*key, "-") == 0) {
        if (fgets (line, LINE_SIZE, stdin) == NULL) {
            line[0] = '\0';
        }
        line[strcspn (line, "\r\n")] = '\0';
        *key = line;
    }
}

/*  Says the fault, if there is one; LK_EXIT_OK: none. */
static int
check_arguments (const lk_options *options, char line[LINE_SIZE])
{
    const bool adds = strcmp (options->argument[0], "add") == 0;
    if (options->count > 1
        && !lk_address_is_name (lk_slice_of (options->argument[1]))) {
        return lk_cli_misused (&lk_verb_clients,
                               "'%s' is no name: 1 to 63 of A-Z a-z 0-9 . _ -",
                               lk_shown_name (options->argument[1]).text);
    }
    if (options->replace && !adds) {
        return lk_cli_misused (&lk_verb_clients, "--replace is for 'add'");
    }
    if (options->role != NULL && !adds) {
        return lk_cli_misused (&lk_verb_clients, "--role is for 'add'");
    }
    if (options->json && strcmp (options->argument[0], "list") != 0) {
        return lk_cli_misused (&lk_verb_clients, "--json is for 'list'");
    }
    if (!adds) {
        return LK_EXIT_OK;
    }
    read_key (options, line);
    return lk_curve_is_key (options->argument[KEY_PLACE])
               ? LK_EXIT_OK
               : lk_cli_misused (
                   &lk_verb_clients,
                   "'%s' is no public key: 40 characters, as the client's file "
                   "has it",
                   lk_shown_name (options->argument[KEY_PLACE]).text);
}

static int
run_clients (int argc, char **argv)
{
    lk_options options;
    char line[LINE_SIZE];
    int code;
    if (!lk_options_read (&options, &lk_verb_clients, argc, argv, &code)) {
        return code;
    }
    const char *what = options.count > 0 ? options.argument[0] : "";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp (what, forms[i].word) != 0
            || options.count != forms[i].count) {
            continue;
        }
        code = check_arguments (&options, line);
        if (code == LK_EXIT_OK) {
            lk_requester *asker = lk_cli_asker (options.endpoint);
            code =
                asker != NULL ? forms[i].run (asker, &options) : LK_EXIT_FAILED;
            lk_requester_destroy (&asker);
        }
        return code;
    }
    return lk_cli_misused (&lk_verb_clients,
                           "'clients' needs list, add NAME KEY or remove NAME");
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (JSON, "of list: print a JSON object per client and server"),
    LK_TAKES (REPLACE),
    LK_TAKES_WORD (ROLE, "of add: what may be done there (default: user)",
                   "observer user operator"),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 60)"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("list", FLAG), LK_FOLLOWS ("add", TEXT),
    LK_FOLLOWS ("remove", CLIENT), LK_FOLLOWS_END};

const lk_verb lk_verb_clients = {
    .name = "clients",
    .usage = "list [options]\n"
             "       lockkeeper clients add NAME KEY|- [--role R] [--replace] "
             "[options]\n"
             "       lockkeeper clients remove NAME [options]",
    .summary = "Machines without a router whose applications may have locks",
    .intro =
        "  list           those that the settings have, and hosts that serve "
        "them, each with how\n"
        "                 many applications are there\n"
        "  add            NAME may come by that public key from now on (-: of "
        "standard input);\n"
        "                 prints the hosts, as the client's file needs them\n"
        "  remove         not any more: its applications are cut off, and "
        "their locks end by\n"
        "                 their leases\n",
    .options = takes,
    .help = "Changes the settings of the cluster, as `lockkeeper settings set` "
            "does.\n"
            "\n"
            "Exit code: 0 it is so; 1 it cannot be; 124 not confirmed in time; "
            "125 failed.\n",
    .arguments = follows,
    .run = run_clients,
};
