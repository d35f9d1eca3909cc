/*  digits.h - numbers as text, exactly as they travel
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_DIGITS_H
#define LK_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LK_HEX_SIZE 17 /* sixteen digits and a NUL */

/*  Sixteen lower-case hexadecimal digits and a NUL. */
void lk_hex_format (uint64_t value, char text[LK_HEX_SIZE]);

/*  Exactly sixteen hexadecimal digits of either case. */
bool lk_hex_parse (const char *data, size_t size, uint64_t *value);

/*  Decimal digits only, no sign, no leading zero, fits in 64 bits. */
bool lk_decimal_parse (const char *data, size_t size, uint64_t *value);

/*  Any even number of hexadecimal digits as half as many bytes. */
bool lk_hex_bytes_parse (const char *data, size_t size, uint8_t *bytes);
void lk_hex_bytes_format (const uint8_t *bytes, size_t size, char *text);

#endif
