/*  outlet.c - how the parts of the core say what has to be done
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "outlet.h"

#include "core.h"
#include "util/alloc.h"
#include "util/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TRACE_SIZE 1024

void
lk_outlet_init (lk_outlet *self)
{
    memset (self, 0, sizeof *self);
    lk_arena_init (&self->arena);
}

void
lk_outlet_clear (lk_outlet *self)
{
    lk_arena_clear (&self->arena);
    lk_free (self->item);
    lk_free (self->loop);
}

void
lk_outlet_reset (lk_outlet *self)
{
    lk_arena_reset (&self->arena);
    self->count = 0;
    self->loop_count = 0;
}

/*  What its type has no use for is what was there before. */
static lk_effect *
add_effect (lk_core *core, lk_effect_type type)
{
    lk_outlet *self = &core->outlet;
    if (self->count == self->room) {
        self->room = self->room ? self->room * 2 : 16;
        self->item = lk_realloc (self->item, self->room * sizeof *self->item);
    }
    lk_effect *effect = &self->item[self->count++];
    effect->type = type;
    return effect;
}

/*  -------------------------------------------------------- messages */

lk_lock_message *
lk_out_message (lk_core *core, lk_lock_kind kind)
{
    lk_lock_message *message =
        lk_arena_alloc (&core->outlet.arena, sizeof *message);
    message->kind = kind;
    message->from = core->config.self;
    message->to = LK_NOBODY;
    message->origin = LK_NOBODY;
    message->destination = LK_NOBODY;
    return message;
}

static void
send_to_self (lk_outlet *self, lk_lock_message *message)
{
    if (self->loop_count == self->loop_room) {
        self->loop_room = self->loop_room ? self->loop_room * 2 : 8;
        self->loop =
            lk_realloc (self->loop, self->loop_room * sizeof *self->loop);
    }
    self->loop[self->loop_count++] = message;
}

void
lk_out_send (lk_core *core, lk_lock_message *message, lk_host to)
{
    message->to = to;
    if (to == core->config.self) {
        send_to_self (&core->outlet, message);
    } else {
        add_effect (core, LK_DO_SEND)->message = message;
    }
}

void
lk_out_broadcast (lk_core *core, lk_lock_message *message, lk_hosts hosts)
{
    hosts &= ~LK_HOST_BIT (core->config.self);
    while (hosts) {
        lk_host host = lk_hosts_take (&hosts);
        lk_out_send (
            core, lk_arena_dup (&core->outlet.arena, message, sizeof *message),
            host);
    }
}

lk_name
lk_out_name (lk_core *core, lk_name name)
{
    name.data = lk_arena_dup (&core->outlet.arena, name.data, name.size);
    return name;
}

lk_ticket
lk_out_ticket (lk_core *core, const lk_ticket *ticket)
{
    lk_ticket copy = *ticket;
    copy.object = lk_out_name (core, ticket->object);
    copy.owner = lk_out_name (core, ticket->owner);
    return copy;
}

lk_ticket *
lk_out_tickets (lk_core *core, const lk_ticket *tickets, size_t count)
{
    if (count == 0) {
        return NULL;
    }
    lk_ticket *copy = lk_arena_room (&core->outlet.arena, count * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = lk_out_ticket (core, &tickets[i]);
    }
    return copy;
}

/*  -------------------------------------------------------- the others */

void
lk_out_persist (lk_core *core)
{
    add_effect (core, LK_DO_PERSIST)->facts = core->facts;
}

void
lk_out_keep (lk_core *core, lk_settings_id id, lk_name text)
{
    const lk_name copy = lk_out_name (core, text);
    lk_effect *effect = add_effect (core, LK_DO_KEEP);
    effect->settings_id = id;
    effect->settings = copy;
}

void
lk_out_record (lk_core *core, const lk_record *record)
{
    lk_record *copy =
        lk_arena_dup (&core->outlet.arena, record, sizeof *record);
    copy->tickets =
        lk_out_tickets (core, record->tickets, record->ticket_count);
    copy->gone = lk_arena_dup (&core->outlet.arena, record->gone,
                               record->gone_count * sizeof *record->gone);
    add_effect (core, LK_DO_RECORD)->record = copy;
}

void
lk_out_answer (lk_core *core, const lk_answer *answer)
{
    add_effect (core, LK_DO_TELL)->answer = *answer;
}

void
lk_out_ended (lk_core *core, uint32_t app, const lk_asked *asked)
{
    add_effect (core, LK_DO_ENDED)->answer =
        (lk_answer) {.app = app, .asked = *asked};
}

void
lk_out_lease (lk_core *core, uint64_t session, int64_t until_ms)
{
    lk_effect *effect = add_effect (core, LK_DO_LEASE);
    effect->session = session;
    effect->lease_until_ms = until_ms;
}

void
lk_out_status (lk_core *core)
{
    add_effect (core, LK_DO_STATUS);
    core->says_status = true;
}

/*  `text` is static. */
void
lk_out_changed (lk_core *core, lk_err error, const char *text)
{
    lk_effect *effect = add_effect (core, LK_DO_CHANGED);
    effect->error = error;
    effect->text = text;
}

const char *
lk_out_host (lk_core *core, lk_host host)
{
    const lk_hostmap *hostmap = core->config.hostmap;
    if (hostmap && host < hostmap->count) {
        return hostmap->entry[host].name;
    }
    char *text = lk_arena_alloc (&core->outlet.arena, 8);
    snprintf (text, 8, "#%u", host);
    return text;
}

const char *
lk_out_escaped (lk_core *core, lk_name name)
{
    size_t from = 0;
    while (from < name.size && name.data[from] == '\0') {
        from++;
    }
    size_t size = name.size - from;
    size_t room = LK_ESCAPE_ROOM (size);
    char *text = lk_arena_alloc (&core->outlet.arena, room);
    return lk_escape (size > 0 ? name.data + from : "", size, text, room);
}

void
lk_out_alert (lk_core *core, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    char *text = lk_arena_alloc (&core->outlet.arena, TRACE_SIZE);
    snprintf (text, TRACE_SIZE,
              "wrong table: host=%s cause=%s home=%s term=%llu sequence=%llu "
              "hash=%016llx expected=%016llx found by=%s",
              lk_out_host (core, alert->host), lk_alert_words[alert->cause],
              lk_out_host (core, alert->home),
              (unsigned long long) message->term.number,
              (unsigned long long) alert->sequence,
              (unsigned long long) alert->hash,
              (unsigned long long) alert->expected,
              lk_out_host (core, message->from));
    lk_effect *effect = add_effect (core, LK_DO_ALERT);
    effect->message =
        lk_arena_dup (&core->outlet.arena, message, sizeof *message);
    effect->level = LK_TRACE_ERROR;
    effect->text = text;
}

void
lk_out_dropped (lk_core *core, const lk_ticket *ticket)
{
    const lk_ticket copy = lk_out_ticket (core, ticket);
    add_effect (core, LK_DO_DROPPED)->ticket =
        lk_arena_dup (&core->outlet.arena, &copy, sizeof copy);
}

void
lk_out_trace (lk_core *core, lk_trace_level level, const char *format, ...)
{
    char *text = lk_arena_alloc (&core->outlet.arena, TRACE_SIZE);
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (text, TRACE_SIZE, format, arguments);
    va_end (arguments);
    lk_effect *effect = add_effect (core, LK_DO_TRACE);
    effect->level = level;
    effect->text = text;
}
