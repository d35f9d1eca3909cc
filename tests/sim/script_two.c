/*  script_two.c - scripts about two hosts and an arbiter
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Two failures come one after the other, all pairs by the seed, and each time
 *  the script knows who has to be served.
 */

#include "calm.h"
#include "world.h"

#include "core.h"
#include "decree.h"

#define ELECTION_MS 3500 /* till another leads, if need be at a second try */
#define QUIET_MS 8500    /* then nobody has a reason for another */
#define FILL_MS 1000     /* an election to fill up, and a takeover */
#define IDLE_MS 2500
#define LASTS_MS 11500  /* what stays long enough to be judged */
#define LATEST_MS 39500 /* the story is over by then */
#define FAIL(world, ...) sim_checker_fail (&(world)->checker, __VA_ARGS__)

enum { ONE, TWO, ARBITER };

/*  A host ends, or the link of two is cut. */
static const struct {
    lk_host a, b;
} failures[] = {{ONE, ONE}, {TWO, TWO},     {ARBITER, ARBITER},
                {ONE, TWO}, {ONE, ARBITER}, {TWO, ARBITER}};
#define FAILURES ((int) (sizeof failures / sizeof failures[0]))

/*  These are served after one: both (b), 1 or 2 alone, one of them (x), nobody
 *  (-). The table is in lockkeeper-operations(7), TWO HOSTS. */
static const char after_one[] = "21bxbb";

/*  ... and after another, while the first one lasts. */
static const char after_two[FAILURES][FAILURES + 1] = {
    /*12t  links 12 1t 2t */
    " --22-", /* host 1 has ended */
    "- -1-1", /* host 2 */
    "-- -bb", /* the arbiter */
    "21- 21", /* hosts 1 and 2 are cut from each other */
    "2-b2 b", /* host 1 from the arbiter */
    "-1b1b "  /* host 2 from the arbiter */
};

/*  -------------------------------------------------------- the rows */

/*  Acts 1 to 3 are one failure; it and another, or none; one. */
typedef struct {
    int first;
    int then;
    bool returns;    /* the first one is over before the other comes */
    bool first_ends; /* ... or in the end */
} row;

static row
find_row (const sim_world *world)
{
    int number = (int) (world->seed % (FAILURES * (FAILURES - 1) * 2));
    int first = number / 2 / (FAILURES - 1);
    int then = number / 2 % (FAILURES - 1);

    return (row) {.first = first,
                  .then = then + (then >= first),
                  .returns = number % 2,
                  .first_ends = world->seed / 7 % 2};
}

/*  The failures that last in an act, as bits. */
static unsigned
find_state (const sim_world *world, int act)
{
    row it = find_row (world);
    unsigned first = 1u << it.first;
    unsigned then = 1u << it.then;

    switch (act) {
    case 1:
        return first;
    case 2:
        return it.returns ? 0 : first | then;
    case 3:
        return it.returns || it.first_ends ? then : first;
    default:
        return 0;
    }
}

static char
find_served (unsigned state)
{
    int first = state ? __builtin_ctz (state) : 0;
    unsigned rest = state & (state - 1);

    if (state == 0) {
        return 'b';
    }
    return rest == 0 ? after_one[first]
                     : after_two[first][__builtin_ctz (rest)];
}

/*  Those of whom one at least has to be served. */
static lk_hosts
find_hosts (char served)
{
    switch (served) {
    case '-':
        return 0;
    case '1':
        return LK_HOST_BIT (ONE);
    case '2':
        return LK_HOST_BIT (TWO);
    default:
        return LK_HOST_BIT (ONE) | LK_HOST_BIT (TWO);
    }
}

/*  -------------------------------------------------------- failures */

/*  A link may be cut in one direction only. */
static void
fail (sim_world *world, int number)
{
    lk_host a = failures[number].a;
    lk_host b = failures[number].b;
    int64_t ways = sim_between (world, 0, 3);

    sim_tell (world, -1, a == b ? "h%d ends" : "h%d and h%d are parted%s", a, b,
              ways == 1   ? ", one way"
              : ways == 2 ? ", the other way"
                          : "");
    if (a == b) {
        world->storm.gone_told = sim_chance (world, 500) ? 1000 : 0;
        sim_host_crash (world, a, true, SIM_FOREVER);
        world->plot.members &= ~LK_HOST_BIT (a);
        return;
    }
    if (ways != 2) {
        sim_network_cut (world, a, b, SIM_FOREVER);
    }
    if (ways != 1) {
        sim_network_cut (world, b, a, SIM_FOREVER);
    }
}

static void
mend (sim_world *world, int number)
{
    lk_host a = failures[number].a;
    lk_host b = failures[number].b;

    sim_tell (world, -1, a == b ? "h%d comes back" : "h%d and h%d meet", a, b);
    if (a == b) {
        sim_post (world, world->now + 1, SIM_EVENT_UP, a, 0);
    } else {
        sim_network_link (world, a, b, true);
    }
}

