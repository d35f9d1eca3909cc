/*  lock_shell.c - how a lock service starts, and whom it listens to
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lock_fake.h"

#include "net/log.h"

/*  -------------------------------------------------------- start */

START_TEST (starts_with_a_genesis)
{
    bus.count = 0;
    ck_assert_uint_eq (lockd.incarnation, 1);
    ck_assert (node.config.member);
    ck_assert (node.config.eligible);
    ck_assert_uint_eq (node.config.id, OWN_ID);
    ck_assert_uint_eq (node.config.candidate.priority, 8);
    ck_assert_uint_lt (node.config.candidate.random, 1u << 28);
    ck_assert_uint_eq (node.config.candidate.pid, (uint32_t) getpid ());
    ck_assert_str_eq (lk_hostmap_name (&lockd.hostmap, lockd.self), "h1");
    ck_assert (node.config.facts.active.members & LK_HOST_BIT (lockd.self));
    ck_assert_int_eq (bus.wake_ms, bus.now_ms + 250);
}
END_TEST

START_TEST (greets_when_attached)
{
    lk_lockd_service.detach (&lockd, "router lost");
    attach ();
    ck_assert_uint_ge (bus.count, 1);
    const lk_message *started = bus.sent[0];
    ck_assert_str_eq (lk_message_to (started), "lock@*");
    ck_assert_str_eq (lk_message_command (started), "LOCKSTARTED");
    check_text (started, "cluster", "blue");
    ck_assert_int_eq (lk_message_number (started, "host_lease", 0), 8000);
    ck_assert_str_eq (lk_message_item (started, "genesis", 0), "h1");
    ck_assert_str_eq (lk_message_item (started, "genesis", 2), "h3");
    uint64_t id;
    ck_assert (lk_message_hex (started, "id", &id));
    ck_assert_uint_eq (id, OWN_ID);
}
END_TEST

START_TEST (knows_its_address)
{
    static const uint8_t v4[16] = {[10] = 0xff, 0xff, 10, 1, 2, 3};
    ck_assert_mem_eq (node.config.candidate.address, v4, sizeof v4);
    ck_assert_uint_eq (node.config.candidate.port, 4040);
}
END_TEST

/*  Its host is in its promises: under another name it would be another. */
START_TEST (ends_if_its_host_has_another_name)
{
    lk_lockd_service.detach (&lockd, "router lost");
    bus_host = "h9";
    attach ();
    ck_assert_int_eq (bus.stopped, 1 + 1);
    ck_assert_uint_eq (bus.count, 0);
    size_t steps = node.count;
    tick ();
    ck_assert_uint_eq (node.count, steps);
}
END_TEST

START_TEST (starts_without_a_genesis)
{
    attach ();
    ck_assert (!node.config.member);
    ck_assert (node.config.eligible); /* once it is one */
    uint64_t id = lockd.state.id;
    ck_assert_uint_ne (id, 0);
    lk_lockd_clear (&lockd);
    forget_sent ();
    memset (&node, 0, sizeof node);
    open_lockd ();
    attach ();
    ck_assert_uint_eq (lockd.state.id, id);
    ck_assert_uint_eq (node.config.facts.session, 1);
    ck_assert_uint_eq (lockd.incarnation, 2);
}
END_TEST

START_TEST (refuses_a_state_in_use)
{
    lk_lockd second;
    lk_lockd_init (&second, &lockd.options);
    ck_assert (!lk_lockd_open (&second));
    lk_lockd_clear (&second);
}
END_TEST

static char last_line[500];

static void
keep_line (lk_log_level level, const char *line)
{
    (void) level;
    snprintf (last_line, sizeof last_line, "%s", line);
}

START_TEST (refuses_a_broken_state)
{
    char path[128];
    lk_lockd_clear (&lockd);
    path_of (path, "lock.state");
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fputs ("{\"id\": 5", file);
    fclose (file);
    lk_lockd_options options = lockd.options;
    lk_lockd_init (&lockd, &options);
    lk_log_set_sink (keep_line);
    ck_assert (!lk_lockd_open (&lockd));
    lk_log_set_sink (NULL);
    ck_assert_ptr_nonnull (strstr (last_line, "makes no sense"));
    ck_assert_ptr_nonnull (strstr (last_line, "move it away"));
}
END_TEST

