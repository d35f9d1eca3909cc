/*  backup.c - tests of the text that an operator keeps of a cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/backup.h"
#include "lib/suite.h"
#include "util/hash.h"
#include "wire/object_key.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lk_backup backup;
static lk_bytes text;
static lk_arena arena;
static char problem[128];

/*  Of the locks that were read: the last one, and how many. */
static size_t count;
static lk_backup_lock last;
static char last_object[64], last_owner[LK_ADDRESS_LEN_MAX + 1];

static void
take (void *user, const lk_backup_lock *lock)
{
    ck_assert_ptr_eq (user, &count);
    count++;
    last = *lock;
    ck_assert_uint_le (lock->object.size, sizeof last_object);
    memcpy (last_object, lock->object.data, lock->object.size);
    snprintf (last_owner, sizeof last_owner, "%.*s", (int) lock->owner.size,
              (const char *) lock->owner.data);
}

static lk_err
read_back (void)
{
    count = 0;
    return lk_backup_read ((lk_slice) {text.data, text.size}, &arena, &backup,
                           take, &count, problem);
}

static lk_name
name_of (const char *name)
{
    return (lk_name) {name, (uint16_t) strlen (name)};
}

/*  Two members, settings, and so many locks; the last one is static. */
static void
write_example (size_t locks)
{
    char room[64];
    lk_backup_sum sum;
    lk_backup it = {.made_s = 1795000000,
                    .cluster = "demo",
                    .host = "h2",
                    .generation = 3,
                    .term = 70000,
                    .settings = {7, {0x12, 0x34}},
                    .text = name_of ("settings\n    lock = h1\n")};
    lk_hostmap_init (&it.hostmap);
    it.members = LK_HOST_BIT (lk_hostmap_intern (&it.hostmap, "h1", 0x11))
                 | LK_HOST_BIT (lk_hostmap_intern (&it.hostmap, "h2", 0x22));
    text.size = 0;
    lk_backup_write (&sum, &text, &it);
    for (size_t i = 0; i < locks; i++) {
        const lk_backup_lock lock = {
            .object = lk_object_key (NULL, "c", (lk_name) {"a\n\xff", 3}, room,
                                     sizeof room),
            .type = i + 1 == locks ? LK_SEMAPHORE : LK_SHARED,
            .is_static = i + 1 == locks,
            .limit = i + 1 == locks ? 5 : 0,
            .host = name_of ("h1"),
            .owner = name_of ("app.7@h1"),
            .token = ((uint64_t) 1 << 40) + i};
        lk_backup_write_lock (&sum, &text, &lock);
    }
    lk_backup_write_end (&sum, &text);
}

static void
set_up (void)
{
    lk_arena_init (&arena);
    problem[0] = '\0';
}

static void
tear_down (void)
{
    lk_bytes_clear (&text);
    lk_arena_clear (&arena);
}

/*  -------------------------------------------------------- good ones */

START_TEST (round_trip)
{
    write_example (3);
    ck_assert_msg (read_back () == LK_OK, "%s", problem);
    ck_assert_int_eq (backup.made_s, 1795000000);
    ck_assert_str_eq (backup.cluster, "demo");
    ck_assert_str_eq (backup.host, "h2");
    ck_assert_uint_eq (backup.generation, 3);
    ck_assert_uint_eq (backup.term, 70000);
    ck_assert_uint_eq (backup.members, 3);
    ck_assert_uint_eq (lk_hostmap_find (&backup.hostmap, "h2", 0x22), 1);
    ck_assert_uint_eq (backup.settings.version, 7);
    ck_assert_uint_eq (backup.settings.hash[1], 0x34);
    ck_assert_uint_eq (backup.text.size, 23);
    ck_assert_mem_eq (backup.text.data, "settings\n    lock = h1\n", 23);
    ck_assert_uint_eq (count, 3);
    ck_assert_int_eq (last.type, LK_SEMAPHORE);
    ck_assert (last.is_static);
    ck_assert_uint_eq (last.limit, 5);
    ck_assert_uint_eq (last.token, ((uint64_t) 1 << 40) + 2);
    ck_assert_mem_eq (last_object, "\0c\0a\n\xff", 6);
    ck_assert_str_eq (last_owner, "app.7@h1");
}
END_TEST

