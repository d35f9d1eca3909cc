/*  list.c - LOCKLIST and LOCKOWNERS: who holds and who waits, and who they are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What a ticket does not have is looked up on its own host when a person asks
 *  for it: so no leader keeps the names of all programs.
 */

#include "look.h"
#include "mask.h"
#include "out.h"
#include "relay.h"
#include "rows.h"

#include "net/process.h"
#include "wire/lock_mode.h"
#include "wire/message_frame.h"

#include <string.h>

#define LIST_COUNT_MAX 500         /* tickets in one answer */
#define LOOKED_AT_MAX 50000        /* tickets for one answer; not of a zone */
#define LIST_SIZE_MAX (512 * 1024) /* bytes, about */
#define ROW_SIZE 600               /* of a ticket but for its own names */
#define BYTE_SIZE 6                /* of a name's byte in JSON, at most */
#define OWNERS_MAX 500

/*  -------------------------------------------------------- rows */

/*  A lock of a set is asked for when those ahead of it are held. */
static const char *
state_of (const lk_ticket *ticket)
{
    const bool later = ticket->token == 0 && ticket->number == 0;
    return ticket->token != 0 ? "held" : later ? "later" : "waiting";
}

/*  What a plain exclusive lock does not have is left out. */
static void
add_mode (lk_message *row, const lk_ticket *ticket)
{
    lk_lock_mode_set (row, &ticket->mode);
    lk_message_set_any (row, "ordinal", ticket->ordinal);
    lk_message_set_any (row, "turn", ticket->turn);
    lk_message_set_true (row, "upgrade", ticket->upgrade);
    lk_message_set_any (row, "duration", ticket->duration_ms);
}

static lk_message *
new_row (const lk_lockd *self, const lk_ticket *ticket, const char *state)
{
    lk_message *row = lk_message_row_new ();
    if (!lk_lockd_set_key (row, ticket->object)) {
        lk_message_destroy (&row);
        return NULL;
    }
    lk_message_set_text (
        row, "host", lk_hostmap_name (&self->hostmap, ticket->request.host));
    lk_lockd_set_name (row, "owner", ticket->owner);
    lk_message_set_number (row, "pid", ticket->pid);
    lk_message_set_text (row, "state", state);
    lk_message_set_number (row, "since_ms", ticket->age_ms);
    lk_message_set_hex (row, "token", ticket->token);
    lk_message_set_number (row, "session", (int64_t) ticket->request.session);
    lk_message_set_number (row, "serial", (int64_t) ticket->request.serial);
    add_mode (row, ticket);
    return row;
}

/*  Of a host that is cut off or gone; what is static is of no session. */
static void
add_silence (const lk_lockd *self, lk_message *row, const lk_ticket *ticket)
{
    lk_node_silence silence;
    const uint64_t session = ticket->kept ? 0 : ticket->request.session;
    if (!lk_node_find_silence (self->node, ticket->request.host, session,
                               &silence)) {
        return;
    }
    lk_message_set_number (row, "silent_ms", silence.silent_ms);
    if (silence.free_ms >= 0 && !ticket->kept) {
        lk_message_set_number (row, "free_ms", silence.free_ms);
    }
}

static void
set_time (lk_message *row, const char *field, int64_t ms)
{
    if (ms >= 0) {
        lk_message_set_number (row, field, ms);
    }
}

static void
add_ticket (lk_lockd *self, lk_message *list, const lk_ticket *ticket)
{
    lk_message *row = new_row (self, ticket, state_of (ticket));
    if (!row) {
        return;
    }
    set_time (row, "left_ms",
              lk_node_ticket_left (self->node, ticket->request));
    set_time (row, "grace_ms",
              lk_node_ticket_grace (self->node, ticket->request));
    add_silence (self, row, ticket);
    lk_message_add_row (list, "tickets", &row);
}

/*  Of one object, if there is one. Those of the default zone, which knows that
 *  there are others, are looked for among all. */
static bool
next_ticket (lk_lockd *self, const lk_view *view, lk_name key, size_t *cursor,
             lk_ticket *ticket)
{
    return key.size > 0
               ? lk_node_next_ticket_of (self->node, key, cursor, ticket)
           : view->all_zones || view->zone[0] == '\0'
               ? lk_node_next_ticket (self->node, cursor, ticket)
               : lk_node_next_ticket_in (self->node, view->zone, cursor,
                                         ticket);
}

