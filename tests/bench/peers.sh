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
#       apart.WHAT         the same with everybody's servers pinned so, see
#                          lib.sh
#       failover.gap       kill -9 of the leader: the longest time in which a
#                          client in a loop got no lock; it knows of the other
#                          two nodes only. As it comes, and with the shortest
#                          times that make sense (tuned); SIGSTOP (silent)
#
#   Each step has its share of the seconds left. A system that needs more is
#   cut off, which is said; what it gave until then counts, and so do all
#   others: first those that replicate, gaps last.
#
#   lockkeeper-internals(7) tells what they include and what not.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/bench/peers/servers.sh
. "$(dirname "${BASH_SOURCE[0]}")/peers/servers.sh"

clients=$BUILD/tests/bench/peers
plain='' plain_pid='' hosted='' deadline=0 step_seconds=0 failed=0
rounds=$(many 3 1) seconds=$(many 0.8 0.4)
loads=(latency inflight{8,64,512} clients{8,64} handover{8,64})
apart_loads=(latency inflight64 clients64 handover8)
hosted_loads=(latency inflight64 handover8)

#   Each one's client; and the seconds in which Java, say, gets warm.
declare -A program=([lockkeeper]=lockkeeper [etcd]=etcd [zookeeper]=zookeeper
    [znode]=zookeeper [redis]=redis [redlock]=redis [postgresql]=postgresql)
declare -A warm_up=([etcd]=2 [zookeeper]=8 [znode]=8 [redis]=1 [redlock]=1
    [postgresql]=1)

#   ------------------------------------------------------------ time

#   What is left of the seconds of this step.
time_left () {
    echo $((deadline - SECONDS))
}

#   time_for N KEEP: for the next of so many alike since $start, if KEEP of a
#   hundred parts of the step are left for others.
time_for () {
    [ "$1" = 0 ] ||
        [ $(($(time_left) - step_seconds * $2 / 100)) -ge \
            $(((SECONDS - start + $1 - 1) / $1)) ]
}

#   ------------------------------------------------------------ loads

#   load WHO PREFIX WHERE LOAD SECONDS [PID SIGNAL]
load () {
    local who=$1 left
    shift
    left=$(time_left)
    [ "$left" -gt 0 ] || die "$who: no time for '$3'"
    on_near timeout --foreground "$((left < 90 ? left : 90))" \
        "$clients/${program[$who]}" "$@" || die "'$3' on $who failed"
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

#   arrange together|apart
arrange () {
    local LOCKKEEPER_SANDBOX
    for LOCKKEEPER_SANDBOX in "$plain" "$hosted"; do
        pin_hosts h1 "$([ "$1" = together ] || echo h3)"
    done
    pin_nodes "$1"
}

#   in_turn WHO together|apart LOAD...
in_turn () {
    local who=$1 apart='' it
    arrange "$2"
    [ "$2" = together ] || apart=.apart
    shift 2
    ours "lock.library$apart" "$plain" "$@"
    ours "lock.hosted.library$apart" "$hosted" "${hosted_loads[@]}"
    for it in "$@"; do
        load "$who" "peer.$who$apart" "$where" "$it" "$seconds"
    done
}

#   measure WHO: the system is up. The figures of each round to a file.
measure () {
    local who=$1 i start
    # Where there is a leader, nobody else is asked for a lock.
    [ "$who" = redlock ] || where=${where%%,*}
    load "$who" warm "$where" inflight64 "$(many "${warm_up[$who]}" 0.5)" \
        >/dev/null
    start=$SECONDS
    for ((i = 0; i < rounds; i++)); do
        time_for "$i" 0 || {
            remark "$who: time for $i rounds only"
            break
        }
        remark "$who, round $((i + 1)) of $rounds, $(time_left) s left"
        {
            in_turn "$who" together "${loads[@]}"
            in_turn "$who" apart "${apart_loads[@]}"
        } >"$work/$who.$i"
    done
}

#   ------------------------------------------------------------ gaps

#   failover WHO SIGNAL COUNT WHAT KEEP: gaps of a client of those that do not
#   lead, to a file.
failover () {
    local who=$1 i victim start=$SECONDS
    remark "$who, $4, $(time_left) s left"
    for ((i = 0; i < $3; i++)); do
        time_for "$i" "$5" || {
            remark "$who, $4: time for $i times only"
            break
        }
        settle "$who"
        victim=${server[leader]}
        load "$who" gaps "${where#*,}" gap 60 "$victim" "$2" >"$work/gap"
        awk '{ print $3 }' "$work/gap" >>"$work/gaps.$who.$4"
        kill -9 "$victim" 2>/dev/null
        within 5 gone "$victim"
        "$who"_start "$leader" "$near_core"
    done
}

#   gaps WHO: as it comes, and with the shortest times that make sense.
gaps () {
    failover "$1" 9 "$(many 10 1)" failover 60
    failover "$1" 19 "$(many 3 1)" failover.silent 30
    down
    etcd_options=(--heartbeat-interval 10 --election-timeout 100)
    zookeeper_tick=200
    export ZOOKEEPER_SESSION_MS=1000
    up "$1"
    failover "$1" 9 "$(many 10 1)" failover.tuned 0
}

#   ------------------------------------------------------------ figures

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

tell_measure () {
    [ -f "$work/$1.0" ] || return
    cat "$work/$1".[0-9]* | grep '^figure peer' | medians
    ratios_to "$work/$1".[0-9]*
}

tell_gaps () {
    local what p
    for what in failover failover.silent failover.tuned; do
        [ -s "$work/gaps.$1.$what" ] || continue
        for p in 50 99; do
            figure "peer.$1.$what.gap.p$p" \
                "$(quantile "0.$p" <"$work/gaps.$1.$what")" ms
        done
    done
}

tell_ours () {
    cat "$work"/*.[0-9]* 2>/dev/null | grep '^figure lock' | medians
}

#   ------------------------------------------------------------ steps

#   step measure|gaps WHO, from first to last in a process of its own: so what
#   goes wrong with one system ends with it.
step () (
    local system=$2
    trap down EXIT
    trap 'exit 130' INT TERM HUP
    export ZOOKEEPER_LOCK=recipe
    if [ "$2" = znode ]; then
        system=zookeeper ZOOKEEPER_LOCK=bare
    fi
    up "$system"
    "$1" "$2"
)

#   seconds_of "measure|gaps WHO": if the machine does little else.
seconds_of () {
    case $1 in
        measure*) echo 80 ;;
        *etcd) echo 60 ;;
        *zookeeper) echo 140 ;;
    esac
}

#   steps "measure|gaps WHO"...
steps () {
    local it left sum
    while [ $# -gt 0 ]; do
        sum=0
        for it in "$@"; do
            sum=$((sum + $(seconds_of "$it")))
        done
        left=$(($(seconds_left) - 10))
        step_seconds=$((left * $(seconds_of "$1") / sum))
        deadline=$((SECONDS + step_seconds))
        step "${1% *}" "${1#* }" || {
            remark "$1: cut off"
            failed=1
        }
        "tell_${1% *}" "${1#* }"
        shift
    done
}

leave () {
    trap '' INT TERM HUP
    tell_ours
    rm -rf "$data"
    if [ -n "$plain_pid" ]; then
        kill -INT "$plain_pid" 2>/dev/null
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

[ $# -gt 0 ] || set -- etcd zookeeper redis redlock postgresql znode
list=("${@/#/measure }")
for who in "$@"; do
    case $who in etcd | zookeeper) list+=("gaps $who") ;; esac
done
sandboxes
steps "${list[@]}"
exit "$failed"
