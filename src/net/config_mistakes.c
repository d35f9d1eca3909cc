/*  config_mistakes.c - what is wrong with a configuration, all of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/config_values.h"

#include "util/alloc.h"
#include "util/guess.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MISTAKES_MAX 1000

static bool
is_path (const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other
                                        : strcmp (one, other) == 0;
}

/*  Two daemons may read the same setting. */
static bool
is_kept (const lk_config *self, const char *path, unsigned line,
         const char *text)
{
    for (size_t i = 0; i < self->mistake_count; i++) {
        const lk_config_mistake *it = &self->mistakes[i];
        if (it->line == line && is_path (it->path, path)
            && strcmp (it->text, text) == 0) {
            return true;
        }
    }
    return false;
}

void
lk_config_keep_mistake (lk_config *self, const char *path, unsigned line,
                        const char *text)
{
    if (self->mistake_count == MISTAKES_MAX
        || is_kept (self, path, line, text)) {
        return;
    }
    self->mistakes = lk_realloc (
        self->mistakes, (self->mistake_count + 1) * sizeof self->mistakes[0]);
    self->mistakes[self->mistake_count++] =
        (lk_config_mistake) {.path = path != NULL ? lk_strdup (path) : NULL,
                             .line = line,
                             .text = lk_strdup (text)};
}

size_t
lk_config_mistakes (const lk_config *self)
{
    return self->mistake_count;
}

const lk_config_mistake *
lk_config_mistake_at (const lk_config *self, size_t position)
{
    return position < self->mistake_count ? &self->mistakes[position] : NULL;
}

void
lk_config_refuse (lk_config *self, const char *key, size_t position,
                  const char *allowed)
{
    const lk_config_origin origin = lk_config_origin_of (self, key, position);
    const char *value = lk_config_written (self, key, position);
    char text[400];

    snprintf (text, sizeof text, "'%.60s' is no value for '%s': %s",
              value != NULL ? value : "", key, allowed);
    lk_config_keep_mistake (self, origin.path, origin.line, text);
}

void
lk_config_complain (lk_config *self, const char *key, const char *format, ...)
{
    const lk_config_origin origin = lk_config_origin_of (self, key, 0);
    char text[600];
    va_list arguments;

    va_start (arguments, format);
    vsnprintf (text, sizeof text, format, arguments);
    va_end (arguments);
    lk_config_keep_mistake (self, origin.path, origin.line, text);
}

void
lk_config_tell (const lk_config_mistake *mistake, char *text, size_t size)
{
    if (mistake->path == NULL) {
        snprintf (text, size, "%s", mistake->text);
    } else if (mistake->line == 0) {
        snprintf (text, size, "'%s': %s", mistake->path, mistake->text);
    } else {
        snprintf (text, size, "'%s', line %u: %s", mistake->path, mistake->line,
                  mistake->text);
    }
}

lk_err
lk_config_verdict (const lk_config *self, size_t before, lk_problem *problem)
{
    char text[sizeof problem->text];

    if (self->mistake_count <= before) {
        return LK_OK;
    }
    lk_config_tell (&self->mistakes[before], text, sizeof text);
    const size_t more = self->mistake_count - before - 1;
    if (more == 0) {
        return lk_problem_set (problem, LK_INVALID, "%s", text);
    }
    return lk_problem_set (problem, LK_INVALID,
                           "%.240s; `lockkeeper config verify` tells %zu more",
                           text, more);
}

/*  -------------------------------------------------------- guesses */

static const char *
leaf (const char *path)
{
    const char *slash = strrchr (path, '/');

    return slash != NULL ? slash + 1 : path;
}

/*  A key of that name in another section, or else the nearest one. */
const char *
lk_config_guess (const lk_config_key *keys, const char *path)
{
    lk_guess guess;

    lk_guess_init (&guess, path);
    for (size_t i = 0; keys[i].key; i++) {
        if (strcmp (leaf (keys[i].key), leaf (path)) == 0) {
            return keys[i].key;
        }
        lk_guess_try (&guess, keys[i].key);
    }
    return guess.best;
}
