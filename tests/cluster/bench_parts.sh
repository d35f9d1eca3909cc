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

run () {
    bash tests/bench/run.sh --tiny "$@"
}

table_has () {
    bash tests/bench/table.sh "$BUILD/bench-tiny/lock.figures" |
        grep -E "^$1 +[0-9.]+ us +[0-9]+\.[0-9]+$"
}

check 'the tables of a leader' run tables:60
check 'locks beside the bare bus' run lock:120
check 'hosted lock services' run hosted:120
check 'what they cost' run costs:60
check 'how long nobody gets a lock' run failover:120
check 'the table has ratios' table_has lock.home.latency.p50
done_checking
