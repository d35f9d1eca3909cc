#!/bin/bash
#   corrupt_table.sh - a leader's table is made wrong: all are told, none loses
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   corrupt_table.sh [SEED]. Five hosts under load, three of them members, run
#   the lock service of the tests (tests/hooks/lockd.c), which has LOCKCORRUPT;
#   digests are made every second. For each way to be wrong, some leader's
#   table is corrupted: every host has the alert in its log and its status, that
#   leader's copy is filled anew, and what is held stays held.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
corrupt=$BUILD/tests/cluster/corrupt
echo "# $0 $seed"
RANDOM=$seed

endpoint () {
    echo "ipc://$where/$1/router"
}

#   The one that is installed has no such command.
refused () {
    "$corrupt" "$(endpoint h1)" token 0 0 | tee "$work/answer"
    grep -q '^UNKNOWN' "$work/answer"
}

members='h1 h2 h3' lockd=$BUILD/tests/hooks/lockkeeper-lockd
options=(--digest=1000 --log-level=info)
make_hosts 5

#   ------------------------------------------------------------ looks

alerts_of () {
    status_of "$1" | awk '$1 == "alerts" { n = $2 } END { print n + 0 }'
}

#   all_told N HOST: each host has had N alerts, the last of that host's table.
all_told () {
    local host
    for host in "${hosts[@]}"; do
        [ "$(alerts_of "$host")" = "$1" ] &&
            grep -q "^alerts .* host=$2 " "$work/status.$host" || return 1
    done
}

#   logged N HOST: likewise in each log, once.
logged () {
    local host count
    for host in "${hosts[@]}"; do
        count=$(grep -c 'ALERT wrong table' "$where/$host/lockd.log")
        grep 'ALERT wrong table' "$where/$host/lockd.log" | tail -n 1
        [ "$count" = "$1" ] || return 1
    done
    grep 'ALERT wrong table' "$where"/*/lockd.log | tail -n 1 |
        grep -q "host=$2 "
}

#   What is held, as that host has it or hears it from a leader.
held_on () {
    on "$1" list | awk '$1 == "held" && $NF ~ /^keep/ { print $2, $3, $4,
        $(NF - 1), $NF }' | sort
}

#   All hosts name the same holders, as many as there are.
same_lists () {
    local host
    held_on h1 >"$work/list.h1"
    for host in "${hosts[@]}"; do
        held_on "$host" >"$work/list.$host"
        cmp "$work/list.h1" "$work/list.$host" || return 1
    done
    cat "$work/list.h1"
    [ "$(wc -l <"$work/list.h1")" = "${#hosts[@]}" ]
}

#   filled HOST: it leads a term that began after its table was dropped.
filled () {
    awk '/ALERT wrong table/ { alert = NR }
        /leading: term/ { leads = NR }
        END { exit leads < alert }' "$where/$1/lockd.log"
}

#   But by its own duration.
none_lost () {
    ! grep -h ' lost ' "$work"/*-*.history | grep -v ' timedout$'
}

#   ------------------------------------------------------------ the test

for host in "${hosts[@]}"; do
    start_load "keep-$host" "$host" --style hold --object "keep-$host"
    start_own "$host"
    start_load "mixed-$host" "$host" --seed "$((seed + ${#loads[@]}))" \
        --objects 9
done
check 'each host holds something' await same_lists
cp "$work/list.h1" "$work/list.before"

#   strike HOST KIND: of a home that has such a ticket.
strike () {
    local home=$((RANDOM % 3)) try
    for try in 0 1 2; do
        "$corrupt" "$(endpoint "$1")" "$2" $(((home + try) % 3)) $RANDOM &&
            return
    done
    return 1
}

turn=0
for kind in token key lost slip chain; do
    turn=$((turn + 1))
    know_leaders h1
    wrong=${now[RANDOM % ${#now[@]}]}
    rm -f "$work/pushed" # else the one of before would count
    "$corrupt" "$(endpoint h5)" await 90 >"$work/pushed" &
    listener=$!
    check "$kind: somebody subscribes" await grep -qs . "$work/pushed"
    began=$(now_ms)
    check "$kind: the table of $wrong, a leader, is corrupted" \
        strike "$wrong" "$kind"
    check "$kind: every host shows the alert" await all_told $turn "$wrong"
    echo "measured: $kind corrupted -> alert on every host:" \
        "$(($(now_ms) - began)) ms"
    check "$kind: ... in its log, once" await logged $turn "$wrong"
    check "$kind: ... and is pushed to who has subscribed" wait "$listener"
    check "$kind: it is $wrong" grep -q "\"host\":\"$wrong\"" "$work/pushed"
    check "$kind: its copy is filled anew" await filled "$wrong"
    echo "measured: $kind corrupted -> filled anew:" \
        "$(($(now_ms) - began)) ms"
    check "$kind: three leaders serve again" hosts_get all_full
    check "$kind: all hosts name the same holders" await same_lists
    check "$kind: ... who are those of before" \
        cmp "$work/list.before" "$work/list.h1"
done
check 'no application was told that it lost a lock' none_lost
lockd=
stop_host h1
start_host h1
check 'the installed lock service serves' hosts_get all_ready
check '... and knows no such command' refused
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
