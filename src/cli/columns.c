/*  columns.c - tables for people, drawn by libsmartcols
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The only file that knows the library. Texts are escaped here, ahead of it:
 *  its own encoding would escape our escapes once more, and is off.
 */

#include "cli/columns.h"

#include "util/alloc.h"
#include "util/assert.h"
#include "util/escape.h"

#include <inttypes.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1000    /* rows that are kept before they are printed */
#define HEAD_SIZE 100 /* more than any head, filled up, has */

/*  A text of the last column, to be cut when its room is known. */
typedef struct {
    size_t size;
    char data[];
} raw;

struct lk_columns {
    struct libscols_table *table;
    lk_column columns[LK_COLUMNS_ROOM];
    size_t count;
    struct libscols_column *shown[LK_COLUMNS_ROOM]; /* NULL: left out */
    size_t least[LK_COLUMNS_ROOM]; /* widths; what comes later keeps them */
    bool filled[LK_COLUMNS_ROOM];  /* some row has or had it */
    size_t last;                   /* of those shown */
    struct libscols_line *line;
    size_t rows; /* that are not printed yet */
    int width;
    bool begun; /* the heads are printed, of all columns that are filled */
};

/*  Asserts that it did: the library refuses our own mistakes alone, or has no
 *  memory. */
static void
must (int code)
{
    LK_ASSERT (code == 0);
}

static bool
is_cut (const lk_columns *self, size_t column)
{
    return self->width < LK_WIDTH_ANY && !self->columns[column].whole
           && !self->columns[column].right;
}

static bool
is_shown (const lk_columns *self, size_t column)
{
    const lk_column *it = &self->columns[column];
    return self->width >= it->from
           && (it->below == 0 || self->width < it->below);
}

/*  A column is as wide as its head, at least. */
static void
add_column (lk_columns *self, size_t at)
{
    const lk_column *column = &self->columns[at];
    const int width = (int) self->least[at];
    const bool is_last = at == self->last;
    const int flags = (column->right ? SCOLS_FL_RIGHT : 0)
                      | (is_last && is_cut (self, at) ? SCOLS_FL_TRUNC : 0);
    char head[HEAD_SIZE];
    snprintf (head, sizeof head, "%*s",
              column->right ? width
              : is_last     ? 0
                            : -width,
              column->head != NULL ? column->head : "");
    self->shown[at] = scols_table_new_column (self->table, head, 0, flags);
    LK_ASSERT (self->shown[at] != NULL);
}

static void
begin_table (lk_columns *self)
{
    struct libscols_table *table = self->table = scols_new_table ();
    const bool is_terminal = self->width < LK_WIDTH_ANY;
    LK_ASSERT (table != NULL);
    must (scols_table_enable_noencoding (table, 1));
    must (scols_table_enable_minout (table, 1));
    must (scols_table_enable_noheadings (
        table, self->begun || self->columns[0].head == NULL));
    must (
        scols_table_enable_colors (table, lk_color_begin (LK_HEAD)[0] != '\0'));
    must (scols_table_set_termforce (
        table, is_terminal ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER));
    must (scols_table_set_termwidth (table, (size_t) self->width));
    for (size_t i = 0; i < self->count; i++) {
        if (is_shown (self, i)) {
            add_column (self, i);
        }
    }
}

lk_columns *
lk_columns_new (const lk_column *columns, size_t count, int width)
{
    lk_columns *self = lk_alloc (sizeof *self);
    LK_ASSERT (count > 0 && count <= LK_COLUMNS_ROOM);
    memcpy (self->columns, columns, count * sizeof *columns);
    self->count = count;
    self->width = width;
    for (size_t i = 0; i < count; i++) {
        LK_ASSERT (columns[i].width < HEAD_SIZE);
        self->least[i] = (size_t) columns[i].width;
        self->last = is_shown (self, i) ? i : self->last;
    }
    begin_table (self);
    return self;
}

/*  With its rows. */
static void
end_table (lk_columns *self)
{
    struct libscols_iter *it = scols_new_iter (SCOLS_ITER_FORWARD);
    struct libscols_line *line;
    LK_ASSERT (it != NULL);
    while (scols_table_next_line (self->table, it, &line) == 0) {
        lk_free (scols_line_get_userdata (line));
    }
    scols_free_iter (it);
    scols_unref_table (self->table);
    self->line = NULL;
    self->rows = 0;
}

void
lk_columns_destroy (lk_columns **self_p)
{
    if (*self_p != NULL) {
        end_table (*self_p);
        lk_free (*self_p);
        *self_p = NULL;
    }
}

/*  -------------------------------------------------------- printing */

static char *
draw (lk_columns *self)
{
    char *text = NULL;
    must (scols_print_table_to_string (self->table, &text));
    LK_ASSERT (text != NULL);
    return text;
}

