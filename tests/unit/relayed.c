/*  relayed.c - the body of RELAY, and what is in it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/relayed.h"
#include "wire/frame.h"

#include "lib/suite.h"
#include "lib/vector.h"

#include <check.h>
#include <string.h>

static lk_bytes body, again;
static lk_relayed got;
static lk_relayed_inside inside;

static void
tear_down (void)
{
    lk_bytes_clear (&body);
    lk_bytes_clear (&again);
}

static lk_slice
whole (const lk_bytes *bytes)
{
    return (lk_slice) {bytes->data, bytes->size};
}

/*  The body of an example. */
static void
take (const char *example)
{
    const lk_vector *vector = lk_vector_find (example);
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    ck_assert_int_eq (lk_frame_next (vector->frame.data, vector->frame.size,
                                     &at, &header, &problem),
                      LK_FRAME_MESSAGE);
    ck_assert (lk_slice_is (header.command, LK_RELAY));
    ck_assert_int_eq (header.body_kind, LK_BODY_PACKED);
    lk_bytes_cut (&body, 0);
    lk_bytes_add (&body, header.body.data, header.body.size);
}

static bool
reads (void)
{
    return lk_relayed_read (&got, whole (&body));
}

/*  -------------------------------------------------------- well */

START_TEST (examples)
{
    static const struct {
        const char *name, *to, *from;
        lk_relayed_kind kind;
    } rows[] = {{"relay-sealed", "h3", "h1", LK_RELAYED_SEALED},
                {"relay-plain", "h3", "h1", LK_RELAYED_PLAIN},
                {"relay-refused", "h1", "h3", LK_RELAYED_REFUSED}};
    take (rows[_i].name);
    ck_assert (reads ());
    ck_assert_int_eq (got.kind, rows[_i].kind);
    ck_assert (lk_slice_is (got.to, rows[_i].to));
    ck_assert (lk_slice_is (got.from, rows[_i].from));
    ck_assert_int_eq (got.nonce != NULL, got.kind == LK_RELAYED_SEALED);
    lk_relayed_begin (&got, &again);
    lk_bytes_add (&again, got.box.data, got.box.size);
    ck_assert (lk_slice_equal (whole (&again), whole (&body)));
}
END_TEST

START_TEST (example_inside)
{
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    take ("relay-plain");
    ck_assert (reads () && lk_relayed_inside_read (&inside, got.box));
    ck_assert_uint_eq (inside.sender, 0x5d3c8a9e01f72b64u);
    ck_assert_uint_eq (inside.receiver, 0x9d20b7c35e18f46au);
    ck_assert_uint_eq (inside.channel, 0x71c6a4e80d52b93fu);
    ck_assert_uint_eq (inside.number, 3);
    ck_assert_uint_eq (inside.heard, 2);
    ck_assert_int_eq (lk_frame_next (inside.frame.data, inside.frame.size, &at,
                                     &header, &problem),
                      LK_FRAME_MESSAGE);
    ck_assert (lk_slice_is (header.from, "backup-4711@h1"));
    lk_relayed_inside_write (&inside, &again);
    ck_assert (lk_slice_equal (whole (&again), got.box));
}
END_TEST

/*  The largest message that there is fits into one that carries it. */
START_TEST (the_largest_fits)
{
    static char name[LK_HOST_LEN_MAX + 1], frame[LK_BODY_SIZE_MAX + 400];
    memset (name, 'h', LK_HOST_LEN_MAX);
    const uint8_t nonce[LK_RELAYED_NONCE_SIZE] = {0};
    got = (lk_relayed) {.kind = LK_RELAYED_SEALED,
                        .to = {name, LK_HOST_LEN_MAX},
                        .from = {name, LK_HOST_LEN_MAX - 1},
                        .nonce = nonce};
    lk_relayed_begin (&got, &body);
    inside.frame =
        (lk_slice) {frame, LK_BODY_SIZE_MAX + LK_FRAME_HEADER_SIZE
                               + 2 * LK_ADDRESS_LEN_MAX + LK_COMMAND_LEN_MAX};
    lk_relayed_inside_write (&inside, &body);
    ck_assert_uint_le (body.size + LK_RELAYED_MAC_SIZE,
                       LK_BODY_SIZE_MAX + LK_RELAY_EXTRA_MAX);
}
END_TEST

/*  -------------------------------------------------------- broken */

