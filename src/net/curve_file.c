/*  curve_file.c - the file of the keys of curve_ring.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/curve_ring.h"

#include "net/state_file.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "wire/address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX ((size_t) 128 * 1024)

static const char head[] =
    "#   The pairs by which this host's router is known to others (`curve`):\n"
    "#   who has them is that router. And the keys by which it knows others.\n"
    "#   Made by lockkeeper; see KEYS in lockkeeper-router(8).\n";

/*  -------------------------------------------------------- reading */

typedef struct {
    lk_curve_ring *ring;
    lk_curve_key key; /* of the section that is read */
    bool is_open;     /* there is one, */
    bool is_ours;     /* of a pair */
} reading;

/*  The end of a section; false: it lacks something, or is too much. */
static bool
take_key (reading *self)
{
    lk_problem problem;
    if (!self->is_open) {
        return true;
    }
    self->is_open = false;
    return self->key.pair.public_key[0] != '\0'
           && self->is_ours == lk_curve_key_is_ours (&self->key)
           && (self->is_ours || self->key.host[0] != '\0')
           && lk_curve_ring_append (self->ring, &self->key, &problem) == LK_OK;
}

static bool
begin_key (reading *self, bool is_ours)
{
    if (!take_key (self)) {
        return false;
    }
    self->key = (lk_curve_key) {.host = ""};
    self->is_open = true;
    self->is_ours = is_ours;
    return true;
}

static bool
keep (char *place, size_t size, const char *value)
{
    snprintf (place, size, "%s", value);
    return strlen (value) < size;
}

static bool
take_secret (lk_curve_key *key, const char *value)
{
    lk_curve_pair pair;
    const bool fits = lk_curve_from_secret (&pair, value)
                      && strcmp (pair.public_key, key->pair.public_key) == 0;
    if (fits) {
        key->pair = pair;
    }
    explicit_bzero (&pair, sizeof pair);
    return fits;
}

/*  False: a line that makes no sense. A secret key has its public one above
 *  it. */
static bool
take_value (reading *self, const lk_zpl_line *line)
{
    lk_curve_key *key = &self->key;
    if (!self->is_open) {
        return false;
    }
    if (lk_slice_is (line->name, "public-key")) {
        return keep (key->pair.public_key, LK_CURVE_TEXT_SIZE, line->value)
               && lk_curve_is_key (line->value);
    }
    if (lk_slice_is (line->name, "secret-key")) {
        return self->is_ours && take_secret (key, line->value);
    }
    if (lk_slice_is (line->name, "host")) {
        return keep (key->host, sizeof key->host, line->value)
               && lk_address_is_name (lk_slice_of (line->value));
    }
    if (lk_slice_is (line->name, "address")) {
        return keep (key->address, sizeof key->address, line->value);
    }
    if (lk_slice_is (line->name, "pending")) {
        key->pending_ms = strcmp (line->value, "1") == 0 ? INT64_MAX : 0;
        return true;
    }
    return false;
}

static bool
take_line (reading *self, const lk_zpl_line *line)
{
    if (line->wrong != NULL) {
        return false;
    }
    if (line->name.size == 0 || lk_slice_is (line->name, "metadata")) {
        return true;
    }
    if (line->has_value) {
        return take_value (self, line);
    }
    return lk_slice_is (line->name, "curve")      ? begin_key (self, true)
           : lk_slice_is (line->name, "accepted") ? begin_key (self, false)
                                                  : false;
}

static lk_err
parse (lk_curve_ring *ring, const char *path, const char *text,
       lk_problem *problem)
{
    reading self = {.ring = ring};
    lk_zpl zpl;
    lk_zpl_line line = {.number = 0};
    bool makes_sense = true;

    lk_zpl_init (&zpl, text);
    while (makes_sense && lk_zpl_next (&zpl, &line)) {
        makes_sense = take_line (&self, &line);
    }
    makes_sense = makes_sense && take_key (&self);
    explicit_bzero (&self.key, sizeof self.key);
    if (!makes_sense) {
        return lk_problem_set (problem, LK_INVALID,
                               "'%s', line %u, is no pair of keys", path,
                               line.number);
    }
    return LK_OK;
}

