/*  cli_columns.c - tables for people: what fits, what is cut, what is escaped
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

/*  In no library. */
#include "../../src/cli/columns.c"
#include "../../src/cli/terminal.c"

#include "lib/suite.h"

#include <check.h>

#define OUTPUT_SIZE 100000

enum { HOST, PID, KIND, NAME, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [HOST] = {.head = "HOST", .width = 6},
    [PID] = {.head = "PID", .width = 5, .right = true},
    [KIND] = {.head = "KIND", .width = 4, .from = 30, .whole = true},
    [NAME] = {.head = "NAME"}};

static lk_columns *table;
static char path[] = "/tmp/cli_columns.XXXXXX";

static void
begin (int width)
{
    const int file = mkstemp (path);
    ck_assert_int_ge (file, 0);
    close (file);
    ck_assert_ptr_nonnull (freopen (path, "w", stdout));
    table = lk_columns_new (columns, COLUMNS, width);
}

static void
add (const char *host, int64_t pid, const char *kind, const char *name)
{
    lk_columns_add (table);
    lk_columns_set (table, HOST, host);
    lk_columns_set_number (table, PID, pid);
    lk_columns_set (table, KIND, kind);
    lk_columns_set (table, NAME, name);
}

/*  All that was printed; of the test that ends. */
static char *
printed (void)
{
    static char text[OUTPUT_SIZE];
    ck_assert_int_eq (fflush (stdout), 0);
    FILE *file = fopen (path, "r");
    ck_assert_ptr_nonnull (file);
    text[fread (text, 1, sizeof text - 1, file)] = '\0';
    fclose (file);
    return text;
}

static void
prints (const char *expected)
{
    lk_columns_print (table);
    lk_columns_destroy (&table);
    ck_assert_str_eq (printed (), expected);
    ck_assert_int_eq (unlink (path), 0);
}

START_TEST (columns_are_as_wide_as_they_say)
{
    begin (LK_WIDTH_ANY);
    add ("h1", 7, "x", "shop");
    prints ("HOST     PID KIND NAME\n"
            "h1         7 x    shop\n");
}
END_TEST

START_TEST (in_a_file_nothing_is_cut)
{
    begin (LK_WIDTH_ANY);
    add ("h1", 7, "x", "shop");
    add ("a-long-host", 1234567, "exclusive", "a name that is longer than all");
    prints ("HOST            PID KIND      NAME\n"
            "h1                7 x         shop\n"
            "a-long-host 1234567 exclusive a name that is longer than all\n");
}
END_TEST

START_TEST (a_terminal_has_lines_that_fit)
{
    begin (30);
    add ("h1", 7, "soft", "shop");
    add ("a-long-host", 8, "x", "a name that is longer than all");
    prints ("HOST     PID KIND NAME\n"
            "h1         7 soft shop\n"
            "a-l...     8 x    a name th...\n");
}
END_TEST

START_TEST (numbers_and_what_is_whole_are_not_cut)
{
    begin (40);
    add ("h1", 12345678, "exclusive,soft", "shopshopshop");
    prints ("HOST        PID KIND           NAME\n"
            "h1     12345678 exclusive,soft shopsh...\n");
}
END_TEST

START_TEST (a_narrow_terminal_has_fewer_columns)
{
    begin (20);
    add ("h1", 7, "x", "shop floor");
    prints ("HOST     PID NAME\n"
            "h1         7 shop...\n");
}
END_TEST

/*  Neither library nor terminal takes it for more than a text; it is escaped
 *  once. */
START_TEST (names_of_others_break_nothing)
{
    begin (LK_WIDTH_ANY);
    add ("h\n1", 7, "\033[2J", "a\tb\033]0;x\007\233");
    add ("\\x1b", 8, "%s", "\\x1b[31m");
    prints ("HOST     PID KIND    NAME\n"
            "h\\x0a1     7 \\x1b[2J a\\x09b\\x1b]0;x\\x07\\x9b\n"
            "\\x1b       8 %s      \\x1b[31m\n");
}
END_TEST

START_TEST (so_do_bytes_that_are_no_text)
{
    begin (LK_WIDTH_ANY);
    add ("h1", 7, "x", "");
    lk_columns_set_bytes (table, NAME, "a\0b\xff", 4);
    prints ("HOST     PID KIND NAME\n"
            "h1         7 x    a\\x00b\\xff\n");
}
END_TEST

