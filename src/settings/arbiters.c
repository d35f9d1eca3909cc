/*  arbiters.c - see arbiters.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/arbiters.h"

#include "net/hostport.h"
#include "net/zpl.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- lines */

/*  The word at *at, which goes behind it and its blank; false: it has no such
 *  size, or no blank behind it. */
static bool
take_word (const char **at, char *word, size_t size)
{
    const char *blank = strchr (*at, ' ');
    const size_t length = blank != NULL ? (size_t) (blank - *at) : 0;
    if (length == 0 || length >= size) {
        return false;
    }
    snprintf (word, size, "%.*s", (int) length, *at);
    *at = blank + 1;
    return true;
}

bool
lk_arbiter_read (lk_arbiter *self, const char *value)
{
    if (!take_word (&value, self->name, sizeof self->name)
        || !take_word (&value, self->address, sizeof self->address)
        || !lk_curve_is_key (value)) {
        return false;
    }
    snprintf (self->key, sizeof self->key, "%s", value);
    return lk_address_is_name (lk_slice_of (self->name))
           && lk_hostport_is_valid (self->address);
}

void
lk_arbiter_write (const lk_arbiter *self, char value[LK_ARBITER_LINE_SIZE])
{
    snprintf (value, LK_ARBITER_LINE_SIZE, "%s %s %s", self->name,
              self->address, self->key);
}

/*  -------------------------------------------------------- looking */

size_t
lk_common_settings_arbiters (const char *text,
                             lk_arbiter arbiters[LK_ARBITERS_MAX])
{
    lk_zpl zpl;
    lk_zpl_line line;
    const char *value;
    size_t count = 0;
    lk_zpl_init (&zpl, text);
    while (count < LK_ARBITERS_MAX
           && (value = lk_zpl_next_value (&zpl, LK_SETTING_ARBITER, &line))
                  != NULL) {
        count += lk_arbiter_read (&arbiters[count], value);
    }
    return count;
}

const lk_arbiter *
lk_arbiter_find (const lk_arbiter *arbiters, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp (arbiters[i].name, name) == 0) {
            return &arbiters[i];
        }
    }
    return NULL;
}
