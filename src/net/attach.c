/*  attach.c - see attach.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  attach_life.c says what happens in which state, link.c has the sockets.
 */

#include "net/attach.h"

#include "net/attach_life.h"
#include "net/clock.h"
#include "net/endpoint.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*  How many frames are read before others get their turn. */
#define TURNS_MAX 256

/*  A credential that lasts longer has no end. */
#define LEFT_S_MAX (INT64_C (100) * 365 * 24 * 3600)

/*  -------------------------------------------------------- receiving */

static bool
begins (const char *text, const char *head)
{
    return strncmp (text, head, strlen (head)) == 0;
}

/*  Whether our own router says so. Before READY nobody else can reach us. */
static bool
is_own_router (const lk_attach *self, const lk_address *from)
{
    return lk_slice_is (from->service, "router")
           && (self->state != LK_ATTACH_READY
               || lk_slice_is (from->host, self->host));
}

/*  Its time counts from the question on: the answer may be late. */
static void
note_identity (lk_attach *self, const lk_message *message)
{
    const char *zone = lk_message_text (message, "zone");
    const char *user = lk_message_text (message, "user");
    const char *role = lk_message_text (message, "role");
    const int64_t left_s = lk_message_number (message, "credential_left", -1);
    snprintf (self->zone, sizeof self->zone, "%s", zone ? zone : "");
    snprintf (self->person, sizeof self->person, "%s", user ? user : "");
    snprintf (self->role, sizeof self->role, "%s", role ? role : "");
    self->credential_ends_ms = left_s >= 0 && left_s < LEFT_S_MAX
                                   ? self->shown_ms + left_s * 1000
                                   : INT64_MAX;
}

static void
welcomed (lk_attach *self, const lk_message *message)
{
    const char *host = lk_message_text (message, "host");

    if (!host || !lk_address_is_name (lk_slice_of (host))) {
        return;
    }
    note_identity (self, message);
    if (self->state == LK_ATTACH_REGISTERING) {
        const char *address = lk_message_text (message, "address");
        snprintf (self->host, sizeof self->host, "%s", host);
        snprintf (self->router_address, sizeof self->router_address, "%s",
                  address ? address : "");
    }
    lk_attach_step (self, LK_ATTACH_WELCOME);
}

static void
turned_down (lk_attach *self, const lk_message *message)
{
    const char *reason = lk_message_text (message, "reason");

    snprintf (self->reason, sizeof self->reason, "%s",
              reason ? reason : "no reason given");
    lk_attach_step (self, begins (self->reason, LK_REFUSE_TAKEN)
                              ? LK_ATTACH_NAME_TAKEN
                              : LK_ATTACH_REFUSAL);
}

/*  The router has ended our session, and cannot close our connection. */
static bool
is_disowned (const lk_attach *self, const lk_message *message)
{
    const char *reason = lk_message_text (message, "reason");

    return self->state == LK_ATTACH_READY && lk_message_is (message, "INVALID")
           && reason && strcmp (reason, LK_INVALID_STRANGER) == 0;
}

static void
take_message (lk_attach *self, const lk_frame_header *header,
              const lk_message *message)
{
    bool is_own = is_own_router (self, &header->from_parts);

    if (is_own && is_disowned (self, message)) {
        lk_attach_step (self, LK_ATTACH_DOWN);
    } else if (is_own && lk_message_is (message, "READY")) {
        welcomed (self, message);
    } else if (is_own && lk_message_is (message, "REFUSE")) {
        turned_down (self, message);
    } else if (self->state == LK_ATTACH_READY && self->calls.message) {
        self->calls.message (self->user, message);
    }
}

/*  The router passes on what it could read, which the body is not part of:
 *  its sender is told, unless it is a complaint itself. */
static void
complain (lk_attach *self, const lk_frame_header *header, const char *problem)
{
    char to[LK_ADDRESS_LEN_MAX + 1];

    if (self->state != LK_ATTACH_READY
        || lk_command_is_complaint (header->command)) {
        return;
    }
    lk_slice_keep (header->from, to, sizeof to);
    lk_message *message = lk_message_new (to, "INVALID");
    lk_message_set_serial (message, header->serial);
    lk_message_set_text (message, "reason", problem);
    (void) lk_attach_send (self, &message);
}

static void
take_frame (lk_attach *self, lk_slice frame)
{
    size_t at = 0;
    lk_frame_header header;
    const char *broken;
    char problem[128];

    while (lk_frame_next (frame.data, frame.size, &at, &header, &broken)
           == LK_FRAME_MESSAGE) {
        lk_message *message =
            lk_message_read (&header, problem, sizeof problem);
        if (message) {
            take_message (self, &header, message);
            lk_message_destroy (&message);
        } else {
            complain (self, &header, problem);
        }
    }
}

