#!/bin/bash
#   cli_recover.sh - a cluster that lost its majority for good begins anew
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A host that is stopped (SIGSTOP) lives and is not heard, like one behind a
#   cut: when it goes on, the cut is over. Leases are short, so that nothing
#   takes long.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 4 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=4000
box=$LOCKKEEPER_SANDBOX

#   signal NAME HOST...: all that runs there.
signal () {
    local name=$1 host daemon
    shift
    for host; do
        for daemon in $(daemons router lockd); do
            kill "-$name" "$(cat "$box/$host/$daemon.pid")"
        done
    done
}

#   recovers CODE TEXT HOST ARGUMENT...: its answer.
recovers () {
    local code=$1 text=$2 host=$3
    shift 3
    says "$code" "$text" on "$host" cluster recover "$@" </dev/null
}

#   is_not_heard HOST ARGUMENT...: whoever is left out.
is_not_heard () {
    ! on "$@" 2>&1 </dev/null | grep -q 'is heard'
}

#   holds HOST NAME: a process there, until it is told that it does not.
holds () {
    start_on "$1" run "$2" -- sh -c "echo >'$work/$1.$2'; exec sleep 1000" \
        2>"$work/$1.$2.err"
    await test -e "$work/$1.$2"
}

#   members HOST: as it knows them.
members () {
    on "$1" cluster members --json |
        sed -n '/"proxy"/d; s/.*"host":"\([^"]*\)".*/\1/p' |
        sort | paste -sd ' '
}
are_members () {
    [ "$(members "$1")" = "$2" ]
}
token_of () {
    sed -n 's/.* token=//p' "$work/$1"
}

await on h1 wait-ready --timeout 30
check 'who is heard is not dead' recovers 1 "is heard: stop its lock service" \
    h1 h2 --cluster sandbox
check 'a lock on a host that stays' holds h1 a
held=$!
check 'a lock on one that does not' holds h4 b
other=$!
on h2 lock --static kept >"$work/kept"
check 'settings' on h1 settings set settings/lock h1 h2 h3 h4
has_settings () {
    [ "$(on "$1" settings get settings/lock | paste -sd ' ')" = 'h1 h2 h3 h4' ]
}

#   ------------------------------------------------------------ one

signal STOP h3 h4
await is_not_heard h1 cluster recover h2
check 'it is shown what that would be' recovers 1 \
    'nothing is begun: --cluster NAME does it' h1 h2
check 'with whom' grep -q '^members      h1, h2$' "$work/said"
check 'without whom' grep -qE '^without      h3, h4|^without      h4, h3' \
    "$work/said"
check 'who holds what' grep -q '^exclusive,static *h2 .* kept$' "$work/said"
check 'how to take a static lock again' grep -qxF \
    "    lockkeeper lock --static 'kept'" "$work/said"
check 'a stranger is no member' recovers 1 "'h9' is no member" h1 h9 \
    --cluster sandbox
check 'of another cluster' recovers 1 "this host is of cluster 'sandbox'" \
    h1 h2 --cluster demo
check 'with tokens that are not above' recovers 1 'not above' h1 h2 \
    --cluster sandbox --token-above 9007199254740991
check 'it begins' recovers 0 'begun: ' h1 h2 --cluster sandbox
check 'the holder is told' await gone $held
check 'why it waits' says 1 'generation 1 begins when what was held before' \
    on h1 status
check 'locks can be had' on h1 wait-ready --timeout 30
check 'with two members' await are_members h1 'h1 h2'
check 'settings are as they were' has_settings h2
check 'what was held is free' on h2 run a -- true
check 'what was static, too' on h2 lock --static kept
on h2 lock --static new >"$work/new"
check 'tokens go on growing' \
    test "$(token_of new)" -gt "$(token_of kept)"
check 'a majority is there: no need' recovers 1 'is heard' h1 --cluster sandbox

#   The cut ends.
check 'the other holder knows of nothing' kill -0 $other
signal CONT h3 h4
check 'it is told' await gone $other
check 'those who were away join' await are_members h1 'h1 h2 h3 h4'
check 'they hear the same' await are_members h4 'h1 h2 h3 h4'
check 'with the settings' await has_settings h4
check 'nothing is held twice' says 0 'nobody holds' on h4 list b
names_generation () {
    on h4 status --json | grep -q '"generation":1'
}
check 'status names the generation' names_generation

#   ------------------------------------------------------------ two at once

#   h1 begins one for itself alone, and so does h2, and neither hears the other.
signal STOP h2 h3 h4
await is_not_heard h1 cluster recover
check 'one host alone' recovers 0 'begun: ' h1 --cluster sandbox
await on h1 wait-ready --timeout 30
signal STOP h1
signal CONT h2
await is_not_heard h2 cluster recover
check 'and another one' recovers 0 'begun: ' h2 --cluster sandbox
await on h2 wait-ready --timeout 30
check 'which grants' holds h2 c
held=$!
signal CONT h1
stands_still () {
    on "$1" status 2>&1 | grep -q 'two generations of number 2 were begun apart'
}
check 'both hear, and stand still' await stands_still h1
check 'both of them' await stands_still h2
check 'holders are told' await gone $held
check 'nothing is granted' code 124 on h2 run d --wait 0.5 -- true
check 'one begins a later one with both' recovers 0 'begun: ' h1 h2 \
    --cluster sandbox
check 'they have locks again' on h2 wait-ready --timeout 30
check 'both are members' await are_members h2 'h1 h2'
check 'with their settings' has_settings h2
signal CONT h3 h4
check 'and all others come' await are_members h1 'h1 h2 h3 h4'
done_checking
