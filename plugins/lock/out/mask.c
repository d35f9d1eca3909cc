/*  mask.c - what a zone may know
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A field that is not named here is left out: a new one is none of a zone's.
 */

#include "mask.h"
#include "out.h"

#include "wire/message_frame.h"

#include <string.h>

/*  -------------------------------------------------------- sentences */

/*  Those of mistakes, rights and limits are our own, and have no names; others
 *  may be of the core, or tell of hosts. */
const char *
lk_lockd_mask_text (const lk_app *app, lk_err error, const char *text)
{
    const bool is_plain =
        error == LK_INVALID || error == LK_DENIED || error == LK_OVERLOADED;
    return !app || app->who.zone[0] == '\0' || is_plain ? text
                                                        : lk_err_text (error);
}

bool
lk_lockd_is_masked (const lk_view *view)
{
    return view->who.zone[0] != '\0';
}

/*  -------------------------------------------------------- rows */

static const char *const texts[] = {
    "object", "object_hex", "context", "state", "type",
    "policy", "token",      "event",   "error", "user",
};

static const char *const numbers[] = {
    "since_ms", "ordinal",  "turn",     "quiet",   "limit",      "bound",
    "duration", "left_ms",  "grace_ms", "ago_ms",  "waited_ms",  "held_ms",
    "grants",   "releases", "holders",  "waiters", "longest_ms",
};

static const char *const flags[] = {"lenient", "static", "upgrade", "jeopardy"};

#define COUNT(list) (sizeof (list) / sizeof (list)[0])

static void
copy_fields (lk_message *to, const lk_message *from)
{
    for (size_t i = 0; i < COUNT (texts); i++) {
        lk_message_set_text (to, texts[i], lk_message_text (from, texts[i]));
    }
    for (size_t i = 0; i < COUNT (numbers); i++) {
        if (lk_message_has (from, numbers[i])) {
            lk_message_set_number (to, numbers[i],
                                   lk_message_number (from, numbers[i], 0));
        }
    }
    for (size_t i = 0; i < COUNT (flags); i++) {
        lk_message_set_true (to, flags[i], lk_message_flag (from, flags[i]));
    }
}

/*  Without its host. */
static void
copy_owner (lk_message *to, const char *owner)
{
    char name[LK_ADDRESS_LEN_MAX + 1];
    const char *at = owner ? strchr (owner, '@') : NULL;
    if (at && (size_t) (at - owner) < sizeof name) {
        memcpy (name, owner, (size_t) (at - owner));
        name[at - owner] = '\0';
        lk_message_set_text (to, "owner", name);
    }
}

/*  The application of a row, if it is of this host and there; NULL. */
static const lk_app *
find_app (const lk_lockd *self, const lk_message *row)
{
    const char *host = lk_message_text (row, "host");
    lk_node_demand known;
    return host
                   && strcmp (host,
                              lk_hostmap_name (&self->hostmap, self->self))
                          == 0
                   && lk_message_number (row, "session", 0)
                          == (int64_t) self->session
                   && lk_node_find_demand (
                       self->node,
                       (uint64_t) lk_message_number (row, "serial", 0), &known)
               ? lk_apps_by_number (&self->apps, known.app)
               : NULL;
}

static bool
is_own (const lk_view *view, const lk_message *row)
{
    const char *owner = lk_message_text (row, "owner");
    return view->app && owner && strcmp (owner, view->app->address) == 0;
}

void
lk_lockd_add_masked (const lk_lockd *self, const lk_view *view,
                     lk_message *answer, const char *list,
                     const lk_message *row)
{
    lk_message *masked = lk_message_row_new ();
    const lk_app *app = find_app (self, row);
    copy_fields (masked, row);
    copy_owner (masked, lk_message_text (row, "owner"));
    if (app && app->who.user[0] != '\0') {
        lk_message_set_text (masked, "user", app->who.user);
    }
    lk_message_set_true (masked, "own", is_own (view, row));
    lk_message_add_row (answer, list, &masked);
}

void
lk_lockd_add_all_masked (const lk_lockd *self, const lk_view *view,
                         lk_message *answer, const char *list,
                         const lk_message *from)
{
    const size_t count = lk_message_item_count (from, list);
    for (size_t i = 0; i < count; i++) {
        lk_message *row = lk_message_row (from, list, i);
        if (row) {
            lk_lockd_add_masked (self, view, answer, list, row);
        }
        lk_message_destroy (&row);
    }
}
