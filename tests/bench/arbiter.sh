#!/bin/bash
#   arbiter.sh - one arbiter of very many clusters
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A thousand clusters of two false hosts each (arbiter.c), which say what
#   hosts say whose cluster is at rest. Folders are in memory if there is a
#   /dev/shm: a thousand new clusters would wait for a disk. Figures: memory of
#   a cluster, ahead of its hosts' connections (alone) and in all; CPU at rest;
#   how long a vote takes, and how long while a cluster floods the arbiter.

[ -w /dev/shm ] && export TMPDIR=/dev/shm
# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

count=$(many 1000 5) votes=$(many 500 20) rest_s=$(many 5 1)
state=$work/state
mkdir "$state" "$work/none" "$work/run"

#   expect WORD: the next line of the hosts, which begins with it, is in $line.
expect () {
    read -r -t 200 line <&"${hosts[0]}" && [ "${line%% *}" = "$1" ] ||
        die "the hosts do not say '$1'"
}
say () {
    echo "$*" >&"${hosts[1]}"
}
resident_kb () {
    awk '/^VmRSS/ { print $2 }' "/proc/$arbiter/status"
}
#   In ticks of the system.
cpu () {
    awk '{ print $14 + $15 }' "/proc/$arbiter/stat"
}
#   per_cluster KB KB: what was added to the first, of each cluster.
per_cluster () {
    awk -v from="$1" -v to="$2" -v n="$count" \
        'BEGIN { printf "%.1f", (to - from) / n }'
}
of_arbiter () {
    sed -n "s/^arbiter=.* $1=\([^ ]*\) .*/\1/p" "$work/run/status"
}
#   start_arbiter FOLDER: with the clusters in that.
start_arbiter () {
    rm -f "$work/run/status"
    "$BUILD/lockkeeper-arbiter" --host a1 --listen 'tcp://127.0.0.1:*' \
        --state "$1" --run "$work/run" --log-level error &
    arbiter=$!
    children+=("$arbiter")
    until [ -s "$work/run/status" ]; do
        kill -0 "$arbiter" 2>/dev/null || die 'the arbiter does not start'
        sleep 0.1
    done
}

start_arbiter "$work/none"
bare=$(resident_kb)
kill "$arbiter"
wait "$arbiter"

coproc hosts { "$BUILD/tests/bench/arbiter" "$state" "$count"; }
children+=("$!")
expect made
start_arbiter "$state"
figure arbiter.memory.alone "$(per_cluster "$bare" "$(resident_kb)")" kB
say dial "$(of_arbiter address) $(of_arbiter key)"
expect linked
sleep 2
figure arbiter.memory.cluster "$(per_cluster "$bare" "$(resident_kb)")" kB
before=$(cpu)
sleep "$rest_s"
figure arbiter.cpu "$(awk -v t="$(($(cpu) - before))" -v s="$rest_s" \
    -v hz="$(getconf CLK_TCK)" 'BEGIN {
        printf "%.1f", 100 * (t > 0 ? t : 0.1) / hz / s }')" %
for kind in vote flood; do
    say "$kind" "$votes"
    expect vote
    read -r _ p50 p99 <<<"$line"
    figure "arbiter.$kind.p50" "$p50" ms
    figure "arbiter.$kind.p99" "$p99" ms
done
