#!/bin/bash
#   cli_silent.sh - locks of a host that is not heard any more, as others see it
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The host is a proxy, so that no leader goes with it; then a leader.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 4 --members 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=10000

pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$2.pid"
}
#   all_of HOST SIGNAL: its daemons get that.
all_of () {
    local daemon
    for daemon in $(daemons router lockd); do
        kill "-$2" "$(pid_of "$1" "$daemon")" || return 1
    done
}
told () {
    "${@:2}" >"$work/told"
    grep -qE -- "$1" "$work/told" || {
        cat "$work/told"
        return 1
    }
}
free () {
    [ "$(on h1 list --object "$1" | grep -c '^held ')" = 0 ]
}
silent='is silent since [0-9.]+ s, free in [0-9.]+ s at the latest$'

#   lost HOST TITLE: it holds a lock and waits for another, and its daemons are
#   stopped. A `run` that is not told yet would go on waiting, and hold it when
#   the host is back.
lost () {
    local host=$1 title=$2 began
    rm -f "$work/works"
    start_on "$host" run lost -- sh -c "echo >'$work/works'; exec sleep 300" \
        2>"$work/err"
    holder=$!
    await test -e "$work/works"
    check "$title: it is held" await is_listed "^held  *$host " lost
    check "$title: stopped" all_of "$host" STOP
    began=$(now_ms)
    check "$title: show says since when, and how long at the latest" \
        await told "^  $host $silent" on h1 show lost
    check "$title: list, too, once for the host" await told "^$host $silent" \
        on h1 list
    check "$title: as JSON" await told \
        '"silent_ms":[0-9]+,"free_ms":[0-9]+[,}]' on h1 list --json lost
    check "$title: the static one stays" await told \
        "^  $host is silent since [0-9.]+ s, static: it stays held\$" \
        on h1 show "stays@$host"
    echo "# told so: $(on h1 show lost | grep 'is silent')"
    check "$title: it comes free" await free lost
    echo "measured: free $(($(now_ms) - began)) ms after it was stopped"
    check "$title: the static one is held" await told '^held ' \
        on h1 list --object "stays@$host"
    check "$title: continued" all_of "$host" CONT
    wait $holder
}

for host in h2 h4; do
    check "static, of $host" on $host lock "stays@$host" --static
done
lost h4 'a proxy'
check 'it is back' await on h4 status
none_silent () {
    on h1 list >"$work/told" && ! grep 'is silent' "$work/told"
}
check 'nobody is silent any more' await none_silent
lost h2 'a leader'
done_checking
