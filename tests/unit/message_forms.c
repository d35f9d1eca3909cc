/*  message_forms.c - tests: a message says the same in each of its forms
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is written as text, and read as plain fields, is what jansson would
 *  have made of it.
 */

#include "lib/suite.h"
#include "util/alloc.h"
#include "util/digits.h"
#include "util/rng.h"
#include "wire/message_frame.h"
#include "wire/message_private.h"
#include "wire/object_name.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  -------------------------------------------------------- texts */

/*  The text by our own hand, or "" if it is none. */
static void
add_text (lk_bytes *out, const char *data, size_t size)
{
    lk_bytes_cut (out, 0);
    (void) lk_json_add_text (out, (lk_slice) {data, size});
    lk_bytes_add (out, "", 1);
}

static void
same_as_jansson (const char *data, size_t size)
{
    lk_bytes ours = {0};
    json_t *text = json_stringn (data, size);
    char *theirs = NULL;
    if (text && !memchr (data, 0, size)) {
        theirs = json_dumps (text, JSON_COMPACT | JSON_ENCODE_ANY);
    }
    add_text (&ours, data, size);
    ck_assert_str_eq (ours.data, theirs ? theirs : "");
    free (theirs);
    json_decref (text);
    lk_bytes_clear (&ours);
}

static size_t
encode_utf8 (uint32_t point, char *place)
{
    if (point < 0x80) {
        place[0] = (char) point;
        return 1;
    }
    const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const int first[] = {0, 0xc0, 0xe0, 0xf0};
    place[0] = (char) (first[more] | (int) (point >> 6 * more));
    for (int i = 1; i <= more; i++) {
        place[i] = (char) (0x80 | (point >> 6 * (more - i) & 0x3f));
    }
    return (size_t) more + 1;
}

/*  Surrogates and what is over the last one, too: they are none. */
START_TEST (every_character)
{
    char text[8] = "a";
    for (uint32_t point = 0; point < 0x111000; point += point < 300 ? 1 : 61) {
        const size_t size = encode_utf8 (point, text + 1);
        same_as_jansson (text + 1, size);
        text[1 + size] = '"';
        same_as_jansson (text, size + 2);
    }
}
END_TEST

START_TEST (every_two_bytes)
{
    for (int both = 0; both < 0x10000; both++) {
        const char text[] = {(char) (both >> 8), (char) both};
        same_as_jansson (text, 2);
    }
    same_as_jansson ("", 0);
}
END_TEST

START_TEST (every_number)
{
    static const int64_t numbers[] = {0,  1,   9,         10,        -1,
                                      -9, -10, INT64_MIN, INT64_MAX, 4711};
    char digits[LK_DECIMAL_SIZE + 1], wanted[32];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        digits[lk_decimal_format (numbers[i], digits)] = '\0';
        snprintf (wanted, sizeof wanted, "%lld", (long long) numbers[i]);
        ck_assert_str_eq (digits, wanted);
    }
}
END_TEST

/*  -------------------------------------------------------- writing */

static const char *const names[] = {"a", "ab", "b\"", "list", "li", "\xc3\xbc"};
static const char *const texts[] = {"", "x", "\n\"", "\xff", "\xc3\xbc", NULL};

static lk_message *
new_row (uint64_t number)
{
    lk_message *row = lk_message_row_new ();
    for (uint64_t i = 0; i < number % 4; i++) {
        lk_message_set_number (row, names[i], (int64_t) number);
    }
    if (number % 5 == 0) {
        (void) lk_message_tree (row);
    }
    return row;
}

