/*  lock_apps.c - the lock service's tables: applications, peers, options
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apps.h"
#include "node.h"
#include "peers.h"
#include "settings/keys.h"
#include "settings/lock.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  -------------------------------------------------------- applications */

START_TEST (apps_have_numbers)
{
    lk_apps apps;
    lk_apps_init (&apps);
    ck_assert_ptr_null (lk_apps_find (&apps, "a@h1"));
    lk_app *a = lk_apps_intern (&apps, "a@h1");
    lk_app *b = lk_apps_intern (&apps, "b@h1");
    ck_assert_ptr_eq (lk_apps_intern (&apps, "a@h1"), a);
    ck_assert_ptr_eq (lk_apps_find (&apps, "b@h1"), b);
    ck_assert_uint_ne (a->number, b->number);
    ck_assert_ptr_eq (lk_apps_by_number (&apps, a->number), a);
    uint32_t gone = a->number;
    lk_apps_remove (&apps, a);
    ck_assert_ptr_null (lk_apps_by_number (&apps, gone));
    ck_assert_uint_ne (lk_apps_intern (&apps, "a@h1")->number, gone);
    lk_apps_clear (&apps);
}
END_TEST

START_TEST (apps_numbers_wrap)
{
    lk_apps apps;
    lk_apps_init (&apps);
    ck_assert_uint_eq (lk_apps_intern (&apps, "a@h1")->number, 1);
    apps.last_number = UINT32_MAX;
    ck_assert_uint_eq (lk_apps_intern (&apps, "b@h1")->number, 2);
    lk_apps_clear (&apps);
}
END_TEST

START_TEST (apps_are_limited)
{
    lk_apps apps;
    lk_apps_init (&apps);
    apps.apps_max = 1;
    lk_app *a = lk_apps_intern (&apps, "a@h1");
    ck_assert_ptr_null (lk_apps_intern (&apps, "b@h1"));
    ck_assert_ptr_eq (lk_apps_intern (&apps, "a@h1"), a);
    lk_apps_clear (&apps);
}
END_TEST

/*  -------------------------------------------------------- answers */

START_TEST (answers_are_kept)
{
    lk_apps apps;
    lk_apps_init (&apps);
    lk_app *a = lk_apps_intern (&apps, "a@h1");
    lk_answer one = {.kind = LK_ANSWER_LOCKED, .serial = 7, .token = 5};
    lk_answer two = {.kind = LK_ANSWER_FAILED, .serial = 8, .token = 6};
    lk_unsent_keep (&a->unsent, &one);
    lk_unsent_keep (&a->unsent, &two);
    one.token = 6;
    lk_unsent_keep (&a->unsent, &one);
    ck_assert (lk_unsent_has (a->unsent, 7) && !lk_unsent_has (a->unsent, 9));
    ck_assert_uint_eq (lk_unsent_first (a->unsent)->token, 6);
    ck_assert_uint_eq (lk_unsent_first (a->unsent)->serial, 7);
    lk_unsent_sent (&a->unsent, lk_unsent_first (a->unsent));
    lk_unsent_sent (&a->unsent, &one);
    ck_assert_uint_eq (lk_unsent_first (a->unsent)->serial, 8);
    lk_unsent_sent (&a->unsent, &two);
    ck_assert_ptr_null (lk_unsent_first (a->unsent));
    lk_unsent_keep (&a->unsent, &two);
    lk_apps_clear (&apps);
}
END_TEST

/*  A danger comes second, and is none of what is over. */
START_TEST (dangers_are_kept)
{
    lk_unsent *unsent = NULL;
    lk_answer danger = {
        .kind = LK_ANSWER_JEOPARDY, .serial = 7, .danger = true};
    lk_answer end = {.kind = LK_ANSWER_UNLOCKED, .serial = 7};
    lk_answer locked = {.kind = LK_ANSWER_LOCKED, .serial = 7};
    lk_unsent_keep (&unsent, &danger);
    ck_assert (!lk_unsent_has (unsent, 7));
    lk_unsent_keep (&unsent, &locked);
    ck_assert_int_eq (lk_unsent_first (unsent)->kind, LK_ANSWER_LOCKED);
    lk_unsent_sent (&unsent, &locked);
    ck_assert (lk_unsent_first (unsent)->danger);
    lk_unsent_keep (&unsent, &end);
    lk_unsent_sent (&unsent, &end);
    ck_assert_ptr_null (unsent);
    lk_unsent_keep (&unsent, &danger);
    lk_unsent_sent (&unsent, &end);
    ck_assert_ptr_null (unsent);
    end.kind = LK_ANSWER_FAILED;
    lk_unsent_keep (&unsent, &danger);
    lk_unsent_sent (&unsent, &end);
    ck_assert_ptr_null (unsent);
    lk_unsent_clear (&unsent);
}
END_TEST