/*  As one does that is older than packed bodies, with each of them. */
START_TEST (tells_that_the_router_takes_nothing)
{
    static const char *const lines[] = {
        "the router does not take what we say: reserved bits are set; if it "
        "is older than this lock service restart it router=router@h1 count=1",
        "count=2", "count=2", "count=4"};
    lk_message *event = lk_message_new ("*@.", "INVALID");
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "reason", "reserved bits are set");
    lk_log_set_sink (keep_line);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        lk_lockd_service.event (&lockd, event);
        ck_assert_ptr_nonnull (strstr (last_line, lines[i]));
    }
    lk_log_set_sink (NULL);
    lk_message_destroy (&event);
}
END_TEST

/*  -------------------------------------------------------- peers */

static lk_message *
new_started (const char *cluster, uint64_t id)
{
    lk_message *message = NULL;
    lk_hostmap hostmap = lockd.hostmap;
    lk_host h2 = lk_hostmap_intern (&hostmap, "h2", id);
    lk_lock_message started = {.kind = LK_MSG_STARTED,
                               .from = h2,
                               .to = lockd.self,
                               .origin = LK_NOBODY,
                               .destination = LK_NOBODY};
    started.as.started.candidate.priority = 8;
    started.as.started.incarnation = 1;
    started.as.started.active.members = lockd.state.genesis;
    message = lk_lock_encode (&started, &hostmap, h2);
    lk_message_set_from (message, "lock@h2");
    lk_message_set_number (message, "protocol", LK_PEERS_PROTOCOL);
    lk_message_set_text (message, "cluster", cluster);
    lk_message_set_number (message, "leader_lease", 2000);
    lk_message_set_number (message, "host_lease", 8000);
    lk_message_add_item (message, "genesis", "h1");
    lk_message_add_item (message, "genesis", "h2");
    lk_message_add_item (message, "genesis", "h3");
    return message;
}

static lk_message *
new_retire (uint64_t id)
{
    lk_hostmap hostmap = lockd.hostmap;
    lk_host h2 = lk_hostmap_intern (&hostmap, "h2", id);
    lk_lock_message retire = {.kind = LK_MSG_RETIRE,
                              .from = h2,
                              .to = lockd.self,
                              .origin = LK_NOBODY,
                              .destination = LK_NOBODY,
                              .term = {5, id}};
    lk_message *message = lk_lock_encode (&retire, &hostmap, h2);
    lk_message_set_from (message, "lock@h2");
    return message;
}

START_TEST (hears_only_who_started)
{
    give (new_retire (0x22));
    ck_assert_uint_eq (node.count, 0);
    only_sent ("lock@h2", "LOCKSTARTED");
    give (new_retire (0x22));
    ck_assert_uint_eq (bus.count, 1); /* not so often */
    give (new_started ("blue", 0x22));
    ck_assert_int_eq (last_event (LK_ON_MESSAGE)->type, LK_ON_MESSAGE);
    ck_assert_int_eq (node.kind[0], LK_MSG_STARTED);
    give (new_retire (0x22));
    ck_assert_uint_eq (node.count, 2);
    ck_assert_int_eq (node.kind[1], LK_MSG_RETIRE);
    give (new_retire (0x23)); /* another state file */
    ck_assert_uint_eq (node.count, 2);
}
END_TEST

/*  How many of 50 messages of h2 that each cost a write the core hears. */
static size_t
count_written (void)
{
    const size_t before = node.count;
    for (size_t i = 0; i < 50; i++) {
        add_effect (
            (lk_effect) {.type = LK_DO_PERSIST, .facts = lockd.state.facts});
        give (new_retire (0x22));
        node.effect_count = 0;
    }
    return node.count - before;
}

