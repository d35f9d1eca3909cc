/*  object_name.c - names of any bytes: keys, fields, and for people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/object_name.h"
#include "lib/suite.h"
#include "util/escape.h"
#include "wire/message_frame.h"
#include "wire/object_key.h"

#include <check.h>
#include <lockkeeper/lockkeeper.h>
#include <stdlib.h>
#include <string.h>

#define NAME(text) ((lk_name) {text, sizeof (text) - 1})
#define NAME_EQ(name, text) name_eq (name, text, sizeof (text) - 1)

static void
name_eq (lk_name name, const char *text, size_t size)
{
    ck_assert_uint_eq (name.size, size);
    ck_assert_mem_eq (name.data, text, size);
}

/*  -------------------------------------------------------- keys */

START_TEST (object_keys)
{
    char buffer[LK_NAME_SIZE_MAX];
    lk_name zone, context, object;
    lk_name key = lk_object_key ("z", "c", NAME ("o"), buffer, sizeof buffer);
    NAME_EQ (key, "z\0c\0o");
    ck_assert (lk_object_parts (key, &zone, &context, &object));
    NAME_EQ (zone, "z");
    NAME_EQ (context, "c");
    NAME_EQ (object, "o");
    key = lk_object_key (NULL, NULL, NAME ("o"), buffer, sizeof buffer);
    NAME_EQ (key, "\0\0o");
    ck_assert (lk_object_parts (key, &zone, &context, &object));
    ck_assert_uint_eq (zone.size + context.size, 0);
    NAME_EQ (lk_object_key ("z", "c", NAME ("o"), buffer, 5), "z\0c\0o");
    ck_assert_ptr_null (lk_object_key ("z", "c", NAME ("o"), buffer, 4).data);
    ck_assert_ptr_null (
        lk_object_key ("z", "c", (lk_name) {0}, buffer, 9).data);
}
END_TEST

/*  The first two NULs end zone and context; all others are the name's. */
START_TEST (keys_of_bytes)
{
    char buffer[LK_NAME_SIZE_MAX];
    lk_name zone, context, object;
    static const char *const zones[] = {"", "z"};
    for (size_t i = 0; i < 2; i++) {
        const lk_name key = lk_object_key (zones[i], NULL, NAME ("\0\xff\0"),
                                           buffer, sizeof buffer);
        ck_assert (lk_object_parts (key, &zone, &context, &object));
        ck_assert_uint_eq (zone.size, i);
        ck_assert_uint_eq (context.size, 0);
        NAME_EQ (object, "\0\xff\0");
    }
}
END_TEST

START_TEST (no_object_keys)
{
    static char large[LK_OBJECT_LEN_MAX + 3];
    lk_name z, c, o;
    const lk_name bad[] = {
        {"", 0},   {"o", 1},      {"\0o", 2},           {"\0\0", 2},
        {NULL, 0}, {"z\0c\0", 4}, {large, sizeof large}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg (!lk_object_parts (bad[i], &z, &c, &o), "key %zu", i);
    }
    ck_assert (
        lk_object_parts ((lk_name) {large, sizeof large - 1}, &z, &c, &o));
}
END_TEST

/*  -------------------------------------------------------- fields */

typedef struct {
    lk_name name;
    const char *field;
    const char *text;
} written;

static const written writing[] = {
    {{"o", 1}, "object", "o"},
    {{"\xc3\xbc/\n\x7f", 5}, "object", "\xc3\xbc/\n\x7f"},
    {{"a\0b", 3}, "object_hex", "610062"},
    {{"\xff", 1}, "object_hex", "ff"},
    {{"\xc3", 1}, "object_hex", "c3"},
    {{"\xed\xa0\x80", 3}, "object_hex", "eda080"},
};

START_TEST (names_in_messages)
{
    const written *row = &writing[_i];
    char room[LK_OBJECT_LEN_MAX];
    lk_name name;
    lk_flaw flaw;
    lk_message *message = lk_message_new ("lock@.", "LOCK");
    (void) lk_message_body (message);
    lk_object_set (message, row->name);
    ck_assert_ptr_nonnull (strstr (lk_message_body (message), row->field));
    ck_assert_str_eq (lk_message_text (message, row->field), row->text);
    ck_assert (lk_message_has (message, "object")
               != lk_message_has (message, "object_hex"));
    ck_assert (lk_object_get (message, room, &name, &flaw));
    ck_assert_uint_eq (name.size, row->name.size);
    ck_assert_mem_eq (name.data, row->name.data, name.size);
    lk_message_destroy (&message);
}
END_TEST

static void
refuse (lk_message *message, const char *field, const char *what)
{
    char room[LK_OBJECT_LEN_MAX];
    lk_name name;
    lk_flaw flaw;
    ck_assert (!lk_object_get (message, room, &name, &flaw));
    ck_assert_str_eq (flaw.field, field);
    ck_assert_str_eq (flaw.what, what);
}