/*  Of what lasts, that which only comes between two others is short. */
static int64_t
draw_duration (sim_world *world, int act)
{
    static const int64_t gaps[] = {1000, 3000, 8000};
    row it = find_row (world);

    if (act == 3 || (act == 2 && !it.returns)) {
        return LASTS_MS;
    }
    return sim_between (world, 100, gaps[sim_between (world, 0, 2)]);
}

static void
go_on (sim_world *world, int act)
{
    sim_plot *plot = &world->plot;
    unsigned former = find_state (world, plot->act);
    unsigned state = find_state (world, act);

    sim_begin_act (world, act);
    for (int i = 0; i < FAILURES; i++) {
        if (state & ~former & 1u << i) {
            fail (world, i);
        } else if (former & ~state & 1u << i) {
            mend (world, i);
        }
    }
    plot->limit_ms = draw_duration (world, act);
    plot->served = find_served (state);
    plot->alone = 0;
    plot->wrong_since = 0;
    plot->counts = false;
    plot->count = -1;
    plot->reclaims = (plot->members & find_hosts (plot->served)) == 0;
}

/*  -------------------------------------------------------- the judgement */

static bool
is_served (const sim_world *world, lk_host host)
{
    lk_node_status status;

    if (!sim_host_is_up (world, host)) {
        return false;
    }
    lk_node_get_status (world->base.node[host], &status);
    return status.ready && status.lease_until_ms > sim_host_clock (world, host);
}

/*  Nobody begins a reclaim while somebody who is left has the tickets. */
static void
look_at_decree (sim_world *world)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;
    lk_hosts leaders = sim_leaders (world, &decree);

    if (lk_term_equal (decree.term, plot->term)) {
        return;
    }
    if (decree.reclaim && !plot->in_reclaim && !plot->reclaims) {
        FAIL (world,
              "TWO HOSTS: a reclaim, though hosts %llx (bits) had it all",
              (unsigned long long) plot->members);
    }
    plot->in_reclaim = decree.reclaim;
    plot->term = decree.term;
    plot->members = 0;
    for (lk_host host = ONE; host <= TWO; host++) {
        if (lk_hosts_has (leaders, host) && sim_host_is_up (world, host)) {
            plot->members |= LK_HOST_BIT (host);
        }
    }
    plot->reclaims |= (plot->members & find_hosts (plot->served)) == 0;
}

/*  Service goes on by then. A reclaim waits until nobody can lead, and once
 *  more if another voter heard somebody; and so does one that has promised what
 *  it cannot keep. */
static int64_t
go_on_ms (const sim_world *world)
{
    char served = world->plot.served;
    bool late = served == 'x' || (served != '-' && world->plot.reclaims);

    return late ? ELECTION_MS + 4 * world->common.leader_lease_ms + 1000
                : ELECTION_MS;
}

/*  Leases of hosts that are not served are over by then. One that only the
 *  arbiter hears may lead until that has voted for the other one; where
 *  nobody can lead, nothing is granted long before. */
static int64_t
stop_ms (const sim_world *world, bool grants)
{
    char served = world->plot.served;
    int64_t ms = world->common.leader_lease_ms;

    ms += grants && served == '-' ? 0 : world->common.host_lease_ms;
    return ms * 11 / 10 + (served == 'x' ? ELECTION_MS : 100);
}

/*  An election to fill up lasts for a moment. */
static void
judge_served (sim_world *world, lk_hosts served, bool right)
{
    sim_plot *plot = &world->plot;

    if (right) {
        plot->wrong_since = 0;
    } else if (plot->wrong_since == 0) {
        plot->wrong_since = world->now;
    } else if (world->now - plot->wrong_since > FILL_MS) {
        FAIL (world,
              "TWO HOSTS: served are %llx (bits), not '%c', %lld ms after act "
              "%d began",
              (unsigned long long) served, plot->served,
              (long long) sim_act_age (world), plot->act);
    }
}

/*  Of two that may be served alone it is the same one all the time. */
static void
check_served (sim_world *world)
{
    sim_plot *plot = &world->plot;
    bool either = plot->served == 'x' && plot->alone == 0;
    bool stopped = sim_act_age (world) > stop_ms (world, false);
    lk_hosts wanted = plot->alone ? plot->alone : find_hosts (plot->served);
    lk_hosts served = (lk_hosts) is_served (world, ONE) << ONE
                      | (lk_hosts) is_served (world, TWO) << TWO;
    bool right = either ? served != 0 : (wanted & ~served) == 0;

    if (stopped) {
        right = either ? right && served != wanted : served == wanted;
    }
    judge_served (world, served, right);
    if (either && stopped && right) {
        plot->alone = served;
    }
}

