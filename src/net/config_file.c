/*  config_file.c - a ZPL file, read by CZMQ, checked against the table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  CZMQ's tree has no line numbers, so for a complaint the key is looked for
 *  in the text once more.
 */

#include "net/config_values.h"

#include "util/alloc.h"
#include "util/bytes.h"

#include <czmq.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILE_SIZE_MAX (256 * 1024)
#define PATH_SIZE 256 /* of a key */
#define INDENT 4      /* blanks per level, as ZPL wants it */
#define DEPTH_MAX 8
#define LINE_SIZE_MAX 1000

typedef struct {
    const char *path;
    const char *text; /* the file, ends with a NUL */
    const lk_config_key *keys;
    lk_config_layer *layer;
    lk_problem *problem;
} reading;

/*  -------------------------------------------------------- bytes */

static lk_err
read_text (const char *path, char **text, lk_problem *problem)
{
    int fd = open (path, O_RDONLY | O_CLOEXEC);

    if (fd == -1) {
        lk_err error = errno == ENOENT ? LK_UNKNOWN : LK_SYSTEM;
        (void) lk_problem_errno (problem, "cannot open '%s'", path);
        return error;
    }
    char *buffer = lk_alloc (FILE_SIZE_MAX + 1);
    size_t size = 0;
    ssize_t got = 1;
    while (got > 0 && size <= FILE_SIZE_MAX) {
        got = read (fd, buffer + size, FILE_SIZE_MAX + 1 - size);
        size += got > 0 ? (size_t) got : 0;
    }
    lk_err error = LK_OK;
    if (got < 0) {
        error = lk_problem_errno (problem, "cannot read '%s'", path);
    } else if (size > FILE_SIZE_MAX || memchr (buffer, 0, size)) {
        error = lk_problem_set (problem, LK_INVALID,
                                "'%s' is too large or no text", path);
    }
    close (fd);
    if (error != LK_OK) {
        lk_free (buffer);
        return error;
    }
    *text = buffer;
    return LK_OK;
}

/*  -------------------------------------------------------- lines */

/*  The name that a line begins with, at which level; false: none. */
static bool
name_in_line (const char *line, size_t *level, lk_slice *name)
{
    size_t blanks = strspn (line, " ");
    size_t size = strcspn (line + blanks, " \t\r\n=#");

    *level = blanks / INDENT;
    name->data = line + blanks;
    name->size = size;
    return size > 0 && *level < DEPTH_MAX;
}

static bool
is_path (const lk_slice names[], size_t level, const char *path)
{
    for (size_t i = 0; i <= level; i++) {
        if (strncmp (path, names[i].data, names[i].size) != 0) {
            return false;
        }
        path += names[i].size;
        if (i < level && *path++ != '/') {
            return false;
        }
    }
    return *path == '\0';
}

unsigned
lk_config_line (const char *text, const char *path, size_t nth)
{
    lk_slice names[DEPTH_MAX] = {{NULL, 0}};
    unsigned number = 1;

    for (const char *line = text; *line; number++) {
        size_t level;
        lk_slice name;
        if (name_in_line (line, &level, &name)) {
            names[level] = name;
            if (is_path (names, level, path) && nth-- == 0) {
                return number;
            }
        }
        line += strcspn (line, "\n");
        line += *line == '\n';
    }
    return 0;
}

/*  -------------------------------------------------------- keys */

static lk_err
complain (const reading *self, const char *path, size_t nth, const char *what)
{
    unsigned line = lk_config_line (self->text, path, nth);
    char where[32] = "";

    if (line > 0) {
        snprintf (where, sizeof where, ", line %u", line);
    }
    return lk_problem_set (self->problem, LK_INVALID, "'%s'%s: %s", self->path,
                           where, what);
}

