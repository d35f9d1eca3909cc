#!/bin/bash
#   far_many.sh - very many sessions of other machines at one server
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   By hand: tests/bench/far_many.sh [SESSIONS [SECONDS]]. Opens 10,000 at h1,
#   which hold nothing, a thousand in each process, and looks at them for that
#   long. Latencies are of one client that locks by h1's router and by its port,
#   in turn: far_many.alone before, .coming while they register, .there when all
#   are there, .after when they have gone. Memory and descriptors likewise. No
#   part of `make bench`: it takes two minutes, and a machine for itself. Where
#   clients starve, they believe that the server is silent, and dial it anew.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

sessions=${1:-10000} seconds=${2:-20} each=1000
files=("$work"/client.{1,2,3}) # of so many machines

make_files () {
    local file key
    for file in "${files[@]}"; do
        key=$("$lockkeeper" client new "$file" 2>/dev/null) &&
            on h1 "$lockkeeper" clients add "bench${file##*.}" "$key" \
                2>/dev/null | grep server | head -n 1 >>"$file" &&
            grep -q '^ *server = ' "$file" || return 1
    done
}

#   latency WHEN MS
latency () {
    on_near "$BUILD/tests/bench/far" latency \
        "ipc://$LOCKKEEPER_SANDBOX/h1/router" "${files[0]}" "far_many.$1" "$2" |
        grep -E 'latency.p(50|99) '
}

cpu () {
    cat "/proc/$(pid_of h1 "$1")"/task/*/schedstat |
        awk '{ ns += $1 } END { printf "%.0f\n", ns }'
}

#   now WHEN: memory, and descriptors.
now () {
    local daemon
    for daemon in router lockd; do
        figure "far_many.$1.$daemon.rss" "$(awk '
            $1 == "VmRSS:" { print $2 / 1024 }' \
            "/proc/$(pid_of h1 $daemon)/status")" MiB
    done
    figure "far_many.$1.router.descriptors" \
        "$(find "/proc/$(pid_of h1 router)/fd" | wc -l)" each
}

#   They go on until the fifo has no writer. Four processes open theirs at a
#   time: a session costs its client more than its server.
open_sessions () {
    local i
    mkfifo "$work/end"
    exec 8<>"$work/end"
    for ((i = 0; i < sessions; i += each)); do
        within 120 few_are_busy || die 'not all sessions are there'
        "$BUILD/tests/bench/far" renew "${files[i / each % 3]}" "$each" \
            <"$work/end" >"$work/says.$i" 8<&- &
        children+=($!)
    done
    within 120 all_ready || die 'not all sessions are there'
}

ready_count () {
    cat /dev/null "$work"/says.* 2>/dev/null | grep -c ready
}

few_are_busy () {
    [ $((${#children[@]} - $(ready_count))) -lt 4 ]
}

all_ready () {
    kill -0 "${children[@]}" 2>/dev/null || die 'sessions have ended'
    [ "$(ready_count)" = ${#children[@]} ]
}

none_is_left () {
    [ "$(on h1 "$lockkeeper" clients list |
        awk '$1 == "server" && $2 == "h1" { print $NF }')" = 0 ]
}

since () {
    echo $(($(date +%s%3N) - $1))
}

sandbox_start 3 --set 'router/listen-clients=tcp://127.0.0.1:*'
make_files || die 'no client file'
now alone
latency alone 3000

began=$(date +%s%3N)
latency coming 20000 &
looks=$!
open_sessions
figure far_many.coming.took "$(since "$began")" ms
figure far_many.coming.router.busy "$(cpu router | awk '{ print $1 / 1e6 }')" ms

wait "$looks"
sleep 3
now there
before=("$(cpu router)" "$(cpu lockd)") from=$(date +%s%N)
sleep "$seconds"
for daemon in router lockd; do
    figure "far_many.there.$daemon.cpu" "$(awk "BEGIN {
        print 100 * ($(cpu $daemon) - ${before[0]}) / ($(date +%s%N) - $from)
    }")" %
    before=("${before[@]:1}")
done
latency there 3000
now later

began=$(date +%s%3N)
exec 8>&-
wait "${children[@]}"
children=()
within 60 none_is_left || die 'sessions are left'
figure far_many.going.took "$(since "$began")" ms
sleep 8 # the router gives memory back
now after
latency after 3000
