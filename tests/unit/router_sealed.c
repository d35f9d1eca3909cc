/*  router_sealed.c - frames that go over a router which cannot read them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  h1 and h3 talk over h2, which does to their boxes whatever it likes.
 */

#include "sealed.h"

#include "wire/frame.h"

#include "lib/suite.h"
#include "lib/vector.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define HOSTS 3
#define MARKER "nobody may read this"

typedef struct {
    lk_keyring keyring;
    lk_sealed sealed;
} host;

static host hosts[HOSTS], *const h1 = &hosts[0], *const h2 = &hosts[1],
                                 *const h3 = &hosts[2];
static lk_curve_pair pairs[HOSTS];
static lk_bytes body, room;
static lk_unsealed got;

/*  -------------------------------------------------------- keys */

/*  As the newest one; NULL: without its secret key. */
static void
add_key (host *at, const char *owner, const lk_curve_pair *pair, bool ours)
{
    lk_problem problem;
    lk_curve_key key = {.pair = *pair};
    snprintf (key.host, sizeof key.host, "%s", owner);
    if (!ours) {
        key.pair.secret_key[0] = '\0';
    }
    ck_assert_int_eq (lk_curve_ring_add (&at->keyring.ring, &key, &problem),
                      LK_OK);
}

static void
remove_key (host *at, const lk_curve_pair *pair)
{
    lk_curve_ring_remove (
        &at->keyring.ring,
        lk_curve_ring_find (&at->keyring.ring, pair->public_key));
}

static void
set_up (void)
{
    static const char *const names[HOSTS] = {"h1", "h2", "h3"};
    for (size_t i = 0; i < HOSTS; i++) {
        lk_curve_make (&pairs[i]);
    }
    for (size_t i = 0; i < HOSTS; i++) {
        hosts[i] = (host) {.keyring.security = LK_SECURITY_CURVE};
        lk_sealed_init (&hosts[i].sealed, names[i]);
        for (size_t k = 0; k < HOSTS; k++) {
            add_key (&hosts[i], names[k], &pairs[k], i == k);
        }
    }
}

static void
tear_down (void)
{
    for (size_t i = 0; i < HOSTS; i++) {
        lk_sealed_clear (&hosts[i].sealed);
    }
    lk_bytes_clear (&body);
    lk_bytes_clear (&room);
}

/*  Nobody has a key of a host. */
static void
set_up_without (lk_security security)
{
    for (size_t i = 0; i < HOSTS; i++) {
        hosts[i].keyring = (lk_keyring) {.security = security};
    }
}

/*  -------------------------------------------------------- to and fro */

static bool
writes (host *from, const char *to, uint64_t number)
{
    const lk_relayed_inside inside = {.sender = 11,
                                      .receiver = 13,
                                      .channel = 7,
                                      .number = number,
                                      .heard = 5,
                                      .frame = lk_slice_of (MARKER)};
    lk_bytes_cut (&body, 0);
    return lk_sealed_write (&from->sealed, &from->keyring, to, &inside, &body);
}

static void
send (host *from, const char *to, uint64_t number)
{
    ck_assert (writes (from, to, number));
}

static bool
takes_bytes (host *at, const void *data, size_t size)
{
    lk_relayed relayed;
    return lk_relayed_read (&relayed, (lk_slice) {data, size})
           && lk_sealed_read (&at->sealed, &at->keyring, &relayed, &room, &got);
}

static bool
takes (host *at)
{
    return takes_bytes (at, body.data, body.size);
}

static void
took (host *at, uint64_t number)
{
    ck_assert (takes (at));
    ck_assert_uint_eq (got.inside.number, number);
    ck_assert (lk_slice_is (got.inside.frame, MARKER));
}

START_TEST (to_and_fro)
{
    send (h1, "h3", 1);
    ck_assert_ptr_null (memmem (body.data, body.size, MARKER, strlen (MARKER)));
    took (h3, 1);
    ck_assert_uint_eq (got.inside.sender, 11);
    ck_assert_uint_eq (got.inside.receiver, 13);
    ck_assert_uint_eq (got.inside.channel, 7);
    ck_assert_uint_eq (got.inside.heard, 5);
    ck_assert_uint_eq (got.count, 1);
    send (h3, "h1", 9);
    took (h1, 9);
}
END_TEST

