/*  zone.c - `lockkeeper zone`: spaces of names with people of their own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/setup/settings_change.h"
#include "cli/setup/zones.h"
#include "cli/tickets.h"
#include "people/issuer_file.h"
#include "settings/edit.h"
#include "util/alloc.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- the settings */

lk_zone_list *
lk_zone_list_new (lk_requester *asker, int *code)
{
    lk_message *base = lk_settings_ask (asker, 0, code);
    if (base == NULL) {
        return NULL;
    }
    lk_zone_list *self = lk_alloc (sizeof *self);
    self->base = base;
    self->count =
        lk_common_settings_zones (lk_text_of (base, "text"), self->zone);
    self->issuer_count =
        lk_common_settings_issuers (lk_text_of (base, "text"), self->issuer);
    return self;
}

void
lk_zone_list_destroy (lk_zone_list **self_p)
{
    if (*self_p != NULL) {
        lk_message_destroy (&(*self_p)->base);
        lk_free (*self_p);
        *self_p = NULL;
    }
}

/*  Their lines, NULL behind the last. */
typedef struct {
    char zone[LK_ZONES_MAX + 1][LK_ZONE_LINE_SIZE];
    char issuer[2 * LK_ISSUERS_MAX][LK_ISSUER_LINE_SIZE];
    const char *zones[LK_ZONES_MAX + 2];
    const char *issuers[2 * LK_ISSUERS_MAX + 1];
} lines;

static char *
write_text (const lk_zone_list *self)
{
    lines *all = lk_alloc (sizeof *all);
    for (size_t i = 0; i < self->count; i++) {
        lk_zone_write (&self->zone[i], all->zone[i]);
        all->zones[i] = all->zone[i];
    }
    for (size_t i = 0; i < self->issuer_count; i++) {
        lk_zone_issuer_write (&self->issuer[i], all->issuer[i]);
        all->issuers[i] = all->issuer[i];
    }
    char *half = lk_edit_text (lk_text_of (self->base, "text"), LK_SETTING_ZONE,
                               all->zones);
    char *text = lk_edit_text (half, LK_SETTING_ISSUER, all->issuers);
    lk_free (half);
    lk_free (all);
    return text;
}

static int
change (const lk_zone_list *self, lk_requester *asker,
        const lk_options *options)
{
    char *text = write_text (self);
    const lk_settings_edit edit = {
        .base = self->base, .text = text, .wait_ms = options->wait_ms};
    const int code = lk_settings_change (asker, &edit);
    lk_free (text);
    return code;
}

/*  -------------------------------------------------------- what is asked */

static const char *
name_of (const lk_options *options)
{
    return options->argument[1];
}

/*  NULL: said that there is none. */
static lk_zone *
find (lk_zone_list *self, const char *name)
{
    const lk_zone *it = lk_zone_find (self->zone, self->count, name);
    if (it == NULL) {
        lk_cli_fail (0, "there is no zone '%s' in the settings", name);
    }
    return (lk_zone *) it;
}

static void
take (int64_t *place, int64_t number)
{
    if (number != LK_UNSET) {
        *place = number;
    }
}

static void
take_options (lk_zone *self, const lk_options *options)
{
    take (&self->locks, options->locks);
    take (&self->sessions, options->sessions);
    take (&self->requests, options->requests);
    take (&self->bytes, options->bytes);
    take (&self->ttl_s, options->ttl_s);
    take (&self->renew_s, options->renew_s);
    if (options->authority != NULL) {
        snprintf (self->authority, sizeof self->authority, "%s",
                  options->authority);
    }
}

/*  A public key, or that of a pair's file; false: said why not. */
static bool
read_issuer (const char *value, lk_zone_issuer *it)
{
    lk_issuer issuer;
    lk_problem problem;
    if (lk_issuer_is_key (value)) {
        snprintf (it->key, sizeof it->key, "%s", value);
        return true;
    }
    if (lk_issuer_file_read (&issuer, value, &problem) != LK_OK) {
        lk_cli_fail (0, "that is no key of an issuer, nor its file: %s",
                     problem.text);
        return false;
    }
    memcpy (it->key, issuer.public_key, sizeof it->key);
    lk_issuer_clear (&issuer);
    return true;
}

static void
drop_issuers (lk_zone_list *self, const char *zone, const char *key)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->issuer_count; i++) {
        const lk_zone_issuer *it = &self->issuer[i];
        if (strcmp (it->zone, zone) != 0
            || (key != NULL && strcmp (it->key, key) != 0)) {
            self->issuer[kept++] = *it;
        }
    }
    self->issuer_count = kept;
}

