#!/bin/bash
#   two_hosts.sh - two hosts and a third voter: one failure, and another
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Some rows of the table in lockkeeper-operations(7), TWO HOSTS; the
#   simulator has all of them (tests/sim/script_two.c). How long locks could
#   not be had is printed.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
[ "$mode" = namespaces ] || skip_test 'cuts take network namespaces'
voters=h3 leaders=2 host_lease_ms=3500
make_hosts 3

start_own h1
start_own h2
# shellcheck disable=SC2046
check 'both are at work' await go_on 0 $(own_of h1 h2)

#   goes_on TITLE HOST...: those on the hosts get locks from now on.
goes_on () {
    local title=$1
    shift
    # shellcheck disable=SC2046
    check "$title" await go_on "$("$history" now)" $(own_of "$@")
    # shellcheck disable=SC2046
    echo "measured: $title: $(longest_pause "$from" $(own_of "$@")) ms"
}

not_ready () {
    ! ready "$1"
}

one_is_ready () {
    if ready h1; then not_ready h2; else ready h2; fi
}

h3_is_back () {
    heal && cut h1 h2
}

#   Grants behind a cut are those of the one that goes on. (Which is ready is
#   no sign at first: either may be so for a moment.)
one_goes_on () {
    for served in h1 h2; do
        # shellcheck disable=SC2046
        ! go_on "$1" $(own_of "$served") || return 0
    done
    return 1
}

from=$("$history" now)
check 'h1 and h2 are cut from each other' cut h1 h2
check 'one of them goes on' await one_goes_on "$("$history" now)"
goes_on 'the one goes on' "$served"
check 'the other one does not' await one_is_ready
check 'they meet' heal
check 'both are ready' hosts_get all_ready

from=$("$history" now)
check 'h3 is cut from both' cut h3 'h1 h2'
sleep 1
goes_on 'both go on without it' h1 h2
check '... and h1 and h2 are cut from each other' cut h1 h2
check 'h1 stops' await not_ready h1
check 'h2 stops' await not_ready h2
check 'h3 is back, and the two are cut still' h3_is_back
check 'one of them goes on' await one_is_ready
check 'they meet' heal
check 'both lead' hosts_get all_full

from=$("$history" now)
check 'h1 ends' kill_host h1
goes_on 'h2 goes on without it' h2
check 'h1 comes back' start_host h1
check 'all are ready' hosts_get all_ready

check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
