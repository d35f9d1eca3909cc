#!/bin/bash
#   sandbox_life.sh - a sandbox starts, restarts, and leaves nothing behind
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

#   start OPTIONS...: a sandbox without a command, until it tells its hosts.
start () {
    rm -f "$work/told"
    "$lockkeeper" sandbox "$@" >"$work/told" 2>"$work/errors" &
    sandbox=$!
    await grep -qs Ctrl-C "$work/told" || return 1
    dir=$(sed -n 's/.* hosts* in \(.*\), ready.*/\1/p' "$work/told")
    pids=$(cat "$dir"/*/*.pid)
}

#   Every daemon and the directory.
nothing_left () {
    local pid
    for pid in $pids; do
        gone "$pid" || return 1
    done
    [ ! -e "$dir" ]
}

endings () {
    local signal=$1 wanted=$2
    check "$signal: it starts" start --hosts 2
    kill "-$signal" $sandbox
    check "$signal: exit code $wanted" code "$wanted" wait $sandbox
    check "$signal: nothing is left" await nothing_left
}
endings INT 0
endings TERM 0
endings KILL 137

#   ------------------------------------------------------------ with a command

check 'the exit code of the command' code 9 \
    "$lockkeeper" sandbox --hosts 1 -- sh -c 'exit 9'
check 'no such command' code 127 "$lockkeeper" sandbox --hosts 1 -- /no/such
check 'its environment' "$lockkeeper" sandbox --hosts 2 -- sh -c '
    [ "$LOCKKEEPER_ENDPOINT" = "$LOCKKEEPER_ENDPOINT_h1" ] &&
    [ -S "${LOCKKEEPER_ENDPOINT_h2#ipc://}" ] &&
    [ -d "$LOCKKEEPER_SANDBOX" ] && lockkeeper status'
"$lockkeeper" sandbox --hosts 2 -- sh -c "
    cat \$LOCKKEEPER_SANDBOX/*/*.pid >$work/pids
    echo \$\$ >>$work/pids; echo \$LOCKKEEPER_SANDBOX >$work/dir; sleep 1000" \
    2>/dev/null &
sandbox=$!
await test -s "$work/dir"
kill -9 $sandbox
wait $sandbox 2>/dev/null
dir=$(cat "$work/dir")
pids=$(cat "$work/pids")
check 'kill -9 with a command: nothing is left' await nothing_left

check 'a setting of the daemons' "$lockkeeper" sandbox --hosts 1 \
    --set lock/host-lease=7000 -- sh -c '
    [ "$(lockkeeper status | awk "/^session/ { print \$5 }")" -le 7000 ]'
hosted () {
    "$lockkeeper" sandbox --hosts 1 --hosted -- sh -c '
        lockkeeper run a -- true && lockkeeper sandbox restart h1 &&
        ls "$LOCKKEEPER_SANDBOX"/h1/*.pid &&
        lockkeeper sandbox restart h1 lockd'
}
check 'a router that hosts its lock service has no lockd' says 125 \
    'its router hosts the lock service' hosted
check 'but a number of its own' grep -q /router.pid "$work/said"
check 'and nobody else has' code 1 grep -q /lockd.pid "$work/said"
check 'a setting that is none' says 125 'needs KEY=VALUE' \
    "$lockkeeper" sandbox --set nonsense -- true
check 'a setting that no daemon knows is told' says 125 'nonsense' \
    "$lockkeeper" sandbox --set lock/nonsense=1 -- true

#   ------------------------------------------------------------ directories

mkdir "$work/full" "$work/empty"
touch "$work/full/file"
check 'a directory that is not empty' says 125 'not empty' \
    "$lockkeeper" sandbox --dir "$work/full" -- true
check 'an empty one is emptied again' code 0 \
    "$lockkeeper" sandbox --hosts 1 --dir "$work/empty" -- true
check 'and stays' test -z "$(ls -A "$work/empty")" -a -d "$work/empty"
check 'a new one' code 0 \
    "$lockkeeper" sandbox --hosts 1 --dir "$work/new" -- true
check 'is removed' test ! -e "$work/new"
check '--keep' code 0 \
    "$lockkeeper" sandbox --hosts 1 --dir "$work/kept" --keep -- true
check 'keeps it' test -s "$work/kept/h1/lock.state"
check 'a path that is too long' says 125 'too long' "$lockkeeper" sandbox \
    --dir "$work/$(printf '%0100d' 0)" -- true

#   ------------------------------------------------------------ restart

check 'it starts' start --hosts 3
export LOCKKEEPER_SANDBOX=$dir
ready () {
    on "$1" status >/dev/null 2>&1
}
not_ready () {
    ! ready "$1"
}
old=$(cat "$dir/h2/lockd.pid")
kill -9 "$old" "$(cat "$dir/h2/router.pid")"
check 'a host whose daemons were killed is not ready' await not_ready h2
check 'it says so' await grep -q 'ended by signal 9' "$work/errors"
check 'restart of one daemon' code 0 "$lockkeeper" sandbox restart h2 router
check 'restart of both' code 0 "$lockkeeper" sandbox restart h2
check 'it is ready again' await ready h2
check 'it has another number' test "$(cat "$dir/h2/lockd.pid")" != "$old"
check 'no such host' says 125 'no such host' \
    "$lockkeeper" sandbox restart h9
check 'no such daemon' says 125 "'router' or 'lockd'" \
    "$lockkeeper" sandbox restart h2 nonsense
pids=$(cat "$dir"/*/*.pid)
kill -STOP "$(cat "$dir/h1/lockd.pid")"
kill -INT $sandbox
check 'it ends although a daemon was stopped' code 0 wait $sandbox
check 'nothing is left' await nothing_left
unset LOCKKEEPER_SANDBOX
done_checking
