/*  core_dining.c - fifty who dine: sets in all orders, and none is stuck
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Fifty guests ask for two to six of six names each, over and over, on three
 *  hosts. Up to three leaders order the names, each its own; the others follow
 *  their streams at their own pace. Guests give up, hosts die, LOCKs come
 *  late, and takeovers change who orders what. Then there is calm, and all
 *  are served. The guests do what set.c does; the tables are the core's.
 */

#include "digest.h"
#include "entry.h"
#include "lib/suite.h"
#include "util/rng.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 6
#define GUESTS 50
#define HOSTS 3
#define LEADERS 3
#define LOG_MAX 20000
#define STORM 3000 /* steps */
#define CALM 100000
#define LATE 16 /* LOCKs that may come again */

typedef enum { IDLE, WAITING, HELD, LEAVING } guest_state;

typedef struct {
    guest_state state;
    lk_request_id first; /* of its present set */
    lk_lock_mode mode;
    int name[NAMES]; /* in their order */
    size_t count;
    size_t held;
    size_t asked;
    uint64_t asked_in; /* term */
    size_t left;       /* LEAVING: members that it has to give back */
    int served;
} guest;

static lk_rng rng;
static int now;
static lk_decree decree;
static lk_table table[LEADERS];
static lk_op *log_of[LEADERS]; /* by home */
static size_t applied[LEADERS][LEADERS];
static size_t length[LEADERS];
static guest guests[GUESTS];
static uint64_t session[HOSTS];
static uint64_t last_serial[HOSTS];
static lk_op late[LATE];
static int takeovers;

static const char letters[] = "abcdef";

static lk_name
name_of (int name)
{
    return (lk_name) {letters + name, 1};
}

static bool
chance (int of)
{
    return lk_rng_between (&rng, 1, of) == 1;
}

/*  -------------------------------------------------------- leaders */

static uint8_t
home_of (int name)
{
    return lk_home_of (&decree, name_of (name));
}

static void
say (uint8_t home, const lk_op *op)
{
    ck_assert_uint_lt (length[home], LOG_MAX);
    lk_op *logged = &log_of[home][length[home]++];
    lk_op_copy (logged, op);
    lk_table_apply (&table[home], home, logged, now, NULL);
    applied[home][home] = length[home];
}

/*  One leader applies one operation of one other's stream. */
static bool
follow (size_t leader, size_t home)
{
    if (applied[leader][home] == length[home]) {
        return false;
    }
    lk_table_apply (&table[leader], (uint8_t) home,
                    &log_of[home][applied[leader][home]++], now, NULL);
    return true;
}

static void
follow_some (void)
{
    const size_t last = decree.leader_count - 1;
    follow ((size_t) lk_rng_between (&rng, 0, last),
            (size_t) lk_rng_between (&rng, 0, last));
}

static void
follow_all (void)
{
    for (size_t leader = 0; leader < decree.leader_count; leader++) {
        for (size_t home = 0; home < decree.leader_count; home++) {
            while (follow (leader, home)) {
            }
        }
    }
}

/*  Whether all leaders have the operation that made it active. */
static bool
is_told (int name, const lk_entry *entry)
{
    const uint8_t home = home_of (name);
    const uint64_t token = entry->token;
    if (token == 0) {
        return false;
    }
    for (size_t leader = 0; leader < decree.leader_count; leader++) {
        if (token >> 32 == decree.term.number
            && applied[leader][home] < (token & 0xffffffff)) {
            return false;
        }
    }
    return true;
}

static void
forget_logs (void)
{
    for (size_t home = 0; home < LEADERS; home++) {
        while (length[home] > 0) {
            lk_op_clear (&log_of[home][--length[home]]);
        }
    }
    memset (applied, 0, sizeof applied);
}

/*  New leaders, as many as may be, with the tickets of one of the old ones:
 *  what not all of these had may be lost. */
static void
take_over (void)
{
    const size_t holder =
        (size_t) lk_rng_between (&rng, 0, decree.leader_count - 1);
    lk_table old;
    lk_table_init (&old);
    lk_table_move (&old, &table[holder]);
    forget_logs ();
    takeovers++;
    decree.term.number++;
    decree.leader_count = (uint8_t) lk_rng_between (&rng, 1, LEADERS);
    for (uint8_t leader = 0; leader < LEADERS; leader++) {
        lk_table_clear (&table[leader]);
        if (leader < decree.leader_count) {
            lk_table_begin (&table[leader], &decree);
            for (size_t i = 0; i < old.count; i++) {
                const lk_ticket listed =
                    lk_entry_ticket (lk_table_listing (&old, old.count)[i]);
                lk_table_restore (&table[leader], &listed, now);
            }
        }
    }
    lk_table_clear (&old);
    for (uint8_t home = 0; home < decree.leader_count; home++) {
        const lk_op open = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
        say (home, &open);
    }
}

/*  -------------------------------------------------------- guests */

static lk_request_id
request_of (const guest *self, size_t place)
{
    lk_request_id request = self->first;
    request.serial += place;
    return request;
}

