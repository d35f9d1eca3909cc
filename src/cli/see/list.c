/*  list.c - `lockkeeper list`: who holds and who waits
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/see/owners.h"
#include "cli/see/silence.h"
#include "cli/tickets.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/message_frame.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNERS_MS 1500

enum {
    STATE,
    ZONE,
    HOST,
    USER,
    PID,
    COMMAND,
    SINCE,
    LEFT,
    TYPE,
    LIMIT,
    NTH,
    TOKEN,
    NAME,
    COLUMNS
};

static const lk_column columns[COLUMNS] = {
    [STATE] = {.head = "STATE", .width = 8, .whole = true},
    [ZONE] = {.head = "ZONE", .width = 8, .optional = true},
    [HOST] = {.head = "HOST", .width = 12, .optional = true},
    [USER] = {.head = "USER", .width = 12, .optional = true},
    [PID] = {.head = "PID", .width = 8, .right = true, .optional = true},
    [COMMAND] = {.head = "COMMAND", .width = 12, .from = 60},
    [SINCE] = {.head = "SINCE", .width = 8, .from = 60, .right = true},
    [LEFT] = {.head = "LEFT", .width = 8, .from = 130, .right = true},
    [TYPE] = {.head = "TYPE", .width = 16, .from = 130, .whole = true},
    [LIMIT] = {.head = "LIMIT", .width = 5, .from = 130, .right = true},
    [NTH] = {.head = "NTH", .width = 5, .from = 130, .right = true},
    [TOKEN] = {.head = "TOKEN", .width = 18, .from = 130, .right = true},
    [NAME] = {.head = "NAME"}};

typedef struct {
    const lk_options *options;
    bool is_zoned; /* in a zone of its own, whose users have names of it */
    int64_t uid;   /* of --user, if not; -1: any */
    lk_columns *table;
    size_t seen, count; /* in all; printed */
    lk_silences silences;
    lk_message **kept; /* to be looked at when all are there; owned */
    size_t kept_count, kept_room;
} lister;

/*  -------------------------------------------------------- printing */

/*  The type, and what else is special. */
static void
set_type (lk_columns *table, const lk_message *row)
{
    char text[64];
    const char *policy = lk_message_text (row, "policy");
    snprintf (text, sizeof text, "%s%s%s%s%s%s", lk_text_of (row, "type"),
              policy != NULL ? "," : "", policy != NULL ? policy : "",
              lk_message_flag (row, "upgrade") ? ",upgrade" : "",
              lk_message_flag (row, "lenient") ? ",lenient" : "",
              lk_message_flag (row, "static") ? ",static" : "");
    lk_columns_set (table, TYPE, text);
}

/*  The caller's limit and the stored one. */
static void
set_limit (lk_columns *table, const lk_message *row)
{
    char text[48] = "-";
    const int64_t limit = lk_message_number (row, "limit", 0);
    const int64_t bound = lk_message_number (row, "bound", 0);
    if (limit > 0 && bound > 0) {
        snprintf (text, sizeof text, "%" PRId64 "/%" PRId64, limit, bound);
    } else if (limit > 0) {
        snprintf (text, sizeof text, "%" PRId64, limit);
    } else if (bound > 0) {
        snprintf (text, sizeof text, "/%" PRId64, bound);
    }
    lk_columns_set (table, LIMIT, text);
}

static void
set_number (lk_columns *table, size_t column, int64_t number)
{
    if (number != 0) {
        lk_columns_set_number (table, column, number);
    } else {
        lk_columns_set (table, column, "-");
    }
}

static void
set_name (lk_columns *table, const lk_message *row)
{
    size_t size;
    char *name = lk_row_full_name (row, &size);
    lk_columns_set_bytes (table, NAME, name, size);
    lk_free (name);
}

/*  To a session of a zone of its own nobody tells of hosts: who it is, of those
 *  of the zone. */
static void
set_apart (lk_columns *table, const lk_message *row)
{
    const char *user = lk_message_text (row, "user");
    lk_columns_set (table, USER, user != NULL ? user : "-");
    lk_columns_set (
        table, COMMAND,
        lk_message_flag (row, "own") ? "(own)" : lk_owner_get_title (row).text);
}

