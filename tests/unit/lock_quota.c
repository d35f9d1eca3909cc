/*  lock_quota.c - how much a zone may have, in the whole cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "zone_fake.h"

#include "apps.h"

#define FAR "far-bb88471d65e2659b-backup-4711@h1"

/*  The only answer: too much, by that limit. */
static void
check_limit (const char *to, const char *limit, const char *text)
{
    check_text (only_sent (to, "LOCKFAILED"), "error", "overloaded");
    check_text (bus.sent[0], "limit", limit);
    check_text (bus.sent[0], "text", text);
    forget_sent ();
}

/*  The lock service of that host tells what it uses. */
static void
hear_use_of (const char *from, uint64_t id, const char *zone, const char *field,
             int64_t count)
{
    lk_message *message = new_message (from, "LOCKZONES", 0);
    lk_message *row = lk_message_row_new ();
    lk_message_set_hex (message, "id", id);
    lk_message_set_text (row, "zone", zone);
    lk_message_set_number (row, field, count);
    lk_message_add_row (message, "zones", &row);
    give_any (message);
    ck_assert_uint_eq (node.count, 0);
}

static void
hear_use (const char *zone, const char *field, int64_t count)
{
    hear_use_of ("lock@h2", 0x22, zone, field, count);
}

static void
is_let_in (const char *from, uint64_t serial)
{
    give_any (new_lock (from, serial, "o"));
    (void) last_event (LK_ON_LOCK);
    ck_assert_uint_eq (bus.count, 0);
    node.count = 0;
}

/*  -------------------------------------------------------- locks */

START_TEST (locks)
{
    have_settings ("zones\n    zone = red locks=3\n");
    report_who ("a@h1", "red", "ann", "user", 0);
    node.use.locks = 2;
    is_let_in ("a@h1", 1);
    node.use.locks = 3;
    give_any (new_lock ("a@h1", 2, "o"));
    check_limit ("a@h1", "locks", "the zone may have 3 locks");
    is_let_in ("a@h1", 1); /* again */
    node.use.locks = 1;
    hear_use ("red", "locks", 2);
    give_any (new_lock ("a@h1", 2, "o"));
    check_limit ("a@h1", "locks", "the zone may have 3 locks");
    hear_use ("blue", "locks", 2); /* and no more of red */
    is_let_in ("a@h1", 2);
    hear_use ("red", "locks", 2);
    report_status ("lock@h2", "down", 0);
    settle ();
    node.count = 0;
    is_let_in ("a@h1", 3);
}
END_TEST

/*  A lock that is held already is not refused; a set is as many as it names. */
START_TEST (locks_that_count)
{
    have_settings ("zones\n    zone = red locks=3\n");
    report_who ("a@h1", "red", "ann", "user", 0);
    node.use.locks = 3;
    lk_message *held = new_lock ("a@h1", 2, "o");
    lk_message_set_hex (held, "token", 5);
    lk_message_set_hex (held, "key", 6);
    lk_message_set_number (held, "lease_until", 20000);
    give_any (held);
    (void) last_event (LK_ON_LOCK);
    node.count = 0;
    node.use.locks = 2;
    lk_message *set = new_message ("a@h1", "LOCK", 5);
    for (int i = 0; i < 2; i++) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "object", i ? "q" : "p");
        lk_message_add_row (set, "locks", &row);
    }
    give_any (set);
    check_limit ("a@h1", "locks", "the zone may have 3 locks");
    report_who ("b@h1", NULL, "ann", "user", 0);
    node.use.locks = 99;
    is_let_in ("b@h1", 1); /* another zone, without limits */
}
END_TEST

/*  Leaders tell of the same static locks; the most that one knows of counts. */
START_TEST (locks_that_are_kept)
{
    have_settings ("zones\n    zone = red locks=5\n");
    report_who ("a@h1", "red", "ann", "user", 0);
    lk_peers_intern (&lockd.peers, "h3", 0x33)->state = LK_OTHER_ACCEPTED;
    node.use = (lk_node_use) {.locks = 1, .kept = 2};
    hear_use ("red", "kept", 3);
    hear_use_of ("lock@h3", 0x33, "red", "kept", 3);
    is_let_in ("a@h1", 1);
    hear_use_of ("lock@h3", 0x33, "red", "kept", 4);
    give_any (new_lock ("a@h1", 2, "o"));
    check_limit ("a@h1", "locks", "the zone may have 5 locks");
    report_status ("lock@h3", "down", 0);
    settle ();
    node.count = 0;
    is_let_in ("a@h1", 2);
    node.use.kept = 4;
    give_any (new_lock ("a@h1", 3, "o"));
    check_limit ("a@h1", "locks", "the zone may have 5 locks");
}
END_TEST

