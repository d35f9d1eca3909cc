#!/bin/bash
#   tables.sh - the pure core, the codec and the router alone, without any wire
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tickets=(10000 100000 1000000)
beside=(1000 10000)
[ -z "${BENCH_TINY:-}" ] || tickets=(10000) beside=(1000)
on_near "$BUILD/tests/bench/grants" "$(many 100000 1000)" || exit 1
on_near "$BUILD/tests/bench/digest" "${tickets[@]}" || exit 1
on_near "$BUILD/tests/bench/codec" "$(many 10 1)" || exit 1
on_near "$BUILD/tests/bench/forward" "$(many 3000000 3000)" || exit 1
on_near "$BUILD/tests/bench/core" "$(many 4000 600)" || exit 1
on_near "$BUILD/tests/bench/growth" "${beside[@]}" || exit 1
