/*  config.c - `lockkeeper config`: its verbs, and the list of all keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/config.h"

#include "cli/columns.h"
#include "settings/keys.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define TELL_SIZE 1000

/*  -------------------------------------------------------- keys */

static const struct {
    const char *word, *told;
} effects[] = {
    [LK_CONFIG_RESTART] = {"restart", "a restart"},
    [LK_CONFIG_RELOAD] = {"reload", "a reload"},
    [LK_CONFIG_EVERYWHERE] = {"everywhere", "all lock services have stopped"}};

/*  The key, and what there is to say of it in several lines. */
static const lk_column columns[] = {{.width = 22, .whole = true},
                                    {.whole = true}};

static void
add_key (lk_columns *table, const lk_config_key *key)
{
    char range[100], text[TELL_SIZE];
    lk_config_range (key, range, sizeof range);
    snprintf (text, sizeof text, "%s%s%s%s; counts after %s", range,
              key->type == LK_CONFIG_LIST ? ", many times" : "",
              key->otherwise != NULL ? "; default: " : "",
              key->otherwise != NULL ? key->otherwise : "",
              effects[key->when].told);
    lk_columns_add (table);
    lk_columns_set (table, 0, key->key);
    lk_columns_set (table, 1, key->about);
    lk_columns_add (table);
    lk_columns_set (table, 1, text);
}

static void
print_key_json (const lk_config_key *key)
{
    char range[100];
    lk_message *row = lk_message_row_new ();
    lk_config_range (key, range, sizeof range);
    lk_message_set_text (row, "key", key->key);
    lk_message_set_text (row, "about", key->about);
    lk_message_set_text (row, "values", range);
    lk_message_set_flag (row, "list", key->type == LK_CONFIG_LIST);
    lk_message_set_text (row, "when", effects[key->when].word);
    if (key->otherwise != NULL) {
        lk_message_set_text (row, "default", key->otherwise);
    }
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static int
config_keys (const lk_options *options)
{
    lk_columns *table = lk_columns_new (columns, 2, lk_terminal_width ());
    for (const lk_config_key *key = lk_settings; key->key != NULL; key++) {
        if (options->json) {
            print_key_json (key);
        } else {
            add_key (table, key);
        }
    }
    lk_columns_print (table);
    lk_columns_destroy (&table);
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- the verb */

typedef struct {
    const char *name;
    int least, most; /* arguments behind it */
    const char *needs;
    int (*run) (const lk_options *options);
} sub_verb;

static const sub_verb sub_verbs[] = {
    {"get", 0, 1, "one key, or none", lk_cli_config_get},
    {"set", 1, 100, "a key, and its values unless --unset", lk_cli_config_set},
    {"verify", 0, 100, "files, 100 at most", lk_cli_config_verify},
    {"keys", 0, 0, "nothing more", config_keys},
};

static int
run_config (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_config, argc, argv, &code)) {
        return code;
    }
    const char *name = options.count > 0 ? options.argument[0] : "";
    for (size_t i = 0; i < sizeof sub_verbs / sizeof sub_verbs[0]; i++) {
        const sub_verb *it = &sub_verbs[i];
        if (strcmp (it->name, name) == 0) {
            const int more = options.count - 1;
            return more >= it->least && more <= it->most
                       ? it->run (&options)
                       : lk_cli_misused (&lk_verb_config,
                                         "'config %s' needs %s", name,
                                         it->needs);
        }
    }
    return lk_cli_misused (&lk_verb_config,
                           "'config' needs 'get', 'set', 'verify' or 'keys'");
}

static const lk_verb_option takes[] = {
    LK_TAKES (CONFIG),
    LK_TAKES (ORIGIN),
    LK_TAKES (CONNECT),
    LK_TAKES (UNSET),
    LK_TAKES (DROP_IN),
    LK_TAKES (CLIENT),
    LK_TAKES_AS (JSON, "print a JSON object per line"),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("get", KEY_OF_CONFIG), LK_FOLLOWS ("set", KEY_OF_CONFIG),
    LK_FOLLOWS ("verify", FILE), LK_FOLLOWS ("keys", FLAG), LK_FOLLOWS_END};

const lk_verb lk_verb_config = {
    .name = "config",
    .usage =
        "get [KEY] [--origin] [--json] [--config FILE]\n"
        "       lockkeeper config set KEY VALUE... [--drop-in NAME] [--config "
        "FILE]\n"
        "       lockkeeper config set KEY --unset [--drop-in NAME] [--config "
        "FILE]\n"
        "       lockkeeper config verify [FILE...] [--connect] [--json]\n"
        "       lockkeeper config verify --client FILE [--connect] [--json]\n"
        "       lockkeeper config keys [--json]",
    .summary = "Shows, changes and checks the configuration of this host",
    .options = takes,
    .help = "A KEY is SECTION/NAME, as in router/dead-after; `config keys` "
            "lists them. What is\n"
            "set goes where the value is now, or else into the file itself, if "
            "all is right\n"
            "then; a list takes all its values at once.\n"
            "\n"
            "Exit code: 0 so it is; 1 there are mistakes, or the key has no "
            "value; 125 failed.\n",
    .arguments = follows,
    .run = run_config,
};
