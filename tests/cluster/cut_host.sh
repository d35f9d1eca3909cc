#!/bin/bash
#   cut_host.sh - a host is cut off silently, whole or one way, and heals
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Each host is a network namespace on a bridge; a cut is a rule at whoever
#   would receive, so no sender is told. All is inside of namespaces of our
#   own (pid, mount, net), so nothing is left when we are killed. Where that
#   is not permitted, a host's daemons are stopped with SIGSTOP instead.
#   CUT_ALL=1 does one cut more.

inside='--mount --net --pid --fork --kill-child --mount-proc'

#   probe OPTIONS...: may we, and is there all that it takes?
probe () {
    # shellcheck disable=SC2086
    unshare "$@" $inside sh -c 'mount -t tmpfs none /run && mkdir /run/netns &&
        ip netns add a && ip link add v0 type veth peer name v1 netns a &&
        ip link add bridge0 type bridge && nft add table ip t &&
        nsenter --net=/run/netns/a setpriv true' >/dev/null 2>&1
}

if [ -z "${CUT_INSIDE:-}" ] && [ -z "${LOCKKEEPER_SANDBOX:-}" ] &&
    [ -z "${CUT_STOP:-}" ]; then
    BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
    export BUILD
    user=
    probe || { probe --user --map-root-user && user='--user --map-root-user'; }
    if [ $? = 0 ]; then
        # shellcheck disable=SC2086
        CUT_INSIDE=1 setpriv --pdeathsig KILL unshare $user $inside \
            bash "$0" &
        trap 'kill -9 $! 2>/dev/null' EXIT
        trap 'exit 1' TERM INT HUP
        wait $!
        exit
    fi
    export CUT_STOP=1
fi
if [ -n "${CUT_INSIDE:-}" ]; then
    mount -t tmpfs none /run || exit 1
    mkdir /run/netns /run/lk
    export TMPDIR=/run
fi
# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "$0")/load_tap.sh"
[ -n "${CUT_INSIDE:-}" ] || in_sandbox "$0" --hosts 3
hosts=(h1 h2 h3)
declare -A address=([h1]=10.77.0.1 [h2]=10.77.0.2 [h3]=10.77.0.3)

#   ------------------------------------------------------------ hosts

#   in_host HOST COMMAND...
in_host () {
    local host=$1
    shift
    nsenter --net=/run/netns/"$host" "$@"
}

plug () {
    local host=$1
    ip netns add "$host" &&
        ip link add "to-$host" type veth peer name eth0 netns "$host" &&
        ip link set "to-$host" master bridge0 up &&
        in_host "$host" ip link set lo up &&
        in_host "$host" ip addr add "${address[$host]}/24" dev eth0 &&
        in_host "$host" ip link set eth0 up &&
        in_host "$host" nft -f - <<'RULES'
table ip cut {
    set deaf_to { type ipv4_addr; }
    chain in {
        type filter hook input priority 0;
        ip saddr @deaf_to drop
    }
}
RULES
}

#   daemon HOST NAME OPTIONS...: starts it.
daemon () {
    local host=$1 name=$2
    shift 2
    in_host "$host" "$BUILD/lockkeeper-$name" --config=/dev/null \
        "--endpoint=ipc://$where/$host/router" "$@" \
        >>"$where/$host/$name.log" 2>&1 &
    echo $! >"$where/$host/$name.pid"
}

boot () {
    local host=$1 other neighbours=()
    for other in "${hosts[@]}"; do
        [ "$other" = "$host" ] ||
            neighbours+=("--neighbour=${address[$other]}:7411")
    done
    mkdir "$where/$host" &&
        "$lockkeeper" init --cluster cut --members h1,h2,h3 --host "$host" \
            --state "$where/$host" || return 1
    daemon "$host" router --host="$host" \
        --listen="tcp://${address[$host]}:7411" "${neighbours[@]}"
    daemon "$host" lockd --state="$where/$host" --run="$where/$host"
}

build_cluster () {
    local host
    where=/run/lk
    ip link add bridge0 type bridge && ip link set bridge0 up || return 1
    for host in "${hosts[@]}"; do
        plug "$host" || return 1
    done
    for host in "${hosts[@]}"; do
        boot "$host" || return 1
    done
}

#   ------------------------------------------------------------ cuts

#   deaf HOST OTHER...: it hears nothing from them any more.
deaf () {
    local host=$1 other
    shift
    for other in "$@"; do
        in_host "$host" nft add element ip cut deaf_to \
            "{ ${address[$other]} }" || return 1
    done
}

#   others_of HOST
others_of () {
    printf '%s\n' "${hosts[@]}" | grep -vx "$1"
}

#   cut HOST HOW: prints when it began.
cut () {
    local host=$1 how=$2 other others
    mapfile -t others < <(others_of "$host")
    if [ -n "${CUT_STOP:-}" ]; then
        hit "$host" 19 router lockd
        return
    fi
    "$history" now
    "$history" fault "$work/faults.history" "$host" "$how"
    case $how in
        whole | deaf) deaf "$host" "${others[@]}" ;;
    esac
    case $how in
        whole | mute)
            for other in "${others[@]}"; do
                deaf "$other" "$host"
            done
            ;;
        link) deaf "${others[0]}" "$host" ;;
    esac
}

