/*  client_file.c - see client_file.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/client_file.h"

#include "net/endpoint.h"
#include "net/tcp.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX ((size_t) 64 * 1024)

static const char model[] =
    "#   An application on a machine without a router connects by this pair "
    "of keys:\n"
    "#   lockkeeper(1), client. Keep it secret; each machine has its own.\n"
    "client\n"
    "    public-key = \"%s\"\n"
    "    secret-key = \"%s\"\n"
    "#   Hosts of the cluster, and the keys that they serve clients by, one "
    "per line:\n"
    "#   server = \"tcp://HOST:7412 KEY\"\n";

/*  -------------------------------------------------------- a server */

/*  Whether it is tcp://HOST:PORT, and fits. */
static lk_err
check_endpoint (const char *endpoint, lk_problem *problem)
{
    lk_tcp_address address;
    lk_err error = lk_endpoint_check (endpoint, LK_TCP, problem);
    if (error == LK_OK) {
        error = lk_tcp_split (endpoint + strlen (LK_TCP), &address, problem);
    }
    if (error == LK_OK && strpbrk (endpoint, ", \t\n") != NULL) {
        error = lk_problem_set (problem, LK_INVALID,
                                "'%s' is not tcp://HOST:PORT", endpoint);
    }
    return error;
}

/*  "tcp://HOST:PORT KEY". What is wrong, or NULL. */
static const char *
take_server (lk_client_file *self, const char *value)
{
    lk_problem ignored;
    const size_t size = strcspn (value, " \t");
    const char *key = value + size + strspn (value + size, " \t");
    lk_client_server *server = &self->server[self->count];
    if (self->count == LK_CLIENT_SERVERS_MAX) {
        return "more than 32 servers";
    }
    if (size >= sizeof server->endpoint || !lk_curve_is_key (key)) {
        return "a server is \"tcp://HOST:PORT KEY\", in quotes, with a key of "
               "40 characters";
    }
    snprintf (server->endpoint, sizeof server->endpoint, "%.*s", (int) size,
              value);
    snprintf (server->key, sizeof server->key, "%s", key);
    if (check_endpoint (server->endpoint, &ignored) != LK_OK) {
        return "a server is \"tcp://HOST:PORT KEY\"";
    }
    self->count++;
    return NULL;
}

/*  -------------------------------------------------------- a line */

static const char *
take_key (char *place, const char *value)
{
    if (!lk_curve_is_key (value)) {
        return "a key is 40 characters in quotes";
    }
    snprintf (place, LK_CURVE_TEXT_SIZE, "%s", value);
    return NULL;
}

static const char *
take_order (lk_client_file *self, const char *value)
{
    self->is_random = strcmp (value, "random") == 0;
    return self->is_random || strcmp (value, "listed") == 0
               ? NULL
               : "the order is 'listed' or 'random'";
}

/*  The fault, or NULL. */
static const char *
take_line (lk_client_file *self, const lk_zpl_line *line)
{
    if (line->wrong != NULL) {
        return line->wrong;
    }
    if (line->name.size == 0 || strcmp (line->path, "client") == 0) {
        return NULL;
    }
    if (strcmp (line->path, "client/public-key") == 0) {
        return take_key (self->pair.public_key, line->value);
    }
    if (strcmp (line->path, "client/secret-key") == 0) {
        return take_key (self->pair.secret_key, line->value);
    }
    if (strcmp (line->path, "client/server") == 0) {
        return take_server (self, line->value);
    }
    return strcmp (line->path, "client/order") == 0
               ? take_order (self, line->value)
               : "there is no such setting in a client file";
}

/*  -------------------------------------------------------- the file */

static lk_err
lacks (const char *path, const char *what, lk_problem *problem)
{
    return lk_problem_set (problem, LK_INVALID, "'%s' has no '%s'", path, what);
}

