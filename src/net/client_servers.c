/*  client_servers.c - see client_servers.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/client_servers.h"

#include "net/endpoint.h"
#include "net/tcp.h"
#include "util/alloc.h"
#include "wire/announcement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

lk_err
lk_client_endpoint_check (const char *endpoint, lk_problem *problem)
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

bool
lk_client_file_add (lk_client_file *self, const lk_client_server *server)
{
    if (self->count == LK_CLIENT_SERVERS_MAX) {
        return false;
    }
    self->server[self->count++] = *server;
    return true;
}

static bool
add (lk_client_file *self, const char *endpoint, const char *key,
     const char *domain)
{
    lk_client_server server;
    snprintf (server.endpoint, sizeof server.endpoint, "%s", endpoint);
    snprintf (server.key, sizeof server.key, "%s", key);
    snprintf (server.domain, sizeof server.domain, "%s", domain);
    return lk_client_file_add (self, &server);
}

lk_err
lk_client_file_check_servers (const lk_client_file *self, lk_problem *problem)
{
    if (self->count > 0 || self->beacon != 0) {
        return LK_OK;
    }
    (void) lk_problem_set (problem, LK_INVALID,
                           "the client file has no 'client/server'");
    problem->number = EINVAL;
    return LK_INVALID;
}

bool
lk_client_limit_allows (const char *limit, const char *domain,
                        lk_problem *problem)
{
    if (lk_domain_is_within (limit, domain)) {
        return true;
    }
    if (domain[0] != '\0') {
        (void) lk_problem_set (problem, LK_INVALID,
                               "it is in %s, outside of 'client/domain-limit' "
                               "%s",
                               domain, limit);
    } else {
        (void) lk_problem_set (problem, LK_INVALID,
                               "its location domain is not known, and "
                               "'client/domain-limit' is %s",
                               limit);
    }
    return false;
}

void
lk_client_file_default (lk_client_file *self)
{
    for (size_t i = 0; i < self->key_count; i++) {
        (void) add (self, LK_CLIENT_DEFAULT_ENDPOINT, self->key[i], "");
    }
}

/*  -------------------------------------------------------- beacons */

static bool
is_of (const char *fingerprint, const char *key)
{
    char own[LK_FINGERPRINT_SIZE];
    lk_curve_fingerprint (key, own);
    return own[0] != '\0' && strcmp (own, fingerprint) == 0;
}

/*  NULL: the file has no such key. */
static const char *
key_of (const lk_client_file *file, const char *fingerprint)
{
    for (size_t i = 0; i < file->key_count; i++) {
        if (is_of (fingerprint, file->key[i])) {
            return file->key[i];
        }
    }
    for (size_t i = 0; i < file->count; i++) {
        if (is_of (fingerprint, file->server[i].key)) {
            return file->server[i].key;
        }
    }
    return NULL;
}

bool
lk_client_file_hears (const lk_client_file *self, const char *line, size_t size,
                      lk_client_server *server)
{
    lk_announcement word;
    lk_problem ignored;
    if (!lk_announcement_read (&word, line, size)) {
        return false;
    }
    const char *key = key_of (self, word.fingerprint);
    *server = (lk_client_server) {.domain = ""};
    snprintf (server->endpoint, sizeof server->endpoint, LK_TCP "%s",
              word.address);
    snprintf (server->key, sizeof server->key, "%s", key != NULL ? key : "");
    return key != NULL
           && lk_client_endpoint_check (server->endpoint, &ignored) == LK_OK;
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

/*  All that the file has for that endpoint: behind an address may be several
 *  servers. */
static bool
add_same (lk_client_file *to, const lk_client_file *from, const char *endpoint,
          bool *fits)
{
    bool is_found = false;
    for (size_t i = 0; i < from->count; i++) {
        const lk_client_server *server = &from->server[i];
        if (strcmp (server->endpoint, endpoint) == 0) {
            *fits &= lk_client_file_add (to, server);
            is_found = true;
        }
    }
    return is_found;
}

/*  The one in that place of so many. LK_UNKNOWN: nobody knows its key. */
static lk_err
add_other (lk_client_file *to, const lk_client_file *from, const char *endpoint,
           size_t place, size_t count)
{
    bool fits = true;
    if (add_same (to, from, endpoint, &fits)) {
        return fits ? LK_OK : LK_OVERLOADED;
    }
    for (size_t i = 0; i < from->key_count; i++) {
        fits &= add (to, endpoint, from->key[i], "");
    }
    if (from->key_count == 0) {
        const char *key =
            count == from->count ? from->server[place].key : only_key (from);
        if (key == NULL) {
            return LK_UNKNOWN;
        }
        fits = add (to, endpoint, key, "");
    }
    return fits ? LK_OK : LK_OVERLOADED;
}

static lk_err
explain (lk_err error, const char *endpoint, lk_problem *problem)
{
    return error == LK_UNKNOWN
               ? lk_problem_set (problem, LK_INVALID,
                                 "the client file has no key for '%s'",
                                 endpoint)
               : lk_problem_set (problem, LK_INVALID, "not 1 to %d endpoints",
                                 LK_CLIENT_SERVERS_MAX);
}

static lk_err
redirect (lk_client_file *to, const lk_client_file *from, const char *list,
          lk_problem *problem)
{
    const size_t count = count_of (list);
    char endpoint[LK_CLIENT_ENDPOINT_SIZE];
    if (count == 0 || count > LK_CLIENT_SERVERS_MAX) {
        return explain (LK_OVERLOADED, list, problem);
    }
    for (size_t place = 0; lk_endpoint_next (&list, endpoint, sizeof endpoint);
         place++) {
        if (lk_client_endpoint_check (endpoint, problem) != LK_OK) {
            return LK_INVALID;
        }
        const lk_err error = add_other (to, from, endpoint, place, count);
        if (error != LK_OK) {
            return explain (error, endpoint, problem);
        }
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
