#!/bin/bash
#   faults_partition.sh - links and hosts are cut in every way, under load
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   faults_partition.sh [SEED]; ROUNDS=N cuts. Five hosts; on each an
#   application wants the hot lock, one wants a lock of its own again and
#   again, and one lives and dies with many. Where a majority is left that
#   sees each other, its grants go on.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
rounds=${ROUNDS:-4}
[ "$mode" = namespaces ] || skip_test 'cuts take network namespaces'
echo "# $0 $seed"
host_lease_ms=3500
make_hosts 5

for host in "${hosts[@]}"; do
    start_load "hot-$host" "$host" --style steady --object hot --objects 2 \
        --rest "$rest_ms"
    start_own "$host"
    start_load "mixed-$host" "$host" --seed "$((seed + ${#loads[@]}))" \
        --objects 9
done
# shellcheck disable=SC2046
check 'all are at work' await go_on 0 $(own_of "${hosts[@]}")

#   All hosts in some order, a leader first.
mix () {
    local left=("${hosts[@]}") i now
    know_leaders h1 1
    mixed=("${now[RANDOM % ${#now[@]}]}")
    while [ ${#left[@]} -gt 0 ]; do
        i=$((RANDOM % ${#left[@]}))
        [ "${left[i]}" = "${mixed[0]}" ] || mixed+=("${left[i]}")
        left=("${left[@]:0:i}" "${left[@]:i+1}")
    done
}

#   The first one is longer than the lease of a host. The majority goes on while
#   the others are away.
round () {
    local number=$1 two many lasts=3
    mix
    two="${mixed[*]:0:2}" many="${mixed[*]:2}"
    check "${mixed[0]} holds what all want" contend "kept$number" "${mixed[0]}"
    sleep 0.5
    from=$("$history" now)
    case $((number % 4)) in
        0)
            check "cut: $two | $many" cut "$two" "$many"
            lasts=$((host_lease_ms / 1000 + 2))
            ;;
        1) check "nobody hears $two" one_way "$two" "$many" ;;
        2) check "cut: ${two/ / and } only" cut "${mixed[0]}" "${mixed[1]}" ;;
        3)
            check "${mixed[0]} hears nobody" one_way "${mixed[*]:1}" \
                "${mixed[0]}"
            note_fault "${mixed[0]}" deaf
            ;;
    esac
    sleep "$lasts.$((RANDOM % 10))"
    # shellcheck disable=SC2046,SC2086
    set -- $(own_of $many)
    check 'grants go on' await go_on "$("$history" now)" "$@"
    echo "measured: the majority got nothing for" \
        "$(longest_pause "$from" "$@") ms"
    heal
    sleep "0.$((RANDOM % 10))"
    check 'all are ready again' hosts_get all_ready
}

RANDOM=$seed
for ((number = 0; number < rounds; number++)); do
    round "$number"
done
check 'five hosts, three leaders in the end' hosts_get all_full
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
