/*  common.c - what the settings of a whole cluster can say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/common.h"

#include "net/zpl.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

#define LOCK "settings/lock"

/*  NULL behind the last. */
static const char *const keys[] = {LOCK, NULL};

/*  -------------------------------------------------------- lines */

static bool
is_key (const char *path)
{
    for (size_t i = 0; keys[i]; i++) {
        if (strcmp (keys[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/*  That of "settings" alone is one. */
static bool
is_section (const char *path)
{
    const size_t size = strlen (path);
    for (size_t i = 0; keys[i]; i++) {
        if (strncmp (keys[i], path, size) == 0 && keys[i][size] == '/') {
            return true;
        }
    }
    return false;
}

static lk_err
check_line (const lk_zpl_line *line, lk_problem *problem)
{
    if (line->wrong) {
        return lk_problem_set (problem, LK_INVALID, "line %u: %s", line->number,
                               line->wrong);
    }
    if (line->name.size == 0 || (!line->has_value && is_section (line->path))) {
        return LK_OK;
    }
    if (!is_key (line->path)) {
        return lk_problem_set (problem, LK_INVALID,
                               "line %u: there is no setting '%s'",
                               line->number, line->path);
    }
    if (!lk_address_is_name (lk_slice_of (line->value))) {
        return lk_problem_set (problem, LK_INVALID,
                               "line %u: '%s' needs the name of a host",
                               line->number, line->path);
    }
    return LK_OK;
}

lk_err
lk_common_settings_check (const char *text, lk_problem *problem)
{
    lk_zpl zpl;
    lk_zpl_line line;
    lk_err error = LK_OK;
    lk_zpl_init (&zpl, text);
    while (error == LK_OK && lk_zpl_next (&zpl, &line)) {
        error = check_line (&line, problem);
    }
    return error;
}

/*  -------------------------------------------------------- values */

bool
lk_common_settings_value (const char *text, const char *key, size_t i,
                          char *value, size_t size)
{
    lk_zpl zpl;
    lk_zpl_line line;
    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        if (!line.wrong && line.has_value && strcmp (line.path, key) == 0
            && i-- == 0) {
            snprintf (value, size, "%s", line.value);
            return true;
        }
    }
    return false;
}

bool
lk_common_settings_may_change (const char *text, const char *host)
{
    char name[LK_ZPL_LINE_SIZE_MAX + 1];
    size_t i = 0;
    while (lk_common_settings_value (text, LOCK, i, name, sizeof name)) {
        if (strcmp (name, host) == 0) {
            return true;
        }
        i++;
    }
    return i == 0;
}
