#!/bin/sh
#   coverage.sh - which branches of the core the simulator takes
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   RUNS=n SCRIPT_RUNS=n coverage.sh SIM-BUILD UNIT-BUILD
#   (make sim-coverage builds them)
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

#   What gcov knows of the core after the runs of a build.
count () {    # build
    for source in plugins/lock/core/*/*.c; do
        gcov -b -c -t -o "$1/${source%/*}" "$source" 2>/dev/null
    done
}

command -v gcov >/dev/null || { echo "gcov is missing: it is in gcc"; exit 2; }
find "$sim_build" "$unit_build" -name '*.gcda' -delete
"$sim_build/tests/sim/sim" --runs "${RUNS:-1000}" --jobs "$jobs" || exit 1
"$sim_build/tests/sim/sim" --script all --runs "${SCRIPT_RUNS:-10}" \
    --jobs "$jobs" || exit 1
for source in tests/unit/core_*.c tests/unit/lock_*.c; do
    CK_TIMEOUT_MULTIPLIER=10 "$unit_build/${source%.c}" \
        >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
done
count "$sim_build" >"$scratch/sim"
count "$unit_build" >"$scratch/unit"
awk -v listed=tests/sim/unreached.txt -f tests/sim/coverage.awk \
    "$scratch/unit" "$scratch/sim"