/*  Whatever its host is called: where an answer ends is to tell nothing of
 *  that. */
static size_t
row_size (const lk_ticket *ticket)
{
    const char *at = memchr (ticket->owner.data, '@', ticket->owner.size);
    const size_t owner =
        at ? (size_t) (at - ticket->owner.data) : ticket->owner.size;
    return ROW_SIZE + BYTE_SIZE * ((size_t) ticket->object.size + owner);
}

/*  From `cursor` on, until the answer is large enough, or the search long. */
static void
add_tickets (lk_lockd *self, lk_message *list, const lk_view *view, lk_name key,
             size_t cursor)
{
    lk_ticket ticket;
    size_t size = 0, count = 0, looked_at = 0;
    while (next_ticket (self, view, key, &cursor, &ticket)) {
        looked_at++;
        if (lk_lockd_shows (view, ticket.object)) {
            add_ticket (self, list, &ticket);
            size += row_size (&ticket);
            count++;
        }
        if (count == LIST_COUNT_MAX || size > LIST_SIZE_MAX
            || looked_at == LOOKED_AT_MAX) {
            lk_message_set_number (list, "cursor", (int64_t) cursor);
            return;
        }
    }
}

/*  -------------------------------------------------------- own */

/*  Whether its command line is for that one to see: for admins, and for who is
 *  of the same user on this host. */
static bool
may_see (const lk_view *view, const lk_process_look *look)
{
    const lk_app *app = view->app;
    lk_process_look asker;
    return view->who.role == LK_ROLE_ADMIN
           || (app && app->key[0] == '\0' && app->pid != 0
               && lk_process_describe (app->pid, &asker)
               && asker.uid == look->uid);
}

/*  What is not there is left out. */
static void
add_process (lk_message *row, const lk_view *view, int64_t pid)
{
    lk_process_look look;
    if (!lk_process_describe (pid, &look)) {
        return;
    }
    lk_message_set_number (row, "uid", look.uid);
    if (!may_see (view, &look)) {
        return;
    }
    if (look.command[0] != '\0') {
        lk_message_set_text (row, "command", look.command);
    }
    if (look.arguments[0] != '\0') {
        lk_message_set_text (row, "arguments", look.arguments);
    }
}

static void
add_own (const lk_lockd *self, lk_message *list, const lk_view *view,
         const lk_node_own *own)
{
    const char *state = own->ticket.token != 0 ? "held"
                        : own->later           ? "later"
                                               : "waiting";
    lk_message *row = new_row (self, &own->ticket, state);
    if (row) {
        if (own->left_ms >= 0) {
            lk_message_set_number (row, "left_ms", own->left_ms);
        }
        add_process (row, view, own->ticket.pid);
        lk_message_set_flag (row, "jeopardy", own->danger);
        lk_message_add_row (list, "tickets", &row);
    }
}

static bool
is_key (lk_name one, lk_name key)
{
    return key.size == 0
           || (one.size == key.size
               && memcmp (one.data, key.data, key.size) == 0);
}

static void
add_all_own (const lk_lockd *self, lk_message *list, const lk_view *view,
             lk_name key)
{
    const void *place = NULL;
    lk_node_own own;
    size_t size = 0, count = 0;
    lk_message_set_flag (list, "own", true);
    while (lk_node_next_own (self->node, &place, &own)) {
        if (!is_key (own.ticket.object, key)
            || !lk_lockd_shows (view, own.ticket.object)) {
            continue;
        }
        if (count++ == LIST_COUNT_MAX || size > LIST_SIZE_MAX) {
            lk_message_set_flag (list, "more", true);
            return;
        }
        add_own (self, list, view, &own);
        size += ROW_SIZE + BYTE_SIZE * (size_t) own.ticket.object.size;
    }
}

/*  -------------------------------------------------------- list */

/*  Tickets may come and go between two answers of one listing. */
static void
fill (lk_lockd *self, const lk_message *request, const lk_view *view,
      lk_name key, lk_message *list)
{
    const int64_t cursor = lk_message_number (request, "cursor", 0);
    if (lk_message_flag (request, "own")) {
        add_all_own (self, list, view, key);
    } else {
        add_tickets (self, list, view, key, (size_t) cursor);
    }
}

/*  A zone does not hear who leads: one of them is asked in its place. So a list
 *  without rows is one, too. */
