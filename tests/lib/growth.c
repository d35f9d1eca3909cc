/*  growth.c - what one more costs where there are many already
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/growth.h"

#include "client/book.h"
#include "lib/small.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>

#define OTHER UINT32_C (3000000) /* applications that come and go */
#define FOREVER_MS INT64_C (3600000)
#define PAGE 500

/*  -------------------------------------------------------- the lock service */

static struct {
    lk_small small;
    uint64_t serial;
    lk_answer locked; /* the last */
    uint64_t (*now) (void);
    bool measures;
    uint64_t spent;
    uint64_t longest;
} world;

static lk_node *
node (void)
{
    return world.small.base.node[0];
}

static void
spend (uint64_t spent)
{
    if (world.measures) {
        world.spent += spent;
        world.longest = spent > world.longest ? spent : world.longest;
    }
}

static void
give (lk_event *event)
{
    lk_effects effects;
    event->now_ms = world.small.now_ms;
    const uint64_t began = world.now ();
    lk_node_step (node (), event, &effects);
    spend (world.now () - began);
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_TELL
            && effects.item[i].answer.kind == LK_ANSWER_LOCKED) {
            world.locked = effects.item[i].answer;
        }
    }
}

static void
ask (lk_event_type type, const lk_app_request *request)
{
    lk_event event = {.type = type, .request = *request};
    give (&event);
}

/*  Time goes on; whatever it brings about by itself is done by then. */
static void
pass (int64_t ms)
{
    const int64_t end_ms = world.small.now_ms + ms;
    while (world.small.now_ms < end_ms) {
        const int64_t next_ms = lk_node_deadline (node ());
        lk_event tick = {.type = LK_ON_TICK};
        world.small.now_ms = next_ms <= world.small.now_ms
                                 ? world.small.now_ms + 1
                             : next_ms < end_ms ? next_ms
                                                : end_ms;
        give (&tick);
    }
}

/*  -------------------------------------------------------- applications */

static lk_app_request
shared (uint32_t app, const char *object)
{
    lk_app_request request = lk_small_request (app, ++world.serial, object);
    request.mode.type = LK_SHARED;
    return request;
}

static lk_app_request
exclusive (uint32_t app, const char *object)
{
    return lk_small_request (app, ++world.serial, object);
}

static lk_app_request
unit (uint32_t app, const char *object, size_t limit)
{
    lk_app_request request = lk_small_request (app, ++world.serial, object);
    request.mode.type = LK_SEMAPHORE;
    request.mode.limit = (uint32_t) limit;
    return request;
}

static lk_app_request
soft (uint32_t app, const char *object, uint32_t quiet_ms)
{
    lk_app_request request = exclusive (app, object);
    request.mode.soft = true;
    request.mode.quiet_ms = quiet_ms;
    return request;
}

/*  Borrowed until the next one. */
static const char *
name_of (size_t number)
{
    static char name[32];
    snprintf (name, sizeof name, "backup/job-%08zu", number);
    return name;
}

static void
come_and_go (lk_app_request request)
{
    ask (LK_ON_LOCK, &request);
    ask (LK_ON_UNLOCK, &request);
}

/*  -------------------------------------------------------- many */

/*  Each its own name, of its own application. */
static void
hold_names (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        const lk_app_request request = exclusive ((uint32_t) i, name_of (i));
        ask (LK_ON_LOCK, &request);
    }
}

static void
hold_old_names (size_t count)
{
    hold_names (count);
    pass (75000); /* until all are audited */
}

static void
keep_names (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        lk_app_request request = exclusive ((uint32_t) i, name_of (i));
        request.mode.is_static = true;
        ask (LK_ON_LOCK, &request);
    }
}

static void
wait_for_one (size_t count)
{
    for (size_t i = 0; i <= count; i++) {
        lk_app_request request = exclusive ((uint32_t) i + 1, "hot");
        request.wait_ms = FOREVER_MS + (int64_t) i;
        ask (LK_ON_LOCK, &request);
    }
}

static void
share_one (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        const lk_app_request request = shared ((uint32_t) i, "hot");
        ask (LK_ON_LOCK, &request);
    }
}

/*  A semaphore with room for one more. */
static size_t units;

static void
hold_units (size_t count)
{
    units = count + 1;
    for (size_t i = 1; i <= count; i++) {
        const lk_app_request request = unit ((uint32_t) i, "hot", units);
        ask (LK_ON_LOCK, &request);
    }
}

static void
wait_softly (size_t count, uint32_t quiet_ms)
{
    const lk_app_request holder = shared (OTHER, "hot");
    ask (LK_ON_LOCK, &holder);
    for (size_t i = 1; i <= count; i++) {
        const lk_app_request request = soft ((uint32_t) i, "hot", quiet_ms);
        ask (LK_ON_LOCK, &request);
    }
}

