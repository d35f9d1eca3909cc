#!/bin/bash
#   kill_members.sh - members come and go under load, and daemons die meanwhile
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   kill_members.sh [SEED]. Seven hosts, of which one is a member: it grows to
#   seven, shrinks to three, and nothing is lost. In the middle of changes the
#   first leader's lock service is killed, or a router, or who is to be added;
#   one host loses its state file, one is removed while it is dead, and one
#   while it leads and its own application holds a lock.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
echo "# $0 $seed"
RANDOM=$seed
members=h1
dead_after_ms=1000 leader_lease_ms=2000 host_lease_ms=8000
make_hosts 7
wanted=(h1)     # the members that there should be

for host in "${hosts[@]}"; do
    start_load "mixed-$host" "$host" --seed "$((seed + ${#loads[@]}))" \
        --objects 9
done
for host in h1 h4 h7; do
    start_load "hot-$host" "$host" --style steady --object hot --objects 2
done
start_load gate h1 --style hold --object gate
sleep 0.5

#   ------------------------------------------------------------ looks

#   One of the hosts, but not $1.
any_but () {
    others_of "$1" | tr ' ' '\n' | grep . | shuf -n 1 \
        --random-source=<(yes "$RANDOM")
}

#   first_leader ASKED
first_leader () {
    on "$1" cluster members --json |
        sed -n 's/.*"host":"\([^"]*\)".*"first leader".*/\1/p'
}

#   members_on HOST: their names, sorted.
members_on () {
    on "$1" cluster members --json | grep -v '"proxy"' |
        sed 's/.*"host":"\([^"]*\)".*/\1/' | sort | tr '\n' ' '
}

members_are () {
    local host
    for host in "${hosts[@]}"; do
        [ "$(members_on "$host")" = "$* " ] || return 1
    done
}

#   All hosts know these members, and no others, in the end.
same_everywhere () {
    mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | sort)
    await members_are "${wanted[@]}" || {
        on h1 cluster members
        on h7 cluster members
        return 1
    }
}

is_proxy () {
    status_of "$1" | grep -q '(not a member)' && ready "$1"
}

#   ------------------------------------------------------------ changes

#   strike WHOM DAEMON: it dies, and is there again soon.
strike () {
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill_daemon "$1" "$2" && sleep "0.$((RANDOM % 4))" &&
        start_daemon "$1" "$2"
}

#   change VERB HOST [WHOM DAEMON]: asked of any host, while that dies.
change () {
    local verb=$1 host=$2 asked from change
    asked=$(any_but "${3:-$host}")
    await ready "$asked" || return 1 # its router may have been struck
    from=$(now_ms)
    start_on "$asked" cluster "$verb" "$host" --wait 90
    change=$!
    [ -z "${3:-}" ] || strike "$3" "$4" || return 1
    wait "$change" || return 1
    echo "took $(($(now_ms) - from)) ms"
}

#   try VERB HOST [WHOM DAEMON]
try () {
    local title="$1 $2"
    [ -z "${3:-}" ] || title="$title, and the $4 of $3 is killed"
    check "$title" change "$@"
    echo "measured: $1 $2: $(tail -n 1 "$work/out")"
    sed 's/^/# /' "$work/out"
}

#   grow HOST [WHOM DAEMON], shrink HOST [WHOM DAEMON]
grow () {
    try add "$@"
    wanted+=("$1")
}

shrink () {
    try remove "$@"
    mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | grep -vx "$1")
}

#   ------------------------------------------------------------ growing

grow h2
grow h3 h1 router
grow h4 "$(first_leader h4)" lockd
grow h5 h5 lockd
grow h6 h2 router
grow h7 "$(first_leader h7)" lockd
check 'seven members' same_everywhere

#   ------------------------------------------------------------ a lost file

lose_file () {
    kill_daemon h6 lockd && rm "$where/h6/state/lock.state" &&
        start_daemon h6 lockd
}

#   As soon as it is heard again.
says_first_remove () {
    await stranger_heard &&
        says 1 'remove that one first' on h2 cluster add h6 --wait 90
}

stranger_heard () {
    on h2 cluster members | grep -q '^h6 .* proxy  *seen'
}

check 'h6 loses its state file' lose_file
check 'it is not added ahead of who it was' says_first_remove
shrink h6
grow h6
check 'seven members again' same_everywhere

#   ------------------------------------------------------------ shrinking

find_leader () {
    leader=$(first_leader h1) && [ -n "$leader" ]
}
check 'one leads' await find_leader
start_load "last-$leader" "$leader" --style hold --object last
check 'its application has its lock' await granted_since last 0
held=$("$history" holder last "$work"/*.history)
shrink "$leader"
check 'who led is a proxy' await is_proxy "$leader"
check 'its application still holds its lock' \
    test "$held" = "$("$history" holder last "$work"/*.history)"

dead=$(printf '%s\n' "${wanted[@]}" | grep -vx "$(first_leader "$leader")" |
    head -n 1)
check "$dead dies" kill_host "$dead"
shrink "$dead"
check 'and comes back' start_host "$dead"
check 'as a proxy' await is_proxy "$dead"
shrink "${wanted[-1]}" "$(first_leader "$dead")" lockd
shrink "${wanted[0]}" "$(first_leader "$dead")" lockd

#   ------------------------------------------------------------ the end

check "three members: ${wanted[*]}" same_everywhere
check 'all are ready in the end' hosts_get all_ready
leaders=3
check 'three lead' hosts_get all_full
check 'no daemon ended but by us' all_live
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
