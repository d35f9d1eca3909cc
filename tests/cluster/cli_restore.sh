#!/bin/bash
#   cli_restore.sh - a cluster with keys, all hosts of which have lost all
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Nothing is left but a backup: the host that begins anew has other keys than
#   before.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"

#   short H: with leases that make it wait less.
short () {
    own "$1"
    cat >>"$work/$1/conf" <<end
    dead-after = 500
    leader-lease = 1000
    host-lease = 4000
end
}
member () {
    at h1 cluster members | grep -q "^$1 .*\(leader\|member\) *seen"
}
#   has HOST KEY: the settings have that one.
has () {
    at h1 settings get router/key 2>/dev/null | grep -qxF -- "$1 $2"
}
restores () {
    says "$1" "$2" "$lockkeeper" restore "$work/backup" --cluster one \
        --config "$work/h1/conf" "${@:3}" </dev/null
}

#   ------------------------------------------------------------ before

short h1
short h2
check 'the first host' says 0 'is the first host' init h1 --first --cluster one
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
check 'another one' says 0 "'h2' is to join" joins h2
start h2
check 'is a member' await member h2
former=$(key_of h1)
check 'with keys in the settings' await has h1 "$former"
check 'a backup' await says 0 'version 1 of the settings' at h1 backup \
    "$work/backup"
kill "${pids[@]}"
wait
pids=()

#   ------------------------------------------------------------ anew

short h1
short h2
check 'a new host' says 0 'is the first host' init h1 --first --cluster one
check 'of another cluster' says 0 'first host' init h2 --first --cluster two
check 'is none' says 1 "member of cluster 'two' already" "$lockkeeper" \
    restore "$work/backup" --cluster one --config "$work/h2/conf"
check 'as another one' restores 125 "that this is host 'h1', not 'h7'" \
    --host h7
check 'restored in place of a state that is new' restores 0 \
    "'h1' is the only member"
check 'its key is another one' grep -q '^key  *another one than before' \
    "$work/said"
check 'not twice' restores 1 'loses less'
start h1
check 'locks can be had again' at h1 wait-ready --timeout 90
now=$(key_of h1)
check 'by a new key' test -n "$now" -a "$now" != "$former"
short h2
check 'nobody is invited who would not know it' says 125 \
    'nobody is invited: the settings of the cluster lack the key' at h1 invite
check 'the settings get it' await has h1 "$now"
check 'one without its keys does not join' says 125 \
    'a host of that name has a key' joins h2
check 'until it is forgotten' says 0 'withdrawn    h2' at h1 forget h2
check 'it joins' says 0 "'h2' is to join" joins h2
start h2
check 'and is a member' await member h2
key=$(key_of h2)
check 'whose key the settings get' await has h2 "$key"

#   ------------------------------------------------------------ its name

stop h2
short h2
"$lockkeeper" init --cluster one --members h9 --host h9 \
    --state "$work/other" >/dev/null
sed -i '/^lock$/i\    security = none' "$work/h2/conf"
check 'without init' says 0 "'h2' is the only member" "$lockkeeper" restore \
    "$work/backup" --cluster one --host h2 --config "$work/h2/conf"
check 'its router knows its name' grep -q 'host = h2' "$work/h2/state/identity"
done_checking
