/*  held.h - what is lost, shown to an operator, and the word to go on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Of `cluster recover` and `restore`, which both begin a cluster anew.
 */

#ifndef LK_HELD_H
#define LK_HELD_H

#include "cli/columns.h"
#include "util/bytes.h"
#include "wire/lock_message.h"

/*  A lock and its holder. */
typedef struct {
    const char *type;
    bool is_static;
    uint32_t limit, bound; /* 0: none */
    const char *host;
    const char *owner;
    lk_name context, name;
} lk_held_lock;

/*  A table of these, and the commands that take the static ones again. */
typedef struct {
    lk_columns *table;
    lk_bytes again;
    size_t count;
} lk_held;

void lk_held_init (lk_held *self);
void lk_held_add (lk_held *self, const lk_held_lock *it);
void lk_held_print (lk_held *self); /* and gives it up */

/*  The name of a cluster as a person types it, so that nobody means another
 *  one; false: nobody is there, or says nothing. */
#define LK_CLUSTER_TYPED_SIZE 256
bool lk_cluster_typed (char name[LK_CLUSTER_TYPED_SIZE]);

/*  That nobody said it, said; the exit code. */
int lk_cluster_say_unnamed (void);

#endif
