/*  holders.c - who holds an object, by key and by token
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "holders.h"

#include "util/alloc.h"

#include <stddef.h>

typedef struct {
    lk_index_link by_key;
    lk_index_link by_token;
    lk_entry *entry;
    uint64_t key; /* of the entry; in a table that is wrong it may change */
    uint64_t token;
    uint32_t place; /* in `newest` */
} lk_holder;

struct lk_holders {
    lk_index keys;
    lk_index tokens;
    lk_heap newest; /* greatest token first */
};

/*  -------------------------------------------------------- life */

static lk_holder *
by_key (const lk_index_link *link)
{
    return (lk_holder *) link;
}

static lk_holder *
by_token (const lk_index_link *link)
{
    return (lk_holder *) ((char *) link - offsetof (lk_holder, by_token));
}

/*  Keys cannot be guessed, and tokens are numbers of operations. */
static uint32_t
hash_of_key (const lk_index_link *link)
{
    return (uint32_t) by_key (link)->key;
}

static uint32_t
hash_of_token (const lk_index_link *link)
{
    return (uint32_t) by_token (link)->token;
}

static uint32_t *
place_of (void *holder)
{
    return &((lk_holder *) holder)->place;
}

static lk_holders *
new_holders (void)
{
    lk_holders *self = lk_alloc (sizeof *self);
    lk_index_init (&self->keys, hash_of_key);
    lk_index_init (&self->tokens, hash_of_token);
    lk_heap_init (&self->newest, place_of);
    return self;
}

void
lk_holders_destroy (lk_holders **self_p)
{
    lk_holders *self = *self_p;
    if (!self) {
        return;
    }
    (void) lk_index_clear (&self->tokens);
    lk_index_link *link = lk_index_clear (&self->keys);
    while (link) {
        lk_index_link *next = link->next;
        lk_free (by_key (link));
        link = next;
    }
    lk_heap_clear (&self->newest);
    lk_free (self);
    *self_p = NULL;
}

void
lk_holders_add (lk_holders *self, lk_entry *entry)
{
    lk_holder *holder = lk_alloc (sizeof *holder);
    holder->entry = entry;
    holder->key = entry->key;
    holder->token = entry->token;
    lk_index_add (&self->keys, &holder->by_key);
    lk_index_add (&self->tokens, &holder->by_token);
    lk_heap_put (&self->newest, holder, -(int64_t) holder->token);
}

/*  By its key; if that was spoilt, all are looked at. */
static lk_holder *
find (const lk_holders *self, const lk_entry *entry)
{
    lk_index_link *link = lk_index_find (&self->keys, (uint32_t) entry->key);
    while (link && by_key (link)->entry != entry) {
        link = link->next;
    }
    if (!link) {
        link = lk_index_first (&self->keys);
        while (link && by_key (link)->entry != entry) {
            link = lk_index_next (&self->keys, link);
        }
    }
    return link ? by_key (link) : NULL;
}

void
lk_holders_remove (lk_holders *self, const lk_entry *entry)
{
    lk_holder *holder = find (self, entry);
    if (holder) {
        lk_index_remove (&self->keys, &holder->by_key);
        lk_index_remove (&self->tokens, &holder->by_token);
        lk_heap_take (&self->newest, holder);
        lk_free (holder);
    }
}

/*  -------------------------------------------------------- questions */

/*  NULL: one ticket is all that the object has. */
static lk_holders *
need_holders (lk_queue *queue)
{
    lk_contention *contention = queue->contention;
    if (contention && !contention->holders) {
        contention->holders = new_holders ();
        lk_entry *entry = queue->first;
        for (; entry && entry->token != 0; entry = entry->next) {
            lk_holders_add (contention->holders, entry);
        }
    }
    return contention ? contention->holders : NULL;
}

lk_entry *
lk_holder_by_key (lk_queue *queue, uint64_t key)
{
    const lk_holders *self = need_holders (queue);
    if (!self) {
        lk_entry *only = queue->first;
        return only->token != 0 && only->key == key ? only : NULL;
    }
    lk_index_link *link = lk_index_find (&self->keys, (uint32_t) key);
    while (link && by_key (link)->entry->key != key) {
        link = link->next;
    }
    return link ? by_key (link)->entry : NULL;
}

/*  From there on in its chain. */
static lk_index_link *
find_token (lk_index_link *link, uint64_t token)
{
    while (link && by_token (link)->entry->token != token) {
        link = link->next;
    }
    return link;
}

lk_entry *
lk_holder_by_token (lk_queue *queue, uint64_t token)
{
    const lk_holders *self = need_holders (queue);
    if (!self) {
        lk_entry *only = queue->first;
        return token != 0 && only->token == token ? only : NULL;
    }
    lk_index_link *link =
        find_token (lk_index_find (&self->tokens, (uint32_t) token), token);
    return link ? by_token (link)->entry : NULL;
}

size_t
lk_holders_with (lk_queue *queue, uint64_t token)
{
    const lk_holders *self = need_holders (queue);
    if (!self) {
        return lk_holder_by_token (queue, token) ? 1 : 0;
    }
    size_t count = 0;
    lk_index_link *link = lk_index_find (&self->tokens, (uint32_t) token);
    for (link = find_token (link, token); link;
         link = find_token (link->next, token)) {
        count++;
    }
    return count;
}

uint64_t
lk_holders_newest (lk_queue *queue)
{
    const lk_holders *self = need_holders (queue);
    if (!self) {
        return queue->first->token;
    }
    const lk_holder *newest = lk_heap_due (&self->newest, 0);
    return newest ? newest->token : 0;
}
