/*  core_senders.c - who may say what, row by row
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 leads term 7 with 1 and 2; 3 and 4 are members, too. Host 5 has a
 *  proxy, host 6 is anybody.
 */

#include "core_fake.h"

#include "lib/suite.h"
#include "senders.h"
#include "vote.h"

#define MEMBERS 0x1f
#define LEADER 1
#define MEMBER 3
#define PROXY 5
#define STRANGER 6

static lk_decree decree;

static void
pings (lk_hosts hosts)
{
    now_ms++;
    while (hosts) {
        const lk_host from = lk_hosts_take (&hosts);
        lk_lock_message message = ping_of (from, MEMBERS);
        message.as.ping.table = decree;
        message.as.ping.ready = from < 3;
        message.as.ping.well = from < 3;
        message.as.ping.active = decree;
        message.as.ping.promised = decree.term;
        give (from, &message);
    }
}

static void
set_up (void)
{
    const lk_decree genesis = {.members = MEMBERS};
    decree = decree_of (term_of (7, 1), MEMBERS, 1, 0, 2);
    start_with ((lk_term) {0, 0}, &genesis);
    lk_lock_message fill = message_of (LK_MSG_FILL, decree.term);
    fill.as.chunk.decree = decree;
    give (LEADER, &fill);
    give_decree (LEADER, LK_MSG_READY, &decree);
    pings (0x1e);
    ck_assert (lk_leader_is_serving (lk_node_leader (node))
               && lk_lease_holds (lk_node_leader (node)));
    ck_assert_uint_eq (node_status ().dropped, 0);
}

/*  -------------------------------------------------------- rows */

/*  Whether that host may say it; if not, whether that is counted. */
typedef enum { NO, DROPPED, YES } verdict;

/*  A message of that kind, of this term, about host 5's requests. */
static lk_lock_message
sample (lk_lock_kind kind)
{
    lk_lock_message message = message_of (kind, decree.term);
    const lk_request_id request = {.host = PROXY, .session = 1, .serial = 1};
    switch (kind) {
    case LK_MSG_SITTING:
    case LK_MSG_ACTIVE:
    case LK_MSG_READY:
        message.as.decree.decree = decree;
        break;
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        message.as.request.ticket.request = request;
        break;
    case LK_MSG_CHECK:
        message.as.check.request = request;
        break;
    case LK_MSG_STOPPING:
        message.as.stopping.request = request;
        break;
    case LK_MSG_AUDITED:
        message.as.audit.request = request;
        break;
    default:
        break;
    }
    return message;
}

static verdict
judge (lk_host from, lk_lock_message message)
{
    const uint64_t before = node_status ().dropped;
    message.from = from;
    if (lk_node_admits (node, &message)) {
        ck_assert_uint_eq (node_status ().dropped, before);
        return YES;
    }
    if (node_status ().dropped == before) {
        return DROPPED;
    }
    ck_assert_uint_eq (node_status ().dropped_from, from);
    ck_assert_int_eq (node_status ().dropped_kind, message.kind);
    return NO;
}

/*  In quiet times: by a leader, another member, and a stranger. */
typedef struct {
    lk_lock_kind kind;
    verdict leader;
    verdict member;
    verdict stranger;
} row;

