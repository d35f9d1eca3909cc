#!/bin/bash
#   rolling.sh - each host's daemons are restarted in turn, and nobody loses
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   By SIGTERM, as upgrades do it. How long applications wait meanwhile, on the
#   host itself and elsewhere, is printed.

# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "$0")/load_tap.sh"
in_sandbox "$0" --hosts 3
hosts=(h1 h2 h3)
declare -A keeper=() trier=() worst=()

#   ------------------------------------------------------------ applications

end_all () {
    kill_loads
    kill "${keeper[@]}" "${trier[@]}" 2>/dev/null
}
trap end_all EXIT

#   keep HOST: a command that holds a lock until the end, and says so.
keep () {
    start_on "$1" run "kept.$1" -- sh -c \
        "echo held >'$work/kept.$1'; cat '$work/end'; echo whole"
    keeper[$1]=$!
}

all_kept () {
    local host
    for host in "${hosts[@]}"; do
        [ -s "$work/kept.$host" ] || return 1
    done
}

#   try HOST: one command after the other that does not wait for its lock, which
#   nobody else wants.
try () {
    while [ ! -e "$work/tried" ]; do
        nap 100
        on "$1" run --wait 0 "tried.$1" -- true || return 1
    done
}

end_tries () {
    local host good=0
    touch "$work/tried"
    for host in "${hosts[@]}"; do
        wait "${trier[$host]}" || good=1
        unset "trier[$host]"
    done
    cat "$work"/tries.*
    return $good
}

end_keepers () {
    local host good=0
    exec {end}<>"$work/end"
    exec {end}>&-
    for host in "${hosts[@]}"; do
        wait "${keeper[$host]}" || good=1
        unset "keeper[$host]"
    done
    cat "$work"/keeper.*
    [ "$(cat "$work"/keeper.* | sort -u)" = whole ] && return $good
}

mkfifo "$work/end"
for host in "${hosts[@]}"; do
    start_load "own-$host" "$host" --style steady --object "$host." \
        --objects 2 --rest 10
    start_load "hot-$host" "$host" --style steady --object hot --objects 1 \
        --rest 20
    keep "$host" >"$work/keeper.$host" 2>&1
    try "$host" >"$work/tries.$host" 2>&1 &
    trier[$host]=$!
done

#   objects_of HOST...: what is asked for there alone.
objects_of () {
    printf '%s\n' "${@/%/.0}" "${@/%/.1}"
}

#   ------------------------------------------------------------ the rounds

#   note KIND MS: the longest of all.
note () {
    [ "${worst[$1]:-0}" -ge "$2" ] || worst[$1]=$2
}

#   ready_again HOST: says so, and it is true, of all.
ready_again () {
    on "$1" wait-ready --full --timeout 60 && all_full
}

#   leave HOST DAEMON: a lock service does so by itself.
leave () {
    [ "$2" = lockd ] || on "$1" leave
}

#   roll HOST DAEMON
# shellcheck disable=SC2046,SC2207
roll () {
    local host=$1 daemon=$2 from other others=() own elsewhere
    for other in "${hosts[@]}"; do
        [ "$other" = "$host" ] || others+=($(objects_of "$other"))
    done
    from=$("$history" now)
    check "$host: others lead ahead of that" leave "$host" "$daemon"
    check "$host: its $daemon is restarted" restart "$host" "$daemon"
    check "$host: locks can be had" on "$host" wait-ready --timeout 60
    check "$host: it may lead again" on "$host" leave --undo
    check "$host: locks are had, there and elsewhere" await go_on \
        "$("$history" now)" $(objects_of "$host") "${others[@]}"
    own=$(longest_pause "$from" $(objects_of "$host"))
    elsewhere=$(longest_pause "$from" "${others[@]}")
    echo "# $host, $daemon: longest wait $own ms, elsewhere $elsewhere ms"
    note "$daemon.own" "$own"
    note "$daemon.elsewhere" "$elsewhere"
    check "$host: as many lead as before" ready_again "$host"
}

check 'as many lead as can' hosts_get all_full
# shellcheck disable=SC2046
check 'all are at work' await go_on 0 $(objects_of "${hosts[@]}") hot
check 'a command on each host holds a lock' await all_kept
mapfile -t all < <(daemons lockd router)
for host in "${hosts[@]}"; do
    for daemon in "${all[@]}"; do
        roll "$host" "$daemon"
    done
done
for daemon in "${all[@]}"; do
    echo "measured: $daemon restarted -> longest wait:" \
        "${worst[$daemon.own]} ms, elsewhere ${worst[$daemon.elsewhere]} ms"
done

#   ------------------------------------------------------------ nobody lost

#   none WHICH: that is in no history.
none () {
    ! grep -E "^[^ ]+ [^ ]+ $1 " "$work"/*.history
}

check 'no daemon ended but by us' all_live
check 'commands that do not wait had their locks' end_tries
check 'commands that held theirs still did at the end' end_keepers
check 'every application got its answers' stop_loads "${!loads[@]}"
check 'no lock was lost' none lost
check 'no request failed' none failed
check 'the judge is content' judge
echo "# $(tail -n 1 "$work/out")"
keep_for_later
done_checking