static void
wait_soft (size_t count)
{
    wait_softly (count, 0);
}

static void
wait_quiet (size_t count)
{
    wait_softly (count, 1000);
    pass (2000);
}

static void
hold_leniently (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        lk_app_request request = shared ((uint32_t) i, "hot");
        request.mode.lenient = true;
        request.duration_ms = FOREVER_MS;
        ask (LK_ON_LOCK, &request);
    }
}

static lk_answer heirloom;

/*  What each of them left behind; the key of the last. */
static void
linger (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        lk_app_request request = exclusive ((uint32_t) i, name_of (i));
        request.linger_ms = FOREVER_MS;
        ask (LK_ON_LOCK, &request);
        heirloom = world.locked;
        ask (LK_ON_APP_GONE, &request);
    }
}

static void
ask_set (uint32_t app, size_t number, int64_t duration_ms)
{
    char first[32];
    snprintf (first, sizeof first, "%s", name_of (2 * number));
    const lk_name rest = {name_of (2 * number + 1), (uint16_t) strlen (first)};
    lk_app_request request = exclusive (app, first);
    request.rest = &rest;
    request.rest_count = 1;
    request.duration_ms = duration_ms;
    ask (LK_ON_LOCK, &request);
}

static void
hold_sets (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        ask_set ((uint32_t) i, i, FOREVER_MS + (int64_t) i);
    }
}

/*  Two hold each name, and one of them waits to have it alone. */
static void
wait_to_upgrade (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        const lk_app_request other = shared (OTHER, name_of (i));
        lk_app_request request = shared ((uint32_t) i, name_of (i));
        ask (LK_ON_LOCK, &other);
        ask (LK_ON_LOCK, &request);
        request.mode.type = LK_EXCLUSIVE;
        request.turn = 1;
        ask (LK_ON_LOCK, &request);
    }
    pass (3000);
}

/*  -------------------------------------------------------- one more */

static void
quarter (void)
{
    pass (250);
}

static void
lock_one (void)
{
    come_and_go (exclusive (OTHER, "cold"));
}

static void
end_one (void)
{
    const lk_app_request request = exclusive (OTHER + 1, "cold");
    ask (LK_ON_LOCK, &request);
    ask (LK_ON_APP_GONE, &request);
}

static void
time_out (void)
{
    lk_app_request request = exclusive (OTHER, "hot");
    request.wait_ms = 1;
    ask (LK_ON_LOCK, &request);
    pass (2);
}

static void
try_one (void)
{
    lk_app_request request = exclusive (OTHER, "hot");
    request.wait_ms = 0;
    ask (LK_ON_LOCK, &request);
    ask (LK_ON_UNLOCK, &request);
}

static void
want_alone (void)
{
    come_and_go (exclusive (OTHER, "hot"));
}

static void
share_too (void)
{
    come_and_go (shared (OTHER + 1, "hot"));
}

static void
try_to_share (void)
{
    lk_app_request request = shared (OTHER + 1, "hot");
    request.wait_ms = 0;
    come_and_go (request);
}

/*  The last place goes from one to the next. */
static void
hand_over (void)
{
    const lk_app_request one = unit (OTHER, "hot", units);
    const lk_app_request next = unit (OTHER + 1, "hot", units);
    ask (LK_ON_LOCK, &one);
    ask (LK_ON_LOCK, &next);
    ask (LK_ON_UNLOCK, &one);
    LK_ASSERT (world.locked.app == next.app);
    ask (LK_ON_UNLOCK, &next);
}

static void
unlock_by_key (void)
{
    const lk_app_request one = unit (OTHER, "hot", units);
    ask (LK_ON_LOCK, &one);
    lk_app_request other = exclusive (OTHER + 1, "hot");
    other.key = world.locked.key;
    ask (LK_ON_UNLOCK_BY_KEY, &other);
    ask (LK_ON_UNLOCK, &one);
}

static void
force_one (void)
{
    const lk_app_request one = unit (OTHER, "hot", units);
    ask (LK_ON_LOCK, &one);
    lk_app_request other = exclusive (OTHER + 1, "hot");
    other.token = world.locked.token;
    ask (LK_ON_FORCE, &other);
    ask (LK_ON_UNLOCK, &one);
}

static void
check_one (void)
{
    lk_app_request request = exclusive (OTHER, "hot");
    request.token = world.locked.token;
    ask (LK_ON_CHECK, &request);
}

static void
inherit (void)
{
    lk_app_request request = exclusive (OTHER, name_of (heirloom.app));
    request.key = heirloom.key;
    request.linger_ms = FOREVER_MS;
    ask (LK_ON_LOCK, &request);
    LK_ASSERT (world.locked.app == OTHER
               && world.locked.token == heirloom.token);
    ask (LK_ON_APP_GONE, &request);
}

