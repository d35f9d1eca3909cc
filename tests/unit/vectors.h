/*  vectors.h - a lock service compared with the examples of tests/vectors
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TEST_VECTORS_H
#define LK_TEST_VECTORS_H

#include "lib/example.h"
#include "lock_fake.h"

#define APP "backup-4711@h1"
#define LEASE_PAGE "/run/lockkeeper/lock.lease"
#define TOKEN 0x0000000700000004u
#define KEY 0xc0ffee5eed1e55a7u
#define HASH 0x9e1c5ad2037b84f6u

/*  -------------------------------------------------------- in and out */

static inline void
hear (const char *example)
{
    give (lk_vector_message (lk_vector_find (example)));
}

static inline void
compare (lk_message *message, const char *example)
{
    const lk_vector *wanted = lk_vector_find (example);
    lk_message_set_from (message, wanted->from);
    const char *difference = lk_vector_differs (wanted, message);
    ck_assert_msg (difference[0] == '\0', "%s", difference);
}

/*  What the service said is the example, and nothing else. */
static inline void
says (const char *example)
{
    ck_assert_uint_eq (bus.count, 1);
    compare (bus.sent[0], example);
    forget_sent ();
}

static inline void
set_up_demo (void)
{
    begin ();
    write_genesis ("demo");
    open_lockd ();
    attach ();
    forget_sent ();
    node.count = 0;
}

#endif
