#!/bin/bash
#   far_crowd.sh - many sessions of a machine without a router, while servers
#   are killed, stopped in good order and paused
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Of each pair of sessions one holds a lock, and the other waits for it; no
#   fault is heard of. $LK_PAIRS: how many.

work=$(mktemp -d "${TMPDIR:-/tmp}/far.XXXXXX") || exit 1
# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set 'router/listen-clients=tcp://127.0.0.1:*'
pairs=${LK_PAIRS:-25}
file=$work/client.conf
finish_test () {
    [ -z "${crowd_PID:-}" ] || kill "$crowd_PID" 2>/dev/null
    rm -rf "$work"
}
trap finish_test EXIT

#   ------------------------------------------------------------ the cluster

pids_of () {
    cat "$LOCKKEEPER_SANDBOX/$1"/{router,lockd}.pid
}

#   Its servers go into the file, and each has the same port after a restart.
make_file () {
    local key host port
    key=$("$lockkeeper" client new "$file" 2>/dev/null) &&
        "$lockkeeper" clients add crowd "$key" | grep server >>"$file" ||
        return
    echo '    order = listed' >>"$file"
    for host in h1 h2 h3; do
        port=$(grep -o '127\.0\.0\.1:[0-9]*' "$file" | sed -n "${host#h}p")
        sed -i "s|listen-clients = .*|listen-clients = tcp://$port|" \
            "$LOCKKEEPER_SANDBOX/$host/lockkeeper.conf" || return
    done
}

restart () {
    "$lockkeeper" sandbox restart "$1" &&
        LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/$1/router \
            "$lockkeeper" wait-ready --timeout 60 || {
        tail -n 3 "$LOCKKEEPER_SANDBOX/$1/router.log"
        return 1
    }
}

#   sessions HOST: so many it serves.
sessions () {
    "$lockkeeper" clients list |
        sed -n "s/^server  *$1 .* \([0-9]*\)$/\1/p"
}

#   ------------------------------------------------------------ the crowd

start_crowd () {
    coproc crowd { "$BUILD/tests/cluster/far_crowd" "$file" "$pairs"; }
    exec 5<&"${crowd[0]}" 6>&"${crowd[1]}"
}

#   hears WORDS: that is what it says next; what was lost comes ahead of it.
hears () {
    local line
    while read -r -t 120 line <&5; do
        echo "$line"
        [ "$line" != "$1" ] || return 0
        [ "${line:0:1}" = '#' ] || return 1
    done
    return 1
}

#   says WORD WORDS: it answers that.
says_to () {
    echo "$1" >&6
    hears "$2"
}
nothing_is_lost () {
    says_to look "held $pairs waiting $pairs lost 0 failed 0"
}

#   All are elsewhere, and nobody was told. The silence of a server is noticed
#   when two fifths of a lease are over.
moved () {
    sleep 7
    nothing_is_lost
}

check 'the machine has its keys' make_file
start_crowd
check 'all hold, or wait' hears ready
check 'none is lost' nothing_is_lost
served=$(sessions h1)
check 'by the first server' test "$served" = $((2 * pairs))

mapfile -t killed < <(pids_of h1)
kill -KILL "${killed[@]}"
check 'a server is killed: nothing is lost' moved
check 'it is back' restart h1
check 'and serves none of them' test "$(sessions h1)" = 0

next=h2
[ "$(sessions h2)" -gt 0 ] || next=h3
last=$([ $next = h2 ] && echo h3 || echo h2)
kill "$(cat "$LOCKKEEPER_SANDBOX/$next/lockd.pid")"
check 'one stops in good order: nothing is lost' moved
router=$(cat "$LOCKKEEPER_SANDBOX/$next/router.pid")
kill "$router"
has_ended () {
    ! kill -0 "$router" 2>/dev/null
}
check 'its router does' await has_ended
check 'nothing is lost by that' nothing_is_lost
check 'that is back, too' restart $next

mapfile -t paused < <(pids_of $last)
kill -STOP "${paused[@]}"
check 'one stands still: nothing is lost' moved
kill -CONT "${paused[@]}"
check 'nor when it goes on' nothing_is_lost

check 'who waited is next' says_to pass "held $pairs waiting 0 lost 0 failed 0"
pid=$crowd_PID
exec 6>&-
eval "exec ${crowd[1]}>&-"
ends () {
    wait "$pid"
}
check 'it ends in good order' ends
check 'and leaves nothing' bash -c "
    ! '$lockkeeper' list | grep crowd/"
done_checking