/*  One of all changes that there are, as `number` says. */
static void
change (lk_message *message, uint64_t number)
{
    const char *name = names[number / 8 % 6];
    const char *text = texts[number / 64 % 6];
    lk_message *row;
    switch (number % 8) {
    case 0:
        lk_message_set_text (message, name, text);
        break;
    case 1:
        lk_message_set_number (message, name, (int64_t) number);
        break;
    case 2:
        lk_message_set_flag (message, name, number & 64);
        break;
    case 3:
        lk_message_set_hex (message, name, number);
        break;
    case 4:
    case 5:
        lk_message_add_item (message, number & 16 ? name : "list", text);
        break;
    case 6:
        row = new_row (number / 8);
        lk_message_add_row (message, number & 512 ? name : "list", &row);
        break;
    case 7:
        lk_object_set (message, (lk_name) {number & 64 ? "o\n" : "\0\xff", 2});
        break;
    }
}

static void
same_body (lk_message *one, lk_message *other)
{
    lk_bytes left = {0}, right = {0};
    ck_assert_str_eq (lk_message_body (one), lk_message_body (other));
    lk_message_set_from (one, "a@h1");
    lk_message_set_from (other, "a@h1");
    ck_assert_int_eq (lk_message_write (one, &left), LK_OK);
    ck_assert_int_eq (lk_message_write (other, &right), LK_OK);
    ck_assert_uint_eq (left.size, right.size);
    ck_assert_mem_eq (left.data, right.data, left.size);
    lk_bytes_clear (&left);
    lk_bytes_clear (&right);
}

/*  The same changes of one that is a tree from the start, and of one that is
 *  not before it has to. */
START_TEST (written)
{
    lk_rng rng;
    int trees = 0;
    lk_rng_init (&rng, 1 + (uint64_t) _i);
    for (int story = 0; story < 400; story++) {
        lk_message *text = lk_message_new ("lock@h1", "LOCK");
        lk_message *tree = lk_message_new ("lock@h1", "LOCK");
        (void) lk_message_tree_to_change (tree);
        for (uint64_t i = 0; i < 1 + (uint64_t) story % 12; i++) {
            const uint64_t number = lk_rng_next (&rng) >> 8;
            change (text, number);
            change (tree, number);
            same_body (text, tree);
        }
        trees += text->form == LK_FORM_TREE;
        lk_message_destroy (&text);
        lk_message_destroy (&tree);
    }
    ck_assert_int_gt (trees, 50);
    ck_assert_int_lt (trees, 350);
}
END_TEST

/*  One more than there are places for. */
START_TEST (many_fields)
{
    lk_message *text = lk_message_new ("lock@h1", "LOCK");
    lk_message *tree = lk_message_new ("lock@h1", "LOCK");
    (void) lk_message_tree_to_change (tree);
    for (int i = 0; i < 2 * LK_WRITTEN_MAX; i++) {
        char name[16];
        snprintf (name, sizeof name, "field%d", i);
        ck_assert_int_eq (text->form,
                          i <= LK_WRITTEN_MAX ? LK_FORM_TEXT : LK_FORM_TREE);
        lk_message_set_number (text, name, i);
        lk_message_set_number (tree, name, i);
        same_body (text, tree);
    }
    lk_message_destroy (&text);
    lk_message_destroy (&tree);
}
END_TEST

/*  Reading it makes it a tree, and what was printed stays where it is. */
START_TEST (read_back)
{
    lk_message *message = lk_message_new ("lock@h1", "LOCK");
    lk_message_set_text (message, "a", "b");
    const char *body = lk_message_body (message);
    ck_assert_str_eq (lk_message_text (message, "a"), "b");
    ck_assert_str_eq (body, "{\"a\":\"b\"}");
    ck_assert_ptr_eq (lk_message_body (message), body);
    lk_message_set_number (message, "c", 1);
    ck_assert_str_eq (lk_message_body (message), "{\"a\":\"b\",\"c\":1}");
    lk_message_destroy (&message);
}
END_TEST

/*  -------------------------------------------------------- reading */

