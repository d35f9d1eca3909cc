/*  decree.c - terms, decrees and quorums
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "decree.h"

#include "util/assert.h"

/*  protocol 9.1 */
int
lk_term_compare (lk_term a, lk_term b)
{
    if (a.number != b.number) {
        return a.number < b.number ? -1 : 1;
    }
    if (a.proposer != b.proposer) {
        return a.proposer < b.proposer ? -1 : 1;
    }
    return 0;
}

bool
lk_term_equal (lk_term a, lk_term b)
{
    return a.number == b.number && a.proposer == b.proposer;
}

bool
lk_term_is_zero (lk_term term)
{
    return term.number == 0;
}

int
lk_decree_place (const lk_decree *self, lk_host host)
{
    for (int place = 0; place < self->leader_count; place++) {
        if (self->leader[place] == host) {
            return place;
        }
    }
    return -1;
}

lk_hosts
lk_decree_leaders (const lk_decree *self)
{
    lk_hosts leaders = 0;
    for (size_t place = 0; place < self->leader_count; place++) {
        leaders |= LK_HOST_BIT (self->leader[place]);
    }
    return leaders;
}

int
lk_hosts_count (lk_hosts hosts)
{
    return __builtin_popcountll (hosts);
}

bool
lk_hosts_has (lk_hosts hosts, lk_host host)
{
    return host < LK_HOSTS_MAX && (hosts & LK_HOST_BIT (host)) != 0;
}

/*  protocol 9.1 */
bool
lk_is_quorum (lk_hosts members, lk_hosts present)
{
    return members != 0
           && lk_hosts_count (members & present)
                  >= lk_hosts_count (members) / 2 + 1;
}

lk_host
lk_hosts_take (lk_hosts *hosts)
{
    LK_ASSERT (*hosts != 0);
    lk_host host = (lk_host) __builtin_ctzll (*hosts);
    *hosts &= *hosts - 1;
    return host;
}

lk_hosts
lk_decree_hosts (const lk_decree *self)
{
    return self->members | lk_decree_leaders (self);
}

lk_hosts
lk_hosts_of (lk_host host)
{
    return host < LK_HOSTS_MAX ? LK_HOST_BIT (host) : 0;
}
