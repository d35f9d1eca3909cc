/*  table.c - the options that there are, as rows of table.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/paths.h"

static const lk_option_row rows[LK_OPT_COUNT] = {
#define X(id, name, value, value_name, field, otherwise, about)                \
    [LK_OPT_##id] = {name, LK_VALUE_##value, value_name, about},
    LK_OPTIONS (X)
#undef X
};

const lk_verb_argument lk_follows_lock[] = {LK_FOLLOWS (NULL, LOCK),
                                            LK_FOLLOWS_END};

const lk_option_row *
lk_option_at (lk_option option)
{
    return &rows[option];
}
