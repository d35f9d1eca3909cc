/*  texts.c - the cluster's settings on this host's disk, and those before
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "texts.h"

#include "net/log.h"
#include "net/paths.h"
#include "net/state_file.h"
#include "text_hash.h"
#include "util/alloc.h"

#include <string.h>

struct lk_texts {
    lk_state_file *file;
    lk_settings_row row[LK_SETTINGS_KEPT]; /* texts are owned */
    size_t count;
};

/*  -------------------------------------------------------- rows */

static lk_name
copy (lk_name text)
{
    char *data = lk_alloc ((size_t) text.size + 1);
    if (text.size > 0) {
        memcpy (data, text.data, text.size);
    }
    return (lk_name) {data, text.size};
}

static void
drop_row (lk_texts *self, size_t place)
{
    lk_free ((char *) self->row[place].text.data);
    self->count--;
    memmove (&self->row[place], &self->row[place + 1],
             (self->count - place) * sizeof self->row[0]);
}

static void
drop_id (lk_texts *self, lk_settings_id id)
{
    for (size_t i = self->count; i-- > 0;) {
        if (lk_settings_id_equal (self->row[i].id, id)) {
            drop_row (self, i);
        }
    }
}

static void
make_room (lk_texts *self, lk_settings_id active)
{
    if (self->count == LK_SETTINGS_KEPT) {
        drop_row (self, lk_settings_id_equal (self->row[0].id, active));
    }
}

static void
add_row (lk_texts *self, const lk_settings_row *row)
{
    self->row[self->count] = *row;
    self->row[self->count].text = copy (row->text);
    self->count++;
}

/*  -------------------------------------------------------- the file */

static void
take_rows (lk_texts *self, const lk_settings_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const lk_settings_id id = lk_text_id (rows[i].id.version, rows[i].text);
        if (lk_settings_id_equal (rows[i].id, id)) {
            add_row (self, &rows[i]);
        } else {
            lk_log_error ("settings: version %llu in '%s' was changed or "
                          "damaged: it is fetched again from another host",
                          (unsigned long long) rows[i].id.version,
                          lk_state_file_path (self->file));
        }
    }
}

static void
read_rows (lk_texts *self)
{
    char *text = NULL;
    size_t size = 0;
    lk_problem problem = {0};
    char why[256];
    lk_settings_rows rows;
    lk_arena arena;
    lk_err error = lk_state_file_read (self->file, LK_SETTINGS_FILE_ROOM, &text,
                                       &size, &problem);
    if (error == LK_UNKNOWN) {
        return;
    }
    if (error != LK_OK) {
        lk_log_error ("%s", problem.text);
        return;
    }
    lk_arena_init (&arena);
    if (lk_settings_file_decode (text, size, &arena, &rows, why, sizeof why)
        == LK_OK) {
        take_rows (self, rows.row, rows.count);
    } else {
        lk_log_error ("'%s' makes no sense: %s; the settings are fetched again "
                      "from another host",
                      lk_state_file_path (self->file), why);
    }
    lk_arena_clear (&arena);
    lk_free (text);
}

static bool
write_rows (lk_texts *self)
{
    lk_problem problem;
    char *text = lk_settings_file_encode (self->row, self->count);
    lk_err error =
        lk_state_file_write (self->file, text, strlen (text), &problem);
    lk_free (text);
    if (error != LK_OK) {
        lk_log_error ("%s", problem.text);
    }
    return error == LK_OK;
}

lk_texts *
lk_texts_new (const char *dir, lk_problem *problem)
{
    lk_texts *self = lk_alloc (sizeof *self);
    self->file = lk_state_file_open (dir, LK_PATH_SETTINGS_FILE, problem);
    if (!self->file) {
        lk_free (self);
        return NULL;
    }
    read_rows (self);
    return self;
}

void
lk_texts_destroy (lk_texts **self_p)
{
    lk_texts *self = *self_p;
    if (!self) {
        return;
    }
    while (self->count > 0) {
        drop_row (self, self->count - 1);
    }
    lk_state_file_destroy (&self->file);
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- changes */

bool
lk_texts_keep (lk_texts *self, lk_settings_id id, lk_name text,
               lk_settings_id active)
{
    const lk_settings_row *known = lk_texts_find (self, id);
    const lk_settings_row row = {
        .id = id, .since = known ? known->since : 0, .text = text};
    drop_id (self, id);
    make_room (self, active);
    add_row (self, &row);
    return write_rows (self);
}

void
lk_texts_adopt (lk_texts *self, lk_settings_id id, int64_t now_s)
{
    for (size_t i = 0; i < self->count; i++) {
        if (lk_settings_id_equal (self->row[i].id, id)) {
            self->row[i].since = now_s;
            (void) write_rows (self);
        }
    }
}

/*  -------------------------------------------------------- looking */

const lk_settings_row *
lk_texts_find (const lk_texts *self, lk_settings_id id)
{
    for (size_t i = 0; i < self->count; i++) {
        if (lk_settings_id_equal (self->row[i].id, id)) {
            return &self->row[i];
        }
    }
    return NULL;
}

const lk_settings_row *
lk_texts_of_version (const lk_texts *self, uint64_t version)
{
    const lk_settings_row *last = NULL;
    for (size_t i = 0; i < self->count; i++) {
        const lk_settings_row *row = &self->row[i];
        if (row->id.version == version && row->since != 0
            && (!last || row->since >= last->since)) {
            last = row;
        }
    }
    return last;
}

const lk_settings_row *
lk_texts_last (const lk_texts *self, lk_settings_id active)
{
    for (size_t i = self->count; i-- > 0;) {
        if (!lk_settings_id_equal (self->row[i].id, active)) {
            return &self->row[i];
        }
    }
    return NULL;
}

const lk_settings_row *
lk_texts_at (const lk_texts *self, size_t i)
{
    return i < self->count ? &self->row[i] : NULL;
}
