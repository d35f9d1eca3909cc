/*  lock_zones.c - who may ask a lock service what, and what a zone is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "zone_fake.h"

#include "audit.h"
#include "net/log.h"

#include <sys/stat.h>
#include <time.h>

#define FAR "far-bb88471d65e2659b-backup-4711@h1"
#define ZONES                                                                  \
    "router\n    mtu = 5\nzones\n    zone = red locks=3\n    # secret\n"       \
    "    zone = blue\nsettings\n    lock = h1\n"

static lk_message *
new_in_zone (const char *from, const char *zone)
{
    lk_message *message = new_lock (from, 7, "o");
    lk_message_set_text (message, "zone", zone);
    return message;
}

static lk_message *
new_force (const char *from)
{
    lk_message *message = new_message (from, "UNLOCK", 9);
    lk_message_set_text (message, "object", "o");
    lk_message_set_flag (message, "force", true);
    lk_message_set_hex (message, "token", 0x500000001);
    return message;
}

/*  -------------------------------------------------------- roles */

START_TEST (roles_of_locks)
{
    report_who ("a@h1", NULL, "ann", "observer", 0);
    give_any (new_lock ("a@h1", 5, "o"));
    check_refused ("a@h1", "denied",
                   "that needs the role user, you are observer");
    report_who ("a@h1", NULL, "ann", "user", 0);
    give_any (new_lock ("a@h1", 5, "o"));
    check_key ("\0\0o", 3);
    give_any (new_force ("a@h1"));
    check_refused ("a@h1", "denied",
                   "that needs the role operator, you are user");
    report_who ("a@h1", NULL, "ann", "operator", 0);
    give_any (new_force ("a@h1"));
    (void) last_event (LK_ON_FORCE);
}
END_TEST

START_TEST (roles_of_the_cluster)
{
    report_who ("a@h1", NULL, "ann", "operator", 0);
    lk_message *add = new_message ("a@h1", "LOCKMEMBERS", 1);
    lk_message_set_text (add, "add", "h4");
    give_any (add);
    check_refused ("a@h1", "denied",
                   "that needs the role admin, you are operator");
    lk_message *edit = new_message ("a@h1", "LOCKSETTINGS", 1);
    lk_message_set_text (edit, "text", "");
    give_any (edit);
    check_refused ("a@h1", "denied",
                   "that needs the role admin, you are operator");
    give_any (new_message ("a@h1", "LOCKRECOVER", 1));
    check_refused ("a@h1", "denied",
                   "that needs the role admin, you are operator");
    give_any (new_message ("a@h1", "LOCKMEMBERS", 1));
    (void) only_sent ("a@h1", "LOCKMEMBERS");
}
END_TEST

/*  Another host's router says so by a bit of the frame. */
START_TEST (admins_of_other_hosts)
{
    lk_message *add = new_message ("cli@h2", "LOCKMEMBERS", 1);
    lk_message_set_text (add, "add", "h4");
    give_any (add);
    check_refused ("cli@h2", "denied",
                   "that needs the role admin, you are user");
    add = new_message ("cli@h2", "LOCKMEMBERS", 1);
    lk_message_set_text (add, "add", "h4");
    give_any (of_admin (add));
    (void) only_sent ("cli@h2", "LOCKMEMBERS");
}
END_TEST

/*  An older router tells no role. */
START_TEST (no_role)
{
    report_who ("a@h1", NULL, NULL, NULL, 0);
    give_any (new_force ("a@h1"));
    (void) last_event (LK_ON_FORCE);
    node.count = 0;
    report_who (FAR, NULL, NULL, NULL, 0);
    ck_assert_int_eq (lk_apps_find (&lockd.apps, FAR)->who.role, LK_ROLE_USER);
    report_who ("a@h1", NULL, "ann", "emperor", 0);
    give_any (new_lock ("a@h1", 5, "o"));
    check_refused ("a@h1", "denied", "that needs the role user, you are none");
    report_who ("a@h1", "red", "ann", "admin", 0);
    ck_assert_int_eq (lk_apps_find (&lockd.apps, "a@h1")->who.role,
                      LK_ROLE_OPERATOR);
}
END_TEST

