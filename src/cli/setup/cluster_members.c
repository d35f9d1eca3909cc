/*  cluster_members.c - who is a member, as the first leader knows it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/cluster_members.h"

#include "cli/columns.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000
#define OWN_SERVICE "lock@."

bool
lk_is_members (const lk_message *answer)
{
    return answer != NULL && lk_message_is (answer, "LOCKMEMBERS")
           && lk_message_has (answer, "members");
}

/*  -------------------------------------------------------- members */

enum { HOST, ID, ROLE, DOMAIN, SEEN, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [HOST] = {.head = "HOST", .width = 16, .whole = true},
    [ID] = {.head = "ID", .width = 8},
    [ROLE] = {.head = "ROLE", .width = 12},
    [DOMAIN] = {.head = "DOMAIN", .width = 26, .optional = true},
    [SEEN] = {.head = "SEEN", .width = 6}};

static void
add_row (lk_columns *table, const lk_message *row)
{
    char id[9];
    snprintf (id, sizeof id, "%s",
              lk_message_has (row, "id") ? lk_text_of (row, "id") : "-");
    lk_columns_add (table);
    lk_columns_set (table, HOST, lk_text_of (row, "host"));
    lk_columns_set (table, ID, id);
    lk_columns_set (table, ROLE, lk_text_of (row, "role"));
    if (lk_message_has (row, "domain")) {
        lk_columns_set (table, DOMAIN, lk_text_of (row, "domain"));
    }
    lk_columns_set (table, SEEN,
                    lk_message_flag (row, "seen") ? "seen" : "silent");
}

/*  How many members; *seen of them. */
static size_t
count_members (const lk_message *answer, size_t *seen)
{
    lk_message *row;
    size_t members = 0;
    *seen = 0;
    for (size_t i = 0; (row = lk_message_row (answer, "members", i)) != NULL;
         i++) {
        if (strcmp (lk_text_of (row, "role"), "proxy") != 0) {
            members++;
            *seen += lk_message_flag (row, "seen");
        }
        lk_message_destroy (&row);
    }
    return members;
}

static void
print_table (const lk_message *answer)
{
    size_t seen;
    const size_t count = count_members (answer, &seen);
    lk_columns *table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    lk_message *row;
    for (size_t i = 0; (row = lk_message_row (answer, "members", i)) != NULL;
         i++) {
        add_row (table, row);
        lk_message_destroy (&row);
    }
    lk_columns_print (table);
    lk_columns_destroy (&table);
    printf ("%zu member%s, %zu seen, %zu needed\n", count,
            count == 1 ? "" : "s", seen, count / 2 + 1);
}

static void
print_members (const lk_message *answer, bool json)
{
    lk_message *row;
    if (!json) {
        print_table (answer);
        return;
    }
    for (size_t i = 0; (row = lk_message_row (answer, "members", i)) != NULL;
         i++) {
        puts (lk_message_body (row));
        lk_message_destroy (&row);
    }
}

static lk_message *
ask (lk_requester *asker, const char *to, int64_t wait_ms)
{
    lk_message *question = lk_message_new (to, "LOCKMEMBERS");
    return lk_requester_ask (asker, &question, (int) wait_ms);
}

/*  The first leader is asked before our own service, since it hears all. */
static lk_message *
ask_first_leader (lk_requester *asker, lk_message *own)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    const char *leader = lk_message_item (own, "leaders", 0);
    if (leader == NULL || strcmp (leader, lk_text_of (own, "served_by")) == 0) {
        return own;
    }
    snprintf (to, sizeof to, "lock@%s", leader);
    lk_message *answer = ask (asker, to, ANSWER_MS);
    if (!lk_is_members (answer)) {
        lk_cli_fail (0,
                     "the first leader, '%s', does not answer: this is what "
                     "host '%s' knows",
                     leader, lk_text_of (own, "served_by"));
        lk_message_destroy (&answer);
        return own;
    }
    lk_message_destroy (&own);
    return answer;
}

int
lk_members_say_no_answer (const lk_message *answer)
{
    if (answer != NULL && lk_message_is (answer, "LOCKMEMBERS")) {
        return lk_cli_fail (LK_EXIT_NO,
                            "no member of a cluster was heard yet; "
                            "`lockkeeper status` shows which hosts are");
    }
    return lk_say_no_service (answer);
}

lk_message *
lk_members_ask (lk_requester *asker, int *code)
{
    size_t seen;
    lk_message *answer = ask (asker, OWN_SERVICE, ANSWER_MS);
    if (!lk_is_members (answer) || count_members (answer, &seen) == 0) {
        *code = lk_members_say_no_answer (answer);
        lk_message_destroy (&answer);
        return NULL;
    }
    return ask_first_leader (asker, answer);
}

int
lk_cluster_members (lk_requester *asker, const lk_options *options)
{
    int code = LK_EXIT_OK;
    lk_message *answer = lk_members_ask (asker, &code);
    if (answer != NULL) {
        print_members (answer, options->json);
    }
    lk_message_destroy (&answer);
    return code;
}
