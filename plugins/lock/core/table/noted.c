/*  noted.c - an index of some of a table's queues
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "noted.h"

#include "util/alloc.h"

static uint32_t
hash_of (const lk_index_link *link)
{
    return ((const lk_noted *) link)->queue->hash;
}

void
lk_noted_init (lk_index *index)
{
    lk_index_init (index, hash_of);
}

void
lk_noted_add (lk_index *index, lk_queue *queue)
{
    lk_noted *noted = lk_alloc (sizeof *noted);
    noted->queue = queue;
    lk_index_add (index, &noted->link);
}

void
lk_noted_remove (lk_index *index, const lk_queue *queue)
{
    lk_index_link *link = lk_index_find (index, queue->hash);
    while (((lk_noted *) link)->queue != queue) {
        link = link->next;
    }
    lk_index_remove (index, link);
    lk_free (link);
}
