#!/bin/bash
#   far.sh - locks from a machine without a router, and what its leases cost
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   One client has locks by the router of its host, and by the port of that
#   router for other machines, in turn: far.local, far.remote, and .ratio, the
#   median of the ratios of single rounds. Then many sessions at one server hold
#   nothing, and only renew their leases: what CPU time of its router and its
#   lock service that takes, in percent of a core, without what both took
#   before; and the memory of each, in bytes of a session.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rounds=$(many 7 1) ms=$(many 1200 200)
sessions=$(many 5000 200) each=$(many 1000 100)
file=$work/client

#   The file of a machine whose one server is h1.
make_file () {
    local key
    key=$("$lockkeeper" client new "$file" 2>/dev/null) &&
        on h1 "$lockkeeper" clients add bench "$key" 2>/dev/null |
        grep server | head -n 1 >>"$file" && grep -q '^ *server = ' "$file"
}

#   ratio NAME FILE: of remote to local in one round.
ratio () {
    awk -v name="$1" '{ value[$2] = $3 }
        END {
            print "figure far.remote." name ".ratio",
                value["far.remote." name] / value["far.local." name], "x"
        }' "$2"
}

latencies () {
    local i file=$work/latency
    for ((i = 0; i < rounds; i++)); do
        on_near "$BUILD/tests/bench/far" latency \
            "ipc://$LOCKKEEPER_SANDBOX/h1/router" "$work/client" far "$ms" \
            >"$file" || die 'no locks'
        cat "$file"
        ratio latency.p50 "$file"
        ratio latency.p99 "$file"
        ratio unlock.p50 "$file"
    done | medians
}

#   ------------------------------------------------------------ renewals

#   cpu DAEMON: of all its threads, ns.
cpu () {
    cat "/proc/$(pid_of h1 "$1")"/task/*/schedstat |
        awk '{ ns += $1 } END { printf "%.0f\n", ns }'
}

rss () {
    awk '$1 == "VmRSS:" { print $2 * 1024 }' "/proc/$(pid_of h1 "$1")/status"
}

#   shares SECONDS: percent of a core, of router and lock service.
shares () {
    local daemon before=() from
    from=$(date +%s%N)
    for daemon in router lockd; do
        before+=("$(cpu $daemon)")
    done
    sleep "$1"
    echo "$(cpu router) $(cpu lockd) $(date +%s%N) ${before[*]} $from" |
        awk '{ t = ($3 - $6) / 100; print ($1 - $4) / t, ($2 - $5) / t }'
}

#   All are there when the last process says so; they go on until the fifo has
#   no writer.
open_sessions () {
    local i
    mkfifo "$work/end"
    exec 8<>"$work/end"
    for ((i = 0; i < sessions; i += each)); do
        on_far "$BUILD/tests/bench/far" renew "$file" "$each" <"$work/end" \
            >"$work/says.$i" 8<&- &
        children+=($!)
    done
    within 60 all_ready
}

close_sessions () {
    exec 8>&-
    wait "${children[@]}"
    children=()
}

all_ready () {
    [ "$(cat "$work"/says.* | grep -c ready)" = $((sessions / each)) ]
}

renewals () {
    local rest rss_before=("$(rss router)" "$(rss lockd)") busy
    read -ra rest <<<"$(shares "$(many 4 0.5)")"
    open_sessions || die 'not all sessions are there'
    sleep "$(many 3 0.2)"
    read -ra busy <<<"$(shares "$(many 10 1.5)")"
    awk -v n="$sessions" "
    function above (busy, rest) { # what is there to be seen
        return busy - rest > 0.001 ? busy - rest : 0.001
    }
    BEGIN {
        router = above(${busy[0]}, ${rest[0]})
        lockd = above(${busy[1]}, ${rest[1]})
        print \"figure far.renew.router.cpu\", router, \"%\"
        print \"figure far.renew.lockd.cpu\", lockd, \"%\"
        print \"figure far.renew.cpu\", router + lockd, \"%\"
        print \"figure far.renew.router.rss\",
            ($(rss router) - ${rss_before[0]}) / n, \"bytes\"
        print \"figure far.renew.lockd.rss\",
            ($(rss lockd) - ${rss_before[1]}) / n, \"bytes\"
    }"
    close_sessions
}

sandbox_start 3 --set 'router/listen-clients=tcp://127.0.0.1:*'
make_file || die 'no client file'
latencies
renewals