static void
add_head (uint8_t version, uint8_t kind, const char *to, const char *from)
{
    const uint8_t head[] = {version, kind, (uint8_t) strlen (to),
                            (uint8_t) strlen (from)};
    lk_bytes_cut (&body, 0);
    lk_bytes_add (&body, head, sizeof head);
    lk_bytes_add (&body, to, strlen (to));
    lk_bytes_add (&body, from, strlen (from));
}

/*  With so many bytes behind the hosts. */
static bool
reads_head (uint8_t version, uint8_t kind, const char *to, const char *from,
            size_t rest)
{
    static const char nothing[256];
    add_head (version, kind, to, from);
    lk_bytes_add (&body, nothing, rest);
    return reads ();
}

/*  The least that each kind has. */
START_TEST (sizes)
{
    const size_t plain = LK_RELAYED_INSIDE_SIZE + 1;
    const size_t sealed = LK_RELAYED_NONCE_SIZE + LK_RELAYED_MAC_SIZE + plain;
    ck_assert (reads_head (1, LK_RELAYED_SEALED, "h1", "h2", sealed));
    ck_assert_uint_eq (got.box.size, LK_RELAYED_MAC_SIZE + plain);
    ck_assert (!reads_head (1, LK_RELAYED_SEALED, "h1", "h2", sealed - 1));
    ck_assert (
        !reads_head (1, LK_RELAYED_SEALED, "h1", "h2", LK_RELAYED_NONCE_SIZE));
    ck_assert (!reads_head (1, LK_RELAYED_SEALED, "h1", "h2", 5));
    ck_assert (reads_head (1, LK_RELAYED_PLAIN, "h1", "h2", plain));
    ck_assert (!reads_head (1, LK_RELAYED_PLAIN, "h1", "h2", plain - 1));
    ck_assert (reads_head (1, LK_RELAYED_REFUSED, "h1", "h2", 0));
    ck_assert (!reads_head (1, LK_RELAYED_REFUSED, "h1", "h2", 1));
    ck_assert (!reads_head (1, 3, "h1", "h2", sealed));
    ck_assert (!reads_head (1, 255, "h1", "h2", 0));
}
END_TEST

START_TEST (hosts)
{
    ck_assert (!reads_head (0, LK_RELAYED_REFUSED, "h1", "h2", 0));
    ck_assert (!reads_head (2, LK_RELAYED_REFUSED, "h1", "h2", 0));
    ck_assert (!reads_head (1, LK_RELAYED_REFUSED, "h1", "h1", 0));
    ck_assert (!reads_head (1, LK_RELAYED_REFUSED, "", "h1", 0));
    ck_assert (!reads_head (1, LK_RELAYED_REFUSED, "h1", "", 0));
    ck_assert (!reads_head (1, LK_RELAYED_REFUSED, "*", "h1", 0));
    ck_assert (!reads_head (1, LK_RELAYED_REFUSED, "h1", ".", 0));
    ck_assert (!reads_head (1, LK_RELAYED_REFUSED, "h 1", "h2", 0));
}
END_TEST

/*  Cut anywhere it is none, or has a smaller box. */
START_TEST (cut_short)
{
    static const char *const names[] = {"relay-sealed", "relay-plain",
                                        "relay-refused"};
    take (names[_i]);
    ck_assert (reads ());
    const size_t box = got.box.size, size = body.size;
    for (size_t cut = 1; cut <= size; cut++) {
        lk_bytes_cut (&body, size - cut);
        ck_assert (!reads () || got.box.size == box - cut);
    }
    ck_assert (!lk_relayed_read (&got, (lk_slice) {NULL, 0}));
    ck_assert (!lk_relayed_inside_read (&inside, (lk_slice) {NULL, 0}));
    ck_assert (!lk_relayed_inside_read (
        &inside, (lk_slice) {names[0], LK_RELAYED_INSIDE_SIZE}));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("relayed");
    tcase_add_checked_fixture (tests, NULL, tear_down);
    tcase_add_loop_test (tests, examples, 0, 3);
    tcase_add_test (tests, example_inside);
    tcase_add_test (tests, the_largest_fits);
    tcase_add_test (tests, sizes);
    tcase_add_test (tests, hosts);
    tcase_add_loop_test (tests, cut_short, 0, 3);

    Suite *suite = suite_create ("relayed");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
