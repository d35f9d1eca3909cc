/*  hosts.c - of which hosts a table knows
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "group.h"
#include "table.h"

/*  Those whose report to a reclaim has begun to come, since that is in the
 *  digest of its home. */
static lk_hosts
named_by_reports (const lk_table *table)
{
    lk_hosts hosts = 0;
    for (size_t home = 0; table->reclaim >> home; home++) {
        for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
            hosts |= table->reporting[home][host] ? LK_HOST_BIT (host) : 0;
        }
    }
    return hosts;
}

lk_hosts
lk_table_hosts (const lk_table *table)
{
    lk_hosts hosts = lk_decree_hosts (&table->decree);
    const lk_group *group = table->groups;
    for (; group; group = group->hh.next) {
        if (group != table->idle_group) {
            hosts |= LK_HOST_BIT (group->id[0]);
        }
    }
    for (size_t i = 0; i < table->unsaved_count; i++) {
        hosts |= LK_HOST_BIT (table->unsaved[i].host);
    }
    return hosts | named_by_reports (table);
}

void
lk_table_forget (lk_table *table, lk_host host)
{
    lk_group_forget (table, host);
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        table->gone[home][host] = 0;
        table->reported[home][host] = 0;
        table->reporting[home][host] = 0;
        table->parts[home][host] = 0;
    }
}
