/*  journal_power.c - the power fails amid the writes of a journal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LMDB's writes and syncs are noted. Then, for each place in that, a file is
 *  made as a disk may leave it there: with all that was synced, and of the rest
 *  some sectors and not others. It is whole, and has each record that was said
 *  to be on disk.
 */

#include "journal_file.h"

#include "lib/suite.h"
#include "net/paths.h"
#include "util/alloc.h"
#include "util/rng.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define RECORDS 12
#define NOTES_MAX 2000
#define SECTOR 512
#define VARIANTS 5 /* nothing that is not synced, all of it, or some */

/*  One after the other: a write, what makes those before it stay, or that a
 *  record was said to be on disk. */
typedef struct {
    enum { WRITE, SYNC, SAID } kind;
    off_t at;
    size_t size;
    char *data;
    bool stays; /* WRITE: the descriptor syncs each of its writes */
    uint64_t mark;
} note;

static note notes[NOTES_MAX];
static size_t note_count;
static ino_t watched; /* 0: nothing is noted */

/*  -------------------------------------------------------- what is noted */

static bool
is_watched (int fd)
{
    struct stat status;
    return watched != 0 && fstat (fd, &status) == 0 && status.st_ino == watched;
}

static note *
add_note (void)
{
    ck_assert_uint_lt (note_count, NOTES_MAX);
    return &notes[note_count++];
}

static void
note_write (int fd, const void *data, size_t size, off_t at)
{
    if (is_watched (fd)) {
        *add_note () = (note) {.kind = WRITE,
                               .at = at,
                               .size = size,
                               .data = lk_memdup (data, size),
                               .stays = fcntl (fd, F_GETFL) & O_DSYNC};
    }
}

static int
note_sync (int fd)
{
    if (is_watched (fd)) {
        add_note ()->kind = SYNC;
    }
    return 0;
}

/*  These stand in the place of libc's, for liblmdb, too. */
ssize_t
pwrite (int fd, const void *data, size_t size, off_t at)
{
    note_write (fd, data, size, at);
    return syscall (SYS_pwrite64, fd, data, size, at);
}

ssize_t
writev (int fd, const struct iovec *pieces, int count)
{
    off_t at = lseek (fd, 0, SEEK_CUR);
    for (int i = 0; i < count; i++) {
        note_write (fd, pieces[i].iov_base, pieces[i].iov_len, at);
        at += (off_t) pieces[i].iov_len;
    }
    return syscall (SYS_writev, fd, pieces, count);
}

int
fdatasync (int fd)
{
    return note_sync (fd);
}

int
fsync (int fd)
{
    return note_sync (fd);
}

/*  -------------------------------------------------------- the journal */

static char dir[64], copy_dir[64];
static char path[PATH_MAX], copy_path[PATH_MAX];
static lk_hostmap hostmap;
static lk_problem problem;
static char *base;
static size_t base_size;

static void
make_folder (char *folder, char *file)
{
    snprintf (folder, 64, "/tmp/lk-power.XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (folder));
    snprintf (file, PATH_MAX, "%s/%s", folder, LK_PATH_JOURNAL_FILE);
}

static void
set_up (void)
{
    make_folder (dir, path);
    make_folder (copy_dir, copy_path);
    lk_hostmap_init (&hostmap);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 0xa1), 0);
}

static void
tear_down (void)
{
    watched = 0;
    for (size_t i = 0; i < note_count; i++) {
        lk_free (notes[i].data);
    }
    lk_free (base);
    (void) unlink (path);
    (void) unlink (copy_path);
    (void) rmdir (dir);
    (void) rmdir (copy_dir);
}

/*  Of the record with that number: ten tickets more, one less. */
static void
write_record (lk_journal_file *file, uint64_t number)
{
    lk_ticket tickets[10];
    lk_request_id gone = {.session = 1, .serial = number * 10 - 10};
    lk_record record = {.kind = LK_RECORD_CHANGES,
                        .number = number,
                        .head = {.mark = number},
                        .tickets = tickets,
                        .ticket_count = 10,
                        .gone = &gone,
                        .gone_count = 1};
    for (uint64_t i = 0; i < 10; i++) {
        tickets[i] =
            (lk_ticket) {.request = {.session = 1, .serial = number * 10 + i},
                         .object = {"\0\0name", 6},
                         .token = number};
    }
    lk_journal_batch *batch = lk_journal_batch_new (&record, &hostmap);
    ck_assert_int_eq (lk_journal_file_write (file, batch, &problem), LK_OK);
    lk_journal_batch_destroy (&batch);
}