/*  All that is there. What the router said last is read before its end is
 *  told. */
static void
take_all (void *user)
{
    lk_attach *self = user;
    int turns = TURNS_MAX;
    lk_slice frame;
    lk_io io;

    do {
        io = lk_link_next (&self->link, &frame);
        if (lk_link_came_up (&self->link)) {
            lk_attach_step (self, LK_ATTACH_UP);
        }
        if (io == LK_IO_DONE) {
            take_frame (self, frame);
        }
    } while ((io == LK_IO_DONE || io == LK_IO_BROKEN) && --turns > 0);
    if (io == LK_IO_ERROR) {
        lk_attach_step (self, LK_ATTACH_DOWN);
    } else if (turns == 0) {
        lk_link_go_on (&self->link);
    }
}

static void
take_time (void *user)
{
    lk_attach *self = user;

    if (self->retry_ms <= lk_clock_ms ()) {
        self->retry_ms = INT64_MAX;
        lk_attach_step (self, LK_ATTACH_TIME);
    }
}

/*  -------------------------------------------------------- new and destroy */

static bool
check_options (const lk_attach_options *options, lk_problem *problem)
{
    if (!options->name || !lk_address_is_name (lk_slice_of (options->name))) {
        (void) lk_problem_set (problem, LK_INVALID,
                               "'%s' cannot be the name of a service",
                               options->name ? options->name : "");
        return false;
    }
    return options->pipe || options->call
           || lk_endpoint_check_list (
                  options->endpoint ? options->endpoint : "", problem)
                  == LK_OK;
}

static void
copy_options (lk_attach *self, const lk_attach_options *options)
{
    self->name = lk_strdup (options->name);
    self->version = lk_strdup (options->version ? options->version : "");
    self->is_application = options->application;
    self->is_visitor = options->is_visitor;
    self->credential = options->credential;
    self->taken_ms = options->taken_ms ? options->taken_ms : LK_ATTACH_TAKEN_MS;
    for (size_t i = 0; options->subscriptions && options->subscriptions[i];
         i++) {
        lk_attach_subscribe (self, options->subscriptions[i]);
    }
}

static void
free_all (lk_attach *self)
{
    lk_link_clear (&self->link);
    for (size_t i = 0; i < self->subscription_count; i++) {
        lk_free (self->subscriptions[i]);
    }
    lk_free (self->name);
    lk_free (self->version);
    lk_free (self);
}

static lk_err
init_link (lk_link *link, const lk_attach_options *options, lk_problem *problem)
{
    if (options->pipe) {
        lk_link_init_pipe (link, options->pipe);
        return LK_OK;
    }
    return options->call
               ? lk_link_init_far (link, options->endpoint, options->call,
                                   options->linger_ms, problem)
               : lk_link_init (link, options->endpoint, options->linger_ms,
                               problem);
}

lk_attach *
lk_attach_new (const lk_attach_options *options, const lk_attach_calls *calls,
               void *user, lk_problem *problem)
{
    if (!check_options (options, problem)) {
        return NULL;
    }
    lk_attach *self = lk_alloc (sizeof *self);
    if (init_link (&self->link, options, problem) != LK_OK) {
        lk_free (self);
        return NULL;
    }
    self->calls = *calls;
    self->user = user;
    self->retry_ms = INT64_MAX;
    self->answer_ms = -1;
    self->credential_ends_ms = INT64_MAX;
    copy_options (self, options);
    lk_err error = lk_link_open (&self->link, problem);
    self->open_since = lk_clock_ms ();
    if (error == LK_DISCONNECTED) {
        self->retry_ms = lk_clock_ms () + lk_attach_seek_ms (self);
    } else if (error == LK_OK && lk_link_has_others (&self->link)) {
        self->retry_ms = lk_clock_ms () + LK_ATTACH_PATIENCE_MS;
    } else if (error != LK_OK) {
        free_all (self);
        return NULL;
    }
    return self;
}

static void
send_bare (lk_attach *self, const char *command)
{
    lk_message *message = lk_message_new (LK_ATTACH_ROUTER, command);

    (void) lk_attach_send (self, &message);
}

