/*  people.c - fuzz target: any bytes as what says who somebody is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The first byte says as what: a credential's line, a line of the settings
 *  about zones, a file of users and passwords, or what a credential is to say.
 *  A line that is read is in its bounds, and is read again as written.
 */

#include "people/credential.h"
#include "people/passwords.h"
#include "settings/zones.h"

#include "lib/fuel.h"
#include "lib/memory_file.h"
#include "net/curve.h"
#include "util/assert.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define SECRET                                                                 \
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define TEXT_SIZE 4096

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/*  -------------------------------------------------------- credentials */

static void
check_credential (const lk_credential *self)
{
    LK_ASSERT (lk_address_is_name (lk_slice_of (self->zone)));
    LK_ASSERT (lk_user_is_name (self->user));
    LK_ASSERT (self->role > LK_ROLE_NONE && self->role < LK_ROLES);
    LK_ASSERT (lk_curve_is_key (self->key));
    LK_ASSERT (lk_issuer_is_key (self->issuer));
    LK_ASSERT (self->not_before < self->not_after && self->serial != 0);
}

static void
read_credential (const char *line)
{
    lk_credential credential;
    lk_problem problem = {0};
    const lk_err error = lk_credential_read (&credential, line, &problem);
    LK_ASSERT ((error == LK_OK) == (problem.text[0] == '\0'));
    if (error == LK_OK) {
        check_credential (&credential);
    }
}

/*  A signed line is read, and no more if one byte of it is another one. */
static void
sign_credential (lk_fuel *fuel)
{
    char line[LK_CREDENTIAL_SIZE];
    lk_credential credential = {.zone = "red", .key = KEY}, again;
    lk_issuer issuer;
    lk_problem problem = {0};
    const bool is_one = lk_issuer_from_secret (&issuer, SECRET);
    LK_ASSERT (is_one);
    credential.role =
        (lk_role) (LK_ROLE_NONE + 1
                   + lk_fuel_below (fuel, LK_ROLES - LK_ROLE_NONE - 1));
    credential.not_before = (int64_t) (lk_fuel_number (fuel) >> 12);
    credential.not_after = credential.not_before + 1 + lk_fuel_byte (fuel);
    credential.since = credential.not_before;
    const uint8_t place = lk_fuel_byte (fuel), other = lk_fuel_byte (fuel);
    (void) lk_fuel_text (fuel, credential.user, sizeof credential.user);
    if (!lk_user_is_name (credential.user)) {
        return;
    }
    lk_credential_sign (&credential, &issuer, line);
    const lk_err error = lk_credential_read (&again, line, &problem);
    LK_ASSERT (error == LK_OK);
    check_credential (&again);
    LK_ASSERT (strcmp (again.user, credential.user) == 0);
    LK_ASSERT (again.serial == credential.serial
               && again.role == credential.role
               && again.not_after == credential.not_after);
    char *changed = &line[place % strlen (line)];
    if (*changed != (char) other) {
        *changed = (char) other;
        LK_ASSERT (lk_credential_read (&again, line, &problem) != LK_OK);
    }
}

/*  -------------------------------------------------------- settings */

static void
read_zone (const char *value)
{
    char first[LK_ZONE_LINE_SIZE], second[LK_ZONE_LINE_SIZE];
    lk_zone zone;
    if (lk_zone_read (&zone, value)) {
        LK_ASSERT (lk_address_is_name (lk_slice_of (zone.name)));
        lk_zone_write (&zone, first);
        const bool is_one = lk_zone_read (&zone, first);
        LK_ASSERT (is_one);
        lk_zone_write (&zone, second);
        LK_ASSERT (strcmp (first, second) == 0);
    }
}

static void
read_issuer (const char *value)
{
    char line[LK_ISSUER_LINE_SIZE];
    lk_zone_issuer issuer, again;
    if (lk_zone_issuer_read (&issuer, value)) {
        LK_ASSERT (lk_address_is_name (lk_slice_of (issuer.zone)));
        lk_zone_issuer_write (&issuer, line);
        const bool is_one = lk_zone_issuer_read (&again, line);
        LK_ASSERT (is_one && strcmp (again.key, issuer.key) == 0);
        LK_ASSERT (lk_zone_issuer_has (&again, 1, issuer.zone, issuer.key));
    }
}

static void
read_revoked (const char *value)
{
    char line[LK_REVOKED_LINE_SIZE];
    lk_revoked revoked, again;
    if (lk_revoked_read (&revoked, value)) {
        lk_revoked_write (&revoked, line);
        const bool is_one = lk_revoked_read (&again, line);
        LK_ASSERT (is_one && again.serial == revoked.serial
                   && again.not_after == revoked.not_after);
    }
}

/*  -------------------------------------------------------- passwords */

/*  The file is its owner's, or nothing would be read. */
static void
read_passwords (const char *text)
{
    static lk_memory_file file;
    lk_passwords all;
    lk_problem problem = {0};
    if (file.path[0] == '\0') {
        lk_memory_file_open (&file);
        LK_ASSERT (fchmod (file.fd, 0600) == 0);
    }
    lk_memory_file_set (&file, text, strlen (text));
    const lk_err error = lk_passwords_read (&all, file.path, &problem);
    LK_ASSERT ((error == LK_OK) == (problem.text[0] == '\0'));
    for (size_t i = 0; i < all.count; i++) {
        const lk_password_user *user = &all.user[i];
        LK_ASSERT (lk_user_is_name (user->user));
        LK_ASSERT (lk_passwords_find (&all, user->user) == user);
        LK_ASSERT (user->count > 0 && user->count <= LK_PASSWORD_ZONES_MAX);
        LK_ASSERT (strncmp (user->hash, "$argon2id$", 10) == 0);
        for (size_t j = 0; j < user->count; j++) {
            const lk_password_zone *zone = &user->zone[j];
            LK_ASSERT (zone->role > LK_ROLE_NONE && zone->role < LK_ROLES);
            LK_ASSERT (lk_password_user_role (user, zone->zone) == zone->role);
        }
    }
    while (all.count > 0) {
        const bool was_there = lk_passwords_drop (&all, all.user[0].user);
        LK_ASSERT (was_there);
    }
    lk_passwords_clear (&all);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static void (*const readers[]) (const char *) = {
        read_credential, read_zone, read_issuer, read_revoked, read_passwords};
    char text[TEXT_SIZE + 1];
    lk_fuel fuel = {data, size};
    const size_t which = lk_fuel_below (&fuel, 6);
    if (which == 5) {
        sign_credential (&fuel);
    } else {
        const size_t length = fuel.size < TEXT_SIZE ? fuel.size : TEXT_SIZE;
        if (length > 0) {
            memcpy (text, fuel.data, length);
        }
        text[length] = '\0';
        readers[which](text);
    }
    return 0;
}
