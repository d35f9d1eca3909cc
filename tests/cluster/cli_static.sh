#!/bin/bash
#   cli_static.sh - a static lock that is lost, and where people are told so
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   One leader that is left keeps it; when all are down at once it is gone.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=4000

daemon=$(daemons lockd)
gone='reclaim: static locks are gone, if there were any'

#   all HOST...: their lock services are killed, and then started again.
restarted () {
    local host
    for host in "$@"; do
        kill -9 "$(cat "$LOCKKEEPER_SANDBOX/$host/$daemon.pid")" || return 1
    done
    for host in "$@"; do
        "$lockkeeper" sandbox restart "$host" || return 1
    done
}
is_ready () {
    on "$1" status
}
is_held () {
    on h1 list --held --object stays | grep -q '^held .* stays$'
}
is_free () {
    on h1 list --object stays >"$work/told" && ! grep stays "$work/told"
}
#   By those that lead then; a third may follow later.
logged () {
    grep -lF "$gone" "$LOCKKEEPER_SANDBOX"/h?/"$daemon.log"
}

on h1 lock stays --static >"$work/key" 2>"$work/err"
check 'lock --static: a warning' grep -q \
    "^lockkeeper: 'stays' is static: .* gone when all leaders are down" \
    "$work/err"
check 'it has its key, for an eval' grep -qE '^key=[0-9a-f]{16} token=[0-9]+$' \
    "$work/key"
check 'no warning for others' test -z "$(on h1 run x -- true 2>&1)"
check 'three lead' await three_lead
check 'one leader is left' restarted h1 h2
check 'locks can be had' await is_ready h1
check 'it is held' await is_held
check 'nothing is logged' code 1 logged
check 'all are down at once' restarted h1 h2 h3
check 'locks can be had again' await is_ready h1
check 'it is gone' await is_free
check 'that is logged' await logged
done_checking
