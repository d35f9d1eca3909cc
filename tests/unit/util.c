/*  util.c - tests of src/util
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/suite.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/bytes.h"
#include "util/digits.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/rng.h"
#include "util/utf8.h"

#include <check.h>
#include <lockkeeper/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/*  -------------------------------------------------------- hash */

/*  vectors_sip64 of the reference implementation (github.com/veorq/SipHash):
 *  key 00 01 .. 0f, input of n bytes 00 01 .. n - 1. */
static const uint64_t reference[64] = {
    0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au,
    0x85676696d7fb7e2du, 0xcf2794e0277187b7u, 0x18765564cd99a68du,
    0xcbc9466e58fee3ceu, 0xab0200f58b01d137u, 0x93f5f5799a932462u,
    0x9e0082df0ba9e4b0u, 0x7a5dbbc594ddb9f3u, 0xf4b32f46226bada7u,
    0x751e8fbc860ee5fbu, 0x14ea5627c0843d90u, 0xf723ca908e7af2eeu,
    0xa129ca6149be45e5u, 0x3f2acc7f57c29bdbu, 0x699ae9f52cbe4794u,
    0x4bc1b3f0968dd39cu, 0xbb6dc91da77961bdu, 0xbed65cf21aa2ee98u,
    0xd0f2cbb02e3b67c7u, 0x93536795e3a33e88u, 0xa80c038ccd5ccec8u,
    0xb8ad50c6f649af94u, 0xbce192de8a85b8eau, 0x17d835b85bbb15f3u,
    0x2f2e6163076bcfadu, 0xde4daaaca71dc9a5u, 0xa6a2506687956571u,
    0xad87a3535c49ef28u, 0x32d892fad841c342u, 0x7127512f72f27cceu,
    0xa7f32346f95978e3u, 0x12e0b01abb051238u, 0x15e034d40fa197aeu,
    0x314dffbe0815a3b4u, 0x027990f029623981u, 0xcadcd4e59ef40c4du,
    0x9abfd8766a33735cu, 0x0e3ea96b5304a7d0u, 0xad0c42d6fc585992u,
    0x187306c89bc215a9u, 0xd4a60abcf3792b95u, 0xf935451de4f21df2u,
    0xa9538f0419755787u, 0xdb9acddff56ca510u, 0xd06c98cd5c0975ebu,
    0xe612a3cb9ecba951u, 0xc766e62cfcadaf96u, 0xee64435a9752fe72u,
    0xa192d576b245165au, 0x0a8787bf8ecb74b2u, 0x81b3e73d20b49b6fu,
    0x7fa8220ba3b2eceau, 0x245731c13ca42499u, 0xb78dbfaf3a8d83bdu,
    0xea1ad565322a1a0bu, 0x60e61c23a3795013u, 0x6606d7e446282b93u,
    0x6ca4ecb15c5f91e1u, 0x9f626da15c9625f3u, 0xe51b38608ef25f57u,
    0x958a324ceb064572u,
};

START_TEST (hash_reference)
{
    const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    uint8_t input[65];
    for (size_t i = 0; i < 64; i++) {
        ck_assert_uint_eq (lk_siphash (key, input, i), reference[i]);
        input[i] = (uint8_t) i;
    }
}
END_TEST

START_TEST (hash_unaligned)
{
    const uint64_t key[2] = {1, 2};
    char buffer[40] = "xan object of some length";
    char aligned[40];
    memcpy (aligned, buffer + 1, 24);
    ck_assert_uint_eq (lk_siphash (key, buffer + 1, 24),
                       lk_siphash (key, aligned, 24));
}
END_TEST

/*  Leaders of different versions must agree: this never changes. */
START_TEST (hash_fixed)
{
    ck_assert_uint_eq (lk_hash64 ("backup", 6), 0x53af3be7b4bcb2fau);
    ck_assert_uint_ne (lk_hash64 ("backup", 6), lk_hash64 ("backuq", 6));
}
END_TEST

/*  -------------------------------------------------------- random numbers */

START_TEST (rng_reference)
{
    lk_rng rng;
    lk_rng_init (&rng, 1234567);
    ck_assert_uint_eq (lk_rng_next (&rng), 6457827717110365317u);
    ck_assert_uint_eq (lk_rng_next (&rng), 3203168211198807973u);
    ck_assert_uint_eq (lk_rng_next (&rng), 9817491932198370423u);
}
END_TEST