START_TEST (names_refused)
{
    static char large[2 * LK_OBJECT_LEN_MAX + 3];
    lk_message *message = lk_message_new ("lock@.", "LOCK");
    refuse (message, "object", "is missing or empty");
    lk_message_set_text (message, "object", "");
    refuse (message, "object", "is missing or empty");
    lk_message_set_number (message, "object", 1);
    refuse (message, "object", "is no text");
    memset (large, 'a', sizeof large - 1);
    lk_message_set_text (message, "object", large + LK_OBJECT_LEN_MAX + 1);
    refuse (message, "object", "is too long");
    lk_message_set_text (message, "object_hex", "6f");
    refuse (message, "object_hex", "is there, and so is 'object'");
    lk_message_set_text (message, "object", NULL);
    lk_message_set_text (message, "object_hex", "");
    refuse (message, "object_hex", "is empty");
    lk_message_set_flag (message, "object_hex", true);
    refuse (message, "object_hex", "is no text");
    lk_message_set_text (message, "object_hex", large);
    refuse (message, "object_hex", "is too long");
    lk_message_set_text (message, "object_hex", "6f6");
    refuse (message, "object_hex",
            "is not two hexadecimal digits for each byte");
    lk_message_set_text (message, "object_hex", "6x");
    refuse (message, "object_hex",
            "is not two hexadecimal digits for each byte");
    lk_message_destroy (&message);
}
END_TEST

/*  The longest of either kind, and digits of a name that is text. */
START_TEST (names_taken)
{
    static char large[2 * LK_OBJECT_LEN_MAX + 1];
    char room[LK_OBJECT_LEN_MAX];
    lk_name name;
    lk_flaw flaw;
    lk_message *message = lk_message_new ("lock@.", "LOCK");
    memset (large, 'A', sizeof large - 1);
    lk_message_set_text (message, "object", large + LK_OBJECT_LEN_MAX);
    ck_assert (lk_object_get (message, room, &name, &flaw));
    ck_assert_uint_eq (name.size, LK_OBJECT_LEN_MAX);
    lk_message_set_text (message, "object", NULL);
    lk_message_set_text (message, "object_hex", large);
    ck_assert (lk_object_get (message, room, &name, &flaw));
    ck_assert_uint_eq (name.size, LK_OBJECT_LEN_MAX);
    ck_assert_int_eq (name.data[LK_OBJECT_LEN_MAX - 1], (char) 0xaa);
    lk_message_set_text (message, "object_hex", "6f");
    ck_assert (lk_object_get (message, room, &name, &flaw));
    NAME_EQ (name, "o");
    lk_message_destroy (&message);
}
END_TEST

/*  -------------------------------------------------------- for people */

static void
shown (const char *data, size_t size, size_t room, const char *expected)
{
    char text[64];
    memset (text, '#', sizeof text);
    ck_assert_ptr_eq (lk_escape (data, size, text, room), text);
    ck_assert_str_eq (text, expected);
    ck_assert_int_eq (text[room], '#');
}

#define SHOWN(data, room, expected)                                            \
    shown (data, sizeof (data) - 1, room, expected)

START_TEST (names_for_people)
{
    SHOWN ("", 40, "");
    SHOWN ("Gr\xc3\xbc\xc3\x9f"
           "e",
           40,
           "Gr\xc3\xbc\xc3\x9f"
           "e");
    SHOWN ("a\0b\n\x7f\x1b[2J", 40, "a\\x00b\\x0a\\x7f\\x1b[2J");
    SHOWN ("\xff\xc3(\xc2\x9b", 40, "\\xff\\xc3(\\xc2\\x9b");
    SHOWN ("\xf0\x9f\x94\x92", 40, "\xf0\x9f\x94\x92");
    SHOWN ("\xe2\x80\xae\xe2\x81\xa9-", 40, "\\xe2\\x80\\xae\\xe2\\x81\\xa9-");
    SHOWN ("\xe2\x80\xa7\xe2\x80\xaf", 40, "\xe2\x80\xa7\xe2\x80\xaf");
}
END_TEST

START_TEST (names_cut_for_people)
{
    SHOWN ("abcdef", 7, "abcdef");
    SHOWN ("abcdefg", 7, "abc...");
    SHOWN ("abc\xff", 8, "abc\\xff");
    SHOWN ("abc\xff", 7, "abc...");
    SHOWN ("ab\xff"
           "cdef",
           10, "ab\\xff...");
    SHOWN ("ab\xff"
           "cdef",
           9, "ab...");
    SHOWN ("ab\xc3\xbc"
           "cdef",
           8, "ab\xc3\xbc...");
    SHOWN ("ab\xc3\xbc"
           "cdef",
           7, "ab...");
    SHOWN ("abcd", 4, "...");
    SHOWN ("abc", 4, "abc");
}
END_TEST

START_TEST (rooms_for_people)
{
    char bytes[300], text[LK_ESCAPE_ROOM (300)];
    memset (bytes, 1, sizeof bytes);
    lk_escape (bytes, sizeof bytes, text, sizeof text);
    ck_assert_uint_eq (strlen (text), 4 * sizeof bytes);
    ck_assert_uint_eq (lk_escape_first ("", 0, text), 0);
    ck_assert_str_eq (text, "");
    ck_assert_uint_eq (lk_escape_first ("\xc2\x80z", 3, text), 2);
    ck_assert_str_eq (text, "\\xc2\\x80");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("object_name");
    tcase_add_test (tests, object_keys);
    tcase_add_test (tests, keys_of_bytes);
    tcase_add_test (tests, no_object_keys);
    tcase_add_loop_test (tests, names_in_messages, 0,
                         sizeof writing / sizeof writing[0]);
    tcase_add_test (tests, names_refused);
    tcase_add_test (tests, names_taken);
    tcase_add_test (tests, names_for_people);
    tcase_add_test (tests, names_cut_for_people);
    tcase_add_test (tests, rooms_for_people);

    Suite *suite = suite_create ("object_name");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
