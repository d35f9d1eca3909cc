#!/bin/bash
#   far_hosts.sh - many sessions of a machine without a router, while servers
#   are killed, cut off and stopped, and what it runs when it is cut off
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   By hand, or by `make check-far`: it takes some minutes. Each host, and the
#   machine, is a network namespace (hosts.sh). $LK_PAIRS: of each pair of
#   sessions one holds a lock, and the other one waits for it. They are of
#   processes with 50 pairs each: what libzmq does for a connection takes longer
#   the more sockets a process has. When a server ends all of them dial another
#   one, at once and within the lease: 500 pairs want a machine for themselves.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/../hosts.sh"
[ "$mode" = namespaces ] || skip_test 'namespaces are not permitted'
dead_after_ms=1000 leader_lease_ms=2000 host_lease_ms=8000
clients=7412 each=50
crowds=$(((${LK_PAIRS:-200} + each - 1) / each))
make_hosts 3

#   ------------------------------------------------------------ the machine

file=$work/client.conf
address[m1]=${address[h1]%.*}.101
make_machine () {
    local key
    plug m1 && key=$("$lockkeeper" client new "$file" 2>/dev/null) &&
        on h1 clients add m1 "$key" | grep server >>"$file"
    [ "$(grep -c '^ *server = ' "$file")" = 3 ] || {
        cat "$file"
        return 1
    }
}
check 'a machine without a router' make_machine

client () {
    in_host m1 "$lockkeeper" --client "$file" "$@"
}
check 'locks can be had from there' client wait-ready --timeout 30

#   heal, and the machine.
heal_all () {
    heal && in_host m1 nft flush set ip cut deaf_to
}

#   ------------------------------------------------------------ the crowd

crowd_pids=()
start_crowds () {
    local i
    for ((i = 0; i < crowds; i++)); do
        mkfifo "$work/to.$i" "$work/from.$i"
        in_host m1 "$BUILD/tests/cluster/far_crowd" "$file" "$each" "$i" \
            <"$work/to.$i" >"$work/from.$i" &
        crowd_pids+=($!)
        eval "exec $((100 + i))>'$work/to.$i' $((200 + i))<'$work/from.$i'"
    done
}

#   hear N WORD: its next line that begins so; what was lost comes ahead of it.
hear () {
    local line
    while read -r -t 120 line <&$((200 + $1)); do
        case $line in
            "$2"*)
                echo "$line"
                return
                ;;
        esac
        echo "$line" >>"$work/lost"
    done
    return 1
}

#   ask LINE WORD: what each answers that begins so.
ask () {
    local i
    for ((i = 0; i < crowds; i++)); do
        echo "$1" >&$((100 + i))
    done
    for ((i = 0; i < crowds; i++)); do
        hear "$i" "$2"
    done
}

all_ready () {
    local i
    for ((i = 0; i < crowds; i++)); do
        hear "$i" ready || return 1
    done
}

#   all_say LINE WORDS: each answers that.
all_say () {
    local answers
    answers=$(ask "$1" held)
    [ "$(grep -cx "$2" <<<"$answers")" = "$crowds" ] || {
        echo "$answers"
        tail -n 5 "$work/lost"
        return 1
    }
}

#   No more than before.
lost=0
nothing_is_lost () {
    local before=$lost
    lost=$(ask look held | awk '{ n += $6 + $8 } END { print n }')
    [ "$lost" = "$before" ] || {
        echo "lost or failed: $((lost - before))"
        tail -n 5 "$work/lost"
        return 1
    }
}

#   sessions_at HOST: so many it serves, as they see it.
sessions_at () {
    ask "at $1" "at $1 " | awk '{ n += $3 } END { print n }'
}

#   They may be at several; the one that has most.
serving () {
    local host
    for host in "${hosts[@]}"; do
        echo "$(sessions_at "$host") $host"
    done | sort -n | tail -n 1
}

none_is_at () {
    [ "$(sessions_at "$1")" = 0 ]
}