static bool
is_flat (const char *text, size_t size)
{
    char problem[128];
    lk_flat *flat = lk_flat_read ((lk_slice) {text, size});
    if (flat) {
        json_t *ours = lk_flat_tree (flat);
        json_t *theirs =
            lk_json_read ((lk_slice) {text, size}, problem, sizeof problem);
        ck_assert_msg (json_equal (ours, theirs), "taken: %.*s", (int) size,
                       text);
        json_decref (ours);
        json_decref (theirs);
    }
    lk_free (flat);
    return flat;
}

static const struct {
    const char *text;
    bool flat;
} bodies[] = {
    {"{}", true},
    {" {\t} \n", true},
    {"{\"a\":\"b\",\"c\":-1,\"d\":true,\"e\":false,\"f\":null,\"\":\"\"}",
     true},
    {"\r{ \"a\" : 0 , \"b\" : -0 }", true},
    {"{\"a\":999999999999999999,\"b\":-999999999999999999}", true},
    {"{\"a\":\"\xc3\xbc\",\"\xc3\xbc\":1}", true},
    {"", false},
    {"{", false},
    {"{\"a\"", false},
    {"{\"a\":", false},
    {"{\"a\":1", false},
    {"{\"a\":1,", false},
    {"{\"a\":1,}", false},
    {"{\"a\":1}x", false},
    {"{\"a\":1 \"b\":2}", false},
    {"{\"a\" 1}", false},
    {"{a:1}", false},
    {"{\"a\":01}", false},
    {"{\"a\":-}", false},
    {"{\"a\":- 1}", false},
    {"{\"a\":+1}", false},
    {"{\"a\":1.0}", false},
    {"{\"a\":1e3}", false},
    {"{\"a\":9223372036854775807}", false},
    {"{\"a\":9999999999999999999}", false},
    {"{\"a\":-9223372036854775808}", false},
    {"{\"a\":tru}", false},
    {"{\"a\":truely}", false},
    {"{\"a\":nul", false},
    {"{\"a\":\"b\\n\"}", false},
    {"{\"a\":\"b\n\"}", false},
    {"{\"a\":\"\xff\"}", false},
    {"{\"\xff\":1}", false},
    {"{\"a\":1,\"a\":2}", false},
    {"{\"a\":[]}", false},
    {"{\"a\":{}}", false},
    {"[]", false},
    {"{\"a\":\"b", false},
};

START_TEST (flat_bodies)
{
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const char *text = bodies[i].text;
        ck_assert_msg (is_flat (text, strlen (text)) == bodies[i].flat, "%s",
                       text);
    }
    ck_assert (!is_flat ("{}\0", 3));
    ck_assert (!is_flat ("{\"a\":\"\0\"}", 9));
}
END_TEST

/*  Bytes of these bodies in another order: few are flat, and those are. */
START_TEST (flat_by_chance)
{
    static const char pieces[][8] = {
        "{",    "}",     "\"a\"", "\"b\"", ":",  ",", "1", "-",  "0", " ",
        "true", "false", "null",  "\"\"",  "\\", "[", "]", "\n", ".", "\""};
    lk_rng rng;
    int flat = 0;
    lk_rng_init (&rng, 7);
    for (int i = 0; i < 200000; i++) {
        lk_bytes text = {0};
        lk_bytes_add (&text, "{\"a\":", 5);
        for (uint64_t count = lk_rng_next (&rng) % 8; count > 0; count--) {
            const char *piece = pieces[lk_rng_next (&rng) % 20];
            lk_bytes_add (&text, piece, strlen (piece));
        }
        lk_bytes_add (&text, "}", 1);
        flat += is_flat (text.data, text.size);
        lk_bytes_clear (&text);
    }
    ck_assert_int_gt (flat, 1000);
}
END_TEST

