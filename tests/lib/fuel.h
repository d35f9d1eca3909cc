/*  fuel.h - what a fuzzer gives, taken piece by piece
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For targets that turn bytes into a sequence of steps. Behind the end
 *  everything is zero.
 */

#ifndef LK_FUEL_H
#define LK_FUEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *data;
    size_t size;
} lk_fuel;

/*  Whether there is any left. */
bool lk_fuel_burns (const lk_fuel *self);

uint8_t lk_fuel_byte (lk_fuel *self);

/*  A number below `below`, which is 256 at most and not 0: one byte. */
size_t lk_fuel_below (lk_fuel *self, size_t below);

/*  Mostly small ones, or near the ends of what 64 bits hold: two bytes, or
 *  ten. */
uint64_t lk_fuel_number (lk_fuel *self);

/*  Up to `size` bytes and how many they are: two bytes of length, then
 *  themselves. Borrowed from the input. */
const uint8_t *lk_fuel_bytes (lk_fuel *self, size_t *size);

/*  The same as text, cut at `room`, with a NUL at its end. */
const char *lk_fuel_text (lk_fuel *self, char *text, size_t room);

#endif
