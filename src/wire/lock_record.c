/*  lock_record.c - what a leader's journal has, and its form on disk
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/lock_record.h"

#include "util/hash.h"
#include "wire/lock_notation.h"
#include "wire/lock_shape.h"

#include <string.h>

#define HOMES_MAX ((1 << LK_LEADERS_MAX) - 1) /* a set of them, as bits */
#define RECORD_LEVEL 1 /* a disk says no level: lock_codec.h */

/*  -------------------------------------------------------- fields */

typedef struct {
    uint64_t sequence;
    uint64_t hash;
} stream_row;

static void
stream_fields (lk_fields *f, void *row)
{
    stream_row *stream = row;
    lk_field_count (f, "sequence", &stream->sequence);
    lk_field_hex (f, "hash", &stream->hash);
}

static void
streams_field (lk_fields *f, lk_record_head *head)
{
    static const lk_field_list list = {"streams", LK_LEADERS_MAX,
                                       sizeof (stream_row), stream_fields};
    stream_row buffer[LK_LEADERS_MAX];
    size_t count = LK_LEADERS_MAX;
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        buffer[home] = (stream_row) {head->sequence[home], head->hash[home]};
    }
    const stream_row *rows = lk_field_rows (f, &list, buffer, &count);
    for (size_t home = 0; !f->writing && rows && home < count; home++) {
        head->sequence[home] = rows[home].sequence;
        head->hash[home] = rows[home].hash;
    }
}

static void
head_fields (lk_fields *f, lk_record_head *head)
{
    lk_field_decree (f, "decree", &head->decree);
    lk_field_small (f, "reclaim", &head->reclaim, HOMES_MAX);
    streams_field (f, head);
    lk_shape_gone (f, head->gone);
    lk_field_hex (f, "mark", &head->mark);
    lk_field_flag (f, "late", &head->late);
}

static void
releases_fields (lk_fields *f, lk_record_head *head)
{
    lk_release *releases = (lk_release *) head->releases;
    lk_shape_releases (f, &releases, &head->release_count);
    head->releases = releases;
}

/*  -------------------------------------------------------- packing */

static lk_fields
begin_packing (const lk_hostmap *hostmap, lk_bytes *out)
{
    return (lk_fields) {.notation = &lk_notation_packed,
                        .writing = true,
                        .level = RECORD_LEVEL,
                        .packing = {.out = out},
                        .hostmap = (lk_hostmap *) hostmap};
}

void
lk_record_key (lk_request_id request, const lk_hostmap *hostmap,
               char key[LK_RECORD_KEY_SIZE])
{
    const char *name = lk_hostmap_name (hostmap, request.host);
    const uint64_t id = lk_hostmap_id (hostmap, request.host);
    lk_bytes_put64 (key, id ? id : lk_hash64 (name, strlen (name)));
    lk_bytes_put64 (key + 8, request.session);
    lk_bytes_put64 (key + 16, request.serial);
}

void
lk_record_pack_ticket (const lk_ticket *ticket, const lk_hostmap *hostmap,
                       lk_bytes *out)
{
    lk_fields fields = begin_packing (hostmap, out);
    lk_ticket copy = *ticket;
    lk_shape_ticket (&fields, &copy);
}

void
lk_record_pack_head (const lk_record_head *head, const lk_hostmap *hostmap,
                     lk_bytes *out)
{
    lk_fields fields = begin_packing (hostmap, out);
    lk_record_head copy = *head;
    head_fields (&fields, &copy);
}

void
lk_record_pack_releases (const lk_record_head *head, const lk_hostmap *hostmap,
                         lk_bytes *out)
{
    lk_fields fields = begin_packing (hostmap, out);
    lk_record_head copy = *head;
    releases_fields (&fields, &copy);
}

/*  -------------------------------------------------------- unpacking */

static lk_fields
begin_unpacking (lk_slice bytes, lk_hostmap *hostmap, lk_arena *arena)
{
    return (lk_fields) {
        .notation = &lk_notation_packed,
        .level = RECORD_LEVEL,
        .packing = {.at = (const uint8_t *) bytes.data,
                    .end = (const uint8_t *) bytes.data + bytes.size},
        .hostmap = hostmap,
        .any_host = true,
        .arena = arena};
}

static bool
is_read (const lk_fields *fields)
{
    return !lk_fields_failed (fields)
           && fields->packing.at == fields->packing.end;
}

bool
lk_record_unpack_ticket (lk_slice bytes, lk_hostmap *hostmap, lk_arena *arena,
                         lk_ticket *ticket)
{
    lk_fields fields = begin_unpacking (bytes, hostmap, arena);
    memset (ticket, 0, sizeof *ticket);
    lk_shape_ticket (&fields, ticket);
    return is_read (&fields);
}

bool
lk_record_unpack_head (lk_slice bytes, lk_hostmap *hostmap, lk_arena *arena,
                       lk_record_head *head)
{
    lk_fields fields = begin_unpacking (bytes, hostmap, arena);
    memset (head, 0, sizeof *head);
    head_fields (&fields, head);
    return is_read (&fields);
}

bool
lk_record_unpack_releases (lk_slice bytes, lk_hostmap *hostmap, lk_arena *arena,
                           lk_record_head *head)
{
    lk_fields fields = begin_unpacking (bytes, hostmap, arena);
    releases_fields (&fields, head);
    return is_read (&fields);
}
