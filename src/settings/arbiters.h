/*  arbiters.h - the arbiters of a cluster, as its settings name them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An arbiter votes and holds no tickets. It has no `router/key`: hosts dial
 *  it, it dials nobody. lockkeeper-settings(5).
 */

#ifndef LK_SETTINGS_ARBITERS_H
#define LK_SETTINGS_ARBITERS_H

#include "net/curve.h"

#include <lockkeeper/message.h>
#include <stdbool.h>
#include <stddef.h>

#define LK_SETTING_ARBITER "hosts/arbiter"
#define LK_ARBITERS_MAX 5

typedef struct {
    char name[LK_HOST_LEN_MAX + 1];       /* as that of a host */
    char address[LK_ADDRESS_LEN_MAX + 1]; /* HOST:PORT, where it is dialled */
    char key[LK_CURVE_TEXT_SIZE];
} lk_arbiter;

/*  All `hosts/arbiter`, in their order: how many. */
size_t lk_common_settings_arbiters (const char *text,
                                    lk_arbiter arbiters[LK_ARBITERS_MAX]);

/*  "NAME ADDRESS KEY", as such a line has it; false: that is none. */
#define LK_ARBITER_LINE_SIZE                                                   \
    (LK_HOST_LEN_MAX + LK_ADDRESS_LEN_MAX + LK_CURVE_TEXT_SIZE + 2)
bool lk_arbiter_read (lk_arbiter *self, const char *value);
void lk_arbiter_write (const lk_arbiter *self,
                       char value[LK_ARBITER_LINE_SIZE]);

/*  That of this name; NULL: there is none. */
const lk_arbiter *lk_arbiter_find (const lk_arbiter *arbiters, size_t count,
                                   const char *name);

#endif
