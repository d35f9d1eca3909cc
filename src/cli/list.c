/*  list.c - `lockkeeper list`: who holds and who waits
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/tickets.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_HEAD                                                              \
    "STATE    HOST              PID      SINCE       LEFT TYPE             "   \
    "LIMIT   NTH              TOKEN NAME"
#define SHORT_HEAD "STATE    HOST              PID      SINCE       LEFT NAME"
#define WIDTH_OF_ALL 118 /* of a terminal that has room for all columns */

typedef struct {
    const lk_options *options;
    bool narrow;
    size_t seen, count; /* in all; printed */
    lk_message **kept;  /* to be sorted; owned */
    size_t kept_count, kept_room;
} lister;

/*  -------------------------------------------------------- printing */

static const char *
text_of (const lk_message *row, const char *field)
{
    const char *text = lk_message_text (row, field);
    return text != NULL ? text : "?";
}

/*  The type, and what else is special. */
static void
print_type (const lk_message *row)
{
    char text[64];
    const char *policy = lk_message_text (row, "policy");
    snprintf (text, sizeof text, "%s%s%s%s%s%s", text_of (row, "type"),
              policy != NULL ? "," : "", policy != NULL ? policy : "",
              lk_message_flag (row, "upgrade") ? ",upgrade" : "",
              lk_message_flag (row, "lenient") ? ",lenient" : "",
              lk_message_flag (row, "static") ? ",static" : "");
    printf (" %-16s", text);
}

/*  The caller's limit and the stored one. */
static void
print_limit (const lk_message *row)
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
    printf (" %5s", text);
}

static void
print_number (int64_t number, int width)
{
    if (number != 0) {
        printf (" %*" PRId64, width, number);
    } else {
        printf (" %*s", width, "-");
    }
}

static void
print_row (lister *self, const lk_message *row)
{
    if (self->count++ == 0) {
        printf ("%s%s%s\n", lk_color_begin (LK_HEAD),
                self->narrow ? SHORT_HEAD : LIST_HEAD, lk_color_end ());
    }
    printf ("%-8s %-12s %8" PRId64, text_of (row, "state"),
            text_of (row, "host"), lk_message_number (row, "pid", 0));
    printf (" %10s", lk_span (lk_message_number (row, "since_ms", 0)).text);
    printf (" %10s", lk_span (lk_message_number (row, "left_ms", -1)).text);
    if (!self->narrow) {
        print_type (row);
        print_limit (row);
        print_number (lk_message_number (row, "ordinal", 0), 5);
        print_number ((int64_t) lk_row_token (row), 18);
    }
    putchar (' ');
    lk_row_print_name (row);
    putchar ('\n');
}

static void
print (lister *self, lk_message *row)
{
    if (self->options->json) {
        lk_message_set_number (row, "token", (int64_t) lk_row_token (row));
        puts (lk_message_body (row));
    } else {
        print_row (self, row);
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
    return strcmp (text_of (one, field), text_of (other, field));
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

/*  NULL: there is none of that name. */
static order *
find_order (const char *word)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (strcmp (orders[i].word, word) == 0) {
            return orders[i].compare;
        }
    }
    return NULL;
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

static void
print_kept (lister *self)
{
    if (self->kept_count > 0) {
        present = find_order (self->options->sort);
        qsort (self->kept, self->kept_count, sizeof (lk_message *),
               compare_kept);
    }
    for (size_t i = 0; i < self->kept_count; i++) {
        print (self, self->kept[i]);
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
    if (self->options->sort != NULL) {
        keep (self, row_p);
    } else {
        print (self, *row_p);
    }
}

/*  -------------------------------------------------------- the verb */

/*  What is wrong with the options, NULL if nothing. */
static const char *
find_problem (const lk_options *options)
{
    if (options->sort != NULL && find_order (options->sort) == NULL) {
        return "--sort needs one of name, host, pid, since and left";
    }
    for (size_t i = 0; options->kind != NULL && i < LK_LOCK_TYPE_COUNT; i++) {
        if (strcmp (options->kind, lk_lock_type_words[i]) == 0) {
            return NULL;
        }
    }
    return options->kind != NULL
               ? "--kind needs one of exclusive, shared and semaphore"
               : NULL;
}

static int
list (const lk_options *options)
{
    /*  A name alone is listed in whatever context it is. */
    const lk_ticket_wish wish = {options->context != NULL ? options->object
                                                          : NULL,
                                 options->context, NULL};
    lister self = {.options = options,
                   .narrow = lk_terminal_width () < WIDTH_OF_ALL};
    lk_asker *asker = lk_cli_asker (options->endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    const int code = lk_tickets_each (asker, &wish, take, &self);
    print_kept (&self);
    if (code == LK_EXIT_OK && self.count == 0 && !options->json) {
        puts (self.seen > 0 ? "nobody holds or waits for such a lock"
                            : "nobody holds or waits for a lock");
    }
    lk_asker_destroy (&asker);
    return code;
}

static int
run_list (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_list,
                          LK_OPT_ENDPOINT | LK_OPT_JSON | LK_OPT_OBJECT
                              | LK_OPT_LIST | LK_OPT_SORT | LK_OPT_CONTEXT,
                          argc, argv, &code)) {
        return code;
    }
    const char *problem = find_problem (&options);
    if (problem != NULL) {
        return lk_cli_misused (&lk_verb_list, "%s", problem);
    }
    if (options.object != NULL
        && lk_cli_check_name (options.object) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    return list (&options);
}

const lk_verb lk_verb_list = {
    "list",
    "[PATTERN...] [--held | --waiting] [--host H] [--pid P] [--kind K] "
    "[--longer-than S] [--sort KEY] [--json]",
    "Lists who holds and who waits for locks, in the whole cluster",
    "PATTERN is one of glob(7), like 'backup/*': names as they are, or as they "
    "are\nshown; with several any may fit.\n\n"
    "  --held         only who holds one\n"
    "  --waiting      only who waits for one\n"
    "  --host H       only requests of that host\n"
    "  --pid P        ... of the process of that number\n"
    "  --kind K       exclusive, shared or semaphore\n"
    "  --longer-than S  asked for at least S seconds ago\n"
    "  --context C    only names of that context\n"
    "  --object NAME  only that name, whatever characters it has\n"
    "  --sort KEY     by name, host, pid, since (longest first) or left\n"
    "  --json         print a JSON object per line\n"
    "  --endpoint E   where the router is\n\n"
    "Exit code: 0 listed; 1 there are no leaders now; 124 no answer; 125 "
    "failed.\n",
    run_list,
};
