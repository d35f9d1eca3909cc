/*  cluster_recover.c - `lockkeeper cluster recover`: the cluster begins anew
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For who has lost a majority of the members for good. What it costs is shown
 *  first: who will be left out, who holds what as far as this host knows, and
 *  what happens if somebody who is left out lives.
 */

#include "cli/setup/cluster_recover.h"

#include "cli/setup/held.h"
#include "cli/setup/settings_change.h"
#include "cli/tickets.h"
#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 3000
#define OWN_SERVICE "lock@."

/*  -------------------------------------------------------- asking */

/*  Without a name it is only asked what that would be. */
static lk_message *
ask (lk_requester *asker, const lk_options *options, const char *cluster)
{
    lk_message *question = lk_message_new (OWN_SERVICE, "LOCKRECOVER");
    for (int i = 1; i < options->count; i++) {
        lk_message_add_item (question, "hosts", options->argument[i]);
    }
    if (options->token_above != 0) {
        lk_message_set_number (question, "token_above",
                               (int64_t) options->token_above);
    }
    if (cluster != NULL) {
        lk_message_set_text (question, "cluster", cluster);
    }
    return lk_requester_ask (asker, &question, ANSWER_MS);
}

/*  The exit code if that is no plan; else LK_EXIT_OK. */
static int
check (const lk_message *answer)
{
    if (answer != NULL && lk_message_is (answer, "LOCKFAILED")) {
        return lk_cli_fail (LK_EXIT_NO, "nothing is begun: %s",
                            lk_text_of (answer, "text"));
    }
    return answer != NULL && lk_message_is (answer, "LOCKRECOVER")
               ? LK_EXIT_OK
               : lk_say_no_service (answer);
}

/*  -------------------------------------------------------- held */

static lk_name
context_of (const lk_message *row)
{
    const char *text = lk_message_text (row, "context");
    return text != NULL ? (lk_name) {text, (uint16_t) strlen (text)}
                        : (lk_name) {0};
}

static void
add_holder (lk_held *self, const lk_message *row)
{
    char room[LK_OBJECT_LEN_MAX];
    const lk_held_lock it = {.type = lk_text_of (row, "type"),
                             .is_static = lk_message_flag (row, "static"),
                             .limit = lk_row_limit (row, "limit"),
                             .bound = lk_row_limit (row, "bound"),
                             .host = lk_text_of (row, "host"),
                             .owner = lk_text_of (row, "owner"),
                             .context = context_of (row),
                             .name = lk_row_name (row, room)};
    lk_held_add (self, &it);
}

/*  Returns where the next page begins, -1: there is none. */
static int64_t
add_page (lk_held *self, const lk_message *page)
{
    lk_message *row;
    for (size_t i = 0; (row = lk_message_row (page, "tickets", i)) != NULL;
         i++) {
        if (strcmp (lk_text_of (row, "state"), "held") == 0) {
            add_holder (self, row);
        }
        lk_message_destroy (&row);
    }
    return lk_message_number (page, "cursor", -1);
}

static void
add_list (lk_held *self, lk_requester *asker, const char *to, const char *which)
{
    int64_t cursor = 0;
    while (cursor >= 0) {
        lk_message *question = lk_message_new (to, "LOCKLIST");
        lk_message_set_flag (question, which, true);
        lk_message_set_number (question, "cursor", cursor);
        lk_message *page = lk_requester_ask (asker, &question, ANSWER_MS);
        cursor = page != NULL && lk_message_is (page, "LOCKLIST")
                     ? add_page (self, page)
                     : -1;
        lk_message_destroy (&page);
    }
}

/*  From the table of a member that led; else the locks of this host's own
 *  programs. */
static void
print_held (lk_requester *asker, const lk_message *answer)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    const char *host;
    lk_held self;
    lk_held_init (&self);
    for (size_t i = 0;
         self.count == 0
         && (host = lk_message_item (answer, "members", i)) != NULL;
         i++) {
        snprintf (to, sizeof to, "lock@%s", host);
        add_list (&self, asker, to, "table");
    }
    if (self.count == 0) {
        add_list (&self, asker, OWN_SERVICE, "own");
    }
    printf ("\nheld, as far as is known here: %zu\n", self.count);
    lk_held_print (&self);
}

/*  -------------------------------------------------------- the plan */

static void
print_hosts (const char *title, const lk_message *answer, const char *field)
{
    const char *host;
    printf ("%s", title);
    for (size_t i = 0; (host = lk_message_item (answer, field, i)) != NULL;
         i++) {
        printf ("%s%s", i > 0 ? ", " : "", host);
    }
    puts (lk_message_item_count (answer, field) == 0 ? "nobody" : "");
}

static void
print_settings (const lk_message *answer)
{
    char time[LK_UTC_SIZE];
    const int64_t version = lk_message_number (answer, "settings", 0);
    if (version == 0) {
        return;
    }
    printf ("settings     version %" PRId64
            " of %s: what was withdrawn since is valid again\n",
            version, lk_settings_time (answer, time));
}

static void
print_plan (const lk_message *answer)
{
    const size_t members = lk_message_item_count (answer, "members");
    uint64_t token = 0;
    (void) lk_message_hex (answer, "token", &token);
    printf ("generation   %" PRId64 " of cluster '%s'\n",
            lk_message_number (answer, "generation", 0),
            lk_text_of (answer, "cluster"));
    print_hosts ("members      ", answer, "members");
    printf ("needed       %zu of these, before anything is granted\n",
            members / 2 + 1);
    print_hosts ("without      ", answer, "without");
    print_settings (answer);
    printf ("tokens       from %" PRIu64 " on\n", token);
}

static void
print_risk (const lk_message *answer)
{
    printf ("\nAll locks are lost, static ones too, and nothing is granted for "
            "%" PRId64 " s.\n"
            "If hosts that are left out live, and are only not heard, they go "
            "on granting:\nthen one lock has two holders. Switch them off "
            "first. Those that come back later\nhear of it, stop, and join "
            "again.\n",
            (lk_message_number (answer, "wait_ms", 0) + 999) / 1000);
}

/*  -------------------------------------------------------- the word */

static int
begin (lk_requester *asker, const lk_options *options, const char *cluster)
{
    lk_message *answer = ask (asker, options, cluster);
    const int code = check (answer);
    if (code == LK_EXIT_OK && options->json) {
        puts (lk_message_body (answer));
    } else if (code == LK_EXIT_OK) {
        printf (
            "begun: `lockkeeper wait-ready` waits until locks can be had\n");
    }
    lk_message_destroy (&answer);
    return code;
}

int
lk_cluster_recover (lk_requester *asker, const lk_options *options)
{
    char typed[LK_CLUSTER_TYPED_SIZE];
    const char *cluster = options->cluster;
    lk_message *answer = ask (asker, options, NULL);
    const int code = check (answer);
    if (code == LK_EXIT_OK && options->json && cluster == NULL) {
        puts (lk_message_body (answer));
    } else if (code == LK_EXIT_OK && !options->json) {
        print_plan (answer);
        print_held (asker, answer);
        print_risk (answer);
    }
    lk_message_destroy (&answer);
    if (code != LK_EXIT_OK) {
        return code;
    }
    if (cluster == NULL && !options->json && lk_cluster_typed (typed)) {
        cluster = typed;
    }
    if (cluster == NULL) {
        return options->json ? LK_EXIT_OK : lk_cluster_say_unnamed ();
    }
    return begin (asker, options, cluster);
}