/*  All clusters of an arbiter wait while it writes. */
START_TEST (an_arbiter_writes_ten_times_a_second)
{
    give (new_started ("blue", 0x22));
    lockd.options.arbiter = true;
    ck_assert_uint_eq (count_written (), 10);
    node.count = 0;
    bus.now_ms += 300;
    ck_assert_uint_eq (count_written (), 3);
    bus.now_ms += 60000;
    ck_assert_uint_eq (count_written (), 10);
    node.count = 0;
    lockd.options.arbiter = false;
    ck_assert_uint_eq (count_written (), 50);
}
END_TEST

static void
send_retire (void)
{
    static lk_lock_message retire = {.kind = LK_MSG_RETIRE,
                                     .origin = LK_NOBODY,
                                     .destination = LK_NOBODY,
                                     .term = {5, 1}};
    retire.from = lockd.self;
    retire.to = lk_hostmap_find (&lockd.hostmap, "h2", 0x22);
    add_effect ((lk_effect) {.type = LK_DO_SEND, .message = &retire});
    tick ();
}

/*  0: it is JSON. */
static uint8_t
level_of (const lk_message *message)
{
    lk_slice body;
    return lk_message_packed (message, &body) ? (uint8_t) body.data[0] : 0;
}

/*  As it is sent to h2 now. */
static void
retire_has_level (uint8_t level)
{
    send_retire ();
    ck_assert_uint_eq (level_of (only_sent ("lock@h2", "RETIRE")), level);
    forget_sent ();
}

/*  Whatever it is told, but who it is, and until it says otherwise. */
START_TEST (packs_for_who_reads_it)
{
    static const struct {
        int64_t said; /* -1: nothing */
        uint8_t level;
    } all[] = {{-1, 0}, {1, 1}, {2, 2}, {3, 2}, {300, 2}, {0, 0}, {1, 1}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        lk_message *message = new_started ("blue", 0x22);
        if (all[i].said >= 0) {
            lk_message_set_number (message, "packed", all[i].said);
        }
        give (message);
        retire_has_level (all[i].level);
    }
    lk_lockd_announce (&lockd, "h2");
    ck_assert_int_eq (
        lk_message_number (only_sent ("lock@h2", "LOCKSTARTED"), "packed", 0),
        LK_PACKED_LEVEL);
    forget_sent ();
    size_t before = node.count;
    lk_message *message = new_started ("blue", 0x22);
    lk_message_set_text (message, "packed", "yes");
    give (message);
    ck_assert_uint_eq (node.count, before);
    ck_assert_uint_eq (lockd.dropped, 1);
}
END_TEST

/*  Of the message that a lock service would send. */
START_TEST (reads_packed_bodies_of_lock_services_only)
{
    give (new_started ("blue", 0x22));
    lk_hostmap hostmap = lockd.hostmap;
    lk_lock_message retire = {.kind = LK_MSG_RETIRE,
                              .from =
                                  lk_hostmap_find (&lockd.hostmap, "h2", 0x22),
                              .to = lockd.self,
                              .origin = LK_NOBODY,
                              .destination = LK_NOBODY,
                              .term = {5, 0x22}};
    lk_message *packed = lk_lock_pack (&retire, &hostmap, retire.from);
    lk_message_set_from (packed, "lock@h2");
    give (packed);
    ck_assert_int_eq (node.kind[node.count - 1], LK_MSG_RETIRE);
    static const char *const others[] = {"a@h1", "a@h2"};
    for (size_t i = 0; i < 2; i++) {
        const size_t before = node.count;
        forget_sent ();
        packed = lk_lock_pack (&retire, &hostmap, retire.from);
        lk_message_set_from (packed, others[i]);
        lk_message_set_serial (packed, 7);
        give (packed);
        const lk_message *answer = only_sent (others[i], "INVALID");
        check_text (answer, "reason",
                    "packed bodies are for lock services, say it in JSON");
        ck_assert_uint_eq (lk_message_serial (answer), 7);
        ck_assert_uint_eq (node.count, before);
    }
}
END_TEST

