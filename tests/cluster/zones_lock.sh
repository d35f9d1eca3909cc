#!/bin/bash
#   zones_lock.sh - users of two zones on two hosts, and an admin
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"

[ "$(id -u)" = 0 ] || {
    echo '1..0 # SKIP only root can be other users'
    exit 0
}

#   User 65531 is in zone red, 65532 in blue, 65533 an operator in red.
with_zones () {
    own "$1"
    mkdir "$work/$1/logs"
    chmod 755 "$work" "$work/$1" "$work/$1/run"
    sed -i "s|^router$|&\n    mode = 0666|
        s|^lock$|local\n    zone = \"65531 red\"\n    zone = \"65532 blue\"\n    zone = \"65533 red operator\"\nlock\n    zone-logs = \"$work/$1/logs\"|" \
        "$work/$1/conf"
}

#   as USER HOST VERB...
as () {
    local uid=$1 host=$2
    shift 2
    LOCKKEEPER_ENDPOINT=ipc://$work/$host/router \
        setpriv --reuid "$uid" --regid "$uid" --clear-groups \
        "$lockkeeper" "$@"
}
held=()
holds () {
    LOCKKEEPER_ENDPOINT=ipc://$work/$2/router \
        setpriv --reuid "$1" --regid "$1" --clear-groups \
        "$lockkeeper" run "$3" -- sleep 120 &
    held+=($!)
}
lists () {
    as "$1" "$2" list --json | grep -q "\"object\": *\"$3\""
}

fails () {
    ! "$@"
}

with_zones h1
with_zones h2
check 'the first host' says 0 "'h1' is the first host" \
    init h1 --first --cluster one --plain
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
check 'the second joins' says 0 "'h2' is to join" init h2 --join "$net.1"
start h2
members () {
    [ "$(at h1 cluster members | grep -cE '^h[12] .*(leader|member)')" = 2 ]
}
check 'and is a member' await members
check 'locks can be had there, in a zone' as 65531 h2 wait-ready --timeout 90
chmod 755 "$work"/h?/run

holds 65531 h1 job
check 'who has it, for that zone on another host' await lists 65531 h2 job
check 'not for another zone' fails lists 65532 h2 job
check 'which can have that name' as 65532 h2 run job -- true
check 'nothing of hosts' fails grep -qE 'h[12]' <(as 65531 h2 list --json)
check 'the admin sees both' await lists 0 h1 job
check 'a user takes nothing away' \
    fails as 65531 h2 unlock job --force --reason test
check 'it is there' await lists 65531 h2 job
check 'nor changes members' says 125 'yours to say' \
    as 65531 h1 cluster remove h2
check 'an operator does' as 65533 h2 unlock job --force --now --reason test
gone () {
    fails lists 65531 h1 job
}
check 'it is gone' await gone
check 'the log of the zone has it' \
    grep -q 'audit: force asked who=.* zone=red' "$work/h2/logs/red.log"
check 'and who was refused' grep -q 'audit: UNLOCK refused who=.* zone=red' \
    "$work/h2/logs/red.log"
check 'not that of the other one' fails grep -qs zone=red "$work/h2/logs/blue.log"

check 'a limit' at h1 settings set zones/zone 'red locks=1'
holds 65531 h1 one
check 'one lock' await lists 65531 h2 one
full () {
    as 65531 h2 run two -- true 2>&1 | grep -q 'the zone may have 1 locks'
}
check 'no more, at another host' await full
check 'another zone has its own' as 65532 h1 run two -- true
kill "${held[@]}" 2>/dev/null
wait "${held[@]}" 2>/dev/null

none () {
    [ -z "$(as 65531 h2 list --json)" ]
}
has_room () {
    as 65531 "$1" run two -- true
}
uses () {
    at "$1" zone list | grep -q "^red  *$2/$3 "
}
check 'nothing is left' await none
check 'there is room' await has_room h1
eval "$(as 65531 h1 lock stays --static 2>/dev/null)"
check 'a static lock' await lists 65531 h2 stays
check 'counts, with nobody there who took it' await uses h1 1 1
check 'at another host, too' await uses h2 1 1
check 'no more' full
check 'room for one more' at h1 settings set zones/zone 'red locks=2'
check 'it is counted once' await uses h1 1 2
check 'one more' await has_room h2
check 'a limit again' at h1 settings set zones/zone 'red locks=1'
check 'no more, again' await full
check 'given back' as 65531 h2 unlock stays "$key"
check 'it is not counted any more' await uses h1 0 1
check 'there is room again' await has_room h2
done_checking
