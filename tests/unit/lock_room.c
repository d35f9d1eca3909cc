/*  lock_room.c - a lock service that knows as many hosts as it can
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The core says whom it needs no more; nothing that is kept for that one may
 *  be taken for the next one's. h1, h2 and h3 are the first members.
 */

#include "lock_fake.h"

#include "net/log.h"

#define FORMER 20 /* whose place may be needed */

static char last_line[256];

static void
keep_line (lk_log_level level, const char *text)
{
    (void) level;
    snprintf (last_line, sizeof last_line, "%s", text);
}

/*  -------------------------------------------------------- messages */

/*  From lock@host, as a service with that hostmap says it. */
static void
give_from (lk_lock_message *message, const lk_hostmap *hostmap,
           const char *host, bool packed)
{
    char from[LK_ADDRESS_LEN_MAX + 1];
    message->to = lk_hostmap_find (hostmap, "h1", OWN_ID);
    message->origin = LK_NOBODY;
    message->destination = LK_NOBODY;
    snprintf (from, sizeof from, "lock@%s", host);
    lk_message *bus_message =
        packed ? lk_lock_pack (message, hostmap, message->from)
               : lk_lock_encode (message, hostmap, message->from);
    lk_message_set_from (bus_message, from);
    if (message->kind == LK_MSG_STARTED) {
        lk_charter_write (&lockd.peers.charter, bus_message);
        lk_level_write (bus_message);
    }
    give (bus_message);
}

/*  The hostmap of that host itself: it knows only h1. */
static lk_host
know_h1 (lk_hostmap *hostmap, const char *host, uint64_t id)
{
    lk_hostmap_init (hostmap);
    lk_hostmap_intern (hostmap, "h1", OWN_ID);
    return lk_hostmap_intern (hostmap, host, id);
}

static void
greet (const char *host, uint64_t id)
{
    lk_hostmap hostmap;
    lk_lock_message started = {.kind = LK_MSG_STARTED};
    started.from = know_h1 (&hostmap, host, id);
    started.as.started.candidate.priority = 8;
    started.as.started.active.members = LK_HOST_BIT (started.to);
    give_from (&started, &hostmap, host, false);
}

/*  That session of an invented host is to be silent. */
static void
ask_about (const char *host, uint64_t id, const char *whom)
{
    lk_hostmap hostmap;
    lk_lock_message message = {.kind = LK_MSG_HOST, .term = {6, id}};
    message.from = know_h1 (&hostmap, host, id);
    message.as.host.host = lk_hostmap_intern (&hostmap, whom, 0x99);
    give_from (&message, &hostmap, host, false);
}

/*  -------------------------------------------------------- the world */

static void
fill_hostmap (void)
{
    lk_hostmap *hostmap = &lockd.hostmap;
    for (unsigned i = 0; !lk_hostmap_is_full (hostmap); i++) {
        char name[16];
        snprintf (name, sizeof name, "other%u", i);
        ck_assert_uint_ne (lk_hostmap_intern (hostmap, name, 0x1000 + i),
                           LK_NOBODY);
    }
    node.count = 0;
}

static void
set_up_full (void)
{
    set_up ();
    greet ("h2", 0x22);
    fill_hostmap ();
    forget_sent ();
    last_line[0] = '\0';
    lk_log_set_sink (keep_line);
}

static lk_host
number_of (const char *host, uint64_t id)
{
    return lk_hostmap_find (&lockd.hostmap, host, id);
}

/*  -------------------------------------------------------- tests */