/*  A first drawing tells how much room the other columns leave. */
static void
cut_last (lk_columns *self)
{
    struct libscols_column *last = self->shown[self->last];
    struct libscols_iter *it = scols_new_iter (SCOLS_ITER_FORWARD);
    struct libscols_line *line;
    LK_ASSERT (it != NULL);
    free (draw (self));
    const size_t width = scols_column_get_width (last);
    const size_t room = width < 4 ? 4 : width + 1;
    char *text = lk_alloc (room);
    while (scols_table_next_line (self->table, it, &line) == 0) {
        const raw *all = scols_line_get_userdata (line);
        if (all != NULL) {
            must (scols_line_set_column_data (
                line, last, lk_escape (all->data, all->size, text, room)));
        }
    }
    lk_free (text);
    scols_free_iter (it);
}

static bool
is_hidden (const lk_columns *self, size_t column)
{
    return self->columns[column].optional && !self->filled[column];
}

static void
hide_columns (lk_columns *self)
{
    for (size_t i = 0; i < self->last; i++) {
        if (self->shown[i] != NULL && is_hidden (self, i)) {
            must (scols_column_set_flags (self->shown[i], SCOLS_FL_HIDDEN));
        }
    }
}

static void
keep_widths (lk_columns *self)
{
    for (size_t i = 0; i < self->last; i++) {
        if (self->shown[i] != NULL && !is_hidden (self, i)) {
            const size_t width = scols_column_get_width (self->shown[i]);
            self->least[i] = width < HEAD_SIZE ? width : HEAD_SIZE - 1;
        }
    }
    self->begun = true;
}

static void
print_lines (const char *text, bool heads, lk_columns_behind *behind,
             void *user)
{
    size_t row = 0;
    while (*text != '\0') {
        const size_t size = strcspn (text, "\n");
        printf ("%s%.*s%s\n", heads ? lk_color_begin (LK_HEAD) : "", (int) size,
                text, heads ? lk_color_end () : "");
        if (!heads && behind != NULL) {
            behind (user, row++);
        }
        heads = false;
        text += size + (text[size] != '\0');
    }
}

/*  Counts widths as of UTF-8, whatever the locale of the user is. */
void
lk_columns_print_with (lk_columns *self, lk_columns_behind *behind, void *user)
{
    LK_ASSERT (behind == NULL || !self->begun);
    if (self->rows == 0) {
        return;
    }
    const locale_t utf8 = newlocale (LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);
    const locale_t before = uselocale (utf8);
    hide_columns (self);
    if (is_cut (self, self->last)) {
        cut_last (self);
    }
    char *text = draw (self);
    const bool heads = !scols_table_is_noheadings (self->table);
    keep_widths (self);
    end_table (self);
    begin_table (self);
    uselocale (before);
    if (utf8 != (locale_t) 0) {
        freelocale (utf8);
    }
    print_lines (text, heads, behind, user);
    free (text);
}

void
lk_columns_print (lk_columns *self)
{
    lk_columns_print_with (self, NULL, NULL);
}

/*  -------------------------------------------------------- rows */

void
lk_columns_add (lk_columns *self)
{
    if (self->rows == BLOCK) {
        lk_columns_print (self);
    }
    self->line = scols_table_new_line (self->table, NULL);
    LK_ASSERT (self->line != NULL);
    self->rows++;
}

static void
keep_raw (lk_columns *self, const char *data, size_t size)
{
    raw *all = lk_alloc (sizeof *all + size);
    all->size = size;
    memcpy (all->data, data, size);
    lk_free (scols_line_get_userdata (self->line));
    must (scols_line_set_userdata (self->line, all));
}

void
lk_columns_set_bytes (lk_columns *self, size_t column, const char *data,
                      size_t size)
{
    struct libscols_column *it = self->shown[column];
    if (it == NULL) {
        return;
    }
    if (self->columns[column].optional && !self->filled[column]) {
        self->filled[column] = true;
        self->begun = false;
        must (scols_table_enable_noheadings (self->table,
                                             self->columns[0].head == NULL));
    }
    size_t room = LK_ESCAPE_ROOM (size);
    if (column == self->last) {
        keep_raw (self, data, size);
    } else if (is_cut (self, column)) {
        room = (size_t) self->columns[column].width + 1;
    }
    char *text = lk_alloc (room);
    must (scols_line_set_column_data (self->line, it,
                                      lk_escape (data, size, text, room)));
    lk_free (text);
}

void
lk_columns_set (lk_columns *self, size_t column, const char *text)
{
    lk_columns_set_bytes (self, column, text, strlen (text));
}

void
lk_columns_set_number (lk_columns *self, size_t column, int64_t number)
{
    char text[24];
    snprintf (text, sizeof text, "%" PRId64, number);
    lk_columns_set (self, column, text);
}

void
lk_columns_set_color (lk_columns *self, size_t column, lk_color color)
{
    if (self->shown[column] != NULL) {
        must (scols_cell_set_color (
            scols_line_get_column_cell (self->line, self->shown[column]),
            lk_color_begin (color)));
    }
}
