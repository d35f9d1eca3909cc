/*  lost.c - there is nobody on a connection any more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lost.h"
#include "neighbour.h"
#include "session.h"

#include "net/log.h"
#include "wire/reasons.h"

static void
log_deaf (const lk_hop *hop, const char *who)
{
    if (hop->deaf) {
        lk_log_warning ("cut off: it does not read what it is told who=%s",
                        who);
    }
}

/*  Its session is over, but its connection stands: it hears so once it reads
 *  again, and registers anew. */
static void
disown (lk_router *router, lk_side side, const lk_identity *identity)
{
    const lk_source source = {
        .from = LK_FROM_STRANGER, .side = side, .identity = identity};
    lk_message *message = lk_message_new ("*@.", "INVALID");
    lk_message_set_text (message, "reason", LK_INVALID_STRANGER);
    lk_router_answer (router, &source, &message);
}

void
lk_lost_hop (lk_router *router, lk_hop *hop)
{
    lk_local *local =
        lk_route_by_identity (&router->route, hop->side, &hop->identity);
    lk_mesh_link *link = lk_mesh_by_hop (&router->mesh, hop);
    if (local != NULL && hop == &local->out) {
        const lk_identity identity = hop->identity;
        const lk_side side = hop->side;
        const bool is_deaf = hop->deaf && side != LK_SIDE_HOSTED;
        log_deaf (hop, local->service);
        lk_session_end (router, local, LK_SESSION_CUT);
        if (is_deaf) {
            disown (router, side, &identity);
        }
        return;
    }
    const bool is_deaf = hop->deaf;
    if (link != NULL) {
        log_deaf (hop, link->host);
    }
    lk_hops_remove (&router->hops, hop);
    if (link != NULL) {
        if (is_deaf) {
            lk_neighbour_end (router, link, "it does not read");
        } else {
            lk_neighbour_step (router, link, LK_LINK_DOWN);
        }
    }
}
