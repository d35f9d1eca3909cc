/*  far.c - see far.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "far.h"
#include "garbage.h"
#include "gate.h"
#include "newcomers.h"

#include "util/alloc.h"

#include <string.h>

typedef struct {
    int fd;
    ino_t which;
} caller;

void
lk_far_note (lk_router *router, const lk_listener *clients, lk_local *local)
{
    caller *it = lk_alloc (sizeof *it);
    const char *address = lk_listener_address (clients, &local->out.identity);
    if (address != NULL) {
        lk_garbage_began (router, address);
    }
    it->fd = lk_listener_fd (clients, &local->out.identity);
    it->which = lk_newcomers_strike (it->fd);
    local->watch = it;
}

void
lk_far_forget (lk_local *local)
{
    const caller *it = local->watch;
    if (it != NULL) {
        lk_newcomers_doubt (it->fd, it->which);
        lk_free (local->watch);
        local->watch = NULL;
    }
}

void
lk_far_hang_up (lk_local *local)
{
    const caller *it = local->watch;
    if (it != NULL) {
        lk_newcomers_hang_up (it->fd, it->which);
    }
}

/*  Its number may be another connection's by now, but not of that address: up
 *  to the name of an interface. */
void
lk_far_cut (const lk_listener *clients, const lk_identity *identity)
{
    const int fd = lk_listener_fd (clients, identity);
    const char *address = lk_listener_address (clients, identity);
    char text[LK_GATE_TEXT_SIZE];
    lk_gate_address from;
    lk_gate_address_of (&from, fd);
    lk_gate_address_text (&from, text);
    const size_t size = strlen (text);
    if (address != NULL && size > 0 && strncmp (address, text, size) == 0
        && (address[size] == '\0' || address[size] == '%')) {
        lk_newcomers_hang_up (fd, lk_newcomers_strike (fd));
    }
}
