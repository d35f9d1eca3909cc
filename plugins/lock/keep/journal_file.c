/*  journal_file.c - the table of a leader in an LMDB file
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "journal_file.h"

#include "net/paths.h"
#include "util/alloc.h"
#include "util/hash.h"

#include <errno.h>
#include <limits.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*  Of addresses; the file is as it is. */
#define MAP_SIZE ((size_t) 1 << (sizeof (size_t) > 4 ? 34 : 30))
#define DATABASES 3
#define CHECK_S 300 /* a child process may take, for one that is large */

enum { META, TABLE }; /* and the other table */

static const char *const names[DATABASES] = {"meta", "table0", "table1"};

/*  Keys of META. */
static const char owner_key[] = "owner";
static const char head_key[] = "head";
static const char releases_key[] = "releases";

struct lk_journal_file {
    MDB_env *env;
    MDB_dbi dbi[DATABASES];
    int now; /* which table counts: 0 or 1 */
    lk_journal_owner owner;
    lk_bytes value; /* that is written */
    MDB_txn *reading;
    MDB_cursor *cursor;
};

/*  -------------------------------------------------------- problems */

static lk_err
explain (int code, lk_problem *problem)
{
    return lk_problem_set (problem, LK_SYSTEM,
                           "cannot write to the journal: %s",
                           mdb_strerror (code));
}

static void
make_path (char path[PATH_MAX], const char *dir, const char *more)
{
    snprintf (path, PATH_MAX, "%s/%s%s", dir, LK_PATH_JOURNAL_FILE, more);
}

/*  -------------------------------------------------------- values */

#define SUM_SIZE 8

static uint64_t
sum_of (int database, const MDB_val *key, const char *data, size_t size)
{
    uint64_t sum = lk_hash_mix ((uint64_t) database + 1,
                                lk_checksum64 (key->mv_data, key->mv_size));
    return lk_hash_mix (sum, lk_checksum64 (data, size));
}

/*  NULL: it is damaged. */
static const char *
checked (int database, const MDB_val *key, const MDB_val *value)
{
    const char *data = value->mv_data;
    if (value->mv_size < SUM_SIZE
        || lk_bytes_get64 (data)
               != sum_of (database, key, data + SUM_SIZE,
                          value->mv_size - SUM_SIZE)) {
        return NULL;
    }
    return data + SUM_SIZE;
}

static int
put (lk_journal_file *self, MDB_txn *txn, int database, MDB_val key,
     const char *data, size_t size)
{
    self->value.size = 0;
    char *place = lk_bytes_grow (&self->value, SUM_SIZE);
    lk_bytes_put64 (place, sum_of (database, &key, data, size));
    lk_bytes_add (&self->value, data, size);
    MDB_val value = {self->value.size, self->value.data};
    return mdb_put (txn, self->dbi[database], &key, &value, 0);
}

static MDB_val
key_of (const char *word)
{
    return (MDB_val) {strlen (word), (void *) word};
}

/*  Empty if it is not there, or damaged. */
static lk_slice
get (const lk_journal_file *self, MDB_txn *txn, const char *word)
{
    MDB_val key = key_of (word);
    MDB_val value;
    const char *data = NULL;
    if (mdb_get (txn, self->dbi[META], &key, &value) == 0) {
        data = checked (META, &key, &value);
    }
    return data ? (lk_slice) {data, value.mv_size - SUM_SIZE} : (lk_slice) {0};
}

/*  -------------------------------------------------------- opening */

static int
open_databases (lk_journal_file *self, MDB_txn *txn, unsigned flags)
{
    int code = 0;
    for (int i = 0; code == 0 && i < DATABASES; i++) {
        code = mdb_dbi_open (txn, names[i], flags, &self->dbi[i]);
    }
    return code;
}

static void
read_meta (lk_journal_file *self, MDB_txn *txn)
{
    const lk_slice owner = get (self, txn, owner_key);
    const lk_slice head = get (self, txn, head_key);
    if (owner.size == 16) {
        self->owner.id = lk_bytes_get64 (owner.data);
        self->owner.opened = lk_bytes_get64 (owner.data + 8);
    }
    self->now = head.size > 0 && head.data[0] == 1;
}

static int
open_all (lk_journal_file *self, const char *path, bool to_check)
{
    const unsigned flags =
        MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS | (to_check ? MDB_RDONLY : 0);
    MDB_txn *txn = NULL;
    int code = mdb_env_create (&self->env);
    code = code ? code : mdb_env_set_mapsize (self->env, MAP_SIZE);
    code = code ? code : mdb_env_set_maxdbs (self->env, DATABASES);
    code = code ? code : mdb_env_open (self->env, path, flags, 0600);
    code =
        code ? code
             : mdb_txn_begin (self->env, NULL, to_check ? MDB_RDONLY : 0, &txn);
    if (code != 0) {
        return code;
    }
    code = open_databases (self, txn, to_check ? 0 : MDB_CREATE);
    if (code != 0) {
        mdb_txn_abort (txn);
        return code;
    }
    read_meta (self, txn);
    return mdb_txn_commit (txn);
}