START_TEST (another_is_the_first)
{
    lk_unsent *unsent = NULL;
    lk_unsent_defer (&unsent);
    for (uint64_t serial = 1; serial <= 3; serial++) {
        lk_unsent_keep (&unsent, &(lk_answer) {.serial = serial});
    }
    lk_unsent_defer (&unsent);
    ck_assert_uint_eq (lk_unsent_first (unsent)->serial, 2);
    lk_unsent_sent (&unsent, &(lk_answer) {.serial = 2});
    lk_unsent_sent (&unsent, &(lk_answer) {.serial = 3});
    lk_unsent_defer (&unsent);
    ck_assert_uint_eq (lk_unsent_first (unsent)->serial, 1);
    lk_unsent_clear (&unsent);
}
END_TEST

/*  What is lent is somebody else's again. */
START_TEST (names_are_copied)
{
    char text[] = "abcd";
    const lk_name rest[] = {{text + 1, 1}, {text + 2, 2}};
    const lk_granted set[] = {{{text, 1}, 5, 6}, {{text + 1, 3}, 7, 8}};
    lk_unsent *unsent = NULL;
    lk_answer answer = {
        .kind = LK_ANSWER_LOCKED,
        .serial = 1,
        .asked = {.object = {text, 1}, .rest = rest, .rest_count = 2},
        .set = set,
        .set_count = 2,
        .reason = {text + 3, 1}};
    lk_unsent_keep (&unsent, &answer);
    memset (text, '?', sizeof text);
    const lk_answer *kept = lk_unsent_first (unsent);
    ck_assert_mem_eq (kept->asked.object.data, "a", 1);
    ck_assert_mem_eq (kept->asked.rest[0].data, "b", 1);
    ck_assert_mem_eq (kept->asked.rest[1].data, "cd", 2);
    ck_assert_mem_eq (kept->set[1].object.data, "bcd", 3);
    ck_assert_uint_eq (kept->set[1].key, 8);
    ck_assert_mem_eq (kept->reason.data, "d", 1);
    lk_unsent_clear (&unsent);
}
END_TEST

/*  -------------------------------------------------------- peers */

static lk_peers peers;

static void
begin_peers (const char *cluster)
{
    lk_hostmap hostmap;
    lk_lock_state state = {.id = 11};
    lk_hostmap_init (&hostmap);
    snprintf (state.cluster, sizeof state.cluster, "%s", cluster);
    if (cluster[0]) {
        lk_host h2 = lk_hostmap_intern (&hostmap, "h2", 0);
        lk_host h1 = lk_hostmap_intern (&hostmap, "h1", 11);
        state.genesis = LK_HOST_BIT (h1) | LK_HOST_BIT (h2);
    }
    lk_peers_init (&peers, "h1", &state, &hostmap);
    peers.charter.leader_lease_ms = 2000;
    peers.charter.host_lease_ms = 8000;
}

/*  What a LOCKSTARTED of that cluster says. */
static lk_charter
hear_cluster (const char *cluster, const char *one, const char *other)
{
    lk_charter heard;
    lk_message *message = lk_message_new ("lock@h1", "LOCKSTARTED");
    lk_message_set_number (message, "protocol", LK_PEERS_PROTOCOL);
    lk_message_set_text (message, "cluster", cluster);
    lk_message_set_number (message, "leader_lease", 2000);
    lk_message_set_number (message, "host_lease", 8000);
    if (one) {
        lk_message_add_item (message, "genesis", one);
        lk_message_add_item (message, "genesis", other);
    }
    ck_assert (lk_charter_read (&heard, message));
    lk_message_destroy (&message);
    return heard;
}

static lk_other_state
judge (const char *host, uint64_t id, lk_charter theirs, char *problem)
{
    lk_peer_news news;
    lk_other *other = lk_peers_intern (&peers, host, id);
    return lk_peers_judge (&peers, other, &theirs, &news, problem);
}

START_TEST (peers_of_one_cluster)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    begin_peers ("blue");
    ck_assert_int_eq (
        judge ("h2", 12, hear_cluster ("blue", "h2", "h1"), problem),
        LK_OTHER_ACCEPTED);
    ck_assert_int_eq (judge ("h3", 13, hear_cluster ("", NULL, NULL), problem),
                      LK_OTHER_ACCEPTED);
    ck_assert_int_eq (lk_peers_intern (&peers, "h2", 99)->state, LK_OTHER_NEW);
}
END_TEST