/*  Its own broadcasts come back to it; and other services have other names. */
START_TEST (hears_lock_services_of_other_hosts_only)
{
    give (new_started ("blue", 0x22));
    size_t before = node.count;
    lk_message *message = new_started ("blue", OWN_ID);
    lk_message_set_from (message, "lock@h1");
    give (message);
    ck_assert_uint_eq (bus.count, 0);
    static const char *const others[] = {"lock1@h2", "loc@h2", "a@h2"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        message = new_retire (0x22);
        lk_message_set_from (message, others[i]);
        give (message);
        only_sent (others[i], "UNKNOWN");
        forget_sent ();
    }
    ck_assert_uint_eq (node.count, before);
}
END_TEST

START_TEST (refuses_another_cluster)
{
    give (new_started ("red", 0x22));
    ck_assert_uint_eq (node.count, 0);
    check_text (only_sent ("lock@h2", "REFUSE"), "reason",
                "host 'h1' is of cluster 'blue', host 'h2' of cluster 'red'");
    give (new_retire (0x22));
    give (new_started ("red", 0x22));
    ck_assert_uint_eq (node.count, 0);
    ck_assert_uint_eq (bus.count, 1);
    /*  That id was bound to nothing. */
    ck_assert_uint_eq (
        lk_hostmap_id (&lockd.hostmap,
                       lk_hostmap_find (&lockd.hostmap, "h2", 0)),
        0);
    give (new_started ("blue", 0x23));
    ck_assert_uint_eq (node.count, 1);
}
END_TEST

/*  NOLOCK's reason: what it says of the sight, and `more` behind it. */
static void
check_reason (const char *more)
{
    char reason[200];
    node.status.sees = LK_HOST_BIT (lockd.self);
    node.status.decree.members = lockd.state.genesis;
    snprintf (reason, sizeof reason, "sees 1 of 3 members, needs 2%s", more);
    forget_sent ();
    give (new_message ("a@h1", "LOCKSTATUS", 3));
    check_text (only_sent ("a@h1", "NOLOCK"), "reason", reason);
    forget_sent ();
}

START_TEST (tells_why_it_refuses)
{
    check_reason ("");
    give (new_started ("red", 0x22));
    check_reason ("; refused: host 'h1' is of cluster 'blue', host 'h2' of "
                  "cluster 'red'");
    give (new_started ("blue", 0x22));
    check_reason ("");
}
END_TEST

START_TEST (takes_a_refusal)
{
    lk_message *message = new_message ("lock@h2", "REFUSE", 0);
    lk_message_set_hex (message, "id", 0x22);
    lk_message_set_text (message, "reason", "we differ");
    give (message);
    give (new_message ("lock@h2", "REFUSE", 0));
    give (new_message ("lock@h2", "UNKNOWN", 0));
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, 0);
    check_reason ("; refused: we differ");

    /*  One that is too long is cut between its characters. */
    char longest[2000] = "";
    while (strlen (longest) + 3 < sizeof longest) {
        snprintf (longest + strlen (longest), 3, "\xc3\xa9");
    }
    message = new_message ("lock@h2", "REFUSE", 0);
    lk_message_set_hex (message, "id", 0x22);
    lk_message_set_text (message, "reason", longest);
    give (message);
    give (new_message ("a@h1", "LOCKSTATUS", 3));
    ck_assert_ptr_nonnull (strstr (
        lk_message_text (only_sent ("a@h1", "NOLOCK"), "reason"), "\xc3\xa9"));
    report_host ("HANGUP", "h2");
    check_reason ("");
}
END_TEST

/*  An older one may have been started in its place. */
START_TEST (packs_for_nobody_who_was_gone)
{
    lk_message *message = new_started ("blue", 0x22);
    lk_message_set_number (message, "packed", LK_PACKED_LEVEL);
    give (message);
    retire_has_level (LK_PACKED_LEVEL);
    report_host ("HANGUP", "h2");
    forget_sent ();
    retire_has_level (0);
}
END_TEST

/*  It keeps it before anybody hears so, and tells all. */
START_TEST (proxies_the_first_cluster)
{
    attach ();
    forget_sent ();
    give (new_started ("blue", 0x22));
    ck_assert_str_eq (lockd.peers.charter.name, "blue");
    ck_assert_str_eq (lk_message_command (bus.sent[1]), "CLUSTER");
    check_text (bus.sent[1], "name", "blue");
    lk_message_destroy (&bus.sent[1]);
    bus.count--;
    check_text (only_sent ("lock@*", "LOCKSTARTED"), "cluster", "blue");
    forget_sent ();
    report_host ("NEWREMOTECONNECTION", "h7");
    check_text (only_sent ("lock@h7", "LOCKSTARTED"), "cluster", "blue");
}
END_TEST