START_TEST (example)
{
    static const lk_curve_pair of_h1 = {
        "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
        "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"};
    static const lk_curve_pair of_h3 = {
        "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
        "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"};
    const lk_vector *vector = lk_vector_find ("relay-sealed");
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    ck_assert_int_eq (lk_frame_next (vector->frame.data, vector->frame.size,
                                     &at, &header, &problem),
                      LK_FRAME_MESSAGE);
    add_key (h3, "h3", &of_h3, true);
    add_key (h3, "h1", &of_h1, false);
    ck_assert (takes_bytes (h3, header.body.data, header.body.size));
    ck_assert_uint_eq (got.inside.number, 3);
    ck_assert_uint_eq (got.count, 1);
}
END_TEST

/*  -------------------------------------------------------- attacks */

/*  A box that came before opens, and its count says that it did. */
START_TEST (replayed)
{
    lk_bytes first = {0};
    send (h1, "h3", 1);
    lk_bytes_add (&first, body.data, body.size);
    took (h3, 1);
    send (h1, "h3", 2);
    took (h3, 2);
    const uint64_t last = got.count;
    ck_assert (takes_bytes (h3, first.data, first.size));
    ck_assert_uint_lt (got.count, last);
    lk_bytes_clear (&first);
}
END_TEST

/*  The count is a part of what is sealed. */
START_TEST (recounted)
{
    send (h1, "h3", 1);
    lk_relayed relayed;
    ck_assert (lk_relayed_read (&relayed, (lk_slice) {body.data, body.size}));
    ck_assert_uint_eq (relayed.nonce[LK_RELAYED_NONCE_SIZE - 1], 1);
    body.data[(const char *) relayed.nonce - body.data + LK_RELAYED_NONCE_SIZE
              - 1]++;
    ck_assert (!takes (h3));
}
END_TEST

START_TEST (flipped)
{
    send (h1, "h3", 1);
    for (size_t i = 0; i < body.size * 8; i++) {
        body.data[i / 8] ^= (char) (1 << i % 8);
        ck_assert_msg (!takes (h3), "bit %zu", i);
        body.data[i / 8] ^= (char) (1 << i % 8);
    }
    took (h3, 1);
}
END_TEST

START_TEST (cut_short)
{
    send (h1, "h3", 1);
    for (size_t size = 0; size < body.size; size++) {
        ck_assert (!takes_bytes (h3, body.data, size));
    }
    lk_bytes_add (&body, "", 1);
    ck_assert (!takes (h3));
}
END_TEST

/*  It says what it likes outside. */
static void
say_from (const char *name)
{
    memcpy (body.data + 4 + 2, name, 2);
}

START_TEST (foreign)
{
    send (h2, "h3", 1);
    took (h3, 1);
    say_from ("h1");
    ck_assert (!takes (h3));
    send (h1, "h3", 1);
    say_from ("h2");
    ck_assert (!takes (h3));
    say_from ("h4");
    ck_assert (!takes (h3));
}
END_TEST

/*  Both directions have the same key. */
START_TEST (brought_back)
{
    send (h1, "h3", 1);
    memcpy (body.data + 4, "h1h3", 4);
    ck_assert (!takes (h1));
    send (h3, "h1", 1);
    memcpy (body.data + 4, "h3h1", 4);
    ck_assert (!takes (h3));
}
END_TEST

START_TEST (for_another)
{
    send (h1, "h3", 1);
    ck_assert (!takes (h2));
    ck_assert (!takes (h1));
    memcpy (body.data + 4, "h2", 2);
    ck_assert (!takes (h2));
    ck_assert (!takes (h3));
}
END_TEST

START_TEST (with_the_nonce_of_another)
{
    char nonce[LK_RELAYED_NONCE_SIZE];
    send (h1, "h3", 1);
    memcpy (nonce, body.data + 8, sizeof nonce);
    send (h1, "h3", 2);
    memcpy (body.data + 8, nonce, sizeof nonce);
    ck_assert (!takes (h3));
}
END_TEST

