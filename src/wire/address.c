/*  address.c - service@host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/address.h"

#include <string.h>

/*  By table, since the router looks at each byte of each address. */
#define DIGITS ['0' ... '9'] = true
#define LETTERS ['A' ... 'Z'] = true, ['a' ... 'z'] = true
static const bool allowed[256] = {
    DIGITS, LETTERS, ['.'] = true, ['_'] = true, ['-'] = true};
#undef DIGITS
#undef LETTERS

bool
lk_address_allows (char c)
{
    return allowed[(unsigned char) c];
}

static bool
is_word (lk_slice text, size_t len_max)
{
    if (!text.size || text.size > len_max) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (!lk_address_allows (text.data[i])) {
            return false;
        }
    }
    return true;
}

bool
lk_address_is_command (lk_slice text)
{
    return is_word (text, LK_COMMAND_LEN_MAX);
}

bool
lk_address_is_name (lk_slice text)
{
    const bool is_dots = text.size > 0 && text.size <= 2 && text.data[0] == '.'
                         && text.data[text.size - 1] == '.';
    return is_word (text, LK_HOST_LEN_MAX) && !is_dots;
}

bool
lk_address_is_far (lk_slice service)
{
    const size_t size = sizeof LK_ADDRESS_FAR - 1;
    return service.size >= size
           && memcmp (service.data, LK_ADDRESS_FAR, size) == 0;
}

_Static_assert(LK_SERVICE_LEN_MAX == LK_HOST_LEN_MAX
                   && LK_SERVICE_LEN_MAX + 1 + LK_HOST_LEN_MAX
                          == LK_ADDRESS_LEN_MAX,
               "limits of names and addresses fit");

bool
lk_address_parts (lk_slice text, lk_address *address)
{
    const char *at = text.size ? memchr (text.data, '@', text.size) : NULL;
    if (!at) {
        return false;
    }
    const size_t len = (size_t) (at - text.data);
    address->service = (lk_slice) {text.data, len};
    address->host = (lk_slice) {at + 1, text.size - len - 1};
    return true;
}

static bool
is_one_of (lk_slice text, const char *characters)
{
    return text.size == 1 && strchr (characters, text.data[0]) && text.data[0];
}

bool
lk_address_split (lk_slice text, lk_address *address)
{
    return lk_address_parts (text, address)
           && (is_one_of (address->service, "*")
               || lk_address_is_name (address->service))
           && (is_one_of (address->host, ".*?")
               || lk_address_is_name (address->host));
}

bool
lk_address_split_sender (lk_slice text, lk_address *address)
{
    return lk_address_parts (text, address)
           && lk_address_is_name (address->service)
           && (is_one_of (address->host, ".")
               || lk_address_is_name (address->host));
}
