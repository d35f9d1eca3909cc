#!/bin/bash
#   cli_demo.sh - the story that `make demo` tells comes true, in time
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

began=$(now_ms)
check 'the demo' sh examples/demo.sh
took=$(($(now_ms) - began))
check "in less than 30 s: $took ms" test $took -lt 30000
echo "measured: the demo took $took ms"
done_checking