/*  Those that come, and then those that go; LK_EXIT_OK, or said why not. */
static int
take_issuers (lk_zone_list *self, const char *zone, const lk_options *options)
{
    lk_zone_issuer it = {.zone = ""};
    snprintf (it.zone, sizeof it.zone, "%s", zone);
    for (size_t i = 0; options->issuer[i] != NULL; i++) {
        if (!read_issuer (options->issuer[i], &it)) {
            return LK_EXIT_FAILED;
        }
        if (!lk_zone_issuer_has (self->issuer, self->issuer_count, zone,
                                 it.key)) {
            self->issuer[self->issuer_count++] = it;
        }
    }
    for (size_t i = 0; options->drop_issuer[i] != NULL; i++) {
        if (!read_issuer (options->drop_issuer[i], &it)) {
            return LK_EXIT_FAILED;
        }
        if (!lk_zone_issuer_has (self->issuer, self->issuer_count, zone,
                                 it.key)) {
            return lk_cli_fail (LK_EXIT_NO, "zone '%s' has no issuer '%s'",
                                zone, it.key);
        }
        drop_issuers (self, zone, it.key);
    }
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- forms */

static int
add (lk_zone_list *self, lk_requester *asker, const lk_options *options)
{
    const char *name = name_of (options);
    if (lk_zone_find (self->zone, self->count, name) != NULL) {
        return lk_cli_fail (LK_EXIT_NO,
                            "there is a zone '%s' already: `lockkeeper zone "
                            "set` changes it",
                            name);
    }
    lk_zone *it = &self->zone[self->count++];
    (void) lk_zone_read (it, name);
    take_options (it, options);
    const int code = take_issuers (self, it->name, options);
    return code == LK_EXIT_OK ? change (self, asker, options) : code;
}

static int
set (lk_zone_list *self, lk_requester *asker, const lk_options *options)
{
    lk_zone *it = find (self, name_of (options));
    if (it == NULL) {
        return LK_EXIT_NO;
    }
    take_options (it, options);
    const int code = take_issuers (self, it->name, options);
    return code == LK_EXIT_OK ? change (self, asker, options) : code;
}

static int
list (lk_zone_list *self, lk_requester *asker, const lk_options *options)
{
    lk_zone_list_print (self, asker, options->json);
    return LK_EXIT_OK;
}

typedef struct {
    const char *zone;
    int64_t count;
} tally;

static void
count_row (void *user, lk_message **row_p)
{
    tally *self = user;
    const char *zone = lk_message_text (*row_p, "zone");
    self->count += zone != NULL && strcmp (zone, self->zone) == 0;
}

/*  Locks of the zone "default" stay as they are. LK_EXIT_OK, or said why
 *  not. */
static int
check_unused (lk_requester *asker, const lk_zone *zone)
{
    const lk_ticket_wish wish = {.object = NULL};
    tally self = {.zone = zone->name};
    if (lk_zone_plain (zone->name)[0] == '\0') {
        return LK_EXIT_OK;
    }
    const int code = lk_tickets_each (asker, &wish, count_row, &self);
    return code != LK_EXIT_OK || self.count == 0
               ? code
               : lk_cli_fail (LK_EXIT_NO,
                              "zone '%s' has %lld locks that are held or "
                              "waited for: --force "
                              "takes it out all the same",
                              zone->name, (long long) self.count);
}

static int
take_out (lk_zone_list *self, lk_requester *asker, const lk_options *options)
{
    lk_zone *it = find (self, name_of (options));
    if (it == NULL) {
        return LK_EXIT_NO;
    }
    const int code = options->force ? LK_EXIT_OK : check_unused (asker, it);
    if (code != LK_EXIT_OK) {
        return code;
    }
    drop_issuers (self, it->name, NULL);
    memmove (it, it + 1,
             (size_t) (&self->zone[self->count] - (it + 1)) * sizeof *it);
    self->count--;
    return change (self, asker, options);
}

/*  -------------------------------------------------------- the verb */

static const struct {
    const char *word;
    int count;
    int (*run) (lk_zone_list *self, lk_requester *asker,
                const lk_options *options);
} forms[] = {{"list", 1, list},
             {"add", 2, add},
             {"set", 2, set},
             {"remove", 2, take_out}};

static bool
has_limits (const lk_options *options)
{
    return options->locks != LK_UNSET || options->sessions != LK_UNSET
           || options->requests != LK_UNSET || options->bytes != LK_UNSET
           || options->ttl_s != LK_UNSET || options->renew_s != LK_UNSET
           || options->authority != NULL || options->issuer[0] != NULL;
}

static bool
is_form (const lk_options *options, const char *word)
{
    return strcmp (options->argument[0], word) == 0;
}

static bool
is_authority (const char *name)
{
    return name[0] == '\0' || lk_address_is_name (lk_slice_of (name));
}

/*  The fault, or NULL. */
static const char *
fault_of (const lk_options *options)
{
    const bool sets = is_form (options, "set");
    const bool writes = sets || is_form (options, "add");
    const bool lists = is_form (options, "list");
    const bool removes = is_form (options, "remove");
    const bool drops = options->drop_issuer[0] != NULL;
    return !lists && !lk_address_is_name (lk_slice_of (name_of (options)))
               ? "a zone's name has 1 to 63 of A-Z a-z 0-9 . _ -"
           : options->authority != NULL && !is_authority (options->authority)
               ? "an authority's name has 1 to 63 of A-Z a-z 0-9 . _ -"
           : options->json && !lists    ? "--json is for 'list'"
           : options->force && !removes ? "--force is for 'remove'"
           : drops && !sets             ? "--drop-issuer is for 'set'"
           : has_limits (options) && !writes
               ? "limits, issuers and the authority are for 'add' and 'set'"
           : sets && !has_limits (options) && !drops
               ? "'zone set' needs an option that says what is to be another"
               : NULL;
}

static int
run_form (size_t form, const lk_options *options)
{
    int code = LK_EXIT_FAILED;
    lk_requester *asker = lk_cli_asker (options->endpoint);
    lk_zone_list *self =
        asker != NULL && lk_cli_needs_admin (asker, &lk_verb_zone)
            ? lk_zone_list_new (asker, &code)
            : NULL;
    if (self != NULL) {
        code = forms[form].run (self, asker, options);
    }
    lk_zone_list_destroy (&self);
    lk_requester_destroy (&asker);
    return code;
}

static int
run_zone (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_zone, argc, argv, &code)) {
        return code;
    }
    const char *what = options.count > 0 ? options.argument[0] : "";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp (what, forms[i].word) != 0
            || options.count != forms[i].count) {
            continue;
        }
        const char *fault = fault_of (&options);
        return fault != NULL ? lk_cli_misused (&lk_verb_zone, "%s", fault)
                             : run_form (i, &options);
    }
    return lk_cli_misused (
        &lk_verb_zone, "'zone' needs list, add NAME, set NAME or remove NAME");
}

