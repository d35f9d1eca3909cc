#!/bin/bash
#   costs.sh - what one operation costs each process, and what none does
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Three hosts at rest: the share of a core that the dearest router and the
#   dearest lock service take. Then one client locks and unlocks names of its
#   own host: for each process of the home and of a follower CPU time and
#   wake-ups of an operation, from /proc; and system calls, if there is strace.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

processes=({h1,h2,h3}/{router,lockd})
declare -A role=([h1]=home [h2]=follower)

#   snapshot: "HOST/DAEMON NS WAKE-UPS" for all of them; the time, and what was
#   unlocked on h1, ever.
snapshot () {
    local it pid
    echo "time $(date +%s%N)"
    echo "released $(on h1 "$lockkeeper" status --json | sed 's/.*"lock":{//' |
        grep -o '"releases":[0-9]*' | cut -d : -f 2)"
    for it in "${processes[@]}"; do
        pid=$(pid_of "${it%/*}" "${it#*/}")
        echo "$it $(cut -d ' ' -f 1 "/proc/$pid/schedstat")" \
            "$(awk '$1 ~ /^voluntary/ { print $2 }' "/proc/$pid/status")"
    done
}

#   between A B: "HOST/DAEMON NS WAKE-UPS" from one to the other.
between () {
    awk 'NF != 3 { next }
        NR == FNR { ns[$1] += $2; ups[$1] += $3; next }
        { printf "%s %d %d\n", $1, ns[$1] - $2, ups[$1] - $3 }' \
        "$2" "$1" | sort
}

#   difference WHAT A B: of the time, in seconds, or of what was unlocked.
difference () {
    awk -v what="$1" '$1 == what { print $2 }' "$2" "$3" | paste -s |
        awk -v unit="$([ "$1" = time ] && echo 1e9 || echo 1)" \
            '{ print ($2 - $1) / unit }'
}

#   rest DAEMON: percent of a core.
rest () {
    between "$work/rest.a" "$work/rest.b" |
        awk -v s="$(difference time "$work"/rest.{a,b})" \
            -v daemon="/$1 " 'index ($0, daemon) { ns[$1] += $2 }
            END {
                for (it in ns) { if (ns[it] > most) { most = ns[it] } }
                print most / s / 1e7
            }'
}

#   client MS A B: between two snapshots.
client () {
    snapshot >"$work/$2"
    on_near "$BUILD/tests/bench/client" \
        "ipc://$LOCKKEEPER_SANDBOX/h1/router" load h1 "$1" exclusive:1 \
        >"$work/load" &
    children=($!)
    wait "${children[0]}" || die 'the load failed'
    children=()
    snapshot >"$work/$3"
}

#   per_operation A B: figures of CPU time and wake-ups.
per_operation () {
    local it ns ups name operations
    operations=$(difference released "$work/$1" "$work/$2")
    between "$work/$1" "$work/$2" | while read -r it ns ups; do
        name=${role[${it%/*}]:-}
        [ -n "$name" ] || continue
        name=costs.$name.${it#*/}
        figure "$name.cpu" "$(awk "BEGIN { print $ns / 1e3 / $operations }")" us
        figure "$name.wakeups" "$(awk "BEGIN { print $ups / $operations }")" \
            each
    done
}

#   calls MS: figures of system calls; all of them while strace looks on.
calls () {
    local it pids=()
    for it in {h1,h2}/{router,lockd}; do
        strace -f -c -o "$work/calls.${it/\//.}" \
            -p "$(pid_of "${it%/*}" "${it#*/}")" 2>/dev/null &
        pids+=($!)
    done
    sleep 1
    client "$1" c d
    kill -INT "${pids[@]}"
    wait "${pids[@]}"
    for it in {h1,h2}/{router,lockd}; do
        figure "costs.${role[${it%/*}]}.${it#*/}.calls" \
            "$(awk -v n="$(difference released "$work"/{c,d})" '
                $NF == "total" { print $4 / n }' \
                "$work/calls.${it/\//.}")" each
    done
}

sandbox_start 3
sleep "$(many 1 0.1)"
snapshot >"$work/rest.a"
sleep "$(many 4 0.5)"
snapshot >"$work/rest.b"
figure rest.router.cpu "$(rest router)" %
figure rest.lockd.cpu "$(rest lockd)" %

client "$(many 1500 300)" a b
per_operation a b
if command -v strace >/dev/null; then
    calls "$(many 1000 200)"
fi
