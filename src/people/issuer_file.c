/*  issuer_file.c - the file of a pair that signs credentials
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "people/issuer_file.h"

#include "net/secret_file.h"
#include "net/zpl.h"

#include <stdio.h>
#include <string.h>

#define FILE_SIZE_MAX 4096

static const char model[] =
    "#   The pair of an issuer of credentials: its holder says who may come.\n"
    "#   Made by lockkeeper; see ZONES in lockkeeper(1).\n"
    "issuer\n"
    "    public-key = \"%s\"\n"
    "    secret-key = \"%s\"\n";

void
lk_issuer_clear (lk_issuer *self)
{
    explicit_bzero (self, sizeof *self);
}

/*  -------------------------------------------------------- reading */

static const char *
take_key (char place[LK_ISSUER_TEXT_SIZE], const char *value)
{
    if (!lk_issuer_is_key (value)) {
        return "a key is 64 hexadecimal digits, in lower case";
    }
    memcpy (place, value, LK_ISSUER_TEXT_SIZE);
    return NULL;
}

/*  The fault, or NULL. */
static const char *
take_line (lk_issuer *self, const lk_zpl_line *line)
{
    if (line->wrong != NULL) {
        return line->wrong;
    }
    if (line->name.size == 0 || strcmp (line->path, "issuer") == 0) {
        return NULL;
    }
    if (strcmp (line->path, "issuer/public-key") == 0) {
        return take_key (self->public_key, line->value);
    }
    return strcmp (line->path, "issuer/secret-key") == 0
               ? take_key (self->secret_key, line->value)
               : "there is no such setting in the file of an issuer";
}

static lk_err
check (const lk_issuer *self, const char *path, lk_problem *problem)
{
    lk_issuer pair;
    if (self->public_key[0] == '\0' || self->secret_key[0] == '\0') {
        return lk_problem_set (problem, LK_INVALID, "'%s' has no '%s'", path,
                               self->public_key[0] == '\0'
                                   ? "issuer/public-key"
                                   : "issuer/secret-key");
    }
    const bool fits = lk_issuer_from_secret (&pair, self->secret_key)
                      && strcmp (pair.public_key, self->public_key) == 0;
    lk_issuer_clear (&pair);
    return fits ? LK_OK
                : lk_problem_set (problem, LK_INVALID,
                                  "the keys of '%s' are not of one pair", path);
}

static lk_err
parse (lk_issuer *self, const char *path, const char *text, lk_problem *problem)
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

lk_err
lk_issuer_file_read (lk_issuer *self, const char *path, lk_problem *problem)
{
    char *text;
    *self = (lk_issuer) {.public_key = ""};
    lk_err error = lk_secret_file_read (path, FILE_SIZE_MAX, &text, problem);
    if (error == LK_OK) {
        error = parse (self, path, text, problem);
        lk_secret_file_free (&text);
    }
    if (error != LK_OK) {
        lk_issuer_clear (self);
    }
    return error;
}

/*  -------------------------------------------------------- a new one */

lk_err
lk_issuer_file_make (lk_issuer *self, const char *path, lk_problem *problem)
{
    char text[sizeof model + 2 * LK_ISSUER_TEXT_SIZE];
    lk_issuer_make (self);
    snprintf (text, sizeof text, model, self->public_key, self->secret_key);
    const lk_err error = lk_secret_file_make (path, text, problem);
    explicit_bzero (text, sizeof text);
    if (error != LK_OK) {
        lk_issuer_clear (self);
    }
    return error;
}
