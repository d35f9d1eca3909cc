/*  config_get.c - `lockkeeper config get`: values, and where they come from
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/config.h"

#include "net/host_name.h"
#include "settings/identity.h"
#include "settings/keys.h"
#include "settings/own_address.h"
#include "settings/router.h"
#include "wire/message_frame.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/*  What a value is, and where it comes from. */
typedef struct {
    const char *key;
    const char *value;
    const char *source; /* "file", "default", ... */
    const char *path;   /* NULL: of no file */
    unsigned line;
} value;

/*  -------------------------------------------------------- printing */

static void
print_text (const value *self, bool named, bool origin)
{
    if (named) {
        printf ("%s = ", self->key);
    }
    lk_show (stdout, self->value);
    if (origin && self->path != NULL && self->line > 0) {
        printf ("  # %s:%u", self->path, self->line);
    } else if (origin) {
        printf ("  # %s", self->path != NULL ? self->path : self->source);
    }
    putchar ('\n');
}

static void
print_json (const value *self)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "key", self->key);
    lk_message_set_text (row, "value", self->value);
    lk_message_set_text (row, "source", self->source);
    if (self->path != NULL) {
        lk_message_set_text (row, "file", self->path);
    }
    if (self->line > 0) {
        lk_message_set_number (row, "line", self->line);
    }
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static void
print (const value *self, const lk_options *options)
{
    if (options->json) {
        print_json (self);
    } else {
        const char *asked = options->count > 1 ? options->argument[1] : "";
        print_text (self, strcmp (asked, self->key) != 0, options->origin);
    }
}

/*  -------------------------------------------------------- values */

/*  What a host finds out by itself; false: nothing. */
static bool
find_own (const lk_router_options *router, value *self, char *text, size_t size)
{
    lk_own_identity identity;
    char found[LK_ADDRESS_LEN_MAX + 1];
    if (strcmp (self->key, "router/host") == 0) {
        const lk_err error =
            lk_own_identity_read (&identity, router->identity, NULL);
        if (error != LK_OK) {
            lk_host_name (identity.host);
        }
        snprintf (text, size, "%s", identity.host);
        self->source = error == LK_OK        ? "identity"
                       : error == LK_UNKNOWN ? "name of the system"
                                             : "name of the system: the "
                                               "identity cannot be read";
        self->path = error == LK_OK ? router->identity : NULL;
        return text[0] != '\0';
    }
    if (strcmp (self->key, "router/listen") == 0
        && lk_own_address_find (router->neighbour, found, NULL) == LK_OK) {
        snprintf (text, size, "%s", found);
        self->source = router->neighbour[0] != NULL
                           ? "own address among the neighbours"
                           : "default";
        return true;
    }
    if (strcmp (self->key, "lock/endpoint") == 0) {
        snprintf (text, size, "%s", router->endpoint);
        self->source = "as router/endpoint";
        return true;
    }
    return false;
}

/*  How many values it has. */
static size_t
print_key (const lk_config *config, const lk_router_options *router,
           const lk_options *options, const char *key)
{
    static const char *const sources[] = {"", "default", "file", "option"};
    char text[PATH_MAX];
    size_t count = 0;
    value self = {.key = key};
    while ((self.value = lk_config_written (config, key, count)) != NULL) {
        const lk_config_origin origin =
            lk_config_origin_of (config, key, count++);
        self.source = sources[origin.source];
        self.path = origin.path;
        self.line = origin.line;
        print (&self, options);
    }
    if (count == 0 && find_own (router, &self, text, sizeof text)) {
        self.value = text;
        print (&self, options);
        count++;
    }
    return count;
}

/*  All of them, or those of a section, or one. */
static int
print_keys (const lk_config *config, const lk_router_options *router,
            const lk_options *options)
{
    const char *asked = options->count > 1 ? options->argument[1] : "";
    const size_t size = strlen (asked);
    size_t keys = 0, values = 0;
    for (const lk_config_key *key = lk_settings; key->key != NULL; key++) {
        if (size == 0 || strcmp (key->key, asked) == 0
            || (strncmp (key->key, asked, size) == 0
                && key->key[size] == '/')) {
            values += print_key (config, router, options, key->key);
            keys++;
        }
    }
    if (keys == 0) {
        return lk_cli_check_key (asked);
    }
    return values > 0 ? LK_EXIT_OK : LK_EXIT_NO;
}

int
lk_cli_config_get (const lk_options *options)
{
    lk_problem problem = {0};
    lk_router_options router;
    lk_config *config = lk_config_new (lk_settings);
    lk_config_be_lenient (config);
    const lk_err error = lk_config_load (config, options->config, &problem);
    int code = LK_EXIT_OK;
    if (error != LK_OK && error != LK_INVALID) {
        code = lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    } else {
        (void) lk_router_options_read (&router, config, &problem);
        code = print_keys (config, &router, options);
        if (lk_cli_tell_mistakes (stderr, config, "lockkeeper: ") > 0
            && code == LK_EXIT_OK) {
            code = LK_EXIT_NO;
        }
    }
    lk_config_destroy (&config);
    return code;
}
