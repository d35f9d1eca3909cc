/*  settings_file.c - texts of the cluster's settings, as a host keeps them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Does no I/O, see lock_state.c.
 */

#include "wire/settings_file.h"

#include "wire/lock_fields.h"
#include "wire/lock_notation.h"

#include <stdio.h>
#include <string.h>

#define FORMAT 1

static void
row_fields (lk_fields *f, void *place)
{
    lk_settings_row *row = place;
    lk_field_settings_id (f, &row->id);
    lk_field_span (f, "since", &row->since, 0);
    lk_field_text (f, "text", &row->text, LK_SETTINGS_SIZE_MAX);
}

static void
file_fields (lk_fields *f, lk_settings_row **rows, size_t *count)
{
    static const lk_field_list list = {"settings", LK_SETTINGS_KEPT,
                                       sizeof (lk_settings_row), row_fields};
    uint8_t format = FORMAT;
    lk_field_small (f, "format", &format, FORMAT);
    *rows = lk_field_rows (f, &list, *rows, count);
    if (!f->writing && !lk_fields_failed (f) && format != FORMAT) {
        lk_fields_fail (f, "format", "unknown");
    }
}

char *
lk_settings_file_encode (const lk_settings_row *rows, size_t count)
{
    lk_settings_row *all = (lk_settings_row *) rows;
    lk_fields fields = {.notation = &lk_notation_json,
                        .writing = true,
                        .object = json_object ()};
    file_fields (&fields, &all, &count);
    char *text = lk_json_pretty (fields.object);
    json_decref (fields.object);
    return text;
}

/*  The texts outlive the JSON. */
static void
keep_texts (lk_arena *arena, lk_settings_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rows[i].text.data =
            lk_arena_dup (arena, rows[i].text.data, rows[i].text.size);
    }
}

lk_err
lk_settings_file_decode (const char *text, size_t size, lk_arena *arena,
                         lk_settings_rows *rows, char *problem,
                         size_t problem_size)
{
    json_t *object =
        lk_json_read ((lk_slice) {text, size}, problem, problem_size);
    if (!object) {
        return LK_INVALID;
    }
    lk_fields fields = {
        .notation = &lk_notation_json, .object = object, .arena = arena};
    *rows = (lk_settings_rows) {0};
    file_fields (&fields, &rows->row, &rows->count);
    const bool failed = lk_fields_failed (&fields);
    if (failed) {
        snprintf (problem, problem_size, "%s", fields.problem);
        rows->count = 0;
    } else {
        keep_texts (arena, rows->row, rows->count);
    }
    json_decref (object);
    return failed ? LK_INVALID : LK_OK;
}