static const row rows[] = {
    {LK_MSG_STARTED, YES, YES, YES},
    {LK_MSG_PING, YES, YES, YES},
    {LK_MSG_DATE, YES, YES, NO},
    {LK_MSG_AGREED, YES, YES, NO},
    {LK_MSG_VOTE, YES, YES, NO},
    {LK_MSG_VOTED, YES, YES, DROPPED},
    {LK_MSG_DESIST, YES, YES, DROPPED},
    {LK_MSG_RETIRE, YES, YES, NO},
    {LK_MSG_RERUN, YES, YES, NO},
    {LK_MSG_ELECTED, YES, YES, NO},
    {LK_MSG_SITTING, YES, YES, NO},
    {LK_MSG_ACTIVE, YES, YES, NO},
    {LK_MSG_ACTIVATED, YES, YES, DROPPED},
    {LK_MSG_ENTERING, YES, YES, NO},
    {LK_MSG_ENTERED, YES, YES, DROPPED},
    {LK_MSG_GETMAX, YES, YES, NO},
    {LK_MSG_MAXTICKET, YES, YES, DROPPED},
    {LK_MSG_FILL, YES, YES, NO},
    {LK_MSG_FILLED, YES, YES, DROPPED},
    {LK_MSG_EXITING, DROPPED, DROPPED, NO},
    {LK_MSG_READY, YES, YES, NO},
    {LK_MSG_OPS, YES, DROPPED, NO},
    {LK_MSG_ACKED, YES, DROPPED, NO},
    {LK_MSG_HOST, YES, DROPPED, NO},
    {LK_MSG_SILENT, YES, DROPPED, NO},
    {LK_MSG_LOCK, NO, NO, NO}, /* of host 5, see below */
    {LK_MSG_UNLOCK, NO, NO, NO},
    {LK_MSG_LOCKED, YES, DROPPED, NO},
    {LK_MSG_UNLOCKED, YES, DROPPED, NO},
    {LK_MSG_LOCKFAILED, YES, DROPPED, NO},
    {LK_MSG_CHECK, NO, NO, NO},
    {LK_MSG_CHECKED, YES, DROPPED, NO},
    {LK_MSG_REPORT, YES, YES, YES}, /* each its own */
    {LK_MSG_REPORTED, YES, DROPPED, NO},
    {LK_MSG_AUDIT, YES, DROPPED, NO},
    {LK_MSG_AUDITED, YES, NO, NO},
    {LK_MSG_ALERT, YES, YES, NO},
    {LK_MSG_ALERTED, YES, YES, YES},
    {LK_MSG_STOPPING, NO, NO, NO},
    {LK_MSG_PENDING, YES, DROPPED, NO},
    {LK_MSG_WANTING, YES, YES, YES},
    {LK_MSG_SETTINGS, YES, YES, YES},
};

#define ROWS (sizeof rows / sizeof rows[0])

START_TEST (each_kind_has_a_row)
{
    ck_assert_uint_eq (ROWS, LK_MSG_COUNT);
    for (size_t i = 0; i < ROWS; i++) {
        ck_assert_uint_eq (rows[i].kind, i);
    }
}
END_TEST

START_TEST (in_quiet_times)
{
    const row *it = &rows[_i];
    const lk_lock_message message = sample (it->kind);
    ck_assert_int_eq (judge (LEADER, message), it->leader);
    ck_assert_int_eq (judge (MEMBER, message), it->member);
    ck_assert_int_eq (judge (STRANGER, message), it->stranger);
    ck_assert_int_eq (judge (0, message), YES); /* what it says itself */
}
END_TEST

static bool
is_of_own_host (lk_lock_kind kind)
{
    return kind == LK_MSG_LOCK || kind == LK_MSG_UNLOCK || kind == LK_MSG_CHECK
           || kind == LK_MSG_STOPPING || kind == LK_MSG_REPORT;
}

/*  By the host that it is of; and for it, by leaders alone. */
START_TEST (requests)
{
    lk_lock_message message = sample ((lk_lock_kind) _i);
    if (!is_of_own_host (message.kind)) {
        return;
    }
    ck_assert_int_eq (judge (PROXY, message), YES);
    message.origin = PROXY;
    ck_assert_int_eq (judge (PROXY, message), YES);
    ck_assert_int_eq (judge (LEADER, message), YES);
    ck_assert_int_eq (judge (MEMBER, message), DROPPED);
    ck_assert_int_eq (judge (STRANGER, message), NO);
    message.origin = STRANGER;
    if (message.kind != LK_MSG_REPORT) {
        ck_assert_int_eq (judge (LEADER, message), DROPPED);
    }
    ck_assert_int_eq (judge (PROXY, message), NO);
}
END_TEST

START_TEST (audited)
{
    ck_assert_int_eq (judge (PROXY, sample (LK_MSG_AUDITED)), YES);
}
END_TEST