/*  As many fields as it takes, and one more. */
START_TEST (flat_limit)
{
    for (int count = LK_FLAT_MAX; count <= LK_FLAT_MAX + 1; count++) {
        lk_bytes text = {0};
        for (int i = 0; i < count; i++) {
            char field[20];
            snprintf (field, sizeof field, "%c\"f%d\":%d", i ? ',' : '{', i, i);
            lk_bytes_add (&text, field, strlen (field));
        }
        lk_bytes_add (&text, "}", 1);
        ck_assert_int_eq (is_flat (text.data, text.size), count == LK_FLAT_MAX);
        lk_bytes_clear (&text);
    }
}
END_TEST

/*  All questions have one answer, whatever the form. */
START_TEST (same_answers)
{
    static const char text[] =
        "{\"t\":\"x\",\"n\":-7,\"yes\":true,\"no\":false,"
        "\"nil\":null,\"h\":\"00000000000000ff\"}";
    static const char *const all[] = {"t", "n", "yes", "no", "nil", "h", "z"};
    char problem[128];
    const lk_frame_header header = {
        .to = {"lock@h1", 7},
        .from = {"a@h1", 4},
        .command = {"LOCK", 4},
        .body = {text, sizeof text - 1},
        .body_kind = LK_BODY_JSON,
    };
    lk_message *flat = lk_message_read (&header, problem, sizeof problem);
    lk_message *tree = lk_message_read (&header, problem, sizeof problem);
    (void) lk_message_tree (tree);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *name = all[i], *one = lk_message_text (flat, name);
        uint64_t hex[2] = {1, 1};
        ck_assert_pstr_eq (one, lk_message_text (tree, name));
        ck_assert_int_eq (lk_message_number (flat, name, 5),
                          lk_message_number (tree, name, 5));
        ck_assert_int_eq (lk_message_flag (flat, name),
                          lk_message_flag (tree, name));
        ck_assert_int_eq (lk_message_is_flag (flat, name),
                          lk_message_is_flag (tree, name));
        ck_assert_int_eq (lk_message_has (flat, name),
                          lk_message_has (tree, name));
        ck_assert_int_eq (lk_message_hex (flat, name, &hex[0]),
                          lk_message_hex (tree, name, &hex[1]));
        ck_assert_uint_eq (hex[0], hex[1]);
        ck_assert_uint_eq (lk_message_item_count (flat, name), 0);
        ck_assert_ptr_null (lk_message_item (flat, name, 0));
        ck_assert_ptr_null (lk_message_row (flat, name, 0));
    }
    ck_assert_int_eq (flat->form, LK_FORM_FLAT);
    same_body (flat, tree);
    lk_message_destroy (&flat);
    lk_message_destroy (&tree);
}
END_TEST

/*  Texts that were given out are there as long as the message. */
START_TEST (texts_stay)
{
    static const char body[] = "{\"a\":\"text\"}";
    char problem[128];
    const lk_frame_header header = {.to = {"lock@h1", 7},
                                    .from = {"a@h1", 4},
                                    .command = {"LOCK", 4},
                                    .body = {body, sizeof body - 1},
                                    .body_kind = LK_BODY_JSON};
    lk_message *message = lk_message_read (&header, problem, sizeof problem);
    const char *text = lk_message_text (message, "a");
    lk_message_set_number (message, "b", 1);
    ck_assert_str_eq (lk_message_body (message), "{\"a\":\"text\",\"b\":1}");
    ck_assert_str_eq (text, "text");
    lk_message_destroy (&message);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("message_forms");
    tcase_set_timeout (tests, 60);
    tcase_add_test (tests, every_character);
    tcase_add_test (tests, every_two_bytes);
    tcase_add_test (tests, every_number);
    tcase_add_loop_test (tests, written, 0, 4);
    tcase_add_test (tests, many_fields);
    tcase_add_test (tests, read_back);
    tcase_add_test (tests, flat_bodies);
    tcase_add_test (tests, flat_by_chance);
    tcase_add_test (tests, flat_limit);
    tcase_add_test (tests, same_answers);
    tcase_add_test (tests, texts_stay);

    Suite *suite = suite_create ("message_forms");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