/*  Its router tells first who it is. */
START_TEST (who_is_not_known)
{
    give_any (new_message ("a@h1", "LOCKLIST", 3));
    check_text (only_sent ("router@.", "SERVICESTATUS"), "service", "a@h1");
    forget_sent ();
    lockd.attachment++;
    report_who ("a@h1", "red", "ann", "user", 0);
    lockd.attachment++;
    give_any (new_message ("a@h1", "LOCKSTATUS", 3));
    (void) only_sent ("router@.", "SERVICESTATUS");
}
END_TEST

/*  -------------------------------------------------------- zones */

START_TEST (names_are_in_the_zone)
{
    report_who ("a@h1", "red", "ann", "user", 0);
    give_any (new_lock ("a@h1", 5, "o"));
    check_key ("red\0\0o", 6);
    give_any (new_in_zone ("a@h1", "red"));
    check_key ("red\0\0o", 6);
    give_any (new_in_zone ("a@h1", "blue"));
    check_refused ("a@h1", "denied", "that is another zone");
    give_any (new_in_zone ("a@h1", "default"));
    check_refused ("a@h1", "denied", "that is another zone");
    report_who ("a@h1", "default", "ann", "operator", 0);
    give_any (new_in_zone ("a@h1", "red"));
    check_refused ("a@h1", "denied", "that is another zone");
    give_any (new_in_zone ("a@h1", "default"));
    check_key ("\0\0o", 3);
    report_who ("a@h1", NULL, "ann", "admin", 0);
    give_any (new_in_zone ("a@h1", "red"));
    check_key ("red\0\0o", 6);
}
END_TEST

/*  A set has the zone in each of its names. */
START_TEST (sets_are_in_the_zone)
{
    lk_message *message = new_message ("a@h1", "LOCK", 5);
    for (int i = 0; i < 2; i++) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "object", i ? "q" : "p");
        lk_message_add_row (message, "locks", &row);
    }
    report_who ("a@h1", "red", "ann", "user", 0);
    give_any (message);
    const lk_app_request *request = &last_event (LK_ON_LOCK)->request;
    ck_assert_mem_eq (request->object.data, "red\0\0p", 6);
    ck_assert_uint_eq (request->rest_count, 1);
}
END_TEST

START_TEST (what_a_zone_may_not_say)
{
    static const char *const commands[] = {
        "LOCKMEMBERS", "LOCKSETTINGS", "LOCKRECOVER", "LOCKOWNERS", "NONSENSE",
    };
    report_who ("a@h1", "red", "ann", "operator", 0);
    report_who (FAR, "red", "bob", "operator", 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        give_any (new_message ("a@h1", commands[i], 3));
        check_turned_down ("a@h1");
        give_any (new_message (FAR, commands[i], 3));
        check_turned_down (FAR);
    }
}
END_TEST

/*  -------------------------------------------------------- lists */

static const lk_ticket tickets[] = {
    {.request = {0, 3, 1}, .object = {"\0\0o", 3}, .owner = {"a@h1", 4}},
    {.request = {0, 3, 2},
     .object = {"red\0\0p", 6},
     .owner = {"a@h1", 4},
     .token = 5},
    {.request = {1, 9, 3},
     .object = {"red\0c\0q", 7},
     .owner = {"x-7@h2", 6},
     .token = 6},
    {.request = {1, 9, 4}, .object = {"blue\0\0r", 7}, .owner = {"y@h2", 4}},
};

static void
have_tickets (void)
{
    node.status.leads = true;
    node.tickets = 4;
    node.ticket = tickets;
}

/*  The names in the list of the only answer. */
static void
check_names (const char *to, const char *command, const char *list,
             const char *names)
{
    char text[80] = "";
    size_t used = 0;
    const lk_message *answer = only_sent (to, command);
    for (size_t i = 0; i < lk_message_item_count (answer, list); i++) {
        lk_message *row = lk_message_row (answer, list, i);
        used += (size_t) snprintf (text + used, sizeof text - used, "%s",
                                   lk_message_text (row, "object"));
        lk_message_destroy (&row);
    }
    ck_assert_str_eq (text, names);
    forget_sent ();
}

