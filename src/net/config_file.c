/*  config_file.c - a file and its drop-ins, checked against the table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  FILE is read first, then FILE.d/NAME.conf in the order of the names' bytes.
 *  Each of them may say any key: the last one counts. The items of a list are
 *  put together; an empty one takes away those before it.
 */

#include "net/config_values.h"

#include "net/whole_file.h"
#include "net/zpl.h"
#include "util/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_SIZE_MAX (256 * 1024)

typedef struct {
    lk_config *config;
    lk_config_layer *layer;
    size_t file; /* that is being read */
    size_t skip; /* lines below that level are not looked at */
    lk_problem *problem;
} reading;

/*  -------------------------------------------------------- bytes */

static void
complain (const reading *self, unsigned line, const char *text)
{
    lk_config_keep_mistake (self->config, self->layer->files[self->file], line,
                            text);
}

/*  NULL: `error` says why. */
static char *
read_text (const reading *self, const char *path, lk_err *error)
{
    const int fd = open (path, O_RDONLY | O_CLOEXEC);

    if (fd == -1) {
        *error = errno == ENOENT ? LK_UNKNOWN : LK_SYSTEM;
        (void) lk_problem_errno (self->problem, "cannot open '%s'", path);
        return NULL;
    }
    char *buffer = lk_alloc (FILE_SIZE_MAX + 2);
    const ssize_t size = lk_file_read (fd, buffer, FILE_SIZE_MAX + 1);
    *error = LK_OK;
    if (size < 0) {
        *error = lk_problem_errno (self->problem, "cannot read '%s'", path);
    } else if (size > FILE_SIZE_MAX || memchr (buffer, 0, (size_t) size)) {
        complain (self, 0,
                  size > FILE_SIZE_MAX ? "larger than 256 KiB"
                                       : "has a NUL byte: it is no text");
        buffer[0] = '\0';
    }
    close (fd);
    if (*error != LK_OK) {
        lk_free (buffer);
        return NULL;
    }
    return buffer;
}

/*  -------------------------------------------------------- keys */

static void
take_list_item (const reading *self, size_t place, const lk_zpl_line *line)
{
    if (*line->value == '\0') {
        lk_config_layer_drop (self->layer, place);
    } else {
        lk_config_layer_add (self->layer, place, line->value, self->file,
                             line->number);
    }
}

static void
take_value (const reading *self, size_t place, const lk_zpl_line *line)
{
    const lk_config_key *key = &self->config->keys[place];
    const lk_config_values *values = &self->layer->values[place];
    const bool is_list = key->type == LK_CONFIG_LIST;
    char allowed[200];
    char text[400];

    if (!is_list && values->count > 0 && values->items[0].file == self->file) {
        snprintf (text, sizeof text, "'%s' is there twice, first in line %u",
                  key->key, values->items[0].line);
        complain (self, line->number, text);
        return;
    }
    if (!(is_list && *line->value == '\0')
        && !lk_config_allows (key, line->value)) {
        lk_config_range (key, allowed, sizeof allowed);
        snprintf (text, sizeof text, "'%.60s' is no value for '%s': %s",
                  line->value, key->key, allowed);
        complain (self, line->number, text);
        return;
    }
    if (is_list) {
        take_list_item (self, place, line);
    } else {
        lk_config_layer_drop (self->layer, place);
        lk_config_layer_add (self->layer, place, line->value, self->file,
                             line->number);
    }
}

/*  Whether some known key lies below that path. */
static bool
is_section (const lk_config_key *keys, const char *path)
{
    size_t size = strlen (path);

    for (size_t i = 0; keys[i].key; i++) {
        if (strncmp (keys[i].key, path, size) == 0
            && keys[i].key[size] == '/') {
            return true;
        }
    }
    return false;
}

static bool
is_below_key (const lk_config_key *keys, const char *path)
{
    for (size_t i = 0; keys[i].key; i++) {
        const size_t size = strlen (keys[i].key);
        if (strncmp (keys[i].key, path, size) == 0 && path[size] == '/') {
            return true;
        }
    }
    return false;
}

static void
refuse_name (reading *self, const lk_zpl_line *line)
{
    const lk_config_key *keys = self->config->keys;
    const char *guess = lk_config_guess (keys, line->path);
    char text[LK_ZPL_PATH_SIZE + 200];

    self->skip = line->level;
    if (is_section (keys, line->path)) {
        snprintf (text, sizeof text,
                  "'%s' is a section, which has no value: its settings follow, "
                  "each indented by four spaces",
                  line->path);
        self->skip = SIZE_MAX;
    } else if (is_below_key (keys, line->path)) {
        const char *slash = strrchr (line->path, '/');
        snprintf (text, sizeof text, "'%.*s' is no section",
                  (int) (slash - line->path), line->path);
    } else if (guess != NULL) {
        snprintf (text, sizeof text,
                  "there is no setting '%s': did you mean '%s'?", line->path,
                  guess);
    } else {
        snprintf (text, sizeof text,
                  "there is no setting '%s': `lockkeeper config keys` lists "
                  "those that there are",
                  line->path);
    }
    complain (self, line->number, text);
}