/*  Without what makes it one it would be taken by those without keys alone. */
START_TEST (unsealed)
{
    set_up_without (LK_SECURITY_NONE);
    send (h1, "h3", 1);
    ck_assert_ptr_nonnull (
        memmem (body.data, body.size, MARKER, strlen (MARKER)));
    took (h3, 1);
    ck_assert_uint_eq (got.count, 0);
    tear_down ();
    set_up ();
    h1->keyring.security = LK_SECURITY_NONE;
    for (int both = 0; both < 2; both++) {
        h3->keyring.security = both ? LK_SECURITY_BOTH : LK_SECURITY_CURVE;
        send (h1, "h3", 1);
        ck_assert (!takes (h3));
    }
    send (h3, "h1", 1);
    ck_assert (!takes (h1));
}
END_TEST

/*  -------------------------------------------------------- nonces */

START_TEST (no_nonce_twice)
{
    static uint8_t seen[400][LK_RELAYED_NONCE_SIZE];
    size_t count = 0;
    for (int process = 0; process < 2; process++) {
        for (int i = 0; i < 100; i++) {
            send (h1, "h3", 1);
            memcpy (seen[count++], body.data + 8, LK_RELAYED_NONCE_SIZE);
            send (h3, "h1", 1);
            memcpy (seen[count++], body.data + 8, LK_RELAYED_NONCE_SIZE);
        }
        lk_sealed_clear (&h1->sealed);
        lk_sealed_clear (&h3->sealed);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            ck_assert_mem_ne (seen[i], seen[k], LK_RELAYED_NONCE_SIZE);
        }
    }
}
END_TEST

/*  -------------------------------------------------------- keys that change */

/*  No side has heard of the other's new key yet, then one, then both. */
START_TEST (new_pairs)
{
    lk_curve_pair new1, new3;
    lk_curve_make (&new1);
    lk_curve_make (&new3);
    add_key (h1, "h1", &new1, true);
    h1->keyring.ring.key[0].pending_ms = 5000;
    send (h1, "h3", 1);
    took (h3, 1);
    add_key (h3, "h1", &new1, false);
    send (h3, "h1", 2);
    took (h1, 2);
    h1->keyring.ring.key[0].pending_ms = 0;
    add_key (h3, "h3", &new3, true);
    send (h1, "h3", 3);
    took (h3, 3);
    send (h3, "h1", 4);
    ck_assert (!takes (h1));
    add_key (h1, "h3", &new3, false);
    took (h1, 4);
}
END_TEST

/*  What was sealed by a key that is withdrawn opens no more, though it did. */
START_TEST (withdrawn)
{
    lk_curve_pair new1;
    lk_curve_make (&new1);
    send (h1, "h3", 1);
    took (h3, 1);
    add_key (h3, "h1", &new1, false);
    took (h3, 1);
    remove_key (h3, &pairs[0]);
    ck_assert (!takes (h3));
    remove_key (h3, &new1);
    ck_assert (!takes (h3));
    ck_assert_uint_eq (h3->sealed.peers->count, 2);
    add_key (h3, "h1", &pairs[0], false);
    took (h3, 1);
    add_key (h3, "h3", &new1, true);
    remove_key (h3, &pairs[2]);
    ck_assert (!takes (h3));
    ck_assert_uint_eq (h3->sealed.peers->count, 1);
    remove_key (h3, &pairs[0]);
    ck_assert (!writes (h3, "h1", 1));
}
END_TEST

START_TEST (many_pairs)
{
    lk_curve_pair more[LK_CURVE_PAIRS_MAX], of_h1[4];
    for (size_t i = 1; i < LK_CURVE_PAIRS_MAX; i++) {
        lk_curve_make (&more[i]);
        add_key (h3, "h3", &more[i], true);
    }
    for (size_t i = 0; i < 4; i++) {
        lk_curve_make (&of_h1[i]);
        add_key (h3, "h1", &of_h1[i], false);
    }
    for (int twice = 0; twice < 2; twice++) {
        send (h1, "h3", 1);
        took (h3, 1);
    }
}
END_TEST

static lk_curve_pair all;

/*  All have a pair of the whole cluster. */
static void
share_a_pair (void)
{
    lk_curve_make (&all);
    for (size_t i = 0; i < HOSTS; i++) {
        add_key (&hosts[i], "", &all, true);
    }
}

