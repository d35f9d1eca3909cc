/*  journal_file.c - tests of a leader's table in an LMDB file
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "journal.h"

#include "lib/suite.h"
#include "net/paths.h"
#include "util/alloc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY 200

static char dir[64];
static char path[PATH_MAX];
static lk_hostmap hostmap;
static lk_arena arena;
static lk_problem problem;
static lk_journal_file *file;
static uint64_t number;

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-journal.XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/%s", dir, LK_PATH_JOURNAL_FILE);
    lk_hostmap_init (&hostmap);
    lk_arena_init (&arena);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 0xa1), 0);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h2", 0xa2), 1);
    file = lk_journal_file_open (dir, &problem);
    ck_assert_msg (file, "%s", problem.text);
}

static void
tear_down (void)
{
    char aside[PATH_MAX + 16];
    lk_journal_file_destroy (&file);
    lk_arena_clear (&arena);
    snprintf (aside, sizeof aside, "%s.damaged", path);
    (void) unlink (aside);
    (void) unlink (path);
    (void) rmdir (dir);
}

/*  -------------------------------------------------------- records */

static lk_request_id
request_of (uint64_t serial)
{
    return (lk_request_id) {.host = 1, .session = 3, .serial = serial};
}

static lk_ticket
ticket_of (uint64_t serial)
{
    return (lk_ticket) {.request = request_of (serial),
                        .object = {"\0\0x", 3},
                        .owner = {"app@h2", 6},
                        .pid = 17,
                        .number = serial,
                        .token = serial + 1,
                        .key = serial + 2,
                        .mode = {.type = LK_SEMAPHORE, .limit = 3},
                        .ordinal = 2,
                        .kept = serial % 2 == 0};
}

static lk_record_head
head_of (uint64_t mark)
{
    lk_record_head head = {.decree = {.term = {.number = 5, .proposer = 0xa1},
                                      .members = 3,
                                      .leader_count = 2,
                                      .leader = {1, 0}},
                           .reclaim = 2,
                           .mark = mark,
                           .late = true};
    head.sequence[1] = 7;
    head.hash[1] = 8;
    head.gone[1] = 2;
    return head;
}

static void
write_record (lk_record *record)
{
    record->number = ++number;
    lk_journal_batch *batch = lk_journal_batch_new (record, &hostmap);
    ck_assert_msg (lk_journal_file_write (file, batch, &problem) == LK_OK, "%s",
                   problem.text);
    lk_journal_batch_destroy (&batch);
}

static void
write_part (bool first, uint64_t from, uint64_t count)
{
    lk_ticket tickets[MANY];
    for (uint64_t i = 0; i < count; i++) {
        tickets[i] = ticket_of (from + i);
    }
    write_record (&(lk_record) {.kind = LK_RECORD_PART,
                                .first = first,
                                .tickets = tickets,
                                .ticket_count = count});
}

static void
write_whole (uint64_t mark)
{
    write_record (
        &(lk_record) {.kind = LK_RECORD_WHOLE, .head = head_of (mark)});
}

/*  -------------------------------------------------------- what is read */

static lk_record_head head;
static uint64_t serials[MANY];

/*  How many tickets it has; SIZE_MAX: there is no table. */
static size_t
read_back (void)
{
    lk_slice bytes, releases, row;
    lk_ticket ticket;
    size_t count = 0;
    if (!lk_journal_file_begin (file, &bytes, &releases)) {
        return SIZE_MAX;
    }
    ck_assert (lk_record_unpack_head (bytes, &hostmap, &arena, &head));
    ck_assert (
        releases.size == 0
        || lk_record_unpack_releases (releases, &hostmap, &arena, &head));
    while (lk_journal_file_next (file, &row)) {
        ck_assert (lk_record_unpack_ticket (row, &hostmap, &arena, &ticket));
        serials[count++] = ticket.request.serial;
    }
    lk_journal_file_end (file);
    return count;
}

static void
open_again (void)
{
    lk_journal_file_destroy (&file);
    file = lk_journal_file_open (dir, &problem);
    ck_assert_msg (file, "%s", problem.text);
}

START_TEST (a_new_one_has_no_table)
{
    ck_assert_uint_eq (read_back (), SIZE_MAX);
    ck_assert_uint_eq (lk_journal_file_owner (file).id, 0);
}
END_TEST

