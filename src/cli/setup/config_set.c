/*  config_set.c - `lockkeeper config set`: another value, if all is right then
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/config.h"

#include "net/paths.h"
#include "settings/edit.h"
#include "settings/issuer.h"
#include "settings/keys.h"
#include "settings/lock.h"
#include "settings/router.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define VALUES_MAX 101 /* and the one that takes away those before it */
#define TELL_SIZE 1000

typedef struct {
    const lk_options *options;
    const lk_config_key *key;
    const char *main;    /* the file */
    char path[PATH_MAX]; /* the one that is written */
    const char *value[VALUES_MAX + 1];
    size_t count;
    lk_config *before, *after;
} setter;

/*  -------------------------------------------------------- loading */

/*  NULL: said why. */
static lk_config *
load (const setter *self, const char *text)
{
    lk_problem problem = {0};
    lk_router_options router;
    lk_lockd_options lock;
    lk_issuer_options issuer;
    lk_config *config = lk_config_new (lk_settings);
    lk_config_be_lenient (config);
    if (text != NULL) {
        lk_config_pretend (config, self->path, text);
    }
    const lk_err error = lk_config_load (config, self->main, &problem);
    if (error != LK_OK && error != LK_INVALID && error != LK_UNKNOWN) {
        (void) lk_cli_fail (0, "%s", problem.text);
        lk_config_destroy (&config);
        return NULL;
    }
    (void) lk_router_options_read (&router, config, &problem);
    (void) lk_lockd_options_read (&lock, config, &problem);
    (void) lk_issuer_options_read (&issuer, config, &problem);
    return config;
}

/*  The file that says it now: the last one, if it is a list. */
static const char *
find_file (const setter *self)
{
    lk_config_origin origin = {.source = LK_FROM_NOWHERE};
    for (size_t i = 0;
         lk_config_written (self->before, self->key->key, i) != NULL; i++) {
        origin = lk_config_origin_of (self->before, self->key->key, i);
    }
    return origin.path != NULL ? origin.path : self->main;
}

/*  Whether another file ahead of that one has items of the list. */
static bool
has_others (const setter *self)
{
    const char *key = self->key->key;
    for (size_t i = 0; lk_config_written (self->before, key, i) != NULL; i++) {
        const lk_config_origin origin =
            lk_config_origin_of (self->before, key, i);
        if (origin.path != NULL && strcmp (origin.path, self->path) != 0) {
            return self->key->type == LK_CONFIG_LIST;
        }
    }
    return false;
}

/*  -------------------------------------------------------- what is asked */

static int
choose_file (setter *self)
{
    const char *name = self->options->drop_in;
    if (name == NULL) {
        snprintf (self->path, sizeof self->path, "%s", find_file (self));
    } else if (!lk_address_is_name (lk_slice_of (name)) || name[0] == '.') {
        return lk_cli_misused (self->options->verb,
                               "'%s' is no name of a drop-in: A-Z a-z 0-9 . _ "
                               "-, without .conf",
                               lk_shown_name (name).text);
    } else {
        snprintf (self->path, sizeof self->path, "%s.d/%s.conf", self->main,
                  name);
    }
    return LK_EXIT_OK;
}

