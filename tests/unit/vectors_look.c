/*  vectors_look.c - the examples of tests/vectors are what people see of locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The service hears the questions of the examples; its answers are compared
 *  with those field by field.
 */

#include "vectors.h"

#include "quota.h"

/*  -------------------------------------------------------- questions */

/*  DECREE of make.py: of term 7, by h1; h2, h1 and h3 lead. */
static void
elect (void)
{
    const lk_host h2 = lk_hostmap_find (&lockd.hostmap, "h2", 0);
    const lk_host h3 = lk_hostmap_find (&lockd.hostmap, "h3", 0);
    node.status = (lk_node_status) {.decree = {.term = {7, OWN_ID},
                                               .members = lockd.state.genesis,
                                               .leader_count = 3,
                                               .leader = {h2, lockd.self, h3}},
                                    .sees = lockd.state.genesis,
                                    .session = 3,
                                    .requests = 1,
                                    .tickets = 2};
}

static const lk_node_wait waits[] = {
    {.object = {"\0\0backup/db-2", 13},
     .holders = 2,
     .waiters = 1,
     .longest_ms = 90},
    {.object = {"\0\0backup/db-1", 13},
     .holders = 1,
     .waiters = 3,
     .longest_ms = 1500},
};

/*  As of so long ago. */
static void
note (lk_past_event event, int64_t ago_ms)
{
    const lk_past past = {.event = event,
                          .at_ms = bus.now_ms - ago_ms,
                          .key = {"\0\0backup/db-1", 13},
                          .held_ms = event == LK_PAST_RELEASED ? 1500 : 0};
    lk_recent_add (lockd.recent, &past);
}

static const lk_node_own own[] = {
    {.ticket = {.request = {0, 3, 9}, .object = {"\0\0backup/db-1", 13}},
     .left_ms = -1},
    {.ticket = {.request = {0, 3, 7},
                .object = {"\0nightly\0backup/db-1", 20},
                .owner = {APP, sizeof APP - 1},
                .pid = 4711,
                .duration_ms = 60000,
                .token = TOKEN,
                .ordinal = 1,
                .age_ms = 5210},
     .danger = true,
     .left_ms = 59999}};

START_TEST (list_of_own)
{
    node.own = own;
    node.owns = 2;
    hear ("app-locklist-own");
    says ("app-locklist-own-answer");
}
END_TEST

START_TEST (status_ready)
{
    elect ();
    node.status.ready = node.status.leads = node.status.endangered = true;
    node.status.phase = "elected";
    node.status.lease_until_ms = bus.now_ms + 7800;
    lockd.alerts = 1;
    node.status.waiting = 4;
    node.status.waited_for = 2;
    node.status.homes[1] = 2;
    node.status.next = (lk_standbys) {
        .count = 1, .host = {lk_hostmap_intern (&lockd.hostmap, "h4", 0xb4)}};
    node.status.sees |= LK_HOST_BIT (node.status.next.host[0]);
    node.status.decree.members = node.status.sees;
    node.own = own;
    node.owns = 2;
    note (LK_PAST_GRANTED, 1500);
    snprintf (lockd.alert, sizeof lockd.alert,
              "2026-11-20T12:00:00Z wrong table: host=h3");
    hear ("app-lockstatus");
    says ("app-lockready");
}
END_TEST

START_TEST (alert)
{
    const lk_host h2 = lk_hostmap_find (&lockd.hostmap, "h2", 0);
    const lk_lock_message message = {
        .kind = LK_MSG_ALERT,
        .from = h2,
        .term = {7, OWN_ID},
        .as.alert = {.cause = LK_ALERT_STREAM,
                     .host = lk_hostmap_find (&lockd.hostmap, "h3", 0),
                     .home = h2,
                     .sequence = 9,
                     .hash = HASH,
                     .expected = KEY}};
    const lk_effect effect = {.type = LK_DO_ALERT,
                              .message = &message,
                              .text = "wrong table: host=h3"};
    lk_lockd_alert (&lockd, &effect);
    says ("app-lockalert");
    ck_assert_uint_eq (lockd.alerts, 1);
    ck_assert_ptr_nonnull (strstr (lockd.alert, "Z wrong table: host=h3"));
    ck_assert (lockd.status_changed);
}
END_TEST

START_TEST (status_not_ready)
{
    elect ();
    node.status.phase = "pause";
    node.status.sees = LK_HOST_BIT (lockd.self);
    hear ("app-lockstatus");
    says ("app-nolock");
}
END_TEST

