/*  arbiter_seats.c - clusters at one arbiter, of which one says too much
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "seats.h"

#include "lib/suite.h"
#include "net/clock.h"
#include "util/alloc.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define K1 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define K2 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

static char dir[64];
static lk_seats seats;
static lk_seat_place place;

static void
take_frame (void *user, const lk_identity *from, lk_part *frame)
{
    (void) user;
    (void) from;
    (void) frame;
}

static void
add_folder (const char *cluster, const char *key)
{
    char path[128];
    snprintf (path, sizeof path, "%s/%s", dir, cluster);
    ck_assert_int_eq (mkdir (path, 0700), 0);
    snprintf (path, sizeof path, "%s/%s/keys", dir, cluster);
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    ck_assert_int_eq (chmod (path, 0600), 0);
    fprintf (file, "accepted\n    host = \"h1\"\n    public-key = \"%s\"\n",
             key);
    ck_assert_int_eq (fclose (file), 0);
}

static void
set_up (void)
{
    static const lk_listener_calls calls = {.frame = take_frame};
    lk_problem problem;
    snprintf (dir, sizeof dir, "/tmp/seats-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    add_folder ("one", K1);
    add_folder ("two", K2);
    place =
        (lk_seat_place) {.host = "a1", .address = "10.0.0.7:1", .state = dir};
    place.loop = lk_loop_new ();
    place.listener = lk_listener_new (place.loop, &calls, NULL);
    lk_seats_init (&seats, &place);
    ck_assert_int_eq (lk_seats_read (&seats, &problem), LK_OK);
    ck_assert_uint_eq (lk_seats_count (&seats), 2);
}

static void
tear_down (void)
{
    char command[100];
    lk_seats_clear (&seats);
    lk_listener_destroy (&place.listener, 0);
    lk_loop_destroy (&place.loop);
    snprintf (command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq (system (command), 0);
}

/*  Frames of so many bytes come from a host of it. */
static void
say (lk_seat *seat, size_t count, size_t size)
{
    char *bytes = lk_alloc (size);
    lk_identity from;
    lk_part frame;
    lk_identity_set (&from, (const uint8_t *) "12345", 5);
    lk_part_init (&frame);
    for (size_t i = 0; i < count; i++) {
        lk_part_fill (&frame, bytes, size);
        lk_seat_take (seat, &from, &frame);
        lk_part_clear (&frame);
    }
    lk_free (bytes);
}

/*  -------------------------------------------------------- rations */

START_TEST (a_flood_is_dropped_and_harms_no_other_cluster)
{
    lk_seat *one = lk_seats_find (&seats, K1);
    lk_seat *two = lk_seats_find (&seats, K2);
    say (one, 100000, 10);
    ck_assert_uint_ge (one->dropped, 90000);
    say (two, 1000, 10);
    ck_assert_uint_eq (two->dropped, 0);
}
END_TEST

START_TEST (bytes_count_too)
{
    lk_seat *one = lk_seats_find (&seats, K1);
    say (one, 1, LK_RATION_FRAME_SIZE_MAX + 1);
    ck_assert_uint_eq (one->dropped, 1);
    say (one, 40, LK_RATION_FRAME_SIZE_MAX);
    ck_assert_uint_ge (one->dropped, 20);
    ck_assert_uint_le (one->dropped, 37);
}
END_TEST

START_TEST (more_is_allowed_with_time)
{
    lk_ration ration;
    lk_ration_init (&ration, 5000);
    for (size_t i = 0; i < LK_RATION_FRAMES_MAX; i++) {
        ck_assert (lk_ration_spend (&ration, 1, 5000));
    }
    ck_assert (!lk_ration_spend (&ration, 1, 5009));
    for (size_t i = 0; i < LK_RATION_FRAMES_S / 100; i++) {
        ck_assert (lk_ration_spend (&ration, 1, 5010));
    }
    ck_assert (!lk_ration_spend (&ration, 1, 5010));
    size_t count = 0;
    while (lk_ration_spend (&ration, 1, 6010)) {
        count++;
    }
    ck_assert_uint_eq (count, LK_RATION_FRAMES_S);
    count = 0;
    while (lk_ration_spend (&ration, 1, 1000000)) {
        count++;
    }
    ck_assert_uint_eq (count, LK_RATION_FRAMES_MAX);
}
END_TEST

/*  -------------------------------------------------------- turns */

/*  A thousand clusters cost those that nothing happens to nothing. */
START_TEST (only_those_that_are_awake_have_a_turn)
{
    lk_seat *one = lk_seats_find (&seats, K1);
    lk_seat *two = lk_seats_find (&seats, K2);
    ck_assert_ptr_null (seats.awake); /* each had one when it began */
    ck_assert (!one->is_awake && !two->is_awake);
    say (two, 1, 10);
    ck_assert_ptr_eq (seats.awake, two);
    ck_assert (!one->is_awake);
    lk_seats_flush (&seats);
    lk_seat_leave (one, "stop");
    ck_assert_ptr_eq (seats.awake, one);
    lk_seats_flush (&seats);
    ck_assert_uint_eq (lk_seats_running (&seats), 1);
}
END_TEST

/*  Its service is called by a timer of its own. */
START_TEST (a_service_wakes_its_seat)
{
    lk_seat *one = lk_seats_find (&seats, K1);
    while (!one->is_awake) {
        lk_loop_once (place.loop, -1);
    }
    ck_assert_ptr_nonnull (seats.awake);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("arbiter_seats");
    TCase *tcase = tcase_create ("all");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, a_flood_is_dropped_and_harms_no_other_cluster);
    tcase_add_test (tcase, bytes_count_too);
    tcase_add_test (tcase, more_is_allowed_with_time);
    tcase_add_test (tcase, only_those_that_are_awake_have_a_turn);
    tcase_add_test (tcase, a_service_wakes_its_seat);
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
