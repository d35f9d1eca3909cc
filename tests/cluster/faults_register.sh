#!/bin/bash
#   faults_register.sh - a register guarded by tokens loses no update
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   faults_register.sh [SEED]; ROUNDS=N pauses of hosts. The experiment in
#   which locks of etcd 3.4.3 lost 18 % of what was acknowledged: five
#   processes read, change and write a register under a lock that is theirs
#   for 300 ms, and sleep for up to 1.8 s in between; whole hosts stop for
#   longer than their lease. With a register that looks at no tokens the same
#   has to lose updates, or this test could not fail.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
rounds=${ROUNDS:-2}
echo "# $0 $seed"
dead_after_ms=300 leader_lease_ms=600 host_lease_ms=2000 grace_ms=300
make_hosts 3

#   start_writers HOW FILE
start_writers () {
    local i host
    for i in 1 2 3 4 5; do
        host=h$((i % 3 + 1))
        "$BUILD/tests/cluster/register" "$1" "$work/$2" "$work/$2.acked" \
            "$host" "ipc://$where/$host/router" \
            "$work/$host-$2$i.history" "$((seed + i))" \
            2>>"$work/load.errors" &
        loads[$2$i]=$! load_host[$2$i]=$host
    done
}

count () {
    "$BUILD/tests/cluster/register" count "$work/$1" "$work/$1.acked"
}

are_lost () {
    count "$1" 2>/dev/null
    [ $? = 1 ]
}

#   enough FILE: there were updates to be lost.
enough () {
    [ "$(stat -c %s "$work/$1.acked")" -gt 80 ]
}

RANDOM=$seed
start_writers guarded safe
for ((i = 0; i < rounds; i++)); do
    host=h$((RANDOM % 3 + 1))
    sleep "1.$((RANDOM % 10))"
    pause "$host" lockd router apps >/dev/null
    sleep "$((host_lease_ms * 3 / 2000)).$((RANDOM % 10))"
    resume "$host" lockd router apps
done
check 'there are updates' await enough safe
check 'every application got its answers' stop_loads "${!loads[@]}"
check 'guarded by the token none is lost' count safe
echo "measured: guarded by the token: $(cat "$work/out")"

start_writers open unsafe
check 'control: without the token updates are lost' await are_lost unsafe
check 'every application got its answers' stop_loads "${!loads[@]}"
count unsafe >"$work/out"
echo "measured: not guarded: $(cat "$work/out")"
finish_test