static void
ask_in_zone (const char *from, const char *command, const char *zone)
{
    lk_message *message = new_message (from, command, 3);
    lk_message_set_text (message, "zone", zone);
    give_any (message);
}

START_TEST (lists_of_zones)
{
    have_tickets ();
    report_who ("a@h1", NULL, "ann", "user", 0);
    ask_in_zone ("a@h1", "LOCKLIST", NULL);
    check_names ("a@h1", "LOCKLIST", "tickets", "o");
    give_any (new_message ("cli@h2", "LOCKLIST", 3));
    check_names ("cli@h2", "LOCKLIST", "tickets", "o");
    report_who ("a@h1", NULL, "ann", "admin", 0);
    ask_in_zone ("a@h1", "LOCKLIST", NULL);
    check_names ("a@h1", "LOCKLIST", "tickets", "opqr");
    ask_in_zone ("a@h1", "LOCKLIST", "red");
    check_names ("a@h1", "LOCKLIST", "tickets", "pq");
    ask_in_zone ("a@h1", "LOCKLIST", "default");
    check_names ("a@h1", "LOCKLIST", "tickets", "o");
    report_who ("a@h1", "red", "ann", "user", 0);
    ask_in_zone ("a@h1", "LOCKLIST", NULL);
    check_names ("a@h1", "LOCKLIST", "tickets", "pq");
}
END_TEST

/*  Nothing tells of hosts. */
START_TEST (lists_are_masked)
{
    have_tickets ();
    report_who ("a@h1", "red", "ann", "user", 0);
    node.demand = (lk_node_demand) {
        .app = lk_apps_find (&lockd.apps, "a@h1")->number, .app_serial = 2};
    lockd.session = 3;
    ask_in_zone ("a@h1", "LOCKLIST", NULL);
    const lk_message *answer = only_sent ("a@h1", "LOCKLIST");
    static const char *const unsaid[] = {"h1",         "h2",      "served_by",
                                         "session",    "leaders", "host",
                                         "\"serial\"", "pid"};
    for (size_t i = 0; i < sizeof unsaid / sizeof unsaid[0]; i++) {
        ck_assert_msg (!strstr (lk_message_body (answer), unsaid[i]),
                       "'%s' in %s", unsaid[i], lk_message_body (answer));
    }
    lk_message *row = lk_message_row (answer, "tickets", 0);
    check_text (row, "owner", "a");
    check_text (row, "user", "ann");
    check_text (row, "token", "0000000000000005");
    ck_assert (lk_message_flag (row, "own"));
    lk_message_destroy (&row);
    row = lk_message_row (answer, "tickets", 1);
    check_text (row, "owner", "x-7");
    check_text (row, "context", "c");
    ck_assert (!lk_message_has (row, "own") && !lk_message_has (row, "user"));
    lk_message_destroy (&row);
}
END_TEST

/*  Where an answer ends does not tell how long the name of a host is. */
START_TEST (lists_end_alike)
{
    static const char *const owners[] = {
        "a@h1", "a@a-host-that-has-as-long-a-name-as-any-that-there-may-be"};
    static char key[5 + 256] = "red";
    static lk_ticket many[400];
    size_t rows[2];
    memset (key + 5, 'n', sizeof key - 5);
    node.status.leads = true;
    node.tickets = 400;
    node.ticket = many;
    report_who ("a@h1", "red", "ann", "user", 0);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 400; j++) {
            many[j] = (lk_ticket) {
                .request = {0, 3, j + 1},
                .object = {key, sizeof key},
                .owner = {owners[i], (uint16_t) strlen (owners[i])}};
        }
        ask_in_zone ("a@h1", "LOCKLIST", NULL);
        rows[i] =
            lk_message_item_count (only_sent ("a@h1", "LOCKLIST"), "tickets");
        forget_sent ();
    }
    ck_assert_uint_lt (rows[0], 400);
    ck_assert_uint_eq (rows[0], rows[1]);
}
END_TEST

