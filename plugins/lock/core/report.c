/*  report.c - what a host holds, to homes that begin a reclaim with nothing
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "report.h"

#include "asked.h"
#include "node_private.h"

#include <string.h>
#include <utlist.h>

/*  Of one part: as an operation it shares a message with others. Far fewer
 *  tickets than LK_REPORT_MAX are as large as that. */
#define PART_SIZE_MAX (LK_BULK_SIZE_MAX / 2)

void
lk_report_restart (lk_node *node)
{
    lk_proxy *proxy = &node->proxy;
    lk_asked *asked;
    proxy->reported = 0;
    proxy->report_ms = LK_LONG_AGO;
    memset (proxy->report, 0, sizeof proxy->report);
    DL_FOREACH (proxy->held, asked) {
        asked->reported_in = 0;
    }
}

static bool
belongs (const lk_node *node, const lk_asked *asked, uint8_t home)
{
    bool is_held = asked->state == LK_ASKED_HELD
                   || asked->state == LK_ASKED_KEEPING
                   || asked->state == LK_ASKED_LINGERING;
    return is_held
           && lk_home_of (&node->proxy.decree, asked->ticket.object) == home;
}

/*  Settles what goes into the present part, and whether another follows. */
static void
compose (lk_node *node, uint8_t home)
{
    lk_report *self = &node->proxy.report[home];
    size_t size = 0;
    lk_asked *asked;
    self->composed = true;
    self->more = false;
    DL_FOREACH (node->proxy.held, asked) {
        if (asked->reported_in != 0 || !belongs (node, asked, home)) {
            continue;
        }
        size += lk_ticket_size (&asked->ticket);
        if (size > PART_SIZE_MAX) {
            self->more = true;
            return;
        }
        asked->reported_in = self->part + 1;
    }
}

static bool
is_in_part (const lk_node *node, const lk_asked *asked, uint8_t home)
{
    return asked->reported_in == node->proxy.report[home].part + 1
           && belongs (node, asked, home);
}

static size_t
count_part (const lk_node *node, uint8_t home)
{
    size_t count = 0;
    const lk_asked *asked;
    DL_FOREACH (node->proxy.held, asked) {
        count += is_in_part (node, asked, home);
    }
    return count;
}

static void
add_ticket (lk_node *node, lk_msg_report *report, const lk_asked *asked)
{
    lk_ticket *ticket = &report->tickets[report->ticket_count++];
    *ticket = lk_out_ticket (node, &asked->ticket);
    ticket->request = (lk_request_id) {.host = node->config.self,
                                       .session = node->facts.session,
                                       .serial = asked->serial};
    ticket->age_ms = node->now_ms - asked->asked_ms;
}

void
lk_report_send (lk_node *node, uint8_t home)
{
    lk_proxy *proxy = &node->proxy;
    lk_report *self = &proxy->report[home];
    lk_lock_message *message = lk_out_message (node, LK_MSG_REPORT);
    lk_msg_report *report = &message->as.report;
    if (!self->composed) {
        compose (node, home);
    }
    report->session = node->facts.session;
    report->home = home;
    report->part = self->part;
    report->more = self->more;
    report->tickets = lk_arena_alloc (
        &node->outlet.arena, count_part (node, home) * sizeof *report->tickets);
    lk_asked *asked;
    DL_FOREACH (proxy->held, asked) {
        if (is_in_part (node, asked, home)) {
            add_ticket (node, report, asked);
        }
    }
    lk_proxy_send (node, message, home, proxy->report_tries++);
}

void
lk_report_heard (lk_node *node, uint8_t home, uint64_t part)
{
    lk_proxy *proxy = &node->proxy;
    lk_report *self = &proxy->report[home];
    if (!self->composed || part != self->part) {
        return;
    }
    if (!self->more) {
        proxy->reported |= (uint8_t) (1u << home);
        return;
    }
    self->part++;
    self->composed = false;
    lk_report_send (node, home);
}
