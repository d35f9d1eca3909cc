/*  lock_fields.h - fields of a message, written or read by one call
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A description of a message (lock_shape.c) calls these for each of its
 *  fields, and serves both directions and both notations: writing, the values
 *  go into the body; reading, they come out of it, and the first that is
 *  missing, of a wrong type or out of range is kept as the problem. Values
 *  that could not be read stay as they were.
 *
 *  For src/wire only.
 */

#ifndef LK_LOCK_FIELDS_H
#define LK_LOCK_FIELDS_H

#include "util/arena.h"
#include "wire/hostmap.h"
#include "wire/json.h"

/*  Counts and sessions: what a double can hold. */
#define LK_COUNT_MAX (((int64_t) 1 << 53) - 1)

typedef struct lk_notation lk_notation;

/*  Reading: which hosts that the hostmap has not get a number; the others are
 *  LK_STRANGER, as what is said of them can be done without. */
typedef enum {
    LK_STRANGERS_IN,      /* all of them */
    LK_STRANGERS_IF_ROOM, /* as long as there are numbers */
    LK_STRANGERS_OUT      /* none of them */
} lk_strangers;

#define LK_STRANGER ((lk_host) 254)

/*  Where a packed body is written or read. */
typedef struct {
    lk_bytes *out; /* writing */
    size_t flags_at;
    const uint8_t *at; /* reading */
    const uint8_t *end;
    uint8_t flags;
    uint8_t flags_left;         /* bits of that byte that are not used yet */
    uint8_t host_count;         /* hosts that were named so far, */
    lk_host host[LK_HOSTS_MAX]; /* the sender first */
} lk_packing;

typedef struct {
    const lk_notation *notation; /* lock_notation.h */
    bool writing;
    uint8_t level;          /* fields of later ones are absent */
    lk_hostmap *hostmap;    /* reading, hosts are interned */
    lk_arena *arena;        /* reading: memory of what was read */
    lk_hostmap *before;     /* the hostmap as it was, if reading changed it */
    lk_strangers strangers; /* reading: what becomes of them */
    bool any_host;          /* reading: all of them get numbers in any case */
    bool full;              /* reading: the hostmap had no number for a host */
    json_t *object;         /* JSON: whose fields these are; borrowed */
    lk_packing packing;
    char problem[128]; /* reading: empty as long as all is well */
} lk_fields;

bool lk_fields_failed (const lk_fields *self);
void lk_fields_fail (lk_fields *self, const char *name, const char *what);

/*  Takes back what reading did to the hostmap. */
void lk_fields_undo (lk_fields *self);

/*  For an optional field: writing, whether it is wanted; reading, whether it
 *  is there. To be asked once, right ahead of the field. */
bool lk_fields_has (lk_fields *self, const char *name, bool wanted);

/*  The same of a field that came with that level: its reader, or its writer,
 *  may be older than the field. */
bool lk_fields_has_since (lk_fields *self, uint8_t level, const char *name,
                          bool wanted);

/*  -------------------------------------------------------- plain values */

void lk_field_flag (lk_fields *self, const char *name, bool *value);
/*  Absent if it is false. */
void lk_field_flag_if_set (lk_fields *self, const char *name, bool *value);
void lk_field_clock (lk_fields *self, const char *name, int64_t *value);
void lk_field_span (lk_fields *self, const char *name, int64_t *value,
                    int64_t least); /* milliseconds, from `least` on */
void lk_field_count (lk_fields *self, const char *name, uint64_t *value);
void lk_field_small (lk_fields *self, const char *name, uint8_t *value,
                     uint8_t most);
void lk_field_port (lk_fields *self, const char *name, uint16_t *value);
void lk_field_number32 (lk_fields *self, const char *name, uint32_t *value,
                        uint32_t most);
/*  Absent if it is 0. */
void lk_field_number32_if_any (lk_fields *self, const char *name,
                               uint32_t *value, uint32_t most);
void lk_field_hex (lk_fields *self, const char *name, uint64_t *value);
void lk_field_ip (lk_fields *self, const char *name, uint8_t bytes[16]);

/*  One of `count` words; *value is its place. */
void lk_field_word (lk_fields *self, const char *name, int *value,
                    const char *const *words, size_t count);

/*  The word of an lk_err; one that is not known reads as LK_UNKNOWN. */
void lk_field_error (lk_fields *self, const char *name, int *value);

/*  A text of at most that size. */
void lk_field_text (lk_fields *self, const char *name, lk_name *value,
                    size_t size_max);

/*  The fields of an object's key: zone, context, object or object_hex. */
void lk_field_object (lk_fields *self, lk_name *key);

/*  -------------------------------------------------------- nesting */

/*  The fields between enter and leave are those of a nested object. Enter
 *  returns what leave needs. */
json_t *lk_field_enter (lk_fields *self, const char *name);
void lk_field_leave (lk_fields *self, json_t *outer);

/*  A list of objects, each described by `visit`. */
typedef struct {
    const char *name;
    size_t count_max;
    size_t row_size;
    void (*visit) (lk_fields *self, void *row);
} lk_field_list;

/*  Reading, the rows are zeroed memory of the arena, and more than `count_max`
 *  of them are refused; writing, that is the sender's to see to. Returns the
 *  rows; NULL if there are none. */
void *lk_field_rows (lk_fields *self, const lk_field_list *list, void *rows,
                     size_t *count);

/*  -------------------------------------------------------- the cluster */

/*  "name:id" */
void lk_field_host (lk_fields *self, const char *name, lk_host *value);
/*  Absent if it is LK_NOBODY. */
void lk_field_host_if_any (lk_fields *self, const char *name, lk_host *value);
void lk_field_hosts (lk_fields *self, const char *name, lk_hosts *value);
/*  Reading, hosts that are not known are left out: nothing is kept for them. */
void lk_field_known_hosts (lk_fields *self, const char *name, lk_hosts *value);
/*  The same in an order; at most `count_max`. */
void lk_field_known_list (lk_fields *self, const char *name, lk_host *hosts,
                          uint8_t *count, size_t count_max);
/*  Says what becomes of hosts that are not known, from here on. */
void lk_fields_take_strangers (lk_fields *self, lk_strangers strangers);
/*  "number:proposer" */
void lk_field_term (lk_fields *self, const char *name, lk_term *value);
void lk_field_settings_id (lk_fields *self, lk_settings_id *value);
void lk_field_decree (lk_fields *self, const char *name, lk_decree *value);
/*  "name:id/session/serial" */
void lk_field_request (lk_fields *self, const char *name, lk_request_id *value);

#endif
