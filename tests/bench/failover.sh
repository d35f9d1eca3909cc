#!/bin/bash
#   failover.sh - how long nobody gets a lock when something dies
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A gap is the longest time in which a client in a loop completed no pair of
#   LOCK and UNLOCK, from the last one before the blow on; its host is not the
#   victim's, and the name's home is. Of other names: other. State files are in
#   memory if there is a /dev/shm, as the peers' are.
#
#       lockd    kill -9 of the home's lock service
#       router   kill -9 of the router of the home's host
#       silent   SIGSTOP of both: includes dead-after, 1 s
#       fill     nothing dies: the third leader comes back (after silent)
#       own      as lockd, and it is started again at once: a client on that
#                very host, with a new name each time
#       hosted   kill -9 of a router that has the lock service in its process
#
#   It takes 3 s until a host that came back leads again: so there are some
#   clusters, and while one is struck the others recover. FAILOVER_KILLS is the
#   number of kills of lockd and of router, by default 50; of hosted there is a
#   fifth of that, and of the others there are a few.

[ -w /dev/shm ] && export TMPDIR=/dev/shm
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
PATH=$BUILD:$PATH
kills=${FAILOVER_KILLS:-$(many 50 1)}
clusters=$(many 6 2)
hosts=(h1 h2 h3)

#   ------------------------------------------------------------ a cluster

#   client LABEL NAME HOST
client () {
    local core=$far_core
    [ "$3" = "$near" ] && core=$near_core
    echo "$1=$2@$core:ipc://$LOCKKEEPER_SANDBOX/$3/router"
}

#   others_than HOST: two of them
others_than () {
    local host
    for host in "${hosts[@]}"; do
        [ "$host" = "$1" ] || echo "$host"
    done
}

#   away_from HOST PREFIX: a name whose home is another host.
away_from () {
    local i
    for ((i = 1; i <= 100; i++)); do
        if [ "$(home_of "$2$i")" != "$1" ]; then
            echo "$2$i"
            return
        fi
    done
}

#   strike KIND SIGNAL PIDS THEN MS CLIENT...: prints KIND.LABEL GAP for each.
strike () {
    local kind=$1
    shift
    "$BUILD/tests/bench/failover" "$@" >"$work/gaps" || die "$kind: no locks any more"
    sed "s/^/$kind./" "$work/gaps"
}

#   The silent host leads again 3 s after it was heard.
fill () {
    sleep 2
    leaders_are 3 && die 'fill: three leaders too early'
    strike fill 0 '' '' 2000 "$@"
    leaders_are 3 || remark 'fill: the third leader took its time'
}

#   one KIND N
one () {
    local kind=$1 home=$1.$2.$cluster victim near_pair other
    within 15 leaders_are 3 || die "$kind: no three leaders"
    flock 9
    victim=$(home_of "$home")
    other=$(away_from "$victim" "$home.other")
    mapfile -t near_pair < <(others_than "$victim")
    set -- "$(client gap "$home" "${near_pair[0]}")" \
        "$(client other.gap "$other" "${near_pair[1]}")"
    local lockd='' router again="lockkeeper sandbox restart $victim"
    router=$(pid_of "$victim" router)
    [ "$kind" = hosted ] || lockd=$(pid_of "$victim" lockd)
    case $kind in
        hosted) strike hosted 9 "$router" '' 200 "$@" ;;
        lockd) strike lockd 9 "$lockd" '' 200 "$@" ;;
        router) strike router 9 "$router" '' 200 "$@" ;;
        own)
            strike lockd 9 "$lockd" "$again lockd" 300 \
                "$(client own.gap "$home.own#" "$victim")"
            ;;
        silent)
            strike silent 19 "$lockd,$router" '' 1500 "$@"
            kill -CONT "$lockd" "$router"
            fill "$@"
            ;;
    esac
    case $kind in
        lockd | router) $again "$kind" || die 'no restart' ;;
        hosted) $again router || die 'no restart' ;;
    esac
    pin_hosts
    flock -u 9
}

#   What is to be done, a word each; the last cluster has hosted services.
plan () {
    local i
    if [ "$cluster" = "$clusters" ]; then
        for ((i = 0; i < (kills + 4) / 5; i++)); do
            echo hosted
        done
        return
    fi
    for ((i = 0; i < kills; i++)); do
        echo lockd
        echo router
        if [ $((i % 17)) = 0 ]; then
            echo silent
            echo own
        fi
    done
}

run_cluster () {
    local cluster=$1 turn=$2 i=0 n=0 kind options=()
    exec 9>"$turn"
    [ "$cluster" = "$clusters" ] && options=(--hosted)
    sandbox_start 3 "${options[@]}"
    while read -r -u 8 kind; do
        if [ "$kind" = hosted ] || [ $((i++ % clusters)) = "$cluster" ]; then
            if [ "$(seconds_left)" -lt 12 ]; then
                remark "failover: no time for all, left off at $n"
                return
            fi
            one "$kind" "$((++n))"
        fi
    done 8< <(plan)
}

if [ "${1:-}" = cluster ]; then
    run_cluster "$2" "$3"
    exit
fi

#   ------------------------------------------------------------ all of them

#   They end their sandboxes themselves.
end_clusters () {
    for pid in "${children[@]}"; do
        kill "$pid" 2>/dev/null
    done
    wait
    children=()
    clean_up
}
trap end_clusters EXIT

for ((c = 0; c <= clusters; c++)); do
    bash "$0" cluster "$c" "$work/turn" >"$work/gaps.$c" \
        2> >(grep -v 'was ended by signal' >&2) &
    children+=($!)
done
failed=0
for pid in "${children[@]}"; do
    wait "$pid" || failed=1
done
children=()

#   gaps NAME [PERCENTILE...]
gaps () {
    local name=$1 p
    shift
    awk -v n="$name" '$1 == n { print $2 }' "$work"/gaps.* >"$work/list"
    if [ ! -s "$work/list" ]; then
        remark "no gap was measured: $name"
        failed=1
        return
    fi
    remark "$name: $(wc -l <"$work/list") times, $(sort -g "$work/list" |
        tr '\n' ' ')ms"
    for p in "$@"; do
        figure "failover.$name.p$p" "$(quantile "0.$p" <"$work/list")" ms
    done
}

for kind in lockd router; do
    gaps "$kind.gap" 50 99
    gaps "$kind.other.gap" 50 99
done
gaps hosted.gap 50 99
gaps silent.gap 50 99
gaps fill.gap 50 99
gaps lockd.own.gap 50 99
exit "$failed"
