/*  lock_restarts.c - a lock service, its core, and hosts that come and go
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  h1 is the only member, and leads; the bus is scripted. Each host that comes
 *  says who it is, has a lock and gives it back, be it the thousandth one of
 *  its name.
 */

#define SENT_MAX 1024

#include "bus_fake.h"
#include "lib/suite.h"
#include "lockd.h"
#include "net/log.h"
#include "settings/keys.h"
#include "wire/lock_codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN_ID 0x11
#define STEP_MS 20

static char dir[64];
static lk_lockd lockd;
static int no_room; /* lines in the log that say so */

static void
count_lines (lk_log_level level, const char *text)
{
    (void) level;
    no_room += strstr (text, "no room for") != NULL;
}

/*  -------------------------------------------------------- h1 */

static void
write_state (void)
{
    char path[128];
    lk_hostmap hostmap;
    lk_lock_state state = {.id = OWN_ID, .cluster = "blue"};
    lk_hostmap_init (&hostmap);
    state.genesis = LK_HOST_BIT (lk_hostmap_intern (&hostmap, "h1", 0));
    state.facts.active.members = state.genesis;
    char *text = lk_lock_state_encode (&state, &hostmap);
    snprintf (path, sizeof path, "%s/lock.state", dir);
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    ck_assert_int_ge (fputs (text, file), 0);
    ck_assert_int_eq (fclose (file), 0);
    free (text);
}

static void
open_lockd (void)
{
    lk_lockd_options options;
    lk_problem problem;
    lk_config *config = lk_config_new (lk_settings);
    ck_assert (!lk_config_set (config, "lock/state", dir, &problem));
    ck_assert (!lk_config_set (config, "lock/run", dir, &problem));
    ck_assert (!lk_lockd_options_read (&options, config, &problem));
    lk_config_destroy (&config);
    lk_lockd_init (&lockd, &options);
    ck_assert (lk_lockd_open (&lockd));
    lk_lockd_service.attach (&lockd, &bus);
}

static void
settle (void)
{
    lk_lockd_service.settle (&lockd);
}

static void
pass (int64_t ms)
{
    const int64_t end = bus.now_ms + ms;
    while (bus.now_ms < end) {
        bus.now_ms += STEP_MS;
        lk_lockd_service.timer (&lockd);
        settle ();
        forget_sent ();
    }
}

static lk_node_status
status (void)
{
    lk_node_status now;
    lk_node_get_status (lockd.node, &now);
    return now;
}