/*  A host that is not served is told of no lock that it has got. */
static void
check_grants (sim_world *world)
{
    sim_plot *plot = &world->plot;
    lk_hosts served = plot->alone ? plot->alone : find_hosts (plot->served);

    for (lk_host host = ONE; host <= TWO; host++) {
        uint64_t grants = world->checker.service[host].grants;

        if (!plot->counts) {
            plot->grants[host] = grants;
        } else if (!lk_hosts_has (served, host)
                   && plot->grants[host] != grants) {
            FAIL (world, "TWO HOSTS: h%d has got a lock in act %d ('%c')", host,
                  plot->act, plot->served);
        }
    }
    plot->counts = true;
}

/*  Nobody who is served waits for what nobody has. What the others had is
 *  free when they are silent for long enough. */
static void
check_idle (sim_world *world)
{
    const sim_plot *plot = &world->plot;

    sim_checker_idle (&world->checker,
                      plot->alone ? plot->alone : find_hosts (plot->served),
                      IDLE_MS);
}

/*  Hosts that cannot take part hold no elections. */
static void
check_quiet (sim_world *world)
{
    sim_plot *plot = &world->plot;

    if (plot->count < 0) {
        plot->count = (int) world->totals.elections;
    } else if (plot->count != (int) world->totals.elections) {
        FAIL (world, "RESTLESS: an election, %lld ms after act %d began",
              (long long) sim_act_age (world), plot->act);
    }
}

static void
judge (sim_world *world)
{
    int64_t age = sim_act_age (world);

    look_at_decree (world);
    if (age > go_on_ms (world)) {
        check_served (world);
    }
    if (age > stop_ms (world, true)) {
        check_grants (world);
    }
    if (age > QUIET_MS) {
        check_quiet (world);
        check_idle (world);
    }
}

/*  -------------------------------------------------------- all pairs */

static bool
is_settled (sim_world *world)
{
    lk_decree decree;

    sim_leaders (world, &decree);
    return world->now > 3000 && decree.leader_count == 2
           && is_served (world, ONE) && is_served (world, TWO);
}

bool
sim_two_hosts (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    if (plot->act == 0) {
        look_at_decree (world);
        if (is_settled (world)) {
            go_on (world, 1);
        }
    } else if (plot->act < 4) {
        judge (world);
        if (sim_act_age (world) > plot->limit_ms) {
            go_on (world, plot->act + 1);
        }
    }
    if (plot->act < 4 && world->now > LATEST_MS) {
        FAIL (world, "TWO HOSTS: act %d is not over", plot->act);
    }
    return false;
}

/*  The same with an arbiter far away. */
bool
sim_two_hosts_far (sim_world *world, const lk_lock_message *message)
{
    int64_t way_ms = 15 + (int64_t) (world->seed * 7 % 56);

    sim_two_hosts (world, message);
    if ((message->from != ARBITER && message->to != ARBITER)
        || sim_network_is_cut (world, message->from, message->to)) {
        return false;
    }
    sim_network_deliver_at (world, message,
                            world->now + way_ms + sim_between (world, 0, 5));
    return true;
}

/*  -------------------------------------------------------- promised */

/*  The hosts are parted, and the one that will not lead has asked for votes
 *  before the other: it has promised as high a term as that which comes into
 *  force, and cannot take it. It must not cost the other its table; nor if the
 *  arbiter hears not that it gives up, or not that it is to hold an election
 *  itself: it does so all the same, when nothing comes of its vote. */
bool
sim_two_promised (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_host winner = world->seed % 2 ? ONE : TWO;
    lk_host loser = winner == ONE ? TWO : ONE;
    bool vote = message->kind == LK_MSG_VOTE && message->to == ARBITER;

    look_at_decree (world);
    if (plot->act == 3 && message->to == ARBITER
        && (message->kind == LK_MSG_RERUN || message->kind == LK_MSG_RETIRE)
        && plot->lost_ends > 0) {
        plot->lost_ends--;
        return true;
    }
    if (plot->act == 0 && sim_act_age (world) > 3000 && is_settled (world)) {
        plot->lost_ends = (int) (world->seed / 2 % 5);
        sim_network_link (world, ONE, TWO, false);
        plot->served = 'x';
        plot->alone = LK_HOST_BIT (winner);
        plot->count = -1;
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && vote) {
        if (message->from == loser) {
            sim_begin_act (world, 2);
        }
        return true;
    } else if (plot->act == 2 && message->kind == LK_MSG_VOTED
               && message->to == winner) {
        sim_begin_act (world, 3);
    } else if (plot->act == 2) {
        return vote && message->from == loser;
    } else if (plot->act == 3 && sim_act_age (world) > LASTS_MS) {
        sim_network_link (world, ONE, TWO, true);
        sim_begin_act (world, 0);
    }
    if (plot->act == 3 && sim_act_age (world) > go_on_ms (world)) {
        check_served (world);
    }
    if (plot->act == 3 && sim_act_age (world) > QUIET_MS) {
        check_quiet (world);
    }
    return false;
}
