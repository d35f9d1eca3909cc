#!/bin/bash
#   run.sh - runs parts of the benchmark, then prints the table
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   run.sh [--tiny] PART:SECONDS...       PART.sh is in this folder
#
#   Figures are printed as they come, and kept in $BUILD/bench/PART.figures:
#   so the table has the peers of the last `make bench-peers`, too. A part that
#   fails, or is not done after its seconds, makes the whole fail; its figures
#   of this time are kept.

set -u
cd "$(dirname "$0")/../.." || exit 2
export BUILD=${BUILD:-$PWD/build}
here=tests/bench
out=$BUILD/bench
current='' failed=0

if [ "${1:-}" = --tiny ]; then
    export BENCH_TINY=1
    out=$BUILD/bench-tiny
    shift
fi
mkdir -p "$out"
trap '[ -z "$current" ] || kill "$current"; wait; exit 130' INT TERM HUP

#   A part's last figures stay until it has new ones.
part () {
    local name=$1 seconds=$2 status
    BENCH_SECONDS=$seconds timeout --kill-after=10 "$((seconds + 5))" \
        bash "$here/$name.sh" >"$out/$name.new" &
    current=$!
    tail --pid="$current" -s 0.2 -n +1 -f "$out/$name.new" &
    wait "$current"
    status=$?
    wait
    current=''
    mv "$out/$name.new" "$out/$name.figures"
    [ "$status" = 0 ] && return
    failed=1
    case $status in
        124 | 137) echo "bench: part '$name' took more than $seconds s" >&2 ;;
        *) echo "bench: part '$name' failed ($status)" >&2 ;;
    esac
}

for it in "$@"; do
    part "${it%:*}" "${it#*:}"
done
bash "$here/table.sh" "$out"/*.figures
exit "$failed"
