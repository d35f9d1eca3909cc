/*  zones.c - what the settings of a cluster say of its zones
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/zones.h"

#include "net/zpl.h"
#include "util/digits.h"
#include "util/word.h"
#include "wire/address.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX ((uint64_t) 1000000000000)

/*  -------------------------------------------------------- words */

static bool
is_name (const char *word)
{
    return lk_address_is_name (lk_slice_of (word));
}

static bool
read_number (const char *word, int64_t *number)
{
    uint64_t value;
    if (!lk_decimal_parse (word, strlen (word), &value) || value > NUMBER_MAX) {
        return false;
    }
    *number = (int64_t) value;
    return true;
}

/*  -------------------------------------------------------- zones */

static const struct {
    const char *word;
    size_t at;
    int64_t otherwise;
} numbers[] = {
    {"locks=", offsetof (lk_zone, locks), 0},
    {"sessions=", offsetof (lk_zone, sessions), 0},
    {"requests=", offsetof (lk_zone, requests), 0},
    {"bytes=", offsetof (lk_zone, bytes), 0},
    {"ttl=", offsetof (lk_zone, ttl_s), LK_ZONE_TTL_S},
    {"renew=", offsetof (lk_zone, renew_s), LK_ZONE_RENEW_S},
};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static int64_t *
number_of (lk_zone *self, size_t i)
{
    return (int64_t *) ((char *) self + numbers[i].at);
}

static bool
read_part (lk_zone *self, const char *word)
{
    static const char authority[] = "authority=";
    for (size_t i = 0; i < NUMBERS; i++) {
        const size_t size = strlen (numbers[i].word);
        if (strncmp (word, numbers[i].word, size) == 0) {
            return read_number (word + size, number_of (self, i));
        }
    }
    if (strncmp (word, authority, strlen (authority)) != 0
        || !is_name (word + strlen (authority))) {
        return false;
    }
    snprintf (self->authority, sizeof self->authority, "%s",
              word + strlen (authority));
    return true;
}

bool
lk_zone_read (lk_zone *self, const char *value)
{
    char word[LK_HOST_LEN_MAX + 16];
    *self = (lk_zone) {.name = ""};
    for (size_t i = 0; i < NUMBERS; i++) {
        *number_of (self, i) = numbers[i].otherwise;
    }
    if (!lk_word_take (&value, word, sizeof self->name) || !is_name (word)) {
        return false;
    }
    snprintf (self->name, sizeof self->name, "%s", word);
    while (lk_word_take (&value, word, sizeof word)) {
        if (!read_part (self, word)) {
            return false;
        }
    }
    return *value == '\0' && self->ttl_s > 0;
}

void
lk_zone_write (const lk_zone *self, char value[LK_ZONE_LINE_SIZE])
{
    lk_zone zone = *self;
    size_t used =
        (size_t) snprintf (value, LK_ZONE_LINE_SIZE, "%s", self->name);
    for (size_t i = 0; i < NUMBERS; i++) {
        const int64_t number = *number_of (&zone, i);
        if (number != numbers[i].otherwise) {
            used += (size_t) snprintf (value + used, LK_ZONE_LINE_SIZE - used,
                                       " %s%" PRId64, numbers[i].word, number);
        }
    }
    if (self->authority[0] != '\0') {
        snprintf (value + used, LK_ZONE_LINE_SIZE - used, " authority=%s",
                  self->authority);
    }
}

/*  -------------------------------------------------------- issuers */

bool
lk_zone_issuer_read (lk_zone_issuer *self, const char *value)
{
    uint8_t raw[sizeof self->key / 2];
    return lk_word_take (&value, self->zone, sizeof self->zone)
           && is_name (self->zone)
           && lk_word_take (&value, self->key, sizeof self->key)
           && *value == '\0' && strlen (self->key) == sizeof self->key - 1
           && lk_hex_bytes_parse (self->key, sizeof self->key - 1, raw)
           && self->key[strspn (self->key, "0123456789abcdef")] == '\0';
}

void
lk_zone_issuer_write (const lk_zone_issuer *self,
                      char value[LK_ISSUER_LINE_SIZE])
{
    snprintf (value, LK_ISSUER_LINE_SIZE, "%s %s", self->zone, self->key);
}

bool
lk_zone_issuer_has (const lk_zone_issuer *issuers, size_t count,
                    const char *zone, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (issuers[i].key, key) == 0
            && strcmp (issuers[i].zone, zone) == 0) {
            return true;
        }
    }
    return false;
}

/*  -------------------------------------------------------- revoked ones */

bool
lk_revoked_read (lk_revoked *self, const char *value)
{
    char serial[LK_HEX_SIZE], seconds[24];
    return lk_word_take (&value, serial, sizeof serial)
           && lk_hex_parse (serial, strlen (serial), &self->serial)
           && lk_word_take (&value, seconds, sizeof seconds)
           && read_number (seconds, &self->not_after) && *value == '\0';
}

void
lk_revoked_write (const lk_revoked *self, char value[LK_REVOKED_LINE_SIZE])
{
    snprintf (value, LK_REVOKED_LINE_SIZE, "%016" PRIx64 " %" PRId64,
              self->serial, self->not_after);
}

bool
lk_revoked_has (const lk_revoked *revoked, size_t count, uint64_t serial)
{
    size_t i = 0;
    while (i < count && revoked[i].serial != serial) {
        i++;
    }
    return i < count;
}

/*  -------------------------------------------------------- all of them */

/*  Each kind of line is read alike, into a table of its own. */
#define LK_DEFINE_LIST(function, type, most, key, read)                        \
    size_t function (const char *text, type rows[most])                        \
    {                                                                          \
        lk_zpl zpl;                                                            \
        lk_zpl_line line;                                                      \
        const char *value;                                                     \
        size_t count = 0;                                                      \
        lk_zpl_init (&zpl, text);                                              \
        while (count < most                                                    \
               && (value = lk_zpl_next_value (&zpl, key, &line)) != NULL) {    \
            count += read (&rows[count], value);                               \
        }                                                                      \
        return count;                                                          \
    }

LK_DEFINE_LIST (lk_common_settings_zones, lk_zone, LK_ZONES_MAX,
                LK_SETTING_ZONE, lk_zone_read)
LK_DEFINE_LIST (lk_common_settings_issuers, lk_zone_issuer, LK_ISSUERS_MAX,
                LK_SETTING_ISSUER, lk_zone_issuer_read)
LK_DEFINE_LIST (lk_common_settings_revoked, lk_revoked, LK_REVOKED_MAX,
                LK_SETTING_REVOKED, lk_revoked_read)

const lk_zone *
lk_zone_find (const lk_zone *zones, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (lk_zone_plain (zones[i].name), lk_zone_plain (name)) == 0) {
            return &zones[i];
        }
    }
    return NULL;
}
