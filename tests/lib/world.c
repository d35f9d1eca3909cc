/*  world.c - many lock services, their disks and the messages between them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/world.h"

#include "decree.h"
#include "lib/lock_copy.h"
#include "lib/settings_text.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

/*  -------------------------------------------------------- messages */

static uint32_t
take_letter (lk_world *self)
{
    const uint32_t place = self->first_free;
    if (place == self->letters) {
        const uint32_t count = self->letters ? self->letters * 2 : 64;
        self->letter = lk_realloc (self->letter, count * sizeof *self->letter);
        for (uint32_t i = self->letters; i < count; i++) {
            self->letter[i].copies = 0;
            self->letter[i].next_free = i + 1;
        }
        self->letters = count;
    }
    self->first_free = self->letter[place].next_free;
    return place;
}

uint32_t
lk_world_keep (lk_world *self, const lk_lock_message *message)
{
    const uint32_t place = take_letter (self);
    lk_lock_message_copy (&self->letter[place].message, message);
    self->letter[place].copies = 1;
    return place;
}

void
lk_world_keep_again (lk_world *self, uint32_t letter)
{
    self->letter[letter].copies++;
}

void
lk_world_drop (lk_world *self, uint32_t place)
{
    lk_world_letter *letter = &self->letter[place];
    if (--letter->copies == 0) {
        lk_lock_message_clear (&letter->message);
        letter->next_free = self->first_free;
        self->first_free = place;
    }
}

const lk_lock_message *
lk_world_message (const lk_world *self, uint32_t letter)
{
    return &self->letter[letter].message;
}

static void
drop_all (lk_world *self)
{
    for (uint32_t i = 0; i < self->letters; i++) {
        if (self->letter[i].copies > 0) {
            lk_lock_message_clear (&self->letter[i].message);
            self->letter[i].copies = 0;
        }
        self->letter[i].next_free = i + 1;
    }
    self->first_free = 0;
}

/*  -------------------------------------------------------- texts */

const lk_world_text *
lk_world_find_text (const lk_world *self, lk_host place, lk_settings_id id)
{
    for (size_t i = 0; i < LK_WORLD_TEXTS; i++) {
        const lk_world_text *text = &self->host[place].text[i];
        if (lk_settings_id_equal (text->id, id) && !text->damaged) {
            return text;
        }
    }
    return NULL;
}

/*  What was kept first goes, but for what the facts name. */
static lk_world_text *
find_room (lk_world_host *host, lk_settings_id id)
{
    lk_world_text *oldest = NULL;
    for (size_t i = 0; i < LK_WORLD_TEXTS; i++) {
        lk_world_text *text = &host->text[i];
        if (text->id.version == 0 || lk_settings_id_equal (text->id, id)) {
            return text;
        }
        if (!lk_settings_id_equal (text->id, host->disk.active.settings)
            && (!oldest || text->kept < oldest->kept)) {
            oldest = text;
        }
    }
    return oldest;
}

static void
keep_text (lk_world_host *host, lk_settings_id id, lk_name text)
{
    lk_world_text *room = find_room (host, id);
    LK_ASSERT (text.size <= sizeof room->text);
    *room = (lk_world_text) {
        .id = id, .size = text.size, .kept = ++host->texts_kept};
    memcpy (room->text, text.data, text.size);
}

static const lk_world_text *
last_text (const lk_world_host *host)
{
    const lk_world_text *last = NULL;
    for (size_t i = 0; i < LK_WORLD_TEXTS; i++) {
        const lk_world_text *text = &host->text[i];
        if (text->id.version != 0 && !text->damaged
            && !lk_settings_id_equal (text->id, host->disk.active.settings)
            && (!last || text->kept > last->kept)) {
            last = text;
        }
    }
    return last;
}

static lk_name
name_of (const lk_world_text *text)
{
    return text ? (lk_name) {text->text, text->size} : (lk_name) {0};
}

/*  -------------------------------------------------------- effects */

