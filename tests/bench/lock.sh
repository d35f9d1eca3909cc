#!/bin/bash
#   lock.sh - locks beside the bare bus, in turn
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   In each round the bare bus, then lockkeeper, so that both have the machine
#   in the same mood: medians over rounds, of figures and of their ratios. The
#   client is on h1, on the near core as that host is. Names have their home
#   there (lock.home), at another leader (lock.leader) or anywhere (lock);
#   lock.apart: as lock.home, and the followers do not share a core;
#   lock.outside: the client is on a fourth host, which does not lead.
#   `lock.sh hosted` has the same as lock.hosted., in fewer rounds.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prefix=lock rounds=8 fewer=3 settings=()
if [ "${1:-}" = hosted ]; then
    prefix=lock.hosted rounds=5 fewer=2 settings=(--hosted)
fi
ms=$(many 150 60)

#   Bytes of a message of one LOCK: from the application, to a follower, its
#   acknowledgement, and LOCKED.
sizes=(113 133 83 282)

#   chain PREFIX PARTS FOLLOWERS [CORES]: of the followers.
chain () {
    "$BUILD/tests/bench/chain" "$1" "$2" "$3" "$ms" "$near_core" \
        "${4:-$far_core}" "${sizes[@]}" || die "the bare bus '$1' failed"
}

#   client HOST PREFIX HOME LOAD...
client () {
    local host=$1 prefix=$2 home=$3
    shift 3
    on_near "$BUILD/tests/bench/client" \
        "ipc://$LOCKKEEPER_SANDBOX/$host/router" "$prefix" "$home" "$ms" \
        "$@" || die "the loads '$prefix' failed"
}

locks_round () {
    chain chain 1 1
    client h1 "$prefix.home" h1 exclusive:{1,8,64,512}
    chain chain.five 5 1
    client h1 "$prefix" any exclusive:{8,64,512}
}

kinds_round () {
    chain chain 1 1
    client h1 "$prefix.leader" h2 exclusive:{1,64}
    client h1 "$prefix.home" h1 {handover:8,handover:1000,drain:1000}
    client h1 "$prefix.home" h1 {shared,semaphore,try}:{1,64}
}

apart_round () {
    chain chain 1 1
    client h1 "$prefix.apart" h1 exclusive:{1,64} \
        {handover:8,handover:1000,drain:1000}
    chain chain.five 5 1
    [ "$prefix" = lock.hosted ] ||
        chain chain.apart.replicated 1 2 "$far_core,$near_core"
}

outside_round () {
    chain chain 1 1
    client h4 "$prefix.outside" h1 exclusive:{1,64}
}

#   in_turn NAME ROUNDS KEEP: the figures of each round to a file; fewer rounds
#   if there would not be KEEP of a hundred parts of all seconds left.
in_turn () {
    local i=1 start=$SECONDS left
    while [ "$i" -le "$2" ]; do
        left=$(($(seconds_left) - ${BENCH_SECONDS:-0} * $3 / 100))
        if [ "$i" -gt 1 ] &&
                [ "$left" -lt $(((SECONDS - start) / (i - 1))) ]; then
            remark "$prefix, $1: time for $((i - 1)) rounds only"
            return
        fi
        remark "$prefix, $1, round $i of $2"
        "$1_round" >"$work/$1.$i" || exit 1
        i=$((i + 1))
    done
}

sandbox_start 3 "${settings[@]}"
in_turn locks "$(many "$rounds" 1)" 50
in_turn kinds "$(many "$fewer" 1)" 30
[ "$prefix" = lock.hosted ] || chain chain.replicated 1 2 >"$work/kinds.0"
pin_hosts h1 h3
in_turn apart "$(many "$fewer" 1)" 15
sandbox_stop
sandbox_start 4 --members 3 "${settings[@]}"
pin_hosts h4
in_turn outside "$(many "$fewer" 1)" 0
sandbox_stop

#   The bare bus's own figures are those of lock.sh alone.
cat "$work"/{locks,kinds,apart,outside}.[0-9]* | medians |
    if [ "$prefix" = lock ]; then cat; else grep -v ' chain\.'; fi
ratios "$work"/{locks,kinds,apart,outside}.[0-9]*