static void
add_row (lister *self, const lk_message *row)
{
    lk_columns *table = self->table;
    lk_columns_add (table);
    lk_columns_set (table, STATE, lk_row_state (row));
    if (lk_message_has (row, "zone")) {
        lk_columns_set (table, ZONE, lk_text_of (row, "zone"));
    }
    if (lk_message_has (row, "host")) {
        lk_columns_set (table, HOST, lk_text_of (row, "host"));
        lk_columns_set (table, COMMAND, lk_owner_get_title (row).text);
        lk_columns_set_number (table, PID, lk_message_number (row, "pid", 0));
    } else {
        set_apart (table, row);
    }
    lk_columns_set (table, SINCE,
                    lk_span (lk_message_number (row, "since_ms", 0)).text);
    lk_columns_set (table, LEFT, lk_span (lk_row_left (row)).text);
    set_type (table, row);
    set_limit (table, row);
    set_number (table, NTH, lk_message_number (row, "ordinal", 0));
    set_number (table, TOKEN, (int64_t) lk_row_token (row));
    set_name (table, row);
    self->count++;
    lk_silences_note (&self->silences, row);
}

static void
print (lister *self, lk_message *row)
{
    if (self->options->json) {
        lk_owner_complete (row);
        puts (lk_message_body (row));
    } else {
        add_row (self, row);
    }
}

/*  -------------------------------------------------------- filters */

static bool
is_text (const lk_message *row, const char *field, const char *wanted)
{
    const char *text = lk_message_text (row, field);
    return wanted == NULL || (text != NULL && strcmp (text, wanted) == 0);
}

static bool
is_state (const lk_options *options, const lk_message *row)
{
    const bool held = is_text (row, "state", "held");
    return options->held == options->waiting || held == options->held;
}

static bool
is_command (const lk_options *options, const lk_message *row)
{
    return options->command == NULL
           || fnmatch (options->command, lk_owner_get_title (row).text, 0) == 0;
}

static bool
is_user (const lister *self, const lk_message *row)
{
    return self->uid < 0 || lk_message_number (row, "uid", -1) == self->uid;
}

static bool
is_wanted (const lister *self, const lk_message *row)
{
    const lk_options *options = self->options;
    char room[LK_OBJECT_LEN_MAX];
    const lk_name name = lk_row_name (row, room);
    return (options->object == NULL
            || (name.size == strlen (options->object)
                && memcmp (name.data, options->object, name.size) == 0))
           && lk_name_is_like (name, options->argument, options->count)
           && is_text (row, "host", options->host)
           && is_text (row, "type", options->kind)
           && is_text (row, "context", options->context)
           && (!self->is_zoned || is_text (row, "user", options->user))
           && is_command (options, row)
           && (options->pid == 0
               || lk_message_number (row, "pid", 0) == options->pid)
           && lk_message_number (row, "since_ms", 0) >= options->longer_ms
           && is_state (options, row);
}

/*  -------------------------------------------------------- order */

typedef int order (const lk_message *one, const lk_message *other);

static int
compare (int64_t one, int64_t other)
{
    return one == other ? 0 : one < other ? -1 : 1;
}

static int
by_text (const lk_message *one, const lk_message *other, const char *field)
{
    return strcmp (lk_text_of (one, field), lk_text_of (other, field));
}

static int
by_name (const lk_message *one, const lk_message *other)
{
    char rooms[2][LK_OBJECT_LEN_MAX];
    const lk_name a = lk_row_name (one, rooms[0]);
    const lk_name b = lk_row_name (other, rooms[1]);
    const size_t size = a.size < b.size ? a.size : b.size;
    const int sign = size > 0 ? memcmp (a.data, b.data, size) : 0;
    return sign != 0 ? sign : compare (a.size, b.size);
}

static int
by_host (const lk_message *one, const lk_message *other)
{
    return by_text (one, other, "host");
}

static int
by_pid (const lk_message *one, const lk_message *other)
{
    return compare (lk_message_number (one, "pid", 0),
                    lk_message_number (other, "pid", 0));
}

/*  The longest first; who has no end comes last. */
static int
by_since (const lk_message *one, const lk_message *other)
{
    return compare (lk_message_number (other, "since_ms", 0),
                    lk_message_number (one, "since_ms", 0));
}

static int
by_left (const lk_message *one, const lk_message *other)
{
    return compare (lk_message_number (one, "left_ms", INT64_MAX),
                    lk_message_number (other, "left_ms", INT64_MAX));
}

static const struct {
    const char *word;
    order *compare;
} orders[] = {{"name", by_name},
              {"host", by_host},
              {"pid", by_pid},
              {"since", by_since},
              {"left", by_left}};

#define ORDER_WORDS "name host pid since left"

static order *
find_order (const char *word)
{
    size_t i = 0;
    while (strcmp (orders[i].word, word) != 0) {
        i++;
        LK_ASSERT (i < sizeof orders / sizeof orders[0]);
    }
    return orders[i].compare;
}

static order *present;

static int
compare_kept (const void *one, const void *other)
{
    return present (*(lk_message *const *) one, *(lk_message *const *) other);
}

