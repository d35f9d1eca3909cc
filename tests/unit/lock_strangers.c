/*  lock_strangers.c - messages that name hosts which their receiver knows not
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A host of which nothing has to be remembered uses up no number. All that is
 *  tested here is the same in both notations.
 */

#include "codec_fake.h"
#include "lib/suite.h"
#include "wire/message_frame.h"

#include <stdio.h>

#define STRANGERS_MAX (LK_HOSTS_MAX - 3)

static lk_hostmap theirs; /* of the sender, with many more hosts */
static lk_arena arena;

typedef lk_message *notation (const lk_lock_message *message,
                              const lk_hostmap *hostmap, lk_host self);
static notation *const notations[] = {lk_lock_encode, lk_lock_pack};
#define EACH (sizeof notations / sizeof notations[0])

static void
add_strangers (lk_hostmap *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf (name, sizeof name, "stranger%zu", i);
        ck_assert_uint_ne (lk_hostmap_intern (to, name, 0x1000 + i), LK_NOBODY);
    }
}

static void
set_up_all (void)
{
    set_up ();
    lk_example_hostmap (&theirs);
    add_strangers (&theirs, STRANGERS_MAX);
    lk_arena_init (&arena);
}

static void
tear_down_all (void)
{
    tear_down ();
    lk_arena_clear (&arena);
}

/*  The message that h1 reads when h2 says `got`. */
static lk_err
read_it (notation *write, lk_lock_message *read)
{
    lk_message *there = write (&got, &theirs, got.from);
    lk_message_set_from (there, "lock@h2");
    got.from = H2;
    const lk_err error = lk_lock_read (there, &hostmap, H1, &arena, read);
    lk_message_destroy (&there);
    return error;
}

static void
begin (const char *example)
{
    lk_lock_message_clear (&got);
    lk_example_hostmap (&hostmap);
    take (example);
    got.from = H2;
}

/*  -------------------------------------------------------- left out */

START_TEST (whom_somebody_hears)
{
    for (size_t i = 0; i < EACH; i++) {
        lk_lock_message read;
        begin ("lock-ping");
        got.as.ping.sees = ~(lk_hosts) 0;
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert_uint_eq (read.as.ping.sees, 7);
        ck_assert_uint_eq (read.as.ping.session, got.as.ping.session);
        begin ("lock-voted");
        got.as.voted.sees = ~(lk_hosts) 0;
        got.as.voted.hears = ~(lk_hosts) 0 & ~LK_HOST_BIT (H3);
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert_uint_eq (read.as.voted.sees, 7);
        ck_assert_uint_eq (read.as.voted.hears, 3);
        ck_assert_uint_eq (hostmap.count, 3);
    }
}
END_TEST

/*  Of a host that is not known as long as there is room. */
START_TEST (whose_sessions_are_over)
{
    static const char *const examples[] = {"lock-fill", "lock-maxticket"};
    for (size_t i = 0; i < EACH * 2; i++) {
        lk_lock_message read;
        begin (examples[i / 2]);
        for (unsigned known = 3; known < LK_HOSTS_MAX - 2; known++) {
            char name[16];
            snprintf (name, sizeof name, "other%u", known);
            lk_hostmap_intern (&hostmap, name, known);
        }
        for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
            got.as.chunk.gone[host] = host + 1;
        }
        ck_assert_int_eq (read_it (notations[i % 2], &read), LK_OK);
        for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
            const bool named = host < 3 || host >= LK_HOSTS_MAX - 2;
            ck_assert_int_eq (read.as.chunk.gone[host] != 0, named);
        }
        ck_assert_uint_eq (read.as.chunk.gone[H2], H2 + 1);
        ck_assert_uint_eq (read.as.chunk.gone[63], 5);
        ck_assert_str_eq (lk_hostmap_name (&hostmap, 62), "stranger0");
        ck_assert_str_eq (lk_hostmap_name (&hostmap, 63), "stranger1");
    }
}
END_TEST

/*  Others are no witnesses of an id that is not known yet; of a name alone they
 *  mean the one that is. */
