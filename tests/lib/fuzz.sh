#!/bin/bash
#   fuzz.sh - lets the fuzz targets search, two at a time
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   fuzz.sh run SECONDS TARGET...     each for so long; prints a table, and
#                                     fails if one found something
#   fuzz.sh keep TARGET...            what they found that reaches new code
#                                     goes to tests/fuzz/corpus
#
#   BUILD has the targets as clang made them; what they find goes there, too:
#   corpus/TARGET, fuzz/TARGET.log, and crash-TARGET-... for each finding.

set -u
cd "$(dirname "$0")/../.." || exit 2
: "${BUILD:?}"

#   Sequences of events are many steps long: so all lengths from the start on,
#   and no statistics over the rarest features, which would take longer than
#   the targets themselves. Time limits are wide, since others use the machine.
search () {
    local target=$1 seconds=$2
    local new=$BUILD/corpus/$target kept=tests/fuzz/corpus/$target
    mkdir -p "$new" "$kept" "$BUILD/fuzz"
    nice -n 10 "$BUILD/tests/fuzz/$target" -max_total_time="$seconds" \
        -len_control=20 -max_len=4096 -entropic=0 -timeout=300 \
        -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$BUILD/crash-$target-" "$new" "$kept" \
        >"$BUILD/fuzz/$target.log" 2>&1
}

#   A line of the table.
tell () {
    local target=$1 status=$2 log=$BUILD/fuzz/$1.log
    awk -v target="$target" -v status="$status" '
        /^#[0-9]+.* cov: / {
            runs = substr ($1, 2)
            for (i = 2; i < NF; i++) { if ($i == "cov:") edges = $(i + 1) }
        }
        /^stat::new_units_added:/ { found = $2 }
        /^Done / { seconds = $(NF - 1) }
        END {
            printf "%-12s %10d runs  %6d edges  %6d new inputs  %5d s  %s\n",
                target, runs, edges, found, seconds,
                status == 0 ? "no finding" : "FINDING"
        }' "$log"
    [ "$status" = 0 ] || grep -aE 'ERROR|runtime error|mistake|written to' \
        "$log" | head -5 | sed 's/^/    | /'
}

run () {
    local seconds=$1 failed=0 target pid status
    local -A name=()
    shift
    reap () {
        wait -n -p pid "${!name[@]}"
        status=$?
        [ "$status" = 0 ] || failed=1
        tell "${name[$pid]}" "$status"
        unset "name[$pid]"
    }
    for target in "$@"; do
        [ ${#name[@]} -lt 2 ] || reap
        search "$target" "$seconds" &
        name[$!]=$target
    done
    while [ ${#name[@]} -gt 0 ]; do
        reap
    done
    return "$failed"
}

keep () {
    local target
    for target in "$@"; do
        mkdir -p "tests/fuzz/corpus/$target" "$BUILD/corpus/$target"
        "$BUILD/tests/fuzz/$target" -merge=1 -use_counters=0 -max_len=4096 \
            "tests/fuzz/corpus/$target" "$BUILD/corpus/$target" \
            >"$BUILD/fuzz/$target.keep.log" 2>&1 || return
    done
    du -sbc tests/fuzz/corpus/* | sort -n
}

case ${1:-} in
    run | keep) "$@" ;;
    *)
        sed -n '6,13s/^#   //p' "$0" >&2
        exit 2
        ;;
esac