static const lk_verb_option takes[] = {
    LK_TAKES (ISSUER),
    LK_TAKES (DROP_ISSUER),
    LK_TAKES (LOCKS),
    LK_TAKES (SESSIONS),
    LK_TAKES (REQUESTS),
    LK_TAKES (BYTES),
    LK_TAKES_AS (TTL, "log-ins are good for so long (default: 12h)"),
    LK_TAKES (RENEWAL),
    LK_TAKES (AUTHORITY),
    LK_TAKES_AS (FORCE, "of remove: though locks are held there"),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 60)"),
    LK_TAKES_AS (JSON, "of list: print a JSON object per zone"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("list", FLAG), LK_FOLLOWS ("add", TEXT),
    LK_FOLLOWS ("set", ZONE), LK_FOLLOWS ("remove", ZONE), LK_FOLLOWS_END};

const lk_verb lk_verb_zone = {
    .name = "zone",
    .usage = "list [options]\n"
             "       lockkeeper zone add NAME [options]\n"
             "       lockkeeper zone set NAME [options]\n"
             "       lockkeeper zone remove NAME [options]",
    .summary = "Zones: spaces of names with people and limits of their own",
    .intro =
        "  list           those that the settings have, their limits and what "
        "is used of them\n"
        "  add            one more; --issuer may be there several times\n"
        "  set            other limits; what no option names stays as it is\n"
        "  remove         nobody may come any more; not while locks are held "
        "there\n",
    .options = takes,
    .help = "Changes the settings of the cluster, as `lockkeeper settings set` "
            "does.\n"
            "\n"
            "Exit code: 0 it is so; 1 it cannot be; 124 not confirmed in time; "
            "125 failed.\n",
    .arguments = follows,
    .run = run_zone,
};
