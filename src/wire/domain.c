/*  domain.c - location domains: where a host or an application is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/domain.h"

#include "wire/address.h"

#include <fnmatch.h>
#include <string.h>

/*  Labels of such letters, and of those that are allowed besides. */
static bool
has_labels (const char *text, const char *besides)
{
    const size_t len = strlen (text);
    bool is_begun = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '.' ? !is_begun
                           : !lk_address_allows (text[i])
                                 && strchr (besides, text[i]) == NULL) {
            return false;
        }
        is_begun = text[i] != '.';
    }
    return is_begun && len <= LK_DOMAIN_LEN_MAX;
}

bool
lk_domain_is_valid (const char *text)
{
    return has_labels (text, "");
}

bool
lk_domain_mask_is_valid (const char *text)
{
    return has_labels (text, "*?");
}

/*  For fnmatch () a label is a part of a path. */
static void
write_path (char path[LK_DOMAIN_LEN_MAX + 1], const char *text)
{
    size_t i = 0;
    for (; text[i] != '\0' && i < LK_DOMAIN_LEN_MAX; i++) {
        path[i] = text[i] == '.' ? '/' : text[i];
    }
    path[i] = '\0';
}

bool
lk_domain_fits (const char *domain, const char *mask)
{
    char path[LK_DOMAIN_LEN_MAX + 1];
    char pattern[LK_DOMAIN_LEN_MAX + 1];
    const char *dot = strrchr (mask, '.');
    const bool is_open = strcmp (dot != NULL ? dot + 1 : mask, "*") == 0;
    write_path (path, domain);
    write_path (pattern, mask);
    return domain[0] != '\0'
           && fnmatch (pattern, path,
                       FNM_PATHNAME | (is_open ? FNM_LEADING_DIR : 0))
                  == 0;
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
