/*  cluster_settings.c - `lockkeeper settings`: what counts on all hosts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/setup/editor.h"
#include "cli/setup/settings_change.h"
#include "net/zpl.h"
#include "settings/common.h"
#include "settings/edit.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANSWER_MS 2000

static void
print_text (const char *text)
{
    const size_t size = strlen (text);
    fputs (text, stdout);
    if (size > 0 && text[size - 1] != '\n') {
        putchar ('\n');
    }
}

static int
print_values (const char *text, const char *key)
{
    char value[LK_ZPL_LINE_SIZE_MAX + 1];
    size_t i = 0;
    while (lk_common_settings_value (text, key, i, value, sizeof value)) {
        lk_show (stdout, value);
        putchar ('\n');
        i++;
    }
    return i > 0 ? LK_EXIT_OK
                 : lk_cli_fail (LK_EXIT_NO, "'%s' is not set", key);
}

static int
get (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    lk_message *answer = lk_settings_ask (asker, 0, &code);
    if (answer == NULL) {
        return code;
    }
    if (options->count > 1) {
        code = print_values (lk_text_of (answer, "text"), options->argument[1]);
    } else if (options->json) {
        lk_settings_print (answer);
    } else {
        print_text (lk_text_of (answer, "text"));
    }
    lk_message_destroy (&answer);
    return code;
}

/*  -------------------------------------------------------- history */

enum { VERSION, SINCE, BYTES, STATE, HASH, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [VERSION] = {.head = "VERSION", .width = 7},
    [SINCE] = {.head = "SINCE", .width = 20},
    [BYTES] = {.head = "BYTES", .width = 6},
    [STATE] = {.head = "STATE", .width = 8},
    [HASH] = {.head = "HASH", .width = 8}};

static void
add_version (lk_columns *table, const lk_message *row)
{
    char text[LK_UTC_SIZE];
    lk_columns_add (table);
    snprintf (text, sizeof text, "%lld",
              (long long) lk_message_number (row, "version", 0));
    lk_columns_set (table, VERSION, text);
    lk_columns_set (table, SINCE, lk_settings_time (row, text));
    snprintf (text, sizeof text, "%lld",
              (long long) lk_message_number (row, "size", 0));
    lk_columns_set (table, BYTES, text);
    lk_columns_set (table, STATE,
                    lk_message_flag (row, "active") ? "in force" : "former");
    snprintf (text, sizeof text, "%.8s", lk_text_of (row, "hash"));
    lk_columns_set (table, HASH, text);
}

static void
print_version (const lk_message *row)
{
    char time[LK_UTC_SIZE];
    lk_message *out = lk_message_row_new ();
    lk_message_set_number (out, "version",
                           lk_message_number (row, "version", 0));
    lk_message_set_text (out, "hash", lk_text_of (row, "hash"));
    lk_message_set_text (out, "since", lk_settings_time (row, time));
    lk_message_set_number (out, "size", lk_message_number (row, "size", 0));
    lk_message_set_flag (out, "active", lk_message_flag (row, "active"));
    puts (lk_message_body (out));
    lk_message_destroy (&out);
}

static void
print_history (const lk_message *answer, bool json)
{
    lk_message *row;
    lk_columns *table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    for (size_t i = 0; (row = lk_message_row (answer, "versions", i)) != NULL;
         i++) {
        if (json) {
            print_version (row);
        } else {
            add_version (table, row);
        }
        lk_message_destroy (&row);
    }
    if (!json) {
        lk_columns_print (table);
    }
    lk_columns_destroy (&table);
}

static int64_t
version_of (const char *text)
{
    char *end;
    errno = 0;
    const long long version = strtoll (text, &end, 10);
    return errno == 0 && *end == '\0' && end != text && version > 0 ? version
                                                                    : -1;
}

static int
history (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    if (options->count > 1) {
        lk_message *answer =
            lk_settings_ask (asker, version_of (options->argument[1]), &code);
        if (answer != NULL && options->json) {
            lk_settings_print (answer);
        } else if (answer != NULL) {
            print_text (lk_text_of (answer, "text"));
        }
        lk_message_destroy (&answer);
        return code;
    }
    lk_message *question = lk_message_new (LK_SETTINGS_SERVICE, "LOCKSETTINGS");
    lk_message_set_flag (question, "history", true);
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    if (answer == NULL || !lk_message_is (answer, "LOCKSETTINGS")) {
        code = lk_settings_say_no_answer (answer);
    } else {
        print_history (answer, options->json);
    }
    lk_message_destroy (&answer);
    return code;
}

/*  -------------------------------------------------------- changes */

static int
change_to (lk_requester *asker, const lk_options *options,
           const lk_message *base, const char *text)
{
    const lk_settings_edit it = {.base = base,
                                 .text = text,
                                 .json = options->json,
                                 .wait_ms = options->wait_ms};
    return lk_settings_change (asker, &it);
}

static int
set (lk_requester *asker, const lk_options *options, const lk_message *base)
{
    const char *const none[] = {NULL};
    const char *const *values =
        options->unset ? none : (const char *const *) (options->argument + 2);
    char *text =
        lk_edit_text (lk_text_of (base, "text"), options->argument[1], values);
    int code = change_to (asker, options, base, text);
    lk_free (text);
    return code;
}