/*  Whether all is there, and the keys are of one pair. */
static lk_err
check (const lk_client_file *self, const char *path, lk_problem *problem)
{
    lk_curve_pair pair;
    if (self->pair.public_key[0] == '\0') {
        return lacks (path, "client/public-key", problem);
    }
    if (self->pair.secret_key[0] == '\0') {
        return lacks (path, "client/secret-key", problem);
    }
    const bool fits = lk_curve_from_secret (&pair, self->pair.secret_key)
                      && strcmp (pair.public_key, self->pair.public_key) == 0;
    explicit_bzero (&pair, sizeof pair);
    return fits ? LK_OK
                : lk_problem_set (problem, LK_INVALID,
                                  "the keys of '%s' are not of one pair", path);
}

static lk_err
parse (lk_client_file *self, const char *path, const char *text,
       lk_problem *problem)
{
    lk_zpl zpl;
    lk_zpl_line line = {.number = 0};
    const char *wrong = NULL;
    lk_err error = LK_OK;
    lk_zpl_init (&zpl, text);
    while (wrong == NULL && lk_zpl_next (&zpl, &line)) {
        wrong = take_line (self, &line);
    }
    if (wrong != NULL) {
        error = lk_problem_set (problem, LK_INVALID, "'%s', line %u: %s", path,
                                line.number, wrong);
    }
    explicit_bzero (&zpl, sizeof zpl);
    return error == LK_OK ? check (self, path, problem) : error;
}

static lk_err
read_text (const char *path, char *text, lk_problem *problem)
{
    struct stat status;
    const int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd == -1) {
        return lk_problem_errno (problem, "cannot open the client file '%s'",
                                 path);
    }
    const ssize_t size = lk_file_read (fd, text, FILE_SIZE_MAX);
    const bool is_read = size >= 0 && fstat (fd, &status) == 0;
    const int number = errno;
    close (fd);
    if (!is_read) {
        errno = number;
        return lk_problem_errno (problem, "cannot read the client file '%s'",
                                 path);
    }
    text[size] = '\0';
    return status.st_mode & (S_IRWXG | S_IRWXO)
               ? lk_problem_set (problem, LK_INVALID,
                                 "others may read '%s': `chmod 600` it, and "
                                 "make new keys if they had the time",
                                 path)
               : LK_OK;
}

lk_err
lk_client_file_read (lk_client_file *self, const char *path,
                     lk_problem *problem)
{
    char *text = lk_alloc (FILE_SIZE_MAX + 1);
    *self = (lk_client_file) {.count = 0};
    lk_err error = read_text (path, text, problem);
    if (error == LK_OK) {
        error = parse (self, path, text, problem);
    }
    explicit_bzero (text, FILE_SIZE_MAX);
    lk_free (text);
    if (error == LK_INVALID && problem != NULL) {
        problem->number = EINVAL;
    }
    if (error != LK_OK) {
        lk_client_file_clear (self);
    }
    return error;
}

void
lk_client_file_clear (lk_client_file *self)
{
    explicit_bzero (&self->pair, sizeof self->pair);
    self->count = 0;
}

/*  -------------------------------------------------------- connecting */

void
lk_client_file_head (const lk_client_file *self, char head[LK_CLIENT_HEAD_SIZE])
{
    unsigned char raw[LK_CURVE_RAW_SIZE] = {0};
    int size = snprintf (head, LK_CLIENT_HEAD_SIZE, LK_ADDRESS_FAR);
    (void) lk_curve_raw (self->pair.public_key, raw);
    for (size_t i = 0; i < 8; i++) {
        size += snprintf (head + size, LK_CLIENT_HEAD_SIZE - (size_t) size,
                          "%02x", raw[i]);
    }
    snprintf (head + size, LK_CLIENT_HEAD_SIZE - (size_t) size, "-");
}

void
lk_client_file_call (const lk_client_file *self, size_t place,
                     lk_curve_call *call)
{
    *call = (lk_curve_call) {.own = self->pair};
    snprintf (call->server_key, sizeof call->server_key, "%s",
              self->server[place].key);
}

/*  -------------------------------------------------------- other servers */

