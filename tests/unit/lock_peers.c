/*  lock_peers.c - which other lock services are of this cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each LOCKSTARTED is judged, whatever came of the one before: a service may
 *  be started anew with another configuration, and one without a cluster may
 *  join another than we do.
 */

#include "peers.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static lk_peers peers;
static lk_peer_news news;
static char problem[LK_PEERS_PROBLEM_SIZE];

/*  Of that cluster; NULL: of none. */
static lk_charter
charter_of (const char *cluster)
{
    lk_charter charter = {.protocol = LK_PEERS_PROTOCOL,
                          .leader_lease_ms = 2000,
                          .host_lease_ms = 8000};
    if (cluster) {
        snprintf (charter.name, sizeof charter.name, "%s", cluster);
        memcpy (charter.member[charter.count++], "h1", 3);
    }
    return charter;
}

static void
set_up_in (const char *cluster)
{
    static const lk_hostmap nobody;
    lk_lock_state state = {.id = 0x11};
    lk_peers_init (&peers, "h1", &state, &nobody);
    peers.charter = charter_of (cluster);
}

static lk_other_state
judge (const char *host, const lk_charter *charter)
{
    lk_other *other = lk_peers_intern (&peers, host, (uint64_t) host[1] + 0x20);
    return lk_peers_judge (&peers, other, charter, &news, problem);
}

static lk_other_state
judge_of (const char *host, const char *cluster)
{
    const lk_charter charter = charter_of (cluster);
    return judge (host, &charter);
}

static lk_other_state
state_of (const char *host)
{
    return lk_peers_intern (&peers, host, (uint64_t) host[1] + 0x20)->state;
}

/*  -------------------------------------------------------- again */

START_TEST (an_accepted_one_is_judged_again)
{
    set_up_in ("blue");
    ck_assert_int_eq (judge_of ("h2", "blue"), LK_OTHER_ACCEPTED);
    ck_assert_int_eq (news, LK_NEWS_NONE);
    ck_assert_int_eq (judge_of ("h2", "red"), LK_OTHER_REFUSED);
    ck_assert_int_eq (state_of ("h2"), LK_OTHER_REFUSED);
    ck_assert_str_ne (lk_peers_refusal (&peers), "");
    ck_assert_int_eq (judge_of ("h2", "blue"), LK_OTHER_ACCEPTED);
    ck_assert_str_eq (lk_peers_refusal (&peers), "");

    lk_charter other = charter_of ("blue");
    other.host_lease_ms++;
    ck_assert_int_eq (judge ("h2", &other), LK_OTHER_REFUSED);
    other = charter_of ("blue");
    ck_assert_int_eq (judge ("h2", &other), LK_OTHER_ACCEPTED);
    other.leader_lease_ms++;
    ck_assert_int_eq (judge ("h2", &other), LK_OTHER_REFUSED);
    other = charter_of ("blue");
    ck_assert_int_eq (judge ("h2", &other), LK_OTHER_ACCEPTED);
    other.protocol++;
    ck_assert_int_eq (judge ("h2", &other), LK_OTHER_REFUSED);
    other = charter_of ("blue");
    ck_assert_int_eq (judge ("h2", &other), LK_OTHER_ACCEPTED);
    memcpy (other.member[0], "h2", 3);
    ck_assert_int_eq (judge ("h2", &other), LK_OTHER_REFUSED);
}
END_TEST

/*  Nothing is heard of those that were taken without a cluster before they have
 *  said which one they are of by now; who is refused stays so. */
START_TEST (all_are_judged_again_when_a_cluster_is_joined)
{
    set_up_in (NULL);
    ck_assert_int_eq (judge_of ("h2", NULL), LK_OTHER_ACCEPTED);
    ck_assert_int_eq (judge_of ("h3", NULL), LK_OTHER_ACCEPTED);
    lk_charter other = charter_of (NULL);
    other.host_lease_ms++;
    ck_assert_int_eq (judge ("h4", &other), LK_OTHER_REFUSED);
    ck_assert_int_eq (news, LK_NEWS_NONE);

    ck_assert_int_eq (judge_of ("h5", "blue"), LK_OTHER_ACCEPTED);
    ck_assert_int_eq (news, LK_NEWS_JOINED);
    ck_assert_str_eq (peers.charter.name, "blue");
    ck_assert_int_eq (state_of ("h2"), LK_OTHER_NEW);
    ck_assert_int_eq (state_of ("h3"), LK_OTHER_NEW);
    ck_assert_int_eq (state_of ("h4"), LK_OTHER_REFUSED);
    ck_assert_int_eq (state_of ("h5"), LK_OTHER_ACCEPTED);

    ck_assert_int_eq (judge_of ("h2", "red"), LK_OTHER_REFUSED);
    ck_assert_int_eq (news, LK_NEWS_NONE);
    ck_assert_int_eq (judge_of ("h3", "blue"), LK_OTHER_ACCEPTED);
    ck_assert_int_eq (news, LK_NEWS_NONE);
    ck_assert_int_eq (judge_of ("h5", "red"), LK_OTHER_REFUSED);
    ck_assert_str_eq (peers.charter.name, "blue");
}
END_TEST

/*  Of two that have one state file the first is taken, and the other one when
 *  that is not there any more as one of ours. */
START_TEST (one_of_two_copies)
{
    set_up_in ("blue");
    const lk_charter blue = charter_of ("blue");
    const lk_charter red = charter_of ("red");
    lk_other *one = lk_peers_intern (&peers, "h2", 0x77);
    lk_other *other = lk_peers_intern (&peers, "h3", 0x77);
    lk_other *ours = lk_peers_intern (&peers, "h4", 0x11);
    ck_assert_ptr_ne (one, other);
    ck_assert_int_eq (lk_peers_judge (&peers, one, &blue, &news, problem),
                      LK_OTHER_ACCEPTED);
    ck_assert_int_eq (lk_peers_judge (&peers, other, &blue, &news, problem),
                      LK_OTHER_REFUSED);
    ck_assert_int_eq (lk_peers_judge (&peers, one, &blue, &news, problem),
                      LK_OTHER_ACCEPTED);
    ck_assert_int_eq (lk_peers_judge (&peers, one, &red, &news, problem),
                      LK_OTHER_REFUSED);
    ck_assert_int_eq (lk_peers_judge (&peers, other, &blue, &news, problem),
                      LK_OTHER_ACCEPTED);
    ck_assert_int_eq (lk_peers_judge (&peers, ours, &blue, &news, problem),
                      LK_OTHER_REFUSED);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("lock_peers");
    TCase *again = tcase_create ("again");
    suite_add_tcase (suite, again);
    tcase_add_test (again, an_accepted_one_is_judged_again);
    tcase_add_test (again, all_are_judged_again_when_a_cluster_is_joined);
    tcase_add_test (again, one_of_two_copies);
    return lk_suite_run (suite);
}
