#!/bin/bash
#   deaf_service.sh - a lock service that does not read for a while hears of
#   every end
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   It is stopped, and its queue is full, when a holder is killed; then so much
#   happens that not even that can wait for it. Leases are long, so that none
#   of them frees a lock.

# shellcheck source=tests/cluster/speak_tap.sh
. "$(dirname "$0")/speak_tap.sh"
in_sandbox "$0" --hosts 1 --set lock/host-lease=300000 \
    --set lock/leader-lease=20000 --set router/log-level=info
log=$LOCKKEEPER_SANDBOX/h1/router.log
lockd=$(cat "$LOCKKEEPER_SANDBOX/h1/$(daemons lockd).pid")

logged () {
    grep -qF -- "$1" "$log"
}

overloaded () {
    heard filler 'TRANSMISSIONREPORT .*"error":"overloaded"'
}

#   More than a router and the system keep for it, to the last bytes.
fill () {
    local size i noise
    for size in 999998 30000 900 1; do
        : >"$work/filler.out"
        noise=$(printf "{%${size}s}" '')
        for ((i = 0; i < 60; i++)); do
            say filler filler@h1 lock@. NOISE "$i" 0 "$noise"
        done
        [ -n "${LK_HOSTED:-}" ] || within 60 overloaded || return 1
    done
}

#   A router that is stopped, too, sees it later.
kill_holder () {
    silence "$1" 9
    [ -n "${LK_HOSTED:-}" ] ||
        within 60 logged "session: up -> down: process ended service=$1"
}

come_and_go () {
    local i
    for ((i = 0; i < 9000; i++)); do
        say crowd "x$i@." router@. REGISTER 2 0 "{\"service\":\"x$i\"," \
            '"version":"1","pid":$PID,"application":true}'
        say crowd "x$i@h1" router@. UNREGISTER 3 0
    done
    within 60 logged 'up -> down: unregistered service=x8999'
}

check 'a lock is held' hold one gate
check 'another, by somebody who stays' hold stays kept
speaker filler "$(endpoint_of h1)"
check 'somebody has much to say' enter filler filler true
kill -STOP "$lockd"
check 'the lock service does not read, its queue is full' fill
check 'its holder is killed' kill_holder one
kill -CONT "$lockd"
check 'the lock is free' is_free gate
check 'the other is still held' is_busy kept

if [ -z "${LK_HOSTED:-}" ]; then
    check 'a lock is held again' hold two gate
    speaker crowd "$(endpoint_of h1)"
    kill -STOP "$lockd"
    check 'its queue is full again' fill
    check 'more come and go than it can be told' come_and_go
    check 'its holder is killed, too' kill_holder two
    check 'it is cut off' within 60 logged 'cut off: it does not read'
    kill -CONT "$lockd"
    check 'it comes anew, the lock is free' is_free gate
    check 'the other is still held by who is there' is_busy kept
fi
silence stays 9
check 'until that one has ended' is_free kept
done_checking
