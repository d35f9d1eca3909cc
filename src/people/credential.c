/*  credential.c - who somebody is, signed by who may say so
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "people/credential.h"

#include "net/curve.h"
#include "util/assert.h"
#include "util/digits.h"
#include "util/utf8.h"
#include "wire/address.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define TAG "lockkeeper-credential-1"
#define RAW_SIZE crypto_sign_PUBLICKEYBYTES
#define SIGNATURE_LEN (2 * crypto_sign_BYTES)

_Static_assert(LK_ZONE_LEN_MAX == LK_HOST_LEN_MAX, "zones have such names");
_Static_assert(LK_ISSUER_TEXT_SIZE == 2 * RAW_SIZE + 1
                   && crypto_sign_SEEDBYTES == RAW_SIZE,
               "a key and its seed have 32 bytes");

/*  -------------------------------------------------------- issuers */

static bool
read_hex (const char *text, uint8_t *raw, size_t size)
{
    return strlen (text) == 2 * size
           && text[strspn (text, "0123456789abcdef")] == '\0'
           && lk_hex_bytes_parse (text, 2 * size, raw);
}

/*  Of what it drew, or was given. */
static void
take_seed (lk_issuer *self, const uint8_t seed[RAW_SIZE])
{
    uint8_t public_key[crypto_sign_PUBLICKEYBYTES];
    uint8_t secret_key[crypto_sign_SECRETKEYBYTES];
    (void) crypto_sign_seed_keypair (public_key, secret_key, seed);
    lk_hex_bytes_format (public_key, RAW_SIZE, self->public_key);
    lk_hex_bytes_format (seed, RAW_SIZE, self->secret_key);
    sodium_memzero (secret_key, sizeof secret_key);
}

void
lk_issuer_make (lk_issuer *self)
{
    uint8_t seed[RAW_SIZE];
    LK_ASSERT (sodium_init () >= 0);
    randombytes_buf (seed, sizeof seed);
    take_seed (self, seed);
    sodium_memzero (seed, sizeof seed);
}

bool
lk_issuer_from_secret (lk_issuer *self, const char *secret_key)
{
    uint8_t seed[RAW_SIZE];
    LK_ASSERT (sodium_init () >= 0);
    if (!read_hex (secret_key, seed, sizeof seed)) {
        return false;
    }
    take_seed (self, seed);
    sodium_memzero (seed, sizeof seed);
    return true;
}

bool
lk_issuer_is_key (const char *text)
{
    uint8_t raw[RAW_SIZE];
    return read_hex (text, raw, sizeof raw);
}

/*  A blank would end the word. */
bool
lk_user_is_name (const char *text)
{
    const size_t size = strlen (text);
    for (size_t i = 0; i < size; i++) {
        if ((uint8_t) text[i] <= ' ' || text[i] == 0x7f) {
            return false;
        }
    }
    return size > 0 && size <= LK_USER_LEN_MAX && lk_utf8_is_text (text, size);
}

const char *
lk_user_shown (const char *text)
{
    return lk_user_is_name (text) ? text : "?";
}

/*  -------------------------------------------------------- the line */

static bool
is_fine (const lk_credential *self)
{
    return lk_address_is_name (lk_slice_of (self->zone))
           && lk_user_is_name (self->user) && self->role > LK_ROLE_NONE
           && self->role < LK_ROLES && lk_curve_is_key (self->key)
           && self->not_before >= 0 && self->not_after > self->not_before
           && self->since >= 0;
}

void
lk_credential_sign (lk_credential *self, const lk_issuer *issuer,
                    char line[LK_CREDENTIAL_SIZE])
{
    uint8_t seed[RAW_SIZE], public_key[RAW_SIZE];
    uint8_t secret_key[crypto_sign_SECRETKEYBYTES];
    uint8_t signature[crypto_sign_BYTES];
    LK_ASSERT (sodium_init () >= 0 && is_fine (self));
    LK_ASSERT (read_hex (issuer->secret_key, seed, sizeof seed));
    memcpy (self->issuer, issuer->public_key, sizeof self->issuer);
    do {
        randombytes_buf (&self->serial, sizeof self->serial);
    } while (self->serial == 0);
    const int size =
        snprintf (line, LK_CREDENTIAL_SIZE,
                  TAG " %s %s %s %s %" PRId64 " %" PRId64 " %" PRId64
                      " %016" PRIx64 " %s ",
                  self->zone, self->user, lk_role_words[self->role], self->key,
                  self->not_before, self->not_after, self->since, self->serial,
                  self->issuer);
    LK_ASSERT (size + SIGNATURE_LEN < LK_CREDENTIAL_SIZE);
    (void) crypto_sign_seed_keypair (public_key, secret_key, seed);
    (void) crypto_sign_detached (signature, NULL, (const uint8_t *) line,
                                 (unsigned long long) size, secret_key);
    lk_hex_bytes_format (signature, sizeof signature, line + size);
    sodium_memzero (secret_key, sizeof secret_key);
    sodium_memzero (seed, sizeof seed);
}

