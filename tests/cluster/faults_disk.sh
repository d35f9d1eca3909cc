#!/bin/bash
#   faults_disk.sh - the disk of the state file is full, and that of the lease
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A service that cannot write its state ends and says why, the others go
#   on, and it comes back when there is room.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
host_lease_ms=12000
make_hosts 3

for host in "${hosts[@]}"; do
    start_own "$host"
done
start_load keeper h2 --style hold --object kept
check 'a holder on h2' await happened granted kept

#   start_again HOST: lock service; so that what its log says is of this one.
start_again () {
    : >"$where/$1/lockd.log"
    start_daemon "$1" lockd
}

#   ends_with TEXT: h1's lock service ends, and says so once.
ends_with () {
    await is_dead h1 lockd && await log_has h1 lockd "$1" || return 1
    [ "$(grep -c error: "$where/h1/lockd.log")" = 1 ]
}

#   ------------------------------------------------------------ the state

full='no space left on device; make room there'
[ "$mode" = namespaces ] || full='file too large'
check "the disk of h1's state is full" fill_disk h1 state
check 'another leader is killed' kill_daemon h3 lockd
check "h1's lock service ends and says why" ends_with "$full"
from=$("$history" now)
check 'the other one comes back' start_daemon h3 lockd
check 'the others go on' await granted_since h2.0 "$from"
check 'and h3' await granted_since h3.0 "$from"
[ "$mode" = loopback ] || {
    start_again h1
    check 'it ends again while the disk is full' ends_with "$full"
}
empty_disk h1 state
from=$("$history" now)
start_again h1
check 'there is room, it comes back' hosts_get all_full
check 'and h1 goes on' await granted_since h1.0 "$from"

#   ------------------------------------------------------------ the lease

[ "$mode" = loopback ] || {
    check "the disk of h1's lease is full" fill_disk h1 run
    check 'its lock service is killed' kill_daemon h1 lockd
    start_again h1
    check 'it ends and says why' ends_with \
        "lock.lease': no space left on device"
    empty_disk h1 run
    start_again h1
    check 'there is room, it comes back' hosts_get all_full
}

lost_kept () {
    happened lost kept
}

check 'a lock held elsewhere was not lost' code 1 lost_kept
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