/*  Hosts that somebody hears need not be known here. */
START_TEST (a_ping_uses_up_no_number)
{
    lk_hostmap hostmap;
    set_up ();
    greet ("h2", 0x22);
    const size_t count = lockd.hostmap.count;
    for (int packed = 0; packed < 2; packed++) {
        lk_lock_message ping = {.kind = LK_MSG_PING};
        ping.from = know_h1 (&hostmap, "h2", 0x22);
        for (unsigned i = 0; i < 60; i++) {
            char name[16];
            snprintf (name, sizeof name, "invented%u", i);
            ping.as.ping.sees |=
                LK_HOST_BIT (lk_hostmap_intern (&hostmap, name, 0x2000 + i));
        }
        ping.as.ping.active.members = 3;
        node.count = 0;
        give_from (&ping, &hostmap, "h2", packed);
        ck_assert_uint_eq (node.count, 1);
        ck_assert_int_eq (node.kind[0], LK_MSG_PING);
        ck_assert_uint_eq (lockd.hostmap.count, count);
    }
    ck_assert_uint_eq (lockd.dropped, 0);
}
END_TEST

START_TEST (one_makes_room)
{
    char name[LK_HOST_LEN_MAX + 1];
    const uint64_t id = lk_hostmap_id (&lockd.hostmap, FORMER);
    snprintf (name, sizeof name, "%s",
              lk_hostmap_name (&lockd.hostmap, FORMER));
    greet (name, id);
    ck_assert_uint_gt (lockd.level[FORMER], 0);
    node.gone = LK_HOST_BIT (FORMER);
    node.count = 0;
    ask_about ("h9", 0x99, "h1"); /* it has not said who it is */
    ck_assert_uint_eq (node.gone, LK_HOST_BIT (FORMER));
    greet ("h9", 0x99);
    ck_assert_uint_eq (node.count, 1);
    ck_assert_uint_eq (number_of ("h9", 0x99), FORMER);
    ck_assert_uint_eq (number_of (name, id), LK_NOBODY);
    ck_assert_uint_eq (node.gone, 0);
    ck_assert_uint_gt (lockd.level[FORMER], 0); /* says the new one */
    ck_assert_int_eq (lk_peers_intern (&lockd.peers, name, id)->state,
                      LK_OTHER_NEW);
    ck_assert_int_eq (lk_peers_intern (&lockd.peers, "h9", 0x99)->state,
                      LK_OTHER_ACCEPTED);
}
END_TEST

/*  Until the next one says what it reads. */
START_TEST (notations_are_not_inherited)
{
    memset (lockd.level, 1, sizeof lockd.level);
    node.idle = LK_HOST_BIT (FORMER);
    ask_about ("h2", 0x22, "h9");
    ck_assert_uint_eq (number_of ("h9", 0x99), FORMER);
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        ck_assert_uint_eq (lockd.level[host], host != FORMER);
    }
}
END_TEST

/*  It is not served, and said so ever more seldom; that is no nonsense. */
START_TEST (there_is_no_room)
{
    static const char *const lines[] = {"count=1", "count=2", "count=2",
                                        "count=4", "count=4"};
    const lk_hostmap before = lockd.hostmap;
    node.idle = LK_HOST_BIT (FORMER); /* which is there */
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        greet ("h9", 0x99);
        ck_assert_ptr_nonnull (
            strstr (last_line, "no room for host=h9: 64 are there,"));
        ck_assert_ptr_nonnull (strstr (last_line, lines[i]));
    }
    ck_assert_uint_eq (node.count, 0);
    ck_assert_uint_eq (lockd.dropped, 0);
    ck_assert_mem_eq (&lockd.hostmap, &before, sizeof before);
    node.gone = LK_HOST_BIT (FORMER);
    greet ("h9", 0x99);
    ck_assert_uint_eq (node.count, 1);
}
END_TEST

/*  Messages of members have to be read, or nobody is served any more. */
START_TEST (members_may_name_anybody)
{
    node.idle = LK_HOST_BIT (FORMER);
    greet ("other7", 0x1007); /* it is known, and no member */
    node.count = 0;
    ask_about ("other7", 0x1007, "h9");
    ck_assert_uint_eq (node.count, 0);
    ask_about ("h2", 0x22, "h9");
    ck_assert_uint_eq (node.count, 1);
    ck_assert_uint_eq (number_of ("h9", 0x99), FORMER);
    lockd.state.facts.active.members = LK_HOST_BIT (lockd.self);
    node.idle = LK_HOST_BIT (FORMER);
    ask_about ("h2", 0x22, "h10");
    ck_assert_uint_eq (node.count, 1);
    lockd.state.facts.active.leader[0] = number_of ("h2", 0x22);
    lockd.state.facts.active.leader_count = 1;
    ask_about ("h2", 0x22, "h10");
    ck_assert_uint_eq (node.count, 2);
}
END_TEST