static void
restart (void)
{
    forget_sent ();
    lk_lockd_clear (&lockd);
    memset (&node, 0, sizeof node);
    open_lockd ();
    attach ();
    forget_sent ();
    node.count = 0;
}

START_TEST (keeps_its_cluster)
{
    attach ();
    give (new_started ("blue", 0x22));
    restart ();
    ck_assert_str_eq (lockd.peers.charter.name, "blue");
    ck_assert_uint_eq (lockd.peers.charter.count, 3);
    ck_assert_str_eq (lockd.peers.charter.member[2], "h3");
    ck_assert (!node.config.member);
    give (new_started ("red", 0x22));
    ck_assert_uint_eq (node.count, 0);
    only_sent ("lock@h2", "REFUSE");
    forget_sent ();
    give (new_started ("blue", 0x23));
    ck_assert_uint_eq (node.count, 1);
}
END_TEST

/*  What the core was told of a decree makes it a member, not the genesis. */
START_TEST (comes_back_as_a_member)
{
    attach ();
    give (new_started ("blue", 0x22));
    lk_facts facts = {.promised = {7, OWN_ID}, .session = 9};
    facts.active = (lk_decree) {.term = {7, OWN_ID},
                                .members = LK_HOST_BIT (lockd.self),
                                .leader_count = 1,
                                .leader = {lockd.self}};
    add_effect ((lk_effect) {.type = LK_DO_PERSIST, .facts = facts});
    tick ();
    restart ();
    ck_assert (node.config.member);
    ck_assert (node.config.eligible);
}
END_TEST