START_TEST (all_of_a_ticket_is_kept)
{
    const lk_ticket want = ticket_of (4);
    lk_slice bytes, releases, row;
    lk_ticket ticket;
    lk_hostmap others;
    write_part (true, 4, 1);
    write_whole (1);
    ck_assert (lk_journal_file_begin (file, &bytes, &releases));
    ck_assert (lk_journal_file_next (file, &row));
    lk_hostmap_init (&others); /* another process has other numbers */
    ck_assert_uint_eq (lk_hostmap_intern (&others, "h9", 0xa9), 0);
    ck_assert (lk_record_unpack_ticket (row, &others, &arena, &ticket));
    ck_assert_str_eq (lk_hostmap_name (&others, ticket.request.host), "h2");
    ck_assert_uint_eq (lk_hostmap_id (&others, ticket.request.host), 0xa2);
    ck_assert_uint_eq (ticket.request.session, 3);
    ck_assert_uint_eq (ticket.request.serial, 4);
    ck_assert_uint_eq (ticket.object.size, 3);
    ck_assert_uint_eq (ticket.owner.size, 6);
    ck_assert_uint_eq (ticket.pid, 17);
    ck_assert_uint_eq (ticket.number, want.number);
    ck_assert_uint_eq (ticket.token, want.token);
    ck_assert_uint_eq (ticket.key, want.key);
    ck_assert_uint_eq (ticket.mode.limit, 3);
    ck_assert_int_eq (ticket.mode.type, LK_SEMAPHORE);
    ck_assert_uint_eq (ticket.ordinal, 2);
    ck_assert (ticket.kept);
    lk_journal_file_end (file);
}
END_TEST

START_TEST (all_of_a_head_is_kept)
{
    lk_record_head want = head_of (99);
    lk_release releases[2] = {{.by = request_of (1), .up_to = 5},
                              {.by = request_of (2)}};
    want.releases = releases;
    want.release_count = 2;
    write_part (true, 0, 0);
    write_record (&(lk_record) {.kind = LK_RECORD_WHOLE, .head = want});
    write_record (
        &(lk_record) {.kind = LK_RECORD_CHANGES, .head = head_of (98)});
    open_again ();
    ck_assert_uint_eq (read_back (), 0);
    ck_assert_uint_eq (head.decree.term.number, 5);
    ck_assert_uint_eq (head.decree.leader_count, 2);
    ck_assert_uint_eq (head.decree.leader[0], 1);
    ck_assert_uint_eq (head.reclaim, 2);
    ck_assert_uint_eq (head.sequence[1], 7);
    ck_assert_uint_eq (head.hash[1], 8);
    ck_assert_uint_eq (head.gone[1], 2);
    ck_assert_uint_eq (head.mark, 98);
    ck_assert (head.late);
    ck_assert_uint_eq (head.release_count, 2);
    ck_assert_uint_eq (head.releases[0].up_to, 5);
}
END_TEST

START_TEST (changes_change_it)
{
    lk_ticket changed[2] = {ticket_of (1), ticket_of (9)};
    lk_request_id gone[2] = {request_of (0), request_of (77)};
    write_part (true, 0, 3);
    write_whole (1);
    write_record (&(lk_record) {.kind = LK_RECORD_CHANGES,
                                .head = head_of (2),
                                .tickets = changed,
                                .ticket_count = 2,
                                .gone = gone,
                                .gone_count = 2});
    ck_assert_uint_eq (read_back (), 3);
    ck_assert_uint_eq (serials[0], 1);
    ck_assert_uint_eq (serials[1], 2);
    ck_assert_uint_eq (serials[2], 9);
}
END_TEST

/*  Until all of it is there the former one counts; what began and was given up
 *  is no part of the next one. */
START_TEST (another_table_takes_its_place_at_once)
{
    write_part (true, 0, 3);
    write_whole (1);
    write_part (true, 50, 20);
    write_part (true, 10, 4);
    write_part (false, 20, 4);
    open_again ();
    ck_assert_uint_eq (read_back (), 3);
    write_part (true, 10, 4);
    write_part (false, 20, 4);
    write_whole (2);
    open_again ();
    ck_assert_uint_eq (read_back (), 8);
    ck_assert_uint_eq (head.mark, 2);
    ck_assert_uint_eq (serials[7], 23);
}
END_TEST

/*  The former one is gone amid that. */
START_TEST (one_that_comes_stays_without_the_former)
{
    write_part (true, 0, 3);
    write_whole (1);
    write_part (true, 10, 4);
    write_record (&(lk_record) {.kind = LK_RECORD_NONE});
    open_again ();
    ck_assert_uint_eq (read_back (), 0);
    ck_assert_uint_eq (head.decree.leader_count, 0);
    write_part (false, 20, 4);
    write_whole (2);
    ck_assert_uint_eq (read_back (), 8);
}
END_TEST

START_TEST (it_knows_whose_it_is)
{
    const lk_journal_owner owner = {.id = 0xabc, .opened = 5};
    ck_assert_int_eq (lk_journal_file_own (file, owner, &problem), LK_OK);
    open_again ();
    ck_assert_uint_eq (lk_journal_file_owner (file).id, 0xabc);
    ck_assert_uint_eq (lk_journal_file_owner (file).opened, 5);
}
END_TEST

/*  -------------------------------------------------------- damage */

static off_t
size_now (void)
{
    struct stat status;
    ck_assert_int_eq (stat (path, &status), 0);
    return status.st_size;
}

