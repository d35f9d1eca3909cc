/*  backup.c - what an operator keeps of a cluster, as one text
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/backup.h"

#include "util/hash.h"
#include "wire/lock_fields.h"
#include "wire/lock_notation.h"

#include <lockkeeper/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBLEM_SIZE 128

/*  The first field of the first line, by which a backup is known. */
#define MARK "lockkeeper_backup"

/*  -------------------------------------------------------- fields */

/*  A text of a fixed size, for both directions. */
static void
name_field (lk_fields *f, const char *field, char *place, size_t len_max)
{
    lk_name name = {place, (uint16_t) strlen (place)};
    lk_field_text (f, field, &name, len_max);
    if (!f->writing && !lk_fields_failed (f)) {
        lk_slice_keep ((lk_slice) {name.data, name.size}, place, len_max + 1);
    }
}

static void
settings_fields (lk_fields *f, lk_backup *backup)
{
    if (!lk_fields_has (f, "settings", backup->settings.version > 0)) {
        return;
    }
    json_t *outer = lk_field_enter (f, "settings");
    lk_field_settings_id (f, &backup->settings);
    lk_field_text (f, "text", &backup->text, LK_SETTINGS_SIZE_MAX);
    lk_field_leave (f, outer);
    if (!f->writing && backup->settings.version == 0) {
        lk_fields_fail (f, "version", "out of range");
    }
}

static void
backup_fields (lk_fields *f, lk_backup *backup)
{
    uint8_t format = LK_BACKUP_FORMAT;
    lk_field_small (f, MARK, &format, UINT8_MAX);
    lk_field_span (f, "made", &backup->made_s, 0);
    name_field (f, "cluster", backup->cluster, LK_CLUSTER_LEN_MAX);
    name_field (f, "host", backup->host, LK_HOST_LEN_MAX);
    lk_field_count (f, "generation", &backup->generation);
    lk_field_count (f, "term", &backup->term);
    lk_field_hosts (f, "members", &backup->members);
    settings_fields (f, backup);
    if (f->writing || lk_fields_failed (f)) {
        return;
    }
    if (backup->term > LK_TERM_NUMBER_MAX) {
        lk_fields_fail (f, "term", "not a term");
    } else if (backup->cluster[0] == '\0') {
        lk_fields_fail (f, "cluster", "empty");
    }
}

static void
lock_fields (lk_fields *f, lk_backup_lock *lock)
{
    int type = (int) lock->type;
    lk_field_object (f, &lock->object);
    lk_field_word (f, "type", &type, lk_lock_type_words, LK_LOCK_TYPE_COUNT);
    lock->type = (lk_lock_type) type;
    lk_field_flag_if_set (f, "static", &lock->is_static);
    lk_field_number32_if_any (f, "limit", &lock->limit, LK_LIMIT_MAX);
    lk_field_number32_if_any (f, "bound", &lock->bound, LK_LIMIT_MAX);
    lk_field_text (f, "host", &lock->host, LK_HOST_LEN_MAX);
    lk_field_text (f, "owner", &lock->owner, LK_ADDRESS_LEN_MAX);
    lk_field_hex (f, "token", &lock->token);
}

static void
end_fields (lk_fields *f, lk_backup_sum *sum)
{
    lk_field_count (f, "locks", &sum->locks);
    lk_field_hex (f, "check", &sum->check);
}

/*  -------------------------------------------------------- writing */

static lk_fields
writer (lk_hostmap *hostmap)
{
    return (lk_fields) {.notation = &lk_notation_json,
                        .writing = true,
                        .object = json_object (),
                        .hostmap = hostmap};
}

/*  Ends the line, and destroys its object. */
static void
put_line (lk_fields *f, lk_bytes *out)
{
    lk_json_write (out, f->object);
    lk_bytes_add (out, "\n", 1);
    json_decref (f->object);
}

static void
add_up (lk_backup_sum *self, lk_slice line)
{
    self->check =
        lk_hash_mix (self->check, lk_checksum64 (line.data, line.size));
}

static void
put_summed (lk_backup_sum *self, lk_fields *f, lk_bytes *out)
{
    const size_t begin = out->size;
    put_line (f, out);
    add_up (self, (lk_slice) {out->data + begin, out->size - begin});
}

void
lk_backup_write (lk_backup_sum *self, lk_bytes *out, const lk_backup *backup)
{
    lk_backup copy = *backup;
    lk_fields f = writer (&copy.hostmap);
    *self = (lk_backup_sum) {0};
    backup_fields (&f, &copy);
    put_summed (self, &f, out);
}

void
lk_backup_write_lock (lk_backup_sum *self, lk_bytes *out,
                      const lk_backup_lock *lock)
{
    lk_backup_lock copy = *lock;
    lk_fields f = writer (NULL);
    lock_fields (&f, &copy);
    put_summed (self, &f, out);
    self->locks++;
}

void
lk_backup_write_end (const lk_backup_sum *self, lk_bytes *out)
{
    lk_backup_sum copy = *self;
    lk_fields f = writer (NULL);
    end_fields (&f, &copy);
    put_line (&f, out);
}