/*  A page of all locks, after a change. */
static void
list_some (void)
{
    lk_ticket ticket;
    size_t cursor = 0;
    come_and_go (exclusive (OTHER, "cold"));
    const uint64_t began = world.now ();
    for (size_t i = 0; i < PAGE; i++) {
        bool any = lk_node_next_ticket (node (), &cursor, &ticket);
        LK_ASSERT (any);
    }
    spend (world.now () - began);
}

/*  A set that ends by itself. */
static void
end_set (void)
{
    ask_set (OTHER, 5000000, 5);
    pass (10);
}

/*  -------------------------------------------------------- the library */

static lk_book *book;
static int64_t book_ms;

static lk_lock *
ask_by_book (const char *name)
{
    const lk_object_name object = {.object = name};
    const lk_lock_options options = {.wait_ms = LK_FOREVER, .reentrant = true};
    lk_lock *lock = lk_book_lock (book, &object, 1, &options, book_ms);
    lk_message *message;
    while ((message = lk_book_next_message (book))) {
        lk_message_destroy (&message);
    }
    return lock;
}

static void
ask_for_names (size_t count)
{
    lk_book_destroy (&book);
    book = lk_book_new (0);
    book_ms = 1000000;
    for (size_t i = 1; i <= count; i++) {
        ask_by_book (name_of (i));
    }
    units = count;
}

/*  All say LOCK again every second, this one 0.1 s later. */
static void
tick_for_one (void)
{
    book_ms += 50;
    lk_lock *lock = ask_by_book ("cold");
    book_ms += 950;
    lk_book_tick (book, book_ms);
    book_ms += 100;
    const uint64_t began = world.now ();
    lk_book_tick (book, book_ms);
    spend (world.now () - began);
    lk_book_discard (book, lock);
    book_ms += 900;
    lk_book_tick (book, book_ms);
}

static void
ask_again (void)
{
    const uint64_t began = world.now ();
    lk_lock *lock = ask_by_book (name_of (units));
    spend (world.now () - began);
    LK_ASSERT (lock->users > 1);
}

/*  -------------------------------------------------------- cases */

static const struct {
    const char *name;
    void (*begin) (size_t count);
    void (*once) (void);
    size_t times;
    bool grows; /* with how many there are */
} cases[] = {
    {"names.idle", hold_old_names, quarter, 6, false},
    {"names.lock", hold_names, lock_one, 64, false},
    {"names.application", hold_names, end_one, 64, false},
    {"names.list", hold_names, list_some, 16, false},
    {"static.lock", keep_names, lock_one, 64, false},
    {"static.idle", keep_names, quarter, 6, false},
    {"waiters.idle", wait_for_one, quarter, 12, true},
    {"waiters.timeout", wait_for_one, time_out, 64, false},
    {"waiters.try", wait_for_one, try_one, 64, false},
    {"shared.try", share_one, try_one, 64, false},
    {"shared.wait", share_one, want_alone, 64, false},
    {"shared.another", share_one, share_too, 64, false},
    {"shared.check", share_one, check_one, 64, false},
    {"units.handover", hold_units, hand_over, 64, false},
    {"units.key", hold_units, unlock_by_key, 64, false},
    {"units.force", hold_units, force_one, 64, false},
    {"soft.share", wait_soft, share_too, 64, false},
    {"soft.try", wait_soft, try_to_share, 64, false},
    {"quiet.idle", wait_quiet, quarter, 12, true},
    {"lenient.wait", hold_leniently, want_alone, 64, true},
    {"lingering.inherit", linger, inherit, 64, false},
    {"sets.end", hold_sets, end_set, 64, false},
    {"sets.application", hold_sets, end_one, 64, false},
    {"library.tick", ask_for_names, tick_for_one, 4, false},
    {"library.again", ask_for_names, ask_again, 64, false},
    {"upgrades.idle", wait_to_upgrade, quarter, 12, true},
};

const char *
lk_growth_name (size_t number)
{
    return number < sizeof cases / sizeof cases[0] ? cases[number].name : NULL;
}

bool
lk_growth_grows (size_t number)
{
    return cases[number].grows;
}

lk_growth_cost
lk_growth_measure (size_t number, size_t count, uint64_t (*now) (void))
{
    const lk_small_plan plan = {
        .hosts = 1, .leaders = 1, .seed = 1, .digest_ms = -1};
    memset (&world, 0, sizeof world);
    world.now = now;
    lk_small_init (&world.small, &plan);
    cases[number].begin (count);
    for (size_t i = 0; i < 4; i++) { /* what grows by the first ones has */
        cases[number].once ();
    }
    world.measures = true;
    for (size_t i = 0; i < cases[number].times; i++) {
        cases[number].once ();
    }
    lk_small_clear (&world.small);
    lk_book_destroy (&book);
    return (lk_growth_cost) {
        (double) world.spent / (double) cases[number].times, world.longest};
}