static unsigned char
change_byte (off_t at, unsigned char bits)
{
    unsigned char byte;
    int fd = open (path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge (fd, 0);
    ck_assert_int_eq (pread (fd, &byte, 1, at), 1);
    const unsigned char changed = byte ^ bits;
    ck_assert_int_eq (pwrite (fd, &changed, 1, at), 1);
    close (fd);
    return byte;
}

static lk_err
check (void)
{
    return lk_journal_file_check (dir, &problem);
}

/*  The file's contents, after a check that found nothing. */
static bool
says_the_same (void)
{
    open_again ();
    const bool same = read_back () == MANY && head.mark == 1;
    lk_journal_file_destroy (&file);
    return same;
}

START_TEST (a_whole_one_is_fine)
{
    write_part (true, 0, MANY);
    write_whole (1);
    ck_assert_int_eq (check (), LK_OK);
    lk_journal_file_destroy (&file);
    ck_assert_int_eq (lk_journal_file_remove (dir, &problem), LK_OK);
    ck_assert_int_eq (check (), LK_OK);
    ck_assert_int_eq (lk_journal_file_remove (dir, &problem), LK_OK);
}
END_TEST

/*  A bit anywhere: it is found, or it is in nothing that is read. */
START_TEST (a_flipped_bit_is_found)
{
    size_t found = 0;
    write_part (true, 0, MANY);
    write_whole (1);
    lk_journal_file_destroy (&file);
    const off_t size = size_now ();
    for (off_t at = 0; at < size; at += 211) {
        const unsigned char bits = (unsigned char) (1u << at % 8);
        (void) change_byte (at, bits);
        if (check () == LK_INVALID) {
            found++;
        } else {
            ck_assert_msg (says_the_same (), "byte %lld", (long long) at);
            ck_assert_int_eq (size_now (), size);
        }
        (void) change_byte (at, bits);
    }
    ck_assert_uint_gt (found, 50);
    ck_assert_int_eq (check (), LK_OK);
}
END_TEST

START_TEST (a_page_of_zeroes_is_found)
{
    static const char zeroes[4096];
    size_t found = 0;
    write_part (true, 0, MANY);
    write_whole (1);
    lk_journal_file_destroy (&file);
    const off_t size = size_now ();
    for (off_t at = 0; at < size; at += 4096) {
        char page[4096];
        int fd = open (path, O_RDWR | O_CLOEXEC);
        ck_assert_int_eq (pread (fd, page, sizeof page, at), sizeof page);
        ck_assert_int_eq (pwrite (fd, zeroes, sizeof zeroes, at), 4096);
        found += check () == LK_INVALID;
        ck_assert_int_eq (pwrite (fd, page, sizeof page, at), 4096);
        close (fd);
    }
    ck_assert_uint_gt (found, 5);
    ck_assert_int_eq (check (), LK_OK);
}
END_TEST

START_TEST (one_that_was_cut_short_is_found)
{
    write_part (true, 0, MANY);
    write_whole (1);
    lk_journal_file_destroy (&file);
    ck_assert_int_eq (truncate (path, size_now () / 8192 * 4096), 0);
    ck_assert_int_eq (check (), LK_INVALID);
    ck_assert_int_eq (lk_journal_file_put_aside (dir, &problem), LK_OK);
    ck_assert_int_eq (access (path, F_OK), -1);
}
END_TEST

/*  -------------------------------------------------------- the thread */

START_TEST (a_thread_writes_all_in_turn)
{
    lk_journal *journal = lk_journal_new (&file, &problem);
    ck_assert_ptr_nonnull (journal);
    ck_assert_ptr_null (file);
    for (uint64_t serial = 1; serial <= MANY; serial++) {
        lk_ticket ticket = ticket_of (serial);
        const lk_record record = {.kind = LK_RECORD_CHANGES,
                                  .number = serial,
                                  .head = head_of (serial),
                                  .tickets = &ticket,
                                  .ticket_count = 1};
        lk_journal_batch *batch = lk_journal_batch_new (&record, &hostmap);
        lk_journal_put (journal, &batch);
        ck_assert_ptr_null (batch);
    }
    uint64_t done = 0;
    for (int tries = 0; done < MANY && tries < 5000; tries++) {
        ck_assert_int_eq (lk_journal_take (journal, &done, &problem), LK_OK);
        usleep (1000);
    }
    ck_assert_uint_eq (done, MANY);
    lk_journal_destroy (&journal);
    file = lk_journal_file_open (dir, &problem);
    ck_assert_uint_eq (read_back (), MANY);
    ck_assert_uint_eq (head.mark, MANY);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("journal_file");
    TCase *tests = tcase_create ("journal_file");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_set_timeout (tests, 60);
    tcase_add_test (tests, a_new_one_has_no_table);
    tcase_add_test (tests, all_of_a_ticket_is_kept);
    tcase_add_test (tests, all_of_a_head_is_kept);
    tcase_add_test (tests, changes_change_it);
    tcase_add_test (tests, another_table_takes_its_place_at_once);
    tcase_add_test (tests, one_that_comes_stays_without_the_former);
    tcase_add_test (tests, it_knows_whose_it_is);
    tcase_add_test (tests, a_whole_one_is_fine);
    tcase_add_test (tests, a_flipped_bit_is_found);
    tcase_add_test (tests, a_page_of_zeroes_is_found);
    tcase_add_test (tests, one_that_was_cut_short_is_found);
    tcase_add_test (tests, a_thread_writes_all_in_turn);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
