/*  outlet.h - how the parts of the core say what has to be done
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Effects in their order, with all they point to in the step's own memory.
 *  Messages to oneself never leave: they are handled within the same step.
 */

#ifndef LK_OUTLET_H
#define LK_OUTLET_H

#include "event.h"
#include "util/arena.h"

typedef struct {
    lk_arena arena;
    lk_effect *item;
    size_t count;
    size_t room;
    lk_lock_message **loop; /* messages to oneself, not handled yet */
    size_t loop_count;
    size_t loop_room;
} lk_outlet;

void lk_outlet_init (lk_outlet *self);
void lk_outlet_clear (lk_outlet *self);

/*  The next step begins: what was handed out before is gone. */
void lk_outlet_reset (lk_outlet *self);

/*  A message to fill in and then send; what it points to must live until
 *  the next step: lk_out_name and lk_out_tickets copy it. */
lk_lock_message *lk_out_message (lk_core *core, lk_lock_kind kind);
void lk_out_send (lk_core *core, lk_lock_message *message, lk_host to);

/*  A copy for each of the hosts (but not for oneself). */
void lk_out_broadcast (lk_core *core, lk_lock_message *message, lk_hosts hosts);

lk_name lk_out_name (lk_core *core, lk_name name);
lk_ticket lk_out_ticket (lk_core *core, const lk_ticket *ticket);
lk_ticket *lk_out_tickets (lk_core *core, const lk_ticket *tickets,
                           size_t count);

void lk_out_persist (lk_core *core);
void lk_out_keep (lk_core *core, lk_settings_id id, lk_name text);

/*  A copy, that of its tickets included. */
void lk_out_record (lk_core *core, const lk_record *record);
void lk_out_answer (lk_core *core, const lk_answer *answer);
void lk_out_lease (lk_core *core, uint64_t session, int64_t until_ms);
void lk_out_status (lk_core *core);
void lk_out_changed (lk_core *core, lk_err error, const char *text);

/*  A leader's table is wrong: an ALERT, own or heard. */
void lk_out_alert (lk_core *core, const lk_lock_message *message);

/*  A held ticket, whose host is given up. */
void lk_out_dropped (lk_core *core, const lk_ticket *ticket);

/*  A request of an application that is silent, with names that live until the
 *  next step. */
void lk_out_ended (lk_core *core, uint32_t app, const lk_asked *asked);

/*  Bytes of others, for a trace; of a name without zone and context only
 *  that. */
const char *lk_out_escaped (lk_core *core, lk_name name);

/*  A host's name, for a trace. */
const char *lk_out_host (lk_core *core, lk_host host);
void lk_out_trace (lk_core *core, lk_trace_level level, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

#endif
