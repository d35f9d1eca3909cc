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

#   hold NAME SCRIPT: a command that has the lock; $key is the lock's.
hold () {
    rm -f "$work/key" "$work/pid"
    start_on h1 run "$1" -- bash -c \
        "echo \"\$LOCKKEEPER_KEY\" >$work/key; $2"
    holder=$!
    within 5 test -s "$work/pid"
    key=$(cat "$work/key")
    pid=$(cat "$work/pid")
}

#   lose TITLE NAME: and the process $pid goes within the time for TERM (1 s).
lose () {
    local began
    check "$1: taken back" code 0 on h1 unlock "$2" "$key"
    began=$(now_ms)
    check "$1: run says that it is lost" code 122 wait $holder
    check "$1: nothing works on" within 3 gone "$pid"
    check "$1: in time" test $(($(now_ms) - began)) -lt 3000
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
within 5 grep -q '^[0-9]* ([^)]*) T' "/proc/$pid/stat"
lose 'a command that is stopped' still
check 'a command that is stopped: it had its TERM' test -e "$work/tidy"
done_checking
