#!/bin/bash
#   bench_parts.sh - the parts of `make bench` work and give their figures
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   With the least counts: what the figures are does not matter here, only
#   that each is there and not 0. tests/bench/figures.txt names them.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/cluster/cli_tap.sh
. tests/cluster/cli_tap.sh

#   Other copies of this test have theirs.
run () {
    BENCH_OUT=$work/tiny bash tests/bench/run.sh --tiny "$@"
}

#   The medians of figures and of ratios, of three rounds.
statistics () {
    bash -c '. tests/bench/lib.sh
        n=0
        for it in "30 10" "40 20" "90 30"; do
            n=$((n + 1))
            printf "figure %s %s us\n" lock.home.latency.p50 "${it% *}" \
                chain.latency.p50 "${it#* }" >"$work/round.$n"
        done
        cat "$work"/round.* | medians
        ratios "$work"/round.*
        seq 101 | quantile 0.99' >"$work/statistics"
    diff "$work/statistics" - <<EOF
figure lock.home.latency.p50 40 us
figure chain.latency.p50 20 us
figure lock.home.latency.p50.ratio 3 x
100
EOF
}

#   Three hosts, the last of which is near, too, and stays so until it is not.
arrangements () {
    bash -c '. tests/bench/lib.sh
        sandbox_hosts=3 LOCKKEEPER_SANDBOX=$work/sandbox
        pinned () {
            local cores=$1 i
            shift
            pin_hosts "$@"
            [ "$cores" = "$(for i in 1 2 3; do
                taskset -cp "$(pid_of "h$i" router)"
            done | sed "s/.* //" | paste -s -d " ")" ]
        }
        for i in 1 2 3; do
            mkdir -p "$LOCKKEEPER_SANDBOX/h$i"
            sleep 60 &
            children+=($!)
            echo $! >"$LOCKKEEPER_SANDBOX/h$i/router.pid"
        done
        together="$near_core $far_core $far_core"
        apart="$near_core $far_core $near_core"
        pinned "$together" h1 && pinned "$apart" h1 h3 && pinned "$apart" &&
            pinned "$together" h1'
}

#   fake LINE...: says whether run.sh takes that for a good part.
fake () {
    mkdir -p "$work/parts"
    echo 'fake good.{a,b}' >"$work/parts/figures.txt"
    printf '%s\n' "$@" >"$work/parts/fake.sh"
    BENCH_PARTS=$work/parts BUILD=$work/build bash tests/bench/run.sh fake:1
}

bad_parts () {
    local a='echo figure good.a 1 us' b='echo figure good.b 2 us'
    fake "$a" "$b" || return 1
    ! fake "$a" && ! fake "$a" 'echo figure good.b 0 us' &&
        ! fake "$a" "$b" 'echo hello' && ! fake "$a" "$b" 'exit 1' &&
        ! fake "$a" "$b" 'sleep 30'
}

table_has () {
    bash tests/bench/table.sh "$work/tiny/lock.figures" |
        grep -E "^$1 +[0-9.]+ us +[0-9]+\.[0-9]+$"
}

check 'medians, ratios and quantiles' statistics
check 'hosts are pinned as they are said to be' arrangements
check 'a part that lacks a figure, says 0, or does not end fails' bad_parts
check 'the tables of a leader' run tables:900
#   Those that take longest; so one of them, drawn.
case $((RANDOM % 5)) in
    0)
        check 'locks beside the bare bus' run lock:900
        check 'the table has ratios' table_has lock.home.latency.p50
        ;;
    1) check 'hosted lock services' run hosted:900 ;;
    2) check 'how long nobody gets a lock' run failover:900 ;;
    3) check 'what encryption adds' run curve:900 ;;
    4) check 'locks from other machines' run far:900 ;;
esac
check 'what they cost' run costs:900
check 'very many names' run scale:900
done_checking
