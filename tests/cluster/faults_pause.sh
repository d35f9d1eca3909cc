#!/bin/bash
#   faults_pause.sh - who is stopped for longer than every lease comes back
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   faults_pause.sh [SEED]; ROUNDS=N pauses: of a lock service, a router, the
#   applications, and all of a host. Nobody else notices for long, and when
#   they wake up nobody believes in a lock that another has.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
rounds=${ROUNDS:-4}
echo "# $0 $seed"
dead_after_ms=400 leader_lease_ms=800 host_lease_ms=2600
make_hosts 3

for host in "${hosts[@]}"; do
    start_own "$host"
    start_load "mixed-$host" "$host" --seed "$((seed + ${#loads[@]}))"
done
sleep 1

#   others_go_on HOST FROM
others_go_on () {
    local other took until
    until=$("$history" now)
    for other in $(others_of "$1"); do
        took=$("$history" pause "$other" "$2" "$until" "$other.0,$other.1" \
            "$work"/*.history)
        echo "$other got nothing for $took ms"
        [ "$took" -lt $((dead_after_ms + 2500)) ] || return 1
    done
}

#   has_more HOST FROM: it gets what it asks for.
has_more () {
    happened granted "$1.0" "$2"
}

round () {
    local host=h$((RANDOM % 3 + 1)) what from
    case $(($1 % 4)) in
        0) what='lockd router apps' ;;
        1) what=lockd ;;
        2) what=router ;;
        3) what=apps ;;
    esac
    check "$host holds what all want" contend "kept$1" "$host"
    sleep 0.5
    # shellcheck disable=SC2086
    from=$(pause "$host" $what)
    sleep "$((host_lease_ms * 5 / 4000)).$((RANDOM % 10))"
    check "$host: $what stopped: others go on" others_go_on "$host" "$from"
    from=$("$history" now)
    # shellcheck disable=SC2086
    resume "$host" $what
    check "$host goes on" await has_more "$host" "$from"
    check 'all are ready' hosts_get all_ready
}

RANDOM=$seed
for ((number = 0; number < rounds; number++)); do
    round "$number"
done
check 'no daemon ended' all_live
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