/*  In cells of the screen, not in bytes, whatever the locale is. */
START_TEST (letters_of_other_alphabets_are_one_wide)
{
    begin (LK_WIDTH_ANY);
    add ("zürich", 7, "x", "größe");
    add ("h1", 8, "x", "日本");
    prints ("HOST     PID KIND NAME\n"
            "zürich     7 x    größe\n"
            "h1         8 x    日本\n");
}
END_TEST

static void
print_place (void *user, size_t row)
{
    printf ("  %s %zu\n", (const char *) user, row);
}

START_TEST (lines_of_ones_own_stand_between)
{
    begin (LK_WIDTH_ANY);
    add ("h1", 7, "x", "shop");
    add ("h2", 8, "x", "shop");
    lk_columns_print_with (table, print_place, (void *) "row");
    prints ("HOST     PID KIND NAME\n"
            "h1         7 x    shop\n"
            "  row 0\n"
            "h2         8 x    shop\n"
            "  row 1\n");
}
END_TEST

START_TEST (without_rows_there_are_no_heads)
{
    begin (LK_WIDTH_ANY);
    prints ("");
}
END_TEST

START_TEST (cells_may_be_empty)
{
    begin (LK_WIDTH_ANY);
    lk_columns_add (table);
    lk_columns_set (table, KIND, "x");
    lk_columns_add (table);
    lk_columns_set (table, HOST, "h1 ");
    lk_columns_set (table, NAME, "ends with blanks  ");
    prints ("HOST     PID KIND NAME\n"
            "             x\n"
            "h1                ends with blanks  \n");
}
END_TEST

/*  Its first rows are printed early; columns stay where they are. */
START_TEST (a_long_table_has_heads_once)
{
    begin (LK_WIDTH_ANY);
    add ("a-long-host", 7, "x", "first");
    for (int i = 0; i < 2 * BLOCK; i++) {
        add ("h1", i, "x", "more");
    }
    lk_columns_print (table);
    lk_columns_destroy (&table);
    size_t lines = 0;
    char *rest = printed ();
    for (char *line; (line = strsep (&rest, "\n")) != NULL && *line != '\0';) {
        ck_assert_str_eq (
            strrchr (line, ' ') - 22 == line ? strrchr (line, ' ') + 1 : line,
            lines == 0   ? "NAME"
            : lines == 1 ? "first"
                         : "more");
        lines++;
    }
    ck_assert_uint_eq (lines, 2 * BLOCK + 2);
    ck_assert_int_eq (unlink (path), 0);
}
END_TEST

START_TEST (a_table_may_have_no_heads)
{
    static const lk_column two[] = {{.width = 4, .whole = true},
                                    {.whole = true}};
    begin (20);
    lk_columns_destroy (&table);
    table = lk_columns_new (two, 2, 20);
    lk_columns_add (table);
    lk_columns_set (table, 0, "h1");
    lk_columns_set (table, 1, "as long as it may be, and longer");
    prints ("h1   as long as it may be, and longer\n");
}
END_TEST

START_TEST (numbers_may_be_last)
{
    static const lk_column two[] = {{.head = "HOST", .whole = true},
                                    {.head = "GOT", .width = 8, .right = true}};
    begin (80);
    lk_columns_destroy (&table);
    table = lk_columns_new (two, 2, 80);
    lk_columns_add (table);
    lk_columns_set (table, 0, "h1");
    lk_columns_set_number (table, 1, 7);
    prints ("HOST      GOT\n"
            "h1          7\n");
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("cli_columns");
    TCase *tests = tcase_create ("columns");
    tcase_add_test (tests, columns_are_as_wide_as_they_say);
    tcase_add_test (tests, in_a_file_nothing_is_cut);
    tcase_add_test (tests, a_terminal_has_lines_that_fit);
    tcase_add_test (tests, numbers_and_what_is_whole_are_not_cut);
    tcase_add_test (tests, a_narrow_terminal_has_fewer_columns);
    tcase_add_test (tests, names_of_others_break_nothing);
    tcase_add_test (tests, so_do_bytes_that_are_no_text);
    tcase_add_test (tests, letters_of_other_alphabets_are_one_wide);
    tcase_add_test (tests, lines_of_ones_own_stand_between);
    tcase_add_test (tests, without_rows_there_are_no_heads);
    tcase_add_test (tests, cells_may_be_empty);
    tcase_add_test (tests, a_long_table_has_heads_once);
    tcase_add_test (tests, a_table_may_have_no_heads);
    tcase_add_test (tests, numbers_may_be_last);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
