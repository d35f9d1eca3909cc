/*  codec_fake.h - messages between lock services, read from the examples
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For one test program each.
 */

#ifndef LK_CODEC_FAKE_H
#define LK_CODEC_FAKE_H

#include "lib/example.h"
#include "lib/lock_copy.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX (((int64_t) 1 << 53) - 1)
#define FAKE __attribute__ ((unused)) static

static lk_hostmap hostmap;
static lk_lock_message got;

FAKE void
set_up (void)
{
    lk_example_hostmap (&hostmap);
    memset (&got, 0, sizeof got);
}

FAKE void
tear_down (void)
{
    lk_lock_message_clear (&got);
}

FAKE void
take (const char *name)
{
    lk_example_take (name, &hostmap, &got);
}

#endif