START_TEST (peers_that_differ)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    begin_peers ("blue");
    ck_assert_int_eq (
        judge ("h2", 12, hear_cluster ("red", "h1", "h2"), problem),
        LK_OTHER_REFUSED);
    ck_assert_str_eq (problem, "host 'h1' is of cluster 'blue', "
                               "host 'h2' of cluster 'red'");
    ck_assert_int_eq (
        judge ("h2", 12, hear_cluster ("blue", "h1", "h3"), problem),
        LK_OTHER_REFUSED);
    ck_assert_str_eq (problem, "the first members of a cluster differ: "
                               "'h1,h2' on host 'h1', 'h1,h3' on host 'h2'");
    ck_assert_int_eq (
        judge ("h2", 12, hear_cluster ("blue", "h1", "h2"), problem),
        LK_OTHER_ACCEPTED);
}
END_TEST

/*  Whoever says nothing of it is older than the field, with a cluster or
 *  not. */
START_TEST (peers_with_another_protocol)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    begin_peers ("blue");
    lk_charter old = hear_cluster ("blue", "h1", "h2");
    old.protocol = 0;
    ck_assert_int_eq (judge ("h2", 12, old, problem), LK_OTHER_REFUSED);
    ck_assert_str_eq (problem,
                      "host 'h1' speaks version 7 of the protocol of lock "
                      "services, host 'h2' version 0: run one version of "
                      "lockkeeper on all hosts");
    lk_charter proxy = hear_cluster ("", NULL, NULL);
    proxy.protocol = LK_PEERS_PROTOCOL + 1;
    ck_assert_int_eq (judge ("h3", 13, proxy, problem), LK_OTHER_REFUSED);
    begin_peers ("");
    ck_assert_int_eq (judge ("h2", 12, old, problem), LK_OTHER_REFUSED);
    ck_assert_str_eq (peers.charter.name, "");
}
END_TEST

START_TEST (peers_with_other_leases)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    begin_peers ("blue");
    lk_charter blue = hear_cluster ("blue", "h1", "h2");
    blue.host_lease_ms = 9000;
    ck_assert_int_eq (judge ("h2", 12, blue, problem), LK_OTHER_REFUSED);
    ck_assert_str_eq (problem, "leader-lease and host-lease differ: 2000, "
                               "8000 on host 'h1', 2000, 9000 on host 'h2'");
    lk_charter proxy = hear_cluster ("", NULL, NULL);
    proxy.leader_lease_ms = 1000;
    ck_assert_int_eq (judge ("h3", 13, proxy, problem), LK_OTHER_REFUSED);
}
END_TEST

START_TEST (peers_with_a_copied_state)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    begin_peers ("blue");
    lk_charter blue = hear_cluster ("blue", "h1", "h2");
    ck_assert_int_eq (judge ("h2", 11, blue, problem), LK_OTHER_REFUSED);
    ck_assert_ptr_nonnull (strstr (problem, "'h1' and 'h2'"));
    ck_assert_int_eq (judge ("h2", 12, blue, problem), LK_OTHER_ACCEPTED);
    ck_assert_int_eq (judge ("h3", 12, blue, problem), LK_OTHER_REFUSED);
    ck_assert_ptr_nonnull (strstr (problem, "'h2' and 'h3'"));
}
END_TEST

START_TEST (peers_joined_by_a_proxy)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    lk_peer_news news;
    begin_peers ("");
    lk_charter blue = hear_cluster ("blue", "h1", "h2");
    lk_other *h2 = lk_peers_intern (&peers, "h2", 12);
    ck_assert_int_eq (lk_peers_judge (&peers, h2, &blue, &news, problem),
                      LK_OTHER_ACCEPTED);
    ck_assert_int_eq (news, LK_NEWS_JOINED);
    ck_assert_str_eq (peers.charter.name, "blue");
    ck_assert_int_eq (
        judge ("h4", 14, hear_cluster ("red", "h4", "h5"), problem),
        LK_OTHER_REFUSED);
}
END_TEST

