#!/bin/bash
#   absent_service.sh - who asked while the lock service was away, and is gone,
#   is granted nothing
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   What a service said waits for its receiver though it has ended: nobody would
#   ever give that lock back.

# shellcheck source=tests/cluster/speak_tap.sh
. "$(dirname "$0")/speak_tap.sh"
in_sandbox "$0" --hosts 1
hosts=(h1)
log=$LOCKKEEPER_SANDBOX/h1/router.log

logged () {
    grep -q -- "$1" "$log"
}

ask_and_go () {
    speaker gone "$(endpoint_of h1)"
    enter gone gone false || return 1
    say gone gone@h1 lock@. LOCK 7 60 '{"object":"gate","wait":-1}'
    within 60 logged 'cache: a message waits.*lock@h1' || return 1
    silence gone
    within 60 logged 'session: up -> down: .*service=gone'
}

#   Its answer comes when it asks again: as it should do.
ask_and_stay () {
    speaker stays "$(endpoint_of h1)"
    enter stays stays false || return 1
    say stays stays@h1 lock@. LOCK 8 60 '{"object":"kept","wait":-1}'
}

nothing_is_left () {
    [ -z "$(on h1 list --object gate --json)" ]
}

kill -9 "$(cat "$LOCKKEEPER_SANDBOX/h1/lockd.pid")"
check 'the lock service is away' \
    within 60 logged 'session: up -> down: .*service=lock '
check 'a service asks for a lock, and is gone' ask_and_go
check 'another asks, and stays' ask_and_stay
check 'a lock service comes' restart h1 lockd
check 'it hears of both' within 60 logged 'cache: forwarded to=lock@h1'
check 'who is there is granted it' within 60 heard stays '^lock@h1 LOCKED 8 '
check 'who is gone has nothing' nothing_is_left
check 'the lock is free' is_free gate
silence stays
check 'the other is free, too, when its holder has gone' is_free kept
done_checking
