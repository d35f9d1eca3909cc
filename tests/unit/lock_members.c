/*  lock_members.c - who is a member, as people ask a lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Names become hosts, a change is one event of the core, and its end is told
 *  to whoever asked last.
 */

#include "lock_fake.h"

#define APP "cli-7@h2"
#define OTHER "cli-8@h3"

static lk_host h2, h3, h4;

/*  h1, h2 and h3 are members, h1 and h2 lead, h4 is heard. */
static void
set_up_cluster (void)
{
    set_up ();
    h2 = lk_hostmap_intern (&lockd.hostmap, "h2", 0x22);
    h3 = lk_hostmap_intern (&lockd.hostmap, "h3", 0x33);
    h4 = lk_hostmap_intern (&lockd.hostmap, "h4", 0x44);
    node.status.decree = (lk_decree) {.term = {6, OWN_ID},
                                      .members = lockd.state.genesis,
                                      .leader_count = 2,
                                      .leader = {lockd.self, h2}};
    node.status.sees =
        LK_HOST_BIT (lockd.self) | LK_HOST_BIT (h2) | LK_HOST_BIT (h4);
}

static void
ask_for (const char *from, uint64_t serial, const char *verb, const char *host)
{
    lk_message *message = new_message (from, "LOCKMEMBERS", serial);
    lk_message_set_text (message, verb, host);
    give (message);
}

static void
done (lk_err error, const char *text)
{
    add_effect (
        (lk_effect) {.type = LK_DO_CHANGED, .error = error, .text = text});
    tick ();
}

static void
check_failed (const char *to, uint64_t serial, const char *error,
              const char *part)
{
    const lk_message *failed = only_sent (to, "LOCKFAILED");
    ck_assert_uint_eq (lk_message_serial (failed), serial);
    check_text (failed, "error", error);
    ck_assert_ptr_nonnull (lk_message_text (failed, "text"));
    ck_assert_msg (strstr (lk_message_text (failed, "text"), part) != NULL,
                   "%s", lk_message_text (failed, "text"));
    forget_sent ();
}

static void
check_row (const lk_message *list, size_t place, const char *host,
           const char *role, bool seen)
{
    lk_message *row = lk_message_row (list, "members", place);
    ck_assert_ptr_nonnull (row);
    check_text (row, "host", host);
    check_text (row, "role", role);
    ck_assert (lk_message_flag (row, "seen") == seen);
    lk_message_destroy (&row);
}

/*  -------------------------------------------------------- the list */