START_TEST (a_name_is_not_bound)
{
    for (size_t i = 0; i < EACH; i++) {
        lk_lock_message read;
        begin ("lock-ping");
        const lk_host young = lk_hostmap_intern (&hostmap, "stranger0", 0);
        got.as.ping.sees = LK_HOST_BIT (H2) | LK_HOST_BIT (3);
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert_uint_eq (lk_hostmap_id (&hostmap, young), 0);
        ck_assert_uint_eq (read.as.ping.sees, LK_HOST_BIT (H2));
        hostmap.entry[young].id = 0x1000;
        theirs.entry[3].id = 0;
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert_uint_eq (read.as.ping.sees,
                           LK_HOST_BIT (H2) | LK_HOST_BIT (young));
        theirs.entry[3].id = 0x1000;
        begin ("lock-fill");
        lk_hostmap_intern (&hostmap, "stranger0", 0);
        got.as.chunk.gone[3] = 7;
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert_uint_eq (lk_hostmap_id (&hostmap, young), 0);
        ck_assert_uint_eq (read.as.chunk.gone[young], 0);
    }
}
END_TEST

/*  For people nobody is left out. */
START_TEST (printed_in_full)
{
    begin ("lock-ping");
    got.as.ping.sees = ~(lk_hosts) 0;
    lk_message *packed = lk_lock_pack (&got, &theirs, H2);
    lk_message_set_from (packed, "lock@h2");
    ck_assert_ptr_nonnull (
        strstr (lk_message_body (packed), "stranger60:000000000000103c"));
    lk_message_destroy (&packed);
}
END_TEST

START_TEST (what_is_no_name)
{
    lk_lock_message read;
    begin ("lock-ping");
    got.as.ping.sees = LK_HOST_BIT (3);
    snprintf (theirs.entry[3].name, sizeof theirs.entry[3].name, "stranger 0");
    for (size_t i = 0; i < EACH; i++) {
        ck_assert_int_eq (read_it (notations[i], &read), LK_INVALID);
    }
}
END_TEST

/*  -------------------------------------------------------- known now */

/*  Members, and hosts that tickets are of. */
START_TEST (members_get_numbers)
{
    for (size_t i = 0; i < EACH; i++) {
        lk_lock_message read;
        begin ("lock-ping");
        got.as.ping.active.members |= LK_HOST_BIT (10);
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert_uint_eq (read.as.ping.active.members, 15);
        ck_assert_str_eq (lk_hostmap_name (&hostmap, 3), "stranger7");
        begin ("lock-host");
        got.as.host.host = 11;
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert_uint_eq (read.as.host.host, 3);
    }
}
END_TEST

/*  Until there is no number: then the hostmap is as it was. */
START_TEST (one_too_many)
{
    for (size_t i = 0; i < EACH; i++) {
        lk_lock_message read;
        begin ("lock-ping");
        add_strangers (&hostmap, STRANGERS_MAX - 1);
        const lk_hostmap before = hostmap;
        ck_assert (!lk_hostmap_is_full (&hostmap));
        got.as.ping.active.members |=
            LK_HOST_BIT (63) | LK_HOST_BIT (62) | LK_HOST_BIT (10);
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        ck_assert (lk_hostmap_is_full (&hostmap));
        hostmap = before;
        snprintf (theirs.entry[62].name, sizeof theirs.entry[62].name, "other");
        ck_assert_int_eq (read_it (notations[i], &read), LK_FULL);
        ck_assert_mem_eq (&hostmap, &before, sizeof hostmap);
        lk_hostmap_forget (&hostmap, 7);
        ck_assert_int_eq (read_it (notations[i], &read), LK_OK);
        lk_example_hostmap (&theirs);
        add_strangers (&theirs, STRANGERS_MAX);
    }
}
END_TEST

/*  A sender that is one too many, in a message that makes no sense. */
START_TEST (a_sender_too_many)
{
    lk_lock_message read;
    begin ("lock-ping");
    add_strangers (&hostmap, STRANGERS_MAX);
    lk_message *there = lk_lock_encode (&got, &theirs, H2);
    lk_message_set_from (there, "lock@h9");
    ck_assert_int_eq (lk_lock_read (there, &hostmap, H1, &arena, &read),
                      LK_FULL);
    lk_message_set_from (there, "app@h9");
    ck_assert_int_eq (lk_lock_read (there, &hostmap, H1, &arena, &read),
                      LK_INVALID);
    lk_message_destroy (&there);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_strangers");
    tcase_add_checked_fixture (tests, set_up_all, tear_down_all);
    tcase_add_test (tests, whom_somebody_hears);
    tcase_add_test (tests, whose_sessions_are_over);
    tcase_add_test (tests, a_name_is_not_bound);
    tcase_add_test (tests, printed_in_full);
    tcase_add_test (tests, what_is_no_name);
    tcase_add_test (tests, members_get_numbers);
    tcase_add_test (tests, one_too_many);
    tcase_add_test (tests, a_sender_too_many);
    Suite *suite = suite_create ("lock_strangers");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