static lk_err
read_all (int fd, const char *path, char *text, lk_problem *problem)
{
    struct stat status;
    const ssize_t size = lk_file_read (fd, text, FILE_SIZE_MAX);

    if (size < 0 || fstat (fd, &status) != 0) {
        return lk_problem_errno (problem, "cannot read '%s'", path);
    }
    if (status.st_mode & (S_IRWXG | S_IRWXO)) {
        return lk_problem_set (problem, LK_INVALID,
                               "others may read '%s': `chmod 600` it, and "
                               "rotate the keys if they had the time",
                               path);
    }
    text[size] = '\0';
    return LK_OK;
}

lk_err
lk_curve_ring_read (lk_curve_ring *self, const char *path, lk_problem *problem)
{
    const lk_err error = lk_curve_ring_read_others (self, path, problem);
    return error != LK_OK || lk_curve_ring_used (self) != NULL
               ? error
               : lk_problem_set (problem, LK_INVALID,
                                 "'%s' has no pair of keys", path);
}

lk_err
lk_curve_ring_read_or_make (lk_curve_ring *self, const char *path, bool *made,
                            lk_problem *problem)
{
    lk_curve_key key = {.host = ""};
    lk_err error = lk_curve_ring_read (self, path, problem);
    *made = error == LK_UNKNOWN;
    if (*made) {
        lk_curve_make (&key.pair);
        error = lk_curve_ring_add (self, &key, problem);
    }
    if (*made && error == LK_OK) {
        error = lk_curve_ring_write (self, path, problem);
    }
    explicit_bzero (&key, sizeof key);
    return error;
}

lk_err
lk_curve_ring_read_others (lk_curve_ring *self, const char *path,
                           lk_problem *problem)
{
    const int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    *self = (lk_curve_ring) {.count = 0};
    if (fd == -1) {
        const bool is_absent = errno == ENOENT;
        (void) lk_problem_errno (problem, "cannot open '%s'", path);
        return is_absent ? LK_UNKNOWN : LK_SYSTEM;
    }
    char *text = lk_alloc (FILE_SIZE_MAX + 1);
    lk_err error = read_all (fd, path, text, problem);
    close (fd);
    if (error == LK_OK) {
        error = parse (self, path, text, problem);
    }
    explicit_bzero (text, FILE_SIZE_MAX);
    lk_free (text);
    return error;
}

/*  -------------------------------------------------------- writing */

static void
add_line (lk_bytes *text, const char *name, const char *value)
{
    char line[LK_ADDRESS_LEN_MAX + 32];
    const int size =
        snprintf (line, sizeof line, "    %s = \"%s\"\n", name, value);
    if (value[0] != '\0') {
        lk_bytes_add (text, line, (size_t) size);
    }
    explicit_bzero (line, sizeof line);
}

static void
add_key (lk_bytes *text, const lk_curve_key *key)
{
    const char *section = lk_curve_key_is_ours (key) ? "curve\n" : "accepted\n";
    lk_bytes_add (text, section, strlen (section));
    add_line (text, "host", key->host);
    add_line (text, "public-key", key->pair.public_key);
    add_line (text, "secret-key", key->pair.secret_key);
    add_line (text, "address", key->address);
    add_line (text, "pending", key->pending_ms != 0 ? "1" : "");
}

lk_err
lk_curve_ring_write (const lk_curve_ring *self, const char *path,
                     lk_problem *problem)
{
    char dir[PATH_MAX];
    lk_bytes text = {0};
    const char *slash = strrchr (path, '/');
    const int size = slash ? (int) (slash - path) : 0;

    snprintf (dir, sizeof dir, "%.*s%s", size, path,
              slash == NULL ? "." : (size == 0 ? "/" : ""));
    lk_state_file *file =
        lk_state_file_open (dir, slash ? slash + 1 : path, problem);
    if (!file) {
        return LK_SYSTEM;
    }
    lk_bytes_reserve (&text, FILE_SIZE_MAX); /* and never copied */
    lk_bytes_add (&text, head, strlen (head));
    for (size_t i = 0; i < self->count; i++) {
        add_key (&text, &self->key[i]);
    }
    const lk_err error =
        lk_state_file_write (file, text.data, text.size, problem);
    lk_state_file_destroy (&file);
    explicit_bzero (text.data, text.size);
    lk_bytes_clear (&text);
    return error;
}
