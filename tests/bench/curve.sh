#!/bin/bash
#   curve.sh - what encryption between hosts adds
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   In each round the bare bus, a sandbox with CURVE and one in clear, which
#   take turns at being first: lock.curve.home and lock.clear.home, and the
#   same with lock services in their routers' processes. Medians over rounds, of
#   figures and of their ratios to the bare bus.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ms=$(many 150 60)

#   Bytes as in lock.sh.
chain () {
    "$BUILD/tests/bench/chain" "$1" "$2" 1 "$ms" "$near_core" "$far_core" \
        113 133 83 282 || die "the bare bus '$1' failed"
}

#   loads PREFIX [OPTION...]: in a sandbox of its own.
loads () {
    local prefix=$1
    shift
    sandbox_start 3 "$@"
    on_near "$BUILD/tests/bench/client" \
        "ipc://$LOCKKEEPER_SANDBOX/h1/router" "$prefix.home" h1 "$ms" \
        exclusive:{1,64} drain:1000 || die "the loads '$prefix' failed"
    sandbox_stop
}

#   both PREFIX ROUND [OPTION...]
both () {
    local prefix=$1 round=$2
    shift 2
    [ $((round % 2)) = 0 ] || loads "$prefix.curve" "$@"
    loads "$prefix.clear" --plain "$@"
    [ $((round % 2)) = 1 ] || loads "$prefix.curve" "$@"
}

#   Another round if there is as much time left as one has taken.
i=1 start=$SECONDS
while [ "$i" -le "$(many 6 1)" ]; do
    if [ "$i" -gt 1 ] &&
            [ "$(seconds_left)" -lt $(((SECONDS - start) / (i - 1) + 2)) ]; then
        remark "curve: time for $((i - 1)) rounds only"
        break
    fi
    remark "curve, round $i"
    {
        chain chain 1
        chain chain.five 5
        both lock "$i"
        both lock.hosted "$i" --hosted
    } >"$work/$i" || exit 1
    i=$((i + 1))
done

cat "$work"/[0-9]* | medians | grep -v ' chain\.'
ratios "$work"/[0-9]*
