/*  status_domain.c - location domains: whether the loss of one stops all locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/status.h"

#include "wire/domain.h"

#include <stdio.h>
#include <string.h>

/*  A member whose domain is not known is in none. */
static size_t
count_members (const lk_survey *survey, const char *domain)
{
    size_t count = 0;
    for (size_t i = 0; i < survey->count; i++) {
        count += survey->host[i].is_member
                 && lk_domain_is_within (domain, survey->host[i].domain);
    }
    return count;
}

/*  To the domain around it; "": there is none. */
static void
widen (char *domain)
{
    char *dot = strrchr (domain, '.');
    *(dot != NULL ? dot : domain) = '\0';
}

/*  The narrowest domain whose loss leaves no majority, of those that have
 *  several members and not all: its members, 0 if there is none. */
static size_t
find_heavy (const lk_survey *survey, size_t members,
            char heavy[LK_DOMAIN_LEN_MAX + 1])
{
    char domain[LK_DOMAIN_LEN_MAX + 1];
    size_t fewest = members;
    for (size_t i = 0; i < survey->count; i++) {
        const lk_survey_host *host = &survey->host[i];
        memcpy (domain, host->domain, sizeof domain);
        for (; host->is_member && domain[0] != '\0'; widen (domain)) {
            const size_t count = count_members (survey, domain);
            if (count > 1 && count < fewest
                && 2 * (members - count) <= members) {
                fewest = count;
                memcpy (heavy, domain, sizeof domain);
            }
        }
    }
    return fewest < members ? fewest : 0;
}

/*  One of them is out of date. */
static void
add_differing (const lk_survey *survey, lk_advices *advices)
{
    for (size_t i = 0; i < survey->count; i++) {
        const lk_survey_host *host = &survey->host[i];
        if (host->told_domain[0] != '\0') {
            lk_advise (
                advices, "note",
                "%s is in %s by its own file (lock/domain), and in %s by "
                "the settings (hosts/domain): those count",
                host->name, host->told_domain, host->domain);
        }
    }
}

void
lk_status_add_domain (const lk_survey *survey, lk_advices *advices)
{
    char heavy[LK_DOMAIN_LEN_MAX + 1];
    const size_t members = count_members (survey, "");
    const size_t count = find_heavy (survey, members, heavy);
    if (count > 0) {
        lk_advise (advices, "warning",
                   "%zu of %zu members are in %s: without it locks stop; no "
                   "domain should have more than %zu",
                   count, members, heavy, (members - 1) / 2);
    }
    add_differing (survey, advices);
}
