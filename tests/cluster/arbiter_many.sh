#!/bin/bash
#   arbiter_many.sh - one arbiter, two clusters with hosts of the same names
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The second cluster's hosts have folders and addresses of their own: h11 and
#   h12 here are called h1 and h2 there.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/arbiter_tap.sh
. "$(dirname "$0")/arbiter_tap.sh"

#   init_as FOLDER NAME OPTIONS...: the host of that folder is called so.
init_as () {
    local folder=$1 name=$2
    shift 2
    "$lockkeeper" init --config "$work/$folder/conf" --host "$name" \
        --address "$net.${folder#h}" "$@"
}
#   cluster NAME FOLDER FOLDER: its hosts are h1 and h2.
cluster () {
    own "$2"
    own "$3"
    check "$1: h1" says 0 'lockkeeper init --join' \
        init_as "$2" h1 --first --cluster "$1"
    start "$2"
    check "$1: locks can be had" at "$2" wait-ready --timeout 90
    check "$1: h2" says 0 "'h2' is to join" invited "$2" "$3"
    start "$3"
    check "$1: h2 is a member" await member "$2" h2
}
invited () {
    at "$1" invite | init_as "$2" h2 --join --invitation -
}
#   keys_of CLUSTER FOLDER FOLDER: into the arbiter's folder of that cluster.
keys_of () {
    local folder=$work/a/state/$1
    mkdir -p "$folder"
    (umask 077 && printf 'accepted\n    host = "%s"\n    public-key = "%s"\n' \
        h1 "$(key_of "$2")" h2 "$(key_of "$3")" >"$folder/keys")
}
#   takes_part CLUSTER FOLDER FOLDER: the arbiter becomes a member.
takes_part () {
    check "$1: the settings name it" at "$2" settings set hosts/arbiter \
        "a1 $net.7:7417 $(key_of_arbiter)"
    check "$1: h1 is linked with it" await linked "$2" a1
    check "$1: h2 is linked with it" await linked "$3" a1
    check "$1: it is a member" at "$2" cluster add a1
    check "$1: of three" await reports "cluster=$1 votes=yes hosts=2 members=3 "
}

cluster one h1 h2
cluster two h11 h12
keys_of one h1 h2
start_arbiter
takes_part one h1 h2

#   The second comes while the first is served. Its folder also names h1 of the
#   first one: that key is not taken.
keys_of two h11 h12
printf 'accepted\n    host = "h9"\n    public-key = "%s"\n' "$(key_of h1)" \
    >>"$work/a/state/two/keys"
check 'two clusters' await reports 'clusters=2'
check 'a key of the other one is not taken' grep -q \
    "the key of host 'h9' is another cluster's cluster=two other=one" \
    "$work/a/log"
takes_part two h11 h12
check 'the first is as it was' \
    reports 'cluster=one votes=yes hosts=2 members=3 '

#   Each goes on by the arbiter's vote, whatever the other one does.
check 'two: h2 ends' end_host h12
check 'two: h1 goes on' granted h11 two
check 'one: h2 ends' end_host h2
check 'one: h1 goes on' granted h1 one
start h2
start h12
check 'all are there' await reports 'cluster=one votes=yes hosts=2 '
check '... of both' await reports 'cluster=two votes=yes hosts=2 '

#   One that is gone from the folder takes nothing of the other one along.
mv "$work/a/state/two" "$work/a/two"
check 'one cluster' await reports 'clusters=1'
unlinked () {
    ! linked "$1" a1
}
check 'two: it is gone' await unlinked h11
check 'one: h2 ends again' end_host h2
check 'one: h1 goes on again' granted h1 one
kill "$arbiter"
wait "$arbiter"
check 'it ends in good order' test $? = 0
done_checking