/*  -------------------------------------------------------- terms */

/*  Homes of a term that is not known to be in force yet. */
START_TEST (answers_of_a_later_term)
{
    lk_lock_message message = sample (LK_MSG_LOCKED);
    message.term = term_of (8, 3);
    ck_assert_int_eq (judge (MEMBER, message), YES);
    ck_assert_int_eq (judge (STRANGER, message), NO);
}
END_TEST

/*  Pings tell everybody what is promised. */
START_TEST (a_promised_term_is_no_key)
{
    const lk_lock_kind kinds[] = {LK_MSG_ENTERING, LK_MSG_GETMAX, LK_MSG_FILL};
    give_plain (MEMBER, LK_MSG_VOTE, term_of (8, 3));
    lk_plant_decree (node, LK_PLANT_PROPOSED)->leader[0] = STRANGER;
    for (size_t i = 0; i < 3; i++) {
        lk_lock_message message = sample (kinds[i]);
        message.term = term_of (8, 3);
        *lk_plant (node).state = LK_ELECTION_IDLE;
        ck_assert_int_eq (judge (STRANGER, message), NO);
        *lk_plant (node).state = LK_ELECTION_ELECTED; /* as it says itself */
        ck_assert_int_eq (judge (STRANGER, message), YES);
    }
}
END_TEST

/*  -------------------------------------------------------- who is asked */

START_TEST (the_host_that_is_to_be_added)
{
    lk_plant (node).change->wish = LK_WISH_ADD;
    lk_plant (node).change->host = STRANGER;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTED)), YES);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_DESIST)), YES);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTE)), NO);
}
END_TEST

START_TEST (the_decree_that_it_proposes)
{
    lk_decree *proposed = lk_plant_decree (node, LK_PLANT_PROPOSED);
    *proposed = decree_of (term_of (8, 0), 1 << STRANGER, 6, 0, 2);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_ACTIVATED)), DROPPED);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_EXITING)), NO);
    *lk_plant (node).state = LK_ELECTION_ELECTED;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_ACTIVATED)), YES);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_EXITING)), YES);
    ck_assert_int_eq (judge (LEADER, sample (LK_MSG_EXITING)), DROPPED);
    proposed->members = 0;
    lk_plant_decree (node, LK_PLANT_PREVIOUS)->members = 1 << STRANGER;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_ACTIVATED)), YES);
}
END_TEST

START_TEST (the_doorway_that_it_is_in)
{
    lk_plant_decree (node, LK_PLANT_ORDER)->members = 1 << STRANGER;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_ENTERED)), DROPPED);
    *lk_plant (node).doorway = LK_DOORWAY_FILLING;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_ENTERED)), YES);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_FILLED)), YES);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_MAXTICKET)), YES);
}
END_TEST

/*  -------------------------------------------------------- decrees */

/*  Told by it alone, a stranger is a member, or leads. */
START_TEST (which_decrees_are_known)
{
    static const lk_plant_decree_of decrees[] = {
        LK_PLANT_ACTIVE, LK_PLANT_IN_FORCE, LK_PLANT_TABLE, LK_PLANT_TOLD};
    lk_decree *it = lk_plant_decree (node, decrees[_i]);
    const lk_decree former = *it;
    *it = decree;
    it->members |= 1 << STRANGER;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTE)), YES);
    it->leader[0] = STRANGER;
    it->leader_count = 3;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_LOCKED)),
                      _i < 2 ? YES : DROPPED);
    *it = former;
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTE)), NO);
}
END_TEST

static lk_decree
next_decree (lk_hosts members)
{
    return decree_of (term_of (9, 6), members, 6, 3, 4);
}

static bool
learns (lk_host from, lk_lock_kind kind, const lk_decree *next)
{
    if (kind == LK_MSG_STARTED) {
        lk_lock_message message = message_of (kind, (lk_term) {0, 0});
        message.as.started.active = *next;
        give (from, &message);
    } else if (kind == LK_MSG_PING) {
        now_ms++;
        lk_lock_message message = ping_of (from, MEMBERS);
        message.as.ping.active = *next;
        give (from, &message);
    } else {
        give_decree (from, kind, next);
    }
    return lk_term_equal (lk_node_core (node)->facts.active.term, next->term);
}

