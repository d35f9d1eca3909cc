/*  config.c - settings: files are read, options set above them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/config.h"

#include "net/config_values.h"
#include "net/paths.h"
#include "util/alloc.h"
#include "util/assert.h"

static void
forget_mistakes (lk_config *self)
{
    for (size_t i = 0; i < self->mistake_count; i++) {
        lk_free (self->mistakes[i].path);
        lk_free (self->mistakes[i].text);
    }
    lk_free (self->mistakes);
    self->mistakes = NULL;
    self->mistake_count = 0;
}

lk_config *
lk_config_new (const lk_config_key *keys)
{
    lk_config *self = lk_alloc (sizeof *self);

    self->keys = keys;
    lk_config_layer_init (&self->defaults, keys);
    lk_config_layer_init (&self->file, keys);
    lk_config_layer_init (&self->options, keys);
    for (size_t i = 0; keys[i].key; i++) {
        if (keys[i].otherwise) {
            LK_ASSERT (lk_config_allows (&keys[i], keys[i].otherwise));
            lk_config_layer_add (&self->defaults, i, keys[i].otherwise,
                                 LK_CONFIG_NO_FILE, 0);
        }
    }
    return self;
}

void
lk_config_destroy (lk_config **self_p)
{
    lk_config *self = *self_p;

    if (!self) {
        return;
    }
    lk_config_layer_clear (&self->defaults, self->keys);
    lk_config_layer_clear (&self->file, self->keys);
    lk_config_layer_clear (&self->options, self->keys);
    forget_mistakes (self);
    lk_free (self->pretended);
    lk_free (self->pretence);
    lk_free (self);
    *self_p = NULL;
}

void
lk_config_be_lenient (lk_config *self)
{
    self->lenient = true;
}

void
lk_config_pretend (lk_config *self, const char *path, const char *text)
{
    lk_free (self->pretended);
    lk_free (self->pretence);
    self->pretended = lk_strdup (path);
    self->pretence = lk_strdup (text);
}

lk_err
lk_config_load (lk_config *self, const char *path, lk_problem *problem)
{
    lk_config_layer fresh;
    const char *file = path != NULL ? path : LK_PATH_CONFIG;

    lk_config_layer_init (&fresh, self->keys);
    forget_mistakes (self);
    lk_err error = lk_config_read_files (self, &fresh, file, problem);
    if (error == LK_UNKNOWN && path == NULL) {
        error = LK_OK;
    }
    if (error == LK_OK) {
        error = lk_config_verdict (self, 0, problem);
    }
    if (error == LK_OK || self->lenient) {
        lk_config_layer old = self->file;
        self->file = fresh;
        fresh = old;
    }
    lk_config_layer_clear (&fresh, self->keys);
    return error;
}

lk_err
lk_config_set (lk_config *self, const char *key, const char *value,
               lk_problem *problem)
{
    char allowed[200];
    size_t place = lk_config_find (self->keys, key);

    if (place == SIZE_MAX) {
        return lk_problem_set (problem, LK_INVALID, "there is no setting '%s'",
                               key);
    }
    if (!lk_config_allows (&self->keys[place], value)) {
        lk_config_range (&self->keys[place], allowed, sizeof allowed);
        return lk_problem_set (problem, LK_INVALID,
                               "'%s' is no value for '%s': %s", value, key,
                               allowed);
    }
    lk_config_values *values = &self->options.values[place];
    if (self->keys[place].type != LK_CONFIG_LIST && values->count > 0) {
        lk_config_layer_drop (&self->options, place);
    }
    lk_config_layer_add (&self->options, place, value, LK_CONFIG_NO_FILE, 0);
    return LK_OK;
}