/*  -------------------------------------------------------- reading */

enum {
    AT_TAG,
    AT_ZONE,
    AT_USER,
    AT_ROLE,
    AT_KEY,
    AT_NOT_BEFORE,
    AT_NOT_AFTER,
    AT_SINCE,
    AT_SERIAL,
    AT_ISSUER,
    AT_SIGNATURE,
    WORDS
};

/*  Into `text`, which has room for it; the words are NUL-terminated there. */
static bool
split (char *text, const char *word[WORDS])
{
    char *rest = text;
    for (size_t i = 0; i < WORDS; i++) {
        word[i] = strsep (&rest, " ");
        if (word[i] == NULL || word[i][0] == '\0') {
            return false;
        }
    }
    return rest == NULL;
}

static bool
read_time (const char *word, int64_t *time)
{
    uint64_t value;
    if (!lk_decimal_parse (word, strlen (word), &value)
        || value > INT64_MAX / 1000) {
        return false;
    }
    *time = (int64_t) value;
    return true;
}

static bool
read_word (char *to, size_t size, const char *word)
{
    return (size_t) snprintf (to, size, "%s", word) < size;
}

static bool
read_words (lk_credential *self, const char *const word[WORDS])
{
    self->role = lk_role_from_word (word[AT_ROLE]);
    return strcmp (word[AT_TAG], TAG) == 0
           && read_word (self->zone, sizeof self->zone, word[AT_ZONE])
           && read_word (self->user, sizeof self->user, word[AT_USER])
           && read_word (self->key, sizeof self->key, word[AT_KEY])
           && read_word (self->issuer, sizeof self->issuer, word[AT_ISSUER])
           && read_time (word[AT_NOT_BEFORE], &self->not_before)
           && read_time (word[AT_NOT_AFTER], &self->not_after)
           && read_time (word[AT_SINCE], &self->since)
           && lk_hex_parse (word[AT_SERIAL], strlen (word[AT_SERIAL]),
                            &self->serial)
           && self->serial != 0 && lk_issuer_is_key (self->issuer)
           && is_fine (self);
}

static bool
is_signed (const lk_credential *self, const char *line, size_t size,
           const char *signature)
{
    uint8_t public_key[RAW_SIZE], raw[crypto_sign_BYTES];
    return sodium_init () >= 0
           && read_hex (self->issuer, public_key, sizeof public_key)
           && read_hex (signature, raw, sizeof raw)
           && crypto_sign_verify_detached (raw, (const uint8_t *) line, size,
                                           public_key)
                  == 0;
}

lk_err
lk_credential_read (lk_credential *self, const char *line, lk_problem *problem)
{
    static const char blanks[] = " \t\r\n";
    char text[LK_CREDENTIAL_SIZE];
    const char *word[WORDS];
    line += strspn (line, blanks);
    size_t size = strlen (line);
    while (size > 0 && strchr (blanks, line[size - 1]) != NULL) {
        size--;
    }
    *self = (lk_credential) {.role = LK_ROLE_NONE};
    if (size >= sizeof text || size <= SIGNATURE_LEN) {
        return lk_problem_set (problem, LK_INVALID, "that is no credential");
    }
    memcpy (text, line, size);
    text[size] = '\0';
    if (!split (text, word) || !read_words (self, word)) {
        return lk_problem_set (problem, LK_INVALID, "that is no credential");
    }
    return is_signed (self, line, (size_t) (word[AT_SIGNATURE] - text),
                      word[AT_SIGNATURE])
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "the credential was changed since it was "
                                 "issued");
}

lk_err
lk_credential_check_time (const lk_credential *self, int64_t now_s,
                          lk_problem *problem)
{
    if (now_s < self->not_before - LK_CREDENTIAL_AHEAD_S) {
        return lk_problem_set (problem, LK_REFUSED,
                               "the credential does not count yet");
    }
    return now_s < self->not_after
               ? LK_OK
               : lk_problem_set (problem, LK_REFUSED,
                                 "the credential has ended");
}