static const lk_lock_kind tell_decrees[] = {
    LK_MSG_STARTED, LK_MSG_PING, LK_MSG_SITTING, LK_MSG_ACTIVE, LK_MSG_READY};

/*  Of a stranger, that has made itself a member, none. */
START_TEST (decrees_come_from_members)
{
    const lk_decree next = next_decree (MEMBERS | 1 << STRANGER);
    ck_assert (!learns (STRANGER, tell_decrees[_i], &next));
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
    ck_assert_uint_eq (lk_node_core (node)->in_force.term.number, 7);
    ck_assert (learns (MEMBER, tell_decrees[_i], &next));
}
END_TEST

/*  All members that it knows may be gone, and others have come. */
START_TEST (decrees_while_it_is_cut_off)
{
    const lk_decree next = next_decree (MEMBERS | 1 << STRANGER);
    const lk_decree others = decree_of (next.term, MEMBERS, 1, 3, 4);
    now_ms += 1000; /* hears nobody any more */
    pings (1 << LEADER);
    ck_assert (!learns (STRANGER, tell_decrees[_i], &others));
    pings (1 << LEADER | 1 << MEMBER); /* and itself: a quorum */
    ck_assert (!learns (STRANGER, tell_decrees[_i], &next));
    now_ms += 1000;
    pings (1 << LEADER);
    ck_assert (learns (STRANGER, tell_decrees[_i], &next));
}
END_TEST

/*  It is no member, and hears a leader that is well; then none. */
START_TEST (decrees_for_a_proxy)
{
    const lk_decree next = next_decree (MEMBERS | 1 << STRANGER);
    lk_decree without = decree_of (term_of (8, 1), 0x1e, 1, 2, 3);
    const lk_decree former = decree;
    give_decree (LEADER, LK_MSG_READY, &without);
    decree = without;
    pings (1 << LEADER);
    decree = former;
    ck_assert (!learns (STRANGER, tell_decrees[_i], &next));
    now_ms += 1000;
    pings (1 << MEMBER);
    ck_assert (learns (STRANGER, tell_decrees[_i], &next));
}
END_TEST

START_TEST (decrees_for_who_knows_none)
{
    const lk_decree none = {0};
    const lk_decree next = next_decree (MEMBERS);
    start_with ((lk_term) {0, 0}, &none);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTE)), YES);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_ALERT)), YES);
    ck_assert (learns (STRANGER, tell_decrees[_i], &next));
}
END_TEST

/*  That it promised more does not make the members unknown. */
START_TEST (a_decree_that_comes_too_late)
{
    const lk_decree next = next_decree (MEMBERS | 1 << STRANGER);
    give_plain (MEMBER, LK_MSG_VOTE, term_of (12, 3));
    ck_assert (!learns (MEMBER, LK_MSG_PING, &next));
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTE)), YES);
    ck_assert_uint_eq (lk_node_find_spare (node, LK_HOST_BIT (STRANGER), true),
                       LK_NOBODY);
    const lk_decree later = decree_of (term_of (13, 1), MEMBERS, 1, 2, 3);
    ck_assert (learns (MEMBER, LK_MSG_PING, &later));
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTE)), NO);
}
END_TEST

/*  In the own voting of term 9, with that `active` and that table. */
static void
vote_with (lk_host from, const lk_decree *active)
{
    lk_lock_message message = message_of (LK_MSG_VOTED, term_of (9, 0));
    message.as.voted = (lk_msg_voted) {.eligible = true,
                                       .active = *active,
                                       .holds.term = active->term,
                                       .sees = MEMBERS | LK_HOST_BIT (from)};
    give (from, &message);
}

/*  Whom it is to add was told anything before: neither the members nor the
 *  tickets follow from that. */
