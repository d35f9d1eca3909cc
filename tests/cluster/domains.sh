#!/bin/bash
#   domains.sh - leaders at three sites; one of them is cut off, and comes back
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Whoever leads first, leaders are spread once all is calm; and again when a
#   site that was lost is there, and when hosts are elsewhere.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
[ "$mode" = namespaces ] || skip_test 'cuts take network namespaces'
options=(--settle=500)
make_hosts 6

#   are_spread SITE...: of hosts, separated by commas, each has one leader.
are_spread () {
    local leaders site host count
    leaders=" $(leaders_of h3) "
    for site in "$@"; do
        count=0
        for host in ${site//,/ }; do
            [[ $leaders != *" $host "* ]] || count=$((count + 1))
        done
        [ $count = 1 ] || return
    done
}

put_hosts () {
    on h3 settings set hosts/domain "$@" >/dev/null
}

shows_domain () {
    on h3 cluster members | grep -q "^$1 .* $2 "
}

for host in h1 h3 h5; do
    start_own $host
done
# shellcheck disable=SC2046
check 'all are at work' await go_on 0 $(own_of h1 h3 h5)
check 'the settings say where hosts are' await put_hosts \
    'h1 au.perth.dc4' 'h2 au.perth.dc4' 'h3 au.sydney.dc1' 'h4 au.sydney.dc1' \
    'h5 nz.dc1' 'h6 nz.dc1'
check 'each site has a leader' await are_spread h1,h2 h3,h4 h5,h6
check 'the members are shown with their domains' await shows_domain h5 nz.dc1

check 'a site is cut off' cut 'h1 h2' 'h3 h4 h5 h6'
# shellcheck disable=SC2046
check 'the others go on' await go_on "$("$history" now)" $(own_of h3 h5)
check 'it is back' heal
check 'all are ready' hosts_get all_ready
check 'each site has a leader again' await are_spread h1,h2 h3,h4 h5,h6
# shellcheck disable=SC2046
check 'all go on' await go_on "$("$history" now)" $(own_of h1 h3 h5)

check 'hosts are elsewhere' await put_hosts \
    'h1 au.perth' 'h4 au.perth' 'h2 au.sydney' 'h5 au.sydney' 'h3 nz' 'h6 nz'
check 'each site has a leader' await are_spread h1,h4 h2,h5 h3,h6

check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