#   By now a lock that no server has is lost: all leases of before are over.
lost_would_be_told () {
    sleep $((host_lease_ms * 3 / 2000))
    nothing_is_lost
}

#   trouble TITLE BEGIN END: of the host that serves them.
trouble () {
    local title=$1 host begun
    host=$(serving)
    local count=${host% *}
    host=${host#* }
    begun=$(now_ms)
    check "$title: $host, which serves them" "$2" "$host"
    check "$title: all are at other servers" await none_is_at "$host"
    echo "measured: $title: $count sessions elsewhere after" \
        "$(($(now_ms) - begun)) ms"
    check "$title: nothing is lost" lost_would_be_told
    check "$title: it is over" "$3" "$host"
    check "$title: all hosts are well" hosts_get all_full
    check "$title: nothing is lost by that" nothing_is_lost
}

cut_machine () {
    cut m1 "$1"
}
deafen_machine () {
    one_way "$1" m1
}
mute_machine () {
    one_way m1 "$1"
}
cut_server () {
    cut "$1" "$(others_of "$1") m1"
}
over () {
    heal_all
}

start_crowds
check 'all hold, or wait' all_ready
check 'none is lost' nothing_is_lost
for turn in first second; do
    trouble "killed, $turn time" kill_host start_host
done
for turn in first second; do
    trouble "cut off from all, $turn time" cut_server over
done
trouble 'cut off from the machine' cut_machine over
trouble 'not heard by the machine' deafen_machine over
trouble 'not hearing the machine' mute_machine over
for turn in first second; do
    trouble "stopped in good order, $turn time" stop_host start_host
done
check 'who waited is next' all_say pass "held $each waiting 0 lost 0 failed 0"
ends () {
    local i
    for ((i = 0; i < crowds; i++)); do
        echo end >&$((100 + i)) # others have that end of the fifo, too
    done
    wait "${crowd_pids[@]}"
}
check 'it ends in good order' ends

#   ------------------------------------------------------------ cut off

#   A command that notes each twentieth of a second when it worked.
# shellcheck disable=SC2016
beats='while [ ! -e "$0.end" ]; do
           cut -d " " -f 1 /proc/uptime >>"$0"
           sleep 0.05
       done'

uptime_ms () {
    awk '{ printf "%.0f\n", $1 * 1000 }' /proc/uptime
}

works_in () {
    local from
    from=$(wc -l <"$1")
    await more_than "$1" "$from"
}
more_than () {
    [ "$(wc -l <"$1")" -gt "$2" ]
}

#   cut_off TITLE HOW: the machine holds, h2 waits.
cut_off () {
    local title=$1 how=$2 one=$work/one.$2 next=$work/next.$2 cut_ms last first
    client run cut -- sh -c "$beats" "$one" 2>"$one.err" &
    local job=$!
    check "$title: it holds a lock" await test -s "$one"
    on h2 run cut -- sh -c "$beats" "$next" &
    local other=$!
    check "$title: another one waits" await is_waiting
    works_in "$one"
    cut_ms=$(uptime_ms)
    "$how" "${hosts[*]}"
    check "$title: the next one comes" await test -s "$next"
    check "$title: it was lost" code 122 wait "$job"
    last=$(tail -n 1 "$one" | awk '{ printf "%.0f", $1 * 1000 }')
    first=$(head -n 1 "$next" | awk '{ printf "%.0f", $1 * 1000 }')
    check "$title: it was stopped before" test "$last" -lt "$first"
    check "$title: within one and a half session leases" test \
        $((first - cut_ms)) -le $((host_lease_ms * 3 / 2))
    echo "measured: $title: last at work after $((last - cut_ms)) ms," \
        "the next one after $((first - cut_ms)) ms"
    touch "$next.end"
    wait "$other"
    heal_all
    check "$title: all is free again" client run cut --wait 60 -- true
}
is_waiting () {
    on h1 list --object cut | grep -q waiting
}

cut_off 'cut off' cut_machine
cut_off 'deaf' deafen_machine
cut_off 'mute' mute_machine
finish_test
