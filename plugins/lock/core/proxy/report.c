/*  report.c - what a host holds, to homes that begin a reclaim with nothing
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "report.h"

#include "demand.h"
#include "proxy_private.h"
#include "set.h"

#include <string.h>

/*  Of one part: as an operation it shares a message with others. Far fewer
 *  tickets than LK_REPORT_MAX are as large as that. */
#define PART_SIZE_MAX (LK_BULK_SIZE_MAX / 2)

void
lk_report_clear (lk_proxy *proxy)
{
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        lk_free (proxy->report[home].serials);
    }
    memset (proxy->report, 0, sizeof proxy->report);
}

void
lk_report_restart (lk_proxy *proxy)
{
    proxy->reported = 0;
    proxy->report_ms = LK_LONG_AGO;
    lk_report_clear (proxy);
}

/*  A claim whose application may still believe in it.
 *  Protocol 9.20: Reclaim. */
static bool
is_in_doubt (const lk_proxy *proxy, const lk_demand *demand)
{
    const int64_t until_ms =
        demand->set ? demand->set->until_ms : demand->wait_until_ms;
    return demand->state == LK_DEMAND_RESUMING && lk_demand_is_far (demand)
           && proxy->core->now_ms < until_ms;
}

/*  protocol 9.7 */
static bool
belongs (const lk_proxy *proxy, const lk_demand *demand, uint8_t home)
{
    bool is_held =
        demand->state == LK_DEMAND_HELD || demand->state == LK_DEMAND_KEEPING
        || demand->state == LK_DEMAND_LINGERING || is_in_doubt (proxy, demand);
    return is_held && lk_demand_home (proxy, demand) == home;
}

/*  All that is held when the first part is sent: homes in a reclaim grant
 *  nothing more. Protocol 9.7. */
static void
list_all (const lk_proxy *proxy, uint8_t home, lk_report *self)
{
    const lk_demand *demand;
    self->serials =
        lk_alloc ((proxy->serials.count + 1) * sizeof *self->serials);
    for (demand = lk_demand_first (proxy); demand;
         demand = lk_demand_next (proxy, demand)) {
        if (belongs (proxy, demand, home)) {
            self->serials[self->count++] = demand->serial;
        }
    }
}

/*  NULL: it is not held any more. */
static const lk_demand *
find_held (const lk_proxy *proxy, uint8_t home, size_t place)
{
    const lk_demand *demand =
        lk_demand_by_serial (proxy, proxy->report[home].serials[place]);
    return demand && belongs (proxy, demand, home) ? demand : NULL;
}

/*  Settles what goes into the present part. */
static void
compose (lk_proxy *proxy, uint8_t home)
{
    lk_report *self = &proxy->report[home];
    size_t size = 0;
    self->composed = true;
    if (!self->serials) {
        list_all (proxy, home, self);
    }
    for (self->end = self->first; self->end < self->count; self->end++) {
        const lk_demand *demand = find_held (proxy, home, self->end);
        size += demand ? lk_ticket_size (&demand->ticket) : 0;
        if (size > PART_SIZE_MAX) {
            return;
        }
    }
}

static void
add_ticket (lk_proxy *proxy, lk_msg_report *report, const lk_demand *demand)
{
    lk_ticket *ticket = &report->tickets[report->ticket_count++];
    *ticket = lk_out_ticket (proxy->core, &demand->ticket);
    ticket->request = (lk_request_id) {.host = proxy->core->config.self,
                                       .session = proxy->core->facts.session,
                                       .serial = demand->serial};
    ticket->age_ms = proxy->core->now_ms - demand->since_ms;
}

/*  protocol 9.7 */
void
lk_report_send (lk_proxy *proxy, uint8_t home)
{
    lk_report *self = &proxy->report[home];
    lk_lock_message *message = lk_out_message (proxy->core, LK_MSG_REPORT);
    lk_msg_report *report = &message->as.report;
    if (!self->composed) {
        compose (proxy, home);
    }
    report->session = proxy->core->facts.session;
    report->home = home;
    report->part = self->part;
    report->more = self->end < self->count;
    report->tickets =
        lk_arena_alloc (&proxy->core->outlet.arena,
                        (self->end - self->first) * sizeof *report->tickets);
    for (size_t place = self->first; place < self->end; place++) {
        const lk_demand *demand = find_held (proxy, home, place);
        if (demand) {
            add_ticket (proxy, report, demand);
        }
    }
    lk_proxy_send (proxy, message, home, proxy->report_tries++);
}

/*  protocol 9.7 */
void
lk_report_heard (lk_proxy *proxy, uint8_t home, uint64_t part)
{
    lk_report *self = &proxy->report[home];
    if (!self->composed || part != self->part) {
        return;
    }
    if (self->end == self->count) {
        proxy->reported |= (uint8_t) (1u << home);
        return;
    }
    self->part++;
    self->first = self->end;
    self->composed = false;
    lk_report_send (proxy, home);
}
