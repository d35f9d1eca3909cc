#!/bin/sh
#   coverage.sh - which branches of the core the simulator takes
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   coverage.sh SIM-BUILD UNIT-BUILD      (make sim-coverage builds them)
#
#   Runs seeds and all scripts in the one, the core's unit tests in the other,
#   both built with gcc --coverage. A branch that neither takes has to be in
#   tests/sim/unreached.txt with its reason, else this fails.

cd "$(dirname "$0")/../.." || exit 2
sim_build=$1
unit_build=$2
jobs=$(nproc 2>/dev/null || echo 2)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/coverage.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

find "$sim_build" "$unit_build" -name '*.gcda' -delete
"$sim_build/tests/sim/sim" --runs "${RUNS:-3000}" --jobs "$jobs" || exit 1
"$sim_build/tests/sim/sim" --script all --runs "${SCRIPT_RUNS:-20}" \
    --jobs "$jobs" || exit 1
for source in tests/unit/core_*.c tests/unit/lock_*.c; do
    "$unit_build/${source%.c}" >/dev/null || exit 1
done
for source in plugins/lock/core/*.c; do
    for kind in sim unit; do
        build=$sim_build
        [ "$kind" = sim ] || build=$unit_build
        gcov -b -c -t -o "$build/plugins/lock/core" "$source" \
            >>"$scratch/$kind" 2>/dev/null
    done
done
awk -v listed=tests/sim/unreached.txt -f tests/sim/coverage.awk \
    "$scratch/unit" "$scratch/sim"