START_TEST (list_of_tickets)
{
    const lk_host h2 = lk_hostmap_find (&lockd.hostmap, "h2", 0);
    const lk_ticket tickets[] = {
        {.request = {lockd.self, 3, 1},
         .object = {"\0\0backup/db-1", 13},
         .owner = {APP, sizeof APP - 1},
         .pid = 4711,
         .duration_ms = 60000,
         .token = TOKEN,
         .ordinal = 1,
         .age_ms = 5210},
        {.request = {h2, 9, 1},
         .object = {"red\0nightly\0backup/db-1", 23},
         .owner = {"run-88@h2", 9},
         .pid = 88,
         .number = TOKEN + 1,
         .mode = {.soft = true, .quiet_ms = 500},
         .age_ms = 310},
        {.request = {h2, 9, 2},
         .object = {"\0\0backup/db-2", 13},
         .owner = {"run-89@h2", 9},
         .pid = 89,
         .duration_ms = 250,
         .number = TOKEN + 1,
         .token = TOKEN,
         .mode = {.type = LK_SHARED, .is_static = true},
         .kept = true,
         .ordinal = 3,
         .turn = 1,
         .upgrade = true,
         .age_ms = 310},
        {.request = {h2, 9, 3},
         .object = {"\0\0\0\xffkey\n", 8},
         .owner = {"run-90@h2", 9},
         .pid = 90,
         .mode =
             {.type = LK_SEMAPHORE, .limit = 5, .bound = 3, .lenient = true},
         .age_ms = 310}};
    node.status.leads = true;
    node.ticket = tickets;
    node.tickets = 4;
    node.in_grace = LK_HOST_BIT (h2);
    node.grace_ms = 59940;
    node.silent = LK_HOST_BIT (h2);
    node.silence = (lk_node_silence) {.silent_ms = 4000, .free_ms = 7900};
    hear ("app-locklist");
    says ("app-locklist-answer");
}
END_TEST

START_TEST (list_of_one)
{
    const lk_ticket tickets[] = {
        {.object = {"\0\0backup/db-1", 13}},
        {.object = {"\0nightly\0backup/db-1", 20}, .pid = 88},
    };
    node.status.leads = true;
    node.ticket = tickets;
    node.tickets = 2;
    hear ("app-locklist-one");
    const lk_message *list = only_sent (APP, "LOCKLIST");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 1);
    lk_message *row = lk_message_row (list, "tickets", 0);
    check_text (row, "context", "nightly");
    ck_assert_int_eq (lk_message_number (row, "pid", 0), 88);
    lk_message_destroy (&row);
}
END_TEST

START_TEST (owners)
{
    lockd.session = 3;
    node.demand = (lk_node_demand) {.app_serial = 1, .pid = 4711, .danger = 1};
    hear ("app-lockowners");
    says ("app-lockowners-answer");
}
END_TEST

START_TEST (history)
{
    lk_app *app = lk_apps_by_number (&lockd.apps, ask (APP, 1, "backup/db-1"));
    const lk_name reason = {"db-1 is broken", 14};
    lk_answer answer = {.kind = LK_ANSWER_LOCKED, .token = TOKEN};
    answer.asked = find_asked (app->number, 1)->asked;
    answer.asked.pid = 4711;
    lk_lockd_note_answer (&lockd, app, &answer);
    answer.asked.course = (lk_course) {bus.now_ms, bus.now_ms, TOKEN};
    lk_lockd_note_answer (&lockd, app, &answer);
    bus.now_ms += 1000;
    lk_lockd_note_force (&lockd, lk_apps_intern (&lockd.apps, "cli-8@h1"),
                         &(lk_app_request) {.object = answer.asked.object,
                                            .token = TOKEN,
                                            .reason = reason});
    bus.now_ms += 500;
    answer = (lk_answer) {LK_ANSWER_UNLOCKED, .asked = answer.asked,
                          .error = LK_FORCED, .reason = reason};
    lk_lockd_note_answer (&lockd, app, &answer);
    answer.asked.course = (lk_course) {0};
    lk_lockd_note_answer (&lockd, app, &answer);
    forget_sent ();
    hear ("app-lockhistory");
    says ("app-lockhistory-answer");
    hear ("app-lockhistory-after");
    says ("app-lockhistory-answer");
}
END_TEST

START_TEST (top)
{
    node.status.leads = true;
    node.wait = waits;
    node.waits = 2;
    bus.now_ms += 20000;
    note (LK_PAST_GRANTED, 20000); /* too long ago */
    note (LK_PAST_GRANTED, 1500);
    note (LK_PAST_RELEASED, 0);
    hear ("app-locktop");
    says ("app-locktop-answer");
}
END_TEST

START_TEST (list_is_elsewhere)
{
    elect ();
    node.status.decree.leader_count = 2;
    node.status.decree.leader[1] = node.status.decree.leader[2];
    hear ("app-locklist");
    says ("app-locklist-elsewhere");
}
END_TEST

