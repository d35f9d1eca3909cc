#!/bin/bash
#   hosted_faults.sh - routers that host the lock service are killed and stopped
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   What it is to the rest of the cluster: the end of that host's router, or
#   its silence, and no more.

export LK_HOSTED=1
# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
make_hosts 3

home_of () {
    LOCKKEEPER_ENDPOINT=ipc://$where/h1/router "$lockkeeper" \
        status --object "$1" | awk '$1 == "home" { print $2 }'
}

#   others_go_on TITLE FROM: after that time, and while $victim is away.
others_go_on () {
    # shellcheck disable=SC2046
    read -ra own < <(own_of $(others_of "$victim"))
    check "$1" await go_on "$("$history" now)" "${own[@]}"
    echo "measured: $victim $what -> others got nothing for" \
        "$(longest_pause "$2" "${own[@]}") ms"
}

one_process () {
    [ "$(ls "$where"/*/*.pid)" = "$(ls "$where"/*/router.pid)" ]
}

check 'one process is a host' one_process
for host in "${hosts[@]}"; do
    start_own "$host"
done
# shellcheck disable=SC2046
check 'all are at work' await go_on 0 $(own_of "${hosts[@]}")

#   ------------------------------------------------------------ killed

#   The home of what is held on its host, wanted on all.
victim=$(home_of gate) what=killed
check "$victim is home" test -n "$victim"
check 'a holder beside it, waiters on all' contend gate "$victim"
keeper=$(others_of "$victim" | awk '{ print $1 }')
start_load keeper "$keeper" --style hold --object kept
check 'a holder elsewhere' await happened granted kept
from=$("$history" now)
check 'it is killed' kill_daemon "$victim" router
others_go_on 'others take over' "$from"
check 'what was held beside it is free when its lease is over' \
    await granted_since gate "$from"
check 'its holder was told' await happened lost gate "$from"
check 'it comes back' start_daemon "$victim" router
check 'three lead again' hosts_get all_full

#   ------------------------------------------------------------ stalled

victim=$(home_of gate) what=stopped
from=$(pause "$victim" router)
sleep $((host_lease_ms / 1000 + 1))
others_go_on 'while it is stopped others go on' "$from"
neighbour=$(others_of "$victim" | awk '{ print $1 }')
check 'to its neighbours it is silent' log_has "$neighbour" router \
    "neighbour: silent: live -> dialing host=$victim"
resume "$victim" router
check 'it goes on' hosts_get all_full

#   ------------------------------------------------------------ told to stop

#   Any leader but the host of that holder.
victim=$(others_of "$keeper" | awk '{ print $1 }') what='told to stop'
lost=$(grep -c ' lost .* kept ' "$work"/*keeper.history)
from=$("$history" now)
check 'it is told to stop' stop_daemon "$victim" router
others_go_on 'others go on' "$from"
check 'what is held elsewhere stays' \
    test "$(grep -c ' lost .* kept ' "$work"/*keeper.history)" = "$lost"
check 'it comes back' start_daemon "$victim" router
check 'three lead again' hosts_get all_full

check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
