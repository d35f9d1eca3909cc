#!/bin/bash
#   garbage_sockets.sh - garbage on every socket, while applications go on
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   garbage_sockets.sh [SEED [SECONDS]]

export GARBAGE_SEED=${GARBAGE_SEED:-${1:-$((RANDOM * 32768 + RANDOM))}}
export GARBAGE_SECONDS=${GARBAGE_SECONDS:-${2:-6}}
# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "$0")/load_tap.sh"
in_sandbox "$0" --hosts 3
hosts=(h1 h2 h3)
echo "# $0 $GARBAGE_SEED $GARBAGE_SECONDS"

endpoints=()
for host in "${hosts[@]}"; do
    ready "$host"
    endpoints+=("ipc://$where/$host/router"
        "tcp://$(sed -n 's/^host.* at \([0-9.:]*\)).*/\1/p' \
            "$work/status.$host")")
    start_load "$host" "$host" --seed $((GARBAGE_SEED + ${#endpoints[@]}))
done
numbers=$(cat "$where"/*/*.pid)

throw () {
    "$BUILD/tests/cluster/garbage" "$GARBAGE_SEED" "$GARBAGE_SECONDS" \
        "${endpoints[@]}"
}

same_daemons () {
    all_live && [ "$numbers" = "$(cat "$where"/*/*.pid)" ]
}

#   Nobody was led to believe that the cluster has other members or leaders.
nobody_elected () {
    local host
    for host in "${hosts[@]}"; do
        grep -E '^(cluster|members) ' "$work/status.$host"
    done | sort -u | awk 'END { exit NR != 2 }'
}

same_cluster () {
    hosts_get all_ready && nobody_elected
}

#   How much its router counted.
broken () {
    on "$1" status --json | sed -n 's/.*"broken": *"*\([0-9]*\).*/\1/p'
}

check 'garbage, half messages and lies at six sockets' throw
echo "# $(tail -n 1 "$work/out")"
check 'no daemon ended' same_daemons
check 'all are ready' hosts_get all_ready
check 'of the same cluster' await same_cluster
check 'every application got its answers' stop_loads "${hosts[@]}"
check 'the judge is content, nothing was lost' judge
echo "# $(tail -n 1 "$work/out")"
check 'what was broken was counted' test "$(broken h1)" -gt 10
keep_for_later
done_checking
