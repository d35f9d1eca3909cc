/*  logins.c - log-ins that an issuer is asked for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "logins.h"

#include "util/alloc.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

void
lk_logins_clear (lk_logins *self)
{
    while (self->first != NULL) {
        lk_logins_remove (self, self->first);
    }
}

static size_t
count_of (const lk_logins *self, const char *address)
{
    const lk_asked_login *login;
    size_t count = 0;
    DL_FOREACH (self->first, login) {
        count += strcmp (login->address, address) == 0;
    }
    return count;
}

lk_asked_login *
lk_logins_add (lk_logins *self, const char *address, int64_t now_ms)
{
    if (self->count >= LK_ASKED_LOGINS_MAX
        || count_of (self, address) >= LK_ASKED_LOGINS_OF_ADDRESS_MAX) {
        return NULL;
    }
    lk_asked_login *login = lk_alloc (sizeof *login);
    login->serial = ++self->serial;
    login->until_ms = now_ms + LK_ASKED_LOGIN_MS;
    snprintf (login->address, sizeof login->address, "%s", address);
    DL_APPEND (self->first, login);
    self->count++;
    return login;
}

lk_asked_login *
lk_logins_find (const lk_logins *self, uint64_t serial, lk_slice host)
{
    lk_asked_login *login;
    DL_FOREACH (self->first, login) {
        if (login->serial == serial && lk_slice_is (host, login->host)) {
            return login;
        }
    }
    return NULL;
}

lk_asked_login *
lk_logins_due (const lk_logins *self, int64_t now_ms)
{
    return lk_logins_deadline (self) <= now_ms ? self->first : NULL;
}

int64_t
lk_logins_deadline (const lk_logins *self)
{
    return self->first != NULL ? self->first->until_ms : INT64_MAX;
}

void
lk_logins_remove (lk_logins *self, lk_asked_login *login)
{
    DL_DELETE (self->first, login);
    self->count--;
    explicit_bzero (login, sizeof *login);
    lk_free (login);
}
