/*  world_journal.c - the journal of one lock service, as its disk has it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/world_journal.h"

#include "decree.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>
#include <uthash.h>

typedef struct {
    uint64_t key[3]; /* its request */
    lk_ticket ticket;
    UT_hash_handle hh;
    char names[];
} row;

typedef struct {
    row *rows;
    lk_record_head head; /* no leaders: there is no table */
    bool is_spoilt;
} table;

typedef struct waiting {
    lk_record record;
    row **rows;
    struct waiting *next;
} waiting;

struct lk_world_journal {
    table now;
    table incoming;
    waiting *first;
    size_t count;
    uint64_t written;
    lk_release releases[LK_RELEASES_KEPT];
    size_t release_count;
    row *reading;
};

/*  -------------------------------------------------------- rows */

static void
make_key (uint64_t key[3], lk_request_id request)
{
    key[0] = request.host;
    key[1] = request.session;
    key[2] = request.serial;
}

static row *
make_row (const lk_ticket *ticket)
{
    row *self =
        lk_alloc (sizeof *self + ticket->object.size + ticket->owner.size);
    make_key (self->key, ticket->request);
    self->ticket = *ticket;
    self->ticket.object.data = self->names;
    self->ticket.owner.data = self->names + ticket->object.size;
    memcpy (self->names, ticket->object.data, ticket->object.size);
    if (ticket->owner.size > 0) {
        memcpy (self->names + ticket->object.size, ticket->owner.data,
                ticket->owner.size);
    }
    return self;
}

static void
drop_row (table *self, lk_request_id request)
{
    uint64_t key[3];
    row *found;
    make_key (key, request);
    HASH_FIND (hh, self->rows, key, sizeof key, found);
    if (found) {
        HASH_DEL (self->rows, found);
        lk_free (found);
    }
}

static void
put_row (table *self, row *added)
{
    drop_row (self, added->ticket.request);
    HASH_ADD (hh, self->rows, key, sizeof added->key, added);
}

static void
clear_table (table *self)
{
    row *each, *next;
    HASH_ITER (hh, self->rows, each, next) {
        HASH_DEL (self->rows, each);
        lk_free (each);
    }
    self->head = (lk_record_head) {0};
    self->is_spoilt = false;
}

/*  -------------------------------------------------------- records */

static void
free_waiting (waiting *self, bool with_rows)
{
    for (size_t i = 0; with_rows && i < self->record.ticket_count; i++) {
        lk_free (self->rows[i]);
    }
    lk_free (self->rows);
    lk_free (self->record.gone);
    lk_free ((lk_release *) self->record.head.releases);
    lk_free (self);
}

static waiting *
take_first (lk_world_journal *self)
{
    waiting *first = self->first;
    LK_ASSERT (first);
    self->first = first->next;
    self->count--;
    return first;
}

/*  Requests that ended a lock are those of before, if none are named. */
static void
write_head (lk_world_journal *self, const lk_record_head *head)
{
    table *to = &self->now;
    to->head = *head;
    if (head->releases) {
        LK_ASSERT (head->release_count <= LK_RELEASES_KEPT);
        memcpy (self->releases, head->releases,
                head->release_count * sizeof *head->releases);
        self->release_count = head->release_count;
    }
    to->head.releases = self->releases;
    to->head.release_count = self->release_count;
}

static void
write_one (lk_world_journal *self, waiting *each)
{
    const lk_record *record = &each->record;
    table *to = record->kind == LK_RECORD_PART ? &self->incoming : &self->now;
    if (record->kind == LK_RECORD_PART && record->first) {
        clear_table (to);
    }
    if (record->kind == LK_RECORD_NONE) {
        clear_table (to);
    }
    if (record->kind == LK_RECORD_WHOLE) {
        clear_table (to);
        to->rows = self->incoming.rows;
        self->incoming.rows = NULL;
    }
    if (record->kind != LK_RECORD_PART) {
        write_head (self, &record->head);
    }
    for (size_t i = 0; i < record->ticket_count; i++) {
        put_row (to, each->rows[i]);
    }
    for (size_t i = 0; i < record->gone_count; i++) {
        drop_row (to, record->gone[i]);
    }
    self->written = record->number;
    free_waiting (each, false);
}