static int
take_values (setter *self)
{
    const lk_options *options = self->options;
    const int given = options->count - 2;
    if (options->unset ? given > 0 : given == 0) {
        return lk_cli_misused (options->verb, "'config set' needs %s",
                               options->unset ? "no value with --unset"
                                              : "a value, or --unset");
    }
    if (given > 1 && self->key->type != LK_CONFIG_LIST) {
        return lk_cli_misused (options->verb, "'%s' has one value",
                               self->key->key);
    }
    if (given > 0 && has_others (self)) {
        self->value[self->count++] = "";
    }
    for (int i = 0; i < given && self->count < VALUES_MAX; i++) {
        const char *value = options->argument[2 + i];
        if (!lk_edit_can_say (value)) {
            return lk_cli_fail (LK_EXIT_NO,
                                "'%s' has both kinds of quotes, or ends of "
                                "lines: a file cannot say that",
                                lk_shown_name (value).text);
        }
        self->value[self->count++] = value;
    }
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- what comes out */

static bool
had_mistake (const lk_config *config, const lk_config_mistake *mistake)
{
    const lk_config_mistake *old;
    for (size_t i = 0; (old = lk_config_mistake_at (config, i)) != NULL; i++) {
        if (strcmp (old->text, mistake->text) == 0) {
            return true;
        }
    }
    return false;
}

/*  What was wrong before is not our business. */
static int
refuse_mistakes (const setter *self)
{
    const lk_config_mistake *mistake;
    char text[TELL_SIZE];
    int code = LK_EXIT_OK;
    for (size_t i = 0;
         (mistake = lk_config_mistake_at (self->after, i)) != NULL; i++) {
        if (!had_mistake (self->before, mistake)) {
            lk_config_tell (mistake, text, sizeof text);
            code = lk_cli_fail (LK_EXIT_NO, "not set: %s",
                                strstr (mistake->text, self->key->key) != NULL
                                    ? mistake->text
                                    : text);
        }
    }
    return code;
}

/*  Another file may have the last word. */
static int
refuse_hidden (const setter *self)
{
    const char *key = self->key->key;
    const size_t first = self->count > 0 && self->value[0][0] == '\0'
                         && self->key->type == LK_CONFIG_LIST;
    for (size_t i = 0; i + first < self->count; i++) {
        const char *now = lk_config_written (self->after, key, i);
        const lk_config_origin origin =
            lk_config_origin_of (self->after, key, i);
        if (now == NULL || strcmp (now, self->value[i + first]) != 0) {
            return lk_cli_fail (
                LK_EXIT_NO,
                "not set: '%s', line %u, has the last word about '%s': change "
                "it there, or take another --drop-in",
                origin.path != NULL ? origin.path : "?", origin.line, key);
        }
    }
    return LK_EXIT_OK;
}

static void
say_done (const setter *self)
{
    const char *key = self->key->key, *value;
    char how[200];
    size_t count = 0;
    while ((value = lk_config_written (self->after, key, count)) != NULL) {
        const lk_config_origin origin =
            lk_config_origin_of (self->after, key, count++);
        printf ("%s = ", key);
        lk_show (stdout, value);
        if (origin.path != NULL) {
            printf ("  # %s:%u\n", origin.path, origin.line);
        } else {
            puts ("  # default");
        }
    }
    if (count == 0) {
        printf ("%s is not set\n", key);
    }
    printf ("to take effect: %s\n",
            lk_cli_how_to_apply (self->after, self->key, how, sizeof how));
}

static int
write_file (setter *self, const char *old)
{
    lk_problem problem = {0};
    char *text = lk_edit_text (old, self->key->key, self->value);
    int code = LK_EXIT_FAILED;
    if (strcmp (text, old) == 0) {
        printf ("nothing to do: '%s' says so already\n", self->path);
        lk_free (text);
        return LK_EXIT_OK;
    }
    self->after = load (self, text);
    if (self->after != NULL) {
        code = refuse_mistakes (self);
        code = code == LK_EXIT_OK ? refuse_hidden (self) : code;
    }
    if (code == LK_EXIT_OK
        && lk_edit_write (self->path, text, &problem) != LK_OK) {
        code = lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    if (code == LK_EXIT_OK) {
        say_done (self);
    }
    lk_free (text);
    return code;
}

static int
set (setter *self)
{
    lk_problem problem = {0};
    int code = choose_file (self);
    code = code == LK_EXIT_OK ? take_values (self) : code;
    if (code != LK_EXIT_OK) {
        return code;
    }
    char *old = lk_edit_read (self->path, &problem);
    if (old == NULL) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    code = write_file (self, old);
    lk_free (old);
    return code;
}

int
lk_cli_config_set (const lk_options *options)
{
    setter self = {.options = options,
                   .main = options->config != NULL ? options->config
                                                   : LK_PATH_CONFIG};
    int code = lk_cli_check_key (options->argument[1]);
    if (code != LK_EXIT_OK) {
        return code;
    }
    self.key = lk_config_key_of (lk_settings, options->argument[1]);
    const int lock = lk_edit_lock (self.main);
    self.before = load (&self, NULL);
    code = self.before != NULL ? set (&self) : LK_EXIT_FAILED;
    lk_edit_unlock (lock);
    lk_config_destroy (&self.before);
    lk_config_destroy (&self.after);
    return code;
}
