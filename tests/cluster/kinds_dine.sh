#!/bin/bash
#   kinds_dine.sh - a thousand clients, fifty names, two or three at a time
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   kinds_dine.sh [SECONDS]; DINERS=N of 1000, on three of four hosts. All of
#   them are served, and nobody has what another has; with more than 10 s the
#   fourth host, a leader, dies and comes again meanwhile.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source=tests/cluster/kinds_tap.sh
. "$(dirname "$0")/kinds_tap.sh"
seconds=${1:-2}
[ "$seconds" -gt 10 ] || host_lease_ms=60000
make_hosts 4
know_leaders h1
victim=${now[0]}
echo "# the leaders are $(leaders_of h1); nobody dines on $victim"

dine () {
    local endpoints=() host
    for host in "${hosts[@]}"; do
        [ "$host" = "$victim" ] || endpoints+=("ipc://$where/$host/router")
    done
    "$BUILD/tests/cluster/kinds_dine" --seconds "$seconds" \
        --clients "${DINERS:-1000}" "${endpoints[@]}" >"$work/meals" 2>&1
}

#   They dine in the background, so that we can do something to them.
dine &
dining=$!
if [ "$seconds" -gt 10 ]; then
    sleep $((seconds / 3))
    check 'a leader dies' kill_host "$victim"
    sleep 5
    start_host "$victim"
    echo "# the leaders are $(leaders_of h1)"
fi
wait $dining
code=$?
check 'everybody is served, nobody has what another has' test $code = 0
echo "measured: $(cat "$work/meals")"
check 'nothing is left' await no_tickets
finish_test
