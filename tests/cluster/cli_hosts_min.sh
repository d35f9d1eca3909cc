#!/bin/bash
#   cli_hosts_min.sh - lock/hosts-min: too few hosts, and nobody is let in
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX") || exit 1
in_sandbox "$0" --hosts 3 --set lock/hosts-min=3
trap 'rm -rf "$work"' EXIT
reason='2 of at least 3 hosts are there'

#   stop HOST: its lock service, and the router where that hosts it.
stop () {
    local name
    for name in $(daemons lockd); do
        kill "$(cat "$LOCKKEEPER_SANDBOX/$1/$name.pid")"
    done
}

check 'three hosts: locks can be had' on h1 run one -- true
start_on h1 run held -- sleep 1000
holder=$!
check 'one is held' await says 0 held on h1 list
stop h3
check 'two hosts: no more' await says 1 "$reason" on h1 status
check 'on h2, too' await says 1 "$reason" on h2 status
check 'a lock is refused' says 125 "$reason" on h1 run two -- true
check 'so is one that would wait' says 125 "$reason" \
    on h2 run held --wait 5 -- true
check 'one that is held stays' kill -0 $holder
check 'it can be given back' kill $holder
check 'nobody is ready' says 124 "$reason" on h2 wait-ready --timeout 3
check 'the log says it' grep -q 'hosts: enough -> too few hosts-min=3 seen=2' \
    "$LOCKKEEPER_SANDBOX/h1/$(daemons lockd).log"
check 'the third is back' "$lockkeeper" sandbox restart h3
check 'all are let in' on h1 wait-ready --timeout 90
check 'locks can be had again' await on h1 run two -- true
check 'that one, too' await on h2 run held -- true
done_checking