START_TEST (the_vote_of_the_host_that_is_to_be_added)
{
    const lk_decree forged =
        decree_of (term_of (8, 15), 1 << STRANGER | MEMBERS, 6, 1, 2);
    give_plain (MEMBER, LK_MSG_VOTE, term_of (8, 3));
    *lk_plant (node).change = (lk_change) {
        .wish = LK_WISH_ADD, .host = STRANGER, .until_ms = now_ms + 30000};
    *lk_plant (node).promised_ms = LK_LONG_AGO;
    lk_vote_start (lk_node_election (node));
    vote_with (STRANGER, &forged);
    vote_with (2, &decree);
    vote_with (3, &decree);
    vote_with (4, &decree);
    vote_with (LEADER, &decree);
    ck_assert (lk_hosts_has (election ().voted, STRANGER));
    const lk_election_view view = election ();
    ck_assert_int_eq (view.state, LK_ELECTION_ELECTED);
    ck_assert_uint_eq (view.decree.members, MEMBERS);
    ck_assert_uint_eq (view.previous.term.number, 7);
    ck_assert_uint_ne (view.holder, STRANGER);
}
END_TEST

/*  That one has the table would make a proposer wait. */
START_TEST (a_stranger_holds_nothing)
{
    lk_lock_message message = ping_of (STRANGER, MEMBERS);
    message.as.ping.table = decree;
    give (STRANGER, &message);
    ck_assert_uint_eq (lk_hears_holders (lk_node_leader (node)), 0x1e);
}
END_TEST

START_TEST (a_decree_that_came_with_a_vote)
{
    lk_lock_message message = message_of (LK_MSG_VOTED, term_of (9, 0));
    *lk_plant (node).state = LK_ELECTION_VOTING;
    *lk_plant (node).term = message.term;
    *lk_plant (node).until_ms = now_ms + 1000;
    message.as.voted.active =
        decree_of (term_of (8, 1), MEMBERS | 1 << STRANGER, 1, 2, 3);
    message.from = MEMBER;
    lk_on_voted (lk_node_election (node), &message);
    ck_assert_int_eq (judge (STRANGER, sample (LK_MSG_VOTED)), YES);
}
END_TEST

/*  -------------------------------------------------------- what else */

/*  It leads no more, and its lease rests on others. */
static void
step_down (void)
{
    const lk_decree without = decree_of (term_of (8, 1), MEMBERS, 1, 2, 4);
    give_decree (LEADER, LK_MSG_READY, &without);
    now_ms += 100;
    ck_assert (!proxy ().live || proxy ().lease_until_ms < now_ms + 8000);
}

/*  It says that it leads, and vouches. */
static void
vouch_as_leader (lk_host from, const lk_decree *table)
{
    lk_lock_message message = ping_of (from, MEMBERS);
    message.as.ping.table = *table;
    message.as.ping.ready = true;
    message.as.ping.vouch = lk_node_core (node)->facts.session;
    give (from, &message);
}

static bool
is_vouched_for (void)
{
    return proxy ().live && proxy ().lease_until_ms == now_ms + 8000;
}

/*  Neither a decree in force, nor the lease of this host. */
START_TEST (a_stranger_that_says_it_leads)
{
    const lk_decree next = next_decree (MEMBERS | 1 << STRANGER);
    step_down ();
    vouch_as_leader (STRANGER, &next);
    ck_assert_uint_eq (lk_node_core (node)->in_force.term.number, 8);
    ck_assert (!is_vouched_for ());
    vouch_as_leader (MEMBER, &next); /* leads there, too */
    ck_assert_uint_eq (lk_node_core (node)->in_force.term.number, 9);
    ck_assert (is_vouched_for ());
}
END_TEST

/*  A member that leads nothing vouches for nobody. */
START_TEST (who_vouches)
{
    step_down ();
    const lk_decree same = lk_node_core (node)->in_force;
    vouch_as_leader (MEMBER, &same);
    ck_assert (!is_vouched_for ());
    vouch_as_leader (2, &same);
    ck_assert (is_vouched_for ());
}
END_TEST