START_TEST (bytes_of_kept_ones)
{
    have_settings ("zones\n    zone = red bytes=20\n");
    report_who ("a@h1", "red", "ann", "user", 0);
    node.use = (lk_node_use) {.bytes = 8, .kept = 1, .kept_bytes = 6};
    is_let_in ("a@h1", 1);
    node.use.kept_bytes = 7;
    give_any (new_lock ("a@h1", 2, "o"));
    check_limit ("a@h1", "bytes", "the zone may have 20 bytes of names");
}
END_TEST

START_TEST (bytes_of_names)
{
    have_settings ("zones\n    zone = default bytes=20\n");
    report_who ("a@h1", NULL, "ann", "user", 0);
    node.use.bytes = 10;
    hear_use ("default", "bytes", 7);
    is_let_in ("a@h1", 1);
    give_any (new_lock ("a@h1", 2, "of"));
    check_limit ("a@h1", "bytes", "the zone may have 20 bytes of names");
}
END_TEST

/*  -------------------------------------------------------- sessions */

static void
say_register (int64_t number)
{
    lk_message *message = new_message (FAR, "LOCKREGISTER", 4);
    lk_message_set_number (message, "registration", number);
    lk_message_set_number (message, "lease", 8000);
    lk_message_set_number (message, "sent", 70000);
    lk_message_set_hex (message, "secret", 5);
    lk_message_set_hex (message, "secret2", 6);
    give_any (message);
}

/*  The core takes the registration. */
static void
let_register (int64_t number)
{
    const lk_app *app;
    uint32_t next = lockd.apps.last_number + 1;
    add_effect (
        (lk_effect) {.type = LK_DO_TELL,
                     .answer = {.kind = LK_ANSWER_READY,
                                .app = next,
                                .far = {.drawn = 100 + (uint64_t) number}}});
    say_register (number);
    app = lk_apps_by_number (&lockd.apps, next);
    ck_assert_ptr_nonnull (app);
    forget_sent ();
    node.count = 0;
}

START_TEST (sessions)
{
    have_settings ("zones\n    zone = red sessions=2\n");
    report_who (FAR, "red", "ann", "user", 0);
    let_register (1);
    ck_assert_uint_eq (lk_apps_count_of_zone (&lockd.apps, "red"), 1);
    hear_use ("red", "sessions", 1);
    say_register (2);
    check_limit (FAR, "sessions", "the zone may have 2 sessions");
    say_register (1); /* again */
    (void) last_event (LK_ON_REGISTER);
    node.count = 0;
    hear_use ("red", "locks", 1);
    let_register (2);
    ck_assert_uint_eq (lk_apps_count_of_zone (&lockd.apps, "red"), 2);
    ck_assert_uint_eq (lk_apps_count_of_zone (&lockd.apps, ""), 0);
}
END_TEST

/*  -------------------------------------------------------- requests */

START_TEST (requests)
{
    have_settings ("zones\n    zone = red requests=4\n");
    report_who ("a@h1", "red", "ann", "user", 0);
    node.status.leads = true;
    for (int i = 0; i < 4; i++) {
        give_any (new_message ("a@h1", "LOCKSTATUS", 3));
        forget_sent ();
    }
    give_any (new_message ("a@h1", "LOCKSTATUS", 3));
    check_limit ("a@h1", "requests", "the zone may ask 4 times a second");
    give_any (new_lock ("a@h1", 2, "o"));
    check_limit ("a@h1", "requests", "the zone may ask 4 times a second");
    lk_message *back = new_message ("a@h1", "UNLOCK", 3);
    lk_message_set_number (back, "request", 2);
    give_any (back);
    (void) last_event (LK_ON_UNLOCK);
    node.count = 0;
    bus.now_ms += 1000;
    is_let_in ("a@h1", 4);
}
END_TEST

/*  Hosts that are asked share it. */
START_TEST (requests_of_two_hosts)
{
    have_settings ("zones\n    zone = red requests=4\n");
    report_who ("a@h1", "red", "ann", "user", 0);
    hear_use ("red", "requests", 1);
    is_let_in ("a@h1", 1);
    is_let_in ("a@h1", 2);
    give_any (new_lock ("a@h1", 3, "o"));
    check_limit ("a@h1", "requests", "the zone may ask 4 times a second");
}
END_TEST

