/*  recorded.c - the journal, from when it is opened to when it is written
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A file that is damaged, or somebody else's, or was copied away and back, is
 *  put aside: a table that lacks what was told makes two holders.
 */

#include "keep.h"

#include "net/log.h"
#include "net/paths.h"

/*  -------------------------------------------------------- whose it is */

/*  One that another lock service wrote, or this one before the last time: the
 *  state file counts, after the journal. */
static const char *
find_fault (const lk_lockd *self, lk_journal_owner owner)
{
    if (owner.id == 0) {
        return NULL;
    }
    if (owner.id != self->state.id) {
        return self->state.generation.number > 0
                   ? "is of before this host entered the generation that it is "
                     "in, or of another host"
                   : "is that of another host";
    }
    if (owner.opened < self->state.journal
        || owner.opened > self->state.journal + 1) {
        return "is a copy from long ago";
    }
    return NULL;
}

static bool
put_aside (const lk_lockd *self, const char *why)
{
    const char *dir = self->options.state_dir;
    lk_problem problem;
    if (lk_journal_file_put_aside (dir, &problem) != LK_OK) {
        lk_log_error ("%s", problem.text);
        return false;
    }
    lk_log_error ("the journal of '%s' %s: it is moved to "
                  "'lock.journal.damaged', and others fill this host's table "
                  "anew",
                  dir, why);
    return true;
}

static bool
open_file (lk_lockd *self)
{
    lk_problem problem;
    self->journal_file =
        lk_journal_file_open (self->options.state_dir, &problem);
    if (!self->journal_file) {
        lk_log_error ("%s", problem.text);
    }
    return self->journal_file;
}

static bool
open_own (lk_lockd *self)
{
    if (!open_file (self)) {
        return false;
    }
    const char *fault =
        find_fault (self, lk_journal_file_owner (self->journal_file));
    if (!fault) {
        return true;
    }
    lk_journal_file_destroy (&self->journal_file);
    return put_aside (self, fault) && open_file (self);
}

static bool
check (const lk_lockd *self)
{
    lk_problem problem;
    switch (lk_journal_file_check (self->options.state_dir, &problem)) {
    case LK_OK:
        return true;
    case LK_INVALID:
        return put_aside (self, "is damaged");
    default:
        lk_log_error ("%s", problem.text);
        return false;
    }
}

/*  Its table would count as the latest once a journal is set again. */
static bool
remove_old (const lk_lockd *self)
{
    lk_problem problem;
    lk_err error = lk_journal_file_remove (self->options.state_dir, &problem);
    if (error != LK_OK) {
        lk_log_error ("%s", problem.text);
    }
    return error == LK_OK;
}

bool
lk_lockd_open_journal (lk_lockd *self)
{
    lk_problem problem;
    if (self->options.journal == LK_JOURNAL_OFF) {
        self->state.journal += self->state.journal > 0;
        return remove_old (self);
    }
    if (!check (self) || !open_own (self)) {
        return false;
    }
    self->state.journal++;
    const lk_journal_owner owner = {self->state.id, self->state.journal};
    if (lk_journal_file_own (self->journal_file, owner, &problem) != LK_OK) {
        lk_log_error ("%s", problem.text);
        return false;
    }
    return true;
}

/*  -------------------------------------------------------- reading */

static bool
read_ticket (void *context, lk_ticket *ticket)
{
    lk_lockd *self = context;
    lk_slice bytes;
    lk_arena_reset (&self->recorded_names);
    return lk_journal_file_next (self->journal_file, &bytes)
           && lk_record_unpack_ticket (bytes, &self->hostmap,
                                       &self->recorded_names, ticket);
}

/*  The core misses a ticket that cannot be read, and takes none then. */
void
lk_lockd_give_table (lk_lockd *self, lk_node_config *config)
{
    lk_slice head;
    lk_slice releases;
    config->journal = self->options.journal;
    if (!self->journal_file
        || !lk_journal_file_begin (self->journal_file, &head, &releases)) {
        return;
    }
    if (lk_record_unpack_head (head, &self->hostmap, &self->heard,
                               &self->recorded)
        && self->recorded.decree.term.number
               <= self->state.facts.promised.number
        && (releases.size == 0
            || lk_record_unpack_releases (releases, &self->hostmap,
                                          &self->heard, &self->recorded))) {
        config->recorded = &self->recorded;
        config->read_record = read_ticket;
        config->reader = self;
    } else {
        lk_log_error ("the journal's table is not what was recorded: it is "
                      "filled anew");
    }
}

/*  -------------------------------------------------------- writing */

bool
lk_lockd_start_journal (lk_lockd *self)
{
    lk_problem problem;
    if (!self->journal_file) {
        return true;
    }
    lk_journal_file_end (self->journal_file);
    lk_arena_clear (&self->recorded_names);
    self->journal = lk_journal_new (&self->journal_file, &problem);
    if (!self->journal) {
        lk_log_error ("%s", problem.text);
    }
    return self->journal;
}

void
lk_lockd_record (lk_lockd *self, const lk_record *record)
{
    lk_journal_batch *batch = lk_journal_batch_new (record, &self->hostmap);
    lk_journal_put (self->journal, &batch);
}