START_TEST (peers_malformed)
{
    lk_charter cluster;
    begin_peers ("blue");
    ck_assert_ptr_null (lk_peers_intern (&peers, "h2", 0));
    ck_assert_ptr_null (lk_peers_intern (&peers, "h 2", 1));
    ck_assert_ptr_null (lk_peers_intern (&peers, "", 1));
    lk_message *message = lk_message_new ("lock@h1", "LOCKSTARTED");
    ck_assert (!lk_charter_read (&cluster, message));
    lk_message_set_number (message, "leader_lease", 2000);
    lk_message_set_number (message, "host_lease", 8000);
    ck_assert (!lk_charter_read (&cluster, message)); /* no name */
    lk_message_set_text (message, "cluster", "");
    ck_assert (lk_charter_read (&cluster, message));
    ck_assert_int_eq (cluster.protocol, 0);
    lk_message_set_text (message, "protocol", "1");
    ck_assert (!lk_charter_read (&cluster, message));
    lk_message_set_number (message, "protocol", -1);
    ck_assert (!lk_charter_read (&cluster, message));
    lk_message_set_number (message, "protocol", 1);
    lk_message_set_text (message, "cluster", "blue");
    ck_assert (!lk_charter_read (&cluster, message)); /* no members */
    lk_message_add_item (message, "genesis", "h 1");
    ck_assert (!lk_charter_read (&cluster, message));
    lk_message_destroy (&message);
}
END_TEST

/*  The one that was heard before all others makes room: first those whose
 *  cluster is not known to be ours. */
START_TEST (peers_make_room)
{
    const uint64_t end = 100 + LK_PEERS_MAX;
    char problem[LK_PEERS_PROBLEM_SIZE];
    begin_peers ("blue");
    lk_charter blue = hear_cluster ("blue", "h1", "h2");
    judge ("h2", 100, blue, problem);
    judge ("h2", 101, blue, problem);
    for (uint64_t id = 1000; id < 11000; id++) {
        ck_assert_int_eq (lk_peers_intern (&peers, "h2", id)->state,
                          LK_OTHER_NEW);
    }
    ck_assert_uint_eq (peers.count, LK_PEERS_MAX);
    ck_assert_int_eq (lk_peers_intern (&peers, "h2", 100)->state,
                      LK_OTHER_ACCEPTED);
    for (uint64_t id = 102; id <= end; id++) { /* one too many */
        judge ("h2", id, blue, problem);
    }
    ck_assert_int_eq (lk_peers_intern (&peers, "h2", 100)->state,
                      LK_OTHER_ACCEPTED);
    ck_assert_int_eq (lk_peers_intern (&peers, "h2", 101)->state, LK_OTHER_NEW);
}
END_TEST

START_TEST (peers_are_forgotten)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    begin_peers ("blue");
    judge ("h2", 12, hear_cluster ("blue", "h1", "h2"), problem);
    judge ("h3", 13, hear_cluster ("red", "h1", "h2"), problem);
    ck_assert_str_ne (lk_peers_refusal (&peers), "");
    lk_peers_forget (&peers, "h3", 12);
    ck_assert_str_ne (lk_peers_refusal (&peers), "");
    lk_peers_forget (&peers, "h3", 13);
    ck_assert_str_eq (lk_peers_refusal (&peers), "");
    lk_peers_forget (&peers, "h2", 12);
    ck_assert_int_eq (lk_peers_intern (&peers, "h2", 12)->state, LK_OTHER_NEW);
}
END_TEST

/*  -------------------------------------------------------- options */

static lk_err
set_and_read (lk_lockd_options *options, const char *const (*set)[2])
{
    lk_problem problem;
    lk_config *config = lk_config_new (lk_settings);
    lk_err error = LK_OK;
    for (size_t i = 0; set[i][0] && error == LK_OK; i++) {
        error = lk_config_set (config, set[i][0], set[i][1], &problem);
    }
    if (error == LK_OK) {
        error = lk_lockd_options_read (options, config, &problem);
    }
    lk_config_destroy (&config);
    return error;
}

static const char *const nothing[][2] = {{NULL, NULL}};

/*  Those of the pages. */
START_TEST (options_have_defaults)
{
    lk_lockd_options options;
    ck_assert_int_eq (set_and_read (&options, nothing), LK_OK);
    ck_assert_str_eq (options.endpoint, "ipc:///run/lockkeeper/router");
    ck_assert_str_eq (options.state_dir, "/var/lib/lockkeeper");
    ck_assert_str_eq (options.run_dir, "/run/lockkeeper");
    ck_assert_int_eq (options.log_level, LK_LOG_NOTICE);
    ck_assert (!options.syslog);
    ck_assert (options.eligible);
    ck_assert_uint_eq (options.priority, 8);
    ck_assert_uint_eq (options.leaders_max, 3);
    ck_assert_int_eq (options.dead_after_ms, 1000);
    ck_assert_int_eq (options.leader_lease_ms, 2000);
    ck_assert_int_eq (options.host_lease_ms, 8000);
    ck_assert_int_eq (options.grace_ms, 60000);
}
END_TEST

