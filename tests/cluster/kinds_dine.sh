#!/bin/bash
#   kinds_dine.sh - a thousand clients, fifty names, two or three at a time
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   kinds_dine.sh [SECONDS]; DINERS=N of 1000, on three of four hosts. All of
#   them are served, and nobody has what another has; with more than 10 s the
#   fourth host, if it leads, dies and comes again meanwhile.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source=tests/cluster/kinds_tap.sh
. "$(dirname "$0")/kinds_tap.sh"
seconds=${1:-3}
make_hosts 4

dine () {
    "$BUILD/tests/cluster/kinds_dine" --seconds "$seconds" \
        --clients "${DINERS:-1000}" "ipc://$where/h1/router" \
        "ipc://$where/h2/router" "ipc://$where/h3/router" | tee "$work/meals"
    return "${PIPESTATUS[0]}"
}


#   Nobody has locks there.
disturb () {
    sleep $((seconds / 3))
    kill_host h4
    sleep 5
    start_host h4
}

echo "# the leaders are $(leaders_of h1)"
[ "$seconds" -le 10 ] || disturb &
check 'everybody is served, nobody has what another has' dine
echo "measured: $(cat "$work/meals")"
wait
echo "# the leaders are $(leaders_of h1)"
check 'nothing is left' within 3 no_tickets
finish_test