static void
take_line (reading *self, const lk_zpl_line *line)
{
    const lk_config_key *keys = self->config->keys;

    if (line->wrong != NULL) {
        complain (self, line->number, line->wrong);
        return;
    }
    if (line->name.size == 0 || line->level > self->skip) {
        return;
    }
    self->skip = SIZE_MAX;
    const size_t place = lk_config_find (keys, line->path);
    if (place != SIZE_MAX) {
        take_value (self, place, line);
    } else if (!is_section (keys, line->path) || *line->value != '\0') {
        refuse_name (self, line);
    }
}

/*  -------------------------------------------------------- files */

static lk_err
read_file (reading *self, const char *path)
{
    lk_config_layer *layer = self->layer;
    const lk_config *config = self->config;
    lk_err error = LK_OK;
    lk_zpl zpl;
    lk_zpl_line line;

    layer->files = lk_realloc (layer->files, (layer->file_count + 1)
                                                 * sizeof layer->files[0]);
    layer->files[layer->file_count] = lk_strdup (path);
    self->file = layer->file_count++;
    self->skip = SIZE_MAX;
    const bool pretends =
        config->pretended != NULL && strcmp (config->pretended, path) == 0;
    char *text = pretends ? lk_strdup (config->pretence)
                          : read_text (self, path, &error);
    if (text == NULL) {
        lk_free (layer->files[--layer->file_count]);
        return error;
    }
    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        take_line (self, &line);
    }
    lk_free (text);
    return LK_OK;
}

static int
is_drop_in (const struct dirent *entry)
{
    const size_t size = strlen (entry->d_name);

    return entry->d_name[0] != '.' && size > 5
           && strcmp (entry->d_name + size - 5, ".conf") == 0;
}

static int
compare (const void *one, const void *other)
{
    return strcmp (*(char *const *) one, *(char *const *) other);
}

/*  Their paths, sorted; one that we pretend to be there is among them. */
static size_t
list_drop_ins (const lk_config *config, const char *dir, char ***paths_p)
{
    struct dirent **entries = NULL;
    const int found = scandir (dir, &entries, is_drop_in, NULL);
    const size_t dir_size = strlen (dir);
    const char *more = config->pretended;
    char **paths =
        lk_alloc (((size_t) (found > 0 ? found : 0) + 1) * sizeof paths[0]);
    size_t count = 0;

    if (more != NULL
        && (strncmp (more, dir, dir_size) != 0 || more[dir_size] != '/')) {
        more = NULL;
    }
    for (int i = 0; i < found; i++) {
        char path[PATH_MAX];
        snprintf (path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        free (entries[i]);
        if (more == NULL || strcmp (path, more) != 0) {
            paths[count++] = lk_strdup (path);
        }
    }
    free (entries);
    if (more != NULL) {
        paths[count++] = lk_strdup (more);
    }
    qsort (paths, count, sizeof paths[0], compare);
    *paths_p = paths;
    return count;
}

static lk_err
read_drop_ins (reading *self, const char *path)
{
    char dir[PATH_MAX];
    char **paths;
    lk_err error = LK_OK;

    snprintf (dir, sizeof dir, "%s.d", path);
    if (access (dir, R_OK | X_OK) != 0 && errno != ENOENT && errno != ENOTDIR) {
        return lk_problem_errno (self->problem, "cannot read '%s'", dir);
    }
    const size_t count = list_drop_ins (self->config, dir, &paths);
    for (size_t i = 0; i < count; i++) {
        if (error == LK_OK) {
            error = read_file (self, paths[i]);
            error = error == LK_UNKNOWN ? LK_OK : error; /* gone since */
        }
        lk_free (paths[i]);
    }
    lk_free (paths);
    return error;
}

lk_err
lk_config_read_files (lk_config *self, lk_config_layer *layer, const char *path,
                      lk_problem *problem)
{
    reading all = {.config = self, .layer = layer, .problem = problem};
    const lk_err error = read_file (&all, path);

    if (error != LK_OK && error != LK_UNKNOWN) {
        return error;
    }
    const lk_err more = read_drop_ins (&all, path);
    return more != LK_OK ? more : error;
}