/*  What proxies ask for shows that a term is in force, if they are members. */
START_TEST (whose_requests_have_it_serve)
{
    lk_lock_message message = sample (LK_MSG_LOCK);
    *lk_plant (node).ready = false;
    give (PROXY, &message);
    ck_assert (!leader ().ready);
    message.as.request.ticket.request.host = MEMBER;
    give (MEMBER, &message);
    ck_assert (leader ().ready);
}
END_TEST

/*  The last term that there is. */
START_TEST (a_stranger_uses_up_no_terms)
{
    const lk_term last = {LK_TERM_NUMBER_MAX, 0xa6};
    lk_lock_message message = ping_of (STRANGER, MEMBERS);
    message.as.ping.at++;
    message.as.ping.promised = last;
    give (STRANGER, &message);
    give_plain (STRANGER, LK_MSG_VOTE, last);
    ck_assert_int_eq (said[LK_MSG_VOTED], 0);
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
    lk_vote_start (lk_node_election (node));
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 8);
}
END_TEST

/*  As often as two have come, four, eight, ... */
START_TEST (dropping_is_told_ever_more_seldom)
{
    int told = 0;
    for (int i = 0; i < 64; i++) {
        give_plain (STRANGER, LK_MSG_VOTE, term_of (8, 6));
        for (size_t k = 0; k < effects.count; k++) {
            told += effects.item[k].type == LK_DO_TRACE
                    && effects.item[k].level == LK_TRACE_WARNING;
        }
    }
    ck_assert_int_eq (told, 7);
    lk_node_status status;
    lk_node_get_status (node, &status);
    ck_assert_uint_eq (status.dropped, 64);
    ck_assert_uint_eq (status.dropped_from, STRANGER);
    ck_assert_int_eq (status.dropped_kind, LK_MSG_VOTE);
}
END_TEST

START_TEST (who_was_dropped_is_forgotten)
{
    give_plain (STRANGER, LK_MSG_VOTE, term_of (8, 6));
    lk_node_forget (node, STRANGER);
    ck_assert_uint_eq (node_status ().dropped, 1);
    ck_assert_uint_eq (node_status ().dropped_from, LK_NOBODY);
}
END_TEST

/*  -------------------------------------------------------- all of it */

int
main (void)
{
    TCase *tests = tcase_create ("senders");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, each_kind_has_a_row);
    tcase_add_loop_test (tests, in_quiet_times, 0, ROWS);
    tcase_add_loop_test (tests, requests, 0, ROWS);
    tcase_add_test (tests, audited);
    tcase_add_test (tests, answers_of_a_later_term);
    tcase_add_test (tests, a_promised_term_is_no_key);
    tcase_add_test (tests, the_host_that_is_to_be_added);
    tcase_add_test (tests, the_decree_that_it_proposes);
    tcase_add_test (tests, the_doorway_that_it_is_in);
    tcase_add_loop_test (tests, which_decrees_are_known, 0, 4);
    tcase_add_loop_test (tests, decrees_come_from_members, 0, 5);
    tcase_add_loop_test (tests, decrees_while_it_is_cut_off, 0, 5);
    tcase_add_loop_test (tests, decrees_for_a_proxy, 0, 5);
    tcase_add_loop_test (tests, decrees_for_who_knows_none, 0, 5);
    tcase_add_test (tests, a_decree_that_comes_too_late);
    tcase_add_test (tests, the_vote_of_the_host_that_is_to_be_added);
    tcase_add_test (tests, a_stranger_holds_nothing);
    tcase_add_test (tests, a_decree_that_came_with_a_vote);
    tcase_add_test (tests, a_stranger_that_says_it_leads);
    tcase_add_test (tests, who_vouches);
    tcase_add_test (tests, whose_requests_have_it_serve);
    tcase_add_test (tests, a_stranger_uses_up_no_terms);
    tcase_add_test (tests, dropping_is_told_ever_more_seldom);
    tcase_add_test (tests, who_was_dropped_is_forgotten);
    return run_tests ("core_senders", tests);
}