START_TEST (rng_between)
{
    lk_rng rng;
    lk_rng_init (&rng, 1);
    bool seen[5] = {false};
    for (int i = 0; i < 1000; i++) {
        const int64_t number = lk_rng_between (&rng, -2, 2);
        ck_assert_int_ge (number, -2);
        ck_assert_int_le (number, 2);
        seen[number + 2] = true;
    }
    for (int i = 0; i < 5; i++) {
        ck_assert (seen[i]);
    }
    ck_assert_int_eq (lk_rng_between (&rng, 7, 7), 7);
    lk_rng_between (&rng, INT64_MIN, INT64_MAX);
}
END_TEST

/*  -------------------------------------------------------- memory */

START_TEST (memory)
{
    char *zeroes = lk_alloc (16);
    for (int i = 0; i < 16; i++) {
        ck_assert_int_eq (zeroes[i], 0);
    }
    zeroes = lk_realloc (zeroes, 32);
    lk_free (zeroes);
    char *text = lk_strdup ("text");
    ck_assert_str_eq (text, "text");
    lk_free (text);
    char *copy = lk_memdup ("a\0b", 3);
    ck_assert_mem_eq (copy, "a\0b", 4);
    lk_free (copy);
    void *none = lk_alloc (0);
    ck_assert_ptr_nonnull (none);
    lk_free (none);
}
END_TEST

START_TEST (assertion)
{
    LK_ASSERT (1 + 1 == 3);
}
END_TEST

/*  -------------------------------------------------------- bytes */

START_TEST (bytes_grow)
{
    lk_bytes bytes = {0};
    for (int i = 0; i < 5000; i++) {
        const char c = (char) i;
        lk_bytes_add (&bytes, &c, 1);
    }
    ck_assert_uint_eq (bytes.size, 5000);
    for (int i = 0; i < 5000; i++) {
        ck_assert_int_eq (bytes.data[i], (char) i);
    }
    lk_bytes_add (&bytes, NULL, 0);
    lk_bytes_cut (&bytes, 3);
    ck_assert_uint_eq (bytes.size, 3);
    lk_bytes_clear (&bytes);
    ck_assert_uint_eq (bytes.size, 0);
    lk_bytes_clear (&bytes);
}
END_TEST

START_TEST (bytes_numbers)
{
    uint8_t place[8];
    lk_bytes_put64 (place, 0x0123456789abcdefu);
    ck_assert_mem_eq (place, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
    ck_assert_uint_eq (lk_bytes_get64 (place), 0x0123456789abcdefu);
    ck_assert_uint_eq (lk_bytes_get32 (place + 4), 0x89abcdefu);
}
END_TEST

START_TEST (slices)
{
    char place[4];
    ck_assert (lk_slice_is (lk_slice_of ("ab"), "ab"));
    ck_assert (!lk_slice_is (lk_slice_of ("ab"), "abc"));
    ck_assert (!lk_slice_is (lk_slice_of ("ab"), "ac"));
    ck_assert (lk_slice_is ((lk_slice) {NULL, 0}, ""));
    lk_slice_keep (lk_slice_of ("abc"), place, sizeof place);
    ck_assert_str_eq (place, "abc");
}
END_TEST

START_TEST (slice_too_long)
{
    char place[3];
    lk_slice_keep (lk_slice_of ("abc"), place, sizeof place);
}
END_TEST

/*  -------------------------------------------------------- digits, UTF-8 */

START_TEST (hex)
{
    char text[LK_HEX_SIZE];
    uint64_t value = 1;
    lk_hex_format (0x00ff0123456789abu, text);
    ck_assert_str_eq (text, "00ff0123456789ab");
    ck_assert (lk_hex_parse ("00FF0123456789aB", 16, &value));
    ck_assert_uint_eq (value, 0x00ff0123456789abu);
    ck_assert (!lk_hex_parse ("0ff0123456789ab", 15, &value));
    ck_assert (!lk_hex_parse ("00ff0123456789abc", 17, &value));
    ck_assert (!lk_hex_parse ("00ff0123456789ag", 16, &value));
    ck_assert (!lk_hex_parse ("0x00ff0123456789", 16, &value));
    ck_assert_uint_eq (value, 0x00ff0123456789abu);
}
END_TEST

START_TEST (decimal)
{
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      "01",
                                      "1 ",
                                      " 1",
                                      "1a",
                                      "18446744073709551616",
                                      "99999999999999999999"};
    uint64_t value = 1;
    ck_assert (lk_decimal_parse ("0", 1, &value));
    ck_assert_uint_eq (value, 0);
    ck_assert (lk_decimal_parse ("18446744073709551615", 20, &value));
    ck_assert_uint_eq (value, UINT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg (!lk_decimal_parse (bad[i], strlen (bad[i]), &value),
                       "'%s' was read", bad[i]);
    }
}
END_TEST

