#!/bin/bash
#   cli_demo.sh - the story that `make demo` tells comes true, in time
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

began=$(now_ms)
check 'the demo' sh examples/demo.sh
mv "$work/out" "$work/story"
took=$(($(now_ms) - began))
check 'who begins reads that a killed run costs half a second' sh -c '
    for file in README man/lockkeeper-tutorial.7 examples/demo.sh; do
        tr "\n" " " <$file | grep -qi "half a  *second" || exit 1
    done'
echo "measured: the demo took $took ms"
check 'it does not speak of a sandbox that it was started in' \
    code 1 grep -q 'started in' "$work/story"
twice () {
    "$lockkeeper" sandbox --hosts 3 -- sh -c \
        'sh examples/demo.sh && sh examples/demo.sh'
}
check 'twice in one sandbox, which it does speak of' says 0 'started in' twice
done_checking
