/*  domain.c - location domains: where a host or an application is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/domain.h"

#include "wire/address.h"

#include <string.h>

bool
lk_domain_is_valid (const char *text)
{
    const size_t len = strlen (text);
    bool is_begun = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '.' ? !is_begun : !lk_address_allows (text[i])) {
            return false;
        }
        is_begun = text[i] != '.';
    }
    return is_begun && len <= LK_DOMAIN_LEN_MAX;
}

static size_t
count_labels (const char *domain)
{
    size_t count = domain[0] != '\0';
    for (; *domain != '\0'; domain++) {
        count += *domain == '.';
    }
    return count;
}

/*  How many labels both begin with. */
static size_t
count_common (const char *one, const char *other)
{
    size_t count = 0;
    size_t len = strcspn (one, ".");
    while (len > 0 && len == strcspn (other, ".")
           && memcmp (one, other, len) == 0) {
        count++;
        one += len + (one[len] == '.');
        other += len + (other[len] == '.');
        len = strcspn (one, ".");
    }
    return count;
}

size_t
lk_domain_step (const char *own, const char *other)
{
    const size_t common = count_common (own, other);
    const size_t up = 2 * (count_labels (own) - common);
    return common == 0 || common == count_labels (other) ? up : up + 1;
}

size_t
lk_domain_score (const char *one, const char *other)
{
    const size_t levels = count_labels (one), others = count_labels (other);
    const size_t most = levels > others ? levels : others;
    return levels == 0 || others == 0 ? 0 : most - count_common (one, other);
}

bool
lk_domain_is_within (const char *domain, const char *other)
{
    return count_common (domain, other) == count_labels (domain);
}