static size_t
count_of (const char *list)
{
    char endpoint[LK_CLIENT_ENDPOINT_SIZE];
    size_t count = 0;
    while (lk_endpoint_next (&list, endpoint, sizeof endpoint)) {
        count++;
    }
    return count;
}

/*  NULL: the file has none, or several. */
static const char *
only_key (const lk_client_file *self)
{
    for (size_t i = 1; i < self->count; i++) {
        if (strcmp (self->server[i].key, self->server[0].key) != 0) {
            return NULL;
        }
    }
    return self->count > 0 ? self->server[0].key : NULL;
}

/*  Of the one in that place of so many; NULL: nobody knows. */
static const char *
key_for (const lk_client_file *self, const char *endpoint, size_t place,
         size_t count)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->server[i].endpoint, endpoint) == 0) {
            return self->server[i].key;
        }
    }
    return count == self->count ? self->server[place].key : only_key (self);
}

static lk_err
redirect (lk_client_file *to, const lk_client_file *from, const char *list,
          lk_problem *problem)
{
    const size_t count = count_of (list);
    char endpoint[LK_CLIENT_ENDPOINT_SIZE];
    if (count == 0 || count > LK_CLIENT_SERVERS_MAX) {
        return lk_problem_set (problem, LK_INVALID, "not 1 to %d endpoints",
                               LK_CLIENT_SERVERS_MAX);
    }
    while (lk_endpoint_next (&list, endpoint, sizeof endpoint)) {
        lk_client_server *server = &to->server[to->count];
        const char *key = key_for (from, endpoint, to->count, count);
        if (check_endpoint (endpoint, problem) != LK_OK) {
            return LK_INVALID;
        }
        if (key == NULL) {
            return lk_problem_set (problem, LK_INVALID,
                                   "the client file has no key for '%s'",
                                   endpoint);
        }
        snprintf (server->endpoint, sizeof server->endpoint, "%s", endpoint);
        snprintf (server->key, sizeof server->key, "%s", key);
        to->count++;
    }
    return LK_OK;
}

lk_err
lk_client_file_redirect (lk_client_file *self, const char *list,
                         lk_problem *problem)
{
    lk_client_file *other = lk_alloc (sizeof *other);
    const lk_err error = redirect (other, self, list, problem);
    if (error == LK_OK) {
        memcpy (self->server, other->server, sizeof self->server);
        self->count = other->count;
    } else if (problem != NULL) {
        problem->number = EINVAL;
    }
    lk_free (other);
    return error;
}

/*  -------------------------------------------------------- a new one */

/*  On disk when this returns: an administrator may be told of its key then. */
static bool
write_all (int fd, int folder, const lk_curve_pair *pair)
{
    char text[sizeof model + 2 * LK_CURVE_TEXT_SIZE];
    const int size =
        snprintf (text, sizeof text, model, pair->public_key, pair->secret_key);
    const bool is_done = lk_file_write (fd, text, (size_t) size)
                         && fsync (fd) == 0 && fsync (folder) == 0;
    explicit_bzero (text, sizeof text);
    return is_done;
}

static int
open_folder (const char *path, const char *slash)
{
    char folder[PATH_MAX] = ".";
    if (slash != NULL) {
        snprintf (folder, sizeof folder, "%.*s",
                  slash == path ? 1 : (int) (slash - path), path);
    }
    return open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

lk_err
lk_client_file_make (lk_client_file *self, const char *path,
                     lk_problem *problem)
{
    const char *slash = strrchr (path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    *self = (lk_client_file) {.count = 0};
    const int folder = open_folder (path, slash);
    const int fd = folder != -1 ? lk_file_make (folder, name) : -1;
    lk_curve_make (&self->pair);
    if (fd != -1 && write_all (fd, folder, &self->pair)) {
        close (fd);
        close (folder);
        return LK_OK;
    }
    const int number = errno;
    if (fd != -1) {
        (void) unlinkat (folder, name, 0);
        close (fd);
    }
    if (folder != -1) {
        close (folder);
    }
    lk_client_file_clear (self);
    errno = number;
    return lk_problem_errno (problem, "cannot make '%s'", path);
}