START_TEST (ends_if_it_cannot_keep_its_cluster)
{
    char command[100];
    attach ();
    forget_sent ();
    node.count = 0;
    snprintf (command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq (system (command), 0);
    give (new_started ("blue", 0x22));
    ck_assert_int_eq (bus.stopped, 1 + 1);
    ck_assert_uint_eq (node.count, 0);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  Two that had no cluster may have two by now. */
START_TEST (asks_who_was_taken_without_a_cluster)
{
    attach ();
    lk_message *nobody = new_started ("", 0x33);
    lk_message_set_from (nobody, "lock@h3");
    lk_message_set_text (nobody, "genesis", NULL);
    give (nobody);
    give (new_started ("blue", 0x22));
    ck_assert_int_eq (lk_peers_intern (&lockd.peers, "h3", 0x33)->state,
                      LK_OTHER_NEW);
    ck_assert_int_eq (lk_peers_intern (&lockd.peers, "h2", 0x22)->state,
                      LK_OTHER_ACCEPTED);
}
END_TEST

/*  Who refuses us is not heard before it has said again who it is. */
START_TEST (does_not_hear_who_refuses)
{
    give (new_started ("blue", 0x22));
    lk_message *message = new_message ("lock@h2", "REFUSE", 0);
    lk_message_set_hex (message, "id", 0x22);
    lk_message_set_text (message, "reason", "we differ");
    give (message);
    give (new_retire (0x22));
    ck_assert_uint_eq (node.count, 1);
    give (new_started ("blue", 0x22));
    give (new_retire (0x22));
    ck_assert_uint_eq (node.count, 3);
}
END_TEST

START_TEST (hears_of_hosts)
{
    report_status ("lock@h2", "up", 5);
    only_sent ("lock@h2", "LOCKSTARTED");
    forget_sent ();
    report_host ("CLUSTERUP", "h1");
    only_sent ("lock@*", "LOCKSTARTED");
    forget_sent ();
    report_status ("lock@h1", "up", 5);
    report_status ("lock@h1", "down", 5);
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, 0);
    report_status ("lock@h2", "unknown", 5);
    ck_assert_uint_eq (node.count, 0);
    report_status ("lock@h2", "down", 5);
    ck_assert_uint_eq (node.count, 1);
    report_host ("HANGUP", "h3");
    ck_assert_uint_eq (node.count, 2);
    ck_assert_str_eq (
        lk_hostmap_name (&lockd.hostmap, last_event (LK_ON_HOST_GONE)->host),
        "h3");
    report_host ("DISCONNECTED", "h9");
    ck_assert_uint_eq (node.count, 2);
}
END_TEST

/*  A name that no host can have is nobody's. */
START_TEST (hears_of_no_host_without_a_name)
{
    char endless[301];
    const char *const names[] = {"a b",   "*", ".", "..",   "@",
                                 "h2@h3", "",  "?", endless};
    memset (endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char service[sizeof endless + 8];
        snprintf (service, sizeof service, "lock@%s", names[i]);
        report_host ("NEWREMOTECONNECTION", names[i]);
        report_host ("HANGUP", names[i]);
        report_status (service, "up", 5);
        report_status (names[i], "up", 5);
    }
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

/*  As many hosts as it can tell apart: it still says who it is, and its decree
 *  as it is. */
START_TEST (greets_with_a_full_hostmap)
{
    const lk_host self = lockd.self;
    lk_hostmap *hostmap = &lockd.hostmap;
    for (unsigned i = 0; hostmap->count < LK_HOSTS_MAX; i++) {
        char name[16];
        snprintf (name, sizeof name, "other%u", i);
        ck_assert_uint_ne (lk_hostmap_intern (hostmap, name, 0x1000 + i),
                           LK_NOBODY);
    }
    lk_decree *active = &lockd.state.facts.active;
    active->members |= LK_HOST_BIT (LK_HOSTS_MAX - 1);
    active->term = (lk_term) {7, 0x1000};
    active->leader[0] = LK_HOSTS_MAX - 2;
    active->leader_count = 1;
    lk_lockd_announce (&lockd, "*");
    const lk_message *started = only_sent ("lock@*", "LOCKSTARTED");
    ck_assert_ptr_nonnull (
        strstr (lk_message_body (started),
                lk_hostmap_name (hostmap, LK_HOSTS_MAX - 1)));
    ck_assert_ptr_nonnull (
        strstr (lk_message_body (started),
                lk_hostmap_name (hostmap, LK_HOSTS_MAX - 2)));
    forget_sent ();
    lk_lockd_announce (&lockd, "h99");
    only_sent ("lock@h99", "LOCKSTARTED");
    ck_assert_uint_eq (hostmap->count, LK_HOSTS_MAX);
    ck_assert_str_eq (lk_hostmap_name (hostmap, self), "h1");
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    const TTest *const fresh[] = {starts_without_a_genesis,
                                  refuses_a_broken_state,
                                  proxies_the_first_cluster,
                                  keeps_its_cluster,
                                  comes_back_as_a_member,
                                  ends_if_it_cannot_keep_its_cluster,
                                  asks_who_was_taken_without_a_cluster};
    const TTest *const starts[] = {
        ends_if_its_host_has_another_name,
        starts_with_a_genesis,
        knows_its_address,
        greets_when_attached,
        refuses_a_state_in_use,
    };
    const TTest *const others[] = {packs_for_who_reads_it,
                                   an_arbiter_writes_ten_times_a_second,
                                   packs_for_nobody_who_was_gone,
                                   reads_packed_bodies_of_lock_services_only,
                                   hears_only_who_started,
                                   hears_lock_services_of_other_hosts_only,
                                   refuses_another_cluster,
                                   tells_why_it_refuses,
                                   takes_a_refusal,
                                   does_not_hear_who_refuses,
                                   hears_of_hosts,
                                   tells_that_the_router_takes_nothing,
                                   greets_with_a_full_hostmap,
                                   hears_of_no_host_without_a_name};
    const group groups[] = {
        GROUP ("fresh", fresh, set_up_fresh),
        GROUP ("starts", starts, set_up),
        GROUP ("peers", others, set_up),
    };
    return run_groups ("lock_shell", groups, sizeof groups / sizeof groups[0]);
}
