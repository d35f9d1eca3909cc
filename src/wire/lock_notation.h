/*  lock_notation.h - the two forms in which fields travel
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  JSON, for people and foreign programs: a field is found by its name. And
 *  packed: fields have no names, they follow each other in the order in which
 *  lock_shape.c has them. lockkeeper-protocol(7), 8.7.
 *
 *  For src/wire only.
 */

#ifndef LK_LOCK_NOTATION_H
#define LK_LOCK_NOTATION_H

#include "wire/lock_fields.h"

/*  Each writes or reads one value, as self->writing says, and knows no range
 *  but its type's: lock_fields.c checks the rest. False: not read, and
 *  lk_fields_fail () said why. Texts are well-formed when they are read, and
 *  point into what they were read from. */
struct lk_notation {
    bool (*has) (lk_fields *self, const char *name, bool wanted);
    bool (*flag) (lk_fields *self, const char *name, bool *value);
    /*  One that may be absent, which is false. */
    bool (*mark) (lk_fields *self, const char *name, bool *value);
    bool (*integer) (lk_fields *self, const char *name, int64_t *value,
                     bool may_be_negative);
    bool (*hex) (lk_fields *self, const char *name, uint64_t *value);
    bool (*ip) (lk_fields *self, const char *name, uint8_t bytes[16]);
    bool (*word) (lk_fields *self, const char *name, int *value,
                  const char *const *words, size_t count);
    bool (*text) (lk_fields *self, const char *name, lk_slice *value);
    bool (*object) (lk_fields *self, lk_name *key);
    bool (*host) (lk_fields *self, const char *name, lk_host *value);
    bool (*hosts) (lk_fields *self, const char *name, lk_host *hosts,
                   size_t *count, size_t count_max);
    bool (*term) (lk_fields *self, const char *name, lk_term *value);
    bool (*request) (lk_fields *self, const char *name, lk_request_id *value);

    /*  Goes into a nested object: self->object, which the caller sets back. */
    bool (*enter) (lk_fields *self, const char *name);
    /*  Begins a list of *count objects, or reads how many it has; `row` goes
     *  into one after the other of `items`. */
    bool (*list) (lk_fields *self, const char *name, json_t **items,
                  size_t *count);
    bool (*row) (lk_fields *self, const char *name, json_t *items,
                 size_t place);
};

extern const lk_notation lk_notation_json;
extern const lk_notation lk_notation_packed;

/*  Reading: the number of a host, interned; LK_NOBODY as lk_hostmap_intern;
 *  LK_STRANGER if it is left out. */
lk_host lk_fields_intern (lk_fields *self, const char *name, uint64_t id);

#endif
