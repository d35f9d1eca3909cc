/*  lock_options.c - what a lock service was told reaches its node and others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lock_fake.h"

#include "lib/decode.h"

#define RANDOM_BITS 28

static void
prepare (void)
{
    begin ();
    write_genesis ("blue");
}

/*  Pairs of key and value, NULL at the end. */
static void
start_with (const char *const (*settings)[2])
{
    lk_lockd_options options;
    lk_problem problem;
    lk_config *config = lk_config_new (lk_settings);
    ck_assert (!lk_config_set (config, "lock/state", dir, &problem));
    ck_assert (!lk_config_set (config, "lock/run", dir, &problem));
    for (; (*settings)[0]; settings++) {
        ck_assert (
            !lk_config_set (config, (*settings)[0], (*settings)[1], &problem));
    }
    ck_assert (!lk_lockd_options_read (&options, config, &problem));
    lk_config_destroy (&config);
    lk_lockd_init (&lockd, &options);
    ck_assert (lk_lockd_open (&lockd));
    attach ();
}

static const char *const nothing[][2] = {{NULL, NULL}};

/*  What other hosts hear of us, at once after the start. */
static lk_msg_started
started (void)
{
    lk_lock_message decoded;
    lk_hostmap hostmap = lockd.hostmap;
    ck_assert_uint_ge (bus.count, 1);
    ck_assert_str_eq (lk_message_command (bus.sent[0]), "LOCKSTARTED");
    lk_message_set_from (bus.sent[0], "lock@h1");
    ck_assert_int_eq (
        lk_lock_decode (bus.sent[0], &hostmap, lockd.self, &decoded), LK_OK);
    lk_msg_started as = decoded.as.started;
    lk_lock_message_clear (&decoded);
    return as;
}

/*  -------------------------------------------------------- tests */

START_TEST (all_are_taken)
{
    static const char *const settings[][2] = {
        {"lock/priority", "3"},
        {"lock/leaders", "5"},
        {"lock/dead-after", "700"},
        {"lock/leader-lease", "1500"},
        {"lock/host-lease", "5000"},
        {"lock/grace", "12345"},
        {"lock/settle", "3000"},
        {"lock/domain", "au.perth.dc4"},
        {NULL, NULL},
    };
    start_with (settings);
    ck_assert (node.config.eligible);
    ck_assert_uint_eq (node.config.candidate.priority, 3);
    ck_assert_uint_eq (node.config.leaders_max, 5);
    ck_assert_int_eq (node.config.dead_after_ms, 700);
    ck_assert_int_eq (node.config.leader_lease_ms, 1500);
    ck_assert_int_eq (node.config.host_lease_ms, 5000);
    ck_assert_int_eq (node.config.grace_ms, 12345);
    ck_assert_int_eq (node.config.settle_ms, 3000);
    ck_assert_int_eq (node.config.steady_ms, 30000);
    ck_assert_uint_eq (started ().candidate.priority, 3);
    ck_assert (started ().eligible);
    ck_assert_int_eq (lk_message_number (bus.sent[0], "leader_lease", 0), 1500);
    ck_assert_int_eq (lk_message_number (bus.sent[0], "host_lease", 0), 5000);
    check_text (bus.sent[0], "domain", "au.perth.dc4");
}
END_TEST

START_TEST (defaults_reach_the_node)
{
    start_with (nothing);
    ck_assert (node.config.eligible);
    ck_assert_uint_eq (node.config.candidate.priority, 8);
    ck_assert_uint_eq (node.config.leaders_max, 3);
    ck_assert_int_eq (node.config.dead_after_ms, 1000);
    ck_assert_int_eq (node.config.leader_lease_ms, 2000);
    ck_assert_int_eq (node.config.host_lease_ms, 8000);
    ck_assert_int_eq (node.config.grace_ms, 60000);
    ck_assert (!lk_message_has (bus.sent[0], "domain"));
}
END_TEST

