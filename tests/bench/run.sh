#!/bin/bash
#   run.sh - runs parts of the benchmark, then prints the table
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   run.sh [--tiny] PART:SECONDS...       PART.sh is in this folder, or in
#                                         $BENCH_PARTS, as is figures.txt
#
#   What a part leaves of its seconds the next ones may take, too.
#
#   Figures are printed as they come, and kept in $BUILD/bench/PART.figures:
#   so the table has the peers of the last `make bench-peers`, too. A part that
#   fails, is not done after its seconds, or does not give what figures.txt
#   wants of it, makes the whole fail; its figures of this time are kept. With
#   --tiny it is only seen whether they work, see lib.sh; $BUILD/bench-tiny.
#   $BENCH_OUT is another folder than these.

set -u
cd "$(dirname "$0")/../.." || exit 2
export BUILD=${BUILD:-$PWD/build}
here=${BENCH_PARTS:-tests/bench}
out=${BENCH_OUT:-$BUILD/bench}
current='' failed=0

if [ "${1:-}" = --tiny ]; then
    export BENCH_TINY=1
    out=${BENCH_OUT:-$BUILD/bench-tiny}
    shift
fi
mkdir -p "$out"
trap '[ -z "$current" ] || kill "$current"; wait; exit 130' INT TERM HUP

complain () {
    echo "bench: $*" >&2
    failed=1
}

#   The names that figures.txt has for a part.
wanted () {
    awk -v part="$1" '$1 == part { print $2 }' "$here/figures.txt" |
        while read -r names; do
            eval "printf '%s\n' $names"
        done
}

#   check PART FILE: all wanted figures are there, and none is 0.
check () {
    local name
    for name in $(wanted "$1" | awk '
            NR == FNR { if ($1 == "figure") { value[$2] = $3 } next }
            value[$1] + 0 <= 0' "$2" -); do
        complain "part '$1' has no figure '$name'"
    done
    grep -q '^figure ' "$2" || complain "part '$1' has no figure"
    ! grep -v '^figure [a-z0-9._]* [0-9][0-9.e+-]* [^ ]*$' "$2" >&2 ||
        complain "part '$1' said what is no figure"
}

#   A part's last figures stay until it has new ones.
part () {
    local name=$1 seconds=$2 status
    : >"$out/$name.new"
    BENCH_SECONDS=$seconds timeout --kill-after=10 "$((seconds + 5))" \
        bash "$here/$name.sh" >"$out/$name.new" &
    current=$!
    tail --pid="$current" -s 0.2 -n +1 -f "$out/$name.new" &
    wait "$current"
    status=$?
    wait
    current=''
    mv "$out/$name.new" "$out/$name.figures"
    case $status in
        0) check "$name" "$out/$name.figures" ;;
        124 | 137) complain "part '$name' took more than $seconds s" ;;
        *) complain "part '$name' failed ($status)" ;;
    esac
}

spare=0
for it in "$@"; do
    spare=$((spare + ${it#*:})) began=$SECONDS
    part "${it%:*}" "$spare"
    spare=$((spare - (SECONDS - began)))
    [ "$spare" -ge 0 ] || spare=0
done
files=()
for it in lock hosted failover scale costs tables far zones peers; do
    [ ! -f "$out/$it.figures" ] || files+=("$out/$it.figures")
done
[ ${#files[@]} = 0 ] || bash tests/bench/table.sh "${files[@]}"
exit "$failed"
