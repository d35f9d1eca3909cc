/*  owners.c - which programs hold and wait
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A ticket has the name that its program gave itself. The rest is looked up
 *  on its own host when somebody asks for it.
 */

#include "cli/see/owners.h"

#include "cli/tickets.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKETS_MAX 500 /* in one question */
#define HOSTS_MAX 64    /* asked at once */

/*  -------------------------------------------------------- rounds */

/*  What a host is asked in a round: tickets in their order. */
typedef struct {
    const char *host;
    lk_message **ticket; /* borrowed */
    size_t count;
} inquiry;

typedef struct {
    inquiry inquiry[HOSTS_MAX];
    size_t count;
} inquiries;

static const char *
host_of (const lk_message *ticket)
{
    const char *host = lk_message_text (ticket, "host");
    return host != NULL ? host : "";
}

/*  NULL: it has to wait for the next round. */
static inquiry *
need_inquiry (inquiries *self, const char *host)
{
    inquiry *it = NULL;
    for (size_t i = 0; i < self->count && it == NULL; i++) {
        it = strcmp (self->inquiry[i].host, host) == 0 ? &self->inquiry[i]
                                                       : NULL;
    }
    if (it == NULL && self->count < HOSTS_MAX) {
        it = &self->inquiry[self->count++];
        *it = (inquiry) {.host = host,
                         .ticket =
                             lk_alloc (TICKETS_MAX * sizeof (lk_message *))};
    }
    return it != NULL && it->count < TICKETS_MAX ? it : NULL;
}

static lk_message *
ask (const inquiry *it)
{
    static const char *const fields[] = {"session", "serial", "pid"};
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "lock@%s", it->host);
    lk_message *question = lk_message_new (to, "LOCKOWNERS");
    for (size_t i = 0; i < it->count; i++) {
        lk_message *row = lk_message_row_new ();
        for (size_t j = 0; j < 3; j++) {
            lk_message_set_number (
                row, fields[j],
                lk_message_number (it->ticket[i], fields[j], 0));
        }
        lk_message_add_row (question, "tickets", &row);
    }
    return question;
}

static bool
is_same (const lk_message *ticket, const lk_message *owner, const char *field)
{
    return lk_message_number (ticket, field, -1)
           == lk_message_number (owner, field, -2);
}

static void
merge (lk_message *ticket, const lk_message *owner)
{
    const char *arguments = lk_message_text (owner, "arguments");
    if (arguments != NULL) {
        lk_message_set_text (ticket, "arguments", arguments);
    }
    if (lk_message_has (owner, "uid")) {
        lk_message_set_number (ticket, "uid",
                               lk_message_number (owner, "uid", 0));
    }
    if (lk_message_has (owner, "jeopardy")) {
        lk_message_set_flag (ticket, "jeopardy",
                             lk_message_flag (owner, "jeopardy"));
    }
}

/*  Owners come in the order of the tickets. */
static void
take (const inquiry *it, const lk_message *answer)
{
    lk_message *owner;
    size_t at = 0;
    for (size_t i = 0;
         answer != NULL && at < it->count
         && (owner = lk_message_row (answer, "owners", i)) != NULL;
         i++) {
        lk_message *ticket = it->ticket[at++];
        if (is_same (ticket, owner, "session")
            && is_same (ticket, owner, "serial")) {
            merge (ticket, owner);
        }
        lk_message_destroy (&owner);
    }
}

static void
ask_all (inquiries *self, lk_requester *asker, int wait_ms)
{
    lk_message *questions[HOSTS_MAX], *answers[HOSTS_MAX];
    for (size_t i = 0; i < self->count; i++) {
        questions[i] = ask (&self->inquiry[i]);
    }
    lk_requester_ask_all (asker, questions, answers, self->count, wait_ms);
    for (size_t i = 0; i < self->count; i++) {
        take (&self->inquiry[i], answers[i]);
        lk_message_destroy (&answers[i]);
        lk_free (self->inquiry[i].ticket);
    }
    self->count = 0;
}

void
lk_owners_add (lk_requester *asker, lk_message *const *ticket, size_t count,
               int wait_ms)
{
    inquiries round = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        inquiry *it = need_inquiry (&round, host_of (ticket[i]));
        if (it == NULL) {
            ask_all (&round, asker, wait_ms);
            it = need_inquiry (&round, host_of (ticket[i]));
        }
        it->ticket[it->count++] = ticket[i];
    }
    ask_all (&round, asker, wait_ms);
}

/*  -------------------------------------------------------- names */

/*  Without "-4711", if that is behind it. */
static size_t
without_number (const char *text, size_t size)
{
    size_t end = size;
    while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9') {
        end--;
    }
    return end < size && end > 1 && text[end - 1] == '-' ? end - 1 : size;
}

/*  Of "backup.sh-4711-1@h2", as the library makes it, or "backup-4711@h2"; in a
 *  zone without its host. */
lk_owner_title
lk_owner_get_title (const lk_message *ticket)
{
    lk_owner_title title = {"?"};
    const char *owner = lk_message_text (ticket, "owner");
    size_t size = owner != NULL ? strcspn (owner, "@") : 0;
    if (size > 0) {
        size = without_number (owner, without_number (owner, size));
        snprintf (title.text, sizeof title.text, "%.*s", (int) size, owner);
    }
    return title;
}

lk_shown
lk_owner_get_user (const lk_message *ticket)
{
    lk_shown shown = {"?"};
    const int64_t uid = lk_message_number (ticket, "uid", -1);
    const struct passwd *user = uid < 0 ? NULL : getpwuid ((uid_t) uid);
    if (user != NULL) {
        return lk_shown_name (user->pw_name);
    }
    if (uid >= 0) {
        snprintf (shown.text, sizeof shown.text, "%" PRId64, uid);
    }
    return shown;
}

int64_t
lk_owner_find_user (const char *name)
{
    const struct passwd *user = getpwnam (name);
    char *end;
    if (user != NULL) {
        return (int64_t) user->pw_uid;
    }
    const unsigned long number = strtoul (name, &end, 10);
    if (*end == '\0' && strspn (name, "0123456789") == strlen (name)
        && name[0] != '\0' && number < UINT32_MAX) {
        return (int64_t) number;
    }
    return lk_cli_fail (-1,
                        "this host knows no user '%s'; if another one does, "
                        "--user takes the number",
                        lk_shown_name (name).text);
}

void
lk_owner_complete (lk_message *ticket)
{
    lk_message_set_number (ticket, "token", (int64_t) lk_row_token (ticket));
    lk_message_set_text (ticket, "command", lk_owner_get_title (ticket).text);
    if (lk_message_has (ticket, "uid")) {
        lk_message_set_text (ticket, "user", lk_owner_get_user (ticket).text);
    }
}