/*  A file that root makes there belongs to the folder's owner. */
static void
hand_over (const char *dir, const char *path)
{
    struct stat folder;
    if (geteuid () == 0 && stat (dir, &folder) == 0) {
        (void) !lchown (path, folder.st_uid, folder.st_gid);
    }
}

lk_journal_file *
lk_journal_file_open (const char *dir, lk_problem *problem)
{
    lk_journal_file *self = lk_alloc (sizeof *self);
    char path[PATH_MAX];
    make_path (path, dir, "");
    const int code = open_all (self, path, false);
    if (code != 0) {
        (void) lk_problem_set (problem, LK_SYSTEM, "cannot open '%s': %s", path,
                               mdb_strerror (code));
        lk_journal_file_destroy (&self);
    } else {
        hand_over (dir, path);
    }
    return self;
}

void
lk_journal_file_destroy (lk_journal_file **self_p)
{
    lk_journal_file *self = *self_p;
    if (!self) {
        return;
    }
    lk_journal_file_end (self);
    mdb_env_close (self->env);
    lk_bytes_clear (&self->value);
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- writing */

lk_journal_owner
lk_journal_file_owner (const lk_journal_file *self)
{
    return self->owner;
}

static lk_err
commit (MDB_txn *txn, int code, lk_problem *problem)
{
    if (code == 0) {
        code = mdb_txn_commit (txn);
    } else {
        mdb_txn_abort (txn);
    }
    return code == 0 ? LK_OK : explain (code, problem);
}

lk_err
lk_journal_file_own (lk_journal_file *self, lk_journal_owner owner,
                     lk_problem *problem)
{
    MDB_txn *txn;
    char bytes[16];
    int code = mdb_txn_begin (self->env, NULL, 0, &txn);
    if (code != 0) {
        return explain (code, problem);
    }
    lk_bytes_put64 (bytes, owner.id);
    lk_bytes_put64 (bytes + 8, owner.opened);
    code = put (self, txn, META, key_of (owner_key), bytes, sizeof bytes);
    self->owner = owner;
    return commit (txn, code, problem);
}

static int
write_row (lk_journal_file *self, MDB_txn *txn, int database,
           const lk_journal_batch *batch, const lk_journal_row *row)
{
    MDB_val key = {sizeof row->key, (void *) row->key};
    if (row->value.size > 0) {
        return put (self, txn, database, key, batch->data.data + row->value.at,
                    row->value.size);
    }
    const int code = mdb_del (txn, self->dbi[database], &key, NULL);
    return code == MDB_NOTFOUND ? 0 : code;
}

/*  With it, which table counts. */
static int
write_head (lk_journal_file *self, MDB_txn *txn, const lk_journal_batch *batch)
{
    lk_bytes bytes = {0};
    *lk_bytes_grow (&bytes, 1) = (char) self->now;
    lk_bytes_add (&bytes, batch->data.data + batch->head.at, batch->head.size);
    int code = put (self, txn, META, key_of (head_key), bytes.data, bytes.size);
    lk_bytes_clear (&bytes);
    if (code == 0 && batch->releases.size > 0) {
        code =
            put (self, txn, META, key_of (releases_key),
                 batch->data.data + batch->releases.at, batch->releases.size);
    }
    return code;
}

static int
write_one (lk_journal_file *self, MDB_txn *txn, const lk_journal_batch *batch)
{
    const int incoming = TABLE + !self->now;
    int code = 0;
    if (batch->kind == LK_RECORD_PART && batch->first) {
        code = mdb_drop (txn, self->dbi[incoming], 0);
    } else if (batch->kind == LK_RECORD_WHOLE) {
        code = mdb_drop (txn, self->dbi[TABLE + self->now], 0);
        self->now = !self->now;
    } else if (batch->kind == LK_RECORD_NONE) {
        code = mdb_drop (txn, self->dbi[TABLE + self->now], 0);
    }
    const int database =
        batch->kind == LK_RECORD_PART ? incoming : TABLE + self->now;
    for (size_t i = 0; code == 0 && i < batch->row_count; i++) {
        code = write_row (self, txn, database, batch, &batch->rows[i]);
    }
    return code == 0 && batch->head.size > 0 ? write_head (self, txn, batch)
                                             : code;
}

lk_err
lk_journal_file_write (lk_journal_file *self, const lk_journal_batch *batches,
                       lk_problem *problem)
{
    MDB_txn *txn;
    int code = mdb_txn_begin (self->env, NULL, 0, &txn);
    if (code != 0) {
        return explain (code, problem);
    }
    for (; code == 0 && batches; batches = batches->next) {
        code = write_one (self, txn, batches);
    }
    return commit (txn, code, problem);
}

/*  -------------------------------------------------------- reading */

bool
lk_journal_file_begin (lk_journal_file *self, lk_slice *head,
                       lk_slice *releases)
{
    lk_journal_file_end (self);
    if (mdb_txn_begin (self->env, NULL, MDB_RDONLY, &self->reading) != 0) {
        self->reading = NULL;
        return false;
    }
    *head = get (self, self->reading, head_key);
    *releases = get (self, self->reading, releases_key);
    if (head->size == 0
        || mdb_cursor_open (self->reading, self->dbi[TABLE + self->now],
                            &self->cursor)
               != 0) {
        lk_journal_file_end (self);
        return false;
    }
    head->data++; /* which table counts */
    head->size--;
    return true;
}

bool
lk_journal_file_next (lk_journal_file *self, lk_slice *ticket)
{
    MDB_val key;
    MDB_val value;
    const char *data = NULL;
    if (mdb_cursor_get (self->cursor, &key, &value, MDB_NEXT) == 0) {
        data = checked (TABLE + self->now, &key, &value);
    }
    *ticket = (lk_slice) {data, data ? value.mv_size - SUM_SIZE : 0};
    return data;
}

void
lk_journal_file_end (lk_journal_file *self)
{
    if (self->cursor) {
        mdb_cursor_close (self->cursor);
        self->cursor = NULL;
    }
    if (self->reading) {
        mdb_txn_abort (self->reading);
        self->reading = NULL;
    }
}

/*  -------------------------------------------------------- checking */

static bool
is_whole (lk_journal_file *self, MDB_txn *txn, int database)
{
    MDB_cursor *cursor;
    MDB_val key;
    MDB_val value;
    int code = mdb_cursor_open (txn, self->dbi[database], &cursor);
    while (code == 0
           && (code = mdb_cursor_get (cursor, &key, &value, MDB_NEXT)) == 0) {
        if (!checked (database, &key, &value)) {
            return false;
        }
    }
    return code == MDB_NOTFOUND;
}

/*  Exit codes of the child. */
enum { WHOLE, DAMAGED, UNREAD };

/*  In the child: what is damaged may end it, too. */
static int
read_all (const char *path)
{
    lk_journal_file self = {0};
    MDB_txn *txn;
    int code = open_all (&self, path, true);
    code = code ? code : mdb_txn_begin (self.env, NULL, MDB_RDONLY, &txn);
    for (int i = 0; code == 0 && i < DATABASES; i++) {
        code = is_whole (&self, txn, i) ? 0 : MDB_CORRUPTED;
    }
    return code == 0 ? WHOLE : code < 0 ? DAMAGED : UNREAD; /* else an errno */
}

/*  Of signals these are what wrong pages lead to; any other says nothing. */
static bool
is_damage (int status)
{
    const int signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT
           || (WIFEXITED (status) && WEXITSTATUS (status) == DAMAGED);
}

static lk_err
await (pid_t child, const char *path, lk_problem *problem)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid (child, &status, 0)) == -1 && errno == EINTR) {
    }
    if (ended == -1) {
        return lk_problem_errno (problem, "cannot read '%s'", path);
    }
    if (is_damage (status)) {
        return LK_INVALID;
    }
    return WIFEXITED (status) && WEXITSTATUS (status) == WHOLE
               ? LK_OK
               : lk_problem_set (problem, LK_SYSTEM,
                                 "cannot read '%s': it was not read to its end",
                                 path);
}

