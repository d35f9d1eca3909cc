/*  curve.c - see curve.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/curve.h"

#include "net/state_file.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "util/assert.h"

#include <czmq.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX 4096

static const char head[] =
    "#   The key pairs of this cluster's routers: who has one is one of them.\n"
    "#   Made by `lockkeeper init`; see KEYS in lockkeeper-router(8).\n";

/*  -------------------------------------------------------- pairs */

void
lk_curve_make (lk_curve_pair *self)
{
    zcert_t *cert = zcert_new ();

    LK_ASSERT (cert);
    snprintf (self->public_key, sizeof self->public_key, "%s",
              zcert_public_txt (cert));
    snprintf (self->secret_key, sizeof self->secret_key, "%s",
              zcert_secret_txt (cert));
    zcert_destroy (&cert);
}

bool
lk_curve_is_key (const char *text)
{
    uint8_t key[32];

    return strlen (text) == LK_CURVE_TEXT_SIZE - 1
           && zmq_z85_decode (key, text) != NULL;
}

bool
lk_curve_from_secret (lk_curve_pair *self, const char *secret_key)
{
    if (!lk_curve_is_key (secret_key)) {
        return false;
    }
    snprintf (self->secret_key, sizeof self->secret_key, "%s", secret_key);
    return zmq_curve_public (self->public_key, secret_key) == 0;
}

/*  -------------------------------------------------------- rings */

bool
lk_curve_ring_has (const lk_curve_ring *self, const char *public_key)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->pair[i].public_key, public_key) == 0) {
            return true;
        }
    }
    return false;
}

void
lk_curve_ring_calls (const lk_curve_ring *self, lk_curve_calls *calls)
{
    calls->count = self->count;
    for (size_t i = 0; i < self->count; i++) {
        calls->call[i].own = self->pair[i];
        snprintf (calls->call[i].server_key, LK_CURVE_TEXT_SIZE, "%s",
                  self->pair[i].public_key);
    }
}

lk_err
lk_curve_ring_use (lk_curve_ring *self, const lk_curve_pair *pair,
                   lk_problem *problem)
{
    if (self->count == LK_CURVE_PAIRS_MAX) {
        return lk_problem_set (problem, LK_OVERLOADED,
                               "there are %d pairs of keys already: withdraw "
                               "the former ones",
                               LK_CURVE_PAIRS_MAX);
    }
    memmove (self->pair + 1, self->pair, self->count * sizeof *self->pair);
    self->pair[0] = *pair;
    self->count++;
    return LK_OK;
}

void
lk_curve_ring_withdraw (lk_curve_ring *self)
{
    self->count = self->count > 0;
}

/*  -------------------------------------------------------- reading */

/*  False: a line that makes no sense. A secret key has its public one above
 *  it. */
static bool
take_line (lk_curve_ring *self, const lk_zpl_line *line, char *public_key)
{
    lk_curve_pair pair;

    if (lk_slice_is (line->name, "public-key")) {
        snprintf (public_key, LK_CURVE_TEXT_SIZE, "%s", line->value);
        return lk_curve_is_key (line->value);
    }
    if (lk_slice_is (line->name, "secret-key")) {
        const bool is_room = self->count < LK_CURVE_PAIRS_MAX;
        if (!is_room || !lk_curve_from_secret (&pair, line->value)
            || strcmp (pair.public_key, public_key) != 0) {
            return false;
        }
        self->pair[self->count++] = pair;
        return true;
    }
    return line->name.size == 0 || lk_slice_is (line->name, "curve")
           || lk_slice_is (line->name, "metadata");
}

static lk_err
parse (lk_curve_ring *self, const char *path, const char *text,
       lk_problem *problem)
{
    char public_key[LK_CURVE_TEXT_SIZE] = "";
    lk_zpl zpl;
    lk_zpl_line line;

    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        if (line.wrong != NULL || !take_line (self, &line, public_key)) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'%s', line %u, is no pair of keys", path,
                                   line.number);
        }
    }
    return self->count > 0 ? LK_OK
                           : lk_problem_set (problem, LK_INVALID,
                                             "'%s' has no pair of keys", path);
}

static lk_err
read_all (int fd, const char *path, char text[FILE_SIZE_MAX + 1],
          lk_problem *problem)
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
    char text[FILE_SIZE_MAX + 1];
    const int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    *self = (lk_curve_ring) {.count = 0};
    if (fd == -1) {
        const bool is_absent = errno == ENOENT;
        (void) lk_problem_errno (problem, "cannot open '%s'", path);
        return is_absent ? LK_UNKNOWN : LK_SYSTEM;
    }
    lk_err error = read_all (fd, path, text, problem);
    close (fd);
    if (error == LK_OK) {
        error = parse (self, path, text, problem);
    }
    explicit_bzero (text, sizeof text);
    return error;
}

/*  -------------------------------------------------------- writing */

static size_t
write_text (const lk_curve_ring *self, char *text, size_t size)
{
    size_t used = (size_t) snprintf (text, size, "%s", head);

    for (size_t i = 0; i < self->count; i++) {
        used += (size_t) snprintf (text + used, size - used,
                                   "curve\n"
                                   "    public-key = \"%s\"\n"
                                   "    secret-key = \"%s\"\n",
                                   self->pair[i].public_key,
                                   self->pair[i].secret_key);
    }
    return used;
}

lk_err
lk_curve_ring_write (const lk_curve_ring *self, const char *path,
                     lk_problem *problem)
{
    char dir[PATH_MAX], text[FILE_SIZE_MAX];
    const char *slash = strrchr (path, '/');
    const int size = slash ? (int) (slash - path) : 0;

    snprintf (dir, sizeof dir, "%.*s%s", size, path,
              slash == NULL ? "." : (size == 0 ? "/" : ""));
    lk_state_file *file =
        lk_state_file_open (dir, slash ? slash + 1 : path, problem);
    if (!file) {
        return LK_SYSTEM;
    }
    const lk_err error = lk_state_file_write (
        file, text, write_text (self, text, sizeof text), problem);
    lk_state_file_destroy (&file);
    explicit_bzero (text, sizeof text);
    return error;
}