static void
set_up (void)
{
    memset (&bus, 0, sizeof bus);
    bus.now_ms = 10000;
    no_room = 0;
    snprintf (dir, sizeof dir, "/tmp/lockd-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    write_state ();
    open_lockd ();
    while (!status ().leads) {
        ck_assert_int_lt (bus.now_ms, 60000);
        pass (100);
    }
    lk_log_set_sink (count_lines);
}

static void
tear_down (void)
{
    char command[100];
    lk_log_set_sink (NULL);
    forget_sent ();
    lk_lockd_clear (&lockd);
    snprintf (command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq (system (command), 0);
}

/*  -------------------------------------------------------- other hosts */

typedef struct {
    char name[16];
    uint64_t id;
    lk_hostmap hostmap; /* what it knows */
    lk_host self;
} guest;

static guest
make_guest (const char *name, uint64_t id)
{
    guest made = {.id = id};
    snprintf (made.name, sizeof made.name, "%s", name);
    lk_hostmap_init (&made.hostmap);
    lk_hostmap_intern (&made.hostmap, "h1", OWN_ID);
    made.self = lk_hostmap_intern (&made.hostmap, name, id);
    return made;
}

static void
say (const guest *from, lk_lock_message *message, bool packed)
{
    char address[LK_ADDRESS_LEN_MAX + 1];
    message->from = from->self;
    message->to = 0;
    message->origin = message->destination = LK_NOBODY;
    snprintf (address, sizeof address, "lock@%s", from->name);
    lk_message *heard =
        packed ? lk_lock_pack (message, &from->hostmap, from->self)
               : lk_lock_encode (message, &from->hostmap, from->self);
    lk_message_set_from (heard, address);
    if (message->kind == LK_MSG_STARTED) {
        lk_charter_write (&lockd.peers.charter, heard);
        lk_level_write (heard);
    }
    lk_lockd_service.message (&lockd, heard);
    lk_message_destroy (&heard);
    settle ();
}

static void
greet (const guest *from)
{
    lk_lock_message started = {.kind = LK_MSG_STARTED};
    started.as.started.candidate.priority = 8;
    started.as.started.incarnation = 1;
    started.as.started.active.members = 1;
    say (from, &started, false);
}

static void
ping (const guest *from)
{
    lk_lock_message message = {.kind = LK_MSG_PING};
    message.as.ping = (lk_msg_ping) {.at = bus.now_ms,
                                     .incarnation = 1,
                                     .active.members = 1,
                                     .eligible = true,
                                     .sees = 3,
                                     .session = 1};
    say (from, &message, true);
}

static lk_lock_message
request_of (const guest *from, lk_lock_kind kind, const char *object)
{
    lk_lock_message message = {.kind = kind, .term = status ().decree.term};
    message.as.request.ticket =
        (lk_ticket) {.request = {from->self, 1, 1},
                     .object = {object, (uint16_t) strlen (object)},
                     .owner = {"app@guest", 9}};
    message.as.request.queue = true;
    message.as.request.at = bus.now_ms;
    return message;
}

/*  Its object has an empty zone and context. */
static bool
ask (const guest *from, lk_lock_kind kind, const char *name, const char *answer)
{
    char key[32] = "\0\0";
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (key + 2, sizeof key - 2, "%s", name);
    lk_lock_message message = request_of (from, kind, "");
    message.as.request.ticket.object =
        (lk_name) {key, (uint16_t) (2 + strlen (name))};
    forget_sent ();
    say (from, &message, true);
    snprintf (to, sizeof to, "lock@%s", from->name);
    for (size_t i = 0; i < bus.count; i++) {
        if (strcmp (lk_message_to (bus.sent[i]), to) == 0
            && strcmp (lk_message_command (bus.sent[i]), answer) == 0) {
            return true;
        }
    }
    return false;
}

static bool
locks (const guest *from, const char *name)
{
    return ask (from, LK_MSG_LOCK, name, "LOCKED");
}

static bool
unlocks (const guest *from, const char *name)
{
    return ask (from, LK_MSG_UNLOCK, name, "UNLOCKED");
}

static void
ends (const guest *who)
{
    char address[LK_ADDRESS_LEN_MAX + 1];
    lk_message *event = lk_message_new ("lock@h1", "STATUS");
    snprintf (address, sizeof address, "lock@%s", who->name);
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "service", address);
    lk_message_set_text (event, "status", "down");
    lk_lockd_service.event (&lockd, event);
    lk_message_destroy (&event);
    settle ();
    forget_sent ();
}

static void
comes (const guest *who)
{
    greet (who);
    ping (who);
    forget_sent ();
}

/*  It comes, has what all have, and goes; some die with a lock of their own. */
static void
visit (const char *name, uint64_t id, bool dies)
{
    char own[32];
    const guest who = make_guest (name, id);
    snprintf (own, sizeof own, "own-%llx", (unsigned long long) id);
    comes (&who);
    ck_assert_msg (locks (&who, dies ? own : "x"), "%s, %llx: not served", name,
                   (unsigned long long) id);
    ck_assert (dies || unlocks (&who, "x"));
    ends (&who);
    pass (STEP_MS);
}

/*  -------------------------------------------------------- tests */

/*  Every hundredth dies with a lock: 20 ms are shorter than the time until that
 *  is free. */
START_TEST (restarts_of_one_host)
{
    for (uint64_t id = 1; id <= 10000; id++) {
        visit ("h2", 0x1000 + id, id % 100 == 0);
    }
    ck_assert_int_eq (no_room, 0);
    pass (15000);
    ck_assert_uint_eq (status ().tickets, 0);
    ck_assert_uint_eq (lockd.dropped, 0);
}
END_TEST

START_TEST (hosts_one_after_the_other)
{
    for (uint64_t id = 1; id <= 1000; id++) {
        char name[16];
        snprintf (name, sizeof name, "n%llu", (unsigned long long) id);
        visit (name, 0x1000 + id, id % 50 == 0);
    }
    ck_assert_int_eq (no_room, 0);
    pass (15000);
    ck_assert_uint_eq (status ().tickets, 0);
}
END_TEST

static guest crowd[LK_HOSTS_MAX];

/*  Everybody else goes on. */
static void
pass_with (size_t count, int64_t ms)
{
    const int64_t end = bus.now_ms + ms;
    while (bus.now_ms < end) {
        pass (200);
        for (size_t i = 0; i < count; i++) {
            ping (&crowd[i]);
        }
        forget_sent ();
    }
}

/*  h1 and 63 others; the next is served when one of these is gone, and holds
 *  nothing any more. */
START_TEST (as_many_as_can_be)
{
    const size_t count = LK_HOSTS_MAX - 1;
    const guest late = make_guest ("late", 0x999);
    const guest later = make_guest ("later", 0x99a);
    for (size_t i = 0; i < count; i++) {
        char name[16], own[16];
        snprintf (name, sizeof name, "n%zu", i);
        snprintf (own, sizeof own, "own-%zu", i);
        crowd[i] = make_guest (name, 0x1000 + i);
        comes (&crowd[i]);
        ck_assert (locks (&crowd[i], own));
        pass_with (i + 1, 10);
    }
    comes (&late);
    ck_assert (!locks (&late, "x"));
    ck_assert_int_gt (no_room, 0);
    ck_assert (unlocks (&crowd[7], "own-7"));
    comes (&late);
    ck_assert (!locks (&late, "x")); /* it is still there */
    ends (&crowd[7]);
    comes (&late);
    ck_assert (locks (&late, "x"));
    ends (&crowd[8]); /* with a lock */
    crowd[7] = late;
    crowd[8] = late;
    comes (&later);
    ck_assert (!locks (&later, "y"));
    pass_with (count, 11000);
    comes (&later);
    ck_assert (locks (&later, "y"));
    ck_assert_uint_eq (status ().tickets, count);
}
END_TEST

/*  One message, or a few hundred, of somebody in the group. */
START_TEST (invented_hosts)
{
    const guest last = make_guest ("last", 0x999);
    guest liar = make_guest ("liar", 0x777);
    comes (&liar);
    for (unsigned i = 0; i < 60; i++) {
        char name[16];
        snprintf (name, sizeof name, "invented%u", i);
        lk_hostmap_intern (&liar.hostmap, name, 0x2000 + i);
    }
    lk_lock_message lie = {.kind = LK_MSG_PING};
    lie.as.ping.at = bus.now_ms + 1;
    lie.as.ping.active.members = 1;
    lie.as.ping.sees = ~(lk_hosts) 0 >> 2;
    say (&liar, &lie, false);
    ck_assert_uint_eq (lockd.hostmap.count, 2);
    for (uint64_t id = 1; id <= 300; id++) {
        const guest lied = make_guest ("liar", 0x3000 + id);
        greet (&lied);
        forget_sent ();
    }
    comes (&last);
    ck_assert (locks (&last, "x"));
    ck_assert_int_eq (no_room, 0);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_restarts");
    tcase_set_timeout (tests, 120);
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, restarts_of_one_host);
    tcase_add_test (tests, hosts_one_after_the_other);
    tcase_add_test (tests, as_many_as_can_be);
    tcase_add_test (tests, invented_hosts);
    Suite *suite = suite_create ("lock_restarts");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
