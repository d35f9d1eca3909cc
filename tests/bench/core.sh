#!/bin/bash
#   core.sh - instructions of the pure cores for a LOCK and its UNLOCK
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   All cores together, counted by callgrind inside lk_node_step () alone, so
#   that no load of the machine changes a figure: of many pairs less those of
#   one, which has the start in it. Not a part of make bench, which measures
#   time; it needs valgrind.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command -v valgrind >/dev/null || die 'there is no valgrind'
pairs=$(many 2000 200)

#   instructions PAIRS WHERE FLIGHT
instructions () {
    valgrind --tool=callgrind --toggle-collect=lk_node_step \
        --callgrind-out-file=/dev/null "$BUILD/tests/bench/core" "$@" 2>&1 |
        awk '/Collected/ { print $NF }'
}

for where in home leader proxy; do
    for flight in 1 64; do
        all=$(instructions $((pairs + flight)) "$where" "$flight")
        start=$(instructions "$flight" "$where" "$flight")
        figure "core.$where.flight$flight.pair.instructions" \
            $(((all - start) / pairs)) instructions
    done
done