void
lk_world_journal_put (lk_world_journal *self, const lk_record *record)
{
    waiting *last = lk_alloc (sizeof *last);
    waiting **end = &self->first;
    last->record = *record;
    last->rows = lk_alloc ((record->ticket_count + 1) * sizeof *last->rows);
    for (size_t i = 0; i < record->ticket_count; i++) {
        last->rows[i] = make_row (&record->tickets[i]);
    }
    last->record.gone =
        lk_memdup (record->gone, record->gone_count * sizeof *record->gone);
    if (record->head.releases) {
        last->record.head.releases =
            lk_memdup (record->head.releases,
                       record->head.release_count * sizeof (lk_release));
    }
    while (*end) {
        end = &(*end)->next;
    }
    *end = last;
    self->count++;
}

size_t
lk_world_journal_waiting (const lk_world_journal *self)
{
    return self->count;
}

uint64_t
lk_world_journal_write (lk_world_journal *self, size_t count)
{
    while (count-- > 0) {
        write_one (self, take_first (self));
    }
    return self->written;
}

void
lk_world_journal_lose (lk_world_journal *self)
{
    while (self->first) {
        free_waiting (take_first (self), true);
    }
}

/*  -------------------------------------------------------- the table */

bool
lk_world_journal_spoil (lk_world_journal *self, uint64_t draw)
{
    row *each = self->now.rows;
    const size_t count = HASH_COUNT (self->now.rows);
    if (count == 0) {
        return false;
    }
    for (size_t skip = (size_t) (draw >> 8) % count; skip > 0; skip--) {
        each = each->hh.next;
    }
    self->now.is_spoilt = true;
    if (draw & 1) {
        each->ticket.token ^= (uint64_t) 1 << (draw >> 1 & 31);
    } else {
        drop_row (&self->now, each->ticket.request);
    }
    return true;
}

bool
lk_world_journal_is_spoilt (const lk_world_journal *self)
{
    return self->now.is_spoilt;
}

const lk_record_head *
lk_world_journal_head (lk_world_journal *self)
{
    self->reading = self->now.rows;
    return self->now.head.decree.leader_count > 0 ? &self->now.head : NULL;
}

bool
lk_world_journal_read (void *context, lk_ticket *ticket)
{
    lk_world_journal *self = context;
    if (!self->reading) {
        return false;
    }
    *ticket = self->reading->ticket;
    self->reading = self->reading->hh.next;
    return true;
}

size_t
lk_world_journal_count (const lk_world_journal *self)
{
    return HASH_COUNT (self->now.rows);
}

/*  -------------------------------------------------------- hosts */

static bool
has_place (const lk_decree *decree, lk_host host)
{
    return lk_hosts_has (decree->members | lk_decree_leaders (decree), host);
}

static bool
names (const table *self, lk_host host)
{
    const row *each = self->rows;
    if (has_place (&self->head.decree, host)) {
        return true;
    }
    while (each && each->ticket.request.host != host) {
        each = each->hh.next;
    }
    return each != NULL;
}

static bool
waits_with (const waiting *self, lk_host host)
{
    for (size_t i = 0; i < self->record.ticket_count; i++) {
        if (self->rows[i]->ticket.request.host == host) {
            return true;
        }
    }
    return has_place (&self->record.head.decree, host);
}

bool
lk_world_journal_names (const lk_world_journal *self, lk_host host)
{
    const waiting *each = self->first;
    while (each && !waits_with (each, host)) {
        each = each->next;
    }
    return each || names (&self->now, host) || names (&self->incoming, host);
}

void
lk_world_journal_forget (lk_world_journal *self, lk_host host)
{
    self->now.head.gone[host] = 0;
    for (waiting *each = self->first; each; each = each->next) {
        each->record.head.gone[host] = 0;
    }
}

/*  -------------------------------------------------------- life */

lk_world_journal *
lk_world_journal_new (void)
{
    return lk_alloc (sizeof (lk_world_journal));
}

void
lk_world_journal_destroy (lk_world_journal **self_p)
{
    lk_world_journal *self = *self_p;
    if (self) {
        lk_world_journal_lose (self);
        clear_table (&self->now);
        clear_table (&self->incoming);
        lk_free (self);
        *self_p = NULL;
    }
}
