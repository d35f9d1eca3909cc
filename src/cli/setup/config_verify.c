/*  config_verify.c - `lockkeeper config verify`: all that is wrong
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/config.h"

#include "settings/check.h"
#include "settings/issuer.h"
#include "settings/keys.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

static void
print_json (const lk_config *config)
{
    const lk_config_mistake *mistake;
    for (size_t i = 0; (mistake = lk_config_mistake_at (config, i)) != NULL;
         i++) {
        lk_message *row = lk_message_row_new ();
        if (mistake->path != NULL) {
            lk_message_set_text (row, "file", mistake->path);
        }
        if (mistake->line > 0) {
            lk_message_set_number (row, "line", mistake->line);
        }
        lk_message_set_text (row, "mistake", mistake->text);
        puts (lk_message_body (row));
        lk_message_destroy (&row);
    }
}

static void
print_files (const lk_config *config)
{
    const char *path;
    if (lk_config_file (config, 0) == NULL) {
        puts ("right: no file, all by default");
        return;
    }
    fputs ("right:", stdout);
    for (size_t i = 0; (path = lk_config_file (config, i)) != NULL; i++) {
        printf ("%s ", i > 0 ? "," : "");
        lk_show (stdout, path);
    }
    putchar ('\n');
}

static int
verify (const char *path, const lk_options *options)
{
    const bool json = options->json;
    lk_problem problem = {0};
    lk_router_options router;
    lk_lockd_options lock;
    lk_issuer_options issuer;
    lk_config *config = lk_config_new (lk_settings);
    lk_config_be_lenient (config);
    const lk_err error = lk_config_load (config, path, &problem);
    int code = LK_EXIT_OK;
    if (error != LK_OK && error != LK_INVALID) {
        code = lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    } else {
        (void) lk_router_options_read (&router, config, &problem);
        (void) lk_lockd_options_read (&lock, config, &problem);
        (void) lk_issuer_options_read (&issuer, config, &problem);
        lk_settings_check (config, &router, &lock);
        code = lk_config_mistakes (config) > 0 ? LK_EXIT_NO : LK_EXIT_OK;
        if (json) {
            print_json (config);
        } else if (code == LK_EXIT_OK) {
            print_files (config);
        } else {
            (void) lk_cli_tell_mistakes (stdout, config, "");
        }
        if (code == LK_EXIT_OK && options->connect) {
            code = lk_cli_config_connect (&router, json);
        }
    }
    lk_config_destroy (&config);
    return code;
}

int
lk_cli_config_verify (const lk_options *options)
{
    int worst = LK_EXIT_OK;
    if (options->client != NULL) {
        return options->count == 1
                   ? lk_cli_config_client (options)
                   : lk_cli_fail (LK_EXIT_FAILED,
                                  "'--client' is of one file, and no other");
    }
    if (options->count == 1) {
        return verify (options->config, options);
    }
    for (int i = 1; i < options->count; i++) {
        const int code = verify (options->argument[i], options);
        worst = code > worst ? code : worst;
    }
    return worst;
}
