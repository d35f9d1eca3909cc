/*  core_readiness.c - what a node tells of whether locks can be had
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "proxied.h"

static void
hear (lk_host from, const lk_decree *table, bool well)
{
    lk_lock_message message = ping_of (from, 0xf);
    message.as.ping.active = *table;
    message.as.ping.promised = table->term;
    message.as.ping.table = *table;
    message.as.ping.ready = true;
    message.as.ping.well = well;
    message.as.ping.vouch = lk_node_core (node)->facts.session;
    give (from, &message);
}

/*  What its shell knows: how it was at the end of the last step that told it to
 *  look. */
static bool told_ready;

static void
look (void)
{
    lk_node_status status;
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_STATUS) {
            lk_node_get_status (node, &status);
            told_ready = status.ready;
        }
    }
}

static void
hear_all (const lk_decree *table, bool well)
{
    now_ms++;
    for (lk_host host = 1; host < 4; host++) {
        hear (host, table, well);
        look ();
    }
}

static void
begin (void)
{
    set_up ();
    told_ready = lk_proxy_is_ready (lk_node_proxy (node));
}

static void
pass (int64_t ms)
{
    wait_ms (ms);
    look ();
}

/*  The leaders change, for some milliseconds nothing is granted, and when time
 *  passes next it is as it was before. */
START_TEST (what_it_is_told_between_two_looks)
{
    pass (LK_PING_MS);
    ck_assert (told_ready);
    hear_all (&decree, false);
    lk_decree next = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    give_decree (1, LK_MSG_READY, &next);
    look ();
    ck_assert (!told_ready);
    hear_all (&next, true);
    pass (LK_PING_MS);
    ck_assert (lk_proxy_is_ready (lk_node_proxy (node)));
    ck_assert (told_ready);
}
END_TEST

START_TEST (an_end_that_nobody_tells)
{
    pass (LK_PING_MS);
    ck_assert (told_ready);
    for (int64_t ms = 0; ms < lk_node_core (node)->config.dead_after_ms;
         ms += LK_PING_MS) {
        pass (LK_PING_MS);
    }
    ck_assert (!lk_proxy_is_ready (lk_node_proxy (node)));
    ck_assert (!told_ready);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("readiness");
    tcase_add_checked_fixture (tests, begin, stop);
    tcase_add_test (tests, what_it_is_told_between_two_looks);
    tcase_add_test (tests, an_end_that_nobody_tells);
    return run_tests ("core_readiness", tests);
}
