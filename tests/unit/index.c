/*  index.c - tests of what there may be a million of: index and heap
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each against the plainest thing that does the same: an array.
 */

#include "util/index.h"
#include "lib/suite.h"
#include "util/heap.h"
#include "util/rng.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#define THINGS 5000
#define STEPS 60000
#define SLICES 16

typedef struct {
    lk_index_link link; /* first */
    uint32_t hash;
    uint32_t place;
    int64_t when_ms;
    bool is_in;
} thing;

static thing things[THINGS];
static lk_index all;
static lk_heap times;
static lk_rng rng;

static uint32_t
hash_of (const lk_index_link *link)
{
    return ((const thing *) link)->hash;
}

static uint32_t *
place_of (void *item)
{
    return &((thing *) item)->place;
}

/*  A fifth of them share their hash with others. */
static void
setup (void)
{
    lk_rng_init (&rng, 7);
    for (size_t i = 0; i < THINGS; i++) {
        uint32_t hash = (uint32_t) lk_rng_between (&rng, 0, UINT32_MAX);
        things[i] = (thing) {.hash = i % 5 == 0 ? hash % 50 : hash};
    }
    lk_index_init (&all, hash_of);
    lk_heap_init (&times, place_of);
}

static void
teardown (void)
{
    (void) lk_index_clear (&all);
    lk_heap_clear (&times);
}

static thing *
any (void)
{
    return &things[lk_rng_between (&rng, 0, THINGS - 1)];
}

/*  -------------------------------------------------------- index */

static bool
is_found (const thing *wanted)
{
    const lk_index_link *link = lk_index_find (&all, wanted->hash);
    while (link && link != &wanted->link) {
        link = link->next;
    }
    return link != NULL;
}

static size_t
count_slice (uint32_t slice)
{
    size_t count = 0;
    const lk_index_link *link = lk_index_slice_first (&all, slice, SLICES);
    for (; link; link = lk_index_slice_next (&all, link, SLICES)) {
        ck_assert_uint_eq (hash_of (link) % SLICES, slice);
        count++;
    }
    return count;
}

/*  Each that is in it once, and no other: as a whole and by slices. */
static void
look_through (void)
{
    size_t count = 0;
    size_t sliced = 0;
    size_t seen = 0;
    const lk_index_link *link = lk_index_first (&all);
    for (; link; link = lk_index_next (&all, link)) {
        ck_assert (((const thing *) link)->is_in);
        seen++;
    }
    for (size_t i = 0; i < THINGS; i++) {
        ck_assert (is_found (&things[i]) == things[i].is_in);
        count += things[i].is_in;
    }
    for (uint32_t slice = 0; slice < SLICES; slice++) {
        sliced += count_slice (slice);
    }
    ck_assert_uint_eq (all.count, count);
    ck_assert_uint_eq (seen, count);
    ck_assert_uint_eq (sliced, count);
}

static void
turn (thing *self)
{
    if (self->is_in) {
        lk_index_remove (&all, &self->link);
    } else {
        lk_index_add (&all, &self->link);
    }
    self->is_in = !self->is_in;
}

/*  Now few, now many of them: it grows and shrinks. */
START_TEST (index_finds_what_is_in_it)
{
    for (int i = 0; i < STEPS; i++) {
        bool is_up = i / 10000 % 2 == 0;
        thing *self = any ();
        if (self->is_in != is_up || i % 10 == 0) {
            turn (self);
        }
        if (i % 997 == 0 || i < 50) {
            look_through ();
        }
    }
    look_through ();
}
END_TEST

/*  Nobody pays for all: at most one bucket more or two less at a time; and the
 *  room is in proportion. */
