#!/bin/bash
#   arbiter.sh - two hosts and lockkeeper-arbiter: a vote that holds nothing
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/arbiter_tap.sh
. "$(dirname "$0")/arbiter_tap.sh"

for host in h1 h2; do own $host; done
check 'the first host' says 0 'lockkeeper init --join --invitation -' \
    init h1 --first --cluster one
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
check 'a second host' says 0 "'h2' is to join" joins h2
start h2
check 'it is a member' await member h1 h2

#   ------------------------------------------------------------ taken in

take_keys one h1 h2
start_arbiter
check 'it votes' await reports 'cluster=one votes=yes hosts=0 '
check 'the settings name it' at h1 settings set hosts/arbiter \
    "a1 $net.7:7417 $(key_of_arbiter)"
for host in h1 h2; do
    check "$host is linked with it" await linked $host a1
done
check 'it reports both' await reports 'cluster=one votes=yes hosts=2 '
check 'it becomes a member' at h1 cluster add a1
check 'it is one' await member h1 a1
check 'it is of three' await reports 'hosts=2 members=3 '
#   has_role WORDS...: for `cluster members` and `status` of h1.
has_role () {
    at h1 "$@" | grep -q '^a1 .*arbiter'
}
check 'it is told as an arbiter' await has_role cluster members
check 'status tells it, too' await has_role status
check 'locks cannot be had there, and nothing is wrong' code 1 \
    grep -q 'locks cannot be had' <(at h1 status)

#   ------------------------------------------------------------ what it is not

#   Each of its connections is at its own port: it has opened none.
opened_none () {
    ss -Htnp state established | grep -F "pid=$arbiter," >"$work/sockets"
    [ -s "$work/sockets" ] && ! grep -qvF "$net.7:7417 " "$work/sockets"
}
check 'it has connected to nobody' opened_none
#   A host of another cluster, whose settings name it, too.
own h3
check 'another cluster' says 0 'lockkeeper init --join' \
    init h3 --first --cluster other
start h3
check 'has locks' at h3 wait-ready --timeout 90
check 'names it' at h3 settings set hosts/arbiter \
    "a1 $net.7:7417 $(key_of_arbiter)"
check 'and is refused' await grep -q 'refused: no cluster has its key' \
    "$work/a/log"
check 'it is not linked' code 1 linked h3 a1
stop h3
check 'the other two are' await reports 'cluster=one votes=yes hosts=2 '

mkdir "$work/a/state/broken"
echo nonsense >"$work/a/state/broken/keys"
chmod 600 "$work/a/state/broken/keys"
check 'a folder that makes no sense is no other cluster'\''s harm' \
    await reports 'clusters=1'
check 'and is told' grep -q "not begun: '.*', line 1, is no pair" "$work/a/log"

#   ------------------------------------------------------------ failures

check 'h2 ends' end_host h2
check 'h1 goes on' granted h1 one
start h2
check 'h2 is back' at h2 wait-ready --timeout 90
check 'h1 ends' end_host h1
check 'h2 goes on' granted h2 two
start h1
check 'h1 is back' at h1 wait-ready --timeout 90
id_of () {
    grep -o '"id":"[^"]*"' "$1" | head -1
}
id=$(id_of "$work/a/state/one/lock.state")
check 'the arbiter ends' kill_arbiter
check 'both go on' granted h1 three
start_arbiter
check 'it is back' await linked h1 a1
check 'as the same member' \
    test "$(id_of "$work/a/state/one/lock.state")" = "$id"
check 'h2 ends' end_host h2
check 'h1 goes on by its vote' granted h1 four
start h2
check 'all are there' await reports 'cluster=one votes=yes hosts=2 '

#   ------------------------------------------------------------ its end

mv "$work/a/state/one" "$work/a/one"
check 'it votes no more for a cluster whose folder is gone' \
    await reports 'clusters=0'
kill "$arbiter"
wait "$arbiter"
check 'it ends in good order' test $? = 0
done_checking