/*  Of processes of others nobody but an admin sees the command line. */
START_TEST (command_lines)
{
    const lk_node_own own[] = {
        {.ticket = {.object = {"\0\0o", 3}, .owner = {"a@h1", 4}, .pid = 60}},
        {.ticket = {.object = {"\0\0p", 3}, .owner = {"b@h1", 4}, .pid = 61}},
    };
    node.own = own;
    node.owns = 2;
    stranger_pid = 61;
    for (int admin = 0; admin < 2; admin++) {
        report_who ("a@h1", NULL, "ann", admin ? "admin" : "user", 0);
        lk_message *message = new_message ("a@h1", "LOCKLIST", 3);
        lk_message_set_flag (message, "own", true);
        give_any (message);
        for (size_t i = 0; i < 2; i++) {
            lk_message *row =
                lk_message_row (only_sent ("a@h1", "LOCKLIST"), "tickets", i);
            ck_assert (lk_message_has (row, "command") == (admin || i == 0));
            ck_assert (lk_message_has (row, "arguments") == (admin || i == 0));
            ck_assert (lk_message_has (row, "uid"));
            lk_message_destroy (&row);
        }
        forget_sent ();
    }
}
END_TEST

/*  -------------------------------------------------------- other hosts */

/*  The question of the own lock service to that of h2. */
static uint64_t
check_relayed (const char *command)
{
    const lk_message *question = only_sent ("lock@h2", command);
    const uint64_t serial = lk_message_serial (question);
    check_text (question, "zone", "red");
    check_text (question, "id", "0000000000000011");
    forget_sent ();
    return serial;
}

static lk_message *
new_answer (const char *command, uint64_t serial)
{
    lk_message *answer = new_message ("lock@h2", command, serial);
    lk_message_set_text (answer, "served_by", "h2");
    lk_message_set_hex (answer, "id", 0x22);
    return answer;
}

static void
add_row (lk_message *answer, const char *list, const char *object,
         const char *field, int64_t number)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "object", object);
    lk_message_set_text (row, "host", "h2");
    lk_message_set_text (row, "owner", "x@h2");
    lk_message_set_number (row, field, number);
    lk_message_add_row (answer, list, &row);
}

START_TEST (asks_a_leader)
{
    report_who ("a@h1", "red", "ann", "user", 0);
    give_any (new_message ("a@h1", "LOCKLIST", 3));
    const uint64_t serial = check_relayed ("LOCKLIST");
    lk_message *answer = new_answer ("LOCKLIST", serial + 1);
    give_any (answer);
    ck_assert_uint_eq (bus.count, 0);
    answer = new_answer ("LOCKLIST", serial);
    add_row (answer, "tickets", "p", "since_ms", 5);
    lk_message_set_number (answer, "cursor", 77);
    give_any (answer);
    ck_assert_uint_eq (lk_message_serial (bus.sent[0]), 3);
    ck_assert_int_eq (lk_message_number (bus.sent[0], "cursor", 0), 77);
    ck_assert_ptr_null (strstr (lk_message_body (bus.sent[0]), "h2"));
    check_names ("a@h1", "LOCKLIST", "tickets", "p");
}
END_TEST

