/*  changing.h - a cluster whose members change, played by the test
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For one test program each.
 */

#ifndef LK_CHANGING_H
#define LK_CHANGING_H

#include "core_fake.h"

#include <stdio.h>

#define NEW 5 /* no member yet */
#define BIT(host) LK_HOST_BIT (host)
#define ALL (~(lk_hosts) 0)

static lk_hosts others;     /* ping */
static int in_force;        /* own decrees so far */
static lk_hosts made[8];    /* members of each, from 1 */
static lk_hosts voters[8];  /* who answers VOTE, behind so many of them */
static lk_hosts markers[8]; /* ... and LOCKLEADERS, stage active */
static lk_hosts asked[LK_MSG_COUNT]; /* who was sent such a message */
static lk_term latest;
static char told[400]; /* the answers to LK_ON_CHANGE */

/*  -------------------------------------------------------- the others */

FAKE const lk_decree *
decree_now (void)
{
    return lk_node_core (node)->in_force.leader_count > 0
               ? &lk_node_core (node)->in_force
               : &lk_node_core (node)->facts.active;
}

FAKE bool
leads (lk_host host)
{
    return lk_decree_place (decree_now (), host) >= 0;
}

FAKE lk_lock_message
vote_of (lk_host host, lk_term term)
{
    const lk_decree *active = decree_now ();
    lk_lock_message message = message_of (LK_MSG_VOTED, term);
    message.as.voted = (lk_msg_voted) {.candidate = {.priority = host},
                                       .eligible = leads (host),
                                       .active = *active,
                                       .sees = others | BIT (0)};
    if (leads (host)) {
        message.as.voted.holds = (lk_holds) {.term = active->term, .length = 9};
    }
    return message;
}

/*  What `host` says to that; false: nothing. */
FAKE bool
answer_of (lk_host host, const lk_lock_message *to, lk_lock_message *answer)
{
    const lk_term term = to->term;
    if (to->kind == LK_MSG_DATE) {
        *answer = message_of (LK_MSG_AGREED, (lk_term) {0, 0});
        return true;
    }
    if (to->kind == LK_MSG_VOTE) {
        *answer = vote_of (host, term);
        return lk_hosts_has (voters[in_force], host);
    }
    if (to->kind == LK_MSG_ELECTED) {
        *answer = message_of (LK_MSG_EXITING, term);
        return to->as.decree.decree.leader[0] == host;
    }
    *answer = message_of (LK_MSG_ACTIVATED, term);
    return to->kind == LK_MSG_ACTIVE && lk_hosts_has (markers[in_force], host);
}

FAKE void
note (const lk_effect *effect)
{
    size_t used = strlen (told);
    if (effect->type == LK_DO_CHANGED) {
        snprintf (told + used, sizeof told - used, "%s: %s\n",
                  lk_err_word (effect->error), effect->text);
    }
}

/*  What the last step brought about, and what the others make of it. */
FAKE void
go_on (void)
{
    lk_lock_message answer[32];
    size_t count = 0;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        note (effect);
        if (effect->type == LK_DO_SEND) {
            const lk_lock_message *message = effect->message;
            ck_assert_uint_lt (count, 32);
            asked[message->kind] |= BIT (message->to);
            if (lk_hosts_has (others, message->to)
                && answer_of (message->to, message, &answer[count])) {
                answer[count++].from = message->to;
            }
        }
    }
    if (!lk_term_equal (latest, lk_node_core (node)->in_force.term)) {
        latest = lk_node_core (node)->in_force.term;
        ck_assert_int_lt (in_force, 7);
        made[++in_force] = lk_node_core (node)->in_force.members;
    }
    for (size_t i = 0; i < count; i++) {
        give (answer[i].from, &answer[i]);
        go_on ();
    }
}

FAKE void
pings (void)
{
    lk_hosts rest = others;
    while (rest) {
        const lk_host host = lk_hosts_take (&rest);
        lk_lock_message message = ping_of (host, others | BIT (0));
        message.as.ping.active = *decree_now ();
        message.as.ping.promised = decree_now ()->term;
        message.as.ping.eligible = leads (host);
        if (leads (host)) {
            message.as.ping.table = *decree_now ();
            message.as.ping.ready = message.as.ping.well = true;
        }
        give (host, &message);
        go_on ();
    }
}

FAKE void
ping_that_may_lead (lk_host host, bool may)
{
    now_ms++;
    lk_lock_message message = ping_of (host, others | BIT (0));
    message.as.ping.eligible = may;
    give (host, &message);
}

/*  Its service has ended. */
FAKE void
end (lk_host host)
{
    const lk_event event = {
        .type = LK_ON_HOST_GONE, .now_ms = now_ms, .host = host};
    step (&event);
}

FAKE void
pass (int64_t ms)
{
    for (; ms > 0; ms -= 20) {
        now_ms += 20;
        pings ();
        wait_ms (0);
        go_on ();
    }
}

FAKE void
change (bool add, lk_host host)
{
    const lk_event event = {
        .type = LK_ON_CHANGE, .now_ms = now_ms, .host = host, .add = add};
    step (&event);
    go_on ();
}

FAKE void
then (const char *expected)
{
    ck_assert_str_eq (told, expected);
    told[0] = '\0';
}

FAKE lk_hosts
members_now (void)
{
    return decree_now ()->members;
}

/*  -------------------------------------------------------- set-up */

FAKE void
forget (void)
{
    told[0] = '\0';
    in_force = 0;
    memset (made, 0, sizeof made);
    latest = lk_node_core (node)->in_force.term;
    memset (asked, 0, sizeof asked);
    memset (said, 0, sizeof said);
    memset (voters, 0xff, sizeof voters);
    memset (markers, 0xff, sizeof markers);
}

FAKE void
alone (void)
{
    const lk_decree genesis = {.members = BIT (0)};
    start_with ((lk_term) {0, 0}, &genesis);
    others = BIT (1);
    forget ();
}

/*  It leads, and hears host 1, which is no member. */
FAKE void
leading (void)
{
    alone ();
    pass (2000);
    ck_assert_uint_eq (lk_node_core (node)->in_force.term.number, 1);
    forget ();
}

/*  Term 7 with these members is in force; hosts 1, 2, ... lead. */
FAKE void
follow (lk_hosts members, uint8_t leader_count)
{
    const lk_decree decree = {.term = term_of (7, 1),
                              .members = members,
                              .leader_count = leader_count,
                              .leader = {1, 2, 3}};
    leaders_max = leader_count;
    start_with (decree.term, &decree);
    give_decree (1, LK_MSG_READY, &decree);
    others = (members | BIT (NEW)) & ~BIT (0);
    forget ();
    pings ();
}

FAKE void
four (void)
{
    follow (0xf, 3);
}

/*  -------------------------------------------------------- suite */

#define ADD_CASE(suite, set_up, ...)                                           \
    add_case (suite, #set_up, set_up, (const TTest *[]) {__VA_ARGS__, NULL})

FAKE void
add_case (Suite *suite, const char *name, void (*set_up) (void),
          const TTest **test)
{
    TCase *tests = tcase_create (name);
    tcase_add_checked_fixture (tests, set_up, stop);
    for (; *test; test++) {
        tcase_add_test (tests, *test);
    }
    suite_add_tcase (suite, tests);
}

#endif
