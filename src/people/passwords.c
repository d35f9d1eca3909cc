/*  passwords.c - the file of users and passwords of an authority
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "people/passwords.h"

#include "net/secret_file.h"
#include "settings/edit.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/bytes.h"
#include "util/utf8.h"
#include "wire/address.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_SIZE_MAX ((size_t) 16 * 1024 * 1024)
#define ZONES_SIZE (LK_PASSWORD_ZONES_MAX * (LK_ZONE_LEN_MAX + 12))
#define LINE_SIZE (LK_USER_LEN_MAX + ZONES_SIZE + LK_PASSWORD_HASH_SIZE + 3)

_Static_assert(LK_PASSWORD_HASH_SIZE == crypto_pwhash_STRBYTES, "a hash fits");

/*  -------------------------------------------------------- passwords */

static bool
is_printable (const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((uint8_t) text[i] < ' ' || text[i] == 0x7f) {
            return false;
        }
    }
    return lk_utf8_is_text (text, size);
}

lk_err
lk_password_check (const char *password, lk_problem *problem)
{
    const size_t size = strlen (password);
    return size > 0 && size <= LK_PASSWORD_LEN_MAX
                   && is_printable (password, size)
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "a password has 1 to %d bytes of UTF-8 "
                                 "without control characters",
                                 LK_PASSWORD_LEN_MAX);
}

/*  False: there is not the memory that it takes. */
static bool
hash (char text[LK_PASSWORD_HASH_SIZE], const char *password)
{
    LK_ASSERT (sodium_init () >= 0);
    return crypto_pwhash_str (text, password, strlen (password),
                              crypto_pwhash_OPSLIMIT_INTERACTIVE,
                              crypto_pwhash_MEMLIMIT_INTERACTIVE)
           == 0;
}

void
lk_password_user_set (lk_password_user *self, const char *password)
{
    const bool is_done = hash (self->hash, password);
    LK_ASSERT (is_done);
}

bool
lk_password_user_verify (const lk_password_user *self, const char *password)
{
    char ignored[LK_PASSWORD_HASH_SIZE];
    LK_ASSERT (sodium_init () >= 0);
    if (self == NULL) {
        (void) hash (ignored, password);
        return false;
    }
    return crypto_pwhash_str_verify (self->hash, password, strlen (password))
           == 0;
}

/*  -------------------------------------------------------- zones */

static lk_password_zone *
zone_of (const lk_password_user *self, const char *zone)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->zone[i].zone, zone) == 0) {
            return (lk_password_zone *) &self->zone[i];
        }
    }
    return NULL;
}

lk_role
lk_password_user_role (const lk_password_user *self, const char *zone)
{
    const lk_password_zone *it = zone_of (self, zone);
    return it != NULL ? it->role : LK_ROLE_NONE;
}

bool
lk_password_user_give (lk_password_user *self, const char *zone, lk_role role)
{
    lk_password_zone *it = zone_of (self, zone);
    if (it == NULL && role == LK_ROLE_NONE) {
        return true;
    }
    if (it == NULL) {
        if (self->count == LK_PASSWORD_ZONES_MAX) {
            return false;
        }
        it = &self->zone[self->count++];
        snprintf (it->zone, sizeof it->zone, "%s", zone);
    }
    it->role = role;
    if (role == LK_ROLE_NONE) {
        *it = self->zone[--self->count];
    }
    return true;
}

/*  -------------------------------------------------------- lines */

static bool
read_zone (lk_password_user *self, char *text)
{
    char *role = strchr (text, ':');
    if (role == NULL) {
        return false;
    }
    *role++ = '\0';
    const lk_role it = lk_role_from_word (role);
    return it > LK_ROLE_NONE && it < LK_ROLES
           && lk_address_is_name (lk_slice_of (text))
           && zone_of (self, text) == NULL
           && lk_password_user_give (self, text, it);
}

/*  "ZONE:ROLE,ZONE:ROLE", which is spoilt. */
static bool
read_zones (lk_password_user *self, char *text)
{
    char *zone;
    while ((zone = strsep (&text, ",")) != NULL) {
        if (!read_zone (self, zone)) {
            return false;
        }
    }
    return true;
}

static bool
read_hash (lk_password_user *self, const char *text)
{
    static const char kind[] = "$argon2id$";
    return strncmp (text, kind, sizeof kind - 1) == 0
           && (size_t) snprintf (self->hash, sizeof self->hash, "%s", text)
                  < sizeof self->hash;
}

static bool
read_line (lk_password_user *self, const char *line, size_t size)
{
    char text[LINE_SIZE];
    *self = (lk_password_user) {.count = 0};
    if (size >= sizeof text) {
        return false;
    }
    memcpy (text, line, size);
    text[size] = '\0';
    char *rest = text;
    const char *user = strsep (&rest, " ");
    char *zones = strsep (&rest, " ");
    if (rest == NULL || !lk_user_is_name (user)) {
        return false;
    }
    snprintf (self->user, sizeof self->user, "%s", user);
    return read_zones (self, zones) && read_hash (self, rest);
}

