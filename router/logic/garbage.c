/*  garbage.c - other machines that say what no program of ours says
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "garbage.h"
#include "offenders.h"
#include "session.h"

#include "wire/reasons.h"

static const char *const reasons[] = {
    [LK_GARBAGE_FRAME] = "a frame that cannot be read",
    [LK_GARBAGE_LIE] = "messages from another than the sender",
    [LK_GARBAGE_COMMAND] = "commands that nobody knows",
    [LK_GARBAGE_BODY] = "bodies that make no sense",
    [LK_GARBAGE_HURRY] = "too many messages ahead of REGISTER",
};

static bool
is_far (const lk_source *source)
{
    return source->from == LK_FROM_CLIENT || source->from == LK_FROM_VISITOR;
}

/*  NULL: the connection is over. */
static const char *
key_of (const lk_router *self, const lk_source *source)
{
    return self->calls->client (self->shell, source->identity);
}

/*  By the settings, or by a credential: many applications of a machine may come
 *  at once. */
static bool
is_known (const lk_router *self, const lk_source *source, const char *key)
{
    return source->local != NULL || lk_route_has_key (&self->route, key)
           || lk_client_keys_find (&self->clients, key) != NULL;
}

bool
lk_garbage_is_heard (lk_router *self, const lk_source *source)
{
    const char *key =
        source->from == LK_FROM_VISITOR ? key_of (self, source) : NULL;
    bool is_first = false;
    if (key == NULL) {
        return true;
    }
    if (lk_shut_out_find (&self->shut_out, key, self->now_ms) != NULL) {
        return false;
    }
    if (is_known (self, source, key)) {
        return true;
    }
    self->calls->heard (self->shell, source->identity);
    if (!lk_shut_out_hurries (&self->shut_out, key, self->now_ms, &is_first)) {
        return true;
    }
    if (is_first) {
        lk_garbage_note (self, source, LK_GARBAGE_HURRY);
    }
    return false;
}

/*  Notes it of a key or a place. */
static void
offend (lk_router *self, const lk_source *source, const char *name,
        bool is_place, lk_garbage what)
{
    self->must_cut |= lk_offenders_note (
        self, source, name, is_place, what == LK_GARBAGE_FRAME, reasons[what]);
}

void
lk_garbage_note (lk_router *self, const lk_source *source, lk_garbage what)
{
    const char *key = is_far (source) ? key_of (self, source) : NULL;
    const char *address;
    char place[LK_PLACE_SIZE];
    if (key == NULL) {
        return;
    }
    offend (self, source, key, false, what);
    address = self->calls->address (self->shell, source->identity);
    if (!is_known (self, source, key) && address != NULL
        && lk_place_of (address, place)) {
        offend (self, source, place, true, what);
    }
}

bool
lk_garbage_cut (lk_router *self, const lk_source *source)
{
    if (!self->must_cut) {
        return false;
    }
    self->must_cut = false;
    if (source->local != NULL) {
        self->calls->hang_up (self->shell, source->local);
        lk_session_end (self, source->local, LK_SESSION_CUT);
    } else {
        self->calls->cut (self->shell, source->identity);
    }
    return true;
}
