#!/bin/bash
#   kinds_dead.sh - what dead holders had is free, and each unit of it once
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Holders of several units are killed, and so are their lock services and
#   hosts, and the home of what they hold; then the others can have so many
#   units as are free, and not one more.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source=tests/cluster/kinds_tap.sh
. "$(dirname "$0")/kinds_tap.sh"
host_lease_ms=3200
make_hosts 4
limit=6
unit="db semaphore limit=$limit"

#   hold NAME N: it gets so many units.
hold () {
    local n
    for ((n = 1; n <= $2; n++)); do
        starts_with locked "$1" "get u$n $unit" || return 1
    done
}

#   are_held N: as all leaders' tables say.
are_held () {
    [ "$(on h1 list --object db 2>"$work/list" | grep -c '^held')" = "$1" ]
}

#   the_rest N: so many are held, and the others can be had, and given back.
the_rest () {
    local n
    await are_held "$1" || {
        on h1 list --object db
        return 1
    }
    for ((n = $1 + 1; n <= limit; n++)); do
        is_reply "locked $n" b "get v$n $unit" || return 1
    done
    is_reply full b "get v $unit" || return 1
    for ((n = $1 + 1; n <= limit; n++)); do
        is_reply ok b "release v$n" || return 1
    done
}

clients h1 a b
client c h2
client d h3
check 'a has two units, c and d one' eval 'hold a 2 && hold c 1 && hold d 1'
check 'the rest can be had' the_rest 4

kill_client c
check 'an application is killed that had one' the_rest 3
client c h2
check 'it comes again, and has three' hold c 3
check 'no more can be had' is_reply full b "get v $unit"
kill_client c
check 'it is killed with all of them' the_rest 3

client c h2
check 'it has three' hold c 3
check 'its lock service is killed' kill_daemon h2 lockd
for n in 1 2 3; do
    check "c learns that u$n is lost" starts_with lost c wait "u$n"
    expect no c held "u$n"
done
check 'its lock service comes back' start_daemon h2 lockd
check 'they are free once' the_rest 3
check 'what it gives back now is not there any more' eval \
    'for n in 1 2 3; do starts_with disconnected c "release u$n"; done
    the_rest 3'
check 'it has three again' hold c 3

kill_host h2
kill_client c
check 'its whole host dies' the_rest 3
start_host h2
check 'and comes back' hosts_get all_ready
check 'nothing comes back with it' the_rest 3

#   The home, where it is not a's or d's host.
home=$(on h1 status --object db | awk '$1 == "home" { print $2 }')
echo "# the home of 'db' is $home"
if [ "$home" = h1 ] || [ "$home" = h3 ]; then
    check 'its home is stopped for a while' stop_daemon "$home" lockd
else
    check 'its home dies' kill_daemon "$home" lockd
fi
start_daemon "$home" lockd
check 'all are ready again' hosts_get all_ready
left=3
[ "$home" != h1 ] || left=1
[ "$home" != h3 ] || left=2
check "$left units are still held" the_rest "$left"
end_client a
end_client d
check 'all go in good order' the_rest 0
end_client b
finish_test