static lk_entry *
member_of (const guest *self, size_t place)
{
    return lk_table_find (&table[home_of (self->name[place])],
                          request_of (self, place));
}

static void
sit_down (guest *self)
{
    const lk_host host = (lk_host) ((size_t) (self - guests) % HOSTS);
    int wanted = (int) lk_rng_between (&rng, 2, NAMES);
    const int served = self->served;
    *self = (guest) {.state = WAITING, .served = served};
    self->mode.type = chance (4) ? LK_SHARED : LK_EXCLUSIVE;
    for (int name = 0; name < NAMES; name++) {
        if (lk_rng_between (&rng, 1, NAMES - name) <= wanted) {
            self->name[self->count++] = name;
            wanted--;
        }
    }
    self->first = (lk_request_id) {host, session[host], last_serial[host] + 1};
    last_serial[host] += self->count;
}

/*  LOCK of the first that it does not hold, as far as one home goes. */
static void
ask (guest *self)
{
    lk_ticket tickets[NAMES];
    const uint8_t home = home_of (self->name[self->held]);
    size_t count = 0;
    self->asked_in = decree.term.number;
    for (self->asked = self->held;
         self->asked < self->count && home_of (self->name[self->asked]) == home;
         self->asked++) {
        tickets[count++] =
            (lk_ticket) {.request = request_of (self, self->asked),
                         .object = name_of (self->name[self->asked]),
                         .owner = {"guest", 5},
                         .mode = self->mode,
                         .rest = (uint16_t) (self->count - 1 - self->asked)};
    }
    const lk_op op = {.kind = LK_OP_ADD,
                      .by.host = LK_NOBODY,
                      .ticket = tickets[0],
                      .tickets = tickets + 1,
                      .ticket_count = count - 1};
    say (home, &op);
    if (chance (8)) {
        lk_op *kept = &late[lk_rng_between (&rng, 0, LATE - 1)];
        lk_op_clear (kept);
        lk_op_copy (kept, &op);
    }
}

static void
drop (lk_request_id request, int name)
{
    const lk_op op = {.kind = LK_OP_DROP,
                      .by.host = LK_NOBODY,
                      .ticket.request = request,
                      .ticket.object = name_of (name)};
    say (home_of (name), &op);
}

static void
look (guest *self)
{
    const lk_entry *entry = member_of (self, self->held);
    if (entry && is_told (self->name[self->held], entry)) {
        self->held++;
        if (self->held == self->count) {
            self->state = HELD;
            self->served++;
            return;
        }
    }
    if (self->asked <= self->held || self->asked_in != decree.term.number
        || chance (400)) {
        ask (self);
    }
}

static void
leave (guest *self)
{
    self->state = LEAVING;
    self->left = self->count;
}

static void
move (guest *self, bool calm)
{
    switch (self->state) {
    case IDLE:
        sit_down (self);
        break;
    case WAITING:
        look (self);
        if (!calm && self->state == WAITING && chance (600)) {
            leave (self);
        }
        break;
    case HELD:
        if (chance (3)) {
            leave (self);
        }
        break;
    case LEAVING:
        self->left--;
        drop (request_of (self, self->left), self->name[self->left]);
        if (self->left == 0) {
            self->state = IDLE;
        }
        break;
    }
}

/*  All that its session has is gone; what waits begins anew. */
static void
host_dies (lk_host host)
{
    const lk_op gone = {
        .kind = LK_OP_GONE,
        .by.host = LK_NOBODY,
        .ticket.request = {.host = host, .session = session[host]++}};
    for (uint8_t home = 0; home < decree.leader_count; home++) {
        say (home, &gone);
    }
    for (size_t i = host; i < GUESTS; i += HOSTS) {
        guests[i].state = IDLE;
    }
}

/*  A LOCK that was under way for long: not of a session that is over. */
static void
something_comes_late (void)
{
    const lk_op *op = &late[lk_rng_between (&rng, 0, LATE - 1)];
    if (op->ticket.object.size == 0
        || op->ticket.request.session != session[op->ticket.request.host]) {
        return;
    }
    lk_op alone = *op; /* homes may have changed */
    alone.ticket_count = 0;
    bool parted = false;
    const uint8_t home = lk_home_of (&decree, op->ticket.object);
    for (size_t i = 0; i < op->ticket_count; i++) {
        parted = parted || lk_home_of (&decree, op->tickets[i].object) != home;
    }
    say (home, parted ? &alone : op);
}

static bool
is_known (lk_request_id request)
{
    for (size_t i = 0; i < GUESTS; i++) {
        const guest *self = &guests[i];
        const size_t open = self->state == LEAVING ? self->left : self->count;
        if (self->state != IDLE && self->first.host == request.host
            && self->first.session == request.session
            && request.serial >= self->first.serial
            && request.serial < self->first.serial + open) {
            return true;
        }
    }
    return false;
}

