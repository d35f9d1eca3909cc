#   canaries_standbys.sh - what is broken of standbys
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Read by canaries.sh.
#   shellcheck shell=sh

canary standbys-in-no-order 1 unit/core_standbys rank.c \
    's/&& comes_before (core, host, standbys->host\[place - 1\])/\&\& 0/; s/comes_before (const/__attribute__ ((unused)) comes_before (const/'
canary standbys-out-of-sight 1 unit/core_standbys able.c \
    's/if (!lk_hosts_has (peer->sees, leader)/if (0/'
canary a-standby-that-drains 1 unit/core_standbys able.c \
    's/|| !lk_able_to_lead (election, host)//'
canary any-leader-says-who-is-next 1 unit/core_standbys standbys.c \
    's/lk_decree_place (decree, from) == 0/lk_decree_place (decree, from) >= 0/'
canary who-was-next-in-another-term 1 unit/core_standbys standbys.c \
    's/return lk_term_equal (core->next_term, core->in_force.term)/return core->next_term.number != 0/'
canary every-leader-is-the-home 1 unit/core_standbys leader/look.c \
    's/= lk_table_tickets (&lead->table, home)/= lead->table.count/'
