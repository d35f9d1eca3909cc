#!/bin/bash
#   cli_run_ends.sh - what becomes of a command when its lock is lost
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The lock is taken back by its key, which is a loss like any other.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 1

#   groups: control groups of runs, of other tests, too.
groups () {
    find /sys/fs/cgroup -name 'lockkeeper-run-*' 2>/dev/null
}

#   hold NAME SCRIPT: a command that has the lock; $key is the lock's.
hold () {
    rm -f "$work/key" "$work/pid"
    groups >"$work/groups"
    start_on h1 run "$1" -- bash -c \
        "echo \"\$LOCKKEEPER_KEY\" >$work/key; $2"
    holder=$!
    await test -s "$work/pid"
    key=$(cat "$work/key")
    pid=$(cat "$work/pid")
}

#   lose TITLE NAME: and the process $pid goes soon after the time for TERM.
lose () {
    local began
    check "$1: taken back" code 0 on h1 unlock "$2" "$key"
    began=$(now_ms)
    check "$1: run says that it is lost" code 122 wait $holder
    check "$1: nothing works on" await ended "$pid"
    check "$1: in time" test $(($(now_ms) - began)) -lt 30000
    kill -9 "$pid" 2>/dev/null
}

hold deaf "trap '' TERM; echo \$\$ >$work/pid; while :; do sleep 0.1; done"
lose 'a command that ignores TERM' deaf

hold child "(trap '' TERM; echo \$BASHPID >$work/pid; while :; do sleep 0.1
    done) & wait"
lose 'a child of it that ignores TERM' child

#   One that is stopped gets TERM when it goes on, and may tidy up.
hold still "trap 'touch $work/tidy; exit 3' TERM; echo \$\$ >$work/pid
    kill -STOP \$\$; while :; do sleep 0.1; done"
await grep -q '^[0-9]* ([^)]*) T' "/proc/$pid/stat"
lose 'a command that is stopped' still
check 'a command that is stopped: it had its TERM' test -e "$work/tidy"

#   It was taken away before it came back, and `run` hears of that with the
#   answer: what the command did last may have been done by two.
hold last "echo \$\$ >$work/pid; until test -e $work/over; do sleep 0.1; done"
service=$(cat "$LOCKKEEPER_SANDBOX/h1/lockd.pid")
kill -STOP "$service"
check 'taken back ahead of the end: nobody answers yet' \
    code 124 on h1 unlock last "$key" --now --wait 0.5
touch "$work/over"
await ended "$pid"
nap 300
kill -CONT "$service"
check 'taken back ahead of the end: run says that it was lost' \
    code 122 wait $holder

#   The command is gone, and `run` is stopped while it ends what that left.
hold left "(trap 'touch $work/term' TERM; echo \$BASHPID >$work/pid
    while :; do sleep 0.1; done) & until test -s $work/pid; do sleep 0.1; done"
check 'the command leaves something behind' await test -e "$work/term"
kill -STOP $holder
check 'run is stopped at the end: the rest is ended' await ended "$pid"
check 'run is stopped at the end: the lock is given back' \
    code 0 on h1 run left --wait 90 -- true
kill -CONT $holder
wait $holder

#   One in a session of its own, whose parent is gone. Where there is a control
#   group it is there; without one it is a descendant of run.
daemon="setsid bash -c '(trap \"\" TERM; echo \$BASHPID >$work/pid
    while :; do sleep 0.1; done) &'"
#   Without cgroup v2 in sight.
bare=("$lockkeeper")
# shellcheck disable=SC2016
if unshare --mount sh -c 'umount -l "$(findmnt -nt cgroup2 -o TARGET)"' \
    2>/dev/null; then
    bare=(unshare --mount sh -c 'umount -l "$(findmnt -nt cgroup2 -o TARGET)"
        exec "$@"' sh "$lockkeeper")
fi

#   hold_bare NAME SCRIPT: as hold.
hold_bare () {
    rm -f "$work/key" "$work/pid"
    groups >"$work/groups"
    "${bare[@]}" run "$1" -- bash -c \
        "echo \"\$LOCKKEEPER_KEY\" >$work/key; $2" &
    holder=$!
    await test -s "$work/pid"
    key=$(cat "$work/key")
    pid=$(cat "$work/pid")
}

#   no_group TITLE: no control group of $holder is left.
no_group () {
    check "$1: no control group is left" await has_no_group
}

#   But one that was there before: somebody who was killed had that number.
has_no_group () {
    ! groups | grep "/lockkeeper-run-$holder\$" |
        grep -qvxFf "$work/groups"
}

#   left_behind: run kills what its command has left, before others get the
#   lock.
left_behind () {
    check "$1: left by a command that ended" code 3 wait $holder
    check "$1: nothing works on" ended "$pid"
    no_group "$1"
}

#   killed TITLE: so does the guard, if run is killed.
killed () {
    kill -9 $holder
    check "$1: run is killed" code 137 wait $holder
    check "$1: nothing works on after that" await ended "$pid"
    no_group "$1"
}

for kind in hold hold_bare; do
    $kind daemon "$daemon; sleep 1000"
    lose "$kind: a daemon" daemon
    $kind daemon "$daemon; until [ -s $work/pid ]; do sleep 0.01; done; exit 3"
    left_behind "$kind: a daemon"
    $kind daemon "$daemon; sleep 1000"
    killed "$kind: a daemon"
    $kind child "(trap '' TERM; echo \$BASHPID >$work/pid; while :; do sleep 0.1
        done) & until [ -s $work/pid ]; do sleep 0.01; done; exit 3"
    left_behind "$kind: a child"
done

#   Nothing tells whose it is but its control group.
if "$lockkeeper" run probe -- grep -q '^0::.*lockkeeper-run-' /proc/self/cgroup
then
    hold stranger "env -i setsid bash -c '
        (trap \"\" TERM; echo \$BASHPID >$work/pid
        while :; do sleep 0.1; done) &'; sleep 1000"
    killed 'a daemon without an environment'
fi

#   The guard.
hold guard "echo \$\$ >$work/pid; exec sleep 1000"
kill -9 "$(pgrep -P $holder -x lk-guard)"
check 'its guard is killed: so is the command' code 125 wait $holder
check 'nothing works on' ended "$pid"
#   One that ends by itself when its guard says TERM.
hold polite "trap 'exit 9' TERM; echo \$\$ >$work/pid
    while :; do sleep 0.05; done" 2>"$work/polite.err"
polite=$holder polite_pid=$pid
kill -STOP "$polite"
hold guard "echo \$\$ >$work/pid; exec sleep 1000"
guard=$(pgrep -P $holder -x lk-guard)
kill -STOP "$holder" "$guard"
check 'run alone is stopped: the guard ends the command' \
    await ended "$polite_pid"
kill -CONT "$polite"
check 'whose own code does not count' code 125 wait "$polite"
check 'run says why' grep -q 'was stopped for too long' "$work/polite.err"
check 'run and its guard are stopped: the kernel ends both' \
    await ended "$pid"
kill -CONT "$holder"
check 'run says so' code 125 wait $holder
check 'and nobody is left' ended "$guard"
groups | grep "/lockkeeper-run-$holder\$" | xargs -r rmdir
done_checking