/*  It does not count, even if it is newer than that of the host. */
START_TEST (of_the_whole_cluster)
{
    lk_relayed_kind kind;
    set_up_without (LK_SECURITY_CURVE);
    share_a_pair ();
    ck_assert (!lk_sealed_kind (&h1->sealed, &h1->keyring, "h3", &kind));
    ck_assert (!writes (h1, "h3", 1));
    add_key (h1, "h3", &pairs[2], false);
    ck_assert (!writes (h1, "h3", 1));
    add_key (h1, "h1", &pairs[0], true);
    add_key (h3, "h3", &pairs[2], true);
    send (h1, "h3", 1);
    ck_assert (!takes (h3));
    add_key (h3, "h1", &pairs[0], false);
    took (h3, 1);
    share_a_pair ();
    send (h1, "h3", 2);
    took (h3, 2);
}
END_TEST

/*  h2 has its secret, too, and could seal by it for h3 as if it were h1: with
 *  its own key for h3, or with what h1 and the pair of the cluster make. */
START_TEST (by_the_pair_of_the_cluster)
{
    share_a_pair ();
    add_key (h2, "h2", &all, true);
    send (h2, "h3", 1);
    ck_assert (!takes (h3));
    say_from ("h1");
    ck_assert (!takes (h3));
    add_key (h2, "h3", &pairs[0], false);
    send (h2, "h3", 1);
    say_from ("h1");
    ck_assert (!takes (h3));
}
END_TEST

START_TEST (kinds)
{
    lk_relayed_kind kind;
    h1->keyring.security = LK_SECURITY_BOTH;
    ck_assert (lk_sealed_kind (&h1->sealed, &h1->keyring, "h3", &kind));
    ck_assert_int_eq (kind, LK_RELAYED_SEALED);
    ck_assert (!lk_sealed_kind (&h1->sealed, &h1->keyring, "h4", &kind));
    set_up_without (LK_SECURITY_BOTH);
    ck_assert (!lk_sealed_kind (&h1->sealed, &h1->keyring, "h3", &kind));
    set_up_without (LK_SECURITY_NONE);
    ck_assert (lk_sealed_kind (&h1->sealed, &h1->keyring, "h3", &kind));
    ck_assert_int_eq (kind, LK_RELAYED_PLAIN);
}
END_TEST

/*  Somebody has a key that makes nothing secret. */
START_TEST (weak_key)
{
    const lk_curve_pair weak = {"0000000000000000000000000000000000000000", ""};
    remove_key (h1, &pairs[2]);
    add_key (h1, "h3", &weak, false);
    ck_assert (!writes (h1, "h3", 1));
    ck_assert_uint_eq (body.size, 0);
}
END_TEST

/*  Hosts come and go; a sealed box and those before it go on. */
START_TEST (many_hosts)
{
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf (name, sizeof name, "x%d", i);
        add_key (h1, name, &pairs[1], false);
        send (h1, name, 1);
        remove_key (h1, &pairs[1]);
        ck_assert_uint_le (HASH_COUNT (h1->sealed.peers), 2);
    }
    add_key (h1, "h2", &pairs[1], false);
    send (h1, "h2", 4);
    took (h2, 4);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("router_sealed");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, to_and_fro);
    tcase_add_test (tests, example);
    tcase_add_test (tests, replayed);
    tcase_add_test (tests, recounted);
    tcase_add_test (tests, flipped);
    tcase_add_test (tests, cut_short);
    tcase_add_test (tests, foreign);
    tcase_add_test (tests, brought_back);
    tcase_add_test (tests, for_another);
    tcase_add_test (tests, with_the_nonce_of_another);
    tcase_add_test (tests, unsealed);
    tcase_add_test (tests, no_nonce_twice);
    tcase_add_test (tests, new_pairs);
    tcase_add_test (tests, withdrawn);
    tcase_add_test (tests, many_pairs);
    tcase_add_test (tests, of_the_whole_cluster);
    tcase_add_test (tests, by_the_pair_of_the_cluster);
    tcase_add_test (tests, kinds);
    tcase_add_test (tests, weak_key);
    tcase_add_test (tests, many_hosts);

    Suite *suite = suite_create ("router_sealed");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