static void
read_base (void)
{
    struct stat status;
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq (fstat (fd, &status), 0);
    base_size = (size_t) status.st_size;
    base = lk_alloc (base_size);
    ck_assert_int_eq (read (fd, base, base_size), (ssize_t) base_size);
    close (fd);
    watched = status.st_ino;
}

static void
write_all (void)
{
    lk_journal_file *file = lk_journal_file_open (dir, &problem);
    ck_assert_msg (file, "%s", problem.text);
    write_record (file, 1);
    read_base ();
    for (uint64_t number = 2; number <= RECORDS; number++) {
        write_record (file, number);
        *add_note () = (note) {.kind = SAID, .mark = number};
    }
    watched = 0;
    lk_journal_file_destroy (&file);
}

/*  -------------------------------------------------------- after it */

static void
put (int fd, const note *self, lk_rng *rng, int variant)
{
    for (size_t from = 0; from < self->size; from += SECTOR) {
        const size_t size =
            self->size - from < SECTOR ? self->size - from : SECTOR;
        if (variant == 1 || (variant > 1 && lk_rng_between (rng, 0, 1))) {
            (void) !pwrite (fd, self->data + from, size,
                            self->at + (off_t) from);
        }
    }
}

/*  The file that is left if the power fails ahead of that note. */
static void
make_file (size_t end, lk_rng *rng, int variant)
{
    size_t synced = 0;
    int fd = open (copy_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_eq (write (fd, base, base_size), (ssize_t) base_size);
    for (size_t i = 0; i < end; i++) {
        synced = notes[i].kind == SYNC ? i : synced;
    }
    for (size_t i = 0; i < end; i++) {
        if (notes[i].kind == WRITE) {
            put (fd, &notes[i], rng,
                 i < synced || notes[i].stays ? 1 : variant);
        }
    }
    close (fd);
}

static uint64_t
mark_of_file (void)
{
    lk_slice head, releases, row;
    lk_record_head read;
    lk_arena arena;
    uint64_t count = 0;
    lk_journal_file *file = lk_journal_file_open (copy_dir, &problem);
    ck_assert_msg (file, "%s", problem.text);
    lk_arena_init (&arena);
    ck_assert (lk_journal_file_begin (file, &head, &releases));
    ck_assert (lk_record_unpack_head (head, &hostmap, &arena, &read));
    while (lk_journal_file_next (file, &row)) {
        count++;
    }
    lk_arena_clear (&arena);
    lk_journal_file_destroy (&file);
    ck_assert_uint_eq (count, 9 * read.mark + 1);
    return read.mark;
}

START_TEST (whatever_was_said_to_be_there_is)
{
    lk_rng rng;
    uint64_t said = 1;
    write_all ();
    ck_assert_uint_gt (note_count, 3 * RECORDS);
    lk_rng_init (&rng, (uint64_t) getpid ());
    for (size_t end = 0; end <= note_count; end++) {
        if (end > 0 && notes[end - 1].kind == SAID) {
            said = notes[end - 1].mark;
        }
        for (int variant = 0; variant < VARIANTS; variant++) {
            make_file (end, &rng, variant);
            ck_assert_int_eq (lk_journal_file_check (copy_dir, &problem),
                              LK_OK);
            const uint64_t mark = mark_of_file ();
            ck_assert_msg (mark == said || mark == said + 1,
                           "%llu at %zu, of which %llu was said",
                           (unsigned long long) mark, end,
                           (unsigned long long) said);
        }
    }
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("journal_power");
    TCase *tests = tcase_create ("journal_power");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_set_timeout (tests, 120);
    tcase_add_test (tests, whatever_was_said_to_be_there_is);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