/*  -------------------------------------------------------- reading */

typedef struct {
    lk_slice text; /* what is left of it */
    unsigned line;
    lk_arena arena; /* of one line */
    char *problem;
} reader;

static bool __attribute__ ((format (printf, 2, 3)))
complain (const reader *self, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (self->problem, PROBLEM_SIZE, format, arguments);
    va_end (arguments);
    return false;
}

/*  With its end; empty behind the last one. */
static lk_slice
take_line (reader *self)
{
    const char *end = self->text.size > 0
                          ? memchr (self->text.data, '\n', self->text.size)
                          : NULL;
    const size_t size =
        end != NULL ? (size_t) (end - self->text.data) + 1 : self->text.size;
    const lk_slice line = {self->text.data, size};
    self->text.data += size;
    self->text.size -= size;
    self->line++;
    return line;
}

/*  The fields of a line, to be ended by end_line (). False: it is no object. */
static bool
begin_line (reader *self, lk_slice line, lk_hostmap *hostmap, lk_fields *f)
{
    char why[PROBLEM_SIZE];
    json_t *object = lk_json_read (line, why, sizeof why);
    *f = (lk_fields) {.notation = &lk_notation_json,
                      .object = object,
                      .hostmap = hostmap,
                      .arena = &self->arena};
    return object != NULL;
}

static bool
end_line (reader *self, lk_fields *f)
{
    const bool good = !lk_fields_failed (f);
    json_decref (f->object);
    return good || complain (self, "line %u: %.100s", self->line, f->problem);
}

/*  Whether it is one, and of our format: what else is wrong comes later. */
static bool
is_backup (reader *self)
{
    lk_fields f;
    uint8_t format = 0;
    const lk_slice text = self->text;
    const lk_slice line = take_line (self);
    self->text = text;
    self->line = 0;
    bool good = begin_line (self, line, NULL, &f);
    if (good) {
        lk_field_small (&f, MARK, &format, UINT8_MAX);
        good = !lk_fields_failed (&f);
        json_decref (f.object);
    }
    if (!good) {
        return complain (self, "it is no backup of lockkeeper");
    }
    if (format != LK_BACKUP_FORMAT) {
        return complain (self,
                         "it has format %u, of another lockkeeper: this one "
                         "reads %u",
                         format, LK_BACKUP_FORMAT);
    }
    return true;
}

/*  Whether the last line is the end, and all before is as it was written. */
static bool
is_whole (reader *self)
{
    const lk_slice text = self->text;
    lk_backup_sum sum = {0}, told = {0};
    lk_fields f;
    lk_slice line = take_line (self);
    while (self->text.size > 0) {
        add_up (&sum, line);
        sum.locks += self->line > 1;
        line = take_line (self);
    }
    bool good = begin_line (self, line, NULL, &f);
    if (good) {
        end_fields (&f, &told);
        good = !lk_fields_failed (&f) && told.check == sum.check
               && told.locks == sum.locks && line.data[line.size - 1] == '\n';
        json_decref (f.object);
    }
    self->text = (lk_slice) {text.data, text.size - line.size};
    self->line = 0;
    return good || complain (self, "it was cut off, or changed");
}

static bool
read_head (reader *self, lk_arena *arena, lk_backup *backup)
{
    lk_fields f;
    const lk_slice line = take_line (self);
    if (!begin_line (self, line, &backup->hostmap, &f)) {
        return complain (self, "line %u: no object", self->line);
    }
    backup_fields (&f, backup);
    if (lk_fields_failed (&f)) {
        lk_fields_undo (&f);
    } else {
        backup->text.data =
            lk_arena_dup (arena, backup->text.data, backup->text.size);
    }
    return end_line (self, &f);
}

static bool
read_lock (reader *self, lk_backup_fn *fn, void *user)
{
    lk_fields f;
    lk_backup_lock lock = {.token = 0};
    const lk_slice line = take_line (self);
    if (!begin_line (self, line, NULL, &f)) {
        return complain (self, "line %u: no object", self->line);
    }
    lock_fields (&f, &lock);
    if (!lk_fields_failed (&f) && fn != NULL) {
        fn (user, &lock);
    }
    lk_arena_reset (&self->arena);
    return end_line (self, &f);
}

static bool
read_all (reader *self, lk_arena *arena, lk_backup *backup, lk_backup_fn *fn,
          void *user)
{
    if (!is_backup (self) || !is_whole (self)
        || !read_head (self, arena, backup)) {
        return false;
    }
    while (self->text.size > 0) {
        if (!read_lock (self, fn, user)) {
            return false;
        }
    }
    return true;
}

lk_err
lk_backup_read (lk_slice text, lk_arena *arena, lk_backup *self,
                lk_backup_fn *fn, void *user, char problem[PROBLEM_SIZE])
{
    reader it = {.text = text, .problem = problem};
    lk_arena_init (&it.arena);
    *self = (lk_backup) {.made_s = 0};
    lk_hostmap_init (&self->hostmap);
    const bool good = read_all (&it, arena, self, fn, user);
    lk_arena_clear (&it.arena);
    return good ? LK_OK : LK_INVALID;
}
