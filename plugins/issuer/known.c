/*  known.c - what an issuer knows: keys, authorities, zones
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "known.h"

#include "net/log.h"
#include "people/issuer_file.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  -------------------------------------------------------- folders */

typedef void take_file (lk_known *self, const char *path, const char *name);

/*  The part in front of the ending, if that is a name. */
static bool
name_of (const char *file, const char *ending, char name[LK_HOST_LEN_MAX + 1])
{
    const size_t size = strlen (file), its = strlen (ending);
    if (size <= its || size - its > LK_HOST_LEN_MAX
        || strcmp (file + size - its, ending) != 0) {
        return false;
    }
    memcpy (name, file, size - its);
    name[size - its] = '\0';
    return lk_address_is_name (lk_slice_of (name));
}

static void
read_folder (lk_known *self, const char *folder, const char *ending,
             take_file *take)
{
    struct dirent **files;
    char path[PATH_MAX + 300], name[LK_HOST_LEN_MAX + 1];
    const int count = scandir (folder, &files, NULL, alphasort);
    int taken = 0;
    if (count < 0) {
        lk_log_error ("issuer: cannot read the folder '%s': %s", folder,
                      strerror (errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        if (name_of (files[i]->d_name, ending, name)
            && taken++ < LK_KNOWN_FILES_MAX) {
            snprintf (path, sizeof path, "%s/%s", folder, files[i]->d_name);
            take (self, path, name);
        }
        free (files[i]);
    }
    free (files);
    if (taken > LK_KNOWN_FILES_MAX) {
        lk_log_error ("issuer: '%s' has more than %d files '*%s': the rest "
                      "counts for nothing",
                      folder, LK_KNOWN_FILES_MAX, ending);
    }
}

static void
take_key (lk_known *self, const char *path, const char *name)
{
    lk_zone_key key = {.zone = ""};
    lk_problem problem;
    if (lk_issuer_file_read (&key.pair, path, &problem) != LK_OK) {
        lk_log_error ("issuer: key not read: %s", problem.text);
        return;
    }
    snprintf (key.zone, sizeof key.zone, "%s", name);
    self->keys[self->key_count++] = key;
    lk_issuer_clear (&key.pair);
}

static lk_authority *
find_authority (const lk_known *self, const char *name)
{
    for (size_t i = 0; i < self->authority_count; i++) {
        if (strcmp (self->authorities[i]->name, name) == 0) {
            return self->authorities[i];
        }
    }
    return NULL;
}

static void
take_authority (lk_known *self, const char *path, const char *name)
{
    lk_authority *authority = lk_authority_read (path, name);
    if (authority != NULL) {
        self->authorities[self->authority_count++] = authority;
    }
}

/*  -------------------------------------------------------- files */

static void
clear_files (lk_known *self)
{
    for (size_t i = 0; i < self->key_count; i++) {
        lk_issuer_clear (&self->keys[i].pair);
    }
    for (size_t i = 0; i < self->authority_count; i++) {
        lk_authority_let_go (&self->authorities[i]);
    }
    lk_free (self->keys);
    lk_free (self->authorities);
    self->keys = NULL;
    self->authorities = NULL;
    self->key_count = self->authority_count = 0;
}

/*  Whether its file is still there. */
static bool
has_file (const char *folder, const char *name)
{
    char path[PATH_MAX + 300];
    snprintf (path, sizeof path, "%s/%s.conf", folder, name);
    FILE *file = fopen (path, "re");
    if (file != NULL) {
        fclose (file);
    }
    return file != NULL;
}

static void
keep_former (lk_known *self, const lk_known *former, const char *folder)
{
    for (size_t i = 0; i < former->authority_count
                       && self->authority_count < LK_KNOWN_FILES_MAX;
         i++) {
        lk_authority *authority = former->authorities[i];
        if (find_authority (self, authority->name) == NULL
            && has_file (folder, authority->name)) {
            lk_log_warning ("authority: stays as it was name=%s",
                            authority->name);
            self->authorities[self->authority_count++] =
                lk_authority_hold (authority);
        }
    }
}

void
lk_known_read (lk_known *self, const lk_issuer_options *options)
{
    lk_known former = *self;
    self->keys = lk_alloc (LK_KNOWN_FILES_MAX * sizeof *self->keys);
    self->authorities = lk_alloc (LK_KNOWN_FILES_MAX * sizeof (lk_authority *));
    self->key_count = self->authority_count = 0;
    read_folder (self, options->keys, ".key", take_key);
    read_folder (self, options->authorities, ".conf", take_authority);
    keep_former (self, &former, options->authorities);
    clear_files (&former);
    lk_log_notice ("issuer: read keys=%zu authorities=%zu", self->key_count,
                   self->authority_count);
}

void
lk_known_clear (lk_known *self)
{
    clear_files (self);
    lk_free (self->zones);
    lk_free (self->issuers);
    *self = (lk_known) {0};
}

/*  -------------------------------------------------------- settings */

void
lk_known_take_settings (lk_known *self, const char *text)
{
    if (self->zones == NULL) {
        self->zones = lk_alloc (LK_ZONES_MAX * sizeof *self->zones);
        self->issuers = lk_alloc (LK_ISSUERS_MAX * sizeof *self->issuers);
    }
    self->zone_count = lk_common_settings_zones (text, self->zones);
    self->issuer_count = lk_common_settings_issuers (text, self->issuers);
}

/*  One whose credentials count; NULL: there is none. */
static const lk_issuer *
find_key (const lk_known *self, const char *zone)
{
    for (size_t i = 0; i < self->key_count; i++) {
        const lk_zone_key *key = &self->keys[i];
        if (strcmp (key->zone, zone) == 0
            && lk_zone_issuer_has (self->issuers, self->issuer_count, zone,
                                   key->pair.public_key)) {
            return &key->pair;
        }
    }
    return NULL;
}

lk_issued
lk_known_find (const lk_known *self, const char *zone, lk_issuing_way *way)
{
    *way = (lk_issuing_way) {
        .zone = self->zones != NULL
                    ? lk_zone_find (self->zones, self->zone_count, zone)
                    : NULL,
    };
    if (way->zone == NULL || way->zone->authority[0] == '\0') {
        return LK_ISSUED_NOWHERE;
    }
    way->pair = find_key (self, zone);
    way->authority = find_authority (self, way->zone->authority);
    return way->pair != NULL && way->authority != NULL ? LK_ISSUED_HERE
                                                       : LK_ISSUED_ELSEWHERE;
}

/*  -------------------------------------------------------- the log */

/*  The reason why a zone's key is of no use; NULL: it is. */
static const char *
why_not (const lk_known *self, const lk_zone_key *key)
{
    const lk_zone *zone =
        lk_zone_find (self->zones, self->zone_count, key->zone);
    if (zone == NULL) {
        return "the settings have no such zone";
    }
    if (!lk_zone_issuer_has (self->issuers, self->issuer_count, key->zone,
                             key->pair.public_key)) {
        return "the settings do not have its key";
    }
    if (zone->authority[0] == '\0') {
        return "the settings name no authority of it";
    }
    return find_authority (self, zone->authority) == NULL
               ? "this host has no file of its authority"
               : NULL;
}

void
lk_known_tell (const lk_known *self)
{
    for (size_t i = 0; self->zones != NULL && i < self->key_count; i++) {
        const char *why = why_not (self, &self->keys[i]);
        if (why == NULL) {
            lk_log_notice ("issuer: issues zone=%s", self->keys[i].zone);
        } else {
            lk_log_warning ("issuer: issues nothing zone=%s: %s",
                            self->keys[i].zone, why);
        }
    }
}
