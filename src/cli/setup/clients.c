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

#include <stdio.h>
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
change (clients *self, lk_requester *asker, const lk_options *options)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_client_key_write (&self->key[i], self->line[i]);
        self->value[i] = self->line[i];
    }
    self->value[self->count] = NULL;
    char *text = lk_edit_text (lk_text_of (self->base, "text"),
                               LK_SETTING_CLIENT, self->value);
    const lk_settings_edit edit = {
        .base = self->base, .text = text, .wait_ms = options->wait_ms};
    const int code = lk_settings_change (asker, &edit);
    lk_free (text);
    return code;
}

/*  -------------------------------------------------------- servers */

typedef void server_fn (const char *host, const lk_message *router);

/*  Routers of live hosts that have a port for them; how many. */
static size_t
each_server (lk_requester *asker, server_fn *tell)
{
    lk_survey survey;
    lk_message *questions[LK_SURVEY_HOSTS], *answers[LK_SURVEY_HOSTS];
    size_t count = 0;
    lk_survey_take (&survey, asker, ANSWER_MS);
    for (size_t i = 0; i < survey.count; i++) {
        char to[LK_ADDRESS_LEN_MAX + 1];
        snprintf (to, sizeof to, "router@%s", survey.host[i].name);
        questions[i] =
            survey.host[i].live ? lk_message_new (to, "ROUTERSTATUS") : NULL;
    }
    lk_requester_ask_all (asker, questions, answers, survey.count, ANSWER_MS);
    for (size_t i = 0; i < survey.count; i++) {
        if (answers[i] != NULL
            && lk_message_text (answers[i], "clients_address") != NULL) {
            tell (survey.host[i].name, answers[i]);
            count++;
        }
        lk_message_destroy (&answers[i]);
    }
    lk_survey_clear (&survey);
    if (count == 0) {
        lk_cli_hint ("no host that is connected listens for applications on "
                     "other machines: router/listen-clients in "
                     "lockkeeper.conf(5)");
    }
    return count;
}

/*  As the client's file has it. */
static void
print_line (const char *host, const lk_message *router)
{
    (void) host;
    printf ("    server = \"tcp://%s %s\"\n",
            lk_text_of (router, "clients_address"),
            lk_text_of (router, "clients_key"));
}

static void
print_server (const char *host, const lk_message *router)
{
    printf ("server       %-16s tcp://%s %s %lld\n", host,
            lk_text_of (router, "clients_address"),
            lk_text_of (router, "clients_key"),
            (long long) lk_message_number (router, "clients", 0));
}

/*  -------------------------------------------------------- forms */

static int
list (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    clients *self = look (asker, &code);
    (void) options;
    if (self == NULL) {
        return code;
    }
    for (size_t i = 0; i < self->count; i++) {
        printf ("client       %-16s %s\n", self->key[i].client,
                self->key[i].key);
    }
    destroy (self);
    (void) each_server (asker, print_server);
    return LK_EXIT_OK;
}

static int
add (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    lk_client_key new_one;
    snprintf (new_one.client, sizeof new_one.client, "%s",
              options->argument[1]);
    snprintf (new_one.key, sizeof new_one.key, "%s", options->argument[2]);
    clients *self = look (asker, &code);
    if (self == NULL) {
        return code;
    }
    const lk_client_key *other =
        lk_client_key_find (self->key, self->count, new_one.key);
    if (other != NULL) {
        code = lk_cli_fail (LK_EXIT_NO, "client '%s' has that key already",
                            other->client);
    } else {
        self->key[self->count++] = new_one;
        code = change (self, asker, options);
    }
    destroy (self);
    if (code == LK_EXIT_OK) {
        (void) each_server (asker, print_line);
    }
    return code;
}

static int
remove_it (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    const char *name = options->argument[1];
    clients *self = look (asker, &code);
    size_t kept = 0;
    if (self == NULL) {
        return code;
    }
    lk_client_key *gone = lk_alloc ((self->count + 1) * sizeof *gone);
    const size_t count = self->count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp (self->key[i].client, name) == 0) {
            gone[i - kept] = self->key[i];
        } else {
            self->key[kept++] = self->key[i];
        }
    }
    self->count = kept;
    code = kept == count
               ? lk_cli_fail (LK_EXIT_NO, "no client is called '%s'", name)
               : change (self, asker, options);
    for (size_t i = 0; code == LK_EXIT_OK && i < count - kept; i++) {
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

/*  Says the fault, if there is one; LK_EXIT_OK: none. */
static int
check_arguments (const lk_options *options)
{
    const bool adds = strcmp (options->argument[0], "add") == 0;
    if (options->count > 1
        && !lk_address_is_name (lk_slice_of (options->argument[1]))) {
        return lk_cli_misused (&lk_verb_clients,
                               "'%s' is no name: 1 to 63 of A-Z a-z 0-9 . _ -",
                               options->argument[1]);
    }
    return adds && !lk_curve_is_key (options->argument[2])
               ? lk_cli_misused (&lk_verb_clients,
                                 "'%s' is no public key: 40 characters, as "
                                 "the client's file has it",
                                 options->argument[2])
               : LK_EXIT_OK;
}

static int
run_clients (int argc, char **argv)
{
    lk_options options;
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
        code = check_arguments (&options);
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
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 60)"),
    LK_TAKES (ENDPOINT), LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("list", FLAG), LK_FOLLOWS ("add", TEXT),
    LK_FOLLOWS ("remove", TEXT), LK_FOLLOWS_END};

const lk_verb lk_verb_clients = {
    .name = "clients",
    .usage = "list [options]\n"
             "       lockkeeper clients add NAME KEY [options]\n"
             "       lockkeeper clients remove NAME [options]",
    .summary = "Machines without a router whose applications may have locks",
    .intro =
        "  list           those that the settings have, and hosts that serve "
        "them, with how many\n"
        "                 applications are there\n"
        "  add            NAME may come by that public key from now on; "
        "prints the hosts for\n"
        "                 the client's file\n"
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
