#!/bin/bash
#   leave.sh - `lockkeeper leave`: others lead ahead of a stop
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=4000

log_of () {
    echo "$LOCKKEEPER_SANDBOX/$1/$(daemons lockd | head -n 1).log"
}

#   leads HOST: as its own lock service says.
leads () {
    on "$1" status --json | grep -q "\"host\":\"$1\".*\"role\":\"[a-z ]*leader\""
}
leads_not () {
    on h2 status --json | grep -q "\"host\":\"$1\".*\"role\":\"member\""
}

check 'all lead' on h1 wait-ready --full --timeout 60
start_on h1 run held -- sleep 1000
holder=$!
check 'h1 holds a lock' await says 0 held on h1 list
check 'h1 leaves' says 0 'h1 leads nothing: restart or stop it; 1 lock held' \
    on h1 leave
check 'it leads no more' await leads_not h1
check 'its lock is held' says 0 held on h2 list
check 'locks can be had on it' on h1 run --wait 5 other -- true
check 'status tells it' says 0 'leave, and do not lead: h1 for ' on h3 status
check 'so does the log' grep -q 'audit: drain asked .*drain=yes' "$(log_of h1)"
check 'once more: as before' says 0 '"state":"drained","leads":false' \
    on h1 leave --json
check 'the cluster is as full as it can be' \
    on h1 wait-ready --full --timeout 60
check 'from another host' says 0 'h1 may lead again' on h2 leave h1 --undo
check 'it leads again' on h2 wait-ready --full --timeout 60
check 'all three do' await leads h1
check 'for a second' on h1 leave --for 1
check 'which is soon over' await grep -q 'draining: yes -> no' "$(log_of h1)"
kill $holder
done_checking
