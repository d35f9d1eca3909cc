/*  plant.c - puts into the rooms of a node what a test needs there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/plant.h"

#include "node_private.h"
#include "util/assert.h"

#include <string.h>

lk_plants
lk_plant (lk_node *node)
{
    lk_leader *lead = &node->leader;
    lk_election *election = &node->election;
    lk_proxy *proxy = &node->proxy;
    return (lk_plants) {
        .core = &node->core,
        .table = &lead->table,
        .place = &lead->place,
        .ready = &lead->ready,
        .state = &election->state,
        .term = &election->term,
        .until_ms = &election->until_ms,
        .vote_at_ms = &election->vote_at_ms,
        .next_try_ms = &election->next_try_ms,
        .bad_since_ms = &election->bad_since_ms,
        .promised_ms = &election->promised_ms,
        .holder = &election->holder,
        .agreed = &election->agreed,
        .voted = &election->voted,
        .activated = &election->activated,
        .vote = election->vote,
        .ready_again = &election->ready_again,
        .change = &election->change,
        .doorway = &election->doorway.state,
        .doorway_proposer = &election->doorway.proposer,
        .doorway_holder = &election->doorway.order.holder,
        .lease_until_ms = &proxy->lease_until_ms,
        .requests = &proxy->serials.count,
        .names_size = &proxy->names_size,
    };
}

/*  -------------------------------------------------------- decrees */

lk_decree *
lk_plant_decree (lk_node *node, lk_plant_decree_of whose)
{
    lk_doorway *doorway = &node->election.doorway;
    switch (whose) {
    case LK_PLANT_ACTIVE:
        return &node->core.facts.active;
    case LK_PLANT_IN_FORCE:
        return &node->core.in_force;
    case LK_PLANT_TOLD:
        return &node->core.told;
    case LK_PLANT_TABLE:
        return &node->leader.table.decree;
    case LK_PLANT_STAGING:
        return &doorway->staging.decree;
    case LK_PLANT_INCOMING:
        return &doorway->incoming.decree;
    case LK_PLANT_PROPOSED:
        return &node->election.decree;
    case LK_PLANT_PREVIOUS:
        return &node->election.previous;
    case LK_PLANT_BROUGHT_IN:
        return &node->election.in_force;
    default:
        return &doorway->order.decree;
    }
}

/*  -------------------------------------------------------- streams */

void
lk_plant_unacked (lk_node *node, size_t count)
{
    lk_stream *stream = &node->leader.stream;
    stream->count = count;
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        stream->follower[place].sent_ms = node->core.now_ms;
    }
}

lk_logged *
lk_plant_logged (lk_node *node, size_t position)
{
    const lk_stream *stream = &node->leader.stream;
    LK_ASSERT (position < stream->count);
    return &stream->log[(stream->head + position) % stream->room];
}

void
lk_plant_no_ends (lk_node *node)
{
    lk_free (node->leader.home.ended);
    node->leader.home.ended = NULL;
}

/*  -------------------------------------------------------- numbers */

static void
note_in_table (lk_table *table, lk_host host)
{
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        table->gone[home][host] = 3;
        table->reported[home][host] = 3;
        table->reporting[home][host] = 3;
        table->parts[home][host] = 1;
    }
}

static bool
is_in_table (const lk_table *table, lk_host host)
{
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        if (table->gone[home][host] || table->reported[home][host]
            || table->reporting[home][host] || table->parts[home][host]) {
            return true;
        }
    }
    return table->idle_group && table->idle_group->id[0] == host;
}

void
lk_plant_numbers (lk_node *node, lk_host a, lk_host b)
{
    const lk_request_id request = {a, 3, 1};
    const lk_hosts both = LK_HOST_BIT (a) | LK_HOST_BIT (b);
    lk_leader *lead = &node->leader;
    lk_election *election = &node->election;
    lead->home.released[7].by = request;
    lead->home.refused[7].by = request;
    lk_home_note_end (&lead->home, request);
    lead->alerts.raised[1].unaware = both;
    lead->alerts.heard[1] = (lk_alert_id) {a, 1, 1};
    note_in_table (&lead->table, a);
    note_in_table (&election->doorway.staging, a);
    note_in_table (&election->doorway.incoming, a);
    node->core.peer[b].via = a;
    node->core.peer[b].sees = both;
    election->promised_to = a;
    election->refused = a;
    election->vote[1].hears = both;
    election->vote[1].sees = both;
}

static bool
is_ended (const lk_home *home, lk_host host)
{
    bool is = false;
    for (size_t i = 0; home->ended && i < LK_ENDED_KEPT; i++) {
        is |= home->ended[i].host == host;
    }
    return is;
}

const char *
lk_plant_misses (lk_node *node, lk_host a, lk_host b)
{
    const lk_hosts rest = LK_HOST_BIT (b);
    const lk_leader *lead = &node->leader;
    const lk_election *election = &node->election;
    const lk_doorway *doorway = &election->doorway;
    lk_peer blank;
    lk_peer_init (&blank);
    const struct {
        bool is_wrong;
        const char *what;
    } places[] = {
        {memcmp (&node->core.peer[a], &blank, sizeof blank) != 0, "peer"},
        {lk_hosts_has (node->core.known, a), "known"},
        {lead->home.released[7].by.host != LK_NOBODY, "released"},
        {lead->home.refused[7].by.host != LK_NOBODY, "refused, at home"},
        {is_ended (&lead->home, a), "ended"},
        {lead->alerts.raised[1].unaware != rest, "unaware"},
        {lead->alerts.heard[1].number != 0, "alerts that were heard"},
        {is_in_table (&lead->table, a), "table"},
        {is_in_table (&doorway->staging, a), "staging"},
        {is_in_table (&doorway->incoming, a), "incoming"},
        {node->core.peer[b].via != LK_NOBODY, "via"},
        {node->core.peer[b].sees != rest, "sees"},
        {election->promised_to != LK_NOBODY, "promised to"},
        {election->refused != LK_NOBODY, "refused"},
        {election->vote[1].hears != rest, "hears, in a vote"},
        {election->vote[1].sees != rest, "sees, in a vote"},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i].is_wrong) {
            return places[i].what;
        }
    }
    return "";
}
