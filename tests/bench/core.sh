#!/bin/bash
#   core.sh - instructions of the pure cores for a LOCK and its UNLOCK
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Counted by callgrind inside lk_node_step () alone, so that no load of the
#   machine changes a figure: of many pairs less those of one, which has the
#   start in it. For the home of the names, for the host whose application asks
#   if that is another one, and for all others together: two followers, or one
#   if the asker leads. Not a part of make bench, which measures time; it needs
#   valgrind.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command -v valgrind >/dev/null || die 'there is no valgrind'
pairs=$(many 2000 200)

#   instructions WHO PAIRS WHERE FLIGHT
instructions () {
    local who=$1
    shift
    valgrind --tool=callgrind --toggle-collect="step_$who" \
        --callgrind-out-file=/dev/null "$BUILD/tests/bench/core" "$@" 2>&1 |
        awk '/Collected/ { print $NF }'
}

for where in home leader proxy; do
    for flight in 1 64; do
        for who in home asker other; do
            [ "$where.$who" != home.asker ] || continue
            all=$(instructions $who $((pairs + flight)) "$where" "$flight")
            start=$(instructions $who "$flight" "$where" "$flight")
            figure "core.$where.flight$flight.$who.instructions" \
                $(((all - start) / pairs)) instructions
        done
    done
done