/*  A cluster of before settings, in which nobody holds anything. */
START_TEST (smallest)
{
    lk_backup_sum sum;
    const lk_backup it = {.cluster = "demo", .host = "h1"};
    lk_backup_write (&sum, &text, &it);
    lk_backup_write_end (&sum, &text);
    ck_assert_msg (read_back () == LK_OK, "%s", problem);
    ck_assert_uint_eq (backup.settings.version, 0);
    ck_assert_uint_eq (count, 0);
}
END_TEST

/*  An operator greps in it. */
START_TEST (a_line_per_lock)
{
    size_t lines = 0;
    write_example (4);
    for (size_t i = 0; i < text.size; i++) {
        lines += text.data[i] == '\n';
    }
    ck_assert_uint_eq (lines, 6);
}
END_TEST

/*  -------------------------------------------------------- others */

static void
is_refused (const char *why)
{
    ck_assert_int_eq (read_back (), LK_INVALID);
    ck_assert_msg (strstr (problem, why) != NULL, "%s", problem);
    ck_assert_uint_eq (count, 0);
}

START_TEST (every_cut)
{
    write_example (2);
    for (size_t size = text.size - 1; size > 0; size--) {
        text.size = size;
        ck_assert_int_eq (read_back (), LK_INVALID);
        ck_assert_uint_eq (count, 0);
    }
}
END_TEST

START_TEST (every_byte)
{
    write_example (2);
    for (size_t i = 0; i < text.size; i++) {
        text.data[i] ^= 1;
        ck_assert_msg (read_back () == LK_INVALID, "byte %zu", i);
        text.data[i] ^= 1;
    }
    ck_assert_int_eq (read_back (), LK_OK);
}
END_TEST

START_TEST (a_line_is_gone)
{
    write_example (2);
    char *line = memchr (text.data, '\n', text.size);
    const char *next = memchr (line + 1, '\n', 4096);
    const size_t size = (size_t) (next - line);
    memmove (line, next, text.size - (size_t) (next - text.data));
    text.size -= size;
    is_refused ("it was cut off, or changed");
}
END_TEST

START_TEST (no_backup)
{
    static const char *const others[] = {
        "",     "settings\n    lock = h1\n",      "{\"format\":1}\n", "{}",
        "[]\n", "{\"lockkeeper_backup\":\"1\"}\n"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        text.size = 0;
        lk_bytes_add (&text, others[i], strlen (others[i]));
        is_refused ("it is no backup of lockkeeper");
    }
}
END_TEST

/*  Of a lockkeeper to come: that is said, whatever else is in it. */
START_TEST (another_version)
{
    static const char other[] = "{\"lockkeeper_backup\":2,\"new\":true}\n";
    lk_bytes_add (&text, other, sizeof other - 1);
    is_refused ("it has format 2");
}
END_TEST

/*  Well summed up, and no sense in it. */
static const char *const broken[][2] = {
    {"\"term\":70000", "\"term\":9999999"},
    {"\"cluster\":\"demo\"", "\"cluster\":\"\""},
    {"\"host\":\"h2\"", "\"host\":7"},
    {"\"made\":1795000000", "\"made\":-1"},
    {"h1:0000000000000011", "h1:11"},
    {"\"version\":7", "\"version\":0"}};

START_TEST (senseless)
{
    lk_bytes whole = {0};
    lk_backup_sum sum = {.locks = 0};
    write_example (0);
    lk_bytes_add (&text, "", 1); /* for strstr () */
    text.size--;
    const char *end = memchr (text.data, '\n', text.size);
    const char *at = strstr (text.data, broken[_i][0]);
    ck_assert_msg (at != NULL && at < end, "%s", broken[_i][0]);
    const char *behind = at + strlen (broken[_i][0]);
    lk_bytes_add (&whole, text.data, (size_t) (at - text.data));
    lk_bytes_add (&whole, broken[_i][1], strlen (broken[_i][1]));
    lk_bytes_add (&whole, behind, (size_t) (end + 1 - behind));
    sum.check = lk_hash_mix (0, lk_checksum64 (whole.data, whole.size));
    lk_backup_write_end (&sum, &whole);
    lk_bytes_clear (&text);
    text = whole;
    is_refused ("line 1: ");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("backup");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, round_trip);
    tcase_add_test (tests, smallest);
    tcase_add_test (tests, a_line_per_lock);
    tcase_add_test (tests, every_cut);
    tcase_add_test (tests, every_byte);
    tcase_add_test (tests, a_line_is_gone);
    tcase_add_test (tests, no_backup);
    tcase_add_test (tests, another_version);
    tcase_add_loop_test (tests, senseless, 0, sizeof broken / sizeof broken[0]);
    Suite *suite = suite_create ("backup");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