static void
write_line (lk_bytes *out, const lk_password_user *user)
{
    char text[LINE_SIZE + 1];
    size_t used = (size_t) snprintf (text, sizeof text, "%s", user->user);
    for (size_t i = 0; i < user->count; i++) {
        used += (size_t) snprintf (text + used, sizeof text - used, "%c%s:%s",
                                   i == 0 ? ' ' : ',', user->zone[i].zone,
                                   lk_role_words[user->zone[i].role]);
    }
    used += (size_t) snprintf (text + used, sizeof text - used, " %s\n",
                               user->hash);
    lk_bytes_add (out, text, used);
}

/*  Of a line: whose it is, "" of a comment. */
static void
name_of (const char *line, size_t size, char name[LK_USER_LEN_MAX + 1])
{
    const char *blank = memchr (line, ' ', size);
    const int length = blank != NULL ? (int) (blank - line) : 0;
    snprintf (name, LK_USER_LEN_MAX + 1, "%.*s",
              size > 0 && line[0] != '#' ? length : 0, line);
}

/*  -------------------------------------------------------- reading */

static lk_password_user *
find (const lk_passwords *self, const char *user)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->user[i].user, user) == 0) {
            return &self->user[i];
        }
    }
    return NULL;
}

const lk_password_user *
lk_passwords_find (const lk_passwords *self, const char *user)
{
    return find (self, user);
}

static bool
parse_line (lk_passwords *self, const char *line, size_t size)
{
    lk_password_user user;
    return size == 0 || line[0] == '#'
           || (read_line (&user, line, size) && find (self, user.user) == NULL
               && lk_passwords_put (self, &user));
}

static lk_err
parse (lk_passwords *self, const char *path, lk_problem *problem)
{
    unsigned number = 1;
    for (const char *at = self->text; *at != '\0'; number++) {
        const size_t size = strcspn (at, "\n");
        if (!parse_line (self, at, size)) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'%s', line %u, is no 'USER "
                                   "ZONE:ROLE,ZONE:ROLE HASH', or of a user "
                                   "that is there already",
                                   path, number);
        }
        at += size + (at[size] == '\n');
    }
    return LK_OK;
}

lk_err
lk_passwords_read (lk_passwords *self, const char *path, lk_problem *problem)
{
    *self = (lk_passwords) {.count = 0};
    lk_err error =
        lk_secret_file_read (path, FILE_SIZE_MAX, &self->text, problem);
    if (error == LK_OK) {
        error = parse (self, path, problem);
    }
    if (error != LK_OK) {
        lk_passwords_clear (self);
    }
    return error;
}

void
lk_passwords_clear (lk_passwords *self)
{
    lk_secret_file_free (&self->text);
    lk_free (self->user);
    *self = (lk_passwords) {.count = 0};
}

/*  -------------------------------------------------------- changing */

/*  The room doubles whenever the count is a power of two. */
bool
lk_passwords_put (lk_passwords *self, const lk_password_user *user)
{
    lk_password_user *it = find (self, user->user);
    if (it == NULL) {
        if (self->count == LK_PASSWORD_USERS_MAX) {
            return false;
        }
        if ((self->count & (self->count - 1)) == 0) {
            const size_t room = self->count == 0 ? 1 : 2 * self->count;
            self->user = lk_realloc (self->user, room * sizeof *self->user);
        }
        it = &self->user[self->count++];
    }
    *it = *user;
    return true;
}

bool
lk_passwords_drop (lk_passwords *self, const char *user)
{
    lk_password_user *it = find (self, user);
    if (it == NULL) {
        return false;
    }
    const size_t behind = (size_t) (&self->user[self->count] - (it + 1));
    memmove (it, it + 1, behind * sizeof *it);
    self->count--;
    return true;
}

/*  Each in its former line, if it had one; new ones come last. */
static void
write_text (const lk_passwords *self, lk_bytes *out)
{
    char name[LK_USER_LEN_MAX + 1];
    const char *at = self->text != NULL ? self->text : "";
    bool *is_done = lk_alloc (self->count + 1);
    while (*at != '\0') {
        const size_t size = strcspn (at, "\n");
        name_of (at, size, name);
        const lk_password_user *user = find (self, name);
        if (name[0] == '\0') {
            lk_bytes_add (out, at, size);
            lk_bytes_add (out, "\n", 1);
        } else if (user != NULL) {
            write_line (out, user);
            is_done[user - self->user] = true;
        }
        at += size + (at[size] == '\n');
    }
    for (size_t i = 0; i < self->count; i++) {
        if (!is_done[i]) {
            write_line (out, &self->user[i]);
        }
    }
    lk_free (is_done);
    lk_bytes_add (out, "", 1);
}

lk_err
lk_passwords_write (const lk_passwords *self, const char *path,
                    lk_problem *problem)
{
    lk_bytes text = {0};
    if (access (path, F_OK) != 0) {
        const lk_err error = lk_secret_file_make (path, "", problem);
        if (error != LK_OK) {
            return error;
        }
    }
    write_text (self, &text);
    const lk_err error = lk_edit_write (path, text.data, problem);
    lk_bytes_clear (&text);
    return error;
}