static lk_err
take_value (const reading *self, size_t place, const char *value)
{
    const lk_config_key *key = &self->keys[place];
    size_t nth = self->layer->values[place].count;
    char allowed[200];
    char what[300];

    if (nth > 0 && key->type != LK_CONFIG_LIST) {
        snprintf (what, sizeof what, "'%s' is there twice", key->key);
        return complain (self, key->key, nth, what);
    }
    if (!lk_config_allows (key, value, allowed, sizeof allowed)) {
        snprintf (what, sizeof what, "'%.60s' is no value for '%s': %s", value,
                  key->key, allowed);
        return complain (self, key->key, nth, what);
    }
    lk_config_layer_add (self->layer, place, value);
    return LK_OK;
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

static lk_err take_children (const reading *self, zconfig_t *parent,
                             const char *path);

static lk_err
take_item (const reading *self, zconfig_t *item, const char *path)
{
    size_t place = lk_config_find (self->keys, path);
    const char *value = zconfig_value (item);
    char what[PATH_SIZE + 64];

    if (place != SIZE_MAX) {
        if (self->keys[place].type == LK_CONFIG_FOREIGN) {
            return LK_OK;
        }
        if (!zconfig_child (item)) {
            return take_value (self, place, value ? value : "");
        }
        snprintf (what, sizeof what, "'%s' is no section", path);
        return complain (self, path, 0, what);
    }
    if (is_section (self->keys, path) && (!value || !*value)) {
        return take_children (self, item, path);
    }
    snprintf (what, sizeof what, "there is no setting '%s'", path);
    return complain (self, path, 0, what);
}

static lk_err
take_children (const reading *self, zconfig_t *parent, const char *path)
{
    lk_err error = LK_OK;

    for (zconfig_t *item = zconfig_child (parent); item && error == LK_OK;
         item = zconfig_next (item)) {
        char below[PATH_SIZE];
        int size = snprintf (below, sizeof below, "%s%s%s", path,
                             *path ? "/" : "", zconfig_name (item));
        error = size < (int) sizeof below
                    ? take_item (self, item, below)
                    : complain (self, path, 0, "a name is too long");
    }
    return error;
}

/*  -------------------------------------------------------- parsing */

static bool
is_indented_by_tab (const char *text, unsigned line)
{
    while (line-- > 1) {
        text += strcspn (text, "\n");
        text += *text == '\n';
    }
    return text[strspn (text, " ")] == '\t';
}

/*  CZMQ prints "... E (zconfig): (3) invalid syntax 'x'": the number and what
 *  follows is what an operator wants to know. */
static lk_err
tell_syntax (const char *path, const char *text, const char *printed,
             lk_problem *problem)
{
    const char *said = strstr (printed, "(zconfig): (");
    unsigned line;
    int size = 0;

    if (said && sscanf (said, "(zconfig): (%u) %n", &line, &size) == 1
        && size > 0) {
        said += size;
        if (is_indented_by_tab (text, line)) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'%s', line %u: indented by a tab; it takes "
                                   "four spaces",
                                   path, line);
        }
        return lk_problem_set (problem, LK_INVALID, "'%s', line %u: %.*s", path,
                               line, (int) strcspn (said, "\n"), said);
    }
    return lk_problem_set (problem, LK_INVALID, "'%s' makes no sense", path);
}

/*  CZMQ says what is wrong with a text on the standard output and nowhere
 *  else, so that is a file of our own meanwhile. */
static zconfig_t *
parse_quietly (const char *text, char *printed, size_t room)
{
    int memory = memfd_create ("zconfig", MFD_CLOEXEC);
    int saved = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);

    fflush (stdout);
    if (memory != -1) {
        dup2 (memory, STDOUT_FILENO);
    }
    zconfig_t *root = zconfig_str_load (text);
    fflush (stdout);
    if (saved != -1) {
        dup2 (saved, STDOUT_FILENO);
        close (saved);
    } else {
        close (STDOUT_FILENO);
    }
    ssize_t size = pread (memory, printed, room - 1, 0);
    printed[size > 0 ? size : 0] = '\0';
    if (memory != -1) {
        close (memory);
    }
    return root;
}

/*  CZMQ 4.2 reads beyond the text if a line is longer. */
static unsigned
too_long_line (const char *text)
{
    unsigned number = 1;

    for (; *text; number++) {
        size_t size = strcspn (text, "\n");
        if (size > LINE_SIZE_MAX) {
            return number;
        }
        text += size + (text[size] == '\n');
    }
    return 0;
}

static lk_err
parse (const char *path, const char *text, zconfig_t **root,
       lk_problem *problem)
{
    char printed[512];
    unsigned line = too_long_line (text);

    if (line > 0) {
        return lk_problem_set (problem, LK_INVALID,
                               "'%s', line %u: longer than %d bytes", path,
                               line, LINE_SIZE_MAX);
    }
    *root = parse_quietly (text, printed, sizeof printed);
    return *root ? LK_OK : tell_syntax (path, text, printed, problem);
}

/*  CZMQ takes a text without any setting for a mistake. */
static bool
says_something (const char *text)
{
    while (*text) {
        size_t blanks = strspn (text, " \t\r");
        if (!strchr ("#\n", text[blanks])) {
            return true;
        }
        text += strcspn (text, "\n");
        text += *text == '\n';
    }
    return false;
}

lk_err
lk_config_read_file (lk_config_layer *self, const lk_config_key *keys,
                     const char *path, lk_problem *problem)
{
    zconfig_t *root = NULL;
    char *text = NULL;
    lk_err error = read_text (path, &text, problem);

    if (error != LK_OK) {
        return error;
    }
    if (says_something (text)) {
        error = parse (path, text, &root, problem);
    }
    if (root) {
        reading all = {.path = path,
                       .text = text,
                       .keys = keys,
                       .layer = self,
                       .problem = problem};
        error = take_children (&all, root, "");
        zconfig_destroy (&root);
    }
    self->path = lk_strdup (path);
    self->text = lk_strdup (text);
    lk_free (text);
    return error;
}