static void
record (lk_world *self, lk_host place, const lk_record *record)
{
    lk_world_host *host = &self->host[place];
    if (!host->journal) {
        host->journal = lk_world_journal_new ();
    }
    lk_world_journal_put (host->journal, record);
    if (self->layer->records) {
        self->layer->records (self, place);
    } else {
        lk_world_journal_write (host->journal, 1);
    }
}

static void
carry_out (lk_world *self, lk_host place, const lk_effect *effect)
{
    switch (effect->type) {
    case LK_DO_PERSIST:
        if (self->layer->writes (self, place, &effect->facts)) {
            self->host[place].disk = effect->facts;
        }
        break;
    case LK_DO_KEEP:
        if (!self->layer->keeps || self->layer->keeps (self, place)) {
            keep_text (&self->host[place], effect->settings_id,
                       effect->settings);
        }
        break;
    case LK_DO_RECORD:
        record (self, place, effect->record);
        break;
    case LK_DO_SEND:
        self->layer->send (self, place, effect->message);
        break;
    default:
        self->layer->note (self, place, effect);
    }
}

bool
lk_world_step (lk_world *self, lk_host place, const lk_event *event,
               lk_effects *effects)
{
    lk_world_host *host = &self->host[place];
    if (self->take_step) {
        self->take_step (self, place, event, effects);
    } else {
        lk_node_step (self->node[place], event, effects);
    }
    for (size_t i = 0; i < effects->count && host->doom != 0; i++) {
        carry_out (self, place, &effects->item[i]);
        host->doom -= host->doom > 0;
    }
    return host->doom != 0;
}

/*  -------------------------------------------------------- life */

void
lk_world_start (lk_world *self, lk_host place, int64_t now_ms)
{
    lk_world_host *host = &self->host[place];
    const lk_world_text *next = last_text (host);
    host->config.facts = host->disk;
    host->config.hash_text = lk_test_hash_text;
    host->config.settings =
        name_of (lk_world_find_text (self, place, host->disk.active.settings));
    host->config.next = name_of (next);
    host->config.next_id = next ? next->id : (lk_settings_id) {0};
    host->config.recorded = NULL;
    if (host->journal && host->config.journal != LK_JOURNAL_OFF) {
        host->config.recorded = lk_world_journal_head (host->journal);
        host->config.read_record = lk_world_journal_read;
        host->config.reader = host->journal;
    }
    host->doom = -1;
    self->node[place] = lk_node_new (&host->config, now_ms);
}

void
lk_world_end_all (lk_world *self)
{
    for (size_t place = 0; place < self->count; place++) {
        lk_node_destroy (&self->node[place]);
    }
    drop_all (self);
}

void
lk_world_clear (lk_world *self)
{
    lk_world_end_all (self);
    for (size_t place = 0; place < LK_WORLD_HOSTS_MAX; place++) {
        lk_world_journal_destroy (&self->host[place].journal);
    }
    lk_free (self->letter);
    self->letter = NULL;
    self->letters = 0;
}

void
lk_world_introduce (lk_world *self, lk_host place, uint64_t incarnation)
{
    const lk_world_host *host = &self->host[place];
    lk_lock_message message = {
        .kind = LK_MSG_STARTED,
        .from = host->config.self,
        .origin = LK_NOBODY,
        .destination = LK_NOBODY,
        .as.started = {.candidate = host->config.candidate,
                       .eligible = lk_node_may_lead (self->node[place]),
                       .incarnation = incarnation,
                       .active = host->disk.active}};
    for (lk_host other = 0; other < self->count; other++) {
        message.to = self->host[other].config.self;
        if (other != place) {
            self->layer->send (self, place, &message);
        }
    }
}

const lk_decree *
lk_world_decree (const lk_world *self)
{
    const lk_decree *best = &self->host[0].disk.active;
    for (size_t place = 1; place < self->count; place++) {
        const lk_decree *active = &self->host[place].disk.active;
        if (lk_term_compare (active->term, best->term) > 0) {
            best = active;
        }
    }
    return best;
}