/*  The core's own, with which the simulator runs it, are the same. */
START_TEST (the_core_has_the_same_defaults)
{
    lk_lockd_options options;
    lk_node_config config;
    ck_assert_int_eq (set_and_read (&options, nothing), LK_OK);
    lk_node_config_init (&config);
    ck_assert (config.eligible == options.eligible);
    ck_assert_uint_eq (config.candidate.priority, options.priority);
    ck_assert_uint_eq (config.leaders_max, options.leaders_max);
    ck_assert_int_eq (config.dead_after_ms, options.dead_after_ms);
    ck_assert_int_eq (config.leader_lease_ms, options.leader_lease_ms);
    ck_assert_int_eq (config.host_lease_ms, options.host_lease_ms);
    ck_assert_int_eq (config.grace_ms, options.grace_ms);
}
END_TEST

START_TEST (options_are_set)
{
    static const char *const all[][2] = {
        {"lock/dead-after", "500"},
        {"lock/host-lease", "9000"},
        {"lock/priority", "15"},
        {"lock/leaders", "5"},
        {"lock/state", "/tmp/x"},
        {"lock/log-level", "debug"},
        {NULL, NULL},
    };
    static const char *const off[][2] = {{"lock/priority", "off"},
                                         {NULL, NULL}};
    lk_lockd_options options;
    ck_assert_int_eq (set_and_read (&options, all), LK_OK);
    ck_assert_int_eq (options.dead_after_ms, 500);
    ck_assert_int_eq (options.host_lease_ms, 9000);
    ck_assert_uint_eq (options.priority, 15);
    ck_assert_uint_eq (options.leaders_max, 5);
    ck_assert_int_eq (options.log_level, LK_LOG_DEBUG);
    ck_assert_str_eq (options.state_dir, "/tmp/x");
    ck_assert_int_eq (set_and_read (&options, off), LK_OK);
    ck_assert (!options.eligible);
}
END_TEST

START_TEST (options_are_refused)
{
    static const char *const bad[][2][2] = {
        {{"lock/dead-after", "1s"}, {NULL, NULL}},
        {{"lock/dead-after", "299"}, {NULL, NULL}},
        {{"lock/priority", "0"}, {NULL, NULL}},
        {{"lock/priority", "16"}, {NULL, NULL}},
        {{"lock/leaders", "2"}, {NULL, NULL}},
        {{"lock/state", ""}, {NULL, NULL}},
        {{"lock/host-lease", "6000"}, {NULL, NULL}},
        {{"lock/leader-lease", "1999"}, {NULL, NULL}},
    };
    lk_lockd_options options;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq (set_and_read (&options, bad[i]), LK_INVALID);
    }
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("lock_apps");
    TCase *apps = tcase_create ("apps");
    tcase_add_test (apps, apps_have_numbers);
    tcase_add_test (apps, apps_numbers_wrap);
    tcase_add_test (apps, apps_are_limited);
    suite_add_tcase (suite, apps);
    TCase *answers = tcase_create ("answers");
    tcase_add_test (answers, answers_are_kept);
    tcase_add_test (answers, dangers_are_kept);
    tcase_add_test (answers, another_is_the_first);
    tcase_add_test (answers, names_are_copied);
    suite_add_tcase (suite, answers);
    TCase *others = tcase_create ("peers");
    tcase_add_test (others, peers_of_one_cluster);
    tcase_add_test (others, peers_that_differ);
    tcase_add_test (others, peers_with_another_protocol);
    tcase_add_test (others, peers_with_other_leases);
    tcase_add_test (others, peers_with_a_copied_state);
    tcase_add_test (others, peers_joined_by_a_proxy);
    tcase_add_test (others, peers_malformed);
    tcase_add_test (others, peers_make_room);
    tcase_add_test (others, peers_are_forgotten);
    suite_add_tcase (suite, others);
    TCase *options = tcase_create ("options");
    tcase_add_test (options, options_have_defaults);
    tcase_add_test (options, the_core_has_the_same_defaults);
    tcase_add_test (options, options_are_set);
    tcase_add_test (options, options_are_refused);
    suite_add_tcase (suite, options);
    return lk_suite_run (suite);
}
