#!/bin/bash
#   roll_hasty.sh - the lock services of all hosts are restarted at once
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   As somebody does who does not wait for one host after the other. The last
#   one that has the tickets stays until another is back to take them: nothing
#   has to be taken from what applications say, so that no lock can be lost that
#   no application knows of.

# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "$0")/load_tap.sh"
in_sandbox "$0" --hosts 3
hosts=(h1 h2 h3)
trap kill_loads EXIT

#   at_once: all are told to end, in any order, and started again.
at_once () {
    local host good=0 pids=()
    for host in "$@"; do
        restart "$host" lockd &
        pids+=($!)
    done
    for host in "${pids[@]}"; do
        wait "$host" || good=1
    done
    return $good
}

no_reclaim () {
    ! grep -H 'reclaim: static locks are gone' "$where"/h?/"$(daemons lockd)".log
}

check 'as many lead as can' hosts_get all_full
check 'a lock that no process holds' on h1 lock kept --static
for host in "${hosts[@]}"; do
    start_load "own-$host" "$host" --style steady --object "$host." \
        --objects 2 --rest 10
done
objects=(h1.0 h1.1 h2.0 h2.1 h3.0 h3.1)
check 'all are at work' await go_on 0 "${objects[@]}"
for order in 'h1 h2 h3' 'h3 h2 h1' 'h2 h3 h1'; do
    from=$("$history" now)
    # shellcheck disable=SC2086
    check "$order: restarted at once" at_once $order
    check 'locks are had everywhere' await go_on "$("$history" now)" \
        "${objects[@]}"
    echo "# $order: longest wait" \
        "$(longest_pause "$from" "${objects[@]}") ms"
    check 'as many lead as before' hosts_get all_full
    check 'the lock is there' says 0 kept on h2 list
done

#   none WHICH: that is in no history.
none () {
    ! grep -E "^[^ ]+ [^ ]+ $1 " "$work"/*.history
}

check 'nothing had to be taken from applications' no_reclaim
check 'no daemon ended but by us' all_live
check 'every application got its answers' stop_loads "${!loads[@]}"
check 'no lock was lost' none lost
check 'no request failed' none failed
check 'the judge is content' judge
keep_for_later
done_checking
