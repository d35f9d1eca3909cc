/*  refusals.h - what applications may not ask, and what they are told then
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For a lock service with a fake core, and for real ones.
 */

#ifndef LK_TEST_REFUSALS_H
#define LK_TEST_REFUSALS_H

#include <lockkeeper/message.h>

typedef struct {
    const char *command;
    const char *body; /* JSON, with ' for " */
    const char *text; /* of LOCKFAILED with `invalid` */
} lk_refused_row;

extern const lk_refused_row lk_refusals[];
extern const size_t lk_refusal_count;

/*  A message with a body like that, from an application. The caller owns it. */
lk_message *lk_refusal_message (const char *from, const char *command,
                                uint64_t serial, const char *body);

#endif