/*  DECREE again, but h2 and h1 alone lead, and h3 is silent; h4 is heard. */
static void
elect_two (void)
{
    const lk_host h2 = lk_hostmap_intern (&lockd.hostmap, "h2", ID2);
    const lk_host h3 = lk_hostmap_intern (&lockd.hostmap, "h3", ID3);
    const lk_host h4 = lk_hostmap_intern (&lockd.hostmap, "h4", ID4);
    elect ();
    lockd.hostmap.entry[lockd.self].id = ID1;
    node.status.decree.leader_count = 2;
    node.status.sees &= ~LK_HOST_BIT (h3);
    node.status.sees |= LK_HOST_BIT (h4);
    node.status.decree.leader[0] = h2;
}

START_TEST (list_of_members)
{
    static const char text[] = "hosts\n    domain = \"h2 au.perth.dh4\"\n";
    elect_two ();
    node.status.settings = (lk_settings_id) {.version = 1};
    node.status.settings_text = (lk_name) {text, sizeof text - 1};
    hear ("app-lockmembers");
    says ("app-lockmembers-answer");
}
END_TEST

START_TEST (members_elsewhere)
{
    elect_two ();
    hear ("app-lockmembers-add");
    says ("app-lockmembers-elsewhere");
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (members_not_changed)
{
    elect_two ();
    node.status.decree.leader[0] = lockd.self;
    hear ("app-lockmembers-remove");
    ck_assert (!last_event (LK_ON_CHANGE)->add);
    add_effect ((lk_effect) {.type = LK_DO_CHANGED,
                             .error = LK_REFUSED,
                             .text = "it is the last member"});
    tick ();
    says ("app-lockmembers-failed");
}
END_TEST

/*  -------------------------------------------------------- zones */

/*  The example's application is of a zone, which has a limit. */
static void
be_of_a_zone (void)
{
    lk_app *app = lk_apps_intern (&lockd.apps, APP);
    snprintf (app->who.zone, sizeof app->who.zone, "red");
    snprintf (app->who.user, sizeof app->who.user, "ann");
    app->who.role = LK_ROLE_USER;
    lk_shares_set (lockd.shares, "zones\n    zone = red locks=100\n");
    node.use = (lk_node_use) {.locks = 2, .bytes = 40};
    node.demand = (lk_node_demand) {.app = app->number, .app_serial = 7};
    lockd.session = 3;
}

START_TEST (status_of_a_zone)
{
    be_of_a_zone ();
    hear ("app-lockstatus");
    says ("app-nolock-zone");
}
END_TEST

START_TEST (list_of_a_zone)
{
    const lk_ticket ticket = {.request = {lockd.self, 3, 7},
                              .object = {"red\0\0backup/db-1", 16},
                              .owner = {APP, sizeof APP - 1},
                              .pid = 4711,
                              .token = TOKEN,
                              .age_ms = 1500};
    be_of_a_zone ();
    node.status.leads = true;
    node.tickets = 1;
    node.ticket = &ticket;
    hear ("app-locklist");
    says ("app-locklist-zone");
}
END_TEST

START_TEST (limit_of_a_zone)
{
    be_of_a_zone ();
    node.use.locks = 100;
    hear ("app-lock");
    says ("app-lockfailed-limit");
}
END_TEST

START_TEST (use_of_zones)
{
    lk_app *app = lk_apps_intern (&lockd.apps, APP);
    snprintf (app->key, sizeof app->key, "a key");
    lockd.state.id = ID1;
    be_of_a_zone ();
    ck_assert_ptr_nonnull (
        lk_apps_register (&lockd.apps, app, &(lk_registered) {{1, 2}, 3, 0}));
    node.use.kept = 3;
    node.use.kept_bytes = 60;
    lockd.use_at_ms = bus.now_ms;
    lk_lockd_tell_use (&lockd);
    says ("lockzones");
}
END_TEST

int
main (void)
{
    const TTest *const questions[] = {status_ready,
                                      status_not_ready,
                                      list_of_tickets,
                                      list_is_elsewhere,
                                      list_of_members,
                                      members_elsewhere,
                                      members_not_changed,
                                      alert,
                                      list_of_one,
                                      list_of_own,
                                      owners,
                                      history,
                                      top};
    const TTest *const zones[] = {status_of_a_zone, list_of_a_zone,
                                  limit_of_a_zone, use_of_zones};
    const group groups[] = {GROUP ("questions", questions, set_up_demo),
                            GROUP ("zones", zones, set_up_demo)};
    return run_groups ("vectors_look", groups,
                       sizeof groups / sizeof groups[0]);
}
