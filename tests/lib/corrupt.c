/*  corrupt.c - makes one leader's table wrong, for tests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/corrupt.h"

#include "node_view.h"

#include <string.h>

lk_corrupt_kind
lk_corrupt_find (const char *word)
{
#define WORD(kind, word) word,
    static const char *const words[] = {LK_CORRUPT_KINDS (WORD)};
#undef WORD
    int kind = 0;
    while (kind < LK_CORRUPT_COUNT && strcmp (words[kind], word) != 0) {
        kind++;
    }
    return (lk_corrupt_kind) kind;
}

/*  The held ticket at that place; with `count`, how many there are. */
static lk_entry *
held (lk_table *table, uint8_t home, uint64_t place, uint64_t *count)
{
    uint64_t seen = 0;
    lk_entry *const *listing = lk_table_listing (table, table->count);
    for (size_t i = 0; i < table->count; i++) {
        lk_entry *entry = listing[i];
        if (lk_queue_home (table, entry->queue) == home
            && entry->queue->first == entry && entry->token != 0) {
            if (!count && seen == place) {
                return entry;
            }
            seen++;
        }
    }
    if (count) {
        *count = seen;
    }
    return NULL;
}

/*  Leaves no trace in the stream; in the sum only where it is to. */
static void
lose (lk_table *table, uint8_t home, const lk_entry *entry, bool slip,
      int64_t now_ms)
{
    uint64_t hash = table->hash[home];
    uint64_t common = table->common;
    uint64_t sum[LK_LOTS][LK_LOT_SLICES];
    memcpy (sum, table->sum, sizeof sum);
    lk_op op = {.kind = LK_OP_DROP, .by.host = LK_NOBODY};
    char object[LK_NAME_SIZE_MAX];
    op.ticket.request = lk_entry_request (entry);
    memcpy (object, lk_entry_object (entry).data, lk_entry_object (entry).size);
    op.ticket.object = (lk_name) {object, lk_entry_object (entry).size};
    lk_table_apply (table, home, &op, now_ms, NULL);
    table->sequence[home]--;
    table->hash[home] = hash;
    if (!slip) {
        memcpy (table->sum, sum, sizeof sum);
        table->common = common;
    }
}

bool
lk_corrupt (lk_node *node, lk_corrupt_kind kind, uint8_t home, uint64_t nth)
{
    lk_table *table = lk_leader_table (lk_node_leader (node));
    uint64_t count = 0;
    if (!lk_node_serves (node) || home >= table->decree.leader_count) {
        return false;
    }
    held (table, home, 0, &count);
    lk_entry *entry = count ? held (table, home, nth % count, NULL) : NULL;
    if (kind == LK_CORRUPT_CHAIN) {
        table->hash[home] ^= 1;
        return true;
    }
    if (!entry) {
        return false;
    }
    switch (kind) {
    case LK_CORRUPT_TOKEN:
        entry->token ^= 1u << nth % 16;
        break;
    case LK_CORRUPT_KEY:
        entry->key ^= (uint64_t) 1 << nth % 64;
        break;
    default:
        lose (table, home, entry, kind == LK_CORRUPT_SLIP,
              lk_node_core (node)->now_ms);
    }
    return true;
}
