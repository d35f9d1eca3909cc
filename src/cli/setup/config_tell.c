/*  config_tell.c - what there is to tell of a configuration: mistakes, and how
 *                  a change takes effect
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/config.h"

#include "settings/issuer.h"
#include "settings/keys.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define TELL_SIZE 1000

size_t
lk_cli_tell_mistakes (FILE *file, const lk_config *config, const char *start)
{
    char text[TELL_SIZE];
    const size_t count = lk_config_mistakes (config);
    for (size_t i = 0; i < count; i++) {
        lk_config_tell (lk_config_mistake_at (config, i), text, sizeof text);
        fputs (start, file);
        lk_show (file, text);
        fputc ('\n', file);
    }
    return count;
}

lk_config *
lk_cli_host_config (const char *path, bool may_lack, lk_router_options *router,
                    lk_lockd_options *lock)
{
    lk_problem problem = {0};
    lk_issuer_options issuer;
    lk_config *self = lk_config_new (lk_settings);
    lk_err error = lk_config_load (self, path, &problem);
    if (error == LK_UNKNOWN && may_lack) {
        error = LK_OK;
    }
    if (error == LK_OK) {
        (void) lk_router_options_read (router, self, &problem);
        (void) lk_lockd_options_read (lock, self, &problem);
        (void) lk_issuer_options_read (&issuer, self, &problem);
    }
    const size_t mistakes = lk_cli_tell_mistakes (stderr, self, "lockkeeper: ");
    if (mistakes == 0 && error != LK_OK) {
        lk_cli_fail (0, "%s", problem.text);
    }
    if (mistakes > 0 || error != LK_OK) {
        lk_config_destroy (&self);
    }
    return self;
}

int
lk_cli_check_key (const char *key)
{
    if (lk_config_key_of (lk_settings, key) != NULL) {
        return LK_EXIT_OK;
    }
    const char *guess = lk_config_guess (lk_settings, key);
    if (guess != NULL) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "there is no setting '%s': did you mean '%s'?",
                            lk_shown_name (key).text, guess);
    }
    return lk_cli_fail (LK_EXIT_FAILED,
                        "there is no setting '%s': `lockkeeper config keys` "
                        "lists those that there are",
                        lk_shown_name (key).text);
}

static bool
hosts (const lk_config *config, const char *plugin)
{
    const char *name;
    for (size_t i = 0;
         (name = lk_config_item (config, "router/plugin", i)) != NULL; i++) {
        if (strcmp (name, plugin) == 0) {
            return true;
        }
    }
    return false;
}

bool
lk_cli_is_hosted (const lk_config *config)
{
    return hosts (config, "lock");
}

static const char *
unit_of (const lk_config *config, const char *key)
{
    if (strncmp (key, "lock/", 5) == 0 && !hosts (config, "lock")) {
        return "lockkeeper-lockd";
    }
    return strncmp (key, "issuer/", 7) == 0 && !hosts (config, "issuer")
               ? "lockkeeper-issuer"
               : "lockkeeper-router";
}

const char *
lk_cli_how_to_apply (const lk_config *config, const lk_config_key *key,
                     char *text, size_t size)
{
    const char *unit = unit_of (config, key->key);
    switch (key->when) {
    case LK_CONFIG_RELOAD:
        snprintf (text, size, "systemctl reload %s", unit);
        break;
    case LK_CONFIG_RESTART:
        snprintf (text, size, "systemctl restart %s", unit);
        break;
    case LK_CONFIG_EVERYWHERE:
        snprintf (text, size,
                  "on all hosts: change it, systemctl stop %s; and only when "
                  "all have stopped, start them again",
                  unit);
        break;
    }
    return text;
}

void
lk_cli_tell_trial (bool json, const char *where, const char *host,
                   const char *what)
{
    if (json) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "address", where);
        if (host != NULL) {
            lk_message_set_text (row, "host", host);
            lk_message_set_text (row, "means", what);
        } else {
            lk_message_set_text (row, "mistake", what);
        }
        puts (lk_message_body (row));
        lk_message_destroy (&row);
        return;
    }
    lk_show (stdout, where);
    fputs (host != NULL ? ": right: host " : ": ", stdout);
    if (host != NULL) {
        lk_show (stdout, host);
        fputs (", ", stdout);
    }
    lk_show (stdout, what);
    putchar ('\n');
    fflush (stdout);
}
