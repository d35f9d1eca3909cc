#!/bin/bash
#   faults_descriptors.sh - router and lock service run out of descriptors
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Nobody who is there loses anything; who comes waits or is told; the log
#   says why; and all is well as soon as there are descriptors.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
make_hosts 3

for host in "${hosts[@]}"; do
    start_own "$host"
done
start_load keeper h1 --style hold --object kept
check 'a holder on h1' await happened granted kept
# shellcheck disable=SC2046
check 'all are at work' await go_on 0 $(own_of "${hosts[@]}")

#   ------------------------------------------------------------ the router

#   A link of the router's that ends meanwhile leaves it a descriptor.
no_status () {
    descriptors h1 router 0 &&
        ! timeout 2 "$lockkeeper" status --endpoint "ipc://$where/h1/router"
}

still_live () {
    kill -0 "$(pid_of "$1" "$2")"
}

without () {
    ! "$@"
}

restart_both () {
    start_daemon h1 lockd && start_daemon h2 lockd
}

for left in 0 2; do
    from=$("$history" now)
    check "h1's router may open $left more" descriptors h1 router "$left"
    #   Who takes one of the last two may be served.
    [ "$left" != 0 ] ||
        check "$left: who comes is not served" await no_status
    check "$left: the router goes on" still_live h1 router
    check "$left: who was there is served" await granted_since h1.0 "$from"
    [ "$left" != 0 ] || {
        check "$left: a neighbour goes" kill_daemon h3 router
        check "$left: and comes" start_daemon h3 router
        sleep 1
        check "$left: the router goes on" still_live h1 router
    }
    check "$left: as many as before" descriptors h1 router all
    check "$left: who comes is served" await ready h1
done
check 'the log says why' await log_has h1 router 'no descriptors left'
check 'and when it is over' log_has h1 router 'there are descriptors again'
check 'a name is not blamed for it' without log_has h1 router resolve
check 'all are ready, three leaders' hosts_get all_full

#   ------------------------------------------------------------ lock service

#   It has to write its state as soon as another leader is gone.
check "h1's lock service may open none more" descriptors h1 lockd 0
check 'a leader is killed' kill_daemon h2 lockd
check 'it cannot write its state, and ends' await is_dead h1 lockd
check 'the log says why' log_has h1 lockd \
    'too many open files; allow this process more'
check 'both come back' restart_both
check 'all are ready, three leaders' hosts_get all_full
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
