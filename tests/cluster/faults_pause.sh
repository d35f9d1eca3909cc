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
# shellcheck disable=SC2046
check 'all are at work' await go_on 0 $(own_of "${hosts[@]}")

round () {
    local host=h$((RANDOM % 3 + 1)) what from own
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
    # shellcheck disable=SC2046
    read -ra own < <(own_of $(others_of "$host"))
    check "$host: $what stopped: others go on" \
        await go_on "$("$history" now)" "${own[@]}"
    echo "measured: $what stopped -> others got nothing for" \
        "$(longest_pause "$from" "${own[@]}") ms"
    from=$("$history" now)
    # shellcheck disable=SC2086
    resume "$host" $what
    check "$host goes on" await granted_since "$host.0" "$from"
    check 'all are ready' hosts_get all_ready
}

RANDOM=$seed
for ((number = 0; number < rounds; number++)); do
    round "$number"
done
check 'no daemon ended' all_live
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