START_TEST (no_leader_answers)
{
    report_who ("a@h1", "red", "ann", "user", 0);
    give_any (new_message ("a@h1", "LOCKLIST", 3));
    uint64_t serial = check_relayed ("LOCKLIST");
    lk_message *answer = new_answer ("LOCKLIST", serial);
    lk_message_add_item (answer, "leaders", "h3");
    give_any (answer);
    check_refused ("a@h1", "isolated", "locks cannot be had just now");
    give_any (new_message ("a@h1", "LOCKLIST", 4));
    serial = check_relayed ("LOCKLIST");
    bus.now_ms += LK_RELAY_MS - 1;
    tick ();
    ck_assert_uint_eq (bus.count, 0);
    bus.now_ms++;
    tick ();
    node.count = 0;
    check_refused ("a@h1", "isolated", "locks cannot be had just now");
    give_any (new_answer ("LOCKLIST", serial));
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  As another one asks us. */
START_TEST (answers_others)
{
    have_tickets ();
    lk_message *question = new_message ("lock@h2", "LOCKLIST", 12);
    lk_message_set_hex (question, "id", 0x22);
    lk_message_set_text (question, "zone", "red");
    give_any (question);
    check_text (only_sent ("lock@h2", "LOCKLIST"), "id", "0000000000000011");
    ck_assert_uint_eq (lk_message_serial (bus.sent[0]), 12);
    check_names ("lock@h2", "LOCKLIST", "tickets", "pq");
    question = new_message ("lock@h2", "LOCKLIST", 12);
    lk_message_set_hex (question, "id", 0x23); /* of no such service */
    give_any (question);
    ck_assert (bus.count == 0 || !lk_message_is (bus.sent[0], "LOCKLIST"));
}
END_TEST

static void
note_lock (const char *from, uint64_t serial, const char *object)
{
    give_any (new_lock (from, serial, object));
    add_answer (LK_ANSWER_LOCKED, last_event (LK_ON_LOCK)->request.app, serial,
                LK_OK);
    tick ();
    forget_sent ();
    node.count = 0;
}

/*  The deeds of a user are for that user, and for operators. */
START_TEST (histories)
{
    report_who ("a@h1", NULL, "ann", "user", 0);
    report_who ("b@h1", NULL, "bob", "operator", 0);
    report_who ("c@h1", "red", "ann", "user", 0);
    note_lock ("a@h1", 1, "o");
    note_lock ("b@h1", 1, "p");
    note_lock ("c@h1", 1, "q");
    give_any (new_message ("a@h1", "LOCKHISTORY", 3));
    check_names ("a@h1", "LOCKHISTORY", "events", "o");
    give_any (new_message ("b@h1", "LOCKHISTORY", 3));
    check_names ("b@h1", "LOCKHISTORY", "events", "op");
    give_any (new_message ("x@h2", "LOCKHISTORY", 3));
    check_names ("x@h2", "LOCKHISTORY", "events", "");
    give_any (of_admin (new_message ("x@h2", "LOCKHISTORY", 3)));
    check_names ("x@h2", "LOCKHISTORY", "events", "opq");
    give_any (new_message ("a@h1", "LOCKTOP", 3));
    check_names ("a@h1", "LOCKTOP", "names", "op");
}
END_TEST

START_TEST (history_of_all_hosts)
{
    report_who ("c@h1", "red", "ann", "user", 0);
    note_lock ("c@h1", 1, "q");
    bus.now_ms += 100;
    lk_message *question = new_message ("c@h1", "LOCKHISTORY", 3);
    lk_message_set_number (question, "count", 2);
    give_any (question);
    check_text (only_sent ("lock@h2", "LOCKHISTORY"), "user", "ann");
    lk_message *answer =
        new_answer ("LOCKHISTORY", check_relayed ("LOCKHISTORY"));
    add_row (answer, "events", "r", "ago_ms", 300);
    add_row (answer, "events", "s", "ago_ms", 50);
    give_any (answer);
    ck_assert_ptr_null (strstr (lk_message_body (bus.sent[0]), "h2"));
    check_names ("c@h1", "LOCKHISTORY", "events", "qs");
}
END_TEST

START_TEST (top_of_all_hosts)
{
    report_who ("c@h1", "red", "ann", "user", 0);
    note_lock ("c@h1", 1, "q");
    give_any (new_message ("c@h1", "LOCKTOP", 3));
    lk_message *answer = new_answer ("LOCKTOP", check_relayed ("LOCKTOP"));
    add_row (answer, "names", "q", "grants", 3);
    add_row (answer, "names", "s", "grants", 9);
    add_row (answer, "waits", "q", "waiters", 2);
    give_any (answer);
    lk_message *row = lk_message_row (bus.sent[0], "names", 1);
    ck_assert_int_eq (lk_message_number (row, "grants", 0), 4);
    lk_message_destroy (&row);
    ck_assert_uint_eq (lk_message_item_count (bus.sent[0], "waits"), 1);
    check_names ("c@h1", "LOCKTOP", "names", "sq");
}
END_TEST

/*  Others fill what is remembered in less than ten seconds. */
START_TEST (top_shows_no_others)
{
    uint64_t serial = 1;
    report_who ("a@h1", NULL, "ann", "user", 0);
    report_who ("c@h1", "red", "ann", "user", 0);
    while (lk_recent_forgotten (lockd.recent) == 0) {
        node.asked_count = 0;
        note_lock ("a@h1", serial++, "others");
    }
    give_any (new_message ("a@h1", "LOCKTOP", serial));
    ck_assert_int_lt (lk_message_number (bus.sent[0], "window_ms", 10000),
                      10000);
    forget_sent ();
    give_any (new_message ("c@h1", "LOCKTOP", serial));
    give_any (new_answer ("LOCKTOP", check_relayed ("LOCKTOP")));
    ck_assert_int_eq (lk_message_number (bus.sent[0], "window_ms", -1), 10000);
}
END_TEST

/*  -------------------------------------------------------- the others */

START_TEST (status_of_a_zone)
{
    have_settings (ZONES);
    node.use = (lk_node_use) {.locks = 2, .bytes = 40};
    report_who ("a@h1", "red", "ann", "observer", 0);
    give_any (new_message ("a@h1", "LOCKSTATUS", 3));
    const lk_message *answer = only_sent ("a@h1", "NOLOCK");
    check_text (answer, "reason", "locks cannot be had just now");
    check_text (answer, "zone", "red");
    ck_assert_int_eq (lk_message_number (answer, "locks", 0), 2);
    ck_assert_int_eq (lk_message_number (answer, "locks_max", 0), 3);
    ck_assert_ptr_null (strstr (lk_message_body (answer), "h1"));
    ck_assert_ptr_null (strstr (lk_message_body (answer), "member"));
    ck_assert (lk_message_flag (answer, "answering"));
    forget_sent ();
    node.status.ready = true;
    give_any (new_message ("a@h1", "LOCKSTATUS", 3));
    (void) only_sent ("a@h1", "LOCKREADY");
}
END_TEST

START_TEST (settings_without_zones)
{
    have_settings (ZONES);
    report_who ("a@h1", NULL, "ann", "operator", 0);
    give_any (new_message ("a@h1", "LOCKSETTINGS", 3));
    check_text (only_sent ("a@h1", "LOCKSETTINGS"), "text",
                "router\n    mtu = 5\nsettings\n    lock = h1\n");
    forget_sent ();
    report_who ("a@h1", NULL, "ann", "admin", 0);
    give_any (new_message ("a@h1", "LOCKSETTINGS", 3));
    check_text (only_sent ("a@h1", "LOCKSETTINGS"), "text", ZONES);
}
END_TEST

/*  Sentences of the core may tell of hosts. */
START_TEST (sentences_are_masked)
{
    lockd.short_of_hosts = true;
    report_who ("a@h1", "red", "ann", "user", 0);
    give_any (new_lock ("a@h1", 5, "o"));
    check_refused ("a@h1", "isolated", lk_err_text (LK_ISOLATED));
    lockd.short_of_hosts = false;
    give_any (new_lock ("a@h1", 6, "o"));
    add_answer (LK_ANSWER_PENDING, last_event (LK_ON_LOCK)->request.app, 6,
                LK_OK);
    tick ();
    ck_assert (!lk_message_has (only_sent ("a@h1", "LOCKSTOPPING"), "host"));
}
END_TEST

static lk_message *
new_register (const char *command)
{
    lk_message *message = new_message (FAR, command, 4);
    lk_message_set_number (message, "registration", 2);
    lk_message_set_number (message, "lease", 8000);
    lk_message_set_number (message, "sent", 70000);
    lk_message_set_hex (message, "secret", 5);
    lk_message_set_hex (message, "secret2", 6);
    return message;
}

START_TEST (credentials_end)
{
    const int64_t until = (int64_t) time (NULL) + 100;
    report_who (FAR, NULL, "bob", "user", 0);
    give_any (new_register ("LOCKREGISTER"));
    const lk_app_request *request = &last_event (LK_ON_REGISTER)->request;
    ck_assert_int_eq (request->until_ms, INT64_MAX);
    const uint64_t owner = request->far.owner[0];
    report_who (FAR, "red", "bob", "user", until);
    give_any (new_register ("LOCKREGISTER"));
    request = &last_event (LK_ON_REGISTER)->request;
    ck_assert_int_le (request->until_ms, bus.now_ms + 100000);
    ck_assert_int_ge (request->until_ms, bus.now_ms + 40000);
    ck_assert_uint_ne (request->far.owner[0], owner);
}
END_TEST

/*  -------------------------------------------------------- logs */

static char logged[2000];

static void
keep_line (lk_log_level level, const char *line)
{
    (void) level;
    const size_t used = strlen (logged);
    snprintf (logged + used, sizeof logged - used, "%s\n", line);
}

static void
read_log (const char *zone, char text[2000])
{
    char path[128];
    struct stat file;
    snprintf (path, sizeof path, "%s/%s.log", dir, zone);
    FILE *stream = fopen (path, "r");
    ck_assert_ptr_nonnull (stream);
    text[fread (text, 1, 1999, stream)] = '\0';
    fclose (stream);
    ck_assert_int_eq (stat (path, &file), 0);
    ck_assert_uint_eq (file.st_mode & 0137, 0);
}

START_TEST (audits)
{
    char text[2000], path[128];
    lk_log_set_sink (keep_line);
    snprintf (lockd.zone_file.folder, PATH_MAX, "%s", dir);
    report_who ("a@h1", "red", "ann", "user", 0);
    give_any (new_force ("a@h1"));
    lk_log_set_sink (NULL);
    const char *line = "audit: UNLOCK refused who=ann zone=red from=a@h1 "
                       "unsaid=0 why=\"that needs the role operator, you are "
                       "user\"";
    ck_assert_ptr_nonnull (strstr (logged, line));
    read_log ("red", text);
    ck_assert_ptr_nonnull (strstr (text, line));
    snprintf (path, sizeof path, "%s/red.log", dir);
    ck_assert_int_eq (unlink (path), 0);
    report_who ("a@h1", "red", "ann", "operator", 0);
    give_any (new_force ("a@h1"));
    read_log ("red", text);
    ck_assert_ptr_nonnull (strstr (text, "audit: force asked who=ann zone=red "
                                         "from=a@h1 lock=o token="));
}
END_TEST

/*  Nobody fills a disk with them. */
START_TEST (refusals_are_few)
{
    char *at = logged;
    int lines = 0;
    lk_log_set_sink (keep_line);
    report_who ("a@h1", "red", "ann", "user", 0);
    for (int i = 0; i < LK_AUDIT_REFUSALS_MAX + 5; i++) {
        logged[0] = '\0';
        give_any (new_force ("a@h1"));
        lines += logged[0] != '\0';
        forget_sent ();
    }
    ck_assert_int_eq (lines, LK_AUDIT_REFUSALS_MAX);
    bus.now_ms += 1000;
    give_any (new_force ("a@h1"));
    lk_log_set_sink (NULL);
    ck_assert_ptr_nonnull (strstr (at, "unsaid=5"));
}
END_TEST

START_TEST (what_is_lost)
{
    char text[2000];
    snprintf (lockd.zone_file.folder, PATH_MAX, "%s", dir);
    report_who ("a@h1", "red", "ann", "user", 0);
    note_lock ("a@h1", 1, "q\n");
    add_answer (LK_ANSWER_UNLOCKED, lk_apps_find (&lockd.apps, "a@h1")->number,
                1, LK_ISOLATED);
    tick ();
    read_log ("red", text);
    ck_assert_ptr_nonnull (strstr (text, "lock: held -> lost lock=q\\x0a "
                                         "owner=a@h1 user=ann token="));
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    const TTest *const rights[] = {
        roles_of_locks,        roles_of_the_cluster,
        admins_of_other_hosts, no_role,
        who_is_not_known,      names_are_in_the_zone,
        sets_are_in_the_zone,  what_a_zone_may_not_say,
    };
    const TTest *const looks[] = {
        lists_of_zones,         lists_are_masked,
        lists_end_alike,        command_lines,
        asks_a_leader,          no_leader_answers,
        answers_others,         histories,
        history_of_all_hosts,   top_of_all_hosts,
        top_shows_no_others,    status_of_a_zone,
        settings_without_zones, sentences_are_masked,
        credentials_end,
    };
    const TTest *const logs[] = {audits, refusals_are_few, what_is_lost};
    const group groups[] = {
        GROUP ("rights", rights, set_up_zones),
        GROUP ("looks", looks, set_up_zones),
        GROUP ("logs", logs, set_up_zones),
    };
    return run_groups ("lock_zones", groups, sizeof groups / sizeof groups[0]);
}
