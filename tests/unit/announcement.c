/*  announcement.c - what a server says of itself on the network
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/announcement.h"

#include "net/client_file.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static lk_announcement word;
static char line[LK_ANNOUNCEMENT_SIZE];

static void
set_up (void)
{
    word = (lk_announcement) {.cluster = "one",
                              .host = "h1",
                              .address = "10.0.0.1:7412",
                              .fingerprint = "0123456789abcdef"};
}

static bool
reads (const char *text)
{
    return lk_announcement_read (&word, text, strlen (text));
}

START_TEST (to_and_fro)
{
    ck_assert (lk_announcement_write (&word, line));
    ck_assert_str_eq (line,
                      "lockkeeper 1 one h1 10.0.0.1:7412 0123456789abcdef");
    memset (&word, 'x', sizeof word);
    ck_assert (reads (line));
    ck_assert_str_eq (word.cluster, "one");
    ck_assert_str_eq (word.host, "h1");
    ck_assert_str_eq (word.address, "10.0.0.1:7412");
    ck_assert_str_eq (word.fingerprint, "0123456789abcdef");
    word.cluster[0] = '\0';
    ck_assert (lk_announcement_write (&word, line));
    ck_assert (reads (line));
    ck_assert_str_eq (word.cluster, "-");
}
END_TEST

/*  Anybody may send anything. */
START_TEST (garbage)
{
    char long_line[300];
    ck_assert (!reads (""));
    ck_assert (!reads ("lockkeeper 1 "));
    ck_assert (!reads ("lockkeeper 2 one h1 10.0.0.1:7412 0123456789abcdef"));
    ck_assert (!reads ("lockkeeper 1 one h1 10.0.0.1:7412"));
    ck_assert (!reads ("lockkeeper 1 one h1 10.0.0.1:7412 "));
    ck_assert (!reads ("lockkeeper 1 one  10.0.0.1:7412 0123456789abcdef"));
    ck_assert (!reads ("lockkeeper 1 one h1 10.0.0.1:7412 0123456789abcdef0"));
    ck_assert (!reads ("lockkeeper 1 one h1 10.0.0.1:7412 0123456789abcdef x"));
    ck_assert (!reads ("lockkeeper 1 one h1 10.0.0.1:7412 0123456789abcdef "
                       "more"));
    memset (long_line, 'x', sizeof long_line);
    ck_assert (!lk_announcement_read (&word, long_line, sizeof long_line));
    memcpy (long_line, LK_ANNOUNCEMENT_BEGIN, strlen (LK_ANNOUNCEMENT_BEGIN));
    ck_assert (!lk_announcement_read (&word, long_line, 255));
    memset (word.address, 'x', sizeof word.address - 1);
    memset (word.host, 'x', sizeof word.host - 1);
    memset (word.cluster, 'x', sizeof word.cluster - 1);
    ck_assert (!lk_announcement_write (&word, line));
}
END_TEST

/*  Only a key counts that the file has. */
START_TEST (heard)
{
    lk_curve_pair first, second, third;
    lk_client_file *file = &(lk_client_file) {.count = 1, .key_count = 1};
    lk_client_server server;
    lk_curve_make (&first);
    lk_curve_make (&second);
    lk_curve_make (&third);
    memcpy (file->server[0].key, first.public_key, LK_CURVE_TEXT_SIZE);
    memcpy (file->key[0], second.public_key, LK_CURVE_TEXT_SIZE);
    const char *keys[] = {first.public_key, second.public_key,
                          third.public_key};
    for (size_t i = 0; i < 3; i++) {
        lk_curve_fingerprint (keys[i], word.fingerprint);
        ck_assert_uint_eq (strlen (word.fingerprint), 16);
        ck_assert (lk_announcement_write (&word, line));
        ck_assert (lk_client_file_hears (file, line, strlen (line), &server)
                   == (i < 2));
        ck_assert (i == 2 || strcmp (server.key, keys[i]) == 0);
        ck_assert_str_eq (server.endpoint, "tcp://10.0.0.1:7412");
    }
    ck_assert (!lk_client_file_hears (file, "x", 1, &server));
    lk_curve_fingerprint (keys[0], word.fingerprint);
    snprintf (word.address, sizeof word.address, "nowhere");
    ck_assert (lk_announcement_write (&word, line));
    ck_assert (!lk_client_file_hears (file, line, strlen (line), &server));
    lk_curve_fingerprint ("x", word.fingerprint);
    ck_assert_str_eq (word.fingerprint, "");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("announcement");
    tcase_add_checked_fixture (tests, set_up, NULL);
    tcase_add_test (tests, to_and_fro);
    tcase_add_test (tests, garbage);
    tcase_add_test (tests, heard);

    Suite *suite = suite_create ("announcement");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
