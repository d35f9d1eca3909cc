#!/bin/bash
#   cli_faults.sh - holders and waiters whose own daemons fail
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=300 \
    --set lock/leader-lease=700 --set lock/host-lease=6000

pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$2.pid"
}

ready () {
    on "$1" status >/dev/null 2>&1
}

#   Both commands write all the time (beats.c), with their tokens.
beats=$BUILD/tests/cluster/beats

#   hold HOST NAME: until it is killed, or there is a file NAME.end.
hold () {
    rm -f "$work/$2".*
    # shellcheck disable=SC2016
    start_on "$1" run "$2" -- sh -c '"$1" write "$2" holder plain &
        until [ -e "$2.end" ]; do sleep 0.02; done
        kill $!; wait $!; exit 0' sh "$beats" "$work/$2" 2>"$work/$2.err"
    holder=$!
    await test -s "$work/$2"
}

#   next HOST NAME: waits for it.
next () {
    start_on "$1" run "$2" -- "$beats" write "$work/$2" next plain 50 \
        2>"$work/$2.next.err"
    waiter=$!
    await is_listed "^waiting  *$1 " "$2"
}

#   no_overlap NAME: and the first was followed by the second.
no_overlap () {
    grep -q ' holder ' "$work/$1" &&
        "$beats" last "$work/$1" | grep -q ' next ' &&
        "$beats" judge "$work/$1"
}

#   ------------------------------------------------------------ restarts

check 'held on h2' hold h2 restart
next h3 restart
kill -9 "$(pid_of h2 lockd)"
on h2 sandbox restart h2 lockd
await ready h2
check 'its lock service was restarted: still held' kill -0 $holder
touch "$work/restart.end"
check 'given back by its key' code 0 wait $holder
check 'the next one gets it' code 0 wait $waiter
check 'no overlap' no_overlap restart

check 'held on h2, its router is restarted' hold h2 router
next h2 router
kill -9 "$(pid_of h2 router)"
on h1 sandbox restart h2 router
await ready h2
check 'still held' kill -0 $holder
touch "$work/router.end"
check 'given back' code 0 wait $holder
check 'who waited on the same host gets it' code 0 wait $waiter
check 'no overlap' no_overlap router

check 'held on h1, waited for on h3' hold h1 wait
next h3 wait
kill -9 "$(pid_of h3 lockd)" "$(pid_of h3 router)"
on h1 sandbox restart h3
await ready h3
check 'who waits is still waiting' kill -0 $waiter
touch "$work/wait.end"
check 'given back' code 0 wait $holder
check 'who waited gets it in the end' code 0 wait $waiter
check 'no overlap' no_overlap wait

#   ------------------------------------------------------------ losses

#   lose TITLE NAME: the holder is stopped, then the next one gets it.
lose () {
    check "$1: the holder is stopped" code 122 wait $holder
    check "$1: it is told why" grep -q "lost '$2'" "$work/$2.err"
    check "$1: the next one gets it" code 0 wait $waiter
    check "$1: no overlap" no_overlap "$2"
    echo "measured: $1: $(tail -n 1 "$work/out")"
}

check 'held on h2' hold h2 dead
next h3 dead
kill -9 "$(pid_of h2 lockd)"
lose 'lock service killed' dead
on h1 sandbox restart h2 lockd
await ready h2

check 'held on h2' hold h2 hung
next h3 hung
kill -STOP "$(pid_of h2 lockd)"
lose 'lock service hangs' hung
kill -CONT "$(pid_of h2 lockd)"
await ready h2

check 'held on h2' hold h2 cut
next h3 cut
kill -STOP "$(pid_of h2 router)"
lose 'router hangs' cut
kill -CONT "$(pid_of h2 router)"
check 'h2 comes back' await ready h2

#   ------------------------------------------------------------ no service

kill -9 "$(pid_of h2 lockd)"
check 'no lock service: status' says 1 'no lock service' on h2 status
check 'no lock service: run gives up' await says 124 "'lock'" \
    on h2 run x --wait 0.5 -- true
kill -9 "$(pid_of h3 lockd)"
check 'no quorum: status says why' await says 1 'sees 1 of 3' \
    on h1 status
check 'no quorum: run waits in vain' says 124 'in time' \
    on h1 run x --wait 1 -- true
on h1 sandbox restart h2 lockd
on h1 sandbox restart h3 lockd
check 'all is well again' code 0 on h1 run x --wait 90 -- true
done_checking
