#!/bin/bash
#   cli_journal.sh - all lock services are killed at once, and nothing is lost
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A static lock, units of a semaphore and a set, held by processes that go on;
#   then what becomes of a journal that is damaged, somebody else's or old.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
mode=${JOURNAL:-sync}
in_sandbox "$0" --hosts 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=15000 \
    --set "lock/journal=$mode"

daemon=$(daemons lockd)
base=$LOCKKEEPER_SANDBOX

kill_all () {
    local host
    for host in h1 h2 h3; do
        kill -9 "$(cat "$base/$host/$daemon.pid")" || return 1
    done
}
start_all () {
    local host
    for host in h1 h2 h3; do
        "$lockkeeper" sandbox restart "$host" || return 1
    done
}
is_ready () {
    on h1 status
}
#   Names, holders and tokens, without times.
what_is_held () {
    on "$1" list --held --json |
        /usr/bin/python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
for row in sorted(rows, key=lambda row: (row["object"], row["token"],
                                         row["pid"])):
    print(row["object"], row["host"], row["pid"], row["token"], row["type"])
'
}
all_are_held () {
    [ "$(what_is_held h1 | wc -l)" -eq 6 ]
}
is_as_before () {
    what_is_held h2 >"$work/after" && diff "$work/before" "$work/after"
}
logged () {    # host, words
    grep -qF "$2" "$base/$1/$daemon.log"
}

#   ------------------------------------------------------------ all at once

on h1 lock stays --static >"$work/key" 2>"$work/err"
check 'lock --static: no warning' test ! -s "$work/err"
check 'status says so' grep -q "^journal  *$mode\$" <(on h1 status)
: >"$work/go"
runs=()
for host in h1 h2; do
    on "$host" run --semaphore 3 units -- sh -c \
        "while [ -e $work/go ]; do sleep 0.1; done" 2>"$work/$host.err" &
    runs+=($!)
done
on h3 run --all one two three -- sh -c \
    "while [ -e $work/go ]; do sleep 0.1; done" 2>"$work/h3.err" &
runs+=($!)
check 'a static lock, two units and a set are held' await all_are_held
sleep 0.3    # async: in the journals
what_is_held h2 >"$work/before"
check 'three lead' await three_lead
check 'all are killed at once' kill_all
check 'and started again' start_all
check 'locks can be had again' await is_ready
check 'all is held as before, with the same tokens' await is_as_before
rm "$work/go"
ended=0
for run in "${runs[@]}"; do
    wait "$run" || ended=$?
done
check 'whoever held it was told nothing' test "$ended" -eq 0
check 'nor said anything' test -z "$(cat "$work"/h?.err)"
#   Else not before a reclaim is over.
[ "$mode" = sync ] || done_checking
# shellcheck disable=SC1090
eval "$(cat "$work/key")"
# shellcheck disable=SC2154
check 'the static lock goes with its key' on h1 unlock stays "$key"

#   ------------------------------------------------------------ not used

restart_with () {    # what is done to h1's journal, while it is down
    kill -9 "$(cat "$base/h1/$daemon.pid")" && "$@" &&
        "$lockkeeper" sandbox restart h1
}
spoil () {
    /usr/bin/python3 - "$base/h1/lock.journal" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    data = bytearray(file.read())
    for at in range(8192, len(data), 64):
        data[at] ^= 0x10
    file.seek(0)
    file.write(data)
END
}
of_another () {
    cp "$base/h2/lock.journal" "$base/h1/lock.journal"
}
of_long_ago () {
    cp "$work/old" "$base/h1/lock.journal"
}
keep_old () {
    cp "$base/h1/lock.journal" "$work/old"
}
is_filled () {
    on h1 status | grep -q '^h1 .*leader' && three_lead
}

check 'one is damaged' restart_with spoil
check 'that is logged' await logged h1 'is damaged: it is moved'
check 'it is kept, for people' test -e "$base/h1/lock.journal.damaged"
check 'its host leads again' await is_filled
check 'one is that of another host' restart_with of_another
check 'that is logged, too' await logged h1 'is that of another host: it is'
check 'its host leads again' await is_filled
check 'one is copied' restart_with keep_old
check 'its host leads again' await is_filled
check 'and put back when the host was started since' restart_with true
check 'its host leads again' await is_filled
check 'with the old one' restart_with of_long_ago
check 'that is logged, too' await logged h1 'is a copy from long ago: it is'
done_checking
