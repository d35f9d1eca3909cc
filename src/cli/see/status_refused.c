/*  status_refused.c - hosts that are turned away, as the routers tell
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A second host of a name is in nobody's list: only the routers that it comes
 *  to know of it.
 */

#include "cli/see/status.h"

#include "cli/terminal.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 16

/*  Who, and by whom. */
typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    char address[LK_ADDRESS_LEN_MAX + 1];
} turned_away;

typedef struct {
    turned_away item[SHOWN_MAX];
    int count;
} shown;

static const char *
text_of (const lk_message *row, const char *field)
{
    const char *text = lk_message_text (row, field);
    return text != NULL && text[0] != '\0' ? text : "?";
}

/*  Whether it is new, and there is room for it. */
static bool
note (shown *self, const char *host, const char *address)
{
    for (int i = 0; i < self->count; i++) {
        if (strcmp (self->item[i].host, host) == 0
            && strcmp (self->item[i].address, address) == 0) {
            return false;
        }
    }
    if (self->count == SHOWN_MAX) {
        return false;
    }
    turned_away *item = &self->item[self->count++];
    snprintf (item->host, sizeof item->host, "%s", host);
    snprintf (item->address, sizeof item->address, "%s", address);
    return true;
}

/*  What `by` says of one that it refuses, or that refuses it. */
static void
add_row (shown *self, lk_advices *advices, const char *by,
         const lk_message *router, const lk_message *row)
{
    const bool is_ours = strcmp (text_of (row, "what"), "refused by it") != 0;
    const char *host = is_ours ? text_of (row, "host") : by;
    const char *address =
        is_ours ? text_of (row, "address") : text_of (router, "address");
    if (!note (self, host, address)) {
        return;
    }
    const char *other = is_ours ? by : text_of (row, "host");
    const bool namesakes = strcmp (host, other) == 0;
    const char *at =
        is_ours ? text_of (router, "address") : text_of (row, "address");
    lk_advise (advices, "warning",
               "host %s at %s is refused by %shost %s%s%s, for %s: %s; "
               "lockkeeper-router(8), DIAGNOSTICS, says what to do",
               host, address, namesakes ? "another " : "", other,
               namesakes ? " at " : "", namesakes ? at : "",
               lk_span (lk_message_number (row, "since_ms", 0)).text,
               text_of (row, "reason"));
}

static void
add_rows (shown *self, lk_advices *advices, const char *by,
          const lk_message *router)
{
    lk_message *row;
    for (size_t i = 0; (row = lk_message_row (router, "refusals", i)) != NULL;
         i++) {
        add_row (self, advices, by, router, row);
        lk_message_destroy (&row);
    }
}

/*  Other machines that `by` shuts out for a while: the first, and how many. */
static void
add_offenders (lk_advices *advices, const char *by, const lk_message *router)
{
    lk_message *row = lk_message_row (router, "offenders", 0);
    if (row == NULL) {
        return;
    }
    const bool is_key = lk_message_text (row, "key") != NULL;
    lk_advise (advices, "note",
               "host %s shuts out %" PRId64 " keys or addresses of other "
               "machines, the %s %s for %s: %s",
               by, lk_message_number (router, "shut_out", 0),
               is_key ? "key" : "address",
               text_of (row, is_key ? "key" : "address"),
               lk_span (lk_message_number (row, "left_ms", 0)).text,
               text_of (row, "reason"));
    lk_message_destroy (&row);
}

void
lk_status_add_refused (const lk_survey *survey, lk_requester *asker,
                       int wait_ms, lk_advices *advices)
{
    lk_message *questions[LK_SURVEY_HOSTS], *answers[LK_SURVEY_HOSTS];
    shown self = {.count = 0};
    for (size_t i = 0; i < survey->count; i++) {
        char to[LK_ADDRESS_LEN_MAX + 1];
        snprintf (to, sizeof to, "router@%s", survey->host[i].name);
        questions[i] = survey->host[i].live && !survey->host[i].here
                           ? lk_message_new (to, "ROUTERSTATUS")
                           : NULL;
    }
    if (survey->router != NULL) {
        add_rows (&self, advices, survey->host[0].name, survey->router);
        add_offenders (advices, survey->host[0].name, survey->router);
    }
    lk_requester_ask_all (asker, questions, answers, survey->count, wait_ms);
    for (size_t i = 0; i < survey->count; i++) {
        if (answers[i] != NULL) {
            add_rows (&self, advices, survey->host[i].name, answers[i]);
            add_offenders (advices, survey->host[i].name, answers[i]);
        }
        lk_message_destroy (&answers[i]);
    }
}
