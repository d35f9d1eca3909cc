/*  client_file.c - see client_file.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/client_file.h"

#include "net/client_servers.h"
#include "net/secret_file.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

/*  Takes the next word off the value; false: it is longer than that. */
static bool
next_word (const char **value, char *word, size_t size)
{
    const size_t len = strcspn (*value, " \t");
    const bool fits = len < size;
    snprintf (word, size, "%.*s", fits ? (int) len : 0, *value);
    *value += len;
    *value += strspn (*value, " \t");
    return fits;
}

/*  "tcp://HOST:PORT KEY", or "tcp://HOST:PORT KEY DOMAIN". What is wrong, or
 *  NULL. */
static const char *
take_server (lk_client_file *self, const char *value)
{
    lk_problem ignored;
    lk_client_server server;
    if (!next_word (&value, server.endpoint, sizeof server.endpoint)
        || !next_word (&value, server.key, sizeof server.key)
        || !next_word (&value, server.domain, sizeof server.domain)
        || !lk_curve_is_key (server.key)) {
        return "a server is \"tcp://HOST:PORT KEY\", in quotes, with a key of "
               "40 characters";
    }
    if (lk_client_endpoint_check (server.endpoint, &ignored) != LK_OK
        || value[0] != '\0') {
        return "a server is \"tcp://HOST:PORT KEY\"";
    }
    if (server.domain[0] != '\0' && !lk_domain_is_valid (server.domain)) {
        return "behind the key of a server comes its location domain, as in "
               "au.perth.dh4";
    }
    return lk_client_file_add (self, &server) ? NULL : "more than 32 servers";
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
take_server_key (lk_client_file *self, const char *value)
{
    if (self->key_count == LK_CLIENT_SERVERS_MAX) {
        return "more than 32 keys of servers";
    }
    const char *wrong = take_key (self->key[self->key_count], value);
    self->key_count += wrong == NULL;
    return wrong;
}

static const char *
take_order (lk_client_file *self, const char *value)
{
    static const char *const orders[] = {[LK_CLIENT_NEAREST] = "nearest",
                                         [LK_CLIENT_LISTED] = "listed",
                                         [LK_CLIENT_RANDOM] = "random"};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (strcmp (value, orders[i]) == 0) {
            self->order = (lk_client_order) i;
            return NULL;
        }
    }
    return "the order is 'nearest', 'listed' or 'random'";
}

static const char *
take_beacon (lk_client_file *self, const char *value)
{
    char *end;
    const long port = strtol (value, &end, 10);
    if (end == value || *end != '\0' || port < 0 || port > 65535) {
        return "the beacon is a UDP port, 1 to 65535, or 0 for none";
    }
    self->beacon = (int) port;
    return NULL;
}

static const char *
take_discovery (lk_client_file *self, const char *value)
{
    self->is_closed = strcmp (value, "no") == 0;
    return self->is_closed || strcmp (value, "yes") == 0
               ? NULL
               : "discovery is 'yes' or 'no'";
}

static const char *
take_domain (char place[LK_DOMAIN_LEN_MAX + 1], const char *value)
{
    if (!lk_domain_is_valid (value)) {
        return "a location domain is labels with dots between, as in "
               "au.perth.dh4";
    }
    snprintf (place, LK_DOMAIN_LEN_MAX + 1, "%s", value);
    return NULL;
}

static const char *
take_credential (lk_client_file *self, const char *value)
{
    if (value[0] == '\0' || strlen (value) >= sizeof self->credential) {
        return "the credential is the path of a file";
    }
    snprintf (self->credential, sizeof self->credential, "%s", value);
    return NULL;
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
    if (strcmp (line->path, "client/server-key") == 0) {
        return take_server_key (self, line->value);
    }
    if (strcmp (line->path, "client/discovery") == 0) {
        return take_discovery (self, line->value);
    }
    if (strcmp (line->path, "client/beacon") == 0) {
        return take_beacon (self, line->value);
    }
    if (strcmp (line->path, "client/domain") == 0) {
        return take_domain (self->domain, line->value);
    }
    if (strcmp (line->path, "client/domain-limit") == 0) {
        return take_domain (self->limit, line->value);
    }
    if (strcmp (line->path, "client/credential") == 0) {
        return take_credential (self, line->value);
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
    if (!fits) {
        return lk_problem_set (problem, LK_INVALID,
                               "the keys of '%s' are not of one pair", path);
    }
    return lk_domain_is_within (self->limit, self->domain)
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "'%s': 'client/domain' is not in "
                                 "'client/domain-limit'",
                                 path);
}

/*  Where the credential is: beside the file, unless that says otherwise. */
static lk_err
place_credential (lk_client_file *self, const char *path, lk_problem *problem)
{
    char said[PATH_MAX];
    const char *slash = strrchr (path, '/');
    const int folder = slash != NULL ? (int) (slash - path) + 1 : 0;
    int size;
    memcpy (said, self->credential, sizeof said);
    if (said[0] == '\0') {
        size = snprintf (self->credential, sizeof self->credential,
                         "%s.credential", path);
    } else {
        size = snprintf (self->credential, sizeof self->credential, "%.*s%s",
                         said[0] == '/' ? 0 : folder, path, said);
    }
    return size < (int) sizeof self->credential
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "'%s': the path of the credential is too long",
                                 path);
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
    if (self->domain[0] == '\0') {
        memcpy (self->domain, self->limit, sizeof self->domain);
    }
    if (error == LK_OK) {
        error = check (self, path, problem);
    }
    if (error == LK_OK) {
        error = place_credential (self, path, problem);
    }
    if (error == LK_OK && self->count == 0 && self->beacon == 0) {
        lk_client_file_default (self);
    }
    return error;
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
    char fingerprint[LK_FINGERPRINT_SIZE];
    lk_curve_fingerprint (self->pair.public_key, fingerprint);
    snprintf (head, LK_CLIENT_HEAD_SIZE, LK_ADDRESS_FAR "%s-", fingerprint);
}

void
lk_client_file_call (const lk_client_file *self, const char *server_key,
                     lk_curve_call *call)
{
    *call = (lk_curve_call) {.own = self->pair};
    snprintf (call->server_key, sizeof call->server_key, "%s", server_key);
}

/*  -------------------------------------------------------- a new one */

/*  Not one that `lockkeeper clients add NAME KEY` would take for an option. */
static void
make_pair (lk_curve_pair *pair)
{
    do {
        lk_curve_make (pair);
    } while (pair->public_key[0] == '-');
}

lk_err
lk_client_file_make (lk_client_file *self, const char *path,
                     lk_problem *problem)
{
    char text[sizeof model + 2 * LK_CURVE_TEXT_SIZE];
    *self = (lk_client_file) {.count = 0};
    make_pair (&self->pair);
    snprintf (text, sizeof text, model, self->pair.public_key,
              self->pair.secret_key);
    const lk_err error = lk_secret_file_make (path, text, problem);
    explicit_bzero (text, sizeof text);
    if (error != LK_OK) {
        lk_client_file_clear (self);
    }
    return error;
}