/*  What was written is not lost if it is not taken. */
static int
edit_text (lk_requester *asker, const lk_options *options,
           const lk_message *base)
{
    lk_editor editor;
    char *text = NULL;
    int code = LK_EXIT_FAILED;
    if (options->count > 1) {
        text = lk_editor_read (options->argument[1]);
        code = text ? change_to (asker, options, base, text) : code;
        lk_free (text);
        return code;
    }
    if (lk_editor_open (&editor, lk_text_of (base, "text"))) {
        text = lk_editor_read (editor.path);
        code = text ? change_to (asker, options, base, text) : code;
        lk_free (text);
        lk_editor_close (&editor, code != LK_EXIT_OK);
    }
    return code;
}

static int
rollback (lk_requester *asker, const lk_options *options,
          const lk_message *base)
{
    int code;
    lk_message *former =
        lk_settings_ask (asker, version_of (options->argument[1]), &code);
    if (former == NULL) {
        return code;
    }
    code = change_to (asker, options, base, lk_text_of (former, "text"));
    lk_message_destroy (&former);
    return code;
}

/*  A file's text may replace one that no host has any more. */
static bool
needs_no_base (const lk_options *options)
{
    return strcmp (options->argument[0], "edit") == 0 && options->count > 1;
}

static int
make_change (lk_requester *asker, const lk_options *options)
{
    const char *verb = options->argument[0];
    int code = LK_EXIT_OK;
    lk_message *base = needs_no_base (options)
                           ? lk_settings_ask_any (asker, 0, &code)
                           : lk_settings_ask (asker, 0, &code);
    if (base == NULL) {
        return code;
    }
    if (strcmp (verb, "set") == 0) {
        code = set (asker, options, base);
    } else if (strcmp (verb, "edit") == 0) {
        code = edit_text (asker, options, base);
    } else {
        code = rollback (asker, options, base);
    }
    lk_message_destroy (&base);
    return code;
}

/*  -------------------------------------------------------- the verb */

static bool
can_be_said (char *const *values)
{
    for (; *values != NULL; values++) {
        if (!lk_edit_can_say (*values)) {
            (void) lk_cli_fail (0,
                                "'%s' has both kinds of quotes, or ends of "
                                "lines: a text cannot say that",
                                lk_shown_name (*values).text);
            return false;
        }
    }
    return true;
}

/*  How many arguments each takes, itself too. */
static const struct {
    const char *word;
    int least, most;
    const char *needs;
} forms[] = {
    {"get", 1, 2, "at most one key"},
    {"set", 2, 100, "a key, and its values or --unset"},
    {"edit", 1, 2, "at most one file"},
    {"history", 1, 2, "at most one version"},
    {"rollback", 2, 2, "the number of a version"},
};

static bool
has_sense (const lk_options *options, size_t form)
{
    const char *verb = forms[form].word;
    const bool sets = strcmp (verb, "set") == 0;
    const bool counts =
        strcmp (verb, "history") == 0 || strcmp (verb, "rollback") == 0;
    if (options->count < forms[form].least || options->count > forms[form].most
        || (sets && (options->count == 2) != options->unset)
        || (counts && options->count > 1
            && version_of (options->argument[1]) < 0)) {
        lk_cli_misused (&lk_verb_settings, "'settings %s' needs %s", verb,
                        forms[form].needs);
        return false;
    }
    return !sets || can_be_said (options->argument + 2);
}

static bool
check_arguments (const lk_options *options)
{
    const char *verb = options->count > 0 ? options->argument[0] : "";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp (verb, forms[i].word) == 0) {
            return has_sense (options, i);
        }
    }
    lk_cli_misused (&lk_verb_settings, "'settings' needs 'get', 'set', 'edit', "
                                       "'history' or 'rollback'");
    return false;
}

static int
run_settings (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_settings, argc, argv, &code)) {
        return code;
    }
    if (!check_arguments (&options)) {
        return LK_EXIT_FAILED;
    }
    lk_requester *asker = lk_cli_asker (options.endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    const char *verb = options.argument[0];
    code = strcmp (verb, "get") == 0       ? get (asker, &options)
           : strcmp (verb, "history") == 0 ? history (asker, &options)
                                           : make_change (asker, &options);
    lk_requester_destroy (&asker);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (UNSET, "set: take the key away"),
    LK_TAKES_AS (JSON, "print a JSON object, of the history one per version"),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 60)"),
    LK_TAKES (ENDPOINT), LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("get", TEXT),        LK_FOLLOWS ("set", TEXT),
    LK_FOLLOWS ("edit", FILE),       LK_FOLLOWS ("history", NUMBER),
    LK_FOLLOWS ("rollback", NUMBER), LK_FOLLOWS_END};

const lk_verb lk_verb_settings = {
    .name = "settings",
    .usage = "get [KEY] [options]\n"
             "       lockkeeper settings set KEY VALUE... [options]\n"
             "       lockkeeper settings edit [FILE] [options]\n"
             "       lockkeeper settings history [VERSION] [options]\n"
             "       lockkeeper settings rollback VERSION [options]",
    .summary = "Shows and changes the settings that count on all hosts",
    .options = takes,
    .help = "The members agree on one text, as lockkeeper-settings(5) tells "
            "what it may say.\n"
            "`edit` starts $VISUAL or $EDITOR; with FILE (- is standard input) "
            "that is the new\n"
            "text. A change is refused if somebody else made one meanwhile. It "
            "costs an\n"
            "election: for a second or two no lock is granted.\n"
            "\n"
            "Exit code: 0 it is so; 1 it cannot be; 124 not confirmed in time; "
            "125 failed.\n",
    .arguments = follows,
    .run = run_settings,
};
