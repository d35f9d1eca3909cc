/*  fuel.c - what a fuzzer gives, taken piece by piece
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/fuel.h"

#include <string.h>

bool
lk_fuel_burns (const lk_fuel *self)
{
    return self->size > 0;
}

uint8_t
lk_fuel_byte (lk_fuel *self)
{
    if (self->size == 0) {
        return 0;
    }
    self->size--;
    return *self->data++;
}

size_t
lk_fuel_below (lk_fuel *self, size_t below)
{
    return lk_fuel_byte (self) % below;
}

uint64_t
lk_fuel_number (lk_fuel *self)
{
    const uint8_t how = lk_fuel_byte (self);
    const uint64_t low = lk_fuel_byte (self);
    uint64_t number = 0;
    switch (how % 8) {
    case 0:
    case 1:
    case 2:
        return low;
    case 3:
        return low << how / 8 % 32;
    case 4: /* below a power of two */
        return ((uint64_t) 1 << low % 64) - how / 128 - 1;
    case 5:
        return 0 - low;
    case 6:
        return ((uint64_t) 1 << low % 64) + how / 128;
    default:
        for (int i = 0; i < 8; i++) {
            number = number << 8 | lk_fuel_byte (self);
        }
        return number;
    }
}

const uint8_t *
lk_fuel_bytes (lk_fuel *self, size_t *size)
{
    *size = lk_fuel_byte (self);
    *size = *size << 8 | lk_fuel_byte (self);
    const uint8_t *bytes = self->data;
    *size = *size < self->size ? *size : self->size;
    self->data += *size;
    self->size -= *size;
    return bytes;
}

const char *
lk_fuel_text (lk_fuel *self, char *text, size_t room)
{
    size_t size;
    const uint8_t *bytes = lk_fuel_bytes (self, &size);
    size = size < room ? size : room - 1;
    if (size > 0) {
        memcpy (text, bytes, size);
    }
    text[size] = '\0';
    return text;
}