/*  They have numbers in the file, whatever becomes of them. */
START_TEST (the_first_members_stay)
{
    node.gone = node.idle = lockd.state.genesis;
    greet ("h9", 0x99);
    ask_about ("h2", 0x22, "h9");
    ck_assert_uint_eq (node.count, 0);
    ck_assert_uint_eq (node.gone, lockd.state.genesis);
}
END_TEST

/*  As many as are named. */
START_TEST (several_make_room)
{
    lk_hostmap hostmap;
    lk_lock_message message = {.kind = LK_MSG_READY, .term = {6, 0x22}};
    lk_decree *decree = &message.as.decree.decree;
    message.from = know_h1 (&hostmap, "h2", 0x22);
    for (unsigned i = 0; i < 5; i++) {
        char name[16];
        snprintf (name, sizeof name, "new%u", i);
        lk_hostmap_intern (&hostmap, name, 0x3000 + i);
    }
    *decree = (lk_decree) {.term = message.term,
                           .members = 0x7f,
                           .leader_count = 1,
                           .leader = {message.from}};
    node.idle = 0x1fu << FORMER;
    give_from (&message, &hostmap, "h2", true);
    ck_assert_uint_eq (node.count, 1);
    ck_assert_uint_eq (node.idle, 0);
    ck_assert_uint_ne (number_of ("new4", 0x3004), LK_NOBODY);
    ck_assert (lk_hostmap_is_full (&lockd.hostmap));
}
END_TEST

/*  The first members of the cluster that it joins come first. */
START_TEST (joins_with_a_full_hostmap)
{
    lk_hostmap hostmap;
    lk_lock_message started = {.kind = LK_MSG_STARTED};
    set_up_fresh ();
    attach ();
    fill_hostmap ();
    forget_sent ();
    lk_charter *charter = &lockd.peers.charter;
    const lk_charter none = *charter;
    snprintf (charter->name, sizeof charter->name, "blue");
    charter->count = 2;
    snprintf (charter->member[0], sizeof charter->member[0], "h2");
    snprintf (charter->member[1], sizeof charter->member[1], "h3");
    started.from = know_h1 (&hostmap, "h2", 0x22);
    started.to = 0;
    hostmap.entry[0].id = lockd.state.id;
    started.origin = started.destination = LK_NOBODY;
    started.as.started.candidate.priority = 8;
    started.as.started.active.members = LK_HOST_BIT (started.from);
    lk_message *hello = lk_lock_encode (&started, &hostmap, started.from);
    lk_message_set_from (hello, "lock@h2");
    lk_charter_write (charter, hello);
    *charter = none;
    node.idle = 0x3u << FORMER;
    give (hello);
    ck_assert_int_eq (bus.stopped, 0);
    ck_assert_str_eq (lockd.state.cluster, "blue");
    ck_assert_uint_eq (lockd.state.genesis, 0x3u << FORMER);
    ck_assert_int_eq (last_event (LK_ON_MESSAGE)->type, LK_ON_MESSAGE);
}
END_TEST

int
main (void)
{
    const TTest *const pings[] = {a_ping_uses_up_no_number,
                                  joins_with_a_full_hostmap};
    const TTest *const full[] = {
        one_makes_room,         notations_are_not_inherited,
        there_is_no_room,       members_may_name_anybody,
        the_first_members_stay, several_make_room,
    };
    const group groups[] = {
        GROUP ("pings", pings, NULL),
        GROUP ("full", full, set_up_full),
    };
    return run_groups ("lock_room", groups, sizeof groups / sizeof groups[0]);
}
