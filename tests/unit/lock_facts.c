/*  lock_facts.c - what a lock service writes down ahead of what it says
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lock_fake.h"

#include "net/lease_page.h"

#include <sys/stat.h>

/*  -------------------------------------------------------- start */

/*  What it promised before its start, above all. */
START_TEST (gives_the_core_what_it_has)
{
    lk_facts facts = {.promised = {7, OWN_ID}, .session = 9};
    facts.active = lockd.state.facts.active;
    add_effect ((lk_effect) {.type = LK_DO_PERSIST, .facts = facts});
    tick ();
    uint64_t seed = node.config.seed[0];
    lk_lockd_options options = lockd.options;
    options.leaders_max = 5;
    options.dead_after_ms = 700;
    options.leader_lease_ms = 1500;
    options.host_lease_ms = 5000;
    options.grace_ms = 7000;
    options.digest_ms = 300;
    forget_sent ();
    lk_lockd_clear (&lockd);
    memset (&node, 0, sizeof node);
    lk_lockd_init (&lockd, &options);
    ck_assert (lk_lockd_open (&lockd));
    attach ();
    ck_assert_uint_eq (node.config.facts.promised.number, 7);
    ck_assert_uint_eq (node.config.facts.promised.proposer, OWN_ID);
    ck_assert_uint_eq (node.config.facts.session, 9);
    ck_assert_uint_eq (node.config.facts.active.members, facts.active.members);
    ck_assert_uint_eq (node.config.leaders_max, 5);
    ck_assert_int_eq (node.config.dead_after_ms, 700);
    ck_assert_int_eq (node.config.leader_lease_ms, 1500);
    ck_assert_int_eq (node.config.host_lease_ms, 5000);
    ck_assert_int_eq (node.config.grace_ms, 7000);
    ck_assert_int_eq (node.config.digest_ms, 300);
    /*  Keys come from it: nobody must be able to guess them. */
    ck_assert_uint_ne (node.config.seed[0], seed);
    ck_assert_uint_ne (node.config.seed[0], node.config.seed[1]);
}
END_TEST

/*  One that cannot be read, being far too large here, is not made anew. */
START_TEST (refuses_an_unreadable_state)
{
    char path[128];
    lk_lockd_clear (&lockd);
    path_of (path, "lock.state");
    ck_assert_int_eq (truncate (path, LK_LOCK_STATE_SIZE_MAX + 1), 0);
    lk_lockd_options options = lockd.options;
    lk_lockd_init (&lockd, &options);
    ck_assert (!lk_lockd_open (&lockd));
    struct stat status;
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_int_eq (status.st_size, LK_LOCK_STATE_SIZE_MAX + 1);
}
END_TEST

/*  -------------------------------------------------------- effects */

START_TEST (persists_what_follows)
{
    lk_facts facts = {.promised = {7, OWN_ID}, .session = 9};
    facts.active = lockd.state.facts.active;
    add_effect ((lk_effect) {.type = LK_DO_PERSIST, .facts = facts});
    tick ();
    lk_lockd_clear (&lockd);
    open_lockd ();
    ck_assert_uint_eq (lockd.state.facts.promised.number, 7);
    ck_assert_uint_eq (lockd.state.facts.session, 9);
}
END_TEST

static uint64_t written[4]; /* promises on the disk at each sending */

static void
look_at_file (void)
{
    char path[128], text[LK_LOCK_STATE_SIZE_MAX], problem[256];
    path_of (path, "lock.state");
    FILE *file = fopen (path, "r");
    ck_assert_ptr_nonnull (file);
    size_t size = fread (text, 1, sizeof text, file);
    fclose (file);
    lk_hostmap hostmap;
    lk_lock_state state;
    lk_hostmap_init (&hostmap);
    ck_assert_int_eq (lk_lock_state_decode (text, size, &hostmap, &state,
                                            problem, sizeof problem),
                      LK_OK);
    written[bus.count] = state.facts.promised.number;
}

