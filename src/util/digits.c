/*  digits.c - numbers as text, exactly as they travel
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/digits.h"
#include "util/bytes.h"

static const char hex_digits[] = "0123456789abcdef";

static int
hex_value (char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    if (digit >= 'A' && digit <= 'F') {
        return digit - 'A' + 10;
    }
    return -1;
}

bool
lk_hex_bytes_parse (const char *data, size_t size, uint8_t *bytes)
{
    if (size % 2) {
        return false;
    }
    for (size_t i = 0; i < size; i += 2) {
        const int high = hex_value (data[i]);
        const int low = hex_value (data[i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i / 2] = (uint8_t) (high << 4 | low);
    }
    return true;
}

void
lk_hex_bytes_format (const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++) {
        *text++ = hex_digits[bytes[i] >> 4];
        *text++ = hex_digits[bytes[i] & 15];
    }
    *text = '\0';
}

void
lk_hex_format (uint64_t value, char text[LK_HEX_SIZE])
{
    uint8_t bytes[8];
    lk_bytes_put64 (bytes, value);
    lk_hex_bytes_format (bytes, sizeof bytes, text);
}

bool
lk_hex_parse (const char *data, size_t size, uint64_t *value)
{
    uint8_t bytes[8];
    if (size != 2 * sizeof bytes || !lk_hex_bytes_parse (data, size, bytes)) {
        return false;
    }
    *value = lk_bytes_get64 (bytes);
    return true;
}

bool
lk_decimal_parse (const char *data, size_t size, uint64_t *value)
{
    uint64_t sum = 0;
    if (!size || (size > 1 && data[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        const unsigned digit = (unsigned) (data[i] - '0');
        if (digit > 9 || __builtin_mul_overflow (sum, 10u, &sum)
            || __builtin_add_overflow (sum, digit, &sum)) {
            return false;
        }
    }
    *value = sum;
    return true;
}
