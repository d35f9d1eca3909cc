#!/bin/bash
#   latency_faults.sh - how soon locks go on after somebody's end
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   latency_faults.sh [TIMES]: prints figures; what it asserts is only that
#   they go on, as nobody knows how busy the machine is.

export TIMES=${TIMES:-${1:-1}}
# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "$0")/load_tap.sh"
in_sandbox "$0" --hosts 3
hosts=(h1 h2 h3)

#   ------------------------------------------------------------ applications

handovers=20

#   Whoever holds it, as soon as that is another one than before.
holder=
next_holder () {
    local old=$holder
    holder=$("$history" holder chain "$work"/*chain*.history 2>/dev/null)
    [ -n "$holder" ] && [ "$holder" != "$old" ]
}

#   Its supervisor is who kills it, and notes when.
kill_holder () {
    local pid=${holder#*/}
    pid=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/${pid%.*}/status") || return 1
    kill -INT "$pid"
}

hand_over () {
    local i
    for ((i = 0; i <= handovers; i++)); do
        start_load "chain$i" "h$((i % 3 + 1))" --style hold --object chain
    done
    await next_holder || return 1
    sleep 1
    for ((i = 0; i < handovers; i++)); do
        kill_holder || return 1
        await next_holder || return 1
        sleep 0.05
    done
}

check "$handovers times kill -9 of the holder: the next one gets it" hand_over
end_loads INT "${!loads[@]}" 2>/dev/null
read -r count median least most < <(
    "$history" handovers chain "$work"/*.history)
echo "measured: holder's application killed -> next holder: median" \
    "$((median / 1000)).$((median % 1000 / 100)) ms of $count" \
    "(from $((least / 1000)) to $((most / 1000)) ms)"
check 'each has had a successor' test "$count" -ge "$handovers"

#   ------------------------------------------------------------ leaders

#   start_survivors HOST: applications on the others; each time at something
#   new, as what a dead lock service leaves behind is nobody's for a while.
turn=0
start_survivors () {
    local host number
    objects=()
    turn=$((turn + 1))
    for host in "${hosts[@]}"; do
        [ "$host" != "$1" ] || continue
        start_load "$host" "$host" --style steady --object "$host.$turn." \
            --objects 6 --rest 10
        for number in 0 1 2 3 4 5; do
            objects+=("$host.$turn.$number")
        done
    done
    check 'others are at work' await go_on 0 "${objects[@]}"
}

come_back () {
    local host=$1 signal=$2
    shift 2
    if [ "$signal" = 9 ]; then
        restart "$host" "$@"
    else
        hit "$host" 18 "$@" >/dev/null
        "$history" heal "$work/faults.history" "$host"
    fi
}

#   measure TITLE SIGNAL DAEMON...: once per time, each on another host.
measure () {
    local title=$1 signal=$2 from i host
    shift 2
    for ((i = 0; i < TIMES; i++)); do
        host=${hosts[turn % 3]}
        start_survivors "$host"
        from=$(hit "$host" "$signal" "$@")
        sleep 3
        check 'grants go on' await go_on "$("$history" now)" "${objects[@]}"
        echo "measured: $title -> grants go on:" \
            "$(longest_pause "$from" "${objects[@]}") ms"
        from=$("$history" now)
        check 'it comes back' come_back "$host" "$signal" "$@"
        check 'three leaders' hosts_get all_full
        echo "measured: it comes back -> longest pause of grants:" \
            "$(longest_pause "$from" "${objects[@]}") ms"
        check 'every application got its answers' stop_loads "${!loads[@]}"
    done
}

check 'three leaders' hosts_get all_full
measure "leader's lock service killed" 9 lockd
measure "leader's lock service and router killed" 9 lockd router
measure "leader's lock service and router stopped" 19 lockd router
check 'the judge is content' judge
echo "# $(tail -n 1 "$work/out")"
keep_for_later
done_checking