START_TEST (index_grows_bucket_by_bucket)
{
    for (size_t i = 0; i < THINGS; i++) {
        size_t before = all.buckets;
        turn (&things[i]);
        ck_assert_uint_le (all.buckets, before + 1);
        ck_assert_uint_ge (all.buckets, all.count);
        ck_assert_uint_le (all.room, all.count + all.count / 4 + 16);
    }
    for (size_t i = 0; i < THINGS; i++) {
        size_t before = all.buckets;
        turn (&things[i]);
        ck_assert_uint_ge (all.buckets + 2, before);
    }
    ck_assert_uint_le (all.room, 40);
    look_through ();
}
END_TEST

START_TEST (index_gives_back_all)
{
    for (size_t i = 0; i < THINGS; i += 3) {
        turn (&things[i]);
    }
    const size_t count = all.count;
    size_t given = 0;
    const lk_index_link *link = lk_index_clear (&all);
    for (; link; link = link->next) {
        ck_assert (((const thing *) link)->is_in);
        given++;
    }
    ck_assert_uint_eq (given, count);
    ck_assert_uint_eq (all.count, 0);
    ck_assert_ptr_null (lk_index_first (&all));
    ck_assert_ptr_null (lk_index_find (&all, 1));
    ck_assert_ptr_null (lk_index_slice_first (&all, 1, SLICES));
}
END_TEST

/*  -------------------------------------------------------- heap */

static int64_t
earliest (void)
{
    int64_t when_ms = INT64_MAX;
    for (size_t i = 0; i < THINGS; i++) {
        if (things[i].is_in && things[i].when_ms < when_ms) {
            when_ms = things[i].when_ms;
        }
    }
    return when_ms;
}

/*  Nobody is later than those below him. */
static void
look_at_order (void)
{
    for (size_t place = 1; place < times.count; place++) {
        ck_assert_int_le (times.slot[(place - 1) / 2].when_ms,
                          times.slot[place].when_ms);
    }
}

static void
put (thing *self)
{
    self->is_in = true;
    self->when_ms = lk_rng_between (&rng, 0, 3000);
    lk_heap_put (&times, self, self->when_ms);
}

static void
take (thing *self)
{
    self->is_in = false;
    lk_heap_take (&times, self);
    ck_assert_uint_eq (self->place, 0);
}

START_TEST (heap_knows_who_is_first)
{
    for (int i = 0; i < STEPS; i++) {
        bool is_up = i / 10000 % 2 == 0;
        if (i % 50 == 0 || is_up) {
            put (any ()); /* or gets another time */
        } else {
            take (any ()); /* if it is in it */
        }
        if (i % 499 == 0 || i < 50) {
            ck_assert_int_eq (lk_heap_next_ms (&times), earliest ());
        }
        if (times.count < 50 || i % 499 == 0) {
            look_at_order ();
        }
    }
}
END_TEST

START_TEST (heap_gives_them_in_order)
{
    int64_t last_ms = 0;
    for (size_t i = 0; i < THINGS; i++) {
        put (&things[i]);
    }
    for (size_t i = 0; i < THINGS; i++) {
        thing *first = lk_heap_due (&times, 3000);
        ck_assert_ptr_nonnull (first);
        ck_assert_int_ge (first->when_ms, last_ms);
        last_ms = first->when_ms;
        take (first);
        ck_assert (!lk_heap_due (&times, last_ms - 1));
    }
    ck_assert_int_eq (lk_heap_next_ms (&times), INT64_MAX);
    ck_assert_uint_le (times.room, 64);
}
END_TEST

/*  -------------------------------------------------------- all of it */

int
main (void)
{
    Suite *suite = suite_create ("index");
    TCase *tests = tcase_create ("index");
    tcase_add_checked_fixture (tests, setup, teardown);
    tcase_add_test (tests, index_finds_what_is_in_it);
    tcase_add_test (tests, index_grows_bucket_by_bucket);
    tcase_add_test (tests, index_gives_back_all);
    tcase_add_test (tests, heap_knows_who_is_first);
    tcase_add_test (tests, heap_gives_them_in_order);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