void
lk_attach_destroy (lk_attach **self_p)
{
    lk_attach *self = *self_p;

    if (!self) {
        return;
    }
    if (self->state == LK_ATTACH_READY) {
        if (!self->is_visitor) {
            send_bare (self, "UNREGISTER");
        }
        lk_link_flush (&self->link);
    } else {
        lk_link_drop (&self->link);
    }
    if (self->loop) {
        lk_timer_clear (&self->timer);
        lk_loop_remove_hook (self->loop, &self->hook);
    }
    free_all (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- looking */

lk_attach_state
lk_attach_get_state (const lk_attach *self)
{
    return self->state;
}

bool
lk_attach_is_ours (const lk_attach *self)
{
    return lk_link_is_ours (&self->link);
}

const char *
lk_attach_host (const lk_attach *self)
{
    return self->host;
}

const char *
lk_attach_router_address (const lk_attach *self)
{
    return self->router_address;
}

const char *
lk_attach_zone (const lk_attach *self)
{
    return self->zone;
}

const char *
lk_attach_user (const lk_attach *self)
{
    return self->person;
}

const char *
lk_attach_role (const lk_attach *self)
{
    return self->role;
}

int64_t
lk_attach_credential_ends_ms (const lk_attach *self)
{
    return self->credential_ends_ms;
}

/*  Why that of another host is not there. */
static void
tell_far (const lk_attach *self, lk_problem *problem)
{
    *problem = self->link.why;
    if (problem->text[0] == '\0') {
        (void) lk_problem_set (problem, LK_TIMEDOUT, "it does not answer");
        problem->number = ETIMEDOUT;
    }
}

unsigned
lk_attach_rounds (const lk_attach *self)
{
    return self->link.rounds;
}

int64_t
lk_attach_answer_ms (const lk_attach *self)
{
    return self->answer_ms;
}

void
lk_attach_problem (const lk_attach *self, lk_problem *problem)
{
    if (self->state == LK_ATTACH_READY) {
        (void) lk_problem_set (problem, LK_OK, "attached to '%s'",
                               self->link.endpoint);
    } else if (self->state == LK_ATTACH_REFUSED || self->taken_since != 0) {
        (void) lk_problem_set (problem, LK_REFUSED, "the router refused: %s",
                               self->reason);
        problem->number =
            strstr (self->reason, LK_REFUSE_CREDENTIAL) != NULL
                    || begins (self->reason, LK_REFUSE_NO_CREDENTIAL)
                ? EKEYREJECTED
                : EINVAL;
    } else if (self->link.numbers) {
        tell_far (self, problem);
    } else {
        lk_endpoint_why_not (self->link.endpoint, problem);
    }
}

/*  -------------------------------------------------------- sending */

lk_err
lk_attach_send (lk_attach *self, lk_message **message_p)
{
    lk_err error = LK_DISCONNECTED;

    if (self->state == LK_ATTACH_READY) {
        lk_message_set_from (*message_p, self->address);
        error = lk_link_pack (&self->link, *message_p);
    }
    lk_message_destroy (message_p);
    return error;
}

void
lk_attach_flush (lk_attach *self)
{
    lk_link_flush (&self->link);
}

void
lk_attach_show_credential (lk_attach *self)
{
    if (self->state == LK_ATTACH_READY && !self->is_visitor) {
        lk_attach_say_register (self);
    }
}

void
lk_attach_subscribe (lk_attach *self, const char *command)
{
    for (size_t i = 0; i < self->subscription_count; i++) {
        if (strcmp (self->subscriptions[i], command) == 0) {
            return;
        }
    }
    LK_ASSERT (self->subscription_count < LK_ATTACH_SUBSCRIPTIONS_MAX);
    self->subscriptions[self->subscription_count++] = lk_strdup (command);
    if (self->state == LK_ATTACH_READY) {
        lk_message *message = lk_message_new (LK_ATTACH_ROUTER, "SUBSCRIBE");
        lk_message_add_item (message, "commands", command);
        (void) lk_attach_send (self, &message);
    }
}

/*  -------------------------------------------------------- driving */

static void
flush_hook (void *user)
{
    lk_attach *self = user;

    lk_link_flush (&self->link);
}

void
lk_attach_join (lk_attach *self, lk_loop *loop)
{
    LK_ASSERT (!self->loop);
    self->loop = loop;
    lk_timer_init (&self->timer, loop, take_time, self);
    if (!self->link.pipe) {
        self->hook = lk_loop_add_hook (loop, flush_hook, self);
    }
    lk_link_join (&self->link, loop, take_all, self);
    lk_timer_set (&self->timer, self->retry_ms);
}

int
lk_attach_fd (const lk_attach *self)
{
    return self->link.epoll_fd;
}

int64_t
lk_attach_deadline (const lk_attach *self)
{
    return self->retry_ms;
}

static void
work (lk_attach *self, int wait_ms)
{
    if (wait_ms != 0) {
        lk_link_wait (&self->link, wait_ms);
    }
    take_all (self);
    take_time (self);
    lk_link_flush (&self->link);
}

void
lk_attach_work (lk_attach *self)
{
    work (self, 0);
}

void
lk_attach_wait (lk_attach *self, int64_t until_ms)
{
    int64_t deadline = lk_attach_deadline (self);

    if (until_ms < deadline) {
        deadline = until_ms;
    }
    work (self, lk_clock_poll_ms (deadline));
}
