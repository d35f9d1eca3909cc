#!/bin/bash
#   journal.sh - what a journal costs, in memory and on a disk
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Locks of a process beside one of three leaders, one at a time and 64 under
#   way, with each mode of lock/journal: journal.memory has it on a tmpfs,
#   journal.disk where /var/tmp is. Then all lock services are killed at once,
#   while 20,000 names are held, or HELD, with ONLY=1 nothing else:
#   journal.sync.recovery, from then on until h1 leads again, with all of them.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

held=${HELD:-$(many 20000 500)}
ms=$(many 1500 100)
former=$work

#   in_folder FOLDER: what follows lies there.
in_folder () {
    work=$(mktemp -d "$1/bench.XXXXXX") || exit 2
}
out_of_folder () {
    sandbox_stop
    rm -rf "$work"
    work=$former
}

#   load NAME MODE
load () {
    sandbox_start 3 --set "lock/journal=$2"
    on h1 on_near "$BUILD/tests/bench/client" \
        "ipc://$LOCKKEEPER_SANDBOX/h1/router" "journal.$1.$2" any "$ms" \
        exclusive:1 exclusive:64 | grep -E 'latency.p50|\.ops '
    sandbox_stop
}

#   all_are_back: h1's lock service leads, and has them all.
all_are_back () {
    on h1 "$lockkeeper" status --json | head -n 1 >"$work/status"
    grep -q '"leads": *true' "$work/status" &&
        grep -q "\"tickets\": *${held}[,}]" "$work/status"
}

#   recovery MODE
recovery () {
    local host began_ms
    sandbox_start 3 --set "lock/journal=$1" --set lock/host-lease=60000
    mkfifo "$work/orders" "$work/says"
    on h1 "$BUILD/tests/bench/held" "ipc://$LOCKKEEPER_SANDBOX/h1/router" \
        "$held" <"$work/orders" >"$work/says" &
    children=($!)
    exec 7>"$work/orders" 8<"$work/says"
    read -r -t 200 -u 8 _ _ || die 'not all could be held'
    sleep 0.5
    for host in h1 h2 h3; do
        kill -9 "$(pid_of "$host" lockd)"
    done
    began_ms=$(date +%s%3N)
    for host in h1 h2 h3; do
        "$lockkeeper" sandbox restart "$host" lockd >&2 || die 'no restart'
    done
    within 60 all_are_back || die 'not all names came back'
    figure "journal.$1.recovery" "$(($(date +%s%3N) - began_ms))" ms
    exec 7>&-
    wait "${children[0]}"
    children=()
    sandbox_stop
    rm -f "$work/orders" "$work/says"
}

if [ -z "${ONLY:-}" ]; then
    for mode in off async sync; do
        in_folder /dev/shm
        load memory "$mode"
        out_of_folder
        in_folder /var/tmp
        load disk "$mode"
        out_of_folder
    done
fi
recovery sync