static void
tell_zone (lk_lockd *self, const lk_message *request, const lk_view *view,
           lk_name key, const lk_node_status *status)
{
    lk_message *answer = lk_message_reply (request, "LOCKLIST");
    lk_message_add_item (answer, "tickets", NULL);
    if (!status->leads && !lk_message_flag (request, "own")) {
        const lk_decree *decree = &status->decree;
        const lk_hosts leader =
            decree->leader_count > 0 ? LK_HOST_BIT (decree->leader[0]) : 0;
        lk_lockd_relay (self, request, view, leader, answer);
        return;
    }
    lk_message *list = lk_message_row_new ();
    fill (self, request, view, key, list);
    lk_lockd_add_all_masked (self, view, answer, "tickets", list);
    if (lk_message_has (list, "cursor")) {
        lk_message_set_number (answer, "cursor",
                               lk_message_number (list, "cursor", 0));
    }
    lk_message_set_true (answer, "own", lk_message_flag (list, "own"));
    lk_message_set_true (answer, "more", lk_message_flag (list, "more"));
    lk_message_destroy (&list);
    (void) lk_lockd_send (self, answer);
}

/*  A service that does not lead names the leaders instead: ask one of them. */
static void
tell (lk_lockd *self, const lk_message *request, const lk_view *view,
      lk_name key, const lk_node_status *status)
{
    lk_message *list = lk_lockd_new_list (self, request);
    if (lk_message_flag (request, "own") || status->leads
        || lk_message_flag (request, "table")) {
        fill (self, request, view, key, list);
    } else {
        lk_lockd_add_leaders (self, list, &status->decree);
    }
    (void) lk_lockd_send (self, list);
}

void
lk_lockd_tell_list (lk_lockd *self, const lk_message *request,
                    const lk_view *view)
{
    char room[LK_NAME_SIZE_MAX];
    lk_name key;
    lk_node_status status;
    if (lk_message_has (request, "cursor")
        && lk_message_number (request, "cursor", -1) < 0) {
        lk_lockd_fail (self, request, LK_INVALID,
                       "the field 'cursor' is out of range");
        return;
    }
    if (!lk_lockd_get_key (self, request, view, room, &key)) {
        return;
    }
    lk_node_get_status (self->node, &status);
    if (lk_lockd_is_masked (view)) {
        tell_zone (self, request, view, key, &status);
    } else {
        tell (self, request, view, key, &status);
    }
}

/*  -------------------------------------------------------- owners */

/*  Of another zone nothing is told. */
static bool
is_shown (const lk_view *view, const lk_app *app)
{
    return view->all_zones || !app || strcmp (app->who.zone, view->zone) == 0;
}

/*  A ticket of this host: what LOCKLIST does not say of it. Processes that ask
 *  for nothing are nobody's business. */
static void
add_owner (lk_lockd *self, lk_message *list, const lk_view *view,
           const lk_message *asked)
{
    const int64_t session = lk_message_number (asked, "session", 0);
    const int64_t serial = lk_message_number (asked, "serial", 0);
    lk_node_demand known;
    lk_message *row = lk_message_row_new ();
    lk_message_set_number (row, "session", session);
    lk_message_set_number (row, "serial", serial);
    lk_message_set_number (row, "pid", lk_message_number (asked, "pid", 0));
    if ((uint64_t) session == self->session
        && lk_node_find_demand (self->node, (uint64_t) serial, &known)) {
        const lk_app *app = lk_apps_by_number (&self->apps, known.app);
        /*  Else it is a process of another machine. */
        if ((!app || !app->far) && is_shown (view, app)) {
            add_process (row, view, known.pid);
        }
        if (is_shown (view, app)) {
            lk_message_set_flag (row, "jeopardy", known.danger);
        }
    }
    lk_message_add_row (list, "owners", &row);
}

void
lk_lockd_tell_owners (lk_lockd *self, const lk_message *request,
                      const lk_view *view)
{
    lk_message *list = lk_message_reply (request, "LOCKOWNERS");
    lk_message_set_text (list, "served_by", lk_bus_host (self->bus));
    lk_message *row;
    for (size_t i = 0;
         i < OWNERS_MAX
         && (row = lk_message_row (request, "tickets", i)) != NULL;
         i++) {
        add_owner (self, list, view, row);
        lk_message_destroy (&row);
    }
    (void) lk_lockd_send (self, list);
}
