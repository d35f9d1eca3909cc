#!/bin/bash
#   faults_leaders.sh - leaders and majorities are killed and come back
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   faults_leaders.sh [SEED]; ROUNDS=N JOURNAL=MODE. Five hosts, three of them
#   lead. Even when all leaders are killed at once who holds a lock elsewhere
#   keeps it, with a journal even when the lock services of all hosts are.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
rounds=${ROUNDS:-1}
echo "# $0 $seed"
dead_after_ms=400 leader_lease_ms=800 host_lease_ms=9000
journal=${JOURNAL:-off}
options=("--journal=$journal")
make_hosts 5

for host in "${hosts[@]}"; do
    start_own "$host"
    start_load "mixed-$host" "$host" --seed "$((seed + ${#loads[@]}))"
    start_load "keeper-$host" "$host" --style hold --object "kept-$host"
done
# shellcheck disable=SC2046
check 'all are at work' await go_on 0 $(own_of "${hosts[@]}") \
    "${hosts[@]/#/kept-}"

#   kill_all DAEMONS HOST...: at one time.
kill_all () {
    local daemons=$1 host
    shift
    for host in "$@"; do
        # shellcheck disable=SC2086
        hit "$host" 9 $daemons >/dev/null || return 1
    done
}

#   come_back DAEMONS HOST...
come_back () {
    local daemons=$1 host
    shift
    for host in "$@"; do
        # shellcheck disable=SC2086
        restart "$host" $daemons
    done
}

#   nobody_else_lost: no keeper did whose host was never struck.
struck=
nobody_else_lost () {
    local host
    for host in "${hosts[@]}"; do
        case " $struck " in
            *" $host "*) ;;
            *) ! happened lost "kept-$host" || return 1 ;;
        esac
    done
}

#   strike TITLE DAEMONS HOST...: they are killed, and come back.
strike () {
    local title=$1 daemons=$2 from
    shift 2
    struck+=" $*"
    check "$title: $* killed" kill_all "$daemons" "$@"
    sleep "0.$((RANDOM % 10))"
    from=$("$history" now)
    check "$title: they come back" come_back "$daemons" "$@"
    check "$title: locks are granted on all hosts" \
        await go_on "$from" "${hosts[@]/%/.0}"
    echo "measured: $title -> grants on all hosts:" \
        "$(ms_from "$from" "$("$history" now)") ms"
    check "$title: who was not killed lost nothing" nobody_else_lost
    check "$title: three leaders" hosts_get all_full
}

#   nobody_lost_since NS: no keeper on any host.
nobody_lost_since () {
    local host
    for host in "${hosts[@]}"; do
        ! happened lost "kept-$host" "$1" || return 1
    done
}

#   strike_all: every host's lock service, the routers stay.
strike_all () {
    local before
    before=$("$history" now)
    strike 'all hosts' lockd "${hosts[@]}"
    check 'all hosts: nobody lost anything' nobody_lost_since "$before"
}

RANDOM=$seed
for ((number = 0; number < rounds; number++)); do
    know_leaders h1
    strike 'a leader' lockd "${now[RANDOM % 3]}"
    know_leaders h1
    strike "a leader's host" 'router lockd' "${now[RANDOM % 3]}"
    know_leaders h1
    strike 'all leaders' lockd "${now[@]}"
    know_leaders h1
    strike 'two leaders' 'router lockd' "${now[@]:0:2}"
    [ "$journal" = off ] || strike_all
done
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
