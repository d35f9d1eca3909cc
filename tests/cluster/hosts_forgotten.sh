#!/bin/bash
#   hosts_forgotten.sh - a host comes 110 times with a fresh state file
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   To the others each of them is another host, and there is room for 64: those
#   that are gone and hold nothing are forgotten. It is served in the end, and
#   so is one that was never there; nothing that others hold is lost.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
members='h1 h2 h3'
options=(--log-level=info)
restarts=110
make_hosts 4

start_load keeper h1 --style hold --object kept
start_own h2
check 'a holder on h1' within 60 happened granted kept

#   known N: so many of h4 have said who they are to each member.
known () {
    local host
    for host in h1 h2 h3; do
        [ "$(grep -c 'lock service host=h4 id=.*: new -> known' \
            "$where/$host/lockd.log")" -ge "$1" ] || return 1
    done
}

#   come_again FIRST LAST
come_again () {
    local i
    for ((i = $1; i <= $2; i++)); do
        kill_daemon h4 lockd && rm "$where/h4/state/lock.state" &&
            start_daemon h4 lockd && within 60 known "$i" || {
            echo "restart $i of h4"
            return 1
        }
    done
}

for ((last = 11; last <= restarts; last += 11)); do
    check "h4 has come $last times, each with a fresh state file" \
        come_again $((last > 11 ? last - 10 : 2)) "$last"
done
check 'the last one is served' hosts_get all_full
start_own h4
check 'and has locks' within 60 granted_since h4.0 0
check 'one comes that was never there' add_host h5
check 'it is served' hosts_get all_full
start_own h5
check 'and has locks' within 60 granted_since h5.0 0
from=$("$history" now)
check 'h2 goes on' within 60 granted_since h2.0 "$from"

lost_kept () {
    happened lost kept
}

check 'a lock held elsewhere was not lost' code 1 lost_kept
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