heal () {
    local host
    if [ -n "${CUT_STOP:-}" ]; then
        hit "$1" 18 router lockd >/dev/null
    else
        for host in "${hosts[@]}"; do
            in_host "$host" nft flush set ip cut deaf_to || return 1
        done
    fi
    "$history" heal "$work/faults.history" "$1"
}

#   ------------------------------------------------------------ applications

#   steady TURN HOST...: at something new each time.
steady () {
    local turn=$1 host number
    shift
    at='' objects=''
    for host in "$@"; do
        start_load "steady-$host" "$host" --style steady \
            --object "$host.$turn." --objects 6
        at+=${at:+,}$host
        for number in 0 1 2 3 4 5; do
            objects+=${objects:+,}$host.$turn.$number
        done
    done
    sleep 0.7
}

#   paused FROM UNTIL: for how long the steady ones got nothing, ms.
paused () {
    "$history" pause "$at" "$1" "$2" "$objects" "$work"/*.history
}

happened () {
    "$history" event "$1" "$2" "${3:-0}" "$work"/*.history
}

#   ms_from T0 T1
ms_from () {
    echo $((($2 - $1) / 1000000))
}

names_of () {
    printf '%s\n' "${!loads[@]}" | grep "^$1"
}

stop_steady () {
    # shellcheck disable=SC2046
    stop_loads $(names_of steady)
}

came_back () {
    local from
    from=$("$history" now)
    heal "$1"
    check 'healed: all are ready again' hosts_get all_ready
    echo "measured: healed -> all ready:" \
        "$(ms_from "$from" "$("$history" now)") ms"
}

[ -n "${CUT_STOP:-}" ] || check 'three hosts on a bridge' build_cluster
[ -z "${CUT_STOP:-}" ] ||
    echo '# no namespaces here: hosts are stopped instead of cut off'
check 'three leaders' hosts_get all_full
[ "$bad" = 0 ] || done_checking

#   ------------------------------------------------------------ a whole host

#   Its own home, a leader, and a holder are cut off; others wait for what
#   is held there, and hold something themselves.
victim=$(LOCKKEEPER_ENDPOINT=ipc://$where/h1/router "$lockkeeper" \
    status --object gone | awk '$1 == "home" { print $2 }')
mapfile -t others < <(others_of "$victim")
start_load holder "$victim" --style hold --object gone
check 'a holder on the host' within 5 happened granted gone
start_load waiter "${others[0]}" --style hold --object gone
start_load keeper "${others[1]}" --style hold --object kept
check 'a holder elsewhere' within 5 happened granted kept
steady 1 "${others[@]}"
began=$(cut "$victim" whole)
sleep 3
until=$("$history" now)
took=$(paused "$began" "$until")
echo "measured: leader's host cut off silently -> grants go on: $took ms"
check 'within dead_after + 1 s (and 1 s of noise)' test "$took" -lt 2900
check 'no answer is missing' stop_steady
check 'the one who waited for the lock of the cut off holder has it' \
    within 30 happened granted gone "$began"
next=$(happened granted gone "$began")
if [ -z "${CUT_STOP:-}" ]; then
    check 'the holder was told: it is isolated' \
        grep -q ' lost .* gone .* isolated$' "$work/$victim-holder.history"
fi
told=$(happened lost gone "$began")
check 'before another got it' test "$told" -lt "$next"
echo "measured: holder cut off: told after $(ms_from "$began" "$told") ms," \
    "another got the lock after $(ms_from "$began" "$next") ms"
came_back "$victim"
check 'every application got its answers' stop_loads "${!loads[@]}"

#   ------------------------------------------------------------ one way

#   one_way HOW TITLE HOST...: cut that way, with applications at HOST...
turn=2
one_way () {
    local how=$1 title=$2 host=${hosts[turn % 3]}
    check "$title: three leaders" hosts_get all_full
    mapfile -t others < <(others_of "$host")
    if [ "$how" = link ]; then
        steady $turn "${hosts[@]}"
    else
        steady $turn "${others[@]}"
    fi
    turn=$((turn + 1))
    began=$(cut "$host" "$how")
    sleep 3
    until=$("$history" now)
    took=$(paused "$began" "$until")
    echo "measured: $title -> grants go on: $took ms"
    check "$title: within dead_after + 1 s (and 1 s of noise)" \
        test "$took" -lt 2900
    came_back "$host"
    check "$title: every application got its answers" stop_steady
}

if [ -z "${CUT_STOP:-}" ]; then
    one_way mute 'a host that nobody hears'
    one_way link 'a link that is dead one way'
    [ -z "${CUT_ALL:-}" ] || one_way deaf 'a host that hears nobody'
fi

check 'the judge is content: holders were told before others got it' \
    judge --told
echo "# $(tail -n 1 "$work/out")"
keep_for_later
done_checking