static void
keep (lister *self, lk_message **row_p)
{
    if (self->kept_count == self->kept_room) {
        self->kept_room = self->kept_room > 0 ? self->kept_room * 2 : 64;
        self->kept =
            lk_realloc (self->kept, self->kept_room * sizeof (lk_message *));
    }
    self->kept[self->kept_count++] = *row_p;
    *row_p = NULL;
}

/*  Whose they are is asked for those alone that the other filters let pass; on
 *  their own host it is known. */
static void
print_kept (lister *self, lk_requester *asker)
{
    if (self->uid >= 0 && !self->options->own) {
        lk_owners_add (asker, self->kept, self->kept_count, OWNERS_MS);
    }
    if (self->options->sort != NULL && self->kept_count > 0) {
        present = find_order (self->options->sort);
        qsort (self->kept, self->kept_count, sizeof (lk_message *),
               compare_kept);
    }
    for (size_t i = 0; i < self->kept_count; i++) {
        if (is_user (self, self->kept[i])) {
            print (self, self->kept[i]);
        }
        lk_message_destroy (&self->kept[i]);
    }
    lk_free (self->kept);
}

static void
take (void *user, lk_message **row_p)
{
    lister *self = user;
    self->seen++;
    if (!is_wanted (self, *row_p)) {
        return;
    }
    if (self->options->sort != NULL || self->uid >= 0) {
        keep (self, row_p);
    } else {
        print (self, *row_p);
    }
}

/*  -------------------------------------------------------- the verb */

/*  To be seen by people and programs: there are more. */
static void
say_more (void)
{
    lk_cli_fail (0, "there are more: this is what one answer has room for; "
                    "--object NAME asks for one name");
}

static int
ask (lister *self, lk_requester *asker)
{
    const lk_options *options = self->options;
    /*  A name alone is listed in whatever context it is. */
    const lk_ticket_wish wish = {options->context != NULL ? options->object
                                                          : NULL,
                                 options->context, NULL, options->zone};
    bool more = false;
    const int code = options->own
                         ? lk_tickets_own (asker, &wish, take, self, &more)
                         : lk_tickets_each (asker, &wish, take, self);
    if (more) {
        say_more ();
    }
    return code;
}

static int
list (lister *self)
{
    const lk_options *options = self->options;
    lk_requester *asker = lk_cli_asker (options->endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    self->is_zoned = lk_requester_is_zoned (asker);
    if (options->user != NULL && !self->is_zoned
        && (self->uid = lk_owner_find_user (options->user)) < 0) {
        lk_requester_destroy (&asker);
        return LK_EXIT_FAILED;
    }
    const int code = ask (self, asker);
    print_kept (self, asker);
    lk_columns_print (self->table);
    lk_silences_print (&self->silences);
    if (code == LK_EXIT_OK && self->count == 0 && !options->json) {
        puts (self->seen > 0 ? "nobody holds or waits for such a lock"
              : options->own ? "nobody on this host holds or waits for a lock"
                             : "nobody holds or waits for a lock");
    }
    lk_requester_destroy (&asker);
    return code;
}

static int
run_list (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_list, argc, argv, &code)) {
        return code;
    }
    if (options.object != NULL
        && lk_cli_check_name (options.object) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    lister self = {.options = &options, .uid = -1};
    self.table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    code = list (&self);
    lk_columns_destroy (&self.table);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES (HELD),
    LK_TAKES (WAITING),
    LK_TAKES_AS (HOST, "only requests of that host"),
    LK_TAKES_AS (PID, "... of the process of that number"),
    LK_TAKES (COMMAND),
    LK_TAKES (USER),
    LK_TAKES_WORD (KIND, NULL, "exclusive shared semaphore"),
    LK_TAKES (LONGER_THAN),
    LK_TAKES_AS (CONTEXT, "only names of that context"),
    LK_TAKES_AS (ZONE, "only names of that zone"),
    LK_TAKES (OBJECT),
    LK_TAKES (OWN),
    LK_TAKES_WORD (SORT, "by name, host, pid, since (longest first) or left",
                   ORDER_WORDS),
    LK_TAKES_AS (JSON, "print a JSON object per line"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

const lk_verb lk_verb_list = {
    .name = "list",
    .usage = "[PATTERN...] [options]",
    .summary = "Lists who holds and who waits for locks, in the whole cluster",
    .intro = "PATTERN is one of glob(7), like 'backup/*': names as they are, "
             "or as they are\n"
             "shown; with several any may fit. What is asked for by options "
             "has to fit as well.\n",
    .options = takes,
    .help = "Exit code: 0 listed; 1 there are no leaders now; 124 no answer; "
            "125 failed.\n",
    .arguments = lk_follows_lock,
    .is_far = true,
    .run = run_list,
};