START_TEST (lists_members)
{
    give (new_message (APP, "LOCKMEMBERS", 3));
    const lk_message *list = only_sent (APP, "LOCKMEMBERS");
    ck_assert_uint_eq (lk_message_serial (list), 3);
    check_text (list, "served_by", "h1");
    ck_assert_int_eq (lk_message_number (list, "term", 0), 6);
    ck_assert_str_eq (lk_message_item (list, "leaders", 1), "h2");
    ck_assert_uint_eq (lk_message_item_count (list, "members"), 4);
    check_row (list, 0, "h1", "first leader", true);
    check_row (list, 1, "h2", "leader", true);
    check_row (list, 2, "h3", "member", false);
    check_row (list, 3, "h4", "proxy", true);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

/*  What a genesis knows of its members: their names. */
START_TEST (lists_a_genesis)
{
    node.status.decree = (lk_decree) {.leader_count = 0};
    node.status.sees = LK_HOST_BIT (lockd.self);
    lockd.hostmap.entry[h3].id = 0;
    give (new_message (APP, "LOCKMEMBERS", 3));
    const lk_message *list = only_sent (APP, "LOCKMEMBERS");
    ck_assert_uint_eq (lk_message_item_count (list, "members"), 3);
    ck_assert_uint_eq (lk_message_item_count (list, "leaders"), 0);
    check_row (list, 0, "h1", "member", true);
    check_row (list, 2, "h3", "member", false);
    lk_message *row = lk_message_row (list, "members", 2);
    ck_assert (!lk_message_has (row, "id"));
    lk_message_destroy (&row);
}
END_TEST

/*  As the settings have it; that of an unknown host is nobody's. */
START_TEST (tells_domains)
{
    static const char *const domains[] = {"au.perth", NULL, "nz", "au"};
    static const char text[] =
        "hosts\n    domain = \"h4 au\"\n    domain = \"h1 au.perth\"\n"
        "    domain = \"h9 fr\"\n    domain = \"h3 nz\"\n";
    node.status.settings = (lk_settings_id) {.version = 1};
    node.status.settings_text = (lk_name) {text, sizeof text - 1};
    give (new_message (APP, "LOCKMEMBERS", 3));
    const lk_message *list = only_sent (APP, "LOCKMEMBERS");
    for (size_t i = 0; i < 4; i++) {
        lk_message *row = lk_message_row (list, "members", i);
        ck_assert_ptr_nonnull (row);
        ck_assert (lk_message_has (row, "domain") == (domains[i] != NULL));
        if (domains[i] != NULL) {
            check_text (row, "domain", domains[i]);
        }
        lk_message_destroy (&row);
    }
}
END_TEST

/*  They are in force, and their text is not here yet. */
START_TEST (tells_none_without_the_text)
{
    node.status.settings = (lk_settings_id) {.version = 1};
    give (new_message (APP, "LOCKMEMBERS", 3));
    const lk_message *list = only_sent (APP, "LOCKMEMBERS");
    lk_message *row = lk_message_row (list, "members", 0);
    ck_assert (!lk_message_has (row, "domain"));
    lk_message_destroy (&row);
}
END_TEST

/*  Members or only heard; one of three, and of what it was asked again. */
START_TEST (tells_arbiters)
{
    node.status.arbiters = LK_HOST_BIT (h3) | LK_HOST_BIT (h4);
    give (new_message (APP, "LOCKMEMBERS", 3));
    const lk_message *list = only_sent (APP, "LOCKMEMBERS");
    check_row (list, 1, "h2", "leader", true);
    check_row (list, 2, "h3", "arbiter", false);
    check_row (list, 3, "h4", "proxy", true);
    forget_sent ();
    give (new_message (APP, "LOCKSTATUS", 4));
    const lk_message *status = only_sent (APP, "NOLOCK");
    ck_assert_uint_eq (lk_message_item_count (status, "arbiters"), 2);
    ck_assert_str_eq (lk_message_item (status, "arbiters", 0), "h3");
}
END_TEST

/*  -------------------------------------------------------- changes */

START_TEST (adds_who_is_heard)
{
    ask_for (APP, 3, "add", "h4");
    const lk_event *event = last_event (LK_ON_CHANGE);
    ck_assert (event->add);
    ck_assert_uint_eq (event->host, h4);
    ck_assert_uint_eq (bus.count, 0);
    done (LK_OK, "done");
    const lk_message *list = only_sent (APP, "LOCKMEMBERS");
    ck_assert_uint_eq (lk_message_serial (list), 3);
    ck_assert (lk_message_has (list, "members"));
}
END_TEST

START_TEST (removes_a_member)
{
    ask_for (APP, 3, "remove", "h3");
    const lk_event *event = last_event (LK_ON_CHANGE);
    ck_assert (!event->add);
    ck_assert_uint_eq (event->host, h3);
    done (LK_TIMEDOUT, "not in time");
    check_failed (APP, 3, "timedout", "not in time");
    done (LK_OK, "done"); /* nobody waits for it */
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  One that is dead and one that is there have one name, and two files. */
START_TEST (removes_the_member_of_a_name)
{
    lk_host fresh = lk_hostmap_intern (&lockd.hostmap, "h3", 0x99);
    node.status.sees |= LK_HOST_BIT (fresh);
    ask_for (APP, 3, "add", "h3");
    check_failed (APP, 3, "refused", "remove that one first");
    ck_assert_uint_eq (node.count, 0);
    ask_for (APP, 4, "remove", "h3");
    ck_assert_uint_eq (last_event (LK_ON_CHANGE)->host, h3);
    done (LK_OK, "done");
    forget_sent ();
    node.status.decree.members &= ~LK_HOST_BIT (h3);
    ask_for (APP, 5, "add", "h3");
    ck_assert_uint_eq (last_event (LK_ON_CHANGE)->host, fresh);
}
END_TEST

/*  The core says that it is so already. */
START_TEST (asked_for_what_is_so)
{
    ask_for (APP, 3, "add", "h3"); /* silent, but a member */
    ck_assert_uint_eq (last_event (LK_ON_CHANGE)->host, h3);
    done (LK_OK, "is so already");
    forget_sent ();
    ask_for (APP, 4, "remove", "h4"); /* known, and none */
    ck_assert_uint_eq (last_event (LK_ON_CHANGE)->host, h4);
}
END_TEST

START_TEST (refuses_what_it_does_not_know)
{
    ask_for (APP, 3, "add", "h9");
    check_failed (APP, 3, "unknown", "no lock service of that name is heard");
    ask_for (APP, 4, "remove", "h9");
    check_failed (APP, 4, "unknown", "no member of that name");
    node.status.sees &= ~LK_HOST_BIT (h4);
    ask_for (APP, 5, "add", "h4");
    check_failed (APP, 5, "isolated", "is not heard");
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (refuses_what_makes_no_sense)
{
    ask_for (APP, 3, "add", "h 4");
    check_failed (APP, 3, "invalid", "name one host");
    ask_for (APP, 3, "remove", "");
    check_failed (APP, 3, "invalid", "name one host");
    lk_message *both = new_message (APP, "LOCKMEMBERS", 3);
    lk_message_set_text (both, "add", "h4");
    lk_message_set_text (both, "remove", "h4");
    give (both);
    check_failed (APP, 3, "invalid", "name one host");
    lk_message *number = new_message (APP, "LOCKMEMBERS", 3);
    lk_message_set_number (number, "add", 4);
    give (number);
    check_failed (APP, 3, "invalid", "name one host");
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (two_of_one_name_are_heard)
{
    lk_host twin = lk_hostmap_intern (&lockd.hostmap, "h4", 0x45);
    node.status.sees |= LK_HOST_BIT (twin);
    ask_for (APP, 3, "add", "h4");
    check_failed (APP, 3, "overloaded", "ask again");
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

/*  One at a time; its asker may ask again, and is answered once. */
START_TEST (one_change_at_a_time)
{
    ask_for (APP, 3, "add", "h4");
    ask_for (APP, 4, "add", "h4");
    ck_assert_uint_eq (node.count, 1);
    ck_assert_uint_eq (bus.count, 0);
    ask_for (OTHER, 3, "add", "h4");
    check_failed (OTHER, 3, "overloaded", "another change is under way: add");
    ask_for (APP, 5, "remove", "h3");
    check_failed (APP, 5, "overloaded", "another change is under way: add");
    done (LK_OK, "done");
    ck_assert_uint_eq (lk_message_serial (only_sent (APP, "LOCKMEMBERS")), 4);
    forget_sent ();
    ask_for (OTHER, 4, "remove", "h3");
    ck_assert_uint_eq (node.count, 3);
}
END_TEST

/*  -------------------------------------------------------- elsewhere */

START_TEST (names_the_first_leader)
{
    node.status.decree.leader[0] = h2;
    node.status.decree.leader[1] = lockd.self;
    ask_for (APP, 3, "add", "h4");
    const lk_message *answer = only_sent (APP, "LOCKMEMBERS");
    ck_assert_str_eq (lk_message_item (answer, "leaders", 0), "h2");
    ck_assert (!lk_message_has (answer, "members"));
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (knows_no_leaders)
{
    node.status.decree.leader_count = 0;
    ask_for (APP, 3, "add", "h4");
    check_failed (APP, 3, "isolated", "no leaders are known here");
}
END_TEST

/*  Others lead by now, and it can't go on: they may. */
START_TEST (sends_on_who_waits)
{
    ask_for (APP, 3, "remove", "h3");
    node.status.decree.leader[0] = h2;
    done (LK_REFUSED, "it is the last member");
    const lk_message *answer = only_sent (APP, "LOCKMEMBERS");
    ck_assert_str_eq (lk_message_item (answer, "leaders", 0), "h2");
    ck_assert (!lk_message_has (answer, "members"));
}
END_TEST

START_TEST (stops_with_an_answer)
{
    ask_for (APP, 3, "remove", "h3");
    add_effect ((lk_effect) {.type = LK_DO_CHANGED,
                             .error = LK_SHUTDOWN,
                             .text = "not done, but it may still come true"});
    lk_lockd_service.detach (&lockd, "stop");
    check_failed (APP, 3, "shutdown", "not done");
}
END_TEST

/*  -------------------------------------------------------- joining */

/*  That of h4 itself, which is to join. */
START_TEST (adds_who_asks_for_itself)
{
    ask_for ("lock@h4", 0, "add", "h4");
    ck_assert_uint_eq (last_event (LK_ON_CHANGE)->host, h4);
    done (LK_OK, "done");
    (void) only_sent ("lock@h4", "LOCKMEMBERS");
}
END_TEST

static lk_message *
from_leader (const char *command)
{
    lk_message *message = new_message ("lock@h2", command, 0);
    lk_message_set_text (message, "served_by", "h2");
    return message;
}

/*  Two lock services would go on for ever. */
START_TEST (does_not_answer_an_answer)
{
    give (from_leader ("LOCKMEMBERS"));
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  The wish is there, and h2 leads a cluster that we are not in. */
static void
wish (void)
{
    char path[128];
    path_of (path, "join");
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fclose (file);
    lk_lockd_begin_joining (&lockd);
    node.status.decree.members = LK_HOST_BIT (h2) | LK_HOST_BIT (h3);
    node.status.decree.leader_count = 1;
    node.status.decree.leader[0] = h2;
}

static size_t
asked_in (int64_t ms)
{
    bus.now_ms += ms;
    tick ();
    const size_t count = bus.count;
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq (lk_message_to (bus.sent[i]), "lock@h2");
        ck_assert_str_eq (lk_message_command (bus.sent[i]), "LOCKMEMBERS");
        check_text (bus.sent[i], "add", "h1");
    }
    forget_sent ();
    return count;
}

static bool
wishes (void)
{
    char path[128];
    path_of (path, "join");
    return access (path, F_OK) == 0;
}

START_TEST (joins_by_itself)
{
    wish ();
    ck_assert_uint_eq (asked_in (499), 0);
    ck_assert_uint_eq (asked_in (1), 1);
    ck_assert_uint_eq (asked_in (2999), 0);
    ck_assert_uint_eq (asked_in (1), 1);
    ck_assert (wishes ());
    node.status.decree.members |= LK_HOST_BIT (lockd.self);
    ck_assert_uint_eq (asked_in (1), 0);
    ck_assert (!wishes ());
    /*  Who is removed then stays so. */
    node.status.decree.members = LK_HOST_BIT (h2);
    ck_assert_uint_eq (asked_in (100000), 0);
}
END_TEST

START_TEST (joins_when_somebody_leads)
{
    wish ();
    lockd.state.facts.active.members = 0;
    node.status.decree.leader_count = 0;
    ck_assert_uint_eq (asked_in (500), 0);
    node.status.decree.leader_count = 1;
    ck_assert_uint_eq (asked_in (500), 1);
}
END_TEST

/*  There are 15 members: that changes seldom. */
START_TEST (asks_seldom_who_refuses)
{
    wish ();
    ck_assert_uint_eq (asked_in (500), 1);
    lk_message *failed = from_leader ("LOCKFAILED");
    lk_message_set_text (failed, "error", "refused");
    lk_message_set_text (failed, "text", "there are 15 members");
    give (failed);
    ck_assert_str_eq (lockd.join_why, "there are 15 members");
    ck_assert_uint_eq (asked_in (59999), 0);
    ck_assert_uint_eq (asked_in (1), 1);
}
END_TEST

START_TEST (does_not_join_without_a_wish)
{
    lk_lockd_begin_joining (&lockd);
    node.status.decree.members = LK_HOST_BIT (h2);
    node.status.decree.leader_count = 1;
    node.status.decree.leader[0] = h2;
    ck_assert_uint_eq (asked_in (100000), 0);
}
END_TEST

/*  -------------------------------------------------------- an arbiter */

static void
set_up_arbiter (void)
{
    set_up_fresh ();
    lockd.options.arbiter = true;
    attach ();
    forget_sent ();
}

START_TEST (an_arbiter_tells_its_core)
{
    ck_assert (node.config.arbiter);
    ck_assert_ptr_null (lockd.page);
}
END_TEST

START_TEST (an_arbiter_answers_no_application)
{
    give (new_message (APP, "LOCKMEMBERS", 3));
    (void) only_sent (APP, "UNKNOWN");
    forget_sent ();
    give (new_message (APP, "LOCKSTATUS", 4));
    const lk_message *status = only_sent (APP, "NOLOCK");
    ck_assert (!lk_message_flag (status, "ready"));
}
END_TEST

int
main (void)
{
    const TTest *const list[] = {lists_members, lists_a_genesis, tells_domains,
                                 tells_none_without_the_text, tells_arbiters};
    const TTest *const arbiter[] = {an_arbiter_tells_its_core,
                                    an_arbiter_answers_no_application};
    const TTest *const changes[] = {
        adds_who_is_heard,
        removes_a_member,
        removes_the_member_of_a_name,
        asked_for_what_is_so,
        refuses_what_it_does_not_know,
        refuses_what_makes_no_sense,
        two_of_one_name_are_heard,
        one_change_at_a_time,
    };
    const TTest *const elsewhere[] = {names_the_first_leader, knows_no_leaders,
                                      sends_on_who_waits, stops_with_an_answer};
    const TTest *const joining[] = {
        adds_who_asks_for_itself, does_not_answer_an_answer,
        joins_by_itself,          joins_when_somebody_leads,
        asks_seldom_who_refuses,  does_not_join_without_a_wish,
    };
    const group groups[] = {
        GROUP ("list", list, set_up_cluster),
        GROUP ("changes", changes, set_up_cluster),
        GROUP ("elsewhere", elsewhere, set_up_cluster),
        GROUP ("joining", joining, set_up_cluster),
        GROUP ("arbiter", arbiter, set_up_arbiter),
    };
    return run_groups ("lock_members", groups,
                       sizeof groups / sizeof groups[0]);
}
