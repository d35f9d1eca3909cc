#!/bin/bash
#   sandbox_sizes.sh - clusters of two, four and seven hosts elect and lock
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

leaders_of () {
    on "$1" status | awk '$1 == "leaders" { $1 = ""; print }'
}

same_leaders () {
    local host leaders
    leaders=$(leaders_of h1)
    for host in $(seq -f h%.0f "$1"); do
        [ "$(leaders_of "$host")" = "$leaders" ] || return 1
    done
    echo "leaders:$leaders"
    [ -n "$leaders" ] && [ "$(wc -w <<<"$leaders")" -le "$2" ]
}

#   Inside of a sandbox of $1 hosts: each of them has a lock and gives it back,
#   and all know the same leaders, at most $2. (It can be fewer: those who are
#   there when a quorum is.)
serves () {
    local host
    for host in $(seq -f h%.0f "$1"); do
        code 0 on "$host" run --wait 90 one -- true || return 1
        await code 0 on "$host" status || return 1
    done
    await same_leaders "$1" "$2" && says 0 'nobody holds' on h1 list || return 1
    [ "$1" -lt 7 ] || low_screen
}

#   A terminal that has no room for all hosts leaves out those that are well.
low_screen () {
    LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/h1/router TERM=xterm \
        script -qec "stty cols 80 rows 23; '$lockkeeper' status" /dev/null |
        tee "$work/low" | tr -d '\r' | grep -x '... and [1-4] more, all ready' &&
        [ "$(wc -l <"$work/low")" -le 23 ] || { cat "$work/low"; return 1; }
}

if [ -n "${LOCKKEEPER_SANDBOX:-}" ]; then
    serves "$@"
    result=$?
    rm -rf "$work"
    exit $result
fi

#   size HOSTS LEADERS OPTIONS...
size () {
    local hosts=$1 leaders=$2
    shift 2
    check "$hosts hosts, $leaders leaders: each has a lock" "$lockkeeper" \
        sandbox --hosts "$hosts" "$@" -- bash "$0" "$hosts" "$leaders"
}
size 2 2
size 4 3
size 4 1 --set lock/leaders=1
size 7 3
done_checking