/*  -------------------------------------------------------- telling */

static const lk_message *
find_told (void)
{
    for (size_t i = 0; i < bus.count; i++) {
        if (lk_message_is (bus.sent[i], "LOCKZONES")) {
            return bus.sent[i];
        }
    }
    return NULL;
}

static void
wait_second (void)
{
    forget_sent ();
    bus.now_ms += 1000;
    tick ();
    node.count = 0;
}

START_TEST (tells_what_it_uses)
{
    wait_second ();
    ck_assert_ptr_null (find_told ());
    have_settings ("zones\n    zone = red locks=3\n    zone = blue\n");
    node.use = (lk_node_use) {.locks = 2, .bytes = 30};
    wait_second ();
    const lk_message *told = find_told ();
    ck_assert_ptr_nonnull (told);
    ck_assert_str_eq (lk_message_to (told), "lock@*");
    ck_assert_uint_eq (lk_message_item_count (told, "zones"), 2);
    lk_message *row = lk_message_row (told, "zones", 0);
    check_text (row, "zone", "red");
    ck_assert_int_eq (lk_message_number (row, "locks", 0), 2);
    ck_assert_int_eq (lk_message_number (row, "bytes", 0), 30);
    lk_message_destroy (&row);
    wait_second ();
    ck_assert_ptr_null (find_told ());
    node.use.locks = 1;
    wait_second ();
    ck_assert_ptr_nonnull (find_told ());
}
END_TEST

/*  Those who are none of ours are not believed. */
START_TEST (whom_it_believes)
{
    have_settings ("zones\n    zone = red locks=3\n");
    report_who ("a@h1", "red", "ann", "user", 0);
    lk_peers_intern (&lockd.peers, "h2", 0x22)->state = LK_OTHER_NEW;
    hear_use ("red", "locks", 9);
    forget_sent ();
    is_let_in ("a@h1", 1);
    lk_peers_intern (&lockd.peers, "h2", 0x22)->state = LK_OTHER_ACCEPTED;
    hear_use ("red", "locks", INT64_MAX);
    give_any (new_lock ("a@h1", 2, "o"));
    check_limit ("a@h1", "locks", "the zone may have 3 locks");
    hear_use ("red", "locks", -5);
    node.use.locks = 3;
    give_any (new_lock ("a@h1", 2, "o"));
    check_limit ("a@h1", "locks", "the zone may have 3 locks");
}
END_TEST

/*  -------------------------------------------------------- what is seen */

static lk_message *
status_for (const char *to)
{
    forget_sent ();
    give_any (new_message (to, "LOCKSTATUS", 9));
    ck_assert_uint_eq (bus.count, 1);
    return bus.sent[0];
}

/*  Admins see all zones of the settings, in the whole cluster. */
START_TEST (what_admins_see)
{
    have_settings ("zones\n    zone = red locks=3\n    zone = blue\n");
    report_who ("a@h1", NULL, "ann", "admin", 0);
    report_who ("b@h1", NULL, "bob", "user", 0);
    node.use = (lk_node_use) {.locks = 2, .bytes = 30};
    hear_use ("blue", "locks", 4);
    const lk_message *status = status_for ("a@h1");
    ck_assert_uint_eq (lk_message_item_count (status, "zones"), 2);
    lk_message *row = lk_message_row (status, "zones", 0);
    check_text (row, "zone", "red");
    ck_assert_int_eq (lk_message_number (row, "locks", 0), 2);
    ck_assert_int_eq (lk_message_number (row, "locks_max", 0), 3);
    lk_message_destroy (&row);
    row = lk_message_row (status, "zones", 1);
    check_text (row, "zone", "blue");
    ck_assert_int_eq (lk_message_number (row, "locks", 0), 6);
    ck_assert (!lk_message_has (row, "locks_max"));
    lk_message_destroy (&row);
    ck_assert (!lk_message_has (status_for ("b@h1"), "zones"));
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    const TTest *const limits[] = {
        locks,          locks_that_count,     locks_that_are_kept,
        bytes_of_names, bytes_of_kept_ones,   sessions,
        requests,       requests_of_two_hosts};
    const TTest *const telling[] = {tells_what_it_uses, whom_it_believes,
                                    what_admins_see};
    const group groups[] = {
        GROUP ("limits", limits, set_up_zones),
        GROUP ("telling", telling, set_up_zones),
    };
    return run_groups ("lock_quota", groups, sizeof groups / sizeof groups[0]);
}