/*  What homes ask proxies for, which know nothing of it. */
static void
audit (void)
{
    for (uint8_t home = 0; home < decree.leader_count; home++) {
        for (int name = 0; name < NAMES; name++) {
            const lk_queue *queue =
                lk_table_queue (&table[home], name_of (name));
            const lk_entry *entry =
                queue && lk_queue_home (&table[home], queue) == home
                    ? queue->first
                    : NULL;
            while (entry && is_known (lk_entry_request (entry))) {
                entry = entry->next;
            }
            if (entry) {
                drop (lk_entry_request (entry), name);
            }
        }
    }
}

/*  -------------------------------------------------------- what must hold */

/*  Whoever waits for a name has none behind it and stands in no queue behind
 *  it: else two of them might wait for each other. */
static void
check_order (const guest *self)
{
    bool waits = false;
    for (size_t place = 0; place < self->count; place++) {
        const lk_entry *entry = member_of (self, place);
        if (waits && entry) {
            ck_assert_uint_eq (entry->number, 0);
            ck_assert_uint_eq (entry->token, 0);
        }
        waits = waits || !entry || entry->token == 0;
        if (place < self->held) {
            ck_assert (entry && entry->token != 0); /* it was told */
        }
    }
}

/*  Nobody holds, as far as told, what another one holds. */
static void
check_told (void)
{
    int exclusive[NAMES] = {0};
    int shared[NAMES] = {0};
    for (size_t i = 0; i < GUESTS; i++) {
        const guest *self = &guests[i];
        if (self->state != WAITING && self->state != HELD) {
            continue;
        }
        check_order (self);
        for (size_t place = 0; place < self->held; place++) {
            if (self->mode.type == LK_SHARED) {
                shared[self->name[place]]++;
            } else {
                exclusive[self->name[place]]++;
            }
        }
    }
    for (int name = 0; name < NAMES; name++) {
        ck_assert_int_le (exclusive[name], shared[name] ? 0 : 1);
    }
}

static void
check_leaders (void)
{
    uint64_t digest[2];
    follow_all ();
    for (uint8_t home = 0; home < decree.leader_count; home++) {
        ck_assert (lk_digest_share (&table[0], home, &digest[0]));
        for (size_t leader = 1; leader < decree.leader_count; leader++) {
            ck_assert (lk_digest_share (&table[leader], home, &digest[1]));
            ck_assert_uint_eq (digest[0], digest[1]);
            ck_assert_uint_eq (table[0].hash[home], table[leader].hash[home]);
        }
    }
}

/*  -------------------------------------------------------- the evening */

static void
set_up (void)
{
    now = 0;
    takeovers = 0;
    memset (guests, 0, sizeof guests);
    memset (last_serial, 0, sizeof last_serial);
    decree = (lk_decree) {.term = {7, 0xaa},
                          .members = 7,
                          .leader_count = LEADERS,
                          .leader = {0, 1, 2}};
    for (size_t i = 0; i < LEADERS; i++) {
        log_of[i] = lk_alloc (LOG_MAX * sizeof (lk_op));
        lk_table_init (&table[i]);
        lk_table_begin (&table[i], &decree);
        session[i] = 1;
    }
}

static void
tear_down (void)
{
    forget_logs ();
    for (size_t i = 0; i < LATE; i++) {
        lk_op_clear (&late[i]);
    }
    for (size_t i = 0; i < LEADERS; i++) {
        lk_free (log_of[i]);
        lk_table_clear (&table[i]);
    }
}

static void
step (bool calm)
{
    now++;
    for (int i = 0; i < 12; i++) {
        follow_some ();
    }
    for (int i = 0; i < 4; i++) {
        move (&guests[lk_rng_between (&rng, 0, GUESTS - 1)], calm);
    }
    if (now % 50 == 0) {
        audit ();
        check_told ();
    }
    if (calm) {
        return;
    }
    if (chance (100)) {
        something_comes_late ();
    }
    if (chance (500)) {
        host_dies ((lk_host) lk_rng_between (&rng, 0, HOSTS - 1));
    }
    if (chance (250)) {
        check_told ();
        take_over ();
    }
}

static bool
all_were_served (int times)
{
    for (size_t i = 0; i < GUESTS; i++) {
        if (guests[i].served < times) {
            return false;
        }
    }
    return true;
}

START_TEST (everybody_is_served)
{
    lk_rng_init (&rng, (uint64_t) _i + 1);
    for (int i = 0; i < STORM; i++) {
        step (false);
    }
    check_leaders ();
    ck_assert_int_gt (takeovers, 3);
    for (size_t i = 0; i < GUESTS; i++) {
        guests[i].served = 0;
    }
    for (int i = 0; i < CALM && !all_were_served (2); i++) {
        step (true);
        if (length[0] + length[1] + length[2] > LOG_MAX - 5000) {
            check_leaders ();
            take_over ();
        }
    }
    ck_assert_msg (all_were_served (2), "seed %d: somebody is stuck", _i + 1);
    check_leaders ();
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("dining");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_loop_test (tests, everybody_is_served, 0, 20);
    tcase_set_timeout (tests, 60);
    Suite *suite = suite_create ("core_dining");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