static void
add_promise (uint64_t number)
{
    lk_facts facts = lockd.state.facts;
    facts.promised = (lk_term) {number, OWN_ID};
    add_effect ((lk_effect) {.type = LK_DO_PERSIST, .facts = facts});
}

static void
add_retire (lk_lock_message *message)
{
    *message =
        (lk_lock_message) {.kind = LK_MSG_RETIRE,
                           .from = lockd.self,
                           .to = lk_hostmap_find (&lockd.hostmap, "h2", 0),
                           .origin = LK_NOBODY,
                           .destination = LK_NOBODY,
                           .term = {5, OWN_ID}};
    add_effect ((lk_effect) {.type = LK_DO_SEND, .message = message});
}

/*  Each fact ahead of the very message that reveals it. */
START_TEST (persists_each_before_what_follows)
{
    lk_lock_message retire;
    add_promise (7);
    add_retire (&retire);
    add_promise (8);
    add_retire (&retire);
    bus.look = look_at_file;
    tick ();
    ck_assert_uint_eq (bus.count, 2);
    ck_assert_uint_eq (written[0], 7);
    ck_assert_uint_eq (written[1], 8);
}
END_TEST

START_TEST (ends_if_it_cannot_write)
{
    char command[100];
    lk_lock_message retire;
    lk_lease_view *view = lk_lease_view_new (lockd.page_path, NULL);
    snprintf (command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq (system (command), 0);
    uint32_t app = ask ("a@h1", 1, "o");
    add_effect (
        (lk_effect) {.type = LK_DO_PERSIST, .facts = lockd.state.facts});
    add_answer (LK_ANSWER_LOCKED, app, 1, LK_OK);
    add_effect ((lk_effect) {
        .type = LK_DO_LEASE, .session = 4, .lease_until_ms = 15000});
    add_retire (&retire);
    tick ();
    ck_assert_int_eq (bus.stopped, 1 + 1);
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_int_eq (lk_lease_view_until (view, 4), 0);
    lk_lease_view_destroy (&view);
    size_t steps = node.count;
    tick ();
    give (new_lock ("a@h1", 2, "o"));
    lk_lockd_service.detach (&lockd, "stop");
    ck_assert_uint_eq (node.count, steps);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

START_TEST (sends_to_peers)
{
    lk_lock_message retire;
    add_retire (&retire);
    tick ();
    only_sent ("lock@h2", "RETIRE");
}
END_TEST

START_TEST (publishes_the_lease)
{
    add_effect ((lk_effect) {
        .type = LK_DO_LEASE, .session = 4, .lease_until_ms = 15000});
    tick ();
    uint32_t app = ask ("a@h1", 1, "o");
    add_answer (LK_ANSWER_LOCKED, app, 1, LK_OK);
    tick ();
    const lk_message *locked = only_sent ("a@h1", "LOCKED");
    ck_assert_int_eq (lk_message_number (locked, "session", 0), 4);
    ck_assert_int_eq (lk_message_number (locked, "lease_until", 0), 15000);
    lk_lease_view *view =
        lk_lease_view_new (lk_message_text (locked, "lease_page"), NULL);
    ck_assert_ptr_nonnull (view);
    ck_assert_int_eq (lk_lease_view_until (view, 4), 15000);
    ck_assert_int_eq (lk_lease_view_until (view, 3), 0);
    /*  Also when it ends ahead of its time, as in a stop. */
    add_effect ((lk_effect) {.type = LK_DO_LEASE, .session = 4});
    tick ();
    ck_assert_int_eq (lk_lease_view_until (view, 4), 0);
    lk_lease_view_destroy (&view);
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    const TTest *const tests[] = {
        gives_the_core_what_it_has, refuses_an_unreadable_state,
        persists_what_follows,      persists_each_before_what_follows,
        ends_if_it_cannot_write,    sends_to_peers,
        publishes_the_lease,
    };
    const group groups[] = {GROUP ("facts", tests, set_up)};
    return run_groups ("lock_facts", groups, sizeof groups / sizeof groups[0]);
}
