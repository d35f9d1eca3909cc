/*  zpl.c - the lines of a text in ZPL (ZeroMQ RFC 4)
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/zpl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void
lk_zpl_init (lk_zpl *self, const char *text)
{
    memset (self, 0, sizeof *self);
    self->at = text;
}

static void
keep_rest (lk_zpl_line *line, size_t at)
{
    line->rest = (lk_slice) {line->whole.data + at, line->whole.size - at};
}

static size_t
skip_blanks (lk_slice text, size_t at)
{
    while (at < text.size && strchr (" \t\r", text.data[at])) {
        at++;
    }
    return at;
}

/*  Whether nothing, or a comment, is left. */
static bool
is_over (lk_slice text, size_t at)
{
    at = skip_blanks (text, at);
    return at == text.size || text.data[at] == '#';
}

static bool
is_name_byte (char byte)
{
    return byte != '\0'
           && (isalnum ((unsigned char) byte) || strchr ("$-_@.&+/", byte));
}

/*  "'x' makes no sense here", or what of a line is no more of that. */
static void
tell_rest (lk_zpl *self, lk_zpl_line *line, size_t at)
{
    size_t size = line->whole.size - at;
    while (size > 0 && strchr (" \t\r", line->whole.data[at + size - 1])) {
        size--;
    }
    snprintf (self->wrong, sizeof self->wrong,
              "'%.*s' makes no sense here; a setting is NAME = VALUE",
              (int) size, line->whole.data + at);
    line->wrong = self->wrong;
}

/*  -------------------------------------------------------- parts */

/*  Between quotes, from `at` on, which is the first of them. */
static void
take_quoted (lk_zpl *self, lk_zpl_line *line, size_t at)
{
    const lk_slice whole = line->whole;
    const char quote = whole.data[at++];
    const char *end = memchr (whole.data + at, quote, whole.size - at);
    if (end == NULL) {
        line->wrong = quote == '"' ? "the second \" is missing"
                                   : "the second ' is missing";
        return;
    }
    const size_t size = (size_t) (end - whole.data) - at;
    memcpy (self->value, whole.data + at, size);
    self->value[size] = '\0';
    keep_rest (line, at + size + 1);
    if (!is_over (whole, at + size + 1)) {
        tell_rest (self, line, skip_blanks (whole, at + size + 1));
    }
}

static void
take_plain (lk_zpl *self, lk_zpl_line *line, size_t at)
{
    const lk_slice whole = line->whole;
    size_t end = at;
    while (end < whole.size && whole.data[end] != '#') {
        end++;
    }
    while (end > at && strchr (" \t\r", whole.data[end - 1])) {
        end--;
    }
    memcpy (self->value, whole.data + at, end - at);
    self->value[end - at] = '\0';
    keep_rest (line, end);
}

static void
take_value (lk_zpl *self, lk_zpl_line *line, size_t at)
{
    at = skip_blanks (line->whole, at);
    line->has_value = true;
    if (at < line->whole.size && strchr ("\"'", line->whole.data[at])) {
        take_quoted (self, line, at);
    } else {
        take_plain (self, line, at);
    }
}

/*  The path of the line, below those that it is indented under. */
static void
take_path (lk_zpl *self, lk_zpl_line *line)
{
    const size_t above = line->level > 0 ? self->ends[line->level - 1] : 0;
    const size_t left = sizeof self->path - above;
    if (line->name.size + sizeof "/" > left) {
        line->wrong = "the name is too long";
        return;
    }
    const int size =
        snprintf (self->path + above, left, "%s%.*s", above > 0 ? "/" : "",
                  (int) line->name.size, line->name.data);
    self->ends[line->level] = above + (size_t) size;
    self->level_max = line->level + 1;
    line->path = self->path;
}

/*  -------------------------------------------------------- a line */

static void
take_indent (const lk_zpl *self, lk_zpl_line *line, size_t blanks)
{
    line->level = blanks / LK_ZPL_INDENT;
    if (blanks < line->whole.size && line->whole.data[blanks] == '\t') {
        line->wrong = "indented by a tab; it takes four spaces";
    } else if (blanks % LK_ZPL_INDENT != 0) {
        line->wrong = "indented by spaces that are not four or a multiple of "
                      "it";
    } else if (line->level > self->level_max) {
        line->wrong = "wrong indentation: there is nothing above that it "
                      "could be a part of";
    } else if (line->level == LK_ZPL_DEPTH_MAX) {
        line->wrong = "wrong indentation: too deep";
    }
}

static void
take_line (lk_zpl *self, lk_zpl_line *line)
{
    size_t at = 0;
    while (at < line->whole.size && line->whole.data[at] == ' ') {
        at++;
    }
    if (is_over (line->whole, at)) {
        return;
    }
    take_indent (self, line, at);
    size_t size = 0;
    while (at + size < line->whole.size
           && is_name_byte (line->whole.data[at + size])) {
        size++;
    }
    const size_t next = skip_blanks (line->whole, at + size);
    const bool has_value =
        next < line->whole.size && line->whole.data[next] == '=';
    if (line->wrong == NULL
        && (size == 0 || (!has_value && !is_over (line->whole, next)))) {
        tell_rest (self, line, size == 0 ? at : next);
    }
    if (line->wrong != NULL) {
        return;
    }
    line->name = (lk_slice) {line->whole.data + at, size};
    take_path (self, line);
    if (has_value && line->wrong == NULL) {
        take_value (self, line, next + 1);
    }
}

bool
lk_zpl_next (lk_zpl *self, lk_zpl_line *line)
{
    if (*self->at == '\0') {
        return false;
    }
    const size_t size = strcspn (self->at, "\n");
    *line = (lk_zpl_line) {.number = ++self->number,
                           .whole = {self->at, size},
                           .value = self->value};
    self->value[0] = '\0';
    self->at += size + (self->at[size] == '\n');
    if (size > LK_ZPL_LINE_SIZE_MAX) {
        snprintf (self->wrong, sizeof self->wrong, "longer than %d bytes",
                  LK_ZPL_LINE_SIZE_MAX);
        line->wrong = self->wrong;
    } else {
        take_line (self, line);
    }
    if (line->wrong != NULL) {
        line->name.size = 0;
    }
    return true;
}

const char *
lk_zpl_next_value (lk_zpl *self, const char *path, lk_zpl_line *line)
{
    while (lk_zpl_next (self, line)) {
        if (!line->wrong && line->has_value && strcmp (line->path, path) == 0) {
            return line->value;
        }
    }
    return NULL;
}