START_TEST (utf8)
{
    static const char *const good[] = {
        "",
        "plain",
        "gr\xc3\xbc\xc3\x9f",
        "\xe2\x82\xac",
        "\xf0\x9f\x94\x92",
        "\xf4\x8f\xbf\xbf",
        "\xed\x9f\xbf",
        "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80"};
    static const char *const bad[] = {"\x80",
                                      "\xc3",
                                      "\xc0\xaf",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xe2\x82",
                                      "\xe2\x28\xa1",
                                      "\xc3\x28",
                                      "\xf0\x9f\x94"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg (lk_utf8_is_text (good[i], strlen (good[i])), "good %zu",
                       i);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg (!lk_utf8_is_text (bad[i], strlen (bad[i])), "bad %zu",
                       i);
    }
    ck_assert (!lk_utf8_is_text ("a\0b", 3));
    ck_assert_uint_eq (lk_utf8_first ("ab", 2), 1);
    ck_assert_uint_eq (lk_utf8_first ("\xc3\xa9z", 3), 2);
    ck_assert_uint_eq (lk_utf8_first ("\xc3\xa9z", 1), 0);
    ck_assert_uint_eq (lk_utf8_first ("\xa9z", 2), 0);
    ck_assert_uint_eq (lk_utf8_first ("", 0), 0);
}
END_TEST

/*  -------------------------------------------------------- errors, map */

START_TEST (errors)
{
    for (int i = 0; i < LK_ERROR_COUNT; i++) {
        const lk_err error = (lk_err) i;
        ck_assert_int_eq (lk_err_from_word (lk_err_word (error)), error);
        ck_assert_uint_gt (strlen (lk_err_text (error)), 0);
    }
    ck_assert_str_eq (lk_err_word (LK_TIMEDOUT), "timedout");
    ck_assert_str_eq (lk_err_word ((lk_err) 99), "unknown");
    ck_assert_str_eq (lk_err_word ((lk_err) -1), "unknown");
    ck_assert_int_eq (lk_err_from_word ("nonsense"), LK_UNKNOWN);
    ck_assert_int_eq (lk_err_from_word (NULL), LK_UNKNOWN);
}
END_TEST

typedef struct {
    int number;
    UT_hash_handle hh;
} entry;

START_TEST (map)
{
    entry *map_head = NULL;
    entry entries[100];
    for (int i = 0; i < 100; i++) {
        entries[i].number = 7 * i;
        HASH_ADD_INT (map_head, number, &entries[i]);
    }
    int at = 0;
    entry *found, *next;
    HASH_ITER (hh, map_head, found, next) {
        ck_assert_ptr_eq (found, &entries[at++]);
    }
    const int key = 7 * 42;
    HASH_FIND_INT (map_head, &key, found);
    ck_assert_ptr_eq (found, &entries[42]);
    HASH_CLEAR (hh, map_head);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("util");
    tcase_add_test (tests, hash_reference);
    tcase_add_test (tests, hash_unaligned);
    tcase_add_test (tests, hash_fixed);
    tcase_add_test (tests, rng_reference);
    tcase_add_test (tests, rng_between);
    tcase_add_test (tests, memory);
    tcase_add_test_raise_signal (tests, assertion, SIGABRT);
    tcase_add_test (tests, bytes_grow);
    tcase_add_test (tests, bytes_numbers);
    tcase_add_test (tests, slices);
    tcase_add_test_raise_signal (tests, slice_too_long, SIGABRT);
    tcase_add_test (tests, hex);
    tcase_add_test (tests, decimal);
    tcase_add_test (tests, utf8);
    tcase_add_test (tests, errors);
    tcase_add_test (tests, map);

    Suite *suite = suite_create ("util");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
