#!/bin/bash
#   peers.sh - the loads of lockkeeper on what people use for locks
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   peers.sh [SYSTEM...]      all of them by default
#
#   One system at a time: it is started, loaded in rounds, and stopped. In each
#   round lockkeeper comes first, by the same loop and with liblockkeeper, so
#   that both have the machine in the same mood: lock.library, and
#   lock.hosted.library with lock services in their routers' processes. Figures
#   are peer.WHO.WHAT, medians over rounds, and lockkeeper's by theirs:
#   peer.WHO.WHAT.ratio and peer.WHO.WHAT.hosted.ratio.
#
#       latency, unlock    of one client that asks for one name
#       inflightN          N names by one connection
#       clientsN           N clients, each with its connection and its name
#       handoverN          N clients, one name
#       failover.gap       kill -9 of the leader: the longest time in which a
#                          client in a loop got no lock; it is connected to
#                          another node. As it comes, and with the shortest
#                          times that make sense (tuned); SIGSTOP (silent)
#
#   lockkeeper-internals(7) tells what they include and what not.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/bench/peers/servers.sh
. "$(dirname "${BASH_SOURCE[0]}")/peers/servers.sh"

clients=$BUILD/tests/bench/peers
plain='' plain_pid='' hosted=''
rounds=$(many 3 1) seconds=$(many 1 0.4)
hosted_loads=(latency inflight64 handover8)
loads=(latency inflight{8,64,512} clients{8,64} handover{8,64})

#   Each one's client; and the seconds in which Java, say, gets warm.
declare -A program=([lockkeeper]=lockkeeper [etcd]=etcd [zookeeper]=zookeeper
    [znode]=zookeeper [redis]=redis [redlock]=redis [postgresql]=postgresql)
declare -A warm_up=([etcd]=2 [zookeeper]=8 [znode]=4 [redis]=1 [redlock]=1
    [postgresql]=1)

#   load WHO PREFIX WHERE LOAD SECONDS [PID SIGNAL]
load () {
    local who=$1
    shift
    on_near timeout --foreground 90 "$clients/${program[$who]}" "$@" ||
        die "'$3' on $who failed"
}

#   ours PREFIX SANDBOX LOAD...: names with their home on h1, which is
#   known by its place among so many leaders.
ours () {
    local prefix=$1 LOCKKEEPER_SANDBOX=$2 place it
    shift 2
    place=$(on h1 "$lockkeeper" status | awk '$1 == "leaders" {
        for (i = 2; i <= NF; i++) {
            if ($i == "h1") { print i - 2 "," NF - 1 }
        }
    }')
    for it in "$@"; do
        load lockkeeper "$prefix" \
            "ipc://$LOCKKEEPER_SANDBOX/h1/router,$place" "$it" "$seconds"
    done
}

#   round WHO
round () {
    local it
    ours lock.library "$plain" "${loads[@]}"
    ours lock.hosted.library "$hosted" "${hosted_loads[@]}"
    for it in "${loads[@]}"; do
        load "$1" "peer.$1" "$where" "$it" "$seconds"
    done
}

#   ratios_to FILE...: what both have in a round.
ratios_to () {
    local file
    for file in "$@"; do
        awk '
            function tell (theirs, who, name, ours) {
                ours = theirs
                sub (/^peer\.[^.]*/, who, ours)
                if (ours in value && value[theirs] > 0) {
                    print "figure", theirs name ".ratio",
                        value[ours] / value[theirs], "x"
                }
            }
            $1 == "figure" { value[$2] = $3; order[++count] = $2 }
            END {
                for (i = 1; i <= count; i++) {
                    if (order[i] ~ /^peer\./) {
                        tell(order[i], "lock.library", "")
                        tell(order[i], "lock.hosted.library", ".hosted")
                    }
                }
            }' "$file"
    done | medians
}

#   measure WHO: the system is up.
measure () {
    local who=$1 all=$where i
    # Where there is a leader, nobody else is asked for a lock.
    [ "$who" = redlock ] || where=${where%%,*}
    load "$who" warm "$where" inflight64 "$(many "${warm_up[$who]}" 0.5)" \
        >/dev/null
    for ((i = 1; i <= rounds; i++)); do
        remark "$who, round $i of $rounds, $(seconds_left) s left"
        round "$who" >"$work/$who.$i"
    done
    where=$all
    cat "$work/$who".[0-9]* | grep '^figure peer' | medians
    ratios_to "$work/$who".[0-9]*
}

#   failover WHO SIGNAL COUNT WHAT: gaps of a client that is connected to one
#   that does not lead.
failover () {
    local who=$1 i victim p gaps=$work/gaps
    : >"$gaps"
    remark "$who, $4, $(seconds_left) s left"
    for ((i = 0; i < $3; i++)); do
        settle "$who"
        victim=${server[leader]}
        where=${where#*,},${where%%,*}
        load "$who" gaps "$where" gap 60 "$victim" "$2" |
            awk '{ print $3 }' >>"$gaps"
        kill -9 "$victim" 2>/dev/null
        wait "$victim" 2>/dev/null
        "$who"_start "$leader" "$near_core"
    done
    for p in 50 99; do
        figure "peer.$who.$4.gap.p$p" "$(quantile "0.$p" <"$gaps")" ms
    done
}

#   gaps WHO: as it comes, and with the shortest times that make sense.
gaps () {
    failover "$1" 9 "$(many 10 1)" failover
    failover "$1" 19 "$(many 3 1)" failover.silent
    down
    etcd_options=(--heartbeat-interval 10 --election-timeout 100)
    zookeeper_tick=200
    up "$1"
    failover "$1" 9 "$(many 10 1)" failover.tuned
}

peer () {
    local who=$1 system=$1
    export ZOOKEEPER_LOCK=recipe
    if [ "$who" = znode ]; then
        system=zookeeper ZOOKEEPER_LOCK=bare
    fi
    up "$system"
    measure "$who"
    case $who in etcd | zookeeper) gaps "$who" ;; esac
    down
}

[ $# -gt 0 ] || set -- etcd zookeeper znode redis redlock postgresql
leave () {
    trap '' INT TERM HUP
    down
    rm -rf "$data"
    if [ -n "$plain_pid" ]; then
        kill -INT "$plain_pid"
        wait "$plain_pid"
    fi
    clean_up # and the other sandbox
}

trap leave EXIT

#   Two sandboxes: the one that is not asked costs next to nothing.
sandboxes () {
    sandbox_start 3
    plain=$LOCKKEEPER_SANDBOX plain_pid=$sandbox_pid
    local work=$work/hosted
    mkdir "$work"
    sandbox_start 3 --hosted
    hosted=$LOCKKEEPER_SANDBOX
}

sandboxes
for who in "$@"; do
    peer "$who"
done
cat "$work"/*.[0-9]* | grep '^figure lock' | medians
