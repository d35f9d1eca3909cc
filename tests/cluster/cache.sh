#!/bin/bash
#   cache.sh - who asks while the lock service is away keeps his turn
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3

waits () {
    grep -q "$1" "$LOCKKEEPER_SANDBOX/h2/router.log"
}

#   queued NUMBER: so many wait for the lock service.
queued () {
    on h2 status | grep -Eq "^router +$1 messages? waits? here for lock@h2 $1;"
}

#   In the order in which they ask, though each is a process of its own.
read -r lockd <"$LOCKKEEPER_SANDBOX/h2/lockd.pid"
kill -9 "$lockd"
await waits 'session: up -> down: .*service=lock '
for number in 1 2 3 4 5 6; do
    start_on h2 run --wait 90 turn -- \
        sh -c "echo $number >>$work/turns" 2>"$work/$number.err"
    waiter[number]=$!
    await queued "$number"
done
check 'what waits is told' await waits 'cache: a message waits.*lock@h2'
on h2 sandbox restart h2 lockd
for number in 1 2 3 4 5 6; do
    check "number $number has had it" code 0 wait "${waiter[number]}"
done
check 'in their order' test "$(tr -d '\n' <"$work/turns")" = 123456
check 'delivered when it was back' await waits 'cache: forwarded to=lock@h2'

kill -9 "$(cat "$LOCKKEEPER_SANDBOX/h2/lockd.pid")"
sleep 0.3
check 'who waits in vain is told so, and in time' await \
    says 124 "no service 'lock' on host 'h2'" on h2 run --wait 1 turn -- true
done_checking