lk_err
lk_journal_file_check (const char *dir, lk_problem *problem)
{
    char path[PATH_MAX];
    make_path (path, dir, "");
    struct stat status;
    if (lstat (path, &status) == -1) {
        return errno == ENOENT
                   ? LK_OK
                   : lk_problem_errno (problem, "cannot read '%s'", path);
    }
    if (!S_ISREG (status.st_mode)) {
        return LK_INVALID; /* links are not followed */
    }
    (void) signal (SIGCHLD, SIG_DFL); /* who started us may have it ignored */
    const pid_t child = fork ();
    if (child == -1) {
        return lk_problem_errno (problem, "cannot read '%s'", path);
    }
    if (child == 0) {
        const struct rlimit none = {0, 0};
        (void) setrlimit (RLIMIT_CORE, &none);
        alarm (CHECK_S);
        _exit (read_all (path));
    }
    return await (child, path, problem);
}

lk_err
lk_journal_file_remove (const char *dir, lk_problem *problem)
{
    char path[PATH_MAX];
    make_path (path, dir, "");
    if (unlink (path) == -1 && errno != ENOENT) {
        return lk_problem_errno (problem, "cannot remove '%s'", path);
    }
    return LK_OK;
}

lk_err
lk_journal_file_put_aside (const char *dir, lk_problem *problem)
{
    char path[PATH_MAX];
    char aside[PATH_MAX];
    make_path (path, dir, "");
    make_path (aside, dir, ".damaged");
    if (rename (path, aside) == -1) {
        return lk_problem_errno (problem, "cannot move '%s'", path);
    }
    return LK_OK;
}