START_TEST (what_makes_no_sense)
{
    static const char *const settings[][3] = {
        {"lock/endpoint", "tcp://h1:7411", "'lock/endpoint': ipc://PATH"},
        {"lock/endpoint", "ipc://", "'lock/endpoint': ipc://PATH"},
        {"lock/leader-lease", "1999", "two times 'lock/dead-after'"},
        {"lock/host-lease", "6000", "three times 'lock/leader-lease'"},
        {"lock/domain", "au..perth", "'lock/domain': a location domain like"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        lk_lockd_options options;
        lk_problem problem;
        lk_config *config = lk_config_new (lk_settings);
        ck_assert (
            !lk_config_set (config, settings[i][0], settings[i][1], &problem));
        ck_assert_int_eq (lk_lockd_options_read (&options, config, &problem),
                          LK_INVALID);
        ck_assert_ptr_nonnull (strstr (problem.text, settings[i][2]));
        lk_config_destroy (&config);
    }
}
END_TEST

/*  It has no lease page, leads nothing, and answers nobody but to LOCKSTATUS;
 *  its router hears of keys of hosts, and of no applications' ones. */
START_TEST (an_arbiter_is_a_vote_alone)
{
    static const char *const unknown[] = {
        "LOCK",        "UNLOCK",        "LOCKLIST",    "LOCKOWNERS",
        "LOCKHISTORY", "LOCKTOP",       "LOCKMEMBERS", "LOCKSETTINGS",
        "LOCKRECOVER", "REGISTERCLIENT"};
    lk_lockd_options options;
    lk_problem problem;
    char path[PATH_MAX];
    lk_config *config = lk_config_new (lk_settings);
    ck_assert (!lk_config_set (config, "lock/state", dir, &problem));
    ck_assert (!lk_lockd_options_read (&options, config, &problem));
    lk_config_destroy (&config);
    options.arbiter = true;
    options.eligible = false;
    options.run_dir[0] = '\0';
    lk_lockd_init (&lockd, &options);
    ck_assert (lk_lockd_open (&lockd));
    attach ();
    ck_assert (!started ().eligible);
    ck_assert (!node.config.eligible);
    path_of (path, "lock.lease");
    ck_assert_int_ne (access (path, F_OK), 0);
    for (size_t i = 0; i < bus.count; i++) {
        ck_assert (!lk_message_is (bus.sent[i], "CLIENTKEYS"));
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        forget_sent ();
        give (new_message ("cli-7@h2", unknown[i], 9));
        (void) only_sent ("cli-7@h2", "UNKNOWN");
    }
    forget_sent ();
    give (new_message ("cli-7@h2", "LOCKSTATUS", 9));
    (void) only_sent ("cli-7@h2", "NOLOCK");
}
END_TEST

START_TEST (one_leader_will_do)
{
    static const char *const settings[][2] = {{"lock/leaders", "1"},
                                              {NULL, NULL}};
    start_with (settings);
    ck_assert_uint_eq (node.config.leaders_max, 1);
}
END_TEST

/*  A member all the same: it votes. */
START_TEST (priority_off_is_no_candidate)
{
    static const char *const settings[][2] = {{"lock/priority", "off"},
                                              {NULL, NULL}};
    start_with (settings);
    ck_assert (!node.config.eligible);
    ck_assert (node.config.member);
    ck_assert (!started ().eligible);
}
END_TEST

/*  In many starts each bit is 0 and 1, and no two nodes begin alike. */
START_TEST (chance_is_drawn_at_each_start)
{
    uint32_t ones = 0, zeroes = 0;
    uint8_t seed[sizeof node.config.seed] = {0};
    for (int i = 0; i < 64; i++) {
        start_with (nothing);
        ones |= node.config.candidate.random;
        zeroes |= ~node.config.candidate.random;
        ck_assert_mem_ne (node.config.seed, seed, sizeof seed);
        memcpy (seed, node.config.seed, sizeof seed);
        forget_sent ();
        node.count = 0;
        lk_lockd_clear (&lockd);
    }
    ck_assert_uint_eq (ones, (1u << RANDOM_BITS) - 1);
    ck_assert_uint_eq (zeroes, UINT32_MAX);
    start_with (nothing);
}
END_TEST

/*  Told as soon as it changes; what is known goes on all the same. */
START_TEST (as_many_hosts_as_have_to_be)
{
    static const char *const settings[][2] = {{"lock/hosts-min", "3"},
                                              {NULL, NULL}};
    start_with (settings);
    node.status.ready = true;
    node.status.sees = 3;
    forget_sent ();
    give (new_lock ("a@h1", 1, "o"));
    const lk_message *failed = only_sent ("a@h1", "LOCKFAILED");
    check_text (failed, "error", "isolated");
    forget_sent ();
    node.status.sees = 7;
    tick ();
    (void) only_sent ("*@.", "LOCKREADY");
    (void) ask ("a@h1", 2, "o");
    forget_sent ();
    node.status.sees = 5;
    tick ();
    check_text (only_sent ("*@.", "NOLOCK"), "reason",
                "2 of at least 3 hosts are there (hosts-min)");
    node.count = 0;
    forget_sent ();
    (void) ask ("a@h1", 2, "o");
    ck_assert_uint_eq (bus.count, 0);
    node.status.sees = 7;
    node.status.arbiters = 4; /* nobody asks for locks there */
    forget_sent ();
    tick ();
    ck_assert_uint_eq (bus.count, 0);
    node.status.arbiters = 0;
}
END_TEST

int
main (void)
{
    const TTest *const tests[] = {
        all_are_taken,
        defaults_reach_the_node,
        what_makes_no_sense,
        an_arbiter_is_a_vote_alone,
        one_leader_will_do,
        priority_off_is_no_candidate,
        chance_is_drawn_at_each_start,
        as_many_hosts_as_have_to_be,
    };
    const group groups[] = {GROUP ("options", tests, prepare)};
    return run_groups ("lock_options", groups, 1);
}
